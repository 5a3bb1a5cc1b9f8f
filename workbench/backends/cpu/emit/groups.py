"""The loop over groups of threads that go through loops together (`passes/loops/abreast`)."""

from __future__ import annotations

from workbench.backends.cpu.emit.combine import Combining, Part
from workbench.backends.cpu.emit.effects.look import look_seldom
from workbench.backends.cpu.emit.emitter import Emitter
from workbench.ir.values import Op
from workbench.passes.loops.abreast import Groups


def emit_groups(emitter: Emitter, part: Part, groups: Groups, combining: Combining | None) -> None:
    """A loop over full groups, and what threads are left."""
    w, count = emitter.writer, groups.threads
    if combining:
        combining.begin_threads(part)
        emitter.place = combining.place
    before = w.label if combining else part.before
    emitter.thread = "%tid"
    emitter.tids = (*emitter.tids[:-1], emitter.thread)
    w.jump("groups")
    w.open("groups")
    w.do(f"%tid = phi i32 [ {part.first}, %{before} ], [ %tid.next, %group.end ]")
    left = w.emit(f"sub nsw i32 {part.end}, %tid", "left")
    w.branch(w.emit(f"icmp sge i32 {left}, {count}", "full"), "group", "few")
    w.open("group")
    emitter.group_size = str(count)
    emitter.block(groups.full)
    emitter.thread = "%tid"
    if emitter.strips.threads:
        number = w.emit(f"udiv i32 %tid, {count}")
        look_seldom(emitter, "i32", number, emitter.strips.threads, thread=True)
    w.jump("group.end")
    w.open("group.end")
    w.do(f"%tid.next = add nsw i32 %tid, {count}")
    w.do(f"br label %groups{emitter.loop_end()}")
    w.open("few")
    w.branch(w.emit(f"icmp sgt i32 {left}, 0", "some"), "group.rest", part.after)
    w.open("group.rest")
    emitter.group_size = left
    emitter.block(groups.rest)
    emitter.place = None
    w.jump(part.after)


def emit_group_size(emitter: Emitter, op: Op) -> None:
    """How many threads the group has: a number that LLVM sees in full ones."""
    emitter.group = op.result
    emitter.bind(op.result, [emitter.group_size])
    if emitter.group_size.isdigit():
        emitter.constants[op.result] = int(emitter.group_size)
