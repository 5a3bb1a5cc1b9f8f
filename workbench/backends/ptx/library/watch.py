"""Library functions of the sanitized variant: whether an access lies in what it may touch.

`wbe_check` sees only the window of all memory; here each access has to lie in one allocation, the block's shared
memory or the thread's own. The allocation that was met last is kept, since neighbouring accesses mostly meet it again.
"""

from __future__ import annotations

from workbench.backends.llvm.functions import (
    Bit,
    Int,
    Long,
    Longs,
    Ptr,
    Variable,
    define,
    each_lane,
    leave,
    repeat,
    when,
)
from workbench.backends.llvm.values import Value
from workbench.backends.ptx.library.faults import wbe_fault
from workbench.backends.ptx.library.words import get, put


def within(at: Value, end: Value, first: Value, last: Value) -> Value:
    """Emit whether the bytes from `at` to `end` lie in those from `first` to `last`."""
    return at.is_("uge", first) & end.is_("ule", last)


@define
def in_span(ctx: Ptr, at: Long, end: Long) -> Bit:
    """Return whether bytes lie in one allocation that the launch may reach; that is kept as the one met last."""
    spans, low, high = get(ctx, "SPANS").pointer, Variable(at.like(0)), Variable(get(ctx, "SPAN_COUNT"))
    with repeat(ctx.w) as loop:
        first, last = low.get(), high.get()
        loop.leave_if((last - first).is_("sle", 1))
        middle = first + last >> 1
        before = spans.at(middle << 1, "i64").load("i64").is_("ule", at)
        low.set(before.choose(middle, first))
        high.set(before.choose(last, middle))
    span = spans.at(low.get() << 1, "i64")
    first, last = span.load("i64"), span.at(8).load("i64")
    inside = within(at, end, first, last)
    with when(inside):
        put(ctx, "SPAN_LOW", first)
        put(ctx, "SPAN_HIGH", last)
    return inside


@define
def watch_lane(ctx: Ptr, lane: Int, at: Long, size: Long, space: Int) -> Bit:
    """Return whether a lane's bytes belong to one thing that it may touch."""
    end, shared, own = at + size, get(ctx, "SHARED"), get(ctx, "LOCAL_SIZE")
    in_shared = within(at, end, shared, shared + get(ctx, "SHARED_BYTES"))
    local = get(ctx, "LOCAL") + ((get(ctx, "NOW") << 5) + lane.to("i64")) * own
    in_local = within(at, end, local, local + own)
    is_shared, is_local = space.is_("eq", 1), space.is_("eq", 2)
    in_scratch = at.is_("uge", get(ctx, "SCRATCH")) & at.is_("ult", get(ctx, "SCRATCH_END"))
    with when(is_shared | is_local | in_scratch):
        leave(ctx.w, is_shared.choose(in_shared, is_local.choose(in_local, in_shared | in_local)))
    return in_span(ctx, at, end)


@define
def wbe_watch(ctx: Ptr, mask: Int, at: Longs, bytes: Int, space: Int, index: Int) -> Int:
    """Return the lanes of a mask whose bytes all belong to one thing that they may touch; for others a fault."""
    size = bytes.to("i64")
    met = at.is_("sge", get(ctx, "SPAN_LOW")) & at.is_("sle", get(ctx, "SPAN_HIGH") - size)
    with when((met.mask | ~mask).is_("eq", -1) & space.is_("eq", 0)):
        leave(ctx.w, mask)
    good = Variable(mask.like(0))
    with each_lane(mask, at) as (lane, address):
        fine = watch_lane(ctx, lane, address, size, space)
        good.set(good.get() | fine.to("i32") << lane)
    put(ctx, "OTHER", get(ctx, "SHARED"))
    wbe_fault(ctx, 1, good.get() ^ mask, at, bytes, index)
    return good.get()


FUNCTIONS = [in_span, watch_lane, wbe_watch]
