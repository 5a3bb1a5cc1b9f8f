"""Library functions that count accesses to memory: sectors, wavefronts over banks, atomics on one address."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.llvm.functions import (
    Bit,
    Int,
    Long,
    Longs,
    Ptr,
    Variable,
    count,
    define,
    each_lane,
    leave,
    repeat,
    when,
)
from workbench.backends.llvm.values import Value
from workbench.backends.ptx.counters import AT, ENTRY, HEAD, UNEVEN
from workbench.backends.ptx.library.words import block_of_grid, get, lane_numbers, zeros


def _counter(ctx: Value, row: Value, name: str) -> Value:
    """Emit the address of a word of an instruction's row."""
    return get(ctx, "COUNTERS").pointer.at(row + AT[name], "i64")


def _add(ctx: Value, row: Value, name: str, more: Value) -> None:
    """Emit the addition to a word of an instruction's row."""
    _counter(ctx, row, name).update("add", more.to("i64"), "monotonic")


@define
def wbe_count_lanes(ctx: Ptr, row: Int, mask: Int) -> None:
    """Count the lanes of a mask that execute an instruction."""
    _add(ctx, row, "lanes", mask.intrinsic("ctpop"))


@define
def count_first(mask: Int, keys: Longs) -> Int:
    """Return the lanes of a mask that have a key which no lower lane of it has."""
    array, left, firsts = Variable(keys), Variable(mask), Variable(mask.like(0))
    with repeat(mask.w) as loop:
        now = left.get()
        loop.leave_if(now.is_("eq", 0))
        lane = now.first_on()
        left.set(now & ~keys.is_("eq", array.lane(lane)).mask)
        firsts.set(firsts.get() | 1 << lane)
    return firsts.get()


@define
def count_spacing(ctx: Ptr, row: Int, mask: Int, at: Longs, shared: Bit) -> None:
    """Note the distance between lanes' addresses, if several lanes are on; it is UNEVEN if they are in no row."""
    rest = mask & mask - 1
    with when(rest.is_("eq", 0)):
        leave(ctx.w)
    lane, other = mask.first_on(), rest.first_on()
    address = at.lane(lane)
    step = (at.lane(other) - address).do("sdiv", (other - lane).to("i64"))
    line = (lane_numbers(at, "i64") - lane.to("i64")) * step + address
    even = (~line.is_("eq", at).mask & mask).is_("eq", 0)
    word = shared.choose(row + AT["shared_low"], row + AT["low"])
    low = get(ctx, "COUNTERS").pointer.at(word, "i64")
    low.update("min", even.choose(step, -UNEVEN), "monotonic")
    low.at(8).update("max", even.choose(step, UNEVEN), "monotonic")


@define
def wbe_count_access(ctx: Ptr, row: Int, mask: Int, at: Longs, bytes: Int, atomic: Bit) -> None:
    """Count one access of a warp, by the space of its first lane."""
    w = ctx.w
    with when(mask.is_("eq", 0)):
        leave(w)
    first, shared, local = at.lane(mask.first_on()), get(ctx, "SHARED"), get(ctx, "LOCAL")
    is_shared = (first - shared).is_("ult", get(ctx, "SHARED_SIZE"))
    with when((first - local).is_("ult", shared + get(ctx, "SLOT_SIZE") - local)):
        leave(w)
    wbe_trace(ctx, row.to("i64"), mask, bytes, at)
    count_spacing(ctx, row, mask, at, is_shared)
    active, distinct = mask.intrinsic("ctpop"), count_first(mask, at).intrinsic("ctpop")
    with when(atomic):
        _add(ctx, row, "atomics", active)
        _add(ctx, row, "conflicts", active - distinct)
    with when(is_shared):
        count_banks(ctx, row, mask, at, bytes)
        leave(w)
    with when(atomic):
        wbe_count_hits(ctx, mask, at)
    firsts, size = count_first(mask, at >> 5), bytes.to("i64")
    _add(ctx, row, "sectors", firsts.intrinsic("ctpop"))
    _add(ctx, row, "least_sectors", distinct.to("i64") * size + 31 >> 5)
    _add(ctx, row, "bytes", active.to("i64") * size)
    wbe_count_touched(ctx, firsts, at)


@define
def count_banks(ctx: Ptr, row: Int, mask: Int, at: Longs, bytes: Int) -> None:
    """Count the wavefronts of an access to shared memory: 8 bytes per lane go by halves of the warp, 16 by quarters."""
    banks, words = Variable(zeros(ctx, "i32")), (at - get(ctx, "SHARED")) >> 2
    wide = (bytes >> 2).intrinsic("umax", 1)
    share = wide.like(32).do("udiv", wide)
    group = share.is_("eq", 32).choose(-1, (1 << (share & 31)) - 1)
    waves, least = Variable(ctx.like(0, "i64")), Variable(ctx.like(0, "i64"))
    with count(share.like(32), step=share) as first:
        here = group << first & mask
        with when(here.is_("ne", 0)):
            banks.set(0)
            with each_lane(count_first(here, words), words) as (_, own), count(wide) as k:
                bank = banks.address.at(own + k.to("i64") & 31, "i32")
                bank.store(bank.load("i32") + 1)
            waves.add(banks.get().reduced("umax").to("i64"))
            least.add(1)
    _add(ctx, row, "wavefronts", waves.get())
    _add(ctx, row, "least_wavefronts", least.get())


@define
def wbe_trace(ctx: Ptr, tag: Long, mask: Int, bytes: Int, at: Longs) -> None:
    """Note what a warp executes in the trace, if there is one, it follows this warp and has room."""
    w, table, warp = ctx.w, get(ctx, "TRACE"), get(ctx, "NOW")
    with when(table.is_("eq", 0)):
        leave(w)
    table, block = table.pointer, block_of_grid(ctx)
    room, first, blocks, warps = (table.at(n, "i64").load("i64") for n in range(1, 5))
    with when((block - first).is_("uge", blocks) | warp.is_("uge", warps)):
        leave(w)
    number = table.update("add", tag.like(1), "monotonic")
    with when(number.is_("ult", room)):
        entry = table.at(number * ENTRY + HEAD, "i64")
        for n, value in enumerate((tag, mask.to("i64"), bytes.to("i64"), block, warp, get(ctx, "SHARED"))):
            entry.at(n, "i64").store(value)
        entry.at(6, "i64").store(at, align=8)


@define
def wbe_count_hits(ctx: Ptr, mask: Int, at: Longs) -> None:
    """Count an atomic on each lane's four bytes."""
    _mark(ctx, mask, at, "HITS", 2, lambda table, n: table.at(n, "i32").update("add", n.like(1, "i32"), "monotonic"))


@define
def wbe_count_touched(ctx: Ptr, mask: Int, at: Longs) -> None:
    """Note that each lane's 32 bytes are accessed."""
    _mark(
        ctx, mask, at, "TOUCHED", 5,
        lambda table, n: table.at(n).store(n.like(1, "i8"), flags="atomic", order="monotonic", align=1),
    )  # fmt: skip


def _mark(ctx: Value, mask: Value, at: Value, name: str, shift: int, mark: Callable[[Value, Value], object]) -> None:
    """Emit `mark` of each lane that accesses the arena, given the table's address and the number of its place in it.

    A place is for 2^shift bytes. Nothing is done if the launch has no table of this name.
    """
    table, arena, size = get(ctx, name), get(ctx, "ARENA"), get(ctx, "SIZE")
    with when(table.is_("ne", 0)), each_lane(mask, at) as (_, address):
        with when((address - arena).is_("ult", size)):
            mark(table.pointer, address - arena >> shift)


FUNCTIONS = [
    wbe_count_lanes, count_first, count_spacing, wbe_count_access, count_banks, wbe_trace, wbe_count_hits,
    wbe_count_touched,
]  # fmt: skip
