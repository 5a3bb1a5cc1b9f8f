"""Objects of the CUDA driver: facts about a device, memory, loaded kernels; memory is freed with its owner."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from workbench.errors import its_type


class CudaDevice(msgspec.Struct, frozen=True):
    """The properties of one CUDA device.

    Attributes:
        index: its number among the visible devices.
        name: as the driver calls it.
        arch: the architecture to compile for, such as `sm_90`.
        memory: bytes of device memory.
        multiprocessors: how many it has.
    """

    index: int
    name: str
    arch: str
    memory: int
    multiprocessors: int


class Buffer:
    """An allocation of device memory, or of page-locked host memory, that is freed when the object is dropped.

    Attributes:
        owner: the object that holds the memory; None if there is none (any more).
        handle: the address; 0 if it holds nothing.
        nbytes: the size.
        device: the number of the device.
        kind: that of the driver, "cuda" or "emulated".
        given_back, not_freed: called with the buffer when it was freed, and when the driver refused to free it.
    """

    def __init__(self, owner: Any, handle: int, nbytes: int, device: int) -> None:
        """Wrap the memory that `owner`, an object with `close`, holds; None if there is none."""
        self.owner = owner
        self.handle = handle
        self.nbytes = nbytes
        self.device = device
        self.kind = "cuda"
        self.given_back: Callable[[Buffer], object] = lambda buffer: None
        self.not_freed: Callable[[Buffer], object] = lambda buffer: None

    def free(self) -> None:
        """Free the memory once the work queued so far is done; a second call does nothing.

        It raises what the driver raises, and then still holds the memory.
        """
        if self.owner is not None:
            self.owner.close()
            self.owner, self.handle = None, 0
            self.given_back(self)

    def free_or_keep(self) -> None:
        """Free the memory; if the driver refuses, hand the buffer to `not_freed`."""
        try:
            self.free()
        except Exception:
            self.not_freed(self)

    def __del__(self) -> None:
        """Free the memory, or hand the buffer to `not_freed`; errors are ignored."""
        with suppress(Exception):  # at the interpreter's end there may be no driver any more
            self.free_or_keep()


class LoadedKernel(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A kernel of loaded code; it keeps the code loaded.

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
        """Return the kernel as a CUkernel, which all functions of the driver but `cuLaunchKernel` require."""
        return api.CUkernel(int(self.function))


def handle_of(stream: Any, api: Any) -> Any:
    """Return the driver's handle of a stream: Workbench's, cuda.core's, or one of a library with `__cuda_stream__`.

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
        """Take over the memory at `address`, which `free` is called with once."""
        self._free, self._address = free, address

    def close(self) -> None:
        """Free the memory; calling it again does nothing."""
        if self._address:
            self._free(self._address)
            self._address = 0

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()
