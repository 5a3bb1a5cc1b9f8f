"""The memory of all emulated devices: one range of addresses, reserved at once, of which only touched pages cost.

Device, pinned and shared memory lie in it, so an address means the same everywhere, like CUDA's unified addresses,
and tells which device owns it. Freed memory goes back to the system, and its addresses are reused as late as
possible, so that a use after free meets nothing rather than another array.
"""

from __future__ import annotations

import bisect
import collections
import ctypes
import mmap
import sys
from typing import Any

import msgspec
import numpy as np

from workbench.runtime.emulated.status_error import CudaStatusError

ALIGNMENT = 256
"""Bytes to which allocations are aligned, as CUDA promises of device memory."""
SIZE = 2 << 30 if sys.platform == "win32" else 64 << 30
"""Bytes of addresses that are reserved; Windows counts all of them as used memory, so there are fewer."""
LEAST = 64 << 20
GAP = 1 << 16
"""The most bytes of the gap behind an allocation; behind a smaller one it is as long as that one."""
REMEMBERED = 4096
"""The number of freed allocations that are remembered, for messages about their addresses."""
POISONED = 1 << 20
"""Bytes up to which fresh memory is filled with what no program expects; more would touch pages that are never used."""
HOST = -1
"""The owner of pinned memory, in place of a device's number."""
_NORESERVE = 0x4000
"""MAP_NORESERVE of Linux, which Python's mmap has no name for in every version."""


class Allocation(msgspec.Struct, frozen=True):
    """A range of bytes that was allocated.

    Attributes:
        start: the address.
        nbytes: how many; what lies between them and the next allocation belongs to no allocation.
        owner: the device's number, or `HOST`.
    """

    start: int
    nbytes: int
    owner: int

    @property
    def end(self) -> int:
        """The address after the last byte."""
        return self.start + self.nbytes


class Arena:
    """The address space of emulated devices: reserved addresses and their allocations.

    Attributes:
        base: the first address.
        size: how many.
        memory: all of them as bytes.
        changes: goes up with each allocation and each release.
    """

    def __init__(self, size: int = SIZE) -> None:
        """Reserve `size` addresses, or fewer: the number is halved until the system agrees.

        Raises:
            CudaStatusError: the system refuses `LEAST`, too.
        """
        self._map = reserve(size)
        self.size = len(self._map)
        self.memory = np.frombuffer(self._map, np.uint8)
        self.base = self.memory.ctypes.data
        start = -self.base % ALIGNMENT
        self._free: list[tuple[int, int]] = [(self.base + start, self.base + self.size)]
        self._next = self.base + start
        self._starts: list[int] = []
        self._live: dict[int, Allocation] = {}
        self._used: dict[int, int] = {}
        self._freed: collections.deque[Allocation] = collections.deque(maxlen=REMEMBERED)
        self.changes = 0

    def used(self, owner: int) -> int:
        """Return the number of bytes that an owner has allocated."""
        return self._used.get(owner, 0)

    def alloc(self, nbytes: int, owner: int) -> Allocation:
        """Allocate memory of at least one byte, aligned to `ALIGNMENT`; its contents are undefined.

        Raises:
            CudaStatusError: no range of free addresses is large enough.
        """
        room = _room_for(nbytes)
        at, start = self._room(room)
        low, high = self._free[at]
        pieces = (low, start), (start + room, high)
        self._free[at : at + 1] = [(first, last) for first, last in pieces if last > first]
        self._next = start + room
        allocation = Allocation(start, nbytes, owner)
        bisect.insort(self._starts, start)
        self._live[start] = allocation
        self._used[owner] = self.used(owner) + nbytes
        self.changes += 1
        if nbytes <= POISONED:
            self.bytes_at(start, nbytes)[:] = 0xA5
        return allocation

    def _room(self, room: int) -> tuple[int, int]:
        """Return the index of a free range that is large enough, and an address in it.

        It is the address behind the last allocation if there is room.

        Raises:
            CudaStatusError: no range is large enough.
        """
        first = bisect.bisect_right(self._free, (self._next, self.base + self.size)) - 1
        if first >= 0 and self._free[first][1] - self._next >= room:
            return first, self._next
        for at in (*range(first + 1, len(self._free)), *range(first + 1)):
            low, high = self._free[at]
            if high - low >= room:
                return at, low
        raise CudaStatusError("CUDA_ERROR_OUT_OF_MEMORY", f"no {room:,} addresses side by side are free")

    def free(self, start: int) -> None:
        """Free the allocation that begins at an address.

        Raises:
            CudaStatusError: there is none.
        """
        allocation = self._live.pop(start, None)
        if allocation is None:
            raise CudaStatusError(
                "CUDA_ERROR_INVALID_VALUE", f"no allocation begins at {start:#x}, or it was freed before"
            )
        del self._starts[bisect.bisect_left(self._starts, start)]
        self._used[allocation.owner] -= allocation.nbytes
        self._freed.append(allocation)
        self.changes += 1
        low, high = start, start + _room_for(allocation.nbytes)
        joined = self._join(low, high)
        self._give_back(low, high, *joined)

    def _join(self, low: int, high: int) -> tuple[int, int]:
        """Add a free range, merged with its free neighbours; return the merged range."""
        at = bisect.bisect_left(self._free, (low, high))
        if at < len(self._free) and self._free[at][0] == high:
            high = self._free.pop(at)[1]
        if at and self._free[at - 1][1] == low:
            at -= 1
            low = self._free.pop(at)[0]
        self._free.insert(at, (low, high))
        return low, high

    def _give_back(self, low: int, high: int, free_from: int, free_to: int) -> None:
        """Return to the system the pages that lie in a free range and held some of the bytes just freed.

        Args:
            low, high: the bytes just freed.
            free_from, free_to: the free range around them.
        """
        page = mmap.PAGESIZE
        first = max(low // page * page, -(-free_from // page) * page)
        last = min(-(-high // page) * page, free_to // page * page)
        if last > first and hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_DONTNEED, first - self.base, last - first)

    def find(self, address: int) -> Allocation | None:
        """Return the allocation that contains this byte; None if there is none."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        allocation = self._live[self._starts[at]]
        return allocation if address < allocation.end else None

    def found_freed(self, address: int) -> Allocation | None:
        """Return the allocation that last had this byte, if it was freed recently and the byte is free now."""
        if self.find(address) is not None:
            return None
        return next((a for a in reversed(self._freed) if a.start <= address < max(a.end, a.start + 1)), None)

    def holds(self, address: int) -> bool:
        """Return whether an address belongs to the arena, allocated or not."""
        return self.base <= address < self.base + self.size

    def live(self) -> list[Allocation]:
        """Return all allocations, in the order of their addresses."""
        return [self._live[start] for start in self._starts]

    def bytes_at(self, address: int, nbytes: int) -> np.ndarray:
        """Return a writable view of bytes of the arena, by absolute address."""
        return self.memory[address - self.base : address - self.base + nbytes]


def _room_for(nbytes: int) -> int:
    """Return the bytes of an allocation and of the gap behind it, which catches an index twice too large."""
    aligned = -(-max(nbytes, 1) // ALIGNMENT) * ALIGNMENT
    return aligned + min(aligned, GAP)


def reserve(size: int, least: int = LEAST) -> mmap.mmap:
    """Reserve `size` bytes of addresses, or half as many as often as the system refuses; only pages that are used cost.

    Raises:
        CudaStatusError: the system refuses `least`, too.
    """
    while True:
        try:
            if sys.platform == "win32":
                return mmap.mmap(-1, size)
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (_NORESERVE if sys.platform == "linux" else 0)
            return mmap.mmap(-1, size, flags=flags)
        except (OSError, OverflowError, ValueError) as problem:
            size //= 2
            if size < least:
                why = f"the system reserves no {least:,} addresses for emulated devices ({problem})"
                raise CudaStatusError("CUDA_ERROR_OUT_OF_MEMORY", why) from None


def host_bytes(address: int, nbytes: int) -> np.ndarray:
    """Return a writable view of bytes of the process's own memory."""
    held: Any = (ctypes.c_uint8 * nbytes).from_address(address)
    return np.frombuffer(held, np.uint8)
