"""Library functions that count accesses to memory: sectors, wavefronts over banks, atomics on one address."""

from __future__ import annotations

import re

from workbench.backends.ptx.counters import AT, ENTRY, HEAD, UNEVEN
from workbench.backends.ptx.library.template import expanded

_TEXT = """
define void @wbe_count_lanes(ptr %ctx, i32 %row, i32 %mask) {
  %n = call i32 @llvm.ctpop.i32(i32 %mask)
  %lanes = zext i32 %n to i64
  call void @count_add(ptr %ctx, i32 %row, i32 ROW_lanes, i64 %lanes)
  ret void
}
define internal ptr @count_place(ptr %ctx, i32 %row, i32 %word) {
  GET COUNTERS
  %p = inttoptr i64 %COUNTERS to ptr
  %n = add i32 %row, %word
  %w = getelementptr i64, ptr %p, i32 %n
  ret ptr %w
}
define internal void @count_add(ptr %ctx, i32 %row, i32 %word, i64 %n) {
  %p = call ptr @count_place(ptr %ctx, i32 %row, i32 %word)
  %old = atomicrmw add ptr %p, i64 %n monotonic
  ret void
}
define internal void @count_spacing(ptr %ctx, i32 %row, i32 %word, i64 %low, i64 %high) {
  %p = call ptr @count_place(ptr %ctx, i32 %row, i32 %word)
  %old = atomicrmw min ptr %p, i64 %low monotonic
  %q = getelementptr i64, ptr %p, i32 1
  %was = atomicrmw max ptr %q, i64 %high monotonic
  ret void
}
; How many lanes of the mask have a key that no lower lane of it has; they are the mask that is returned.
define internal i32 @count_first(i32 %mask, <32 x i64> %keys) {
entry:
  %kp = alloca <32 x i64>, align 64
  store <32 x i64> %keys, ptr %kp, align 64
  br label %loop
loop:
  %left = phi i32 [ %mask, %entry ], [ %left.next, %loop ]
  %found = phi i32 [ 0, %entry ], [ %found.next, %loop ]
  %l = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %k.l = getelementptr i64, ptr %kp, i32 %l
  %k = load i64, ptr %k.l
  %ks = SPLAT i64 %k
  %same = icmp eq <32 x i64> %ks, %keys
  %bits = bitcast <32 x i1> %same to i32
  %others = xor i32 %bits, -1
  %left.next = and i32 %left, %others
  %bit = shl i32 1, %l
  %found.next = or i32 %found, %bit
  %over = icmp eq i32 %left.next, 0
  br i1 %over, label %done, label %loop
done:
  ret i32 %found.next
}
; One access of a warp, by the space of its first lane.
define void @wbe_count_access(ptr %ctx, i32 %row, i32 %mask, <32 x i64> %at, i32 %bytes, i1 %atomic) {
entry:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %done, label %some
some:
  %l0 = call i32 @llvm.cttz.i32(i32 %mask, i1 false)
  %a0 = extractelement <32 x i64> %at, i32 %l0
  GET SHARED
  GET SHARED_SIZE
  GET LOCAL
  GET SLOT_SIZE
  %off = sub i64 %a0, %SHARED
  %is.shared = icmp ult i64 %off, %SHARED_SIZE
  %slot.end = add i64 %SHARED, %SLOT_SIZE
  %local.size = sub i64 %slot.end, %LOCAL
  %local.off = sub i64 %a0, %LOCAL
  %is.local = icmp ult i64 %local.off, %local.size
  br i1 %is.local, label %done, label %spaced
spaced:
  %tag = zext i32 %row to i64
  call void @wbe_trace(ptr %ctx, i64 %tag, i32 %mask, i32 %bytes, <32 x i64> %at)
  %rest.0 = sub i32 %mask, 1
  %rest = and i32 %mask, %rest.0
  %single = icmp eq i32 %rest, 0
  br i1 %single, label %which, label %pair
pair:
  %l1 = call i32 @llvm.cttz.i32(i32 %rest, i1 false)
  %a1 = extractelement <32 x i64> %at, i32 %l1
  %apart = sub i64 %a1, %a0
  %lanes.apart = sub i32 %l1, %l0
  %by = zext i32 %lanes.apart to i64
  %step = sdiv i64 %apart, %by
  %a0.s = SPLAT i64 %a0
  %l0.64 = zext i32 %l0 to i64
  %l0.s = SPLAT i64 %l0.64
  %step.s = SPLAT i64 %step
  %from = sub <32 x i64> LANELONGS, %l0.s
  %way = mul <32 x i64> %from, %step.s
  %line = add <32 x i64> %a0.s, %way
  %on.line = icmp eq <32 x i64> %line, %at
  %on.bits = bitcast <32 x i1> %on.line to i32
  %off.bits = xor i32 %on.bits, -1
  %stray = and i32 %off.bits, %mask
  %even = icmp eq i32 %stray, 0
  %low = select i1 %even, i64 %step, i64 -UNEVEN
  %high = select i1 %even, i64 %step, i64 UNEVEN
  %word = select i1 %is.shared, i32 ROW_shared_low, i32 ROW_low
  call void @count_spacing(ptr %ctx, i32 %row, i32 %word, i64 %low, i64 %high)
  br label %which
which:
  %active = call i32 @llvm.ctpop.i32(i32 %mask)
  %active.64 = zext i32 %active to i64
  %keys.first = call i32 @count_first(i32 %mask, <32 x i64> %at)
  %distinct = call i32 @llvm.ctpop.i32(i32 %keys.first)
  %distinct.64 = zext i32 %distinct to i64
  br i1 %atomic, label %update, label %space
update:
  call void @count_add(ptr %ctx, i32 %row, i32 ROW_atomics, i64 %active.64)
  %again = sub i64 %active.64, %distinct.64
  call void @count_add(ptr %ctx, i32 %row, i32 ROW_conflicts, i64 %again)
  br i1 %is.shared, label %shared, label %hits
hits:
  call void @wbe_count_hits(ptr %ctx, i32 %mask, <32 x i64> %at)
  br label %global
space:
  br i1 %is.shared, label %shared, label %global
global:
  %sector = lshr <32 x i64> %at, splat (i64 5)
  %firsts = call i32 @count_first(i32 %mask, <32 x i64> %sector)
  %sectors = call i32 @llvm.ctpop.i32(i32 %firsts)
  %sectors.64 = zext i32 %sectors to i64
  call void @count_add(ptr %ctx, i32 %row, i32 ROW_sectors, i64 %sectors.64)
  %bytes.64 = zext i32 %bytes to i64
  %needed = mul i64 %distinct.64, %bytes.64
  %up = add i64 %needed, 31
  %least = lshr i64 %up, 5
  call void @count_add(ptr %ctx, i32 %row, i32 ROW_least_sectors, i64 %least)
  %all = mul i64 %active.64, %bytes.64
  call void @count_add(ptr %ctx, i32 %row, i32 ROW_bytes, i64 %all)
  call void @wbe_count_touched(ptr %ctx, i32 %firsts, <32 x i64> %at)
  br label %done
shared:
  call void @count_banks(ptr %ctx, i32 %row, i32 %mask, <32 x i64> %at, i32 %bytes)
  br label %done
done:
  ret void
}
; Wavefronts of an access to shared memory: 8 bytes per lane go by halves of the warp, 16 by quarters.
define internal void @count_banks(ptr %ctx, i32 %row, i32 %mask, <32 x i64> %at, i32 %bytes) {
entry:
  %banks = alloca <32 x i32>, align 64
  %ap = alloca <32 x i64>, align 64
  GET SHARED
  %s = SPLAT i64 %SHARED
  %off = sub <32 x i64> %at, %s
  %words = lshr <32 x i64> %off, splat (i64 2)
  store <32 x i64> %words, ptr %ap, align 64
  %four = udiv i32 %bytes, 4
  %narrow = icmp eq i32 %four, 0
  %wide = select i1 %narrow, i32 1, i32 %four
  %share = udiv i32 32, %wide
  %full = icmp eq i32 %share, 32
  %one.bit = shl i32 1, %share
  %some.bits = sub i32 %one.bit, 1
  %group.bits = select i1 %full, i32 -1, i32 %some.bits
  br label %group
group:
  %from = phi i32 [ 0, %entry ], [ %from.next, %grouped ]
  %waves = phi i64 [ 0, %entry ], [ %waves.next, %grouped ]
  %least = phi i64 [ 0, %entry ], [ %least.next, %grouped ]
  %bits = shl i32 %group.bits, %from
  %here = and i32 %bits, %mask
  %empty = icmp eq i32 %here, 0
  br i1 %empty, label %grouped, label %count
count:
  %firsts = call i32 @count_first(i32 %here, <32 x i64> %words)
  store <32 x i32> zeroinitializer, ptr %banks, align 64
  br label %lane
lane:
  %left = phi i32 [ %firsts, %count ], [ %left.next, %laned ]
  %l = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %bit = shl i32 1, %l
  %left.next = xor i32 %left, %bit
  %w.l = getelementptr i64, ptr %ap, i32 %l
  %w = load i64, ptr %w.l
  br label %word
word:
  %k = phi i32 [ 0, %lane ], [ %k.next, %word ]
  %k.64 = zext i32 %k to i64
  %w.k = add i64 %w, %k.64
  %bank = and i64 %w.k, 31
  %b.p = getelementptr i32, ptr %banks, i64 %bank
  %b = load i32, ptr %b.p
  %b.one = add i32 %b, 1
  store i32 %b.one, ptr %b.p
  %k.next = add i32 %k, 1
  %worded = icmp uge i32 %k.next, %wide
  br i1 %worded, label %laned, label %word
laned:
  %over = icmp eq i32 %left.next, 0
  br i1 %over, label %most, label %lane
most:
  %all = load <32 x i32>, ptr %banks, align 64
  %worst = call i32 @llvm.vector.reduce.umax.v32i32(<32 x i32> %all)
  %worst.64 = zext i32 %worst to i64
  %waves.more = add i64 %waves, %worst.64
  %least.more = add i64 %least, 1
  br label %grouped
grouped:
  %waves.next = phi i64 [ %waves, %group ], [ %waves.more, %most ]
  %least.next = phi i64 [ %least, %group ], [ %least.more, %most ]
  %from.next = add i32 %from, %share
  %ended = icmp uge i32 %from.next, 32
  br i1 %ended, label %done, label %group
done:
  call void @count_add(ptr %ctx, i32 %row, i32 ROW_wavefronts, i64 %waves.next)
  call void @count_add(ptr %ctx, i32 %row, i32 ROW_least_wavefronts, i64 %least.next)
  ret void
}
"""

_TRACE = """
define void @wbe_trace(ptr %ctx, i64 %tag, i32 %mask, i32 %bytes, <32 x i64> %at) {
entry:
  GET TRACE
  %none = icmp eq i64 %TRACE, 0
  br i1 %none, label %done, label %where
where:
  GET NOW
  GET SHARED
  %p = inttoptr i64 %TRACE to ptr
  %block = call i64 @block_of_grid(ptr %ctx)
  %first.p = getelementptr i64, ptr %p, i32 2
  %first = load i64, ptr %first.p
  %blocks.p = getelementptr i64, ptr %p, i32 3
  %blocks = load i64, ptr %blocks.p
  %warps.p = getelementptr i64, ptr %p, i32 4
  %warps = load i64, ptr %warps.p
  %off = sub i64 %block, %first
  %of.block = icmp ult i64 %off, %blocks
  %of.warp = icmp ult i64 %NOW, %warps
  %followed = and i1 %of.block, %of.warp
  br i1 %followed, label %note, label %done
note:
  %room.p = getelementptr i64, ptr %p, i32 1
  %room = load i64, ptr %room.p
  %n = atomicrmw add ptr %p, i64 1 monotonic
  %full = icmp uge i64 %n, %room
  br i1 %full, label %done, label %write
write:
  %from = mul i64 %n, ENTRY
  %start = add i64 %from, HEAD
  %e = getelementptr i64, ptr %p, i64 %start
  store i64 %tag, ptr %e
  %mask.p = getelementptr i64, ptr %e, i32 1
  %mask.64 = zext i32 %mask to i64
  store i64 %mask.64, ptr %mask.p
  %bytes.p = getelementptr i64, ptr %e, i32 2
  %bytes.64 = zext i32 %bytes to i64
  store i64 %bytes.64, ptr %bytes.p
  %block.p = getelementptr i64, ptr %e, i32 3
  store i64 %block, ptr %block.p
  %warp.p = getelementptr i64, ptr %e, i32 4
  store i64 %NOW, ptr %warp.p
  %shared.p = getelementptr i64, ptr %e, i32 5
  store i64 %SHARED, ptr %shared.p
  %at.p = getelementptr i64, ptr %e, i32 6
  store <32 x i64> %at, ptr %at.p, align 8
  br label %done
done:
  ret void
}
"""

_MARK = """
define void @NAME(ptr %ctx, i32 %mask, <32 x i64> %at) {
entry:
  GET WORD
  GET ARENA
  GET SIZE
  %none = icmp eq i64 %WORD, 0
  br i1 %none, label %done, label %some
some:
  %ap = alloca <32 x i64>, align 64
  store <32 x i64> %at, ptr %ap, align 64
  %p = inttoptr i64 %WORD to ptr
  br label %lane
lane:
  %left = phi i32 [ %mask, %some ], [ %left.next, %laned ]
  %l = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %bit = shl i32 1, %l
  %left.next = xor i32 %left, %bit
  %a.l = getelementptr i64, ptr %ap, i32 %l
  %a = load i64, ptr %a.l
  %off = sub i64 %a, %ARENA
  %inside = icmp ult i64 %off, %SIZE
  br i1 %inside, label %mark, label %laned
mark:
  %n = lshr i64 %off, SHIFT
  %place = getelementptr ELEM, ptr %p, i64 %n
  DO
  br label %laned
laned:
  %over = icmp eq i32 %left.next, 0
  br i1 %over, label %done, label %lane
done:
  ret void
}
"""


def text() -> str:
    """Return the LLVM IR of the library functions that count accesses to memory and write the trace."""
    hits = _MARK.replace("NAME", "wbe_count_hits").replace("WORD", "HITS").replace("SHIFT", "2")
    hits = hits.replace("ELEM", "i32").replace("DO", "%old = atomicrmw add ptr %place, i32 1 monotonic")
    touched = _MARK.replace("NAME", "wbe_count_touched").replace("WORD", "TOUCHED").replace("SHIFT", "5")
    touched = touched.replace("ELEM", "i8").replace("DO", "store atomic i8 1, ptr %place monotonic, align 1")
    trace = _TRACE.replace("ENTRY", str(ENTRY)).replace("HEAD", str(HEAD))
    combined = (_TEXT + hits + touched + trace).replace("-UNEVEN", str(-UNEVEN))
    combined = re.sub(r"ROW_(\w+)", lambda m: str(AT[m[1]]), combined.replace("UNEVEN", str(UNEVEN)))
    return expanded(combined)
