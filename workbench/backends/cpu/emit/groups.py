"""The loop over groups of threads that compute first and then add one after the other (`passes/loops/later`)."""

from __future__ import annotations

from workbench.backends.cpu.emit.apart import lie_apart
from workbench.backends.cpu.emit.combine import Part
from workbench.backends.cpu.emit.effects.look import look_seldom
from workbench.backends.cpu.emit.emitter import Emitter
from workbench.ir.values import Op
from workbench.passes.loops.later import Groups


def emit_groups(emitter: Emitter, part: Part, groups: Groups) -> None:
    """A loop over full groups, and what threads are left; over these alone where arrays may share memory."""
    w, count = emitter.writer, groups.threads
    before = part.before
    apart = lie_apart(emitter)
    if apart:
        w.branch(apart, "groups", "few")
    else:
        w.jump("groups")
    w.open("groups")
    w.do(f"%tid = phi i32 [ {part.first}, %{before} ], [ %tid.next, %group.end ]")
    _at(emitter, "%tid")
    left = w.emit(f"sub nsw i32 {part.end}, %tid", "left")
    w.branch(w.emit(f"icmp sge i32 {left}, {count}", "full"), "group", "few")
    w.open("group")
    emitter.group_size = str(count)
    emitter.are_apart = bool(apart)
    emitter.block(groups.full)
    emitter.are_apart = False
    emitter.thread = "%tid"
    if emitter.strips.threads:
        number = w.emit(f"udiv i32 %tid, {count}")
        look_seldom(emitter, "i32", number, emitter.strips.threads, thread=True)
    w.jump("group.end")
    w.open("group.end")
    w.do(f"%tid.next = add nsw i32 %tid, {count}")
    w.do(f"br label %groups{emitter.loop_end()}")
    w.open("few")
    shared = f", [ {part.first}, %{before} ], [ %few.next, %few.more ]" if apart else ""
    w.do(f"%few.tid = phi i32 [ %tid, %groups ]{shared}")
    _at(emitter, "%few.tid")
    left = w.emit(f"sub nsw i32 {part.end}, %few.tid", "left")
    w.branch(w.emit(f"icmp sgt i32 {left}, 0", "some"), "group.rest", part.after)
    w.open("group.rest")
    w.do(f"%few.next = add i32 %few.tid, {count}")
    more = w.emit(f"icmp sgt i32 {left}, {count}", "more")
    # Its slots are those of a group.
    emitter.group_size = w.emit(f"select i1 {more}, i32 {count}, i32 {left}") if apart else left
    emitter.block(groups.rest)
    if not apart:
        w.jump(part.after)
        return
    w.branch(more, "few.more", part.after)
    w.open("few.more")
    w.do(f"br label %few{emitter.loop_end()}")


def _at(emitter: Emitter, thread: str) -> None:
    """What is written next is of the group that begins with this thread."""
    emitter.thread = thread
    emitter.tids = (*emitter.tids[:-1], thread)


def emit_group_size(emitter: Emitter, op: Op) -> None:
    """How many threads the group has: a number that LLVM sees in full ones."""
    emitter.group = op.result
    emitter.bind(op.result, [emitter.group_size])
    if emitter.group_size.isdigit():
        emitter.constants[op.result] = int(emitter.group_size)
