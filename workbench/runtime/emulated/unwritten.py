"""Bytes of device memory that nothing has written: a shadow next to the arena, for launches with checks.

An allocation costs an entry here until such a launch first asks; then a byte of shadow for each of its bytes.
"""

from __future__ import annotations

import mmap

import numpy as np

from workbench.runtime.emulated.arena import Allocation, Arena, reserve
from workbench.runtime.emulated.status_error import CudaStatusError

LARGEST = 256 << 20
"""Bytes of the largest allocation that has a shadow; larger ones count as written."""


class Unwritten:
    """The shadow: 0xFF for a byte that nothing has written, 0 for all others."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._fresh: dict[int, Allocation] = {}
        self._pieces: dict[int, list[tuple[int, int]] | None] = {}
        """The address and size of each write, by allocation; None if its bytes are marked in the shadow."""
        self._map: mmap.mmap | None = None

    def allocated(self, allocation: Allocation) -> None:
        """Mark new memory as unwritten."""
        if allocation.nbytes <= LARGEST:
            self._fresh[allocation.start], self._pieces[allocation.start] = allocation, []

    def wrote(self, address: int, nbytes: int) -> None:
        """Mark bytes as written, by a copy or a fill."""
        allocation = self._arena.find(address)
        if allocation is None or allocation.start not in self._fresh:
            return
        pieces = self._pieces[allocation.start]
        if nbytes >= allocation.nbytes:
            self.forget(allocation.start)
        elif pieces is None:
            self._set(address, nbytes, 0)
        else:
            pieces.append((address, nbytes))

    def forget(self, start: int) -> None:
        """Stop tracking an allocation, which counts as written or is freed."""
        allocation = self._fresh.pop(start, None)
        if allocation is not None and self._pieces.pop(start) is None:
            self._set(start, allocation.nbytes, 0)

    def forget_all(self) -> None:
        """Stop tracking all memory: a launch without checks may write any of it."""
        for start in list(self._fresh):
            self.forget(start)

    def distance(self) -> int:
        """Update the shadow, and return its distance from the arena; 0 if the system has no addresses for it."""
        if self._map is None:
            try:
                self._map = reserve(self._arena.size, self._arena.size)
            except CudaStatusError:
                return 0
        for start, pieces in self._pieces.items():
            if pieces is not None:
                self._set(start, self._fresh[start].nbytes, 0xFF)
                for address, nbytes in pieces:
                    self._set(address, nbytes, 0)
                self._pieces[start] = None
        return np.frombuffer(self._map, np.uint8).ctypes.data - self._arena.base

    def clear(self, address: int, nbytes: int) -> None:
        """Mark shared and local memory that a launch gives back as written."""
        if self._map is not None:
            self._set(address, nbytes, 0)

    def _set(self, address: int, nbytes: int, value: int) -> None:
        assert self._map is not None
        first, page = address - self._arena.base, mmap.PAGESIZE
        low, high = -(-first // page) * page, (first + nbytes) // page * page
        if not value and high > low and hasattr(self._map, "madvise"):  # whole pages go back to the system
            self._map.madvise(mmap.MADV_DONTNEED, low, high - low)
            pieces = (first, low), (high, first + nbytes)
        else:
            pieces = ((first, first + nbytes),)
        shadow = np.frombuffer(self._map, np.uint8)
        for begin, end in pieces:
            shadow[begin:end] = value
