"""Objects of the CUDA driver: facts about a device, memory, loaded kernels; memory is freed with its owner."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from workbench.errors import its_type


class CudaDevice(msgspec.Struct, frozen=True):
    """Facts about one CUDA device.

    Attributes:
        index: its number among the visible devices.
        name: as the driver calls it.
        arch: what to compile for, `sm_90`.
        memory: bytes of device memory.
        multiprocessors: how many it has.
    """

    index: int
    name: str
    arch: str
    memory: int
    multiprocessors: int


class Buffer:
    """Device memory: `handle` is its address (0 where it holds nothing), `nbytes` its size; freed when dropped.

    `kind` is that of the driver whose it is: "cuda" or "emulated".
    """

    def __init__(self, owner: Any, handle: int, nbytes: int, device: int) -> None:
        """Wrap the memory that `owner`, a `cuda.core` buffer, holds; None if there is none."""
        self.owner = owner
        self.handle = handle
        self.nbytes = nbytes
        self.device = device
        self.kind = "cuda"
        self.given_back: Callable[[Buffer], object] = lambda buffer: None
        self.refused: Callable[[Buffer], object] = lambda buffer: None

    def free(self) -> None:
        """Give the memory back once the work queued so far is done; again does nothing.

        It raises what the driver raises, and then still holds the memory.
        """
        if self.owner is not None:
            self.owner.close()
            self.owner, self.handle = None, 0
            self.given_back(self)

    def free_or_keep(self) -> None:
        """Free the memory; if the driver refuses, hand the buffer to `refused`."""
        try:
            self.free()
        except Exception:
            self.refused(self)

    def __del__(self) -> None:
        with suppress(Exception):  # at the interpreter's end there may be no driver any more
            self.free_or_keep()


class LoadedKernel(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A kernel of loaded code; keeps the code loaded.

    Attributes:
        entry: its symbol.
        device: the number of its device.
        function: the kernel as `cuLaunchKernel` takes it, alone of all functions: a CUkernel cast to a CUfunction.
        code: what keeps it loaded.
        cooperative: whether its launches let blocks wait for one another.
    """

    entry: str
    device: int
    function: Any
    code: Any
    cooperative: bool = False

    def handle(self, api: Any) -> Any:
        """Return the CUkernel, which all functions of the driver but `cuLaunchKernel` require."""
        return api.CUkernel(int(self.function))


def handle_of(stream: Any, api: Any) -> Any:
    """Return the handle of a stream: Workbench's, cuda.core's, or another library's that has `__cuda_stream__`.

    Raises:
        TypeError: it is no stream.
    """
    own = getattr(stream, "handle", None)
    if own is not None:
        return api.CUstream(own.value or 0) if isinstance(own, ctypes.c_void_p) else own  # as Numba has it
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is None:
        raise TypeError(f"{its_type(stream)} is not a CUDA stream: it has neither handle nor __cuda_stream__")
    answer: Any = protocol() if callable(protocol) else protocol
    return api.CUstream(int(answer[1]))


class PageLocked:
    """Page-locked host memory, freed when closed or dropped."""

    def __init__(self, free: Callable[[int], object], address: int) -> None:
        self._free, self._address = free, address

    def close(self) -> None:
        """Free the memory; calling it again does nothing."""
        if self._address:
            self._free(self._address)
            self._address = 0

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()
