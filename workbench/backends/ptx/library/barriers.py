"""Library functions for warps that wait for each other: their frames, the barriers of a block, mbarrier objects."""

from __future__ import annotations

from workbench.backends.llvm.functions import (
    Int,
    Ints,
    Long,
    Longs,
    Ptr,
    Variable,
    count,
    define,
    each_lane,
    leave,
    when,
)
from workbench.backends.llvm.values import Value
from workbench.backends.ptx.context import ARRIVED, BARRIERS
from workbench.backends.ptx.library.faults import wbe_fault
from workbench.backends.ptx.library.races import arrived, released
from workbench.backends.ptx.library.words import get, put, zeros


@define
def wbe_frame(ctx: Ptr, warp: Int, size: Long) -> Ptr:
    """Return memory for a warp's frame, at a multiple of 64 bytes, as vectors need it."""
    rounded = size + 63 & -64
    with when(get(ctx, "FRAMES").is_("eq", 0)):
        total = rounded * get(ctx, "WARPS") + 64
        memory = Value(ctx.w, ctx.w.call("ptr", "malloc", str(total)), "ptr")
        put(ctx, "FRAMES", memory.cast("ptrtoint", "i64"))
    return ((get(ctx, "FRAMES") + 63 & -64) + rounded * warp.to("i64")).pointer


@define
def wbe_exit(ctx: Ptr, lanes: Int) -> None:
    """Note that lanes have ended."""
    put(ctx, "ALIVE", get(ctx, "ALIVE") - lanes.intrinsic("ctpop").to("i64"))
    put(ctx, "MOVED", 1)


def _words(ctx: Value, barrier: Value) -> list[Value]:
    """Emit the addresses of a barrier's words.

    They are arrivals, arrivals expected (0: all threads that have not exited), predicates now and last time.
    """
    row = ctx.at(8 * ARRIVED).at(barrier * 32)
    return [row.at(8 * n) for n in range(4)]


@define
def wbe_arrive(
    ctx: Ptr, mask: Int, alive: Int, barrier: Int, expected: Int, counted: Int, waits: Int, index: Int
) -> None:
    """Let a warp arrive at a barrier of the block, where it then waits or not; its lanes have to be all there."""
    with when(barrier.is_("uge", BARRIERS)):
        wbe_fault(ctx, 7, mask, 0, barrier, index)
        leave(ctx.w)
    with when(mask.is_("ne", alive)):
        wbe_fault(ctx, 4, alive & ~mask, 0, barrier, index)
        leave(ctx.w)
    put(ctx, "MOVED", 1)
    arrived(ctx, barrier)
    arrivals, most, predicates, _ = _words(ctx, barrier)
    here = mask.intrinsic("ctpop")
    # A barrier with a count of its own counts whole warps, whoever has exited.
    arrivals.store(arrivals.load("i64") + expected.is_("eq", 0).choose(here, 32).to("i64"))
    most.store(expected.to("i64"))
    # Both predicates in one word: how many have come above, how many of them say yes below.
    both = here.to("i64") << 32 | counted.intrinsic("ctpop").to("i64")
    predicates.store(predicates.load("i64") + both)
    put(ctx, "INDEX", index.to("i64"))
    with when(waits.is_("ne", 0)):
        put(ctx, "BLOCKED", (barrier + 1).to("i64"))


@define
def open_barriers(ctx: Ptr, blocked: Ptr, warps: Long) -> None:
    """Open the barriers that all have reached."""
    with count(ctx.like(BARRIERS, "i64")) as barrier:
        arrivals, most, now, last = _words(ctx, barrier)
        some = arrivals.load("i64")
        barrier.loop.skip_if(some.is_("eq", 0))
        expected = most.load("i64")
        with when(some.is_("uge", expected.is_("eq", 0).choose(get(ctx, "ALIVE"), expected))):
            released(ctx, blocked, warps, barrier)
            arrivals.store(some.like(0))
            last.store(now.load("i64"))
            now.store(some.like(0))
            with count(warps) as warp:
                waits = blocked.at(warp, "i64")
                with when(waits.load("i64").is_("eq", barrier + 1)):
                    waits.store(some.like(0))


@define
def wbe_mbarrier_arrive(mask: Int, drop: Int, at: Longs, arrivals: Ints) -> Longs:
    """Let threads arrive at an mbarrier object, and with `drop` no more in later phases; return its states before.

    The layout of an object is ours, since PTX leaves it open: 20 bits of arrivals still pending, 20 of arrivals
    expected in each phase, and from bit 40 on the number of the phase.
    """
    out, low = Variable(zeros(mask)), (1 << 20) - 1
    with each_lane(mask, at, arrivals) as (lane, address, number):
        state, more = address.pointer.load("i64"), number.to("i64")
        expected = (state >> 20 & low) - drop.is_("ne", 0).choose(more, 0)
        left = (state & low) - more
        complete = left.is_("eq", 0)
        phase = (state >> 40) + complete.to("i64")
        pending = complete.choose(expected, left) & low
        address.pointer.store(phase << 40 | expected << 20 | pending)
        out.set_lane(lane, state)
    return out.get()


FUNCTIONS = [wbe_frame, wbe_exit, wbe_arrive, open_barriers, wbe_mbarrier_arrive]
