"""The native runner: a range of blocks on one thread, a block's warps one after the other or in turns.

`wbe_entry` has the form that the CPU's launcher calls (`backends/cpu/native/dispatch.py`), so threads, interrupts and
the GIL are its matter.
"""

from __future__ import annotations

from workbench.backends.llvm.functions import Bit, Int, Long, Ptr, Variable, count, define, leave, repeat, when
from workbench.backends.llvm.values import Value
from workbench.backends.ptx.context import ARRIVED, BARRIERS, WORDS
from workbench.backends.ptx.library.barriers import open_barriers
from workbench.backends.ptx.library.faults import wbe_ends, wbe_fault
from workbench.backends.ptx.library.words import get, put, word
from workbench.backends.ptx.library.written import unwrite

PATIENCE = 4_000
"""Rounds in which a block's warps only turn in loops, 64 times each, until that counts as a deadlock."""
_WARPS = 64
"""Frames that a block has room for."""
_WORD_BYTES = 8 * WORDS
_BLOCK_BYTES = _WORD_BYTES + 2 * 8 * _WARPS
"""Bytes of a block's copy of the words, its warps' frames, and what these wait for."""


def _copy_words(to: Value, of: Value) -> None:
    """Emit a copy of all words of a context."""
    to.w.call("void", "llvm.memcpy.p0.p0.i64", str(to), str(of), f"i64 {_WORD_BYTES}", "i1 false")


def _free(address: Value) -> None:
    """Emit the release of memory of `malloc`."""
    address.w.call("void", "free", str(address))


@define
def begin(ctx: Ptr, warp: Ptr, frames: Ptr, blocked: Ptr) -> None:
    """Run the warps of a block, each until it waits for the first time.

    The seed decides which warp comes first, so that code which counts on an order is found.
    """
    warps, seed = get(ctx, "WARPS"), get(ctx, "SEED")
    with count(warps) as n:
        number = (n + seed).do("urem", warps)
        put(ctx, "NOW", number)
        put(ctx, "BLOCKED", 0)
        frames.at(number, "ptr").store(ctx.new(f"call ptr {warp.text}({ctx}, {number.to('i32')})"))
        blocked.at(number, "i64").store(get(ctx, "BLOCKED"))


@define
def take_turns(ctx: Ptr, frames: Ptr, blocked: Ptr, moved: Ptr) -> Long:
    """Let each warp of a block that can go on do so, until it waits again.

    Return how many are left, or -1 if the launch ends; how many went on is added to the number at `moved`.
    """
    warps, seed, left = get(ctx, "WARPS"), get(ctx, "SEED"), Variable(ctx.like(0, "i64"))
    put(ctx, "MOVED", 0)
    open_barriers(ctx, blocked, warps)
    with when(wbe_ends(ctx)):
        leave(ctx.w, ctx.like(-1, "i64"))
    with count(warps) as n:
        number = (n + seed).do("urem", warps)
        frame, waits = frames.at(number, "ptr").load("ptr"), blocked.at(number, "i64")
        n.loop.skip_if(frame.called("llvm.coro.done", str(frame), elem="i1"))
        left.add(1)
        n.loop.skip_if(waits.load("i64").is_("ne", 0))
        put(ctx, "NOW", number)
        put(ctx, "BLOCKED", 0)
        ctx.w.call("void", "llvm.coro.resume", str(frame))
        waits.store(get(ctx, "BLOCKED"))
        moved.store(moved.load("i64") + 1)
    return left.get()


@define
def run_together(ctx: Ptr, warp: Ptr, first: Long) -> None:
    """Run blocks whose warps wait for each other in turns, until all have ended.

    They are one block, or all of a grid that may wait for one another. Each has a copy of the range's words, its warps'
    frames and what these wait for.
    """
    w, together, launch = ctx.w, get(ctx, "TOGETHER"), get(ctx, "LAUNCH").pointer
    shared, size, idlers, slots = get(ctx, "SHARED"), get(ctx, "SLOT_SIZE"), word(launch, "IDLE"), word(launch, "SLOTS")
    blocks = Value(w, w.call("ptr", "malloc", str(together * _BLOCK_BYTES)), "ptr")
    with count(together) as n:
        own, is_first = blocks.at(n * _BLOCK_BYTES), n.is_("eq", 0)
        _copy_words(own, ctx)
        # Frames that the range has from an earlier block are its first block's.
        place(own, first + n, shared + n * size, is_first)
        begin(own, warp, own.at(_WORD_BYTES), own.at(_WORD_BYTES + 8 * _WARPS))
    idle, left, moved, changed = (Variable(ctx.like(0, "i64")) for _ in range(4))
    last = Variable(blocks)
    with repeat(w) as rounds:
        for variable in (left, moved, changed):
            variable.set(0)
        with count(together) as n:
            own = blocks.at(n * _BLOCK_BYTES)
            more = take_turns(own, own.at(_WORD_BYTES), own.at(_WORD_BYTES + 8 * _WARPS), moved.address)
            rounds.leave_if(more.is_("slt", 0))
            left.add(more)
            changed.set(changed.get() | get(own, "MOVED"))
            last.set(more.is_("ne", 0).choose(own, last.get()))
        rounds.leave_if(left.get().is_("eq", 0))
        with when(moved.get().is_("eq", 0)):
            report(last.get(), 5)  # a barrier that part of the threads never reach
            rounds.leave()
        # If memory is as it was, all warps that went on have only turned in loops.
        calm, before = changed.get().is_("eq", 0), idle.get()
        idle.set(calm.choose(before + 1, 0))
        step = idle.get().is_("eq", 1).to("i64") - (~calm & before.is_("ne", 0)).to("i64")
        # Another block may still write what these warps wait for: there is no hope only where all that run are idle.
        all_idle = idlers.update("add", step) + step
        ranges = slots.load("i64", flags="atomic", order="seq_cst", align=8).intrinsic("ctpop")
        with when(all_idle.is_("uge", ranges) & idle.get().is_("ugt", PATIENCE)):
            report(last.get(), 12)
            rounds.leave()
    idlers.update("sub", idle.get().is_("ne", 0).to("i64"))
    _copy_words(ctx, blocks)
    wbe_ends(ctx)
    with count(together, 1) as n:
        _free(word(blocks.at(n * _BLOCK_BYTES), "FRAMES").load("ptr"))
    _free(blocks)


@define
def report(ctx: Ptr, kind: Int) -> None:
    """Report that warps wait for ever: at a barrier, or, of kind 12, in loops."""
    spins = kind.is_("eq", 12)
    wbe_fault(ctx, kind, spins.choose(get(ctx, "LANES").to("i32"), 1), 0, 0, get(ctx, "INDEX").to("i32"))


@define
def place(ctx: Ptr, number: Long, shared: Long, has_frames: Bit) -> None:
    """Set the words of a block's own: that of this number in the grid."""
    columns, rows = get(ctx, "NCTAID_X"), get(ctx, "NCTAID_Y")
    row = number.do("udiv", columns)
    words = {
        "CTAID_X": number.do("urem", columns), "CTAID_Y": row.do("urem", rows), "CTAID_Z": row.do("udiv", rows),
        "SHARED": shared, "LOCAL": shared + get(ctx, "SHARED_SIZE"),
        "FRAMES": has_frames.choose(get(ctx, "FRAMES"), 0), "ALIVE": get(ctx, "THREADS"),
    }  # fmt: skip
    for name, value in words.items():
        put(ctx, name, value)
    barriers = ctx.at(8 * ARRIVED)
    ctx.w.call("void", "llvm.memset.p0.i64", str(barriers), "i8 0", f"i64 {32 * BARRIERS}", "i1 false")
    unwrite(ctx)


@define
def wbe_entry(launch: Ptr, start: Long, end: Long, record: Ptr, stop: Ptr) -> Int:
    """Run the blocks of a range; return -1 if the launch was ended, else 0."""
    w = launch.w
    ctx = Value(w, w.once(("ctx",), f"alloca [{WORDS} x i64], align 64"), "ptr")
    _copy_words(ctx, launch)
    put(ctx, "STOP", stop.cast("ptrtoint", "i64"))
    put(ctx, "LAUNCH", launch.cast("ptrtoint", "i64"))
    slots = word(launch, "SLOTS")
    with repeat(w) as loop:
        taken = slots.load("i64", flags="atomic", order="seq_cst", align=8)
        slot = (~taken).first_on()
        own = 1 << slot
        loop.leave_if(slots.exchange(taken, taken | own)[1])
    shared = get(ctx, "SCRATCH") + slot * get(ctx, "SLOT_SIZE")
    put(ctx, "SHARED", shared)
    for name in ("FRAMES", "STOPPED", "CLOCK"):
        put(ctx, name, 0)
    warp, suspends = get(ctx, "WARP").pointer, get(ctx, "SUSPENDS").is_("ne", 0)
    every, first, blocks, warps = (get(ctx, name) for name in ("EVERY", "FIRST", "BLOCKS", "WARPS"))
    with count(end, start) as n:
        n.loop.leave_if(wbe_ends(ctx))
        number = (n * every + first).do("urem", blocks)
        with when(suspends):
            run_together(ctx, warp, number)
            n.loop.skip()
        place(ctx, number, shared, 1)
        with count(warps) as now:
            put(ctx, "NOW", now)
            w.do(f"call ptr {warp.text}({ctx}, {now.to('i32')})")
    _free(get(ctx, "FRAMES").pointer)
    slots.update("and", ~own)
    return get(ctx, "STOPPED").is_("ne", 0).cast("sext", "i32")


FUNCTIONS = [begin, take_turns, run_together, report, place, wbe_entry]
