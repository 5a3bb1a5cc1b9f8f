"""Lanes that wait: for others at a warp's instruction or a barrier, and in loops for what others do.

Only kernels with such loops need it; in others the order of blocks brings lanes together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.backends.llvm.values import Value
from workbench.backends.ptx.emit.emitter import Emitter
from workbench.backends.ptx.emit.values import LANES
from workbench.backends.ptx.flow import Block
from workbench.backends.ptx.library import threads
from workbench.backends.ptx.syntax.program import Instruction

_MEMBERS = {"bar": 0, "shfl": 4, "vote": 2, "match": 2, "redux": 2, "elect": 1}
"""By opcode, the index of the operand that is the member mask."""

COROUTINE = [
    "declare token @llvm.coro.id(i32, ptr, ptr, ptr)",
    "declare i64 @llvm.coro.size.i64()",
    "declare ptr @llvm.coro.begin(token, ptr)",
    "declare i8 @llvm.coro.suspend(token, i1)",
    "declare void @llvm.coro.end(ptr, i1, token)",
    "declare ptr @llvm.coro.free(token, ptr)",
    "declare ptr @wbe_frame(ptr, i32, i64)",
]
BEGIN = [
    "  %id = call token @llvm.coro.id(i32 64, ptr null, ptr null, ptr null)",
    "  %frame.size = call i64 @llvm.coro.size.i64()",
    "  %frame.at = call ptr @wbe_frame(ptr %ctx, i32 %warp, i64 %frame.size)",
    "  %frame = call ptr @llvm.coro.begin(token %id, ptr %frame.at)",
]
OVER = [
    "  %last = call i8 @llvm.coro.suspend(token none, i1 true)",
    "  switch i8 %last, label %suspended [i8 0, label %cleanup i8 1, label %cleanup]",
    "cleanup:",
    "  %freed = call ptr @llvm.coro.free(token %id, ptr %frame)",
    "  br label %suspended",
    "suspended:",
    "  call void @llvm.coro.end(ptr %frame, i1 false, token none)",
    "  ret ptr %frame",
]
WORDS = ("%turns = alloca i32", "%strict = alloca i32", "%seen = alloca i64", "store i32 0, ptr %turns",
         "store i32 0, ptr %strict", "store i64 0, ptr %seen")  # fmt: skip
"""LLVM IR that declares the variables of a kernel whose loops may wait.

`%turns` counts jumps back since the warp's last rest, `%strict` says that lanes go on without their partners, and
`%seen` is a hash of where the lanes waited last time.
"""


def is_meeting_point(block: Block) -> bool:
    """Return whether a block is a single instruction, without a guard, at which lanes wait for others.

    That is a barrier, or a warp instruction with a member mask.
    """
    if len(block.code) != 1 or block.code[0].guard is not None:
        return False
    return block.barrier or _member(block.code[0]) is not None


def _member(i: Instruction) -> int | None:
    """Return the number of the operand that is a warp instruction's member mask; None for other instructions."""
    if i.opcode in ("bar", "barrier"):
        return 0 if "warp" in i.modifiers else None
    return _MEMBERS.get(i.opcode) if "sync" in i.modifiers or i.opcode == "elect" else None


def gathered(e: Emitter, n: int, block: Block, onward: str) -> None:
    """Emit the start of a block at which lanes wait for their partners, and set `e.mask` to those that may go on.

    Args:
        e: the emitter.
        n: the block's number.
        block: the block.
        onward: the label to go to if no lanes may go on; those that may not stay in `%wait.n`.
    """
    i = block.code[0]
    at = _member(i)
    members = e.number(-1, "i32") if at is None else e.read(i.operands[at], "b32")
    strict = e.value("%strict", "ptr")
    go = threads.wbe_come(e.mask, e.alive.load("i32"), members, strict.load("i32"))
    strict.store(e.number(0, "i32"))
    e.waiting(n).store(e.mask ^ go)
    e.do(f"br i1 {go.is_('eq', 0).text}, label {onward}, label %go.{n}")
    e.lines.append(f"go.{n}:")
    e.mask, e.active, e.current = go, go.flags, {}


def rest(e: Emitter, heads: Mapping[int, int], holding: Sequence[int]) -> None:
    """Emit the end of the warp's function, where lanes may still wait: at heads of loops, or for one another.

    If any wait in a loop, the warp is suspended so that others run, and control then returns to them.

    Args:
        e: the emitter.
        heads: by the first block of each loop that may wait, the index of the instruction that it waits by.
        holding: blocks that are meeting points.
    """
    zero = e.number(0, "i32")
    points = sorted({*heads, *holding})
    e.do("store i32 0, ptr %turns")
    waiting = {p: e.waiting(p).load("i32") for p in points}
    total, spinning, index, state = zero, zero, zero, e.alive.load("i32").to("i64")
    for p in points:
        total = total | waiting[p]
        # A hash of which lanes wait where: equal twice in a row means that no lane has come further.
        state = state * 0x9E3779B97F4A7C15 + waiting[p].to("i64")
        if p in heads:
            spinning = spinning | waiting[p]
            index = waiting[p].is_("ne", 0).choose(heads[p], index)
    some = total.is_("ne", 0)
    e.do(f"br i1 {some.text}, label %rest, label %over")
    e.lines.append("rest:")
    seen = e.value("%seen", "ptr")
    same = seen.load("i64").is_("eq", state)
    seen.store(state)
    loops = spinning.is_("ne", 0)
    threads.wbe_rested(e.ctx, spinning, index, same)
    # Lanes that only wait for one another, and have done so before, wait for ever: they go on, which is a fault.
    for_ever = same & ~loops
    e.do(f"store {for_ever.to('i32')}, ptr %strict")
    e.do(f"br i1 {loops.text}, label %sleep, label %wake")
    e.lines.append("sleep:")
    e.suspend()
    e.do("br label %wake")
    e.lines.append("wake:")
    for p in points:
        e.branch(e.waiting(p).load("i32").is_("ne", 0).text, f"check.{p}", f"past.{p}")
        e.lines.append(f"past.{p}:")
    e.do("br label %over")


def note_change(e: Emitter, operation: str, mask: Value, old: Value, values: Sequence[Value]) -> None:
    """Emit the record that memory changes, which another thread may wait for.

    An atomic that leaves memory as it was does not count.

    Args:
        e: the emitter; nothing is emitted unless it has `waits`.
        operation: of the atomic, or "" for a store, which always counts.
        mask: the i32 of the lanes.
        old: what an atomic found in memory.
        values: the atomic's operands.
    """
    if not e.waits:
        return
    first = values[0] if values else old
    changes = {"cas": ("eq", first), "exch": ("ne", first), "add": ("ne", 0), "or": ("ne", 0), "xor": ("ne", 0)}
    won: Value | int = -1
    if operation in changes:
        won = (old if operation in ("cas", "exch") else first).is_(*changes[operation]).spread(LANES).mask
    threads.wbe_moved(e.ctx, mask, won)
