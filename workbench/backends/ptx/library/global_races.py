"""Library functions of the sanitized variant: data races in global memory.

Every four bytes have an entry for the last write and for the last two readers: thread, block, instruction, the warp's
clock (`races.py`) and the number of releases that the block had made. The clock orders two accesses of one block.
Accesses of two blocks count as ordered if the earlier block has released since (a fence, a release) and the later one
has acquired anything (a fence, an acquire, an atomic with a result). That is more than the memory model promises, so
that no lock and no flag is reported as a race.
"""

from __future__ import annotations

from workbench.backends.llvm.functions import Bit, Int, Long, Longs, Ptr, count, define, each_lane, leave, repeat, when
from workbench.backends.llvm.values import Value
from workbench.backends.ptx.context import GLOBAL_RACE
from workbench.backends.ptx.library.races import INSTRUCTION, Kind, own_clock, report
from workbench.backends.ptx.library.words import BLOCKS, block_of_grid, get, releases_of

GRANULE = 4
"""Bytes of global memory that share an entry; bits of the entry say which of them were accessed."""
PER_GRANULE = 48
"""Bytes of shadow for each granule."""
_LOCK = 1 << 23
_RELEASES = 4095
_CLOCK = (1 << 20) - 1
_WHO = (1 << 34) - 1

# An entry's first word, from its highest bit: it is there, atomic, four bits for its bytes, 10 of the thread, 24 of the
# block, a lock, 5 unused, 18 of the instruction. Its second: 32 bits of the value, 20 of the clock, 12 of releases.


@define
def unordered(
    ctx: Ptr, row: Ptr, entry: Long, more: Long, thread: Long, block: Long, bytes: Long, acquired: Bit
) -> Bit:
    """Return whether an entry, of two words, is another thread's, overlaps these bytes, and is not known to be over."""
    overlaps = (entry >> 58 & bytes).is_("ne", 0)
    with when(~(entry.is_("slt", 0) & overlaps)):
        leave(ctx.w, ctx.like(0, "i1"))
    its_block, its_thread = entry >> 24 & BLOCKS - 1, entry >> 48 & 1023
    with when(its_block.is_("eq", block)):
        known = row.at(its_thread >> 5, "i64").load("i64")
        leave(ctx.w, its_thread.is_("ne", thread) & (more >> 12 & _CLOCK).is_("uge", known))
    then = more & _RELEASES
    now = releases_of(ctx, its_block).load("i32", flags="atomic", order="monotonic", align=4).to("i64")
    return ~((now.is_("ugt", then) | then.is_("eq", _RELEASES)) & acquired)


def _bits(nibble: Value) -> Value:
    """Emit four bits as the 32 bits of four bytes."""
    return (nibble * 2113665 & 16843009) * 255


def _touched(granule: Value, first: Value, end: Value) -> tuple[Value, Value]:
    """Emit which bytes of a granule an access touches, as four bits, and the number of the first of them."""
    start = granule << 2
    begin = first.intrinsic("umax", start) - start
    stop = end.intrinsic("umin", start + GRANULE) - start
    return (1 << stop) - (1 << begin), begin


def _moved(value: Value, granule: Value, first: Value, begin: Value) -> Value:
    """Emit the value that an access writes to a granule, shifted to its bytes there."""
    written = (granule << 2) + begin - first
    return value >> (written << 3 & 63) << (begin << 3)


@define
def race_granule(ctx: Ptr, row: Ptr, cell: Ptr, access: Int, entry: Long, more: Long, acquired: Bit) -> Long:
    """Check an access to four bytes of global memory, and enter it; return the entry that it races with, or 0."""
    kind, bytes, thread, block = Kind(access), entry >> 58 & 15, entry >> 48 & 1023, entry >> 24 & BLOCKS - 1
    cells = [cell.at(8 * n) for n in range(6)]
    lock = entry.like(_LOCK)
    with repeat(ctx.w) as loop:
        old = cell.update("or", lock, "acquire")
        loop.leave_if((old & _LOCK).is_("eq", 0))
    write, *readers = (p.load("i64") for p in cells[1:])
    pairs = (old, write), (readers[0], readers[1]), (readers[2], readers[3])
    apart = [unordered(ctx, row, a, b, thread, block, bytes, acquired) for a, b in pairs]
    equal = ((write ^ more) >> 32 & _bits(old >> 58 & bytes)).is_("eq", 0)
    with_write, races = kind.race(old, apart[0], equal, apart[1] | apart[2])
    with when(races):
        cell.store(old, flags="atomic", order="release", align=8)
        leave(ctx.w, with_write.choose(old, apart[1].choose(readers[0], readers[2])))
    with when(~kind.reads):
        all_bytes = bytes.is_("eq", 15)
        for n in (0, 2):
            cells[n + 2].store(all_bytes.choose(0, readers[n]))
        cells[1].store(more)
        cell.store(entry, flags="atomic", order="release", align=8)
        leave(ctx.w, entry.like(0))
    with when(kind.plain):
        own = (entry >> 24 & _WHO).is_("eq", readers[0] >> 24 & _WHO)
        for n, value in enumerate((entry, more)):
            cells[n + 4].store(own.choose(readers[n + 2], readers[n]))
            cells[n + 2].store(value)
    cell.store(old, flags="atomic", order="release", align=8)
    return entry.like(0)


@define
def wbe_race_global(ctx: Ptr, mask: Int, bytes: Int, access: Int, index: Int, at: Longs, value: Longs) -> None:
    """Check the lanes of an access to global memory for races, one after the other."""
    table = get(ctx, "RACES")
    with when(table.is_("eq", 0)):
        leave(ctx.w)
    start, size, every, scratch = (get(ctx, n) for n in ("RACES_FROM", "RACES_BYTES", "RACES_EVERY", "SCRATCH"))
    scratch_size = get(ctx, "SCRATCH_END") - scratch
    (own, row), warp, block = own_clock(ctx), get(ctx, "NOW"), block_of_grid(ctx) & BLOCKS - 1
    acquired, now = own.at(8).load("i64").is_("ne", 0), row.at(warp, "i64").load("i64")
    releases = releases_of(ctx, block).load("i32", flags="atomic", order="monotonic", align=4).to("i64")
    low = (now & _CLOCK) << 12 | releases.intrinsic("umin", _RELEASES)
    high = block << 24 | Kind(access).bit | -(1 << 63) | index.to("i64") & INSTRUCTION
    with each_lane(mask, at, value) as (lane, address, written):
        first = address - start
        with when((address - scratch).is_("uge", scratch_size) & first.is_("ult", size)):
            thread, end = (warp << 5) + lane.to("i64"), first + bytes.to("i64")
            with count(end + 3 >> 2, first >> 2) as granule:
                number = granule.do("udiv", every)
                granule.loop.skip_if((number * every).is_("ne", granule))
                touched, begin = _touched(granule, first, end)
                more = _moved(written, granule, first, begin) << 32 | low
                cell = (table + number * PER_GRANULE).pointer
                other = race_granule(ctx, row, cell, access, high | thread << 48 | touched << 58, more, acquired)
                with when(other.is_("ne", 0)):
                    report(ctx, GLOBAL_RACE, other, lane, at, bytes, index)
                    granule.loop.leave()


FUNCTIONS = [unordered, race_granule, wbe_race_global]
