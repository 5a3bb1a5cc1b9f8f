"""Library functions for a warp's threads: who they are, what they call, and the faults that they report."""

from __future__ import annotations

from workbench.backends.llvm.functions import Bit, Int, Ints, Long, Longs, Ptr, Variable, define, each_lane, leave, when
from workbench.backends.llvm.values import Value
from workbench.backends.ptx.library.counters import wbe_trace
from workbench.backends.ptx.library.faults import wbe_fault
from workbench.backends.ptx.library.words import get, lane_numbers, put, word, zeros


@define
def wbe_lanes(ctx: Ptr, warp: Int) -> Int:
    """Return the lanes of a warp that are threads of the block."""
    left = get(ctx, "THREADS") - (warp.to("i64") << 5)
    return left.is_("sge", 32).choose(-1, (1 << (left.to("i32") & 31)) - 1)


@define
def wbe_tid(ctx: Ptr, warp: Int, axis: Int) -> Ints:
    """Return the lanes' indices in the block along an axis; in a block of one dimension without a division."""
    linear = lane_numbers(warp, "i32") + (warp << 5)
    x, y, z = (get(ctx, f"NTID_{name}") for name in "XYZ")
    is_x = axis.is_("eq", 0)
    with when((y * z).is_("eq", 1)):
        leave(ctx.w, is_x.choose(linear, 0))
    x, y = x.to("i32"), y.to("i32")
    rows = linear.do("udiv", x)
    rest = axis.is_("eq", 1).choose(rows.do("urem", y), rows.do("udiv", y))
    return is_x.choose(linear.do("urem", x), rest)


@define
def wbe_local(ctx: Ptr, warp: Int) -> Longs:
    """Return the addresses of the lanes' local memory."""
    thread = lane_numbers(warp, "i64") + (warp << 5).to("i64")
    return thread * get(ctx, "LOCAL_SIZE") + get(ctx, "LOCAL")


@define
def wbe_clock(ctx: Ptr) -> Long:
    """Return a clock that goes on with each read: all that a loop which waits for time to pass needs."""
    at = word(ctx, "CLOCK")
    now = at.load("i64")
    at.store(now + 32)
    return now


@define
def wbe_count(ctx: Ptr, block: Int, mask: Int) -> None:
    """Count a warp that executes a basic block, and note it in the trace."""
    row = get(ctx, "COUNTERS").pointer.at(block << 1, "i64")
    row.update("add", row.like(1, "i64"), "monotonic")
    row.at(8).update("add", mask.intrinsic("ctpop").to("i64"), "monotonic")
    wbe_trace(ctx, ~block.to("i64", signed=True), mask, 0, 0)


@define
def wbe_come(mask: Int, alive: Int, members: Ints, strict: Int) -> Int:
    """Return the lanes of a mask whose members are all here; all of them, if they are not to wait for others."""
    complete = (members & (~mask & alive)).is_("eq", 0).mask
    return strict.is_("ne", 0).choose(mask, complete & mask)


@define
def wbe_rested(ctx: Ptr, lanes: Int, index: Int, same: Bit) -> None:
    """Note that a warp has come to its end with lanes that wait in loops, or for each other."""
    put(ctx, "INDEX", index.to("i64"))
    put(ctx, "LANES", lanes.to("i64"))
    with when(~same):
        put(ctx, "MOVED", 1)


@define
def wbe_moved(ctx: Ptr, mask: Int, won: Int) -> None:
    """Note that memory has changed, if a lane of both masks is on."""
    with when((mask & won).is_("ne", 0)):
        put(ctx, "MOVED", 1)


@define
def wbe_members(ctx: Ptr, mask: Int, alive: Int, members: Ints, index: Int) -> None:
    """Fault if lanes that a member mask names are not here, unless they have exited."""
    named = mask.flags.choose(members, 0).reduced("or") & alive
    missing = named & ~mask
    with when(missing.is_("ne", 0)):
        wbe_fault(ctx, 6, missing, 0, 0, index)


def _callee(ctx: Value, name: str) -> tuple[Value, Value]:
    """Emit loads of a callback's address and of what it takes first."""
    return get(ctx, name).pointer, get(ctx, "USER")


@define
def wbe_vprintf(ctx: Ptr, mask: Int, format: Longs, values: Longs) -> Ints:
    """Print for each lane; return what `printf` does."""
    (prints, user), out = _callee(ctx, "PRINT"), Variable(zeros(ctx, "i32"))
    with each_lane(mask, format, values) as (lane, text, numbers):
        out.set_lane(lane, text.new(f"call i32 {prints.text}({user}, {text}, {numbers})", "i32"))
    return out.get()


@define
def wbe_condition(ctx: Ptr, mask: Int, handle: Longs, value: Longs) -> None:
    """Set the value of a graph's condition for each lane."""
    sets, user = _callee(ctx, "CONDITION")
    with each_lane(mask, handle, value) as (_, one, number):
        ctx.w.do(f"call void {sets.text}({user}, {one}, {number.to('i32')})")


FUNCTIONS = [
    wbe_lanes, wbe_tid, wbe_local, wbe_clock, wbe_count, wbe_come, wbe_rested, wbe_moved, wbe_members, wbe_vprintf,
    wbe_condition,
]  # fmt: skip
