"""Loops of independent iterations, such as those over a tile's elements: their iterations run as threads.

Such a loop is a function of its own, called where the loop stands: a launch of one dimension, whose threads are the
iterations. What holds for the threads of a launch holds for them, and the same emitter writes their gangs. The slots of
the thread around are arrays of that function, one for each component; other values from outside are its arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from workbench.backends.base import Options
from workbench.backends.cpu.emit import structured
from workbench.backends.cpu.emit.combine import Part
from workbench.backends.cpu.emit.effects.reports import thread_index
from workbench.backends.cpu.emit.emit_module import PARAMETERS, Division, ModuleEmitter
from workbench.backends.cpu.emit.memory import wide_index
from workbench.backends.cpu.emit.types import register, width
from workbench.backends.cpu.gang.emit_gang import Gangs, gang_plan
from workbench.backends.cpu.gang.width import Shape
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.ir.build import Rewriter, rewrite
from workbench.ir.ops import AXIS, LOOPS, REDUCTION, REPORTS, UPDATES, VALUE, attributes
from workbench.ir.values import Block, Function, Op, Value, definitions, slots_of, walk
from workbench.limits import GANG_REST_LEAST
from workbench.passes.analysis.cost import constants
from workbench.passes.analysis.divergence import Neighbours
from workbench.types import ArrayType, Kind, Scalar, Slots, Vector, element, int32

_OF_LAUNCH = frozenset({"tid", "launch_dim", "row_first"})
"""Operations whose results would be other ones in the function of a loop."""


class Iterations(msgspec.Struct, frozen=True):
    """A loop whose iterations are the threads of a function.

    Attributes:
        function: one iteration; its parameters are those of the function around, then `values` and `arrays`.
        before: operations of the loop that are about the thread around, such as `tid`; it executes them.
        values: the scalars and vectors from outside that it uses.
        arrays: by slots from outside that it uses, the function's array of each component.
        count: the number of iterations; 0: it is not known.
    """

    function: Function
    before: tuple[Op, ...]
    values: tuple[Value, ...]
    arrays: dict[Value, tuple[Value, ...]]
    count: int


def emit_loop(emitter: ModuleEmitter, loop: Op) -> None:
    """Emit a loop of independent iterations: a call of a function that runs them in gangs, or the loop as it is.

    Args:
        emitter: that of the function around, whose block is open.
        loop: a `for`, which may be emitted more than once.
    """
    if loop not in emitter.functions:
        number = len(emitter.functions)
        own = emitter.functions[loop] = _gangs(emitter, loop)
        if own is not None:
            own.unit_strides, own.slotted = emitter.unit_strides, emitter.slotted
            own.share(emitter)
            own.lines = own.definition(f"define internal i32 {emitter.symbol}.loop{number}")
    own = emitter.functions[loop]
    if isinstance(own, IterationGangs):
        own.call_from(emitter, loop)
    else:
        structured.emit_loop(emitter, loop)


def _gangs(emitter: ModuleEmitter, loop: Op) -> IterationGangs | None:
    """Return the emitter of a loop's iterations as gangs; None if it is better emitted as a loop."""
    if _only_moves(loop):
        return None
    iterations, division = _around(emitter.function).iterations(loop), Division(emitter.division.one_core)
    plan = _plan(iterations, emitter.options, emitter.maths, division)
    if plan is None:
        return None
    return IterationGangs(iterations, emitter.options, emitter.maths, emitter.half_instructions, division, *plan)


def _only_moves(loop: Op) -> bool:
    """Return whether a loop only copies scalars, or writes one to all elements: LLVM vectorises that as it stands."""
    (body,) = loop.blocks
    computed = {v for op in body.ops if op.name not in ("load", "slot_read", "const") for v in op.results}
    written = [op.operands[-1] for op in body.ops if op.name in ("store", "slot_write")]
    changed = any(op.blocks or op.name in UPDATES | REPORTS for op in body.ops)
    scalars = all(isinstance(v.type, Scalar) for v in written)
    return scalars and not changed and computed.isdisjoint(written)


def _plan(iterations: Iterations, options: Options, maths: Maths, division: Division) -> tuple[Shape, Function] | None:
    """Return the size of a loop's gangs, and its function as they run it; None if it is better emitted as a loop."""
    if 0 < iterations.count < GANG_REST_LEAST or _has_an_order(iterations.function):
        return None
    tiles = {array for arrays in iterations.arrays.values() for array in arrays}
    plan = gang_plan(iterations.function, options, maths, division, tiles)
    if plan is None:
        return None
    form, of_gangs, _ = plan
    if not iterations.count:
        return form, of_gangs
    widths = tuple(n for n in form.widths if n <= iterations.count) or (1 << (iterations.count.bit_length() - 1),)
    return Shape(widths, min(form.lanes, widths[0])), of_gangs


@lru_cache(maxsize=4)  # for one loop after the other
def _around(function: Function) -> _Around:
    """Return the analysis of a function with loops of independent iterations, cached."""
    return _Around(function)


class _Around:
    """A function with loops of independent iterations.

    Attributes:
        function: in the form in which it is emitted.
        defined: the operation that defines each value.
        uses: how often each value is an operand.
        known: the numbers of its constants.
    """

    def __init__(self, function: Function) -> None:
        self.function, self.defined, self.known = function, definitions(function.body), constants(function.body)
        self.uses = Counter(v for op in walk(function.body) for v in op.operands)

    def iterations(self, loop: Op) -> Iterations:
        """Return a loop, which has a step of 1 and carries nothing, as a function of its own."""
        (body,) = loop.blocks
        inside, defined, params = list(walk(body)), self.defined, self.function.params
        own = {v for op in (loop, *inside) for block in op.blocks for v in block.params}
        own |= {r for op in inside if op.name not in _OF_LAUNCH for r in op.results}
        uses = Counter(v for op in inside for v in op.operands)
        outside = [v for v in uses if v not in own and v not in params]
        copied = [v for v in outside if self._is_copied(v, uses[v])]
        slots = [v for v in outside if v not in copied and isinstance(v.type, Slots)]
        arrays = {v: tuple(_arrays(slots_of(v), f"{v.name}.{n}")) for n, v in enumerate(slots)}
        values = tuple(v for v in outside if v not in copied and v not in arrays)
        start, stop = (self.known.get(v) for v in loop.operands[:2])
        count = max(0, int(stop) - int(start)) if start is not None and stop is not None else 0
        index = Op("tid", (), body.params, attributes({AXIS: 0}), (), loop.location)
        function = Function(
            self.function.name,
            (*params, *values, *(array for parts in arrays.values() for array in parts)),
            Block((), (index, *(defined[v] for v in copied), *body.ops[:-1])),
            launch_ndim=1,
            source=self.function.source,
        )

        def change(_: Rewriter, op: Op) -> Sequence[Op] | None:
            if op.name in _OF_LAUNCH and op is not index:
                return ()
            if op.name in ("slot_read", "slot_write") and op.operands[0] in arrays:
                return list(_accesses(op, arrays[op.operands[0]]))
            return None

        before = tuple(op for op in inside if op.name in _OF_LAUNCH)
        return Iterations(rewrite(function, change), before, values, arrays, count)

    def _is_copied(self, value: Value, uses: int) -> bool:
        """Return whether what defines a value is repeated in the function of a loop, which has it `uses` times.

        That is a constant, or the declaration of slots that nothing else uses: each iteration has its own.
        """
        op = self.defined.get(value)
        return op is not None and (op.name == "const" or (op.name == "slots" and self.uses[value] == uses))


def _arrays(slots: Slots, name: str) -> Iterator[Value]:
    """Yield an array for each component of slots."""
    for k in range(width(slots.dtype)):
        yield Value(ArrayType(element(slots)), f"{name}.{k}")


def _accesses(op: Op, components: tuple[Value, ...]) -> Iterator[Op]:
    """Yield the loads or stores of the arrays that replace an access to slots of these components."""
    index, value = op.operands[1], op.results[0] if op.results else op.operands[2]
    if not isinstance(value.type, Vector):
        stored = () if op.results else (value,)
        yield Op("load" if op.results else "store", (components[0], index, *stored), op.results, location=op.location)
        return
    parts = [Value(element(value.type), value.name) for _ in components]
    for k, (array, part) in enumerate(zip(components, parts, strict=True)):
        if op.results:
            yield Op("load", (array, index), (part,), location=op.location)
        else:
            number = Value(int32)
            yield Op("const", (), (number,), VALUE.of(k), location=op.location)
            yield Op("extract", (value, number), (part,), location=op.location)
            yield Op("store", (array, index, part), location=op.location)
    if op.results:
        yield Op("vec", tuple(parts), op.results, location=op.location)


def _has_an_order(function: Function) -> bool:
    """Return whether iterations have to run one after the other.

    That is so where they print several lines, change what all threads of a launch combine, or add floats in a way in
    which gangs would not keep the order of iterations.
    """
    operations = list(walk(function.body))
    if any(op.attrs.get(REDUCTION) or op.name == "reduce_add" for op in operations):
        return True
    looped = {o for op in operations if op.name in LOOPS for block in op.blocks for o in walk(block)}
    added = [op for op in operations if op.name == "atomic_add" and element(op.operands[-1].type).kind is Kind.FLOAT]
    printed = [op for op in operations if op.name == "print"]
    if len(printed) > 1 or len({op.operands[0] for op in added}) < len(added) or not looped.isdisjoint(printed + added):
        return True
    neighbours = Neighbours(function) if added else None
    return any(neighbours and neighbours.is_uniform(op) for op in added)


class IterationGangs(Gangs):
    """Emits the function of a loop: its iterations as gangs, the rest of them one by one.

    Attributes:
        iterations: the loop.
    """

    around = "%around"

    def __init__(
        self, iterations: Iterations, options: Options, maths: Maths, half_instructions: bool,
        division: Division, form: Shape, of_gangs: Function,
    ) -> None:  # fmt: skip
        """Set up for one loop; see `GangEmitter`."""
        super().__init__(iterations.function, options, maths, half_instructions, division, form, of_gangs)
        self.iterations = iterations
        own = ["i64 %around"]
        for value in iterations.values:
            names = [f"%value{len(own) + k}" for k in range(width(value.type))]
            own += [f"{register(element(value.type))} {name}" for name in names]
            self.bind(value, names)
        for slots, arrays in iterations.arrays.items():
            for array in arrays:
                self.writer.define((array.name, "data"), f"%slots{len(own)}")
                self.writer.define((array.name, "shape", 0), str(slots_of(slots).count))
                self.writer.define((array.name, "stride", 0), str(element(slots.type).size))
                own.append(f"ptr %slots{len(own)}")
        self.parameters = ", ".join((PARAMETERS, *own))

    def call_from(self, emitter: ModuleEmitter, loop: Op) -> None:
        """Emit a call of the loop's function.

        Args:
            emitter: that of the function around, whose block is open.
            loop: the loop.
        """
        w, own = emitter.writer, self.iterations
        ends = [f"i64 {wide_index(emitter, v)}" for v in loop.operands[:2]]
        emitter.block(Block((), own.before))
        passed = ["ptr %params", *ends, "ptr %fault", "ptr %stop", "ptr %sums", f"i64 {thread_index(emitter)}"]
        for value in own.values:
            passed += [f"{register(element(value.type))} {operand}" for operand in emitter.operands(value)]
        for slots in own.arrays:
            passed += [f"ptr {operand}" for operand in emitter.operands(slots)]
        status = w.emit(f"call i32 {self.symbol}({', '.join(passed)})")
        if any("label %stopped" in line for line in self.lines):
            on = w.block_name("on")
            w.branch(w.emit(f"icmp eq i32 {status}, 0"), on, "stopped")
            w.open(on)

    def _loop(self, kind: str, part: Part, body: Block, own: str = "", cold: bool = False) -> None:
        """Emit loops over full gangs, and what then is left of the iterations, if any are."""
        count = self.iterations.count
        if not count or cold:
            super()._loop(kind, part, body, own, cold)
            return
        widths = list(self.shape.widths)
        left = count % widths[-1]
        masked = left >= GANG_REST_LEAST and self._is_good_under_mask()
        while not masked and left >= GANG_REST_LEAST:
            widths.append(1 << (left.bit_length() - 1))
            left -= widths[-1]
        for threads in widths:
            if threads <= count:
                part = self._gangs(kind, part, body, threads)
        if masked:
            part = self._rest(kind, part, body)
        if left and not masked:
            ModuleEmitter._loop(self, kind, part, body, own, cold=True)
        else:
            self.writer.jump(part.after)
