"""Library functions for mbarrier objects: counts of arrivals in shared memory, for phases that threads wait for.

An object's form is ours, since PTX leaves it open: 20 bits of arrivals still pending, 20 of those expected in each
phase, and from bit 40 on the number of the phase.
"""

from __future__ import annotations

from workbench.backends.ptx.library.lanes import lane_function

_ARRIVE = """  %p = inttoptr i64 %at to ptr
  %r = load i64, ptr %p
  %n = zext i32 %count to i64
  %pending.old = and i64 %r, 1048575
  %expected.s = lshr i64 %r, 20
  %expected.old = and i64 %expected.s, 1048575
  %phase.old = lshr i64 %r, 40
  %drops = icmp ne i32 %drop, 0
  %fewer = select i1 %drops, i64 %n, i64 0
  %expected = sub i64 %expected.old, %fewer
  %pending.new = sub i64 %pending.old, %n
  %complete = icmp eq i64 %pending.new, 0
  %pending = select i1 %complete, i64 %expected, i64 %pending.new
  %one = zext i1 %complete to i64
  %phase = add i64 %phase.old, %one
  %a = shl i64 %phase, 40
  %b = shl i64 %expected, 20
  %pending.in = and i64 %pending, 1048575
  %ab = or i64 %a, %b
  %all.bits = or i64 %ab, %pending.in
  store i64 %all.bits, ptr %p"""


def text() -> str:
    """Return the LLVM IR of the mbarrier functions."""
    scalars = ["i32 %mask", "i32 %drop"]
    return lane_function("wbe_mbarrier_arrive", "i64", scalars, [("at", "i64"), ("count", "i32")], _ARRIVE)
