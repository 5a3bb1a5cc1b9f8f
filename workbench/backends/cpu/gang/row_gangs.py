"""The loop over gangs of several rows (`Shape.rows`), around the loop over one row's threads."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.cpu.emit import memory
from workbench.backends.cpu.emit.effects.look import look_seldom
from workbench.backends.cpu.gang.emitter import GangEmitter


class RowGangs:
    """Gangs of several rows, before the threads that are left of these.

    The launch's rows are taken so many at a time, and a chunk of its threads is some columns of them: where it begins
    and ends is rounded up to whole groups, so that chunks that cover the launch still cover it once.

    Of the rows above `%rows.until` the threads from `%rows.low` on are left.
    """

    def __init__(self, emitter: GangEmitter, gang: Callable[[str], None], extent: str) -> None:
        """Take the emitter's shape; `gang` emits a gang from its first thread on, `extent` is the length of a row."""
        self.emitter, self.gang, self.extent = emitter, gang, extent
        self.threads, self.count = emitter.shape.row_threads, emitter.shape.rows
        self.total = "1"
        for axis in range(emitter.function.launch_ndim - 1):
            self.total = self._on("mul nuw nsw", self.total, memory.launch_dim(emitter, axis))

    def _on(self, verb: str, a: str, b: str | int) -> str:
        if verb in ("smin", "smax"):
            return self.emitter.writer.emit(f"call i64 @llvm.{verb}.i64(i64 {a}, i64 {b})")
        return self.emitter.writer.emit(f"{verb} i64 {a}, {b}")

    def rows(self, first: str, last: str) -> tuple[str, str]:
        """Return all rows of those that are taken together with the first and the last one of a chunk."""
        first, last = (self._on("mul nuw nsw", self._on("udiv", at, self.count), self.count) for at in (first, last))
        last = self._on("add nuw nsw", last, self.count - 1)
        return first, self._on("smin", last, self._on("sub nsw", self.total, 1))

    def open(self, before: str) -> None:
        """Emit the head of the loop over rows."""
        w = self.emitter.writer
        w.do(f"%rows.until.before = phi i64 [ 0, %{before} ], [ %rows.until, %row.end ]")
        w.do(f"%rows.low.before = phi i32 [ 0, %{before} ], [ %rows.low, %row.end ]")

    def columns(self, begin: str, end: str) -> tuple[str, str]:
        """Return the threads of a row, from the first up to behind the last one, of a chunk's range."""
        top = self._on("mul nuw nsw", self._on("udiv", "%row.at", self.count), self.count)
        rows = self._on("smin", self._on("sub nsw", self.total, top), self.count)
        first, size = self._on("mul nuw nsw", top, self.extent), self._on("mul nuw nsw", rows, self.extent)
        group = self._on("mul nuw nsw", rows, self.threads)
        columns = []
        for edge in (begin, end):
            at = self._on("smin", self._on("smax", self._on("sub nsw", edge, first), 0), size)
            full = self._on("udiv", self._on("sub nsw", self._on("add nuw nsw", at, group), 1), group)
            columns.append(self._on("smin", self._on("mul nuw nsw", full, self.threads), self.extent))
        return columns[0], columns[1]

    def emit(self, low: str, high: str) -> str:
        """Emit the groups that begin in this row; return the row's first thread that is left."""
        emitter, w, axis = self.emitter, self.emitter.writer, self.emitter.function.launch_ndim - 2
        end = self._on("add nuw nsw", "%row.at", self.count)
        along = w.emit(f"sext i32 {w.emit(f'add i32 {emitter.tids[-2]}, {self.count}')} to i64")
        most = w.emit(f"sub nsw i32 {high}, {self.threads}", "most")
        conditions = [
            w.emit(f"icmp eq i64 {self._on('urem', '%row.at', self.count)}, 0"),
            w.emit(f"icmp sle i64 {end}, {self.total}"),
            w.emit(f"icmp sle i64 {along}, {memory.launch_dim(emitter, axis)}"),
            w.emit(f"icmp sle i32 {low}, {most}"),
        ]
        every = conditions[0]
        for condition in conditions[1:]:
            every = w.emit(f"and i1 {every}, {condition}")
        before, tids = w.label, emitter.tids
        w.branch(every, "rows", "rows.left")
        w.open("rows")
        w.do(f"%rows.tid = phi i32 [ {low}, %{before} ], [ %rows.next, %rows.on ]")
        emitter.begin_parts(self.threads, rows=self.count)
        self.gang("%rows.tid")
        if emitter.strips.threads:
            number = w.emit(f"udiv i32 %rows.tid, {self.threads}")
            look_seldom(emitter, "i32", number, emitter.strips.threads, thread=True)
        w.jump("rows.on")
        w.open("rows.on")
        w.do(f"%rows.next = add nsw i32 %rows.tid, {self.threads}")
        more = w.emit(f"icmp sle i32 %rows.next, {most}", "more")
        w.do(f"br i1 {more}, label %rows, label %rows.left{emitter.loop_end()}")
        w.open("rows.left")
        w.do(f"%rows.until = phi i64 [ %rows.until.before, %{before} ], [ {end}, %rows.on ]")
        w.do(f"%rows.low = phi i32 [ %rows.low.before, %{before} ], [ %rows.next, %rows.on ]")
        emitter.tids = tids
        begun = w.emit("icmp slt i64 %row.at, %rows.until", "begun")
        return w.emit(f"select i1 {begun}, i32 %rows.low, i32 {low}", "low")
