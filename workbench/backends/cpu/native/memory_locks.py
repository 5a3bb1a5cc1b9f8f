"""Who may change which memory now: launches of several Python threads that add to one array take turns.

Code that adds without atomics is right within one launch and wrong beside another. A launch says which memory it reads
and changes as a mask of bits, one an allocation (two may share one), and waits until none of them is held. All bits are
taken in one atomic step, so no order of taking them can lock up; nobody holds any while it asks for more, or while
Python runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from workbench.forks import after_fork

BITS = 62
ANY = (1 << BITS) - 1
"""The mask of memory that may be anybody's: another library's."""

TEXT = """
@wb_busy = global i64 0

define internal i64 @hold(i64 %mask, ptr %stop) #0 {  ; what to drop; -1 where the launch ends before it begins
start:
  %free = icmp eq i64 %mask, 0
  br i1 %free, label %none, label %head
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
wait:                                                 ; in a signal's handler, the launch that it came in waits for us
  %nested = load i8, ptr @asking
  %inside = icmp ne i8 %nested, 0
  %on.main = call i1 @is(i64 0)
  %own = and i1 %inside, %on.main
  br i1 %own, label %none, label %look
look:
  %end = call i1 @ends(ptr %stop)
  br i1 %end, label %stopped, label %pause
pause:
  %patient = icmp ult i32 %tries, 200
  br i1 %patient, label %step.aside, label %sleep
step.aside:
  call void @give_way()
  br label %again
sleep:
  call void @nap(i32 50)
  br label %again
again:
  %tries.next = add i32 %tries, 1
  br label %head
done:
  ret i64 %mask
none:
  ret i64 0
stopped:
  ret i64 -1
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
    after_fork(lambda: setattr(busy, "value", 0))


def bit_of(address: int) -> int:
    """The mask of the allocation that begins at this address."""
    return 1 << ((address >> 6) * 0x9E3779B97F4A7C15 % 2**64 >> 32) % BITS
