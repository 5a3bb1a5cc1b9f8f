"""Scalar expansion: what several loops compute alike is computed by the first, and read by those behind it.

Softmax takes the exponential of each element to sum them up, and again to divide them by the sum; its adjoint does so
twice more. Where loops of a block count through one range, a function call or an inner loop that gives the same number
in turn k of each is evaluated once. Slots hold it in between, as many as a row of some length needs; for longer rows,
and where arrays share memory with one that is changed on the way, the loops stand as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from workbench.builtins import TABLE
from workbench.ir.analysis import Analysis
from workbench.ir.build import Builder, copy_op, map_blocks, replace_body
from workbench.ir.ops import EFFECTS, LOADS, OPAQUE, PURE, SCALAR, TILED, Number
from workbench.ir.values import Block, Function, Op, Value, definitions, walk
from workbench.limits import EXPANDED_BYTES, GANG_DISTINCT_ARRAYS, RECOMPUTED_ITERATIONS
from workbench.passes.analysis.cost import constants, known_trips
from workbench.passes.analysis.divergence import varying_values
from workbench.passes.dce import prune
from workbench.types import Scalar, int32
from workbench.types import bool as bool_

_COSTLY = frozenset(
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p pow cbrt "
    "erf erfc erfinv erfcinv for".split()
)
"""Operations that take longer than an access to memory in the cache."""


def expand_scalars(function: Function) -> Function:
    """Return the function with costly values that several loops compute alike stored in slots by the first of them.

    It is the function itself if there are none.
    """
    if function.block_dim or not function.launch_ndim:
        return function
    if [op.name for op in walk(function.body)].count("for") < 2:
        return function
    expansion = _Expansion(function)
    body = expansion.block(function.body)
    slots = expansion.slots.body().ops
    return prune(replace_body(function, Block(body.params, (*slots, *body.ops)))) if slots else function


class _Numbers:
    """Value numbers of what loops compute: equal numbers mean equal values, computed from the same values and elements.

    A parameter of a block is known by its position, so that the counters of all the loops have one number.
    """

    def __init__(self, changed: Iterable[Value], constants: Mapping[Value, Op]) -> None:
        """Start with the constants alone, by value; elements of the arrays `changed` get no number."""
        self.changed = set(changed)
        self.defining = dict(constants)
        self.numbers: dict[object, int] = {}
        self.known: dict[Value, int | None] = {}
        self.depth = 0

    def add(self, loop: Op) -> None:
        """Add a loop, whose values can then be numbered."""
        counter, *carried = loop.blocks[0].params
        self.defining |= definitions(loop.blocks[0])
        self.known |= dict.fromkeys(carried)
        self.known[counter] = self._number("counter")

    def of(self, value: Value) -> int | None:
        """Return the number of a value; None if it has none.

        That is so if it depends on what a loop carries, on an effect, or on elements that are changed.
        """
        if value not in self.known:
            op = self.defining.get(value)
            self.known[value] = self._number(value) if op is None else self._of(op, value)
        return self.known[value]

    def _number(self, computation: object) -> int:
        """Return the number of a computation: that of an equal one, or the next number."""
        return self.numbers.setdefault(computation, len(self.numbers))

    def _of(self, op: Op, value: Value) -> int | None:
        """Return the number of an operation's result.

        It is None if the operation has effects or loads from `changed`, or if an operand has no number.
        """
        if not _is_free(op) or (op.name in LOADS and op.operands[0] in self.changed):
            return None
        parts = [self.of(v) for v in op.operands]
        self.depth += 1
        for block in op.blocks:
            for position, param in enumerate(block.params):
                self.known[param] = self._number(("parameter", self.depth, position))
            parts += [self.of(v) for v in block.yielded]
        self.depth -= 1
        attrs = repr(sorted(op.attrs.items(), key=repr))
        return None if None in parts else self._number((op.name, value.type, attrs, *parts, op.results.index(value)))


def _is_costly(op: Op, known: Mapping[Value, Number]) -> bool:
    """Return whether computing an operation's results again takes longer than reading them from slots.

    A loop of few known iterations that calls no function is written out by LLVM, and what it reads for the thread
    leaves the loop around it: not so if that writes to slots, or if there are too many iterations for the registers.

    Args:
        op: the operation.
        known: the function's constants.
    """
    if op.name != "for":
        return op.name in _COSTLY
    trips = known_trips(op, known)
    return trips is None or trips > RECOMPUTED_ITERATIONS or not _COSTLY.isdisjoint(op.blocks[0].op_names)


def _is_free(op: Op) -> bool:
    """Return whether an operation, with those in its blocks, only computes or loads."""
    bare = op.name in PURE or op.name in TABLE or op.name in LOADS or op.name in ("for", "if", "yield")
    return bare and all(_is_free(inner) for block in op.blocks for inner in block.ops)


def _used(op: Op) -> Iterable[Value]:
    """Yield the operands of an operation, and of those in its blocks."""
    yield from op.operands
    for block in op.blocks:
        for inner in walk(block):
            yield from inner.operands


class _Loop(msgspec.Struct):
    """A loop of a group whose values are shared.

    Attributes:
        op: the `for`.
        reads: the numbers of values that an earlier loop has computed, by value.
        computes: values that it computes itself, by number.
    """

    op: Op
    reads: dict[Value, int] = msgspec.field(default_factory=dict[Value, int])
    computes: dict[int, Value] = msgspec.field(default_factory=dict[int, Value])

    def study(self, numbers: _Numbers, known: Mapping[Value, Number], computed: dict[int, Value]) -> None:
        """Find the values that the loop can read from earlier ones, and those that it computes for later ones.

        Args:
            numbers: of all values.
            known: the function's constants.
            computed: by number, the values that earlier loops compute; receives this loop's.
        """
        (body,) = self.op.blocks
        defining = {v: op for op in body.ops for v in op.results}
        pending = [v for op in body.ops if op.name == "yield" or not _is_free(op) for v in _used(op)]
        seen = set[Op]()
        while pending:
            op = defining.get(pending.pop())
            if op is None or op in seen:
                continue
            seen.add(op)
            costly = _is_costly(op, known) and all(isinstance(v.type, Scalar) for v in op.results)
            results = {v: number for v in op.results if costly and (number := numbers.of(v)) is not None}
            if results and computed.keys() >= set(results.values()):
                self.reads |= results
                continue
            for value, number in results.items():
                self.computes.setdefault(number, value)
            pending += _used(op)
        computed |= {number: value for number, value in self.computes.items() if number not in computed}

    def rewritten(self, held: Mapping[int, Value], computed: Mapping[int, Value]) -> Op:
        """Return the loop that reads and writes values in slots.

        Args:
            held: the slots, by number of a value.
            computed: the value that is written to them, by number.
        """
        (body,) = self.op.blocks
        counter = body.params[0]
        writes = {computed[number]: slots for number, slots in held.items() if number in self.computes}
        b = Builder()
        for op in body.ops:
            b.location = op.location
            if not self.reads.keys().isdisjoint(op.results):
                for value in op.results:
                    b.append(Op("slot_read", (held[self.reads[value]], counter), (value,), {}, (), op.location))
                continue
            b.append(op)
            for value in op.results:
                if value in writes:
                    b.slot_write(writes[value], counter, value)
        return self.op.replace(blocks=(Block(body.params, b.body().ops),))


class _Expansion:
    """Rewrites blocks so that costly values that several loops compute alike are in slots.

    Attributes:
        slots: has the operations that declare the slots, which go before the function's own.
        analysis: of the function's values.
        constants: the operations of the function's constants, by value.
        known: their numbers.
        varying: the values that differ between threads.
    """

    def __init__(self, function: Function) -> None:
        self.slots = Builder()
        self.analysis = Analysis(function)
        self.constants = {v: op for v, op in self.analysis.defs.items() if op.name == "const"}
        self.known = constants(function.body)
        self.varying = varying_values(function)

    def block(self, block: Block) -> Block:
        """Return the block with values of its loops, or of loops inside these, in slots."""
        groups: dict[object, list[Op]] = {}
        for op in block.ops:
            range_ = self.range_of(op)
            if range_ is not None:
                groups.setdefault(range_, []).append(op)
        group = max(groups.values(), key=len, default=list[Op]())
        region = block.ops[block.ops.index(group[0]) : block.ops.index(group[-1]) + 1] if len(group) > 1 else ()
        ops = self.expanded(block, region, group) if region else None
        return Block(block.params, ops or tuple(map_blocks(op, self.block) for op in block.ops))

    def range_of(self, op: Op) -> object:
        """Return a key that is equal for loops through the same range.

        The range is 0, 1, … below a number that is the same in all threads, up or down. None for other loops and
        operations.
        """
        if op.name != "for" or op.attrs.get(SCALAR) or op.blocks[0].params[0].type != int32:
            return None
        first, last, step = (self.analysis.form(v) for v in op.operands[:3])
        if step.terms or abs(step.constant) != 1 or not self.varying.isdisjoint(op.operands[:2]):
            return None
        if step.constant < 0:
            first, last = last.plus(step, -1), first.plus(step, -1)
        return None if first.terms or first.constant else (last.constant, frozenset(last.terms.items()))

    def expanded(self, block: Block, region: tuple[Op, ...], group: Sequence[Op]) -> tuple[Op, ...] | None:
        """Return the block's operations with shared values of a group of loops in slots.

        None if there are no such values, the region has effects that are not known, or too many arrays might overlap.

        Args:
            block: the block.
            region: its operations from the first to the last loop of the group.
            group: loops through one range.
        """
        between = [inner for op in region for inner in (op, *(o for b in op.blocks for o in walk(b)))]
        changed = dict.fromkeys(op.operands[0] for op in between if op.name in EFFECTS)
        if any(op.name in OPAQUE or op.name in TILED for op in between):
            return None
        numbers, computed = _Numbers(changed, self.constants), dict[int, Value]()
        loops = [_Loop(op) for op in group]
        for loop in loops:
            numbers.add(loop.op)
            loop.study(numbers, self.known, computed)
        wanted = sorted({number for loop in loops for number in loop.reads.values()})
        loaded = dict.fromkeys(array for number in wanted for array in _arrays_read(computed[number], numbers.defining))
        pairs = [(a, b) for a in loaded for b in changed]
        if not wanted or len(pairs) > GANG_DISTINCT_ARRAYS:
            return None
        kinds = [value.type for number in wanted if isinstance((value := computed[number]).type, Scalar)]
        most = min(EXPANDED_BYTES // kind.size for kind in kinds)
        held = {number: self.slots.slots(kind, most) for number, kind in zip(wanted, kinds, strict=True)}
        instead = {loop.op: loop.rewritten(held, computed) for loop in loops}
        behind = block.ops[block.ops.index(region[-1]) + 1 :]
        after = {v for op in behind for v in _used(op)}
        results = tuple(v for op in region for v in op.results if v in after)
        sides = tuple(_copied(ops, results) for ops in ([instead.get(op, op) for op in region], region))
        b = Builder()
        b.location = region[0].location
        fits = self.fits(b, group[0], most)
        for pair in pairs:
            fits = b.one("bit_and", (fits, b.one("apart", pair, bool_)), bool_)
        b.append(Op("if", (fits,), results, {}, sides, b.location))
        return (*block.ops[: block.ops.index(region[0])], *b.body().ops, *behind)

    def fits(self, b: Builder, loop: Op, most: int) -> Value:
        """Emit the test whether a loop has no more than `most` iterations, as many as there are slots."""
        first, last, step = loop.operands[:3]
        if self.analysis.form(step).constant > 0:
            return b.one("le", (last, b.const(most)), bool_)
        return b.one("lt", (first, b.const(most)), bool_)


def _arrays_read(value: Value, defining: Mapping[Value, Op]) -> Iterable[Value]:
    """Yield the arrays from whose elements a value is computed; one may come twice."""
    pending, seen = [value], set[Value]()
    while pending:
        op = defining.get(pending.pop())
        if op is None or op.results[0] in seen:
            continue
        seen.add(op.results[0])
        for inner in (op, *(o for block in op.blocks for o in walk(block))):
            if inner.name in LOADS:
                yield inner.operands[0]
        pending += _used(op)


def _copied(ops: Sequence[Op], results: Sequence[Value]) -> Block:
    """Return a block with copies of operations, which yields the copies of `results`."""
    mapping: dict[Value, Value] = {}
    copies = [copy_op(op, mapping) for op in ops]
    return Block((), (*copies, Op("yield", tuple(mapping[v] for v in results))))
