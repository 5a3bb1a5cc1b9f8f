"""Who may change which memory now: launches of several Python threads that add to one array take turns.

Code that adds without atomics is right within one launch and wrong beside another. A launch says which memory it reads
and changes as a mask of bits, one an allocation (two may share one), and waits until none of them is held. All bits are
taken in one atomic step, so no order of taking them can lock up; nobody holds any while it asks for more, or while
Python runs.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping

BITS = 62
ANY = (1 << BITS) - 1
"""The mask of memory that may be anybody's: another library's."""

TEXT = """
@wb_busy = global i64 0

define internal void @hold(i64 %mask) #0 {
start:
  %free = icmp eq i64 %mask, 0
  br i1 %free, label %done, label %head
head:
  %tries = phi i32 [ 0, %start ], [ %tries.next, %again ]
  %old = load atomic i64, ptr @wb_busy monotonic, align 8
  %common = and i64 %old, %mask
  %taken = icmp ne i64 %common, 0
  br i1 %taken, label %wait, label %take
take:
  %new = or i64 %old, %mask
  %pair = cmpxchg ptr @wb_busy, i64 %old, i64 %new acquire monotonic
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %done, label %again
wait:
  %patient = icmp ult i32 %tries, 200
  br i1 %patient, label %step.aside, label %sleep
step.aside:
  call void @give_way()
  br label %again
sleep:
  call void @nap()
  br label %again
again:
  %tries.next = add i32 %tries, 1
  br label %head
done:
  ret void
}

define internal void @drop(i64 %mask) #0 {
start:
  %free = icmp eq i64 %mask, 0
  br i1 %free, label %done, label %give
give:
  %others = xor i64 %mask, -1
  %old = atomicrmw and ptr @wb_busy, i64 %others release
  br label %done
done:
  ret void
}
"""
"""`@hold(mask)` and `@drop(mask)` as LLVM IR, beside the functions of `systems`."""


def reset_after_fork(addresses: Mapping[str, int]) -> None:
    """A child has none of the threads that held something when it was forked."""
    busy = ctypes.c_int64.from_address(addresses["wb_busy"])
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: setattr(busy, "value", 0))


def bit_of(address: int) -> int:
    """The mask of the allocation that begins at this address."""
    return 1 << ((address >> 6) * 0x9E3779B97F4A7C15 % 2**64 >> 32) % BITS
