"""The native runner: a range of blocks on one thread, a block's warps one after the other or in turns.

`wbe_entry` has the form that the CPU's launcher calls (`backends/cpu/native/dispatch.py`), so threads, interrupts and
the GIL are its matter.
"""

from __future__ import annotations

from workbench.backends.ptx.library.template import expanded

_TEXT = """
; The warps of a block, each until it waits for the first time.
define internal void @begin(ptr %ctx, ptr %warp, ptr %frames, ptr %blocked) {
entry:
  GET WARPS
  GET SEED
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
  br i1 %begun, label %done, label %begin
done:
  ret void
}

; Each warp of a block that can go on does so, until it waits again: how many are left and how many went on, or -1 if
; the launch ends.
define internal { i64, i64 } @round(ptr %ctx, ptr %frames, ptr %blocked) {
entry:
  %now = AT NOW
  %blocked.word = AT BLOCKED
  GET WARPS
  GET SEED
  SET MOVED 0
  call void @open(ptr %ctx, ptr %blocked, i64 %WARPS)
  %ends = call i1 @wbe_ends(ptr %ctx)
  br i1 %ends, label %leave, label %walk
walk:
  %v = phi i64 [ 0, %entry ], [ %v.next, %on ]
  %left = phi i64 [ 0, %entry ], [ %left.next, %on ]
  %moved = phi i64 [ 0, %entry ], [ %moved.next, %on ]
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
  br i1 %walked, label %leave, label %walk
leave:
  %r.left = phi i64 [ -1, %entry ], [ %left.next, %on ]
  %r.moved = phi i64 [ -1, %entry ], [ %moved.next, %on ]
  %r.one = insertvalue { i64, i64 } poison, i64 %r.left, 0
  %r = insertvalue { i64, i64 } %r.one, i64 %r.moved, 1
  ret { i64, i64 } %r
}

; Blocks whose warps wait for each other go in turns until all have ended: one, or all of a grid that may wait for one
; another. Each has a copy of the range's words, its warps' frames and what these wait for.
define internal void @turns(ptr %ctx, ptr %warp, i64 %first) {
entry:
  GET TOGETHER
  GET LAUNCH
  GET SHARED
  GET SLOT_SIZE
  %launch = inttoptr i64 %LAUNCH to ptr
  %idlers = getelementptr i8, ptr %launch, i64 IDLEAT
  %slots = getelementptr i8, ptr %launch, i64 SLOTSAT
  %bytes = mul i64 %TOGETHER, BLOCKBYTES
  %all = call ptr @malloc(i64 %bytes)
  br label %start
start:
  %s = phi i64 [ 0, %entry ], [ %s.next, %start ]
  %s.off = mul i64 %s, BLOCKBYTES
  %s.ctx = getelementptr i8, ptr %all, i64 %s.off
  call void @llvm.memcpy.p0.p0.i64(ptr %s.ctx, ptr %ctx, i64 WORDBYTES, i1 false)
; Frames that the range has from an earlier block are its first block's.
  %is.first = icmp eq i64 %s, 0
  %s.slot = mul i64 %s, %SLOT_SIZE
  %s.shared = add i64 %SHARED, %s.slot
  %s.place = add i64 %first, %s
  call void @placed(ptr %s.ctx, i64 %s.place, i64 %s.shared, i1 %is.first)
  %s.frames = getelementptr i8, ptr %s.ctx, i64 WORDBYTES
  %s.blocked = getelementptr i8, ptr %s.frames, i64 512
  call void @begin(ptr %s.ctx, ptr %warp, ptr %s.frames, ptr %s.blocked)
  %s.next = add i64 %s, 1
  %started = icmp uge i64 %s.next, %TOGETHER
  br i1 %started, label %round, label %start
round:
  %idle = phi i64 [ 0, %start ], [ %idle.next, %think ]
  br label %each
each:
  %b = phi i64 [ 0, %round ], [ %b.next, %took ]
  %left = phi i64 [ 0, %round ], [ %left.next, %took ]
  %moved = phi i64 [ 0, %round ], [ %moved.next, %took ]
  %changed = phi i64 [ 0, %round ], [ %changed.next, %took ]
  %last = phi ptr [ %all, %round ], [ %last.next, %took ]
  %b.off = mul i64 %b, BLOCKBYTES
  %b.ctx = getelementptr i8, ptr %all, i64 %b.off
  %b.frames = getelementptr i8, ptr %b.ctx, i64 WORDBYTES
  %b.blocked = getelementptr i8, ptr %b.frames, i64 512
  %done = call { i64, i64 } @round(ptr %b.ctx, ptr %b.frames, ptr %b.blocked)
  %d.left = extractvalue { i64, i64 } %done, 0
  %d.moved = extractvalue { i64, i64 } %done, 1
  %ends = icmp slt i64 %d.left, 0
  br i1 %ends, label %leave, label %took
took:
  %left.next = add i64 %left, %d.left
  %moved.next = add i64 %moved, %d.moved
  %m.p = getelementptr i8, ptr %b.ctx, i64 MOVEDAT
  %m = load i64, ptr %m.p
  %changed.next = or i64 %changed, %m
  %some = icmp ne i64 %d.left, 0
  %last.next = select i1 %some, ptr %b.ctx, ptr %last
  %b.next = add i64 %b, 1
  %walked = icmp uge i64 %b.next, %TOGETHER
  br i1 %walked, label %judge, label %each
judge:
  %none.left = icmp eq i64 %left.next, 0
  br i1 %none.left, label %leave, label %stuck
stuck:
  %none.moved = icmp eq i64 %moved.next, 0
  br i1 %none.moved, label %hopeless, label %think
; If memory is as it was, all warps that went on have only turned in loops.
think:
  %calm = icmp eq i64 %changed.next, 0
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
  %spins = and i1 %all.idle, %long
  br i1 %spins, label %hopeless, label %round
; A barrier that part of the threads never reach (kind 5), or loops (kind 12).
hopeless:
  %h.idle = phi i64 [ %idle, %stuck ], [ %idle.next, %think ]
  %kind = phi i32 [ 5, %stuck ], [ 12, %think ]
  call void @report(ptr %last.next, i32 %kind)
  br label %leave
leave:
  %still = phi i64 [ %idle, %each ], [ %idle, %judge ], [ %h.idle, %hopeless ]
  %idles = icmp ne i64 %still, 0
  %less = zext i1 %idles to i64
  %was = atomicrmw sub ptr %idlers, i64 %less seq_cst
  call void @llvm.memcpy.p0.p0.i64(ptr %ctx, ptr %all, i64 WORDBYTES, i1 false)
  %over.all = call i1 @wbe_ends(ptr %ctx)
  br label %drop
drop:
  %f = phi i64 [ 1, %leave ], [ %f.next, %frees ]
  %dropped = icmp uge i64 %f, %TOGETHER
  br i1 %dropped, label %over, label %frees
frees:
  %f.off = mul i64 %f, BLOCKBYTES
  %f.ctx = getelementptr i8, ptr %all, i64 %f.off
  %f.p = getelementptr i8, ptr %f.ctx, i64 FRAMESAT
  %frames = load ptr, ptr %f.p
  call void @free(ptr %frames)
  %f.next = add i64 %f, 1
  br label %drop
over:
  call void @free(ptr %all)
  ret void
}

define internal void @report(ptr %ctx, i32 %kind) {
  GET INDEX
  GET LANES
  %index = trunc i64 %INDEX to i32
  %spins = icmp eq i32 %kind, 12
  %turning = trunc i64 %LANES to i32
  %lanes = select i1 %spins, i32 %turning, i32 1
  call void @wbe_fault(ptr %ctx, i32 %kind, i32 %lanes, <32 x i64> zeroinitializer, i32 0, i32 %index)
  ret void
}

; The words of a block's own.
define internal void @placed(ptr %ctx, i64 %place, i64 %shared, i1 %has.frames) {
  GET NCTAID_X
  GET NCTAID_Y
  GET THREADS
  GET SHARED_SIZE
  GET FRAMES
  %x = urem i64 %place, %NCTAID_X
  %rows = udiv i64 %place, %NCTAID_X
  %y = urem i64 %rows, %NCTAID_Y
  %z = udiv i64 %rows, %NCTAID_Y
  %local = add i64 %shared, %SHARED_SIZE
  %frames = select i1 %has.frames, i64 %FRAMES, i64 0
  SET CTAID_X %x
  SET CTAID_Y %y
  SET CTAID_Z %z
  SET SHARED %shared
  SET LOCAL %local
  SET FRAMES %frames
  SET ALIVE %THREADS
  %rest = getelementptr i8, ptr %ctx, i64 BARRIERROWS
  call void @llvm.memset.p0.i64(ptr %rest, i8 0, i64 BARRIERBYTES, i1 false)
  call void @unwrite(ptr %ctx)
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
  %slot.off = mul i64 %slot, %SLOT_SIZE
  %shared = add i64 %SCRATCH, %slot.off
  SET SHARED %shared
  SET FRAMES 0
  SET STOPPED 0
  SET CLOCK 0
  GET EVERY
  GET FIRST
  GET BLOCKS
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
  %far = mul i64 %b, %EVERY
  %farther = add i64 %far, %FIRST
  %place = urem i64 %farther, %BLOCKS
  br i1 %suspends, label %turn, label %place.it
turn:
  call void @turns(ptr %ctx, ptr %warp, i64 %place)
  br label %ended
place.it:
  call void @placed(ptr %ctx, i64 %place, i64 %shared, i1 true)
  br label %straight
straight:
  %w = phi i64 [ 0, %place.it ], [ %w.next, %straight ]
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
    """Return the LLVM IR of the library functions that run a kernel's blocks."""
    return expanded(_TEXT)
