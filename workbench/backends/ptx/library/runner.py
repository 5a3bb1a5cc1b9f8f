"""The native runner: a range of blocks on one thread, a block's warps one after the other or in turns.

`wbe_entry` has the form that the CPU's launcher calls (`backends/cpu/native/dispatch.py`), so threads, interrupts and
the GIL are its matter.
"""

from __future__ import annotations

from workbench.backends.ptx.library.template import expanded

_TEXT = """
; A block whose warps wait for each other: they go in turns until all have ended.
define internal void @turns(ptr %ctx, ptr %warp) {
entry:
  %now = AT NOW
  %blocked.word = AT BLOCKED
  %frames = alloca [64 x ptr]
  %blocked = alloca [64 x i64]
  GET WARPS
  GET SEED
  GET LAUNCH
  %launch = inttoptr i64 %LAUNCH to ptr
  %idlers = getelementptr i8, ptr %launch, i64 IDLEAT
  %slots = getelementptr i8, ptr %launch, i64 SLOTSAT
  %moved.word = AT MOVED
  br label %begin
begin:
  %w = phi i64 [ 0, %entry ], [ %w.next, %begin ]
; The seed decides which warp comes first, so that code which counts on an order is found.
  %w.s = add i64 %w, %SEED
  %w.r = urem i64 %w.s, %WARPS
  SET NOW %w.r
  SET BLOCKED 0
  %w.32 = trunc i64 %w.r to i32
  %frame = call ptr %warp(ptr %ctx, i32 %w.32)
  %f.p = getelementptr ptr, ptr %frames, i64 %w.r
  store ptr %frame, ptr %f.p
  GET BLOCKED
  %b.p = getelementptr i64, ptr %blocked, i64 %w.r
  store i64 %BLOCKED, ptr %b.p
  %w.next = add i64 %w, 1
  %begun = icmp uge i64 %w.next, %WARPS
  br i1 %begun, label %round, label %begin
round:
  %idle = phi i64 [ 0, %begin ], [ %idle.next, %again.round ]
  store i64 0, ptr %moved.word
  call void @open(ptr %ctx, ptr %blocked, i64 %WARPS)
  %ends = call i1 @wbe_ends(ptr %ctx)
  br i1 %ends, label %leave, label %walk
walk:
  %v = phi i64 [ 0, %round ], [ %v.next, %on ]
  %left = phi i64 [ 0, %round ], [ %left.next, %on ]
  %moved = phi i64 [ 0, %round ], [ %moved.next, %on ]
  %v.s = add i64 %v, %SEED
  %v.r = urem i64 %v.s, %WARPS
  %g.p = getelementptr ptr, ptr %frames, i64 %v.r
  %g = load ptr, ptr %g.p
  %over = call i1 @llvm.coro.done(ptr %g)
  br i1 %over, label %on, label %lives
lives:
  %c.p = getelementptr i64, ptr %blocked, i64 %v.r
  %c = load i64, ptr %c.p
  %left.one = add i64 %left, 1
  %waits = icmp ne i64 %c, 0
  br i1 %waits, label %on, label %resume
resume:
  store i64 %v.r, ptr %now
  store i64 0, ptr %blocked.word
  call void @llvm.coro.resume(ptr %g)
  %again = load i64, ptr %blocked.word
  store i64 %again, ptr %c.p
  %moved.one = add i64 %moved, 1
  br label %on
on:
  %left.next = phi i64 [ %left, %walk ], [ %left.one, %lives ], [ %left.one, %resume ]
  %moved.next = phi i64 [ %moved, %walk ], [ %moved, %lives ], [ %moved.one, %resume ]
  %v.next = add i64 %v, 1
  %walked = icmp uge i64 %v.next, %WARPS
  br i1 %walked, label %judge, label %walk
judge:
  %none.left = icmp eq i64 %left.next, 0
  br i1 %none.left, label %leave, label %stuck
stuck:
  %none.moved = icmp eq i64 %moved.next, 0
  br i1 %none.moved, label %deadlock, label %think
; In this round all warps that went on have only turned in loops, and memory is as it was.
think:
  %any = load i64, ptr %moved.word
  %calm = icmp eq i64 %any, 0
  %was.idle = icmp ne i64 %idle, 0
  %more = add i64 %idle, 1
  %idle.next = select i1 %calm, i64 %more, i64 0
  %starts = icmp eq i64 %idle.next, 1
  %stops.not = xor i1 %calm, true
  %stops = and i1 %stops.not, %was.idle
  %up = zext i1 %starts to i64
  %down = sext i1 %stops to i64
  %step = add i64 %up, %down
; Another block may still write what these warps wait for: there is no hope only where all that run are idle.
  %old.idlers = atomicrmw add ptr %idlers, i64 %step seq_cst
  %now.idle = add i64 %old.idlers, %step
  %held = load atomic i64, ptr %slots seq_cst, align 8
  %ranges = call i64 @llvm.ctpop.i64(i64 %held)
  %all.idle = icmp uge i64 %now.idle, %ranges
  %long = icmp ugt i64 %idle.next, PATIENCE
  %hopeless = and i1 %all.idle, %long
  br i1 %hopeless, label %spins, label %again.round
again.round:
  br label %round
spins:
  GET INDEX
  GET LANES
  %spin.index = trunc i64 %INDEX to i32
  %spin.lanes = trunc i64 %LANES to i32
  call void @wbe_fault(ptr %ctx, i32 12, i32 %spin.lanes, <32 x i64> zeroinitializer, i32 0, i32 %spin.index)
  br label %leave.idle
deadlock:
  %at.p = AT INDEX
  %at.index = load i64, ptr %at.p
  %index = trunc i64 %at.index to i32
  call void @wbe_fault(ptr %ctx, i32 5, i32 1, <32 x i64> zeroinitializer, i32 0, i32 %index)
  br label %leave
leave:
  %still = phi i64 [ %idle, %round ], [ %idle, %judge ], [ %idle, %deadlock ]
  %idles = icmp ne i64 %still, 0
  br i1 %idles, label %leave.idle, label %done
leave.idle:
  %less = atomicrmw sub ptr %idlers, i64 1 seq_cst
  br label %done
done:
  ret void
}

define i32 @wbe_entry(ptr %launch, i64 %begin, i64 %end, ptr %record, ptr %stop) {
entry:
  %ctx = alloca [WORDS x i64], align 64
  %now.word = AT NOW
  call void @llvm.memcpy.p0.p0.i64(ptr %ctx, ptr %launch, i64 WORDBYTES, i1 false)
  %stop.i = ptrtoint ptr %stop to i64
  SET STOP %stop.i
  %launch.i = ptrtoint ptr %launch to i64
  SET LAUNCH %launch.i
  %slots = getelementptr i8, ptr %launch, i64 SLOTSAT
  br label %take
take:
  %old = load atomic i64, ptr %slots seq_cst, align 8
  %free.slots = xor i64 %old, -1
  %slot = call i64 @llvm.cttz.i64(i64 %free.slots, i1 false)
  %slot.bit = shl i64 1, %slot
  %new = or i64 %old, %slot.bit
  %both = cmpxchg ptr %slots, i64 %old, i64 %new seq_cst seq_cst
  %won = extractvalue { i64, i1 } %both, 1
  br i1 %won, label %have, label %take
have:
  GET SCRATCH
  GET SLOT_SIZE
  GET SHARED_SIZE
  %slot.off = mul i64 %slot, %SLOT_SIZE
  %shared = add i64 %SCRATCH, %slot.off
  %local = add i64 %shared, %SHARED_SIZE
  SET SHARED %shared
  SET LOCAL %local
  SET FRAMES 0
  SET STOPPED 0
  SET CLOCK 0
  GET NCTAID_X
  GET NCTAID_Y
  GET EVERY
  GET THREADS
  GET WARPS
  GET WARP
  GET SUSPENDS
  %warp = inttoptr i64 %WARP to ptr
  %suspends = icmp ne i64 %SUSPENDS, 0
  br label %blocks
blocks:
  %b = phi i64 [ %begin, %have ], [ %b.next, %ended ]
  %over = icmp sge i64 %b, %end
  br i1 %over, label %leave, label %look
look:
  %ends = call i1 @wbe_ends(ptr %ctx)
  br i1 %ends, label %leave, label %run
run:
  %place = mul i64 %b, %EVERY
  %x = urem i64 %place, %NCTAID_X
  %rows = udiv i64 %place, %NCTAID_X
  %y = urem i64 %rows, %NCTAID_Y
  %z = udiv i64 %rows, %NCTAID_Y
  SET CTAID_X %x
  SET CTAID_Y %y
  SET CTAID_Z %z
  SET ALIVE %THREADS
  call void @unwrite(ptr %ctx)
  br i1 %suspends, label %turn, label %straight
turn:
  %rest = getelementptr i8, ptr %ctx, i64 BARRIERROWS
  call void @llvm.memset.p0.i64(ptr %rest, i8 0, i64 BARRIERBYTES, i1 false)
  call void @turns(ptr %ctx, ptr %warp)
  br label %ended
straight:
  %w = phi i64 [ 0, %run ], [ %w.next, %straight ]
  store i64 %w, ptr %now.word
  %w.32 = trunc i64 %w to i32
  %ignored = call ptr %warp(ptr %ctx, i32 %w.32)
  %w.next = add i64 %w, 1
  %warps.over = icmp uge i64 %w.next, %WARPS
  br i1 %warps.over, label %ended, label %straight
ended:
  %b.next = add i64 %b, 1
  br label %blocks
leave:
  GET FRAMES
  %frames = inttoptr i64 %FRAMES to ptr
  call void @free(ptr %frames)
  %taken = xor i64 %slot.bit, -1
  %was = atomicrmw and ptr %slots, i64 %taken seq_cst
  GET STOPPED
  %stopped = icmp ne i64 %STOPPED, 0
  %r = select i1 %stopped, i32 -1, i32 0
  ret i32 %r
}

"""


def text() -> str:
    """The LLVM IR of these functions."""
    return expanded(_TEXT)
