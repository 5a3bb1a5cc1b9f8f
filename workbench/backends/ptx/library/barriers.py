"""Library functions for warps that wait for each other: their frames, the barriers of a block, mbarrier objects."""

from __future__ import annotations

from workbench.backends.ptx.library.lanes import lane_function
from workbench.backends.ptx.library.template import expanded

_TEXT = """
define ptr @wbe_frame(ptr %ctx, i32 %warp, i64 %size) {
entry:
; Frames hold vectors, which lie at multiples of 64 bytes.
  %up = add i64 %size, 63
  %rounded = and i64 %up, -64
  GET FRAMES
  %known = icmp ne i64 %FRAMES, 0
  br i1 %known, label %have, label %make
make:
  GET WARPS
  %total = mul i64 %rounded, %WARPS
  %more = add i64 %total, 64
  %raw = call ptr @malloc(i64 %more)
  %raw.i = ptrtoint ptr %raw to i64
  SET FRAMES %raw.i
  br label %have
have:
  %at = phi i64 [ %FRAMES, %entry ], [ %raw.i, %make ]
  %at.up = add i64 %at, 63
  %first = and i64 %at.up, -64
  %w = zext i32 %warp to i64
  %off = mul i64 %rounded, %w
  %r = add i64 %first, %off
  %p = inttoptr i64 %r to ptr
  ret ptr %p
}

define void @wbe_exit(ptr %ctx, i32 %lanes) {
  %n = call i32 @llvm.ctpop.i32(i32 %lanes)
  %n.64 = zext i32 %n to i64
  GET ALIVE
  %left = sub i64 %ALIVE, %n.64
  SET ALIVE %left
  SET MOVED 1
  ret void
}

; A barrier's words: arrivals, arrivals expected (0: all threads that have not exited), predicates now and last time.
define void @wbe_arrive(ptr %ctx, i32 %mask, i32 %alive, i32 %id, i32 %count, i32 %counted, i32 %waits, i32 %index) {
entry:
  %valid = icmp ult i32 %id, BARRIERS
  br i1 %valid, label %known, label %unknown
unknown:
  call void @wbe_fault(ptr %ctx, i32 7, i32 %mask, <32 x i64> zeroinitializer, i32 %id, i32 %index)
  ret void
known:
  %whole = icmp eq i32 %mask, %alive
  br i1 %whole, label %arrive, label %parted
parted:
  %gone = xor i32 %mask, -1
  %missing = and i32 %alive, %gone
  call void @wbe_fault(ptr %ctx, i32 4, i32 %missing, <32 x i64> zeroinitializer, i32 %id, i32 %index)
  ret void
arrive:
  SET MOVED 1
  call void @arrived(ptr %ctx, i32 %id)
  %row.off = mul i32 %id, 32
  %row.at = add i32 %row.off, BARRIERROWS
  %row = getelementptr i8, ptr %ctx, i32 %row.at
  %n = call i32 @llvm.ctpop.i32(i32 %mask)
  %all = icmp eq i32 %count, 0
; A barrier with a count of its own counts whole warps, whoever has exited.
  %lanes = select i1 %all, i32 %n, i32 32
  %lanes.64 = zext i32 %lanes to i64
  %old = load i64, ptr %row
  %new = add i64 %old, %lanes.64
  store i64 %new, ptr %row
  %expected = getelementptr i8, ptr %row, i64 8
  %count.64 = zext i32 %count to i64
  store i64 %count.64, ptr %expected
  %now.p = getelementptr i8, ptr %row, i64 16
  %now = load i64, ptr %now.p
  %yes = call i32 @llvm.ctpop.i32(i32 %counted)
  %yes.64 = zext i32 %yes to i64
  %n.64 = zext i32 %n to i64
; Both predicates in one word: how many have come above, how many of them say yes below.
  %high = shl i64 %n.64, 32
  %both = or i64 %high, %yes.64
  %sum = add i64 %now, %both
  store i64 %sum, ptr %now.p
  %index.64 = zext i32 %index to i64
  SET INDEX %index.64
  %does = icmp ne i32 %waits, 0
  br i1 %does, label %wait, label %done
wait:
  %id.1 = add i32 %id, 1
  %id.64 = zext i32 %id.1 to i64
  SET BLOCKED %id.64
  br label %done
done:
  ret void
}

; Open the barriers that all have reached.
define internal void @open(ptr %ctx, ptr %blocked, i64 %warps) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %row.off = mul i64 %k, 32
  %row.at = add i64 %row.off, BARRIERROWS
  %row = getelementptr i8, ptr %ctx, i64 %row.at
  %arrived = load i64, ptr %row
  %some = icmp ne i64 %arrived, 0
  br i1 %some, label %check, label %next
check:
  %expected.p = getelementptr i8, ptr %row, i64 8
  %count = load i64, ptr %expected.p
  GET ALIVE
  %all = icmp eq i64 %count, 0
  %expected = select i1 %all, i64 %ALIVE, i64 %count
  %full = icmp uge i64 %arrived, %expected
  br i1 %full, label %release, label %next
release:
  call void @released(ptr %ctx, ptr %blocked, i64 %warps, i64 %k)
  store i64 0, ptr %row
  %now.p = getelementptr i8, ptr %row, i64 16
  %now = load i64, ptr %now.p
  store i64 0, ptr %now.p
  %last.p = getelementptr i8, ptr %row, i64 24
  store i64 %now, ptr %last.p
  %k.1 = add i64 %k, 1
  br label %warps.loop
warps.loop:
  %w = phi i64 [ 0, %release ], [ %w.next, %warps.next ]
  %b.p = getelementptr i64, ptr %blocked, i64 %w
  %b = load i64, ptr %b.p
  %here = icmp eq i64 %b, %k.1
  br i1 %here, label %free, label %warps.next
free:
  store i64 0, ptr %b.p
  br label %warps.next
warps.next:
  %w.next = add i64 %w, 1
  %w.over = icmp uge i64 %w.next, %warps
  br i1 %w.over, label %next, label %warps.loop
next:
  %k.next = add i64 %k, 1
  %over = icmp eq i64 %k.next, BARRIERS
  br i1 %over, label %done, label %loop
done:
  ret void
}

"""


def text() -> str:
    """Return the LLVM IR of the library functions for warps that wait: frames, barriers and mbarrier objects."""
    return expanded(_TEXT) + _arrivals()


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


def _arrivals() -> str:
    """Return the LLVM IR of the library function for an arrival at an mbarrier object.

    The layout of an object is ours, since PTX leaves it open: 20 bits of arrivals still pending, 20 of arrivals
    expected in each phase, and from bit 40 on the number of the phase.
    """
    scalars = ["i32 %mask", "i32 %drop"]
    return lane_function("wbe_mbarrier_arrive", "i64", scalars, [("at", "i64"), ("count", "i32")], _ARRIVE)
