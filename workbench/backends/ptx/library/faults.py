"""Library functions for faults, and for the end of a launch."""

from __future__ import annotations

from workbench.backends.llvm.functions import Bit, Int, Longs, Ptr, define, leave, when
from workbench.backends.ptx.context import FAULT_WORDS
from workbench.backends.ptx.library.words import get, put


@define
def wbe_fault(ctx: Ptr, kind: Int, mask: Int, at: Longs, bytes: Int, index: Int) -> None:
    """Report a fault of the lanes that are on, if any is; the first fault of a launch is kept."""
    with when(mask.is_("eq", 0)):
        leave(ctx.w)
    record = get(ctx, "FAULT").pointer
    _, won = record.exchange(record.like(0, "i64"), kind.to("i64"))
    with when(won):
        lane = mask.first_on()
        words = {
            "instruction": index.to("i64"), "lane": lane.to("i64"), "warp": get(ctx, "NOW"),
            "x": get(ctx, "CTAID_X"), "y": get(ctx, "CTAID_Y"), "z": get(ctx, "CTAID_Z"), "address": at.lane(lane),
            "size": bytes.to("i64"), "mask": mask.to("i64"), "other": get(ctx, "OTHER"),
        }  # fmt: skip
        for name, value in words.items():
            record.at(FAULT_WORDS.index(name), "i64").store(value)


@define
def wbe_ends(ctx: Ptr) -> Bit:
    """Return whether the launch is to end: a thread has a fault, or whoever decides says so.

    The words are volatile: other threads write them while a block turns in a loop.
    """
    w, yes, no = ctx.w, ctx.like(1, "i1"), ctx.like(0, "i1")
    with when(get(ctx, "STOPPED").is_("ne", 0)):
        leave(w, yes)
    with when(get(ctx, "FAULT").pointer.load("i64", flags="volatile").is_("ne", 0)):
        leave(w, yes)
    stop = get(ctx, "STOP").pointer
    with when(stop.load("i32", flags="volatile").is_("eq", 0)):
        leave(w, no)
    decide = stop.at(8).load("ptr")
    with when(stop.new(f"call i32 {decide.text}({stop})", "i32").is_("eq", 0)):
        leave(w, no)
    put(ctx, "STOPPED", 1)
    return yes


FUNCTIONS = [wbe_fault, wbe_ends]
