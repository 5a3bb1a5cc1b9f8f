"""Library functions of the sanitized variant: whether an access lies in what it may touch.

`wbe_check` sees only the window of all memory; here each access has to lie in one allocation, the block's shared
memory or the thread's own. The allocation that was met last is kept, since neighbouring accesses mostly meet it again.
"""

from __future__ import annotations

from workbench.backends.ptx.library.lanes import lane_function
from workbench.backends.ptx.library.template import expanded

_FIRST = """  GET SPANS
  GET SPAN_COUNT
  GET SHARED
  GET SHARED_BYTES
  GET LOCAL
  GET LOCAL_SIZE
  GET NOW
  GET SCRATCH
  GET SCRATCH_END
  %spans = inttoptr i64 %SPANS to ptr
  %shared.end = add i64 %SHARED, %SHARED_BYTES
  %thread = shl i64 %NOW, 5
  %more = zext i32 %bytes to i64
  %is.shared = icmp eq i32 %space, 1
  %is.local = icmp eq i32 %space, 2
"""
_PLACE = """  %end = add i64 %at, %more
  %sh.low = icmp uge i64 %at, %SHARED
  %sh.high = icmp ule i64 %end, %shared.end
  %in.shared = and i1 %sh.low, %sh.high
  %l.64 = zext i32 %l to i64
  %t = add i64 %thread, %l.64
  %t.off = mul i64 %t, %LOCAL_SIZE
  %own = add i64 %LOCAL, %t.off
  %own.end = add i64 %own, %LOCAL_SIZE
  %lo.low = icmp uge i64 %at, %own
  %lo.high = icmp ule i64 %end, %own.end
  %in.local = and i1 %lo.low, %lo.high
  %in.block = or i1 %in.shared, %in.local
  %sc.low = icmp uge i64 %at, %SCRATCH
  %sc.high = icmp ult i64 %at, %SCRATCH_END
  %in.scratch = and i1 %sc.low, %sc.high
  %generic = select i1 %is.local, i1 %in.local, i1 %in.block
  %here = select i1 %is.shared, i1 %in.shared, i1 %generic
  %named = or i1 %is.shared, %is.local
  %not.global = or i1 %named, %in.scratch
  br i1 %not.global, label %judged, label %search
search:
  br label %half
half:
  %low = phi i64 [ 0, %search ], [ %low.next, %step ]
  %high = phi i64 [ %SPAN_COUNT, %search ], [ %high.next, %step ]
  %width = sub i64 %high, %low
  %one = icmp sle i64 %width, 1
  br i1 %one, label %found, label %step
step:
  %sum = add i64 %low, %high
  %mid = lshr i64 %sum, 1
  %mid.word = shl i64 %mid, 1
  %mid.p = getelementptr i64, ptr %spans, i64 %mid.word
  %mid.first = load i64, ptr %mid.p
  %before = icmp ule i64 %mid.first, %at
  %low.next = select i1 %before, i64 %mid, i64 %low
  %high.next = select i1 %before, i64 %high, i64 %mid
  br label %half
found:
  %f.word = shl i64 %low, 1
  %f.p = getelementptr i64, ptr %spans, i64 %f.word
  %f.first = load i64, ptr %f.p
  %f.end.p = getelementptr i8, ptr %f.p, i64 8
  %f.end = load i64, ptr %f.end.p
  %f.low = icmp ule i64 %f.first, %at
  %f.high = icmp ule i64 %end, %f.end
  %in.span = and i1 %f.low, %f.high
  br i1 %in.span, label %keep, label %judged
keep:
  SET SPAN_LOW %f.first
  SET SPAN_HIGH %f.end
  br label %judged
judged:
  %good = phi i1 [ %here, %do ], [ %in.span, %found ], [ true, %keep ]
  %r = zext i1 %good to i32"""

_WATCH = """
; The lanes of a mask whose bytes all belong to one thing that they may touch; for others a fault.
define i32 @wbe_watch(ptr %ctx, i32 %mask, <32 x i64> %at, i32 %bytes, i32 %space, i32 %index) {
entry:
  GET SPAN_LOW
  GET SPAN_HIGH
  %b = zext i32 %bytes to i64
  %last = sub i64 %SPAN_HIGH, %b
  %f = SPLAT i64 %SPAN_LOW
  %e = SPLAT i64 %last
  %low = icmp sge <32 x i64> %at, %f
  %high = icmp sle <32 x i64> %at, %e
  %both = and <32 x i1> %low, %high
  %both.all = bitcast <32 x i1> %both to i32
  %others = xor i32 %mask, -1
  %in = or i32 %both.all, %others
  %same = icmp eq i32 %in, -1
  %global = icmp eq i32 %space, 0
  %quick = and i1 %same, %global
  br i1 %quick, label %good, label %look
good:
  ret i32 %mask
look:
  GET SHARED
  %placed = call <32 x i32> @wbe_placed(ptr %ctx, i32 %mask, i32 %bytes, i32 %space, <32 x i64> %at)
  %fine = icmp ne <32 x i32> %placed, zeroinitializer
  %fine.all = bitcast <32 x i1> %fine to i32
  %ok = and i32 %fine.all, %mask
  %bad = xor i32 %ok, %mask
  SET OTHER %SHARED
  call void @wbe_fault(ptr %ctx, i32 1, i32 %bad, <32 x i64> %at, i32 %bytes, i32 %index)
  ret i32 %ok
}
"""


def text() -> str:
    """Return the LLVM IR of the library functions that check whether an access lies in memory that it may touch."""
    scalars = ["ptr %ctx", "i32 %mask", "i32 %bytes", "i32 %space"]
    placed = lane_function("wbe_placed", "i32", scalars, [("at", "i64")], _PLACE, _FIRST)
    return expanded(placed + _WATCH)
