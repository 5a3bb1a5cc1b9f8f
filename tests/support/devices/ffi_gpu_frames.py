"""A GPU as the FFI handler sees one: XLA's streams and device numbers, and a driver whose functions are counted.

Device memory is host memory that nobody may touch but the driver's own functions: it is unreadable while the handler
runs, so a handler that reads a device pointer dies. Kernels are PTX, which the CPU runs.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int32, c_size_t, c_uint, c_void_p
from typing import Any

import numpy as np

from tests.support.devices.ffi_frames import FUNCTIONS, HEAD, Xla
from workbench.backends.ptx.compile import compile_kernel
from workbench.backends.ptx.kernel import Arena, Launch, load
from workbench.backends.ptx.syntax.parse import parse
from workbench.backends.ptx.syntax.program import Program
from workbench.interop.jax.launches import cuda
from workbench.interop.jax.native.abi import STAGE_EXECUTE, STAGE_INITIALIZE

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
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
}
NAMES = {2: b"CUDA_ERROR_OUT_OF_MEMORY", 209: b"CUDA_ERROR_NO_BINARY_FOR_GPU", 719: b"CUDA_ERROR_LAUNCH_FAILED"}


class StreamGet(Structure):
    _fields_ = [*HEAD, ("ctx", c_void_p), ("stream", c_void_p)]


class OrdinalGet(Structure):
    _fields_ = [*HEAD, ("ctx", c_void_p), ("device_ordinal", c_int32)]


class Memory:
    """Device memory: NumPy arrays that can be read only inside `open`."""

    def __init__(self, size: int = 1 << 20) -> None:
        self._map = mmap.mmap(-1, 2 * size)  # the upper half is for shared and local memory
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._size, self._used = size, 0
        self.arena = Arena(self._start, 2 * size, self._start + size, size)
        self._protect = ctypes.CDLL(None).mprotect
        self._protect.argtypes = (c_void_p, c_size_t, c_int)
        self._depth = 0

    def array(self, like: Any) -> np.ndarray:
        """A copy of an array in this memory; read it inside `open` only."""
        source = np.asarray(like)
        start = self._used
        self._used += -(-source.nbytes // 64) * 64 + 64
        assert self._used <= self._size
        made = np.ndarray(source.shape, source.dtype, self._map, start)
        made[...] = source
        return made

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Nobody may read or write."""
        assert self._protect(self._start, 2 * self._size, 0) == 0
        try:
            yield
        finally:
            assert self._protect(self._start, 2 * self._size, 3) == 0

    @contextmanager
    def open(self) -> Iterator[None]:
        """The driver may."""
        assert self._protect(self._start, 2 * self._size, 3) == 0
        try:
            yield
        finally:
            assert self._protect(self._start, 2 * self._size, 0) == 0


class Gpu(Xla):
    """XLA and the driver of `devices` GPUs; a device's stream is 1000 and its number.

    Attributes:
        calls: name and arguments of each call of the driver; "XLA_FFI_Stream_Get" too.
        failing: name to the status that it answers with.
        device: whose turn it is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, ...]] = []
        self.failing: dict[str, int] = {}
        self.device, self.streamless = 0, False
        self.memory = Memory()
        self._codes: dict[int, Program] = {}
        self._kernels: dict[int, tuple[Program, str]] = {}
        self.addresses: dict[str, int] = {}
        for name, arguments in TYPES.items():
            function = CFUNCTYPE(c_int, *arguments)(self._counted(name))
            self._kept.append(function)
            self.addresses[name] = ctypes.cast(function, c_void_p).value or 0
        for name, arguments, rule in (
            ("XLA_FFI_Stream_Get", StreamGet, self._stream),
            ("XLA_FFI_DeviceOrdinal_Get", OrdinalGet, self._ordinal),
        ):
            function = CFUNCTYPE(c_void_p, POINTER(arguments))(rule)
            self._kept.append(function)
            self.api.functions[FUNCTIONS[name]] = ctypes.cast(function, c_void_p).value

    def _counted(self, name: str) -> Callable[..., int]:
        own = getattr(self, f"_{name}")

        def call(*args: Any) -> int:
            self.calls.append((name, *args))
            if name in self.failing:
                return self.failing[name]
            if name in QUEUES:
                with self.memory.open():
                    own(*args)
            else:
                own(*args)
            return 0

        return call

    def _stream(self, arguments: Any) -> int | None:
        self.calls.append(("XLA_FFI_Stream_Get",))
        if self.streamless:
            return self._error(13, "no stream here")
        arguments[0].stream = 1000 + self.device
        return None

    def _ordinal(self, arguments: Any) -> int | None:
        arguments[0].device_ordinal = self.device
        return None

    def _cuLibraryLoadData(self, library: Any, image: int, *rest: Any) -> None:
        (bytes_,) = [b.raw for b in cuda._alive if ctypes.addressof(b) == image]
        self._codes[len(self._codes) + 1] = parse(bytes_.decode().rstrip("\0"))
        library[0] = len(self._codes)

    def _cuLibraryGetKernel(self, kernel: Any, library: int, name: bytes) -> None:
        handle = 0x5000 + len(self._kernels)
        self._kernels[handle] = self._codes[library], name.decode()
        kernel[0] = handle

    def _cuLibraryUnload(self, library: int) -> None: ...

    def _cuKernelGetFunction(self, function: Any, kernel: int) -> None:
        function[0] = kernel + 1

    def _cuLaunchKernel(self, kernel: int, *rest: Any) -> None:
        *shape, shared, _, pointers, _ = rest
        program, name = self._kernels[kernel]
        entry, packed = program.entry(name), b""
        places = (c_void_p * len(entry.parameters)).from_address(pointers)
        for p, place in zip(entry.parameters, places, strict=True):
            packed = packed.ljust(p.offset, b"\0") + ctypes.string_at(place or 0, p.size)
        code = load(compile_kernel(program, name))
        found = code.launch(
            shape[:3], shape[3:6], packed, self.memory.arena, Launch(dynamic_shared=shared or 0, workers=1)
        )
        assert found is None, found

    def _cuMemsetD8Async(self, data: int, value: int, count: int, stream: int) -> None:
        np.ctypeslib.as_array(ctypes.cast(data, POINTER(U8)), (count,))[:] = value

    def _cuMemsetD16Async(self, data: int, value: int, count: int, stream: int) -> None:
        np.ctypeslib.as_array(ctypes.cast(data, POINTER(U16)), (count,))[:] = value

    def _cuMemsetD32Async(self, data: int, value: int, count: int, stream: int) -> None:
        np.ctypeslib.as_array(ctypes.cast(data, POINTER(c_uint)), (count,))[:] = value

    def _cuMemsetD2D32Async(self, data: int, pitch: int, value: int, width: int, rows: int, stream: int) -> None:
        for row in range(rows):
            self._cuMemsetD32Async(data + row * pitch, value, width, stream)

    def _cuMemcpyDtoDAsync(self, target: int, source: int, size: int, stream: int) -> None:
        ctypes.memmove(target, source, size)

    def _cuGetErrorName(self, code: int, name: Any) -> None:
        if code in NAMES:
            name[0] = NAMES[code]

    # What a test does.

    def names(self) -> list[str]:
        """What was called since the last time."""
        found, self.calls = [c[0] for c in self.calls], []
        return found

    def initialize(self, thunks: dict[str, int], device: int = 0) -> list[str]:
        """XLA's stage before each execution; gives what was called."""
        self.device = device
        with self.memory.closed():
            self.call(thunks["initialize"], [], [], {}, stage=STAGE_INITIALIZE)
        return self.names()

    def execute(
        self, thunks: dict[str, int], operands: Any, results: Any, attributes: dict[str, Any], device: int = 0
    ) -> list[np.ndarray]:
        """XLA's stage that queues; gives what the results then hold."""
        self.device = device
        placed = {id(a): self.memory.array(a) for a in (*operands, *results)}
        with self.memory.closed():
            self.call(
                thunks["execute"], [placed[id(a)] for a in operands], [placed[id(a)] for a in results], attributes,
                stage=STAGE_EXECUTE,
            )  # fmt: skip
        return [placed[id(a)].copy() for a in results]
