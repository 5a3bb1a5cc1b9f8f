"""The shadow of global memory in which a sanitized launch looks for races: sparse, new for each launch."""

from __future__ import annotations

import mmap
import sys

import numpy as np

from workbench.backends.ptx.library.global_races import GRANULE, PER_GRANULE

MOST = 384 << 20
"""Bytes that it may come to use; more memory than that is enough for is sampled."""
_NORESERVE = 0x4000 if sys.platform == "linux" else 0
"""MAP_NORESERVE, which Python's mmap has no name for in every version."""


class RaceTable:
    """An entry for every n-th granule of the memory that a launch may reach; only touched ones cost memory.

    Attributes:
        reached: bytes of the allocations.
        every: n: 1 for up to 32 MiB of allocations, else odd, so that it meets each place of a power of two.
    """

    def __init__(self, spans: np.ndarray) -> None:
        """A table for allocations, given as first addresses and ends, ascending."""
        self._first = int(spans[0, 0]) // GRANULE * GRANULE
        self._bytes = int(spans[-1, 1]) - self._first
        self.reached = int((spans[:, 1] - spans[:, 0]).sum())
        try:
            self._reserve(self.reached)
        except (OSError, OverflowError, ValueError):  # the system has not so many addresses
            self._reserve(self._bytes)

    def _reserve(self, reached: int) -> None:
        if sys.platform == "win32":  # which counts all of it as used
            reached = self._bytes
        self.every = -(-reached * PER_GRANULE // GRANULE // MOST) | 1
        size = (self._bytes // GRANULE // self.every + 2) * PER_GRANULE
        if sys.platform == "win32":
            self._map = mmap.mmap(-1, size)
        else:
            self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
        self._held = np.frombuffer(self._map, np.uint8)

    def words(self) -> dict[str, int]:
        """Return the launch's words (`context.py`)."""
        return {
            "RACES": self._held.ctypes.data, "RACES_FROM": self._first, "RACES_BYTES": self._bytes,
            "RACES_EVERY": self.every,
        }  # fmt: skip
