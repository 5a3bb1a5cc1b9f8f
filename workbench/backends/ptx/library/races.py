"""Library functions of the sanitized variant: data races in shared memory.

Each warp of a block has a vector clock: the progress of every warp, as far as it knows. Barriers, warp barriers and
fences advance a warp's own entry, and pass on what it knows. Each byte of shared memory has an entry for its last
write and for its last two readers, with the clock of their warp. An earlier access that a warp does not know of is
not ordered before the present one, so the two race.
"""

from __future__ import annotations

from workbench.backends.ptx.context import BARRIERS, SHARED_RACE
from workbench.backends.ptx.library.lanes import lane_function
from workbench.backends.ptx.library.template import expanded

HEAD = 64
"""Bytes before the clocks: the number of the block that the shadow belongs to, plus 1, and whether it has acquired."""
_ROW = 256
"""Bytes of a vector clock: one 64-bit count for each of 32 warps. The order is: warps' clocks, barriers', fences'."""
_FENCES = HEAD + _ROW * (32 + BARRIERS)
CLOCKS = _FENCES + _ROW
"""Bytes of a block's shadow before the entries."""
PER_BYTE = 24
"""Bytes of shadow for a byte of shared memory: an entry for its last write, and for two readers."""
READ, WRITE, ATOMIC, ATOMIC_READ, COPY = range(5)
"""Kinds of access; COPY writes values that are not known."""

# An entry, from its highest bit: it is there, atomic, 26 bits of clock, 10 of the thread, 8 of the value, 18 of the
# instruction.
_CLOCKS = f"""
declare <32 x i64> @llvm.umax.v32i64(<32 x i64>, <32 x i64>)

define internal i64 @block_of_grid(ptr %ctx) {{
  GET CTAID_X
  GET CTAID_Y
  GET CTAID_Z
  GET NCTAID_X
  GET NCTAID_Y
  %planes = mul i64 %CTAID_Z, %NCTAID_Y
  %rows = add i64 %planes, %CTAID_Y
  %row.blocks = mul i64 %rows, %NCTAID_X
  %block = add i64 %row.blocks, %CTAID_X
  ret i64 %block
}}
; The shadow of the block that runs, empty when the block begins.
define internal ptr @shadow(ptr %ctx) {{
entry:
  GET SHADOW
  GET SHADOW_SIZE
  GET SHARED
  GET SCRATCH
  GET SLOT_SIZE
  %off = sub i64 %SHARED, %SCRATCH
  %slot = udiv i64 %off, %SLOT_SIZE
  %slot.off = mul i64 %slot, %SHADOW_SIZE
  %at = add i64 %SHADOW, %slot.off
  %p = inttoptr i64 %at to ptr
  %block = call i64 @block_of_grid(ptr %ctx)
  %block.1 = add i64 %block, 1
  %held = load i64, ptr %p
  %same = icmp eq i64 %held, %block.1
  br i1 %same, label %have, label %begin
begin:
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %SHADOW_SIZE, i1 false)
  store i64 %block.1, ptr %p
  br label %have
have:
  ret ptr %p
}}
define internal ptr @clock(ptr %shadow, i64 %row) {{
  %off = mul i64 %row, {_ROW}
  %at = add i64 %off, {HEAD}
  %p = getelementptr i8, ptr %shadow, i64 %at
  ret ptr %p
}}
define internal void @join(ptr %into, ptr %from) {{
  %a = load <32 x i64>, ptr %into, align 8
  %b = load <32 x i64>, ptr %from, align 8
  %c = call <32 x i64> @llvm.umax.v32i64(<32 x i64> %a, <32 x i64> %b)
  store <32 x i64> %c, ptr %into, align 8
  ret void
}}
define internal void @tick(ptr %row, i64 %warp) {{
  %p = getelementptr i64, ptr %row, i64 %warp
  %old = load i64, ptr %p
  %new = add i64 %old, 1
  store i64 %new, ptr %p
  ret void
}}
; A warp barrier: what the warp's threads do from now on comes after what they did.
define void @wbe_warp_synced(ptr %ctx) {{
  GET NOW
  %s = call ptr @shadow(ptr %ctx)
  %c = call ptr @clock(ptr %s, i64 %NOW)
  call void @tick(ptr %c, i64 %NOW)
  ret void
}}
; A fence knows of all fences before it. That is more than the model of memory promises, so that nothing is reported
; which a flag or a lock orders. `%gives` 0: an atomic operation with a result, which may have taken a lock.
define void @wbe_fenced(ptr %ctx, i32 %gives) {{
entry:
  GET NOW
  %s = call ptr @shadow(ptr %ctx)
  %c = call ptr @clock(ptr %s, i64 %NOW)
  %f = getelementptr i8, ptr %s, i64 {_FENCES}
  %does = icmp ne i32 %gives, 0
  br i1 %does, label %give, label %take
give:
  call void @tick(ptr %c, i64 %NOW)
  call void @join(ptr %f, ptr %c)
  call void @released_to_all(ptr %ctx)
  br label %take
take:
  %acquired = getelementptr i8, ptr %s, i64 8
  store i64 1, ptr %acquired
  call void @join(ptr %c, ptr %f)
  ret void
}}
; A warp comes to a barrier of the block.
define internal void @arrived(ptr %ctx, i32 %id) {{
entry:
  GET SHADOW
  %plain = icmp eq i64 %SHADOW, 0
  br i1 %plain, label %done, label %give
give:
  GET NOW
  %s = call ptr @shadow(ptr %ctx)
  %c = call ptr @clock(ptr %s, i64 %NOW)
  call void @tick(ptr %c, i64 %NOW)
  %id.64 = zext i32 %id to i64
  %row = add i64 %id.64, 32
  %b = call ptr @clock(ptr %s, i64 %row)
  call void @join(ptr %b, ptr %c)
  br label %done
done:
  ret void
}}
; A barrier opens: the warps that wait at it know what those that came knew.
define internal void @released(ptr %ctx, ptr %blocked, i64 %warps, i64 %k) {{
entry:
  GET SHADOW
  %plain = icmp eq i64 %SHADOW, 0
  br i1 %plain, label %done, label %give
give:
  %s = call ptr @shadow(ptr %ctx)
  %row = add i64 %k, 32
  %b = call ptr @clock(ptr %s, i64 %row)
  %k.1 = add i64 %k, 1
  br label %loop
loop:
  %w = phi i64 [ 0, %give ], [ %w.next, %next ]
  %p = getelementptr i64, ptr %blocked, i64 %w
  %at = load i64, ptr %p
  %here = icmp eq i64 %at, %k.1
  br i1 %here, label %know, label %next
know:
  %c = call ptr @clock(ptr %s, i64 %w)
  call void @join(ptr %c, ptr %b)
  br label %next
next:
  %w.next = add i64 %w, 1
  %over = icmp uge i64 %w.next, %warps
  br i1 %over, label %clear, label %loop
clear:
  call void @llvm.memset.p0.i64(ptr %b, i8 0, i64 {_ROW}, i1 false)
  br label %done
done:
  ret void
}}
; Whether an entry is another thread's, and this warp does not know that it is over.
define internal i1 @apart(ptr %row, i64 %entry, i64 %thread) {{
  %some = icmp ne i64 %entry, 0
  %t.s = lshr i64 %entry, 26
  %t = and i64 %t.s, 1023
  %other = icmp ne i64 %t, %thread
  %c.s = lshr i64 %entry, 36
  %c = and i64 %c.s, 67108863
  %w = lshr i64 %t, 5
  %known.p = getelementptr i64, ptr %row, i64 %w
  %known = load i64, ptr %known.p
  %new = icmp uge i64 %c, %known
  %a = and i1 %some, %other
  %r = and i1 %a, %new
  ret i1 %r
}}
"""

OWN = """  GET NOW
  %s = call ptr @shadow(ptr %ctx)
  %c = call ptr @clock(ptr %s, i64 %NOW)
  %own.p = getelementptr i64, ptr %c, i64 %NOW
  %own = load i64, ptr %own.p
"""
"""LLVM IR that loads the block's shadow (`%s`), this warp's vector clock (`%c`) and the warp's own count (`%own`)."""
ACCESS = f"""  %thread = shl i64 %NOW, 5
  %count = zext i32 %bytes to i64
  %index.64 = zext i32 %index to i64
  %index.in = and i64 %index.64, 262143
  %reads.plain = icmp eq i32 %how, {READ}
  %reads.atomic = icmp eq i32 %how, {ATOMIC_READ}
  %atomic.1 = icmp eq i32 %how, {ATOMIC}
  %atomic = or i1 %atomic.1, %reads.atomic
  %only.reads = or i1 %reads.plain, %reads.atomic
  %valued = icmp eq i32 %how, {WRITE}
  %atomic.64 = zext i1 %atomic to i64
  %atomic.s = shl i64 %atomic.64, 62
"""
"""LLVM IR that brings the parameters of an access into the form of an entry's fields."""


def compared(write: str, readers: tuple[str, str], fault: int, before: str = "") -> str:
    """Return the LLVM IR that tests an access for a race; it goes on to `fine`, or after a fault to `past`.

    Args:
        write: the entry of the last write; `%w.apart` is whether it is unordered, `%equal` whether it wrote this value.
        readers: the entries of the last two readers; for each, `.apart` appended names whether it is unordered.
        fault: the kind of a race (`context.py`).
        before: LLVM text to run before a race is reported.
    """
    first, second = readers
    return f"""  %w.at = and i64 {write}, {1 << 62}
  %w.atomic = icmp ne i64 %w.at, 0
  %both.atomic = and i1 %w.atomic, %atomic
  %alike = and i1 %equal, %valued
  %excused = or i1 %both.atomic, %alike
  %held = xor i1 %excused, true
  %w.bad = and i1 %w.apart, %held
  %r.apart = or i1 {first}.apart, {second}.apart
  %changes = xor i1 %only.reads, true
  %r.bad = and i1 %r.apart, %changes
  %bad = or i1 %w.bad, %r.bad
  br i1 %bad, label %race, label %fine
race:
{before}  %r.which = select i1 {first}.apart, i64 {first}, i64 {second}
  %which = select i1 %w.bad, i64 {write}, i64 %r.which
  SET OTHER %which
  call void @wbe_fault(ptr %ctx, i32 {fault}, i32 %bit, <32 x i64> %at.all, i32 %bytes, i32 %index)
  br label %past
fine:
"""


_FIRST = f"""{OWN}{ACCESS}  GET SHARED
  GET SHARED_BYTES
  %own.s = shl i64 %own, 36
  %entries = getelementptr i8, ptr %s, i64 {CLOCKS}
  %h1 = or i64 %own.s, %atomic.s
  %h2 = or i64 %h1, {-(1 << 63)}
  %h = or i64 %h2, %index.in
"""
_LANE = f"""  %off = sub i64 %at, %SHARED
  %in = icmp ult i64 %off, %SHARED_BYTES
  br i1 %in, label %start, label %past
start:
  %l.64 = zext i32 %l to i64
  %t = add i64 %thread, %l.64
  %t.s = shl i64 %t, 26
  %ht = or i64 %h, %t.s
  br label %byte
byte:
  %n = phi i64 [ 0, %start ], [ %n.next, %kept ]
  %o = add i64 %off, %n
  %e.off = mul i64 %o, {PER_BYTE}
  %w.p = getelementptr i8, ptr %entries, i64 %e.off
  %r1.p = getelementptr i8, ptr %w.p, i64 8
  %r2.p = getelementptr i8, ptr %w.p, i64 16
  %w = load i64, ptr %w.p
  %r1 = load i64, ptr %r1.p
  %r2 = load i64, ptr %r2.p
  %shift.8 = shl i64 %n, 3
  %shift = and i64 %shift.8, 63
  %v.s = lshr i64 %value, %shift
  %v = and i64 %v.s, 255
  %w.apart = call i1 @apart(ptr %c, i64 %w, i64 %t)
  %w.v.s = lshr i64 %w, 18
  %w.v = and i64 %w.v.s, 255
  %equal = icmp eq i64 %w.v, %v
  %r1.apart = call i1 @apart(ptr %c, i64 %r1, i64 %t)
  %r2.apart = call i1 @apart(ptr %c, i64 %r2, i64 %t)
{compared("%w", ("%r1", "%r2"), SHARED_RACE)}  br i1 %reads.atomic, label %kept, label %keep
keep:
  %v.in = shl i64 %v, 18
  %new = or i64 %ht, %v.in
  br i1 %reads.plain, label %reader, label %writer
writer:
  store i64 %new, ptr %w.p
  br label %kept
reader:
  %r1.t.s = lshr i64 %r1, 26
  %r1.t = and i64 %r1.t.s, 1023
  %r1.own = icmp eq i64 %r1.t, %t
  %r2.new = select i1 %r1.own, i64 %r2, i64 %r1
  store i64 %r2.new, ptr %r2.p
  store i64 %new, ptr %r1.p
  br label %kept
kept:
  %n.next = add i64 %n, 1
  %n.over = icmp uge i64 %n.next, %count
  br i1 %n.over, label %past, label %byte
past:"""

_RACE = """
define void @wbe_race(ptr %ctx, i32 %mask, i32 %bytes, i32 %how, i32 %index, <32 x i64> %at, <32 x i64> %value) {
entry:
  GET SHARED
  GET SHARED_BYTES
  %f = SPLAT i64 %SHARED
  %s = SPLAT i64 %SHARED_BYTES
  %off = sub <32 x i64> %at, %f
  %in = icmp ult <32 x i64> %off, %s
  %in.all = bitcast <32 x i1> %in to i32
  %here = and i32 %in.all, %mask
  %none = icmp eq i32 %here, 0
  br i1 %none, label %done, label %look
look:
  call void @wbe_raced(
      ptr %ctx, i32 %here, i32 %bytes, i32 %how, i32 %index, <32 x i64> %at, <32 x i64> %value)
  br label %done
done:
  ret void
}
"""


def text() -> str:
    """Return the LLVM IR of the library functions that find races in shared memory."""
    return expanded(_CLOCKS + looking("wbe_raced", _LANE, _FIRST) + _RACE)


def looking(name: str, lane: str, first: str) -> str:
    """Return the LLVM IR of a function that checks the lanes of an access for races, one after the other.

    Args:
        name: the function's name.
        lane: LLVM text that checks one lane.
        first: LLVM text before the first lane.
    """
    scalars = ["ptr %ctx", "i32 %mask", "i32 %bytes", "i32 %how", "i32 %index"]
    return lane_function(name, "", scalars, [("at", "i64"), ("value", "i64")], lane, first)
