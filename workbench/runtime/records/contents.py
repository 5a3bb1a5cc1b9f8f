"""Contents of arrays before their first use: stored by `record(inputs=True)`, restored by `rewind`."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping

import numpy as np

from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.shapes import extent
from workbench.runtime.device.device import driver_of
from workbench.runtime.device.memory import Memory


class Contents:
    """Copies of the memory of arrays, each as it was when it was first kept.

    Attributes:
        saved: by memory, the address of the first byte and the bytes.
    """

    def __init__(self, contents: Mapping[Memory, tuple[int, np.ndarray]] | None = None) -> None:
        """Begin with these copies, or with none."""
        self.saved = dict(contents or {})

    def keep(self, arrays: Iterable[array]) -> None:
        """Copy what the memory of these arrays holds now, if there is no copy of it yet."""
        for a in arrays:
            if a.memory not in self.saved:
                low, high = extent(a)
                low, high = min(low, a.memory.address), max(high, a.memory.address + a.memory.nbytes)
                self.saved[a.memory] = low, read_bytes(a.memory, low, high - low)

    def restore(self) -> None:
        """Write all copies back to the arrays' memory."""
        for memory, (low, data) in self.saved.items():
            memory.version += 1
            write_bytes(memory, low, data)

    @property
    def nbytes(self) -> int:
        """The number of bytes stored."""
        return sum(data.nbytes for _, data in self.saved.values())


def read_bytes(memory: Memory, address: int, count: int) -> np.ndarray:
    """Return a copy of `count` bytes from `address` on."""
    if memory.device.is_cuda:
        host = np.empty(count, np.uint8)
        driver_of(memory.device).copy_to_host(host, address, memory.device.index)
        return host
    return np.frombuffer(ctypes.string_at(address, count), np.uint8)


def write_bytes(memory: Memory, address: int, data: np.ndarray) -> None:
    """Copy bytes to an address in a memory."""
    if memory.device.is_cuda:
        driver_of(memory.device).copy_to_device(address, data, memory.device.index)
    elif data.nbytes:
        ctypes.memmove(address, data.ctypes.data, data.nbytes)
