"""A pretended CUDA device: device memory is host memory, a cubin is a shared object that the host shim built.

The real driver layer runs on it, and above it arrays, packing, launches and adjoints, so that this way is walked
without a GPU. It is no evidence of what hardware does.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hostshim
import numpy as np

from workbench.backends.base import Artifact, Options
from workbench.backends.cuda.nvrtc import CudaBackend
from workbench.backends.cuda.spell import entry_name
from workbench.ir import Function
from workbench.runtime import driver as layer

GUARD = 64
LAUNCHES: list[tuple[int, int]] = []
"""Blocks and threads of every launch so far."""


class Result(IntEnum):
    CUDA_SUCCESS = 0


class Memory:
    """One allocation, filled with what no test expects."""

    def __init__(self, size: int) -> None:
        self._bytes = np.full(size + GUARD, 0xA5, np.uint8)
        self.handle = self._bytes.ctypes.data

    def close(self) -> None:
        self._bytes[:] = 0x5A


class Device:
    """What the driver layer asks of `cuda.core.Device`."""

    def __init__(self, index: int) -> None:
        self.default_stream = SimpleNamespace(handle=index)

    def set_current(self) -> None:
        """Nothing to do: there is one."""

    def sync(self) -> None:
        """Nothing to wait for: all work is done when it is queued."""

    def allocate(self, size: int, *, stream: Any) -> Memory:
        return Memory(size)


class ObjectCode:
    """A shared object, by its path."""

    @staticmethod
    def from_cubin(image: bytes, *, name: str = "") -> Any:
        library = ctypes.CDLL(image.decode())

        def kernel(entry: str) -> Any:
            function = getattr(library, f"wb_shim_{entry}")
            return SimpleNamespace(handle=ctypes.cast(function, ctypes.c_void_p).value, library=library)

        return SimpleNamespace(get_kernel=kernel)


def _move(destination: int, source: int, size: int, *stream: Any) -> tuple[Result]:
    ctypes.memmove(destination, source, size)
    return (Result.CUDA_SUCCESS,)


def _set(address: int, byte: int, size: int, *stream: Any) -> tuple[Result]:
    ctypes.memset(address, byte, size)
    return (Result.CUDA_SUCCESS,)


def _launch(function: int, blocks: int, *rest: Any) -> tuple[Result]:
    threads, params = rest[2], rest[-2]
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_uint)(function)
    LAUNCHES.append((blocks, threads))
    entry(params, blocks, threads)
    return (Result.CUDA_SUCCESS,)


def _ok(*values: Any) -> Any:
    return lambda *args: (Result.CUDA_SUCCESS, *values)


API = SimpleNamespace(
    CUresult=Result,
    CUdevice_attribute=SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=0,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=0,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=1,
    ),
    CUfunction=int,
    cuInit=_ok(),
    cuDeviceGetCount=_ok(1),
    cuDeviceGet=_ok(0),
    cuDeviceGetName=_ok(b"host shim\0"),
    cuDeviceTotalMem=_ok(1 << 24),
    # No such architecture exists, so nothing made here is ever found in a cache by a real device.
    cuDeviceGetAttribute=_ok(0),
    cuMemcpyHtoD=_move,
    cuMemcpyDtoH=_move,
    cuMemcpyAsync=_move,
    cuMemsetD8Async=_set,
    cuLaunchKernel=_launch,
)
CORE = SimpleNamespace(Device=Device, ObjectCode=ObjectCode)


def compile_for_host(self: CudaBackend, function: Function, options: Options, target: str = "") -> Artifact:
    """In place of NVRTC: the path of a shared object."""
    library = hostshim.Library([function], options)
    facts = {"entry": entry_name(function), "backend": "cuda", "target": target, "stages": {}, "log": ""}
    return Artifact(str(Path(library.path)).encode(), facts)


@contextlib.contextmanager
def device(monkeypatch: Any) -> Iterator[str]:
    """Makes `cuda:0` be there, for as long as the monkeypatch lasts."""
    found = layer.probe(lambda: None, lambda: (CORE, API))
    assert found.driver is not None, found.reason
    monkeypatch.setattr(layer, "_probe", lambda: found)
    monkeypatch.setattr(CudaBackend, "compile", compile_for_host)
    yield "cuda:0"
