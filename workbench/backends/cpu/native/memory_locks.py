"""Locks on memory: launches of several Python threads that add to one array take turns.

Code that adds without atomics is right within one launch and wrong beside another. A launch says which memory it reads
and changes as a mask of bits, one an allocation (two may share one), and waits until none of them is held. All bits are
taken in one atomic step, so no order of taking them can lock up; no launch holds any while it asks for more, or while
Python runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from workbench.forks import after_fork

BITS = 62
ANY = (1 << BITS) - 1
"""The mask of memory whose allocation is not known, such as another library's: all bits."""


def reset_after_fork(addresses: Mapping[str, int]) -> None:
    """Arrange that a forked child releases all locks, since it has none of the threads that held them.

    Args:
        addresses: of the launcher's symbols, by name.
    """
    busy = ctypes.c_int64.from_address(addresses["wb_busy"])
    after_fork(lambda: setattr(busy, "value", 0))


def bit_of(address: int) -> int:
    """Return the mask with the bit that stands for the allocation at this address; two allocations may share one."""
    # Fibonacci hashing (2^64 divided by the golden ratio) spreads neighbouring allocations over the bits; the low 6
    # bits of their addresses are mostly the same.
    return 1 << ((address >> 6) * 0x9E3779B97F4A7C15 % 2**64 >> 32) % BITS
