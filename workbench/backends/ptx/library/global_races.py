"""Library functions of the sanitized variant: data races in global memory.

Every four bytes have an entry for the last write and for the last two readers: thread, block, instruction, the warp's
clock (`races.py`) and the number of releases that the block had made. The clock orders two accesses of one block.
Accesses of two blocks count as ordered if the earlier block has released since (a fence, a release) and the later one
has acquired anything (a fence, an acquire, an atomic with a result). That is more than the memory model promises, so
that no lock and no flag is reported as a race.
"""

from __future__ import annotations

from workbench.backends.ptx.context import GLOBAL_RACE
from workbench.backends.ptx.library.races import ACCESS, OWN, compared, looking
from workbench.backends.ptx.library.template import expanded

GRANULE = 4
"""Bytes of global memory that share an entry; bits of the entry say which of them were accessed."""
PER_GRANULE = 48
"""Bytes of shadow for each granule."""
BLOCKS = 1 << 24
"""The number of thread blocks that entries can tell apart; beyond it numbers wrap."""
_LOCK = 1 << 23
_RELEASES = 4095

# An entry's first word, from its highest bit: it is there, atomic, four bits for its bytes, 10 of the thread, 24 of the
# block, a lock, 5 unused, 18 of the instruction. Its second: 32 bits of the value, 20 of the clock, 12 of releases.
_TEXT = f"""
define internal i64 @block_number(ptr %ctx) {{
  %all = call i64 @block_of_grid(ptr %ctx)
  %block = and i64 %all, {BLOCKS - 1}
  ret i64 %block
}}
define internal ptr @releases_of(ptr %ctx, i64 %block) {{
  GET RELEASES
  %off = shl i64 %block, 2
  %at = add i64 %RELEASES, %off
  %p = inttoptr i64 %at to ptr
  ret ptr %p
}}
define internal void @released_to_all(ptr %ctx) {{
entry:
  GET RELEASES
  %none = icmp eq i64 %RELEASES, 0
  br i1 %none, label %done, label %count
count:
  %block = call i64 @block_number(ptr %ctx)
  %p = call ptr @releases_of(ptr %ctx, i64 %block)
  %old = atomicrmw add ptr %p, i32 1 seq_cst
  br label %done
done:
  ret void
}}
define internal i64 @wide(i64 %nibble) {{
  %n1 = mul i64 %nibble, 2113665
  %n2 = and i64 %n1, 16843009
  %r = mul i64 %n2, 255
  ret i64 %r
}}
; Whether an entry is of another thread, meets these bytes, and is not known to be over.
define internal i1 @unordered(
    ptr %ctx, ptr %row, i64 %e0, i64 %e1, i64 %thread, i64 %block, i64 %bytes, i1 %acquired) {{
entry:
  %some = icmp slt i64 %e0, 0
  %b.s = lshr i64 %e0, 58
  %b.both = and i64 %b.s, %bytes
  %meet = icmp ne i64 %b.both, 0
  %may = and i1 %some, %meet
  br i1 %may, label %look, label %no
look:
  %eb.s = lshr i64 %e0, 24
  %eb = and i64 %eb.s, {BLOCKS - 1}
  %et.s = lshr i64 %e0, 48
  %et = and i64 %et.s, 1023
  %near = icmp eq i64 %eb, %block
  br i1 %near, label %inside, label %across
inside:
  %other = icmp ne i64 %et, %thread
  %w = lshr i64 %et, 5
  %known.p = getelementptr i64, ptr %row, i64 %w
  %known = load i64, ptr %known.p
  %c.s = lshr i64 %e1, 12
  %c = and i64 %c.s, 1048575
  %new = icmp uge i64 %c, %known
  %r = and i1 %other, %new
  ret i1 %r
across:
  %then = and i64 %e1, {_RELEASES}
  %p = call ptr @releases_of(ptr %ctx, i64 %eb)
  %now.32 = load atomic i32, ptr %p monotonic, align 4
  %now = zext i32 %now.32 to i64
  %more = icmp ugt i64 %now, %then
  %many = icmp eq i64 %then, {_RELEASES}
  %published = or i1 %more, %many
  %in.order = and i1 %published, %acquired
  %apart = xor i1 %in.order, true
  ret i1 %apart
no:
  ret i1 false
}}
"""

_FIRST = f"""{OWN}{ACCESS}  GET RACES
  GET RACES_FROM
  GET RACES_BYTES
  GET RACES_EVERY
  GET SCRATCH
  GET SCRATCH_END
  %scratch.bytes = sub i64 %SCRATCH_END, %SCRATCH
  %own.in = and i64 %own, 1048575
  %own.s = shl i64 %own.in, 12
  %acquired.p = getelementptr i8, ptr %s, i64 8
  %acquired.w = load i64, ptr %acquired.p
  %acquired = icmp ne i64 %acquired.w, 0
  %block = call i64 @block_number(ptr %ctx)
  %block.s = shl i64 %block, 24
  %rel.p = call ptr @releases_of(ptr %ctx, i64 %block)
  %rel.32 = load atomic i32, ptr %rel.p monotonic, align 4
  %rel.64 = zext i32 %rel.32 to i64
  %rel = call i64 @llvm.umin.i64(i64 %rel.64, i64 {_RELEASES})
  %h1 = or i64 %own.s, %rel
  %h2 = or i64 %block.s, %atomic.s
  %h3 = or i64 %h2, {-(1 << 63)}
  %h = or i64 %h3, %index.in
"""
_UNLOCK = "  store atomic i64 %w0.old, ptr %w0.p release, align 8\n"
_LANE = f"""  %sc.off = sub i64 %at, %SCRATCH
  %own.memory = icmp ult i64 %sc.off, %scratch.bytes
  %off = sub i64 %at, %RACES_FROM
  %outside = icmp uge i64 %off, %RACES_BYTES
  %skip = or i1 %own.memory, %outside
  br i1 %skip, label %past, label %start
start:
  %l.64 = zext i32 %l to i64
  %t = add i64 %thread, %l.64
  %t.s = shl i64 %t, 48
  %ht = or i64 %h, %t.s
  %end = add i64 %off, %count
  %last = sub i64 %end, 1
  %g.first = lshr i64 %off, 2
  %g.last = lshr i64 %last, 2
  br label %granule
granule:
  %g = phi i64 [ %g.first, %start ], [ %g.next, %kept ]
  %slot = udiv i64 %g, %RACES_EVERY
  %slot.all = mul i64 %slot, %RACES_EVERY
  %taken = icmp eq i64 %slot.all, %g
  br i1 %taken, label %look, label %kept
look:
  %e.off = mul i64 %slot, {PER_GRANULE}
  %e.at = add i64 %RACES, %e.off
  %w0.p = inttoptr i64 %e.at to ptr
  %w1.p = getelementptr i8, ptr %w0.p, i64 8
  %a0.p = getelementptr i8, ptr %w0.p, i64 16
  %a1.p = getelementptr i8, ptr %w0.p, i64 24
  %b0.p = getelementptr i8, ptr %w0.p, i64 32
  %b1.p = getelementptr i8, ptr %w0.p, i64 40
  %g.at = shl i64 %g, 2
  %from.max = call i64 @llvm.umax.i64(i64 %off, i64 %g.at)
  %from = sub i64 %from.max, %g.at
  %g.end = add i64 %g.at, 4
  %to.min = call i64 @llvm.umin.i64(i64 %end, i64 %g.end)
  %to = sub i64 %to.min, %g.at
  %m.to = shl i64 1, %to
  %m.from = shl i64 1, %from
  %m = sub i64 %m.to, %m.from
  %m.s = shl i64 %m, 58
  %e0 = or i64 %ht, %m.s
  %done.bytes = sub i64 %from.max, %off
  %done.8 = shl i64 %done.bytes, 3
  %done.bits = and i64 %done.8, 63
  %v.right = lshr i64 %value, %done.bits
  %from.bits = shl i64 %from, 3
  %v.left = shl i64 %v.right, %from.bits
  %v.high = shl i64 %v.left, 32
  %e1 = or i64 %v.high, %h1
  br label %lock
lock:
  %w0.old = atomicrmw or ptr %w0.p, i64 {_LOCK} acquire
  %w0.locked = and i64 %w0.old, {_LOCK}
  %busy = icmp ne i64 %w0.locked, 0
  br i1 %busy, label %lock, label %have
have:
  %w1 = load i64, ptr %w1.p
  %a0 = load i64, ptr %a0.p
  %a1 = load i64, ptr %a1.p
  %b0 = load i64, ptr %b0.p
  %b1 = load i64, ptr %b1.p
  %w.apart = call i1 @unordered(
      ptr %ctx, ptr %c, i64 %w0.old, i64 %w1, i64 %t, i64 %block, i64 %m, i1 %acquired)
  %w.m.s = lshr i64 %w0.old, 58
  %w.m = and i64 %w.m.s, %m
  %w.mask = call i64 @wide(i64 %w.m)
  %w.v = lshr i64 %w1, 32
  %v = lshr i64 %e1, 32
  %differ.all = xor i64 %w.v, %v
  %differ = and i64 %differ.all, %w.mask
  %equal = icmp eq i64 %differ, 0
  %a0.apart = call i1 @unordered(
      ptr %ctx, ptr %c, i64 %a0, i64 %a1, i64 %t, i64 %block, i64 %m, i1 %acquired)
  %b0.apart = call i1 @unordered(
      ptr %ctx, ptr %c, i64 %b0, i64 %b1, i64 %t, i64 %block, i64 %m, i1 %acquired)
{compared("%w0.old", ("%a0", "%b0"), GLOBAL_RACE, _UNLOCK)}  br i1 %only.reads, label %reader, label %writer
writer:
  %whole = icmp eq i64 %m, 15
  %a0.left = select i1 %whole, i64 0, i64 %a0
  %b0.left = select i1 %whole, i64 0, i64 %b0
  store i64 %a0.left, ptr %a0.p
  store i64 %b0.left, ptr %b0.p
  store i64 %e1, ptr %w1.p
  store atomic i64 %e0, ptr %w0.p release, align 8
  br label %kept
reader:
  br i1 %reads.plain, label %note, label %noted
note:
  %who = lshr i64 %ht, 24
  %who.in = and i64 %who, {(1 << 34) - 1}
  %a.who = lshr i64 %a0, 24
  %a.who.in = and i64 %a.who, {(1 << 34) - 1}
  %a.own = icmp eq i64 %who.in, %a.who.in
  %b0.new = select i1 %a.own, i64 %b0, i64 %a0
  %b1.new = select i1 %a.own, i64 %b1, i64 %a1
  store i64 %b0.new, ptr %b0.p
  store i64 %b1.new, ptr %b1.p
  store i64 %e0, ptr %a0.p
  store i64 %e1, ptr %a1.p
  br label %noted
noted:
  store atomic i64 %w0.old, ptr %w0.p release, align 8
  br label %kept
kept:
  %g.next = add i64 %g, 1
  %g.over = icmp ugt i64 %g.next, %g.last
  br i1 %g.over, label %past, label %granule
past:"""

_RACE = """
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
define void @wbe_race_global(
    ptr %ctx, i32 %mask, i32 %bytes, i32 %how, i32 %index, <32 x i64> %at, <32 x i64> %value) {
entry:
  GET RACES
  %off = icmp eq i64 %RACES, 0
  br i1 %off, label %done, label %look
look:
  call void @wbe_raced_global(
      ptr %ctx, i32 %mask, i32 %bytes, i32 %how, i32 %index, <32 x i64> %at, <32 x i64> %value)
  br label %done
done:
  ret void
}
"""


def text() -> str:
    """Return the LLVM IR of the library functions that find races in global memory."""
    return expanded(_TEXT + looking("wbe_raced_global", _LANE, _FIRST) + _RACE)
