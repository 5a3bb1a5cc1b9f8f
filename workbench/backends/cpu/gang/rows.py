"""Gangs of threads of several rows: rows thinner than a gang (`Thin`), and rows that share elements (`RowGangs`).

Where threads access x[i, j] of the launch's own indices, or x[i - 1, j + 1], and the arrays have the launch's shape,
elements of neighbouring rows lie side by side, too. The entry compares the shapes once, and takes full gangs of threads
in the order of their linear index, whose indices are vectors; the loop over rows does the rest of a chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import takewhile

from workbench.backends.cpu.emit import memory
from workbench.backends.cpu.emit.effects.look import look_seldom
from workbench.backends.cpu.gang.emitter import GangEmitter
from workbench.backends.cpu.gang.memory import PERMUTED
from workbench.backends.cpu.gang.width import NARROW
from workbench.backends.llvm.values import splat, vector
from workbench.ir.analysis import Analysis, Atom
from workbench.ir.ops import ACCESSES, EFFECTS, LOOPS, REPORTS, UPDATES
from workbench.ir.values import Block, Op, array_of, component_of, indices_of, walk
from workbench.limits import GANG_STEP, GANG_THIN_OPERATIONS, GANG_THIN_ROWS, GANG_THIN_ROWS_GATHERED
from workbench.passes.analysis.divergence import varying_values
from workbench.passes.loops.peeling import peeled_parts
from workbench.types import Kind, Scalar, int32


class Thin:
    """Emits gangs of threads of several rows, for launches whose rows are shorter than a gang.

    Attributes:
        split: the function's parts, if it has a border.
        body: what a thread does, wherever it is.
        varying: values that differ between threads of several rows.
        flat: the accesses to the element of the thread's own indices, plus a constant along each axis; these constants.
        near: the loads of an element by the thread's column, or row, plus a constant: all that a gang loads fits a
            register; the axis and the constant.
    """

    def __init__(self, emitter: GangEmitter) -> None:
        self.emitter = emitter
        function = emitter.function
        self.split = peeled_parts(function)
        self.body = self.split.border if self.split else function.body
        operations = list(walk(self.body))
        self.varying = varying_values(function, besides=[op.result for op in operations if op.name == "tid"])
        analysis, accesses = Analysis(function), (op for op in operations if op.name in ACCESSES)
        self.flat = {op: at for op in accesses if (at := self._offsets(analysis, op)) is not None}
        self.near = {op: at for op in operations if op.name == "load" and (at := self._near(analysis, op)) is not None}

    def pays(self) -> bool:
        """Return whether gangs across thin rows pay: a short function without loops that stores to its own elements.

        Nor may it report, add atomically or have slots, and arrays have to be contiguous. If it has a border, what it
        loads has to lie side by side, too, or to be the same for all threads.
        """
        emitter = self.emitter
        operations = list(walk(self.body))
        names = {op.name for op in operations}
        # In loops, what all threads of a row share would be gathered (a CSR matrix times eight columns 0.76).
        alone = names.isdisjoint(REPORTS | UPDATES | LOOPS | {"row_first", "row_length", "slots"})
        written = [op for op in operations if op.name in EFFECTS]
        fits = emitter.options.contiguous and emitter.shape.rows == 1 and len(operations) <= GANG_THIN_OPERATIONS
        side_by_side = not any(any(self.flat.get(op, (1,))) for op in written) and not (self.split and self._others())
        return fits and alone and bool(written) and side_by_side and self._rows() > 0

    def _others(self) -> list[Op]:
        """Return the loads of elements that differ between threads and need not lie side by side."""
        apart = self.flat if self.split else self.flat | self.near  # those are near only without a mask
        loads = (op for op in walk(self.body) if op.name == "load" and op not in apart)
        return [op for op in loads if not self.varying.isdisjoint(op.operands)]

    def _rows(self) -> int:
        """Return the length below which rows count as thin; 0: none do.

        It is smaller if elements have to be gathered on a target without fast gathers.
        """
        maths = self.emitter.maths
        if self._others() and not maths.gathers:
            return GANG_THIN_ROWS_GATHERED if maths.bits > NARROW else 0
        return self._lanes() + 1 if self.near else GANG_THIN_ROWS

    def _offsets(self, analysis: Analysis, op: Op) -> tuple[int, ...] | None:
        """Return what is added to the thread's indices in an access; None if its indices are no such sums.

        None, too, for a struct's field at a lower index: fields are loaded together, without asking for negative ones.
        """
        forms = [analysis.index(v)[0] for v in indices_of(op)]
        own = all(form.terms == {Atom("tid", axis=axis): 1} for axis, form in enumerate(forms))
        offsets = tuple(form.constant for form in forms)
        together = bool(array_of(op.operands[0]).pitch) and min(offsets) < 0
        return offsets if own and not together and len(forms) == self.emitter.function.launch_ndim else None

    def _lanes(self) -> int:
        """Return how many threads a part has."""
        return min(self.emitter.shape.widths[-1], self.emitter.shape.lanes)

    def _near(self, analysis: Analysis, op: Op) -> tuple[int, int] | None:
        """Return the axis and the constant of a load's last index, if a register holds what a gang loads; else None.

        A register's elements are then put in order by one instruction, which vectors of more than NARROW bits have for
        elements of 32 bits. Where the target gathers well, longer rows gain, too, so that is left as it is.
        """
        emitter, dtype, last = self.emitter, array_of(op.operands[0]).dtype, self.emitter.function.launch_ndim - 1
        *outer, index = indices_of(op)
        plain = (
            isinstance(dtype, Scalar) and dtype.size == 4 and dtype.kind is not Kind.BOOL and component_of(op) is None
        )
        if op in self.flat or not plain or array_of(op.operands[0]).pitch or not self.varying.isdisjoint(outer):
            return None
        form = analysis.index(index)[0]
        # Rows follow one another only in a launch of two dimensions: there is one more, or the same, from lane to lane.
        for axis in (last, 0) if last == 1 else (last,):
            if form.terms == {Atom("tid", axis=axis): 1} and 0 <= form.constant < GANG_STEP:
                fits = emitter.maths.bits > NARROW and not emitter.maths.gathers and self._lanes() in PERMUTED
                return (axis, form.constant) if fits and index.type == int32 else None
        return None

    def emit(self, extent: str, begin: str) -> str:
        """Emit full gangs in the order of linear indices, for rows that are thin when running.

        Args:
            extent: the length of a row.
            begin: the first thread to run.

        Returns:
            The first thread that is left.
        """
        emitter, w = self.emitter, self.emitter.writer
        emitter.begin_parts(emitter.shape.widths[-1])
        threads = emitter.width * emitter.parts
        thin = w.emit(f"icmp slt i64 {extent}, {self._rows()}", "thin")
        for array in dict.fromkeys(op.operands[0] for op in self.flat):
            for axis in range(1, array_of(array).ndim):
                extents = memory.size(emitter, array, axis), memory.launch_dim(emitter, axis)
                same = w.emit("icmp eq i64 {}, {}".format(*extents))
                thin = w.emit(f"and i1 {thin}, {same}", "thin")
        some = w.emit(f"sub nsw i64 %end, {begin}")
        full = w.emit(f"and i64 {some}, {-threads}")
        last = w.emit(f"add nsw i64 {begin}, {w.emit(f'select i1 {thin}, i64 {full}, i64 0')}")
        head, inside, after = (w.block_name(hint) for hint in ("thin", "thin.gang", "thin.end"))
        starts, steps = ([w.emit(f"{verb} i64 {n}, {extent}") for verb in ("udiv", "urem")] for n in (begin, threads))
        before = w.label
        w.jump(head)
        w.open(head)
        first, row, number, number_row = w.name("gang"), w.reserve(), w.name("number"), w.reserve()
        counters = [(w.name(hint), w.reserve()) for hint in ("row", "column")]
        w.branch(w.emit(f"icmp slt i64 {first}, {last}", "more"), inside, after)
        w.open(inside)
        self._gang(first, *(name for name, _ in counters))
        if emitter.strips.threads:
            look_seldom(emitter, "i64", number, max(1, emitter.strips.threads // threads), thread=True)
        following, counted = w.emit(f"add nsw i64 {first}, {threads}"), w.emit(f"add nsw i64 {number}, 1")
        w.fill(row, first, f"phi i64 [ {begin}, %{before} ], [ {following}, %{w.label} ]")
        w.fill(number_row, number, f"phi i64 [ 0, %{before} ], [ {counted}, %{w.label} ]")
        rows, columns = (w.emit(f"add nsw i64 {name}, {step}") for (name, _), step in zip(counters, steps, strict=True))
        over = w.emit(f"icmp sge i64 {columns}, {extent}")
        rows = w.emit(f"add nsw i64 {rows}, {w.emit(f'zext i1 {over} to i64')}")
        columns = w.emit(f"sub nsw i64 {columns}, {w.emit(f'select i1 {over}, i64 {extent}, i64 0')}")
        for (name, line), start, after_it in zip(counters, starts, (rows, columns), strict=True):
            w.fill(line, name, f"phi i64 [ {start}, %{before} ], [ {after_it}, %{w.label} ]")
        w.do(f"br label %{head}{emitter.loop_end(wishes=(('unroll.disable', ''),))}")
        w.open(after)
        return first

    def _gang(self, first: str, row: str, column: str) -> None:
        """Emit one gang, of threads with linear indices from `first` on, the first of which has a row and a column."""
        emitter = self.emitter
        varying, emitter.varying = emitter.varying, self.varying
        emitter.in_gang, emitter.thread = True, "0"
        emitter.flat, emitter.near, emitter.flat_first = self.flat, self.near, first
        self._indices(row, column)
        emitter.block(self.body)
        emitter.gang_over()
        emitter.varying, emitter.flat, emitter.near = varying, {}, {}

    def _indices(self, row: str, column: str) -> None:
        """Emit the launch indices of all lanes of a gang that may span several rows.

        Args:
            row: the number of the first thread's row, among all.
            column: its index along the last axis.
        """
        emitter, w, last = self.emitter, self.emitter.writer, self.emitter.function.launch_ndim - 1
        kind, wide = "i32", vector("i32", emitter.width)
        emitter.indices = {}
        more = [emitter.lane_numbers(kind, first=emitter.first_lane) for _ in emitter.each_part()]
        low, rest = column, row
        for axis in reversed(range(1, last + 1)):
            extent = memory.launch_dim(emitter, axis)
            if axis < last:
                above = w.emit(f"udiv i64 {rest}, {extent}")
                low, rest = w.emit(f"sub i64 {rest}, {w.emit(f'mul i64 {above}, {extent}')}"), above
            low, size = (emitter.spread(w.emit(f"trunc i64 {v} to i32"), kind) for v in (low, extent))
            at = [w.emit(f"add {wide} {low}, {m}") for m in more]
            more = [self._quotient(a, size) if axis < last else self._small_quotient(a, size) for a in at]
            emitter.indices[axis] = [
                w.emit(f"sub {wide} {a}, {w.emit(f'mul {wide} {q}, {size}')}") for a, q in zip(at, more, strict=True)
            ]
        top = emitter.spread(w.emit(f"trunc i64 {rest} to i32"), kind)
        emitter.indices[0] = [w.emit(f"add {wide} {top}, {m}") for m in more]

    def _quotient(self, a: str, b: str) -> str:
        """Emit the quotient of two vectors of integers that are not negative: floats of 64 bits hold them exactly."""
        w, lanes = self.emitter.writer, self.emitter.width
        wide, floats = vector("i32", lanes), vector("double", lanes)
        a, b = (w.emit(f"uitofp {wide} {v} to {floats}") for v in (a, b))
        return w.emit(f"fptosi {floats} {w.emit(f'fdiv {floats} {a}, {b}')} to {wide}")

    def _small_quotient(self, a: str, b: str) -> str:
        """Emit the quotient of two vectors of small integers, the divisors all the same.

        (a + ½) / b is half of 1 / b away from a whole number at least: more than what the product with 1 / b is wrong
        by, which is computed once.
        """
        w, lanes = self.emitter.writer, self.emitter.width
        wide, floats = vector("i32", lanes), vector("float", lanes)
        a, b = (w.emit(f"sitofp {wide} {v} to {floats}") for v in (a, b))
        inverse = w.emit(f"fdiv {floats} {splat('float', '1.0')}, {b}")
        middle = w.emit(f"fadd {floats} {a}, {splat('float', '0.5')}")
        return w.emit(f"fptosi {floats} {w.emit(f'fmul {floats} {middle}, {inverse}')} to {wide}")


class RowGangs:
    """Emits gangs that span several rows, before the loop over the threads that are left of these rows.

    The launch's rows are taken in blocks, and a chunk of its threads is some columns of a block: where it begins and
    ends is rounded up to whole gangs, so that chunks that cover the launch still cover it once. A block is a gang's
    rows, or PANEL_ROWS if its gangs read panels. In rows before `%rows.until` the threads from `%rows.low` on are left.
    """

    def __init__(self, emitter: GangEmitter, extent: str, part_of_gang: Callable[[Block, str], None]) -> None:
        """Prepare for the emitter's shape, and emit how many rows a block has.

        Args:
            emitter: emits the function.
            extent: the length of a row.
            part_of_gang: emits a block for the gang whose first thread has the index in a register.
        """
        self.emitter, self.extent, self.part_of_gang = emitter, extent, part_of_gang
        self.threads, self.count = emitter.shape.row_threads, emitter.shape.rows
        self.total = "1"
        for axis in range(emitter.function.launch_ndim - 1):
            self.total = self._on("mul nuw nsw", self.total, memory.launch_dim(emitter, axis))
        of_rows = emitter.of_rows
        assert of_rows
        self.function, self.split = of_rows.function, peeled_parts(emitter.function)
        emitter.block(Block((), of_rows.once))
        self.fits = emitter.operand(of_rows.fits) if of_rows.fits else "true"
        self.block = emitter.operand(of_rows.rows) if of_rows.rows else str(self.count)

    def _on(self, verb: str, a: str, b: str | int) -> str:
        """Emit an i64 instruction, or a call of LLVM's "smin" or "smax"; return its register."""
        if verb in ("smin", "smax"):
            return self.emitter.writer.emit(f"call i64 @llvm.{verb}.i64(i64 {a}, i64 {b})")
        return self.emitter.writer.emit(f"{verb} i64 {a}, {b}")

    def _is_shared(self, op: Op) -> bool:
        """Return whether an operation, with those in its blocks, does the same in all rows, and changes no array."""
        every, by_row = (op, *(inner for block in op.blocks for inner in walk(block))), self.emitter.by_row
        return all(o.name not in EFFECTS and by_row.isdisjoint((*o.operands, *o.results)) for o in every)

    def rows(self, first: str, last: str) -> tuple[str, str]:
        """Round a chunk's first and last row outwards to whole groups of rows; return both."""
        first, last = (self._on("mul nuw nsw", self._on("udiv", at, self.block), self.block) for at in (first, last))
        last = self._on("add nuw nsw", last, self._on("sub nuw nsw", self.block, 1))
        return first, self._on("smin", last, self._on("sub nsw", self.total, 1))

    def open(self, before: str) -> None:
        """Emit the phis at the head of the loop over rows, which is entered from the block `before`."""
        w = self.emitter.writer
        w.do(f"%rows.until.before = phi i64 [ 0, %{before} ], [ %rows.until, %row.end ]")
        w.do(f"%rows.low.before = phi i32 [ 0, %{before} ], [ %rows.low, %row.end ]")

    def columns(self, begin: str, end: str) -> tuple[str, str]:
        """Return the columns of the current row that a chunk runs: the first, and the one behind the last.

        Args:
            begin: the chunk's first thread, by its linear index.
            end: the thread behind its last one.
        """
        top = self._on("mul nuw nsw", self._on("udiv", "%row.at", self.block), self.block)
        rows = self._on("smin", self._on("sub nsw", self.total, top), self.block)
        first, size = self._on("mul nuw nsw", top, self.extent), self._on("mul nuw nsw", rows, self.extent)
        # What reports does so in the order of threads: a chunk is whole groups.
        step = self.threads if self.emitter.function.body.op_names.isdisjoint(REPORTS) else self.extent
        group, columns = self._on("mul nuw nsw", rows, step), list[str]()
        for edge in (begin, end):
            at = self._on("smin", self._on("smax", self._on("sub nsw", edge, first), 0), size)
            full = self._on("udiv", self._on("sub nsw", self._on("add nuw nsw", at, group), 1), group)
            columns.append(self._on("smin", self._on("mul nuw nsw", full, step), self.extent))
        return columns[0], columns[1]

    def emit(self, low: str, high: str) -> str:
        """Emit the gangs of a block that begins in this row, for the columns from `low` up to `high`.

        Returns:
            The first column that is left for the row.
        """
        emitter, w, tids = self.emitter, self.emitter.writer, self.emitter.tids
        full = self._full_rows()
        end = self._on("add nuw nsw", "%row.at", w.emit(f"zext i32 {full} to i64"))
        conditions = [
            self.fits,
            w.emit(f"icmp eq i64 {self._on('urem', '%row.at', self.block)}, 0"),
            w.emit(f"icmp sgt i32 {full}, 0"),
        ]
        if self.split:
            last = w.emit(f"add i32 {tids[-2]}, {w.emit(f'sub i32 {full}, 1')}")
            conditions += [
                w.emit(f"icmp sle i64 {self._first_inside(row)}, {w.emit(f'sext i32 {low} to i64')}")
                for row in (tids[-2], last)
            ]
            high = self._until_inside(high)
        most = w.emit(f"sub nsw i32 {high}, {self.threads}", "most")
        conditions.append(w.emit(f"icmp sle i32 {low}, {most}"))
        every = reduce(lambda one, other: w.emit(f"and i1 {one}, {other}"), conditions)
        before = w.label
        w.branch(every, "rows", "rows.left")
        w.open("rows")
        w.do(f"%rows.tid = phi i32 [ {low}, %{before} ], [ %rows.next, %rows.on ]")
        self._down(full)
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

    def _full_rows(self) -> str:
        """Emit how many rows from this one on gangs of a block have, as i32: all of one plane."""
        emitter = self.emitter
        along = emitter.writer.emit(f"sext i32 {emitter.tids[-2]} to i64")
        plane = memory.launch_dim(emitter, emitter.function.launch_ndim - 2)
        left = self._on("smin", self._on("sub nsw", self.total, "%row.at"), self.block)
        left = self._on("smin", left, self._on("sub nsw", plane, along))
        full = self._on("sub nsw", left, self._on("urem", left, self.count))
        return emitter.writer.emit(f"trunc i64 {full} to i32", "full")

    def _down(self, full: str) -> None:
        """Emit the gangs of a block in some of its columns, from the first `full` rows: one below the other.

        What a loop reads of these columns is then in the nearest cache for all but the first. What is the same in all
        rows comes before the gangs.
        """
        emitter, w, ops = self.emitter, self.emitter.writer, self.function.body.ops
        shared = tuple(takewhile(self._is_shared, ops))
        emitter.begin_parts(self.threads, rows=self.count)
        self.part_of_gang(Block((), shared), "%rows.tid")
        above = w.label
        w.jump("rows.down")
        w.open("rows.down")
        w.do(f"%rows.row = phi i32 [ 0, %{above} ], [ %rows.below, %rows.gang.end ]")
        *outer, row, column = emitter.tids
        emitter.tids = (*outer, w.emit(f"add nsw i32 {row}, %rows.row"), column)
        self.part_of_gang(Block((), ops[len(shared) :]), "%rows.tid")
        emitter.gang_over()
        if emitter.strips.threads:
            number = w.emit(f"udiv i32 %rows.tid, {self.threads}")
            look_seldom(emitter, "i32", number, emitter.strips.threads, thread=True)
        w.jump("rows.gang.end")
        w.open("rows.gang.end")
        w.do(f"%rows.below = add nsw i32 %rows.row, {self.count}")
        below = w.emit(f"icmp slt i32 %rows.below, {full}", "below")
        w.do(f"br i1 {below}, label %rows.down, label %rows.on{emitter.loop_end()}")

    def _first_inside(self, row: str) -> str:
        """Emit the first thread of a row that is inside, as i64; of a row without such threads it is a large number.

        Args:
            row: the row's index, as i32.
        """
        assert self.split
        emitter = self.emitter
        tids, emitter.tids = emitter.tids, (*emitter.tids[:-2], row, emitter.tids[-1])
        emitter.block(Block((), self.split.before))
        emitter.tids = tids
        return emitter.operand(self.split.first)

    def _until_inside(self, high: str) -> str:
        """Emit the column behind the last one below `high` that is inside, as i32; it is the same in all rows."""
        assert self.split
        last = self._on("add", self.emitter.operand(self.split.last), 1)
        last = self._on("smin", self._on("smax", last, 0), self.emitter.writer.emit(f"sext i32 {high} to i64"))
        return self.emitter.writer.emit(f"trunc i64 {last} to i32")
