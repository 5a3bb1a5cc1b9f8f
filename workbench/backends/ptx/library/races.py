"""Library functions of the sanitized variant: data races in shared memory.

Each warp of a block has a vector clock: the progress of every warp, as far as it knows. Barriers, warp barriers and
fences advance a warp's own entry, and pass on what it knows. Each byte of shared memory has an entry for its last
write and for its last two readers, with the clock of their warp. An earlier access that a warp does not know of is
not ordered before the present one, so the two race.
"""

from __future__ import annotations

from workbench.backends.llvm.functions import Bit, Int, Long, Longs, Ptr, count, define, each_lane, leave, when
from workbench.backends.llvm.values import Value
from workbench.backends.ptx.context import BARRIERS, SHARED_RACE
from workbench.backends.ptx.library.faults import wbe_fault
from workbench.backends.ptx.library.words import LANES, block_of_grid, get, put, released_to_all

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
INSTRUCTION = (1 << 18) - 1
"""The bits of an entry that are the instruction."""
_ATOMIC_BIT = 1 << 62
"""Of an entry: it is of an atomic."""

# An entry, from its highest bit: it is there, atomic, 26 bits of clock, 10 of the thread, 8 of the value, 18 of the
# instruction.


@define
def shadow(ctx: Ptr) -> Ptr:
    """Return the shadow of the block that runs, empty when the block begins."""
    size = get(ctx, "SHADOW_SIZE")
    slot = (get(ctx, "SHARED") - get(ctx, "SCRATCH")).do("udiv", get(ctx, "SLOT_SIZE"))
    own, block = (get(ctx, "SHADOW") + slot * size).pointer, block_of_grid(ctx) + 1
    with when(own.load("i64").is_("ne", block)):
        ctx.w.call("void", "llvm.memset.p0.i64", str(own), "i8 0", str(size), "i1 false")
        own.store(block)
    return own


def clock(own: Value, row: Value) -> Value:
    """Emit the address of a row of clocks in a block's shadow."""
    return own.at(row * _ROW + HEAD)


def _join(into: Value, other: Value) -> None:
    """Emit that a row of clocks knows what another one does."""
    a, b = (row.load("i64", LANES, align=8) for row in (into, other))
    into.store(a.intrinsic("umax", b), align=8)


def _tick(row: Value, warp: Value) -> None:
    """Emit the progress of a warp in a row of clocks."""
    at = row.at(warp, "i64")
    at.store(at.load("i64") + 1)


def own_clock(ctx: Value) -> tuple[Value, Value]:
    """Emit the addresses of the block's shadow and of the warp's clock."""
    own = shadow(ctx)
    return own, clock(own, get(ctx, "NOW"))


@define
def wbe_warp_synced(ctx: Ptr) -> None:
    """Let what the warp's threads do from now on come after what they did: a warp barrier."""
    _tick(own_clock(ctx)[1], get(ctx, "NOW"))


@define
def wbe_fenced(ctx: Ptr, gives: Int) -> None:
    """Let the warp know of all fences before: a fence, or with `gives` 0 an atomic that may have taken a lock.

    That is more than the model of memory promises, so that nothing is reported which a flag or a lock orders.
    """
    own, row = own_clock(ctx)
    fences = own.at(_FENCES)
    with when(gives.is_("ne", 0)):
        _tick(row, get(ctx, "NOW"))
        _join(fences, row)
        released_to_all(ctx)
    own.at(8).store(ctx.like(1, "i64"))
    _join(row, fences)


@define
def arrived(ctx: Ptr, barrier: Int) -> None:
    """Let a warp come to a barrier of the block."""
    with when(get(ctx, "SHADOW").is_("ne", 0)):
        own, row = own_clock(ctx)
        _tick(row, get(ctx, "NOW"))
        _join(clock(own, barrier.to("i64") + 32), row)


@define
def released(ctx: Ptr, blocked: Ptr, warps: Long, barrier: Long) -> None:
    """Open a barrier: the warps that wait at it know what those that came knew."""
    with when(get(ctx, "SHADOW").is_("ne", 0)):
        own = shadow(ctx)
        known = clock(own, barrier + 32)
        with count(warps) as warp:
            with when(blocked.at(warp, "i64").load("i64").is_("eq", barrier + 1)):
                _join(clock(own, warp), known)
        ctx.w.call("void", "llvm.memset.p0.i64", str(known), "i8 0", f"i64 {_ROW}", "i1 false")


@define
def apart(row: Ptr, entry: Long, thread: Long) -> Bit:
    """Return whether an entry is another thread's, and this warp does not know that it is over."""
    owner = entry >> 26 & 1023
    known = row.at(owner >> 5, "i64").load("i64")
    unknown = (entry >> 36 & (1 << 26) - 1).is_("uge", known)
    return entry.is_("ne", 0) & owner.is_("ne", thread) & unknown


class Kind:
    """Conditions on an access's kind, as i1.

    Attributes:
        plain: it is a read that is not atomic.
        reads: it is any read.
        atomic: it is atomic.
        valued: it writes known values.
        bit: as `_ATOMIC_BIT` of an entry.
    """

    def __init__(self, access: Value) -> None:
        self.plain, atomic_read = access.is_("eq", READ), access.is_("eq", ATOMIC_READ)
        self.reads, self.atomic = self.plain | atomic_read, access.is_("eq", ATOMIC) | atomic_read
        self.valued, self.bit = access.is_("eq", WRITE), self.atomic.to("i64") << 62

    def race(self, write: Value, write_apart: Value, equal: Value, readers_apart: Value) -> tuple[Value, Value]:
        """Emit whether an access races with the last write, and whether with it or a reader.

        Args:
            write: the entry of the last write.
            write_apart: whether it is unordered.
            equal: whether it wrote the same value.
            readers_apart: whether a reader is unordered.
        """
        both_atomic = (write & _ATOMIC_BIT).is_("ne", 0) & self.atomic
        with_write = write_apart & ~(both_atomic | equal & self.valued)
        return with_write, with_write | readers_apart & ~self.reads


def report(ctx: Value, kind: int, other: Value, lane: Value, at: Value, bytes: Value, index: Value) -> None:
    """Emit the fault of a lane that races with the access of an entry."""
    put(ctx, "OTHER", other)
    wbe_fault(ctx, kind, 1 << lane, at, bytes, index)


@define
def race_byte(offset: Long, access: Int, thread: Long, value: Long, own: Long, row: Ptr, entries: Ptr) -> Long:
    """Check an access to a byte of shared memory, and enter it; return the entry that it races with, or 0."""
    kind = Kind(access)
    cells = [entries.at(offset * PER_BYTE).at(8 * n) for n in range(3)]
    write, first, second = (cell.load("i64") for cell in cells)
    write_apart, first_apart, second_apart = (apart(row, entry, thread) for entry in (write, first, second))
    equal = (write >> 18 & 255).is_("eq", value)
    with_write, races = kind.race(write, write_apart, equal, first_apart | second_apart)
    with when(races):
        leave(offset.w, with_write.choose(write, first_apart.choose(first, second)))
    entry = own | kind.bit | thread << 26 | value << 18
    with when(~kind.reads):
        cells[0].store(entry)
    with when(kind.plain):
        cells[2].store((first >> 26 & 1023).is_("eq", thread).choose(second, first))
        cells[1].store(entry)
    return offset.like(0)


@define
def wbe_race(ctx: Ptr, mask: Int, bytes: Int, access: Int, index: Int, at: Longs, value: Longs) -> None:
    """Check the lanes of an access that are in shared memory for races, one after the other."""
    shared = get(ctx, "SHARED")
    here = (at - shared).is_("ult", get(ctx, "SHARED_BYTES")).mask & mask
    with when(here.is_("eq", 0)):
        leave(ctx.w)
    (own, row), warp = own_clock(ctx), get(ctx, "NOW")
    entry = row.at(warp, "i64").load("i64") << 36 | -(1 << 63) | index.to("i64") & INSTRUCTION
    with each_lane(here, at, value) as (lane, address, written), count(bytes.to("i64")) as n:
        thread, part = (warp << 5) + lane.to("i64"), written >> (n << 3 & 63) & 255
        other = race_byte(address - shared + n, access, thread, part, entry, row, own.at(CLOCKS))
        with when(other.is_("ne", 0)):
            report(ctx, SHARED_RACE, other, lane, at, bytes, index)
            n.loop.leave()


FUNCTIONS = [shadow, wbe_warp_synced, wbe_fenced, arrived, released, apart, race_byte, wbe_race]
