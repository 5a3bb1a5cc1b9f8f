"""A function's module with gangs: the loops over full gangs, and the table of what emits an operation of one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from workbench.backends.base import Options
from workbench.backends.cpu.emit.combine import GROUP, Combining, Part
from workbench.backends.cpu.emit.elementwise import emit_quotient_is
from workbench.backends.cpu.emit.emit_module import (
    BORDER,
    HANDLERS,
    Division,
    Module,
    ModuleEmitter,
    RowLoop,
    checked,
    divided,
    prepared,
)
from workbench.backends.cpu.emit.emitter import Handler, later
from workbench.backends.cpu.gang import memory
from workbench.backends.cpu.gang.emitter import GangEmitter, each_lane
from workbench.backends.cpu.gang.sums import begin_gang, emit_change, emit_slot_total, end_gang
from workbench.backends.cpu.gang.width import MASKED, NARROW, Shape, obstacle, of_rows, shape, shuffles, transposes
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.backends.llvm.values import vector
from workbench.deep import with_deep_stack
from workbench.ir.build import Builder, Tested, replace_body
from workbench.ir.ops import ACCESSES, AXIS, ELEMENTS, LOOPS, OPAQUE, ROWS, TILED, UPDATES
from workbench.ir.values import Block, Function, Op, Value, array_of, dtype_of, walk
from workbench.limits import GANG_LANES, GANG_REST_LEAST, GANG_TWICE_OPERATIONS
from workbench.passes.analysis.divergence import Neighbours, sum_order
from workbench.passes.checks.bounds_checks import versions_of
from workbench.passes.loops.dimensions import collapsed, interchanged
from workbench.passes.loops.forms import transposed, unit_strides
from workbench.passes.loops.peeling import Peeled, peeled_parts
from workbench.passes.loops.quotients import shared_quotients
from workbench.passes.memory.atomics import by_index
from workbench.types import Kind, element
from workbench.types import bool as bool_

if TYPE_CHECKING:
    from workbench.passes.loops.panels import Paneled


@with_deep_stack
def emit_function(function: Function, options: Options, maths: Maths, half_instructions: bool) -> Module:
    """Return a function's module: with gangs, or thread by thread if the function does not suit them.

    Args:
        function: the function.
        options: how it is built.
        maths: the vectorised maths functions, and vectors, that it may use.
        half_instructions: float16 is converted by the machine's own instructions.

    Raises:
        BuildError: it has an operation that cannot be expressed in LLVM IR.
    """
    division, form = divided(function, options), checked(function, options)
    emitter = partial(_emitter, options=options, maths=maths, half_instructions=half_instructions, division=division)
    versions, tests = versions_of(form), dict[str, tuple[Function, ModuleEmitter | None]]()
    if versions is not None:
        form = versions.quick
        tests["careful"] = versions.choice, None if options.quick else emitter(versions.careful)
    if (columns := _by_columns(form, options, division)) is not None:
        test, along = columns[0], emitter(columns[1])
        along.unit_strides = _adjacent(test)
        tests["rows"] = test, along
    for name, other in _forms(form, options, division):
        if other.test is not None:
            tests[name] = other.test, emitter(form)
        form = other.function
    quick = emitter(form)
    if not options.contiguous and (test := unit_strides(form)) is not None:
        tests["strided"] = test, emitter(form)
        quick.unit_strides = _adjacent(test)
    return quick.versions(tests) if tests else quick.module()


def _adjacent(test: Function) -> frozenset[Value]:
    """Return the arrays of which a function tests whether the elements of rows are adjacent."""
    return frozenset(op.operands[0] for op in test.body.ops if op.name == "unit_stride")


def _forms(function: Function, options: Options, division: Division) -> Iterator[tuple[str, Tested]]:
    """Yield the forms of a function, each made from the one before it, by the name of that for other launches.

    One that must run on one core, where the function need not, is left out.
    """
    for name, rewritten in _FORMS.items():
        other = rewritten(function, options.contiguous)
        if other is not None and (division.one_core or not divided(other.function, options).one_core):
            yield name, other
            function = other.function


def _by_columns(function: Function, options: Options, division: Division) -> tuple[Function, Function] | None:
    """Return a function's form for arrays whose columns have no gaps, behind a test that fails if it may run.

    None if its arrays are dense, or have one dimension, or if it accesses more than single elements.
    """
    arrays = [op.operands[0] for op in walk(function.body) if op.name in ELEMENTS]
    names = function.body.op_names
    if options.contiguous or not names.isdisjoint(TILED | OPAQUE) or all(array_of(a).ndim < 2 for a in arrays):
        return None
    form, tests = transposed(function), list[Function]()
    for _, other in _forms(form, options, division):
        form = other.function
        tests += [other.test] if other.test is not None else []
    test = unit_strides(form)
    if test is None or all(array_of(a).ndim < 2 for a in _adjacent(test)):
        return None
    b, holds = Builder(), list[Value]()
    for one in (*tests, test):
        *before, end = transposed(one).body.ops
        b.extend(before)
        holds += end.operands
    b.yield_(b.one("not_", (reduce(lambda x, y: b.one("and_", (x, y), bool_), holds),), bool_))
    return replace_body(function, b.body()), form


def _emitter(
    function: Function, options: Options, maths: Maths, half_instructions: bool, division: Division
) -> ModuleEmitter:
    """Return the emitter that suits a function, which has its checks."""
    if function.axes:
        division = Division(division.one_core, sum_order(function))
    in_order = options.ordered and _adds_floats(function)
    # Without such an instruction, loads by index and additions go thread by thread as well as lane by lane.
    gathered = by_index(walk(function.body))
    last = division.one_core and not (gathered and (division.order.is_fixed or not maths.gathers))
    lowered = prepared(
        function, options, division, defer_atomics=last and not in_order, peel_boundaries=not transposes(function)
    )
    if not in_order and (plan := gang_plan(lowered, options, maths, division)):
        own = replace(maths, gathers=maths.gathers and not shuffles(lowered))
        emitter = Gangs(lowered, options, own, half_instructions, division, *plan)
        if not (emitter.combining and _fills_registers(emitter.combining, division, maths)):
            return emitter
    emitter = ModuleEmitter(lowered, options, maths, half_instructions, division)
    emitter.separate = _SEPARATE if function.block_dim else None
    return emitter


_SEPARATE = later("gang.iterations", "emit_loop")


def _in_registers(function: Function, dense: bool) -> Tested | None:
    """Return what `promote.in_registers` returns, which most first kernels do not need."""
    if function.body.op_names.isdisjoint(LOOPS):
        return None
    from workbench.autodiff.promote import in_registers

    return in_registers(function, dense)


_FORMS: dict[str, Callable[[Function, bool], Tested | None]] = {
    "apart": collapsed,
    "shared": _in_registers,
    "narrow": interchanged,
}
"""Rewritings of a function whose arrays are dense or not, by the name of the function for other launches."""


def gang_plan(
    lowered: Function, options: Options, maths: Maths, division: Division, own: Collection[Value] = ()
) -> tuple[Shape, Function, Paneled | None] | None:
    """Return how a function runs in gangs; None if threads run one by one.

    Args:
        lowered: the function, in the form in which it is emitted.
        options: how it is built.
        maths: the vectorised maths functions, and vectors, that it may use.
        division: how launches are divided among cores.
        own: arrays in which no thread reads what another one writes.

    Returns:
        The size of gangs, the function as those of one row run it, and as those of several rows do, if there are any.
    """
    of_gangs, form, rows = lowered, shape(lowered, maths, division), None
    # What rows of threads share counts for more than rows of their own.
    if options.contiguous and form.rows == 1 and "for" in lowered.body.op_names:
        from workbench.passes.loops.row_strips import with_strips

        of_gangs = with_strips(lowered, division.one_core)
        form = shape(of_gangs, maths, division)
    divided = shared_quotients(of_gangs)
    if divided is not of_gangs:
        of_gangs, form = divided, replace(form, rows=1, row_threads=0)
    if form.rows > 1:
        from workbench.passes.loops.panels import with_panels

        inside = of_rows(of_gangs)
        rows = inside and with_panels(inside)
    return None if obstacle(of_gangs, options.contiguous, maths.gathers, own) else (form, of_gangs, rows)


def _adds_floats(function: Function) -> bool:
    """Return whether threads add floats to elements with `atomic_add`.

    Gangs first add up the terms of lanes that share an element, so the order of the sum differs from that of threads.
    """
    updates = (op for op in walk(function.body) if op.name == "atomic_add")
    return any(element(op.operands[-1].type).kind is Kind.FLOAT for op in updates)


def _fills_registers(combining: Combining, division: Division, maths: Maths) -> bool:
    """Return whether the lanes of combined sums would take too many registers; LLVM then goes through the stack.

    It is always false where the order of sums is fixed, which must not depend on the target.
    """
    if division.order.is_fixed:
        return False
    size = sum(8 if r.register == "double" else 4 for r, _ in combining.parts) * combining.size
    registers = 32 if maths.bits > MASKED else 16
    return combining.grouped and 8 * size > maths.filled * registers * 3 // 4


class Gangs(GangEmitter):
    """Emits a function's entry for gangs: before each loop over threads, a loop over full gangs."""

    gangs = True

    def fault_owner(self) -> str:
        """Return the address on the stack of the thread for which this call wrote the fault record; -1: for none."""
        known = self.writer.once(("gang", "fault"), "alloca i64", "owner")
        clear = f"  store i64 -1, ptr {known}"
        if clear not in self.writer.head:
            self.writer.head.append(clear)
        return known

    def _loop(self, kind: str, part: Part, body: Block, own: str = "", cold: bool = False) -> None:
        """Emit loops over full gangs, from the widest on, then one over the threads that are left.

        Args:
            kind: LLVM type of the threads' numbers.
            part: bounds and labels of the loop.
            body: what a thread does.
            own: suffix of its labels, where the entry has another such loop.
            cold: it seldom runs: there are no gangs.
        """
        if cold:
            super()._loop(kind, part, body, own, cold)
            return
        if own == GROUP and self.combining:
            self._one_group(kind, part, body, self.combining)
            return
        self.at_border = own == BORDER and body.op_names.isdisjoint(LOOPS)
        for count in self.shape.widths:
            part = self._gangs(kind, part, body, count)
        if self._has_rests():
            part = self._rest(kind, part, body)
        self.at_border = False
        super()._loop(kind, part, body, own, cold=True)

    def border_lanes(self, split: Peeled) -> int:
        """Return how many threads at a border run side by side: a gang in code without loops, which loads little.

        It is 1 in other code, where masks are costly, in launches of one dimension, and in flattened ones, which divide
        there.
        """
        straight = split.border.op_names.isdisjoint(LOOPS) and not split.once and self.function.launch_ndim > 1
        return self.shape.widths[-1] if straight and self._is_good_under_mask() else 1

    def _is_good_under_mask(self) -> bool:
        """Return whether masks are cheap here: vectors are wide, elements have at least 4 bytes, and nothing is atomic.

        With atomic additions the order of a sum would depend on how threads form gangs.
        """
        operations = list(walk(self.of_gangs.body))
        sizes = {element(dtype_of(op.operands[0])).size for op in operations if op.name in ACCESSES}
        added = any(op.name in UPDATES for op in operations)
        return self.maths.bits > NARROW and min(sizes, default=4) >= 4 and not added

    def inside(self, kind: str, part: Part, split: Peeled) -> None:
        """Emit the threads that are not at a border: as full gangs alone, if those at it form gangs, too."""
        if self.border_lanes(split) == 1:
            super().inside(kind, part, split)
            return
        for count in self.shape.widths:
            part = self._gangs(kind, part, split.inside, count)
        self.writer.jump(part.after)

    def _has_rests(self) -> bool:
        """Return whether the threads left of a row are worth running as one gang under a mask.

        Not so in long functions, and where masks are costly. Otherwise it is so in launches of several dimensions, and
        in loops whose accesses lie side by side across threads: others are faster with LLVM's vectors of one thread's
        iterations.
        """
        operations = list(walk(self.of_gangs.body))
        if len(operations) > GANG_TWICE_OPERATIONS or not self._is_good_under_mask():
            return False
        inside = [op for loop in operations if loop.name in LOOPS for op in walk(loop.blocks[-1])]
        if self.function.launch_ndim > 1 or not inside:
            return self.function.launch_ndim > 1
        neighbours = Neighbours(self.of_gangs)
        return all(neighbours.is_contiguous(op) if op.name in ACCESSES else op.name not in ROWS for op in inside)

    def _rest(self, kind: str, part: Part, body: Block) -> Part:
        """Emit a gang under a mask for the threads that are left, if they are at least GANG_REST_LEAST.

        Returns:
            The threads that are then left: none behind such a gang.
        """
        count = self.shape.widths[-1]
        self.begin_parts(count)
        w, wide = self.writer, vector(kind, self.width)
        left = w.emit(f"sub nsw {kind} {part.end}, {part.first}", "left")
        inside, after = w.block_name("rest"), w.block_name("rest.end")
        before = w.label
        w.branch(w.emit(f"icmp sge {kind} {left}, {GANG_REST_LEAST}", "several"), inside, after)
        w.open(inside)
        lefts = self.spread(left, kind)
        for _ in self.each_part():
            flags = w.emit(f"icmp slt {wide} {self.lane_numbers(kind, first=self.first_lane)}, {lefts}")
            self.mask = self.as_mask(flags)
        self.gang(body, part.first)
        end = w.label
        w.jump(after)
        w.open(after)
        first = w.emit(f"phi {kind} [ {part.first}, %{before} ], [ {part.end}, %{end} ]", "first")
        return Part(first, part.end, after, part.after)

    def _one_group(self, kind: str, part: Part, body: Block, combining: Combining) -> None:
        """Emit one group of threads, as many as combined sums have lanes, without a loop.

        So the buffer of their results is registers. Sums in float64 have parts of no more threads than a register holds
        float64: to take wider vectors apart costs as much as the sums.
        """
        doubles = any(r.register == "double" for r, _ in combining.parts)
        threads = min(combining.size, GANG_LANES)
        self.begin_parts(threads, self.maths.bits // 64 if doubles else self.shape.lanes)
        for k in range(0, combining.size, threads):
            self.gang(body, self.writer.emit(f"add nsw {kind} {part.first}, {k}", "gang"))
        self.writer.jump(part.after)

    def _gangs(self, kind: str, part: Part, body: Block, count: int) -> Part:
        """Emit a loop over full gangs of `count` threads; return the threads that are left."""
        self.begin_parts(count)
        w = self.writer
        head, inside, after = (w.block_name(hint) for hint in ("gangs", "gang", "gangs.end"))
        # A part without threads may end before it begins.
        some = w.emit(f"sub nsw {kind} {part.end}, {part.first}")
        some = w.call(kind, f"llvm.smax.{kind}", f"{kind} {some}", f"{kind} 0")
        end = w.emit(f"add nsw {kind} {part.first}, {w.emit(f'and {kind} {some}, {-count}')}", "gangs")
        before = w.label
        w.jump(head)
        w.open(head)
        first, row, number, number_row = w.name("gang"), w.reserve(), w.name("number"), w.reserve()
        w.branch(w.emit(f"icmp slt {kind} {first}, {end}", "more"), inside, after)
        w.open(inside)
        self.gang(body, first)
        if self.strips.threads:
            from workbench.backends.cpu.emit.effects.look import look_seldom

            look_seldom(self, kind, number, max(1, self.strips.threads // count), thread=True)
        following, counted = w.emit(f"add nsw {kind} {first}, {count}"), w.emit(f"add nsw {kind} {number}, 1")
        w.fill(row, first, f"phi {kind} [ {part.first}, %{before} ], [ {following}, %{w.label} ]")
        w.fill(number_row, number, f"phi {kind} [ 0, %{before} ], [ {counted}, %{w.label} ]")
        w.do(f"br label %{head}{self.loop_end(wishes=(('unroll.disable', ''),))}")
        w.open(after)
        return Part(end, part.end, after, part.after)

    def begin_rows(self, extent: str, begin: str) -> str:
        """Emit gangs that run across thin rows, if the function suits them; return the first thread that is left."""
        from workbench.backends.cpu.gang.rows import Thin

        thin = Thin(self)
        pays = thin.pays() and (thin.split is None or self._is_good_under_mask())
        return thin.emit(extent, begin) if pays else super().begin_rows(extent, begin)

    @property
    def grouped_rows(self) -> int:
        """Return how many rows run together, and so on one core."""
        return self.shape.rows

    def row_gangs(self, extent: str) -> RowLoop | None:
        """Return what emits gangs that span several rows; None if this function has none."""
        if self.shape.rows == 1:
            return None
        from workbench.backends.cpu.gang.rows import RowGangs

        return RowGangs(self, extent, self.part_of_gang)

    def gang(self, body: Block, first: str) -> None:
        """Emit one gang.

        Args:
            body: what a thread does.
            first: the register with the index of its first thread.
        """
        if self.combining:
            begin_gang(self, self.combining)
        self.part_of_gang(self._of_gangs(body), first)
        if self.combining:
            end_gang(self, self.combining)
        self.gang_over()

    def part_of_gang(self, block: Block, first: str) -> None:
        """Emit a block for the gang whose first thread has the index in the register `first`."""
        self.in_gang = True
        self.thread, self.tids = first, (*self.tids[:-1], first)
        running = self.of_rows.function if self.of_rows and self.rows > 1 else self.of_gangs
        threads, self.strips = self.strips, self.gang_strips[running]
        self.block(block)
        self.strips = threads

    def _of_gangs(self, body: Block) -> Block:
        """Return the body that gangs run where single threads run `body`."""
        if body is self.function.body:
            return self.of_gangs.body
        split, other = peeled_parts(self.function), peeled_parts(self.of_gangs)
        assert split and other
        side = other.inside if body is split.inside else other.border
        # Slots that hold a strip of a row are in front of the split: both sides use them.
        held = (op for op in self.of_gangs.body.ops if op.name == "slots")
        return Block(side.params, (*held, *side.ops))

    @property
    def rules(self) -> Mapping[str, Callable[[Any, Op], None]]:
        """Return the handlers of operations for which gangs have their own, by name."""
        return RULES


def _tid(emitter: GangEmitter, op: Op) -> None:
    """Bind the threads' index along the operation's axis: linear along the last axis, else a scalar of each row.

    In gangs of thin rows it is a vector along each axis.
    """
    axis = emitter.function.launch_ndim - 1 - op.attrs[AXIS]
    if emitter.flat:
        for part in emitter.each_part():
            emitter.vectors[op.result] = (emitter.indices[op.attrs[AXIS]][part],)
        return
    if axis == 1 and emitter.rows > 1:
        for row in emitter.each_row():
            emitter.bind(op.result, [emitter.writer.emit(f"add nsw i32 {emitter.tids[-2]}, {row}", op.result.name)])
        return
    if axis:
        HANDLERS["tid"](emitter, op)
        return
    emitter.exact.add(op.result)
    emitter.bind_linear(op.result, emitter.tids[-1], 1)
    emitter.note_whole(op.result, emitter.writer.emit(f"sext i32 {emitter.tids[-1]} to i64", op.result.name))


def _lead(emitter: GangEmitter, op: Op) -> None:
    """Bind a linear value of the gang's first thread that is on; of another value, any number."""
    (value,), w = op.operands, emitter.writer
    step = emitter.steps.get(value)
    if step is None:
        emitter.bind(op.result, emitter.scalars(value) or ["0"])
        return
    first, bits, kind = emitter.uniform(value), emitter.all_bits(), f"i{emitter.width * emitter.parts}"
    if bits != "-1":
        lane = emitter.typed(bits, kind, 0).intrinsic("cttz", more="i1 false").text
        lane = w.emit(f"trunc i64 {lane if kind == 'i64' else w.emit(f'zext {kind} {lane} to i64')} to i32")
        first = w.emit(f"add i32 {first}, {w.emit(f'mul i32 {lane}, {step}')}")
    emitter.bind(op.result, [first])


def _quotient_is(emitter: GangEmitter, op: Op) -> None:
    """Emit whether all threads of a gang have a quotient of linear numbers that do not wrap; of others, False."""
    step = emitter.steps.get(op.operands[0])
    if step is None:
        emitter.bind(op.result, ["false"])
    else:
        emit_quotient_is(emitter, op, step * (emitter.width * emitter.row_parts - 1))


RULES: Mapping[str, Handler] = {
    "tid": _tid,
    "lead": _lead,
    "quotient_is": _quotient_is,
    "load": memory.emit_load,
    "store": memory.emit_store,
    "atomic_add": emit_change,
    "atomic": emit_change,
    "reduce_add": emit_change,
    **dict.fromkeys(("fault", "print"), each_lane),
    **dict.fromkeys(ROWS, later("gang.transposed", "emit_row")),
    "slot_total": emit_slot_total,
    "row_total": later("gang.transposed", "emit_total"),
    "slots": later("gang.slots", "emit_slots"),
    "slot_read": later("gang.slots", "emit_read"),
    "slot_write": later("gang.slots", "emit_write"),
    "if": later("gang.control", "emit_if"),
    "for": later("gang.control", "emit_for"),
    "while": later("gang.control", "emit_while"),
}
