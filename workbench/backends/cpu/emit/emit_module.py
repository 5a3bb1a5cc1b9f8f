"""IR to LLVM IR text: one entry function that runs a range of threads.

    i32 entry(ptr params, i64 begin, i64 end, ptr fault, ptr stop, ptr sums)

`params` is the buffer of `backends/layout.py`; [begin, end) are linear indices over the launch, last dimension fastest;
`stop` is what asks it to end (`loops`): then it returns -1, else 0; `sums` is where it leaves what threads change
together (`combine`).
The innermost loop counts the last dimension in 32 bits without overflow, so that LLVM can see how addresses move with
it and vectorise over threads. See `design/cpu.md`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Protocol

import msgspec
from msgspec.structs import replace

from workbench.backends.base import Options
from workbench.backends.cpu.emit import memory
from workbench.backends.cpu.emit.combine import GROUP, Combining, Part, emit_change, reductions_of
from workbench.backends.cpu.emit.elementwise import (
    emit_builtin,
    emit_cast,
    emit_extract,
    emit_floor_quotient,
    emit_insert,
    emit_quotient_is,
    emit_vec,
    emit_wrap_index,
    native,
)
from workbench.backends.cpu.emit.emitter import THREAD_BY_THREAD, WRITTEN_OUT, Emitter, Handler, later
from workbench.backends.cpu.emit.types import literals
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.backends.prints import number_prints
from workbench.deep import with_deep_stack
from workbench.errors import BuildError
from workbench.ir.ops import AXIS, REASON, VALUE
from workbench.ir.values import Block, Function, Op, scalar_or_vector_of
from workbench.passes.analysis.cost import mostly_adds
from workbench.passes.analysis.divergence import DATA, LAUNCH, SumOrder, sum_order
from workbench.passes.checks.bounds_checks import guard
from workbench.passes.expand import expand
from workbench.passes.loops.peeling import Peeled, computed_once, peeled_parts
from workbench.passes.lower_tiles.lower import lower_tiles
from workbench.passes.pipeline import CHECKED, CPU, Pass, run
from workbench.source import Location
from workbench.types import Scalar

PARAMETERS = "ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums"
ATTRIBUTES = 'nounwind "no-trapping-math"="true"'
# Without it LLVM makes a memset of four stores of 0 (a cleared cotangent), and then vectorises nothing. But cleared
# slots have to be one, or they stay in memory: a 7×7 convolution takes three times as long.
NO_MEMSET = f'{ATTRIBUTES} "no-builtin-memset"'

BORDER = ".border"
"""Suffix of the names in the loop over threads at a border."""
HELPERS = r"wb_(fault|print\d+|prints|fma_f\d+x\d)"
"""Names that a module may define besides its entry, which must differ: a kernel may be called `prints`."""


def entry_name(function: Function) -> str:
    """Return the symbol of a function's entry."""
    # `$` and a hexadecimal number: legal in an LLVM name, and in no Python one, so two names never meet.
    name = f"wb_{function.name}"
    if not name.isascii() or not name.isidentifier():
        name = re.sub(r"[^A-Za-z0-9_]", lambda m: f"${ord(m[0]):x}", name)
    return f"{name}$" if name.startswith(("wb_f", "wb_p")) and re.fullmatch(HELPERS, name) else name


class Module(msgspec.Struct, frozen=True):
    """LLVM IR text of a function, and what the compiler and the launcher must know about it.

    Attributes:
        text: the LLVM IR, without a target.
        sums: how many 8-byte words a chunk of threads leaves at `%sums`.
        gangs: the text already runs threads as vectors.
        one_core: all threads of a launch have to run on one core.
        open_order: threads on several cores add floats to one element, in no fixed order.
        declines: it declines some launches (see `Options.quick`).
    """

    text: str
    sums: int
    gangs: bool = False
    one_core: bool = False
    open_order: bool = False
    declines: bool = False


def emit_llvm(
    function: Function,
    options: Options,
    maths: Maths = Maths(),  # noqa: B008  (frozen)
    half_instructions: bool = False,
) -> str:
    """Return the LLVM IR text of a function's module, which runs thread after thread, never gangs."""
    return emit_module(function, options, maths, half_instructions).text


@with_deep_stack
def emit_module(function: Function, options: Options, maths: Maths, half_instructions: bool) -> Module:
    """Return a function's module, which runs thread after thread.

    Args:
        function: the function.
        options: how it is built.
        maths: the vectorised maths functions that it may use.
        half_instructions: float16 is converted by the machine's own instructions.

    Raises:
        BuildError: it has an operation that cannot be expressed in LLVM IR.
    """
    division = divided(function, options)
    lowered = prepared(checked(function, options), options, division, defer_atomics=False)
    return ModuleEmitter(lowered, options, maths, half_instructions, division).module()


def checked(function: Function, options: Options) -> Function:
    """Return a function with its prints numbered and, if `options.checks`, with checks; else without asserts.

    With checks it may hold two versions, of which a test of the launch chooses one (`versions_of`).
    """
    checks = options.checks and partial(guard, versions=True)
    return run(CHECKED, function, number_prints=number_prints, strip_asserts=not options.checks, bounds_checks=checks)


def prepared(function: Function, options: Options, division: Division, **steps: Pass | bool) -> Function:
    """Run this backend's passes on a function that has its checks; return the result.

    Args:
        function: the function, or one of its forms.
        options: how it is built.
        division: how its launches are divided among cores.
        **steps: passes, or whether to run them, that depend on the emitter.
    """
    return run(
        CPU,
        function,
        # Rows of an array that is not dense may have gaps between elements.
        lower_tiles=partial(lower_tiles, dense=options.contiguous, plain=division.one_core),
        # Handed over, since a pass does not know what a backend can emit.
        expand=partial(expand, native=native),
        **steps,
    )


class Division(msgspec.Struct, frozen=True):
    """The division of a function's launches among cores.

    Attributes:
        one_core: there is none: all threads run on one core, in order, and their additions need not be atomic.
        order: which threads add floats to the same elements.
    """

    one_core: bool = False
    order: SumOrder = SumOrder()


def divided(function: Function, options: Options) -> Division:
    """Return how launches of a function are divided among cores.

    They run on one core if all threads share a sum whose order would depend on the number of cores, or if they mostly
    add and an order is fixed or cores are few.
    """
    order = sum_order(function)
    same = order.sharing == LAUNCH
    return Division(same or ((order.is_fixed or options.few_cores) and mostly_adds(function)), order)


class RowLoop(Protocol):
    """Code for gangs that span several rows, as the emitter of the loop over rows uses it (see `gang/rows`)."""

    def rows(self, first: str, last: str) -> tuple[str, str]:
        """Round a chunk's first and last row outwards to whole groups of rows that run together; return both."""
        ...

    def open(self, before: str) -> None:
        """Emit the head of the loop over rows.

        Args:
            before: label of the block from which the loop is entered.
        """

    def columns(self, begin: str, end: str) -> tuple[str, str]:
        """Return the columns of the current row that a chunk runs: the first, and the one behind the last.

        Args:
            begin: the chunk's first thread, by its linear index.
            end: the thread behind its last one.
        """
        ...

    def emit(self, low: str, high: str) -> str:
        """Emit the gangs that begin in this row; return the first column that is left.

        Args:
            low: the first column to run.
            high: the one behind the last.
        """
        ...


class ModuleEmitter(Emitter):
    """Emits a function's entry: loops over threads, and in them the operations, by the functions of `HANDLERS`.

    Attributes:
        gangs: the text runs threads as vectors.
        division: how launches are divided among cores.
        combining: emits what combines threads' changes of one element; None if there are no such changes.
        slotted: the function has slots.
        parameters: of the LLVM function.
        symbol: the LLVM function.
        functions: by loop of independent iterations, what emitted it as a function of its own; None: it is a loop.
        lines: of the function, if it is that of a loop.
        extent: the number of threads of a row, as i64.
        ends: the first thread to run, and the one behind the last, by linear index.
    """

    gangs = False
    parameters = PARAMETERS

    def __init__(
        self, function: Function, options: Options, maths: Maths, half_instructions: bool, division: Division
    ) -> None:
        """Set up for one function; `division` is that of a launch among cores, not the arithmetic operation."""
        super().__init__(function, options, maths, half_instructions, division.one_core)
        self.division = division
        self.reductions = reductions_of(function)
        self.combining = Combining(self) if self.reductions else None
        self.slotted = "slots" in function.body.op_names
        self.symbol, self.lines = "", list[str]()
        self.functions: dict[Op, ModuleEmitter | None] = {}
        self.extent, self.ends = "", ("%begin", "%end")
        self._line = 0

    def block(self, block: Block) -> None:
        """Emit the operations of a block in order; the caller reads a final `yield`."""
        for op in block.ops:
            if op.location.line != self._line:
                self.comment(op.location)
            if op.name != "yield":
                HANDLERS.get(op.name, emit_builtin)(self, op)

    def comment(self, location: Location) -> None:
        """Write the source line of an operation as a comment, if it has one; the next operations may be on it, too."""
        if location.line:
            self._line = location.line
            text = location.source.line(location.line).strip()
            self.writer.lines.append(f"  ; line {location.shown_line}: {text}")

    def module(self) -> Module:
        """Return the module of the function."""
        return self._module([*self.definition(f"define i32 @{entry_name(self.function)}"), *self._beside()])

    def _module(self, lines: list[str]) -> Module:
        """Return the module of these lines, with what the launcher has to know about its sums, gangs and cores."""
        sums = len(self.combining.parts) if self.combining else 0
        order, one_core = self.division.order, self.division.one_core
        open_order = order.sharing == DATA and not one_core
        return Module("\n".join(lines) + "\n", sums, self.gangs, one_core, open_order)

    def versions(self, tests: Mapping[str, tuple[Function, ModuleEmitter | None]]) -> Module:
        """Return a module whose entry calls one of several functions: this emitter's if all tests hold.

        Args:
            tests: by name: a function that ends in an operation whose operand says whether the test holds, and the
                emitter of the function to run if it does not; None: the entry declines the launch (`Options.quick`).
        """
        functions = {"quick": self} | {name: other for name, (_, other) in tests.items() if other is not None}
        entry = entry_name(self.function)
        launched = replace(self.function, axes=(), transposed=False)  # tests ask about the launch as it is
        chooser = ModuleEmitter(launched, self.options, self.maths, self.half_instructions, self.division)
        for other in (*functions.values(), chooser):
            other.share(self)
        w = chooser.writer
        for name, (test, other) in tests.items():
            *before, end = run(("expand",), test, expand=partial(expand, native=native)).body.ops
            chooser.block(Block((), tuple(before)))
            holds = w.block_name("holds")
            w.branch(chooser.operand(end.operands[0]), holds, name if other else "declined")
            w.open(holds)
        w.jump("quick")
        lines = [f"define i32 @{entry}({PARAMETERS}) {NO_MEMSET} {{", "entry:", *w.head, *w.lines]
        for name in functions:
            call = f"call i32 @{entry}.{name}({PARAMETERS})"
            lines += [f"{name}:", f"  %{name}.status = {call}", f"  ret i32 %{name}.status"]
        declines = any(other is None for _, other in tests.values())
        if declines:
            from workbench.backends.cpu.emit.effects.reports import DECLINE

            lines += ["declined:", *DECLINE, "  ret i32 0"]
        lines.append("}")
        for name, emitter in functions.items():
            lines += emitter.definition(f"define internal i32 @{entry}.{name}", "noinline ")
        return replace(self._module([*lines, *self._beside()]), declines=declines)

    def share(self, other: ModuleEmitter) -> None:
        """Write declarations, attributes and loop metadata into another emitter's tables, for a common module.

        It is called before anything is emitted.
        """
        self.writer.declarations = other.writer.declarations
        self._vector_functions, self._kept, self._loops = other._vector_functions, other._kept, other._loops

    def definition(self, head: str, attributes: str = "") -> list[str]:
        """Emit the function; return its lines.

        Args:
            head: its linkage and name.
            attributes: further ones of the function.
        """
        self.symbol = head.rpartition(" ")[2]
        # By the number of dimensions that `tid()` asks for.
        loops = {0: self._any_order, 1: self._one_dimension}.get(self.function.launch_ndim, self._rows)
        loops()
        w = self.writer
        w.open("finish")
        if self.combining:
            self.combining.finish()
        else:
            w.jump("exit")
        attributes += ATTRIBUTES if self.slotted else NO_MEMSET
        return [
            f"{head}({self.parameters}) {attributes} {{",
            "entry:",
            *w.head,
            "  %some = icmp slt i64 %begin, %end",
            f"  br i1 %some, label %start, label %{'combine' if self.combining else 'exit'}",
            *w.lines,
            "exit:",
            *self._leave(0),
            "stopped:",
            *self._leave(-1),
            "}",
            *(line for other in self.functions.values() if other for line in other.lines),
        ]

    def _beside(self) -> list[str]:
        """Return the module's lines outside of its functions: declarations, attributes and metadata."""
        return [
            *self.writer.declarations.values(),
            *(f"attributes #{n} = {{ {a} }}" for n, a in enumerate(self._vector_functions.values(), 1)),
            *self._used(),
            # 2**47: see memory.SIZE_RANGE.
            "!0 = !{i64 0, i64 140737488355328}",
            '!1 = !{!"branch_weights", i32 1048575, i32 1}',
            *self._loops,
        ]

    def _leave(self, status: int) -> list[str]:
        """Return the lines that free the function's memory on the heap and return `status`."""
        return [*(f"  call void @free(ptr {address})" for address in self.heap), f"  ret i32 {status}"]

    def _used(self) -> list[str]:
        """Return the line that keeps LLVM from dropping the wide maths functions; nothing if there are none."""
        if not self._kept:
            return []
        # The wide functions are named only in a string attribute, so LLVM would drop their declarations before it
        # vectorises.
        pointers = ", ".join(f"ptr @{k}" for k in self._kept)
        array = f"[{len(self._kept)} x ptr] [{pointers}]"
        return [f'@llvm.compiler.used = appending global {array}, section "llvm.metadata"']

    def _start(self) -> None:
        """Open the block "start", and begin the combination of reductions in it, if the function has any."""
        self.writer.open("start")
        if self.combining:
            self.combining.begin()

    def _any_order(self) -> None:
        """Emit the loop over threads of a kernel that never asks which thread it is."""
        self._start()
        self._threads("i64", "%begin", "%end", "finish")

    def _one_dimension(self) -> None:
        """Emit the loop over the threads of a launch of one dimension, with their index as i32."""
        w = self.writer
        self._start()
        if computed_once(self.function):
            self._row_length()
        begin, end = self._ends()
        # The launcher refuses dimensions of 2³¹ or more.
        low = w.emit(f"trunc nuw nsw i64 {begin} to i32", "low")
        high = w.emit(f"trunc nuw nsw i64 {end} to i32", "high")
        self.tids = ("",)
        self._threads("i32", low, high, "finish")

    def _rows(self) -> None:
        """Emit a loop over rows of the last dimension, and in it that over a row's threads.

        The other indices are computed once per row.
        """
        w, ndim = self.writer, self.function.launch_ndim
        self._start()
        extent = self.extent = self._row_length()
        begin, end = self._ends()
        if end != "%end":
            some = w.block_name("some")
            w.branch(w.emit(f"icmp slt i64 {begin}, {end}"), some, "finish")
            w.open(some)
        # One division per chunk, not per thread: inside a row the index only counts.
        begin = self.begin_rows(extent, begin)
        first = w.emit(f"udiv i64 {begin}, {extent}", "first")
        last = w.emit(f"udiv i64 {w.emit(f'add nsw i64 {end}, -1')}, {extent}", "last")
        several = self.row_gangs(extent)
        if several:
            first, last = several.rows(first, last)
        before = w.label
        w.jump("row")
        w.open("row")
        w.do(f"%row.at = phi i64 [ {first}, %{before} ], [ %row.next, %row.end ]")
        if several:
            several.open(before)
        base = self.row = w.emit(f"mul nuw nsw i64 %row.at, {extent}")
        for name in ("smax", "smin"):
            w.declare(f"llvm.{name}.i64", f"declare i64 @llvm.{name}.i64(i64, i64)")
        if several:
            low, high = several.columns(begin, end)
        else:
            # A chunk may begin and end in the middle of a row.
            low = w.emit(f"call i64 @llvm.smax.i64(i64 {w.emit(f'sub nsw i64 {begin}, {base}')}, i64 0)")
            high = w.emit(f"call i64 @llvm.smin.i64(i64 {w.emit(f'sub nsw i64 {end}, {base}')}, i64 {extent})")
        low = w.emit(f"trunc nuw nsw i64 {low} to i32", "low")
        high = w.emit(f"trunc nuw nsw i64 {high} to i32", "high")
        outer: list[str] = []
        rest = "%row.at"
        for axis in range(ndim - 2, 0, -1):
            along = memory.launch_dim(self, axis)
            outer.insert(0, w.emit(f"urem i64 {rest}, {along}"))
            rest = w.emit(f"udiv i64 {rest}, {along}")
        outer.insert(0, rest)
        self.tids = (*(w.emit(f"trunc nuw nsw i64 {o} to i32", f"tid{a}") for a, o in enumerate(outer)), "")
        if several:
            low = several.emit(low, high)
        self._threads("i32", low, high, "row.end")
        w.open("row.end")
        w.do("%row.next = add nuw nsw i64 %row.at, 1")
        w.branch(w.emit(f"icmp slt i64 %row.at, {last}"), "row", "finish")

    def _ends(self) -> tuple[str, str]:
        """Return the first thread to run, and the one behind the last, by linear index.

        They are the entry's `%begin` and `%end`. Where the order of sums is fixed, both are rounded up to whole groups
        of threads that add to one element: ranges that cover the launch then still cover it once, and each group runs
        in one of them.
        """
        order = self.division.order
        if not order.is_fixed:
            return self.ends
        w, size, total = self.writer, str(self.grouped_rows), "1"
        for axis in range(self.function.launch_ndim):
            along = memory.launch_dim(self, axis)
            total = w.emit(f"mul nuw nsw i64 {total}, {along}")
            size = w.emit(f"mul nuw nsw i64 {size}, {along}") if axis >= order.axes else size
        ends, more = [], w.emit(f"sub i64 {size}, 1")
        for end in self.ends:
            groups = w.emit(f"udiv i64 {w.emit(f'add i64 {end}, {more}')}, {size}")
            most = w.emit(f"mul i64 {groups}, {size}")
            ends.append(w.emit(f"call i64 @llvm.smin.i64(i64 {most}, i64 {total})"))
        w.declare("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
        return ends[0], ends[1]

    @property
    def grouped_rows(self) -> int:
        """Return how many rows run together, and so on one core; here 1."""
        return 1

    def begin_rows(self, extent: str, begin: str) -> str:
        """Emit the code before the loop over rows; return the first thread that is left for it, by its linear index.

        Args:
            extent: the length of a row.
            begin: the first thread to run.
        """
        return begin

    def row_gangs(self, extent: str) -> RowLoop | None:
        """Return what emits gangs of several rows; None, as here, if there are none.

        Args:
            extent: the length of a row.
        """
        return None

    def _row_length(self) -> str:
        """Return the number of threads of a row, as i64.

        It is the launch's last dimension, or computed by the function if that says how many threads it has.
        """
        *before, last = computed_once(self.function) or (None,)
        if last is None:
            return memory.launch_dim(self, self.function.launch_ndim - 1)
        self.block(Block((), tuple(before)))
        length, *turns = map(self.operand, last.operands)
        if turns:  # each thread of the launch is several of these
            begin, end = (self.writer.emit(f"mul nuw nsw i64 {end}, {turns[0]}") for end in self.ends)
            self.ends = begin, end
        return length

    def _threads(self, kind: str, low: str, high: str, after: str) -> None:
        """Emit the loops over a range of threads, and the code that combines their changes.

        Args:
            kind: LLVM type of the threads' numbers.
            low: the first thread.
            high: the one behind the last.
            after: label of the block to go to at the end.
        """
        part = Part(low, high, self.writer.label, after)
        split = peeled_parts(self.function)
        if self.combining:
            if self.combining.grouped:
                group, low = self.combining.open_group(kind, low, high)
                self._loop(kind, group, self.function.body, own=GROUP)
                self.combining.close_group()
            part = self.combining.open_part(kind, low, high, after)
        if split is None:
            # Behind whole groups few threads are left.
            self._loop(kind, part, self.function.body, cold=bool(self.combining and self.combining.grouped))
        else:
            self._border_and_interior(kind, part, split)
        if self.combining:
            self.combining.close_part()

    def _border_and_interior(self, kind: str, part: Part, split: Peeled) -> None:
        """Emit the threads of a row in three runs: border, inside, and border again, by the same code as the first.

        Args:
            kind: LLVM type of the threads' numbers.
            part: the threads of the row.
            split: the code at the border and inside, and where the inside begins and ends.
        """
        w = self.writer
        self.block(Block((), split.before))
        for name in ("smax", "smin"):
            w.declare(f"llvm.{name}.i64", f"declare i64 @llvm.{name}.i64(i64, i64)")
        low, high = (w.emit(f"sext i32 {end} to i64") for end in (part.first, part.end))

        def within(at: str, least: str) -> str:
            """Emit a thread's number, limited to the range from `least` to the end of the row."""
            at = w.emit(f"call i64 @llvm.smax.i64(i64 {at}, i64 {least})")
            return w.emit(f"call i64 @llvm.smin.i64(i64 {at}, i64 {high})")

        first = within(self.operand(split.first), low)
        end = within(w.emit(f"add nsw i64 {self.operand(split.last)}, 1"), first)
        lanes = self.border_lanes(split)
        if lanes > 1:  # what is inside is full gangs, from a multiple of their threads on
            before = w.emit(f"sub nsw i64 {first}, {low}")
            before = w.emit(f"and i64 {w.emit(f'add nsw i64 {before}, {lanes - 1}')}, {-lanes}")
            first = within(w.emit(f"add nsw i64 {low}, {before}"), low)
            some = w.emit(f"sub nsw i64 {within(end, first)}, {first}")
            end = w.emit(f"add nsw i64 {first}, {w.emit(f'and i64 {some}, {-lanes}')}")
        first, end = (w.emit(f"trunc nsw i64 {at} to i32") for at in (first, end))
        before = w.label
        w.jump("border")
        w.open("border")
        # Through the loop twice, before and behind those inside: written twice it would double the code of the border.
        w.do(f"%border.first = phi i32 [ {part.first}, %{before} ], [ {end}, %inside.end ]")
        w.do(f"%border.end = phi i32 [ {first}, %{before} ], [ {part.end}, %inside.end ]")
        w.do(f"%border.last = phi i1 [ false, %{before} ], [ true, %inside.end ]")
        border = Part("%border.first", "%border.end", "border", "border.done")
        self._loop(kind, border, split.border, own=BORDER, cold=lanes == 1 and split.few)
        w.open("border.done")
        w.branch("%border.last", part.after, "inside")
        w.open("inside")
        self.inside(kind, Part(first, end, "inside", "inside.end"), split)
        w.open("inside.end")
        w.jump("border")

    def border_lanes(self, split: Peeled) -> int:
        """Return how many threads at a border run side by side as a vector; here 1."""
        return 1

    def inside(self, kind: str, part: Part, split: Peeled) -> None:
        """Emit the loop over the threads inside, which are not at a border."""
        self._loop(kind, part, split.inside)

    def _loop(self, kind: str, part: Part, body: Block, own: str = "", cold: bool = False) -> None:
        """Emit a loop over threads.

        Args:
            kind: LLVM type of the threads' numbers.
            part: bounds and labels of the loop.
            body: what a thread does.
            own: suffix of its labels, where the entry has another such loop.
            cold: it seldom runs, and need not be optimised.
        """
        w = self.writer
        head, thread, turn = (f"{label}{own}" for label in ("threads", "thread", "thread.end"))
        # Two loops over threads need two counters.
        self.thread = f"%tid{own}"
        self.tids = (*self.tids[:-1], self.thread) if self.tids else ()
        w.jump(head)
        w.open(head)
        w.do(f"{self.thread} = phi {kind} [ {part.first}, %{part.before} ], [ {self.thread}.next, %{turn} ]")
        w.branch(w.emit(f"icmp slt {kind} {self.thread}, {part.end}", "more"), thread, part.after)
        w.open(thread)
        if self.combining:
            self.combining.begin_thread()
        self.block(body)
        if self.combining:
            self.combining.end_thread(kind)
        if self.strips.threads:
            # Only where one thread may run long; else who calls the entry looks between two chunks.
            from workbench.backends.cpu.emit.effects.look import look_seldom

            look_seldom(self, kind, self.thread, self.strips.threads, thread=True)
        w.jump(turn)
        w.open(turn)
        w.do(f"{self.thread}.next = add nsw {kind} {self.thread}, 1")
        # Gangs are what goes side by side; only groups of sums are left for LLVM to do so.
        w.do(f"br label %{head}{self.loop_end(cold, WRITTEN_OUT if own == GROUP else THREAD_BY_THREAD)}")


def _const(emitter: Emitter, op: Op) -> None:
    """Bind a constant to its literals; a scalar's number is noted in `emitter.constants`, too."""
    (result,), value = op.results, op.attrs[VALUE]
    t = scalar_or_vector_of(result)
    if isinstance(t, Scalar):
        emitter.constants[result] = value
    emitter.bind(result, literals(value, t))


def _tid(emitter: Emitter, op: Op) -> None:
    """Bind the thread's index along the operation's axis."""
    emitter.bind(op.result, [emitter.tids[op.attrs[AXIS]]])


def _row_first(emitter: Emitter, op: Op) -> None:
    """Emit the linear index of the first thread of the current row, as i32."""
    emitter.bind(op.result, [emitter.writer.emit(f"trunc nuw nsw i64 {emitter.row} to i32", "first")])


def _launch_dim(emitter: Emitter, op: Op) -> None:
    """Bind the launch's extent along the operation's axis, as i64."""
    emitter.bind(op.result, [memory.launch_dim(emitter, op.attrs[AXIS])])


def _unavailable(emitter: Emitter, op: Op) -> None:
    """Raise a BuildError with the operation's reason: its value has no meaning here, but is used."""
    raise BuildError(f"A value that has no meaning here is used: {op.attrs[REASON]}.", op.location)


HANDLERS: dict[str, Handler] = {
    "const": _const,
    "tid": _tid,
    "shape": memory.emit_shape,
    "unit_stride": memory.emit_unit_stride,
    "load": memory.emit_load,
    "store": memory.emit_store,
    "atomic_add": emit_change,
    "atomic": emit_change,
    "atomic_load": memory.emit_load,
    "atomic_swap": later("emit.effects.atomics", "emit_swap"),
    "reduce_add": emit_change,
    "cast": emit_cast,
    "vec": emit_vec,
    "extract": emit_extract,
    "insert": emit_insert,
    "launch_dim": _launch_dim,
    "row_first": _row_first,
    "row_length": lambda emitter, op: None,  # computed once
    "fault": later("emit.effects.reports", "emit_fault"),
    "print": later("emit.effects.reports", "emit_print"),
    "floor_quotient": emit_floor_quotient,
    "lead": lambda emitter, op: emitter.bind(op.result, emitter.operands(op.operands[0])),
    "quotient_is": emit_quotient_is,
    "wrap_index": emit_wrap_index,
    "slots": later("emit.slots", "emit_slots"),
    "slot_read": later("emit.slots", "emit_read"),
    "slot_write": later("emit.slots", "emit_write"),
    "slot_matmul": later("emit.tiles.matmul", "emit_matmul"),
    "slot_transpose": later("emit.tiles.transpose", "emit_transpose"),
    "window": later("emit.tiles.matmul", "emit_window"),
    "add_product": later("emit.tiles.matmul", "emit_add_product"),
    "apart": later("emit.tiles.matmul", "emit_disjoint"),
    "unavailable": _unavailable,
    "if": later("emit.structured", "emit_if"),
    "for": later("emit.structured", "emit_for"),
    "while": later("emit.structured", "emit_while"),
}
