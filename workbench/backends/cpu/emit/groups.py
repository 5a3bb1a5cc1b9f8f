"""The loop over groups of threads that go through loops together (`passes/loops/abreast`)."""

from __future__ import annotations

from workbench.backends.cpu.emit import memory
from workbench.backends.cpu.emit.apart import lie_apart
from workbench.backends.cpu.emit.combine import Combining, Part
from workbench.backends.cpu.emit.effects.look import look_seldom
from workbench.backends.cpu.emit.emitter import Emitter
from workbench.ir.values import Op
from workbench.passes.loops.abreast import Groups


def emit_groups(emitter: Emitter, part: Part, groups: Groups, combining: Combining | None) -> None:
    """A loop over full groups, and what threads are left; over these alone where arrays may share memory."""
    w, count = emitter.writer, groups.threads
    if combining:
        combining.begin_threads(part)
        emitter.place = combining.place
    before = w.label if combining else part.before
    apart = lie_apart(emitter)
    emitter.thread = "%tid"
    emitter.tids = (*emitter.tids[:-1], emitter.thread)
    w.jump("groups")
    w.open("groups")
    w.do(f"%tid = phi i32 [ {part.first}, %{before} ], [ %tid.next, %group.end ]")
    left = w.emit(f"sub nsw i32 {part.end}, %tid", "left")
    full = w.emit(f"icmp sge i32 {left}, {count}", "full")
    w.branch(w.emit(f"and i1 {full}, {apart}") if apart else full, "group", "few")
    w.open("group")
    emitter.group_end = w.emit(f"add nsw i32 %tid, {count}", "group_end")
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
    w.branch(w.emit(f"icmp sgt i32 {left}, 0", "some"), "group.rest", part.after)
    w.open("group.rest")
    emitter.group_end = part.end
    if apart:
        # Its slots are those of a group.
        following = w.emit(f"add i32 %tid, {count}")
        emitter.group_end = w.emit(f"select i1 {full}, i32 {following}, i32 {part.end}", "group_end")
    emitter.block(groups.rest)
    emitter.place = None
    if apart:
        w.branch(w.emit(f"icmp sgt i32 {left}, {count}", "more"), "group.end", part.after)
    else:
        w.jump(part.after)


class RowGroups:
    """Groups of several whole rows, before the threads that are left of these; opened at the head of the loop over rows.

    Rows above `%rows.until` have been begun: of these, the threads from `%rows.low` on are left.
    """

    def __init__(self, emitter: Emitter, groups: Groups, extent: str) -> None:
        self.emitter, self.groups, self.extent = emitter, groups, extent
        emitter.writer.do("%rows.until.before = phi i64 [ 0, %start ], [ %rows.until, %row.end ]")
        emitter.writer.do("%rows.low.before = phi i32 [ 0, %start ], [ %rows.low, %row.end ]")

    def emit(self, low: str) -> str:
        """The groups that begin in this row; returns the row's first thread that is left."""
        emitter, w, axis = self.emitter, self.emitter.writer, self.emitter.function.launch_ndim - 2
        count, rows, block = self.groups.threads, self.groups.rows, self.groups.several
        assert block is not None
        apart = lie_apart(emitter) or "false"
        end = w.emit(f"add nuw nsw i64 %row.at, {rows}", "rows.end")
        along = w.emit(f"sext i32 {w.emit(f'add i32 {emitter.tids[-2]}, {rows}')} to i64")
        # Only whole rows, of one plane.
        conditions = [
            apart,
            w.emit("icmp sge i64 %row.at, %rows.until.before"),
            w.emit(f"icmp eq i32 {low}, 0"),
            w.emit(f"icmp sle i64 {w.emit(f'mul i64 {end}, {self.extent}')}, %end"),
            w.emit(f"icmp sle i64 {along}, {memory.launch_dim(emitter, axis)}"),
            w.emit(f"icmp sge i64 {self.extent}, {count}"),
        ]
        all = conditions[0]
        for condition in conditions[1:]:
            all = w.emit(f"and i1 {all}, {condition}")
        last = w.emit(f"trunc i64 {w.emit(f'sub i64 {self.extent}, {count}')} to i32", "last")
        before = w.label
        w.branch(all, "rows", "rows.left")
        w.open("rows")
        w.do(f"%rows.tid = phi i32 [ 0, %{before} ], [ %rows.next, %rows.on ]")
        tids, emitter.thread = emitter.tids, "%rows.tid"
        emitter.tids = (*tids[:-1], emitter.thread)
        emitter.group_end = w.emit(f"add nsw i32 %rows.tid, {count}", "group_end")
        emitter.are_apart = True
        emitter.block(block)
        emitter.are_apart, emitter.thread = False, "%rows.tid"
        if emitter.strips.threads:
            number = w.emit(f"udiv i32 %rows.tid, {count}")
            look_seldom(emitter, "i32", number, emitter.strips.threads, thread=True)
        w.jump("rows.on")
        w.open("rows.on")
        w.do(f"%rows.next = add nsw i32 %rows.tid, {count}")
        more = w.emit(f"icmp sle i32 %rows.next, {last}", "more")
        w.do(f"br i1 {more}, label %rows, label %rows.left{emitter.loop_end()}")
        w.open("rows.left")
        w.do(f"%rows.until = phi i64 [ %rows.until.before, %{before} ], [ {end}, %rows.on ]")
        w.do(f"%rows.low = phi i32 [ %rows.low.before, %{before} ], [ %rows.next, %rows.on ]")
        emitter.tids = tids
        begun = w.emit("icmp slt i64 %row.at, %rows.until", "begun")
        return w.emit(f"select i1 {begun}, i32 %rows.low, i32 {low}", "low")


def emit_group_end(emitter: Emitter, op: Op) -> None:
    """The thread after the last one of the group."""
    emitter.group = op.result
    emitter.bind(op.result, [emitter.group_end])
