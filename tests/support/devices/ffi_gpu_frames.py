"""A GPU as the FFI handler sees one: XLA's streams and device numbers, and the functions of the emulated driver.

The handler is native code, which calls the driver through a table of addresses; here they lead to the emulated driver's
functions, which are Python's. So its streams, its captures, its limits and its PTX are those of every other test of
emulated devices. Device memory cannot be read while the handler runs, so a handler that reads a device pointer dies.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int32, c_size_t, c_uint, c_void_p
from typing import Any

import numpy as np

from tests.support.devices.ffi_frames import FUNCTIONS, HEAD, Xla
from workbench.interop.jax.native.abi import STAGE_EXECUTE, STAGE_INITIALIZE
from workbench.runtime.device.driver import new_driver

QUEUES = {
    "cuLaunchKernel", "cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async", "cuMemsetD2D32Async",
    "cuMemcpyDtoDAsync",
}  # fmt: skip
"""What `execute` may call of the driver: nothing that waits, allocates or loads."""
U8, U16 = ctypes.c_uint8, ctypes.c_uint16
TYPES = {
    "cuLibraryLoadData": (POINTER(c_void_p), c_void_p, c_void_p, c_void_p, c_uint, c_void_p, c_void_p, c_uint),
    "cuLibraryGetKernel": (POINTER(c_void_p), c_void_p, c_char_p),
    "cuLibraryUnload": (c_void_p,),
    "cuKernelGetFunction": (POINTER(c_void_p), c_void_p),
    "cuLaunchKernel": (c_void_p, *[c_uint] * 7, c_void_p, c_void_p, c_void_p),
    "cuMemsetD8Async": (c_void_p, U8, c_size_t, c_void_p),
    "cuMemsetD16Async": (c_void_p, U16, c_size_t, c_void_p),
    "cuMemsetD32Async": (c_void_p, c_uint, c_size_t, c_void_p),
    "cuMemsetD2D32Async": (c_void_p, c_size_t, c_uint, c_size_t, c_size_t, c_void_p),
    "cuMemcpyDtoDAsync": (c_void_p, c_void_p, c_size_t, c_void_p),
    "cuCtxGetDevice": (POINTER(c_int),),
    "cuKernelSetAttribute": (c_int, c_int, c_void_p, c_int),
}
"""What C passes to each; those that begin with a pointer give a number there."""
ANYWHERE = {"cuLibraryLoadData", "cuLibraryGetKernel", "cuLibraryUnload", "cuLaunchKernel"}
"""What needs no current context: the launch takes that of its stream."""
INVALID_CONTEXT = 201


class StreamGet(Structure):
    _fields_ = [*HEAD, ("ctx", c_void_p), ("stream", c_void_p)]


class OrdinalGet(Structure):
    _fields_ = [*HEAD, ("ctx", c_void_p), ("device_ordinal", c_int32)]


class Gpu(Xla):
    """XLA with two emulated GPUs, each with the stream that XLA made for it.

    Attributes:
        calls: name and arguments of each call of the driver; "XLA_FFI_Stream_Get" too.
        failing: name to the status that it answers with.
        device: whose turn it is.
        streams: of each device.
    """

    def __init__(self) -> None:
        super().__init__()
        self.driver = new_driver()
        self.calls: list[tuple[Any, ...]] = []
        self.failing: dict[str, int] = {}
        self.device, self.streamless = 0, False
        self.addresses: dict[str, int] = {}
        self.streams = []
        for device in range(2):
            self.driver.use(device)
            self.streams.append(int(self.driver.call("cuStreamCreateWithPriority", 1, 0)))
        for name, arguments in TYPES.items():
            self.serve(name, arguments, self._bridged(name, gives=arguments[0] in (POINTER(c_void_p), POINTER(c_int))))
        self.thread = threading.local()
        self.serve("cuStreamGetCtx", (c_void_p, POINTER(c_void_p)), self._context_of)
        self.serve("cuCtxPushCurrent", (c_void_p,), lambda context: self.thread.current.append(context - 1) or 0)
        self.serve("cuCtxPopCurrent", (POINTER(c_void_p),), lambda left: int(self.thread.current.pop() != self.device))
        self.serve("cuGetErrorName", (c_int, POINTER(c_char_p)), self._name_error)
        for name, kind, rule in (
            ("XLA_FFI_Stream_Get", StreamGet, self._stream),
            ("XLA_FFI_DeviceOrdinal_Get", OrdinalGet, self._ordinal),
        ):
            function = CFUNCTYPE(c_void_p, POINTER(kind))(rule)
            self._kept.append(function)
            self.api.functions[FUNCTIONS[name]] = ctypes.cast(function, c_void_p).value

    def serve(self, name: str, arguments: tuple[Any, ...], function: Callable[..., int]) -> None:
        """Let C call `function` as the driver's function of this name."""
        made = CFUNCTYPE(c_int, *arguments)(function)
        self._kept.append(made)
        self.addresses[name] = ctypes.cast(made, c_void_p).value or 0

    def _bridged(self, name: str, gives: bool) -> Callable[..., int]:
        def call(*args: Any) -> int:
            self.calls.append((name, *args))
            if name in self.failing:
                return self.failing[name]
            if name not in ANYWHERE and self.thread.current[-1:] != [self.device]:
                return INVALID_CONTEXT
            with self._protected(False):
                status, *found = getattr(self.driver.api, name)(*(a or 0 for a in args[gives:]))
            if gives and not status:
                args[0][0] = int(found[0])
            return int(status)

        return call

    def _context_of(self, stream: int, context: Any) -> int:
        context[0] = 1 + self.streams.index(stream)
        return 0

    def _name_error(self, code: int, name: Any) -> int:
        known = next((k for k in self.driver.api.CUresult if int(k) == code), None)
        if known is not None:
            self._kept.append(c_char_p(known.name.encode()))
            name[0] = self._kept[-1]
        return 0

    def _stream(self, arguments: Any) -> int | None:
        self.calls.append(("XLA_FFI_Stream_Get",))
        if self.streamless:
            return self._error(13, "no stream here")
        arguments[0].stream = self.streams[self.device]
        return None

    def _ordinal(self, arguments: Any) -> int | None:
        arguments[0].device_ordinal = self.device
        return None

    @contextmanager
    def _protected(self, on: bool) -> Iterator[None]:
        """Whether reading device memory ends the process, in this block; after it the other way round."""
        arena, protect = self.driver.api.state.arena, ctypes.CDLL(None).mprotect
        protect.argtypes = (c_void_p, c_size_t, c_int)
        assert protect(arena.base, arena.size, 0 if on else 3) == 0
        try:
            yield
        finally:
            assert protect(arena.base, arena.size, 3 if on else 0) == 0

    # What a test does.

    def call(self, thunk: int, *rest: Any, **more: Any) -> int | None:
        """As of `Xla`, with the device's memory out of reach, on a thread that has no current context."""
        self.driver.use(self.device)  # which C does not see
        self.thread.current = []
        with self._protected(True):
            try:
                return super().call(thunk, *rest, **more)
            finally:
                assert self.thread.current == []

    def names(self) -> list[str]:
        """What was called since the last time."""
        found, self.calls = [c[0] for c in self.calls if c[0].startswith("cu")], []
        return found

    def initialize(self, thunks: dict[str, int], device: int = 0) -> list[str]:
        """XLA's stage before each execution; gives what was called."""
        self.device = device
        self.call(thunks["initialize"], [], [], {}, stage=STAGE_INITIALIZE)
        return self.names()

    def array(self, like: Any) -> np.ndarray:
        """A copy of an array in the device's memory."""
        source = np.asarray(like)
        state = self.driver.api.state
        start = state.alloc(max(source.nbytes, 1), self.device).start
        made = state.arena.bytes_at(start, source.nbytes).view(source.dtype).reshape(source.shape)
        made[...] = source
        state.unwritten.wrote(start, source.nbytes)
        return made

    def queue(
        self, thunks: dict[str, int], operands: Any, results: Any, attributes: dict[str, Any], device: int = 0
    ) -> list[np.ndarray]:
        """XLA's stage that queues; gives the results, which hold what they held until `wait`."""
        self.device = device
        placed = {id(a): self.array(a) for a in (*operands, *results)}
        self.call(
            thunks["execute"], [placed[id(a)] for a in operands], [placed[id(a)] for a in results], attributes,
            stage=STAGE_EXECUTE,
        )  # fmt: skip
        return [placed[id(a)] for a in results]

    def wait(self) -> None:
        """Until the device's stream is done."""
        self.driver.use(self.device)
        self.driver.call("cuStreamSynchronize", self.streams[self.device])

    def execute(self, *call: Any, **more: Any) -> list[np.ndarray]:
        """As `queue`, with what the results hold afterwards."""
        found = self.queue(*call, **more)
        self.wait()
        return [a.copy() for a in found]
