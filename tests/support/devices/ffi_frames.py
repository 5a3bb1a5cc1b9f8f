"""XLA's side of a call, played through ctypes: frames with buffers and attributes, errors, a thread pool, futures.

So every path of the handler is reached without JAX, the ones a healthy XLA never takes too.
"""

from __future__ import annotations

import ctypes
import threading
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

import numpy as np

from workbench.api.builds.build import load
from workbench.interop.jax.launches.plan import Code, Plan, Roles, forward_plan
from workbench.interop.jax.native.abi import CODES, FUNCTIONS, STAGE_EXECUTE
from workbench.types import ArrayType

HEAD = [("struct_size", c_size_t), ("extension_start", c_void_p)]


class Extension(Structure):
    _fields_ = [("struct_size", c_size_t), ("type", c_int32), ("next", c_void_p)]


class Version(Structure):
    _fields_ = [*HEAD, ("major_version", c_int32), ("minor_version", c_int32)]


class Metadata(Structure):
    _fields_ = [("struct_size", c_size_t), ("api_version", Version), ("traits", c_uint32), ("state_type_id", c_int64)]


class MetadataExtension(Structure):
    _fields_ = [("extension_base", Extension), ("metadata", POINTER(Metadata))]


class Buffer(Structure):
    _fields_ = [*HEAD, ("dtype", c_int32), ("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64))]


class Array(Structure):
    _fields_ = [("dtype", c_int32), ("size", c_size_t), ("data", c_void_p)]


class Items(Structure):
    _fields_ = [*HEAD, ("size", c_int64), ("types", POINTER(c_int32)), ("items", POINTER(c_void_p))]


class Attrs(Structure):
    _fields_ = [
        *HEAD, ("size", c_int64), ("types", POINTER(c_int32)), ("names", c_void_p), ("attrs", POINTER(c_void_p)),
    ]  # fmt: skip


class Api(Structure):
    _fields_ = [*HEAD, ("api_version", Version), ("internal_api", c_void_p), ("functions", c_void_p * 18)]


class Frame(Structure):
    _fields_ = [
        *HEAD, ("api", POINTER(Api)), ("ctx", c_void_p), ("stage", c_int32), ("args", Items), ("rets", Items),
        ("attrs", Attrs), ("future", c_void_p),
    ]  # fmt: skip


class ErrorCreate(Structure):
    _fields_ = [*HEAD, ("message", c_char_p), ("errc", c_int32)]


class Pointer(Structure):
    _fields_ = [*HEAD, ("pointer", c_void_p)]


class Schedule(Structure):
    _fields_ = [*HEAD, ("ctx", c_void_p), ("task", CFUNCTYPE(None, c_void_p)), ("data", c_void_p)]


class Failure(Structure):
    _fields_ = [*HEAD, ("future", c_void_p), ("error", c_void_p)]


class NumThreads(Structure):
    _fields_ = [*HEAD, ("ctx", c_void_p), ("num_threads", POINTER(c_int64))]


class Refused(Exception):
    """The handler's error: its code and its message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Xla:
    """An XLA with a pool of `threads`; `pool` is "threads", "inline" (tasks run where they are scheduled) or "none"."""

    def __init__(self, threads: int = 1, pool: str = "none", futures: bool = True) -> None:
        self.threads, self.pool, self.has_futures = threads, pool, futures
        self.errors: dict[int, tuple[int, str]] = {}
        self.destroyed: list[int] = []
        self.available: list[int] = []
        self.failed: list[tuple[int, str]] = []
        self.workers: list[threading.Thread] = []
        self.done = threading.Event()
        rules = {
            "XLA_FFI_Error_Create": (ErrorCreate, self._create_error, c_void_p),
            "XLA_FFI_Error_Destroy": (Pointer, self._destroy_error, None),
            "XLA_FFI_ThreadPool_Schedule": (Schedule, self._schedule, c_void_p),
            "XLA_FFI_ThreadPool_NumThreads": (NumThreads, self._num_threads, c_void_p),
            "XLA_FFI_Future_Create": (Pointer, self._create_future, c_void_p),
            "XLA_FFI_Future_SetAvailable": (Pointer, self._set_available, c_void_p),
            "XLA_FFI_Future_SetError": (Failure, self._set_error, c_void_p),
        }
        self.api = Api(struct_size=ctypes.sizeof(Api))
        self._kept = []
        for name, (arguments, rule, result) in rules.items():
            function = CFUNCTYPE(result, POINTER(arguments))(rule)
            self._kept.append(function)
            self.api.functions[FUNCTIONS[name]] = ctypes.cast(function, c_void_p).value

    def _error(self, code: int, message: str) -> int:
        number = len(self.errors) + 1
        self.errors[number] = (code, message)
        return number

    def _create_error(self, arguments: Any) -> int:
        return self._error(arguments[0].errc, arguments[0].message.decode())

    def _destroy_error(self, arguments: Any) -> None:
        self.destroyed.append(arguments[0].pointer)

    def _num_threads(self, arguments: Any) -> int | None:
        if self.pool == "none":
            return self._error(14, "no pool")
        arguments[0].num_threads[0] = self.threads
        return None

    def _schedule(self, arguments: Any) -> int | None:
        if self.pool == "refuses":
            return self._error(14, "the pool is full")
        task, data = CFUNCTYPE(None, c_void_p)(ctypes.cast(arguments[0].task, c_void_p).value), arguments[0].data
        if self.pool == "inline":
            task(data)
        else:
            self.workers.append(threading.Thread(target=task, args=(data,)))
            self.workers[-1].start()
        return None

    def _create_future(self, arguments: Any) -> int | None:
        if not self.has_futures:
            return self._error(14, "no futures")
        arguments[0].pointer = 77
        return None

    def _set_available(self, arguments: Any) -> None:
        self.available.append(arguments[0].pointer)
        self.done.set()

    def _set_error(self, arguments: Any) -> None:
        self.failed.append((arguments[0].future, self.errors[arguments[0].error][1]))
        self.done.set()

    def call(
        self, thunk: int, operands: Any, results: Any, attributes: dict[str, Any], stage: int = STAGE_EXECUTE
    ) -> int | None:
        """Call a handler, wait for its work, and give the frame's future.

        Raises:
            Refused: the handler answered with an error.
        """
        frame = Frame(struct_size=168, api=ctypes.pointer(self.api), stage=stage)
        kept: list[Any] = []
        frame.args, frame.rets = _items([_buffer(a, kept) for a in operands], kept), _items(
            [_buffer(a, kept) for a in results], kept
        )  # fmt: skip
        frame.attrs = _attributes(attributes, kept)
        error = _handler(thunk)(byref(frame))
        if error:
            raise Refused(*self.errors[error])
        if frame.future:
            assert self.done.wait(900)
        for worker in self.workers:
            worker.join()
        return frame.future

    def ask(self, thunk: int, *extensions: Any) -> int | None:
        """Call a handler with a chain of extensions, as XLA does at registration."""
        frame = Frame(struct_size=168, api=ctypes.pointer(self.api))
        following = None
        for extension in reversed(extensions):
            base = extension.extension_base if isinstance(extension, MetadataExtension) else extension
            base.next = following
            following = ctypes.addressof(extension)
        frame.extension_start = following
        return _handler(thunk)(byref(frame))


def _handler(thunk: int) -> Any:
    return CFUNCTYPE(c_void_p, POINTER(Frame))(thunk)


def _buffer(array: np.ndarray, kept: list[Any]) -> Buffer:
    assert array.flags.c_contiguous
    dims = (c_int64 * max(1, array.ndim))(*array.shape)
    kept += [dims, array]
    return Buffer(
        struct_size=ctypes.sizeof(Buffer),
        dtype=CODES[array.dtype.name],
        data=array.ctypes.data,
        rank=array.ndim,
        dims=dims,
    )


def _items(buffers: list[Buffer], kept: list[Any]) -> Items:
    types = (c_int32 * max(1, len(buffers)))(*[1] * len(buffers))
    pointers = (c_void_p * max(1, len(buffers)))(*[ctypes.addressof(b) for b in buffers])
    kept += [buffers, types, pointers]
    return Items(struct_size=ctypes.sizeof(Items), size=len(buffers), types=types, items=pointers)


def _attributes(attributes: dict[str, Any], kept: list[Any]) -> Attrs:
    arrays = []
    for _, value in sorted(attributes.items()):
        data = np.ascontiguousarray(value)
        kept.append(data)
        arrays.append(Array(dtype=CODES[data.dtype.name], size=data.size, data=data.ctypes.data))
    types = (c_int32 * max(1, len(arrays)))(*[1] * len(arrays))
    pointers = (c_void_p * max(1, len(arrays)))(*[ctypes.addressof(a) for a in arrays])
    kept += [arrays, types, pointers]
    return Attrs(struct_size=ctypes.sizeof(Attrs), size=len(arrays), types=types, attrs=pointers)


def make_plan(
    kernel: Any, outputs: int = 1, in_out: Any = (), static: Any = (), init: Any = None, differentiable: bool = False,
    checks: bool = False,
) -> Plan:  # fmt: skip
    """The plan of an annotated kernel whose last parameters are outputs."""
    specialisation = kernel.specialise()
    code = Code(specialisation, differentiable=differentiable, checks=checks)
    executable = load(specialisation, options=code.options, device="cpu")
    names = kernel.parameters
    split = len(names) - outputs
    assert all(isinstance(kernel.annotations[n], ArrayType) for n in names[split:])
    roles = Roles(names[:split], names[split:], frozenset(in_out), frozenset(static), init or {})
    return forward_plan(executable, roles, code)
