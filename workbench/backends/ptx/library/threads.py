"""Library functions for a warp's threads: who they are, what they call, and the faults that they report."""

from __future__ import annotations

from workbench.backends.ptx.context import FAULT_WORDS
from workbench.backends.ptx.library.lanes import lane_function
from workbench.backends.ptx.library.template import expanded

_TEXT = """
declare i32 @llvm.cttz.i32(i32, i1)
declare i64 @llvm.cttz.i64(i64, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.ctpop.i64(i64)
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.coro.resume(ptr)
declare i1 @llvm.coro.done(ptr)

define i32 @wbe_lanes(ptr %ctx, i32 %warp) {
  GET THREADS
  %w = zext i32 %warp to i64
  %before = shl i64 %w, 5
  %left = sub i64 %THREADS, %before
  %whole = icmp sge i64 %left, 32
  %few = trunc i64 %left to i32
; A shift by 32 is undefined: a whole warp is chosen below.
  %short = and i32 %few, 31
  %one = shl i32 1, %short
  %some = sub i32 %one, 1
  %r = select i1 %whole, i32 -1, i32 %some
  ret i32 %r
}

define <32 x i32> @wbe_tid(ptr %ctx, i32 %warp, i32 %axis) {
entry:
  %before = shl i32 %warp, 5
  %b = SPLAT i32 %before
  %linear = add <32 x i32> %b, LANESTEPS
  GET NTID_X
  GET NTID_Y
  GET NTID_Z
  %yz = mul i64 %NTID_Y, %NTID_Z
  %flat = icmp eq i64 %yz, 1
  %is.x = icmp eq i32 %axis, 0
  %is.y = icmp eq i32 %axis, 1
; Most blocks have one dimension, and no division is needed.
  br i1 %flat, label %line, label %deep
line:
  %l = select i1 %is.x, <32 x i32> %linear, <32 x i32> zeroinitializer
  ret <32 x i32> %l
deep:
  %x = trunc i64 %NTID_X to i32
  %xs = SPLAT i32 %x
  %y = trunc i64 %NTID_Y to i32
  %ys = SPLAT i32 %y
  %in.x = urem <32 x i32> %linear, %xs
  %rows = udiv <32 x i32> %linear, %xs
  %in.y = urem <32 x i32> %rows, %ys
  %in.z = udiv <32 x i32> %rows, %ys
  %yz.v = select i1 %is.y, <32 x i32> %in.y, <32 x i32> %in.z
  %r = select i1 %is.x, <32 x i32> %in.x, <32 x i32> %yz.v
  ret <32 x i32> %r
}

define <32 x i64> @wbe_local(ptr %ctx, i32 %warp) {
  GET LOCAL
  GET LOCAL_SIZE
  %before = shl i32 %warp, 5
  %b = zext i32 %before to i64
  %bs = SPLAT i64 %b
  %lane = add <32 x i64> %bs, LANELONGS
  %s = SPLAT i64 %LOCAL_SIZE
  %off = mul <32 x i64> %lane, %s
  %l = SPLAT i64 %LOCAL
  %r = add <32 x i64> %l, %off
  ret <32 x i64> %r
}

; A clock that goes on with each read is all that a loop which waits for time to pass needs.
define i64 @wbe_clock(ptr %ctx) {
  %p = AT CLOCK
  %old = load i64, ptr %p
  %new = add i64 %old, 32
  store i64 %new, ptr %p
  ret i64 %old
}

define void @wbe_count(ptr %ctx, i32 %block, i32 %mask) {
  GET COUNTERS
  %p = inttoptr i64 %COUNTERS to ptr
  %two = shl i32 %block, 1
  %w = getelementptr i64, ptr %p, i32 %two
  %old = atomicrmw add ptr %w, i64 1 monotonic
  %l = getelementptr i8, ptr %w, i64 8
  %n = call i32 @llvm.ctpop.i32(i32 %mask)
  %lanes = zext i32 %n to i64
  %o = atomicrmw add ptr %l, i64 %lanes monotonic
  %number = sext i32 %block to i64
  %tag = xor i64 %number, -1
  call void @wbe_trace(ptr %ctx, i64 %tag, i32 %mask, i32 0, <32 x i64> zeroinitializer)
  ret void
}

; The first fault of a launch is kept.
define void @wbe_fault(ptr %ctx, i32 %kind, i32 %mask, <32 x i64> %at, i32 %bytes, i32 %index) {
entry:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %done, label %report
report:
  GET FAULT
  %p = inttoptr i64 %FAULT to ptr
  %k = zext i32 %kind to i64
  %both = cmpxchg ptr %p, i64 0, i64 %k seq_cst seq_cst
  %won = extractvalue { i64, i1 } %both, 1
  br i1 %won, label %fill, label %done
fill:
  %lane = call i32 @llvm.cttz.i32(i32 %mask, i1 false)
  %address = extractelement <32 x i64> %at, i32 %lane
  GET NOW
  GET CTAID_X
  GET CTAID_Y
  GET CTAID_Z
  GET OTHER
  %index.64 = zext i32 %index to i64
  %lane.64 = zext i32 %lane to i64
  %bytes.64 = zext i32 %bytes to i64
  %mask.64 = zext i32 %mask to i64
  FILL
  br label %done
done:
  ret void
}

; Whether the launch is to end: another thread's fault, or whoever decides says so.
define i1 @wbe_ends(ptr %ctx) {
entry:
  GET STOPPED
  %over = icmp ne i64 %STOPPED, 0
  br i1 %over, label %yes, label %going
going:
  GET FAULT
  %fp = inttoptr i64 %FAULT to ptr
; Volatile: other threads write these words while a block turns in a loop.
  %kind = load volatile i64, ptr %fp
  %faulted = icmp ne i64 %kind, 0
  GET STOP
  %stop = inttoptr i64 %STOP to ptr
  br i1 %faulted, label %yes, label %look
look:
  %word = load volatile i32, ptr %stop
  %calm = icmp eq i32 %word, 0
  br i1 %calm, label %no, label %decide
decide:
  %ask.at = getelementptr i8, ptr %stop, i64 8
  %ask = load ptr, ptr %ask.at
  %code = call i32 %ask(ptr %stop)
  %end = icmp ne i32 %code, 0
  br i1 %end, label %stopped, label %no
stopped:
  SET STOPPED 1
  ret i1 true
yes:
  ret i1 true
no:
  ret i1 false
}

; Lanes of a mask whose members are all here; all of them, if they are not to wait for others.
define i32 @wbe_come(i32 %mask, i32 %alive, <32 x i32> %members, i32 %strict) {
entry:
  %gone = xor i32 %mask, -1
  %absent = and i32 %gone, %alive
  %a = SPLAT i32 %absent
  %missing = and <32 x i32> %members, %a
  %whole = icmp eq <32 x i32> %missing, zeroinitializer
  %whole.all = bitcast <32 x i1> %whole to i32
  %some = and i32 %whole.all, %mask
  %any = icmp ne i32 %strict, 0
  %r = select i1 %any, i32 %mask, i32 %some
  ret i32 %r
}
; A warp has come to its end with lanes that wait in loops, or for each other.
define void @wbe_rested(ptr %ctx, i32 %lanes, i32 %index, i1 %same) {
entry:
  %index.64 = zext i32 %index to i64
  SET INDEX %index.64
  %lanes.64 = zext i32 %lanes to i64
  SET LANES %lanes.64
  br i1 %same, label %done, label %new
new:
  SET MOVED 1
  br label %done
done:
  ret void
}
define void @wbe_moved(ptr %ctx, i32 %mask, i32 %won) {
entry:
  %both = and i32 %mask, %won
  %none = icmp eq i32 %both, 0
  br i1 %none, label %done, label %new
new:
  SET MOVED 1
  br label %done
done:
  ret void
}

; Lanes that a member mask names must be here, unless they have exited.
define void @wbe_members(ptr %ctx, i32 %mask, i32 %alive, <32 x i32> %members, i32 %index) {
entry:
  %m = bitcast i32 %mask to <32 x i1>
  %here = select <32 x i1> %m, <32 x i32> %members, <32 x i32> zeroinitializer
  %all = call i32 @llvm.vector.reduce.or.v32i32(<32 x i32> %here)
  %asked = and i32 %all, %alive
  %absent = xor i32 %mask, -1
  %missing = and i32 %asked, %absent
  %fine = icmp eq i32 %missing, 0
  br i1 %fine, label %done, label %fault
fault:
  call void @wbe_fault(ptr %ctx, i32 6, i32 %missing, <32 x i64> zeroinitializer, i32 0, i32 %index)
  br label %done
done:
  ret void
}
"""

_RECORD = {
    "instruction": "%index.64", "lane": "%lane.64", "warp": "%NOW", "x": "%CTAID_X", "y": "%CTAID_Y", "z": "%CTAID_Z",
    "address": "%address", "size": "%bytes.64", "mask": "%mask.64", "other": "%OTHER",
}  # fmt: skip
_CALLEE = """
  GET PRINT
  %f = inttoptr i64 %PRINT to ptr
  GET USER
"""
_PRINT = "  %r = call i32 %f(i64 %USER, i64 %format, i64 %values)"
_CONDITION = "  %low = trunc i64 %value to i32\n  call void %f(i64 %USER, i64 %handle, i32 %low)"


def _fill() -> str:
    """Return LLVM IR that stores the fields of a fault to the record at `%p`."""
    rows: list[str] = []
    for name, value in _RECORD.items():
        n = FAULT_WORDS.index(name)
        rows += [f"  %w{n} = getelementptr i64, ptr %p, i64 {n}", f"  store i64 {value}, ptr %w{n}"]
    return "\n".join(rows)


def text() -> str:
    """Return the LLVM IR of the library functions for a warp's threads: indices, callbacks and faults."""
    scalars = ["ptr %ctx", "i32 %mask"]
    vectors = [("format", "i64"), ("values", "i64")]
    prints = lane_function("wbe_vprintf", "i32", scalars, vectors, _PRINT, _CALLEE)
    vectors = [("handle", "i64"), ("value", "i64")]
    condition = lane_function("wbe_condition", "", scalars, vectors, _CONDITION, _CALLEE.replace("PRINT", "CONDITION"))
    return expanded(_TEXT.replace("  FILL", _fill()) + prints + condition)
