"""A function in its checked forms: accesses in bounds, finite results, stores that threads share.

**Bounds.** What would go wrong is skipped and reported, and the launch goes on. Every access whose index may be out of
range stands in an `if`; a load that is skipped gives 0. A tile that reaches out of an array, though the kernel says
that it does not, is loaded and stored as far as it is inside. Divisions and shifts are defined for all operands anyway,
so these only report. A report is the operation `fault` with the number that the guarded operation has in the function
as it was (`ir.values.number_ops`), never with a line: code from a cache reports at the line where its operation stands
now.

**Finite results.** A NaN or an infinity that goes into an array is a fault of its thread. Built with these checks and
run on copies, a launch says which of its threads writes the first one; the interpreter then follows that thread
(`api/diagnosis/find_nan.py`). A constant is what the user wrote: it may be infinite.

**Shared stores.** If each thread stores a value of its own at one place for all threads, which of them stays is left to
chance. Only what is sure is reported: nothing under a condition that differs between threads, which may leave one of
them, and no index that comes from memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import msgspec
import numpy as np

from workbench.ir import ops
from workbench.ir.build import Builder, Rewriter, copy_block, replace_body, rewrite
from workbench.ir.ops import (
    AXES,
    AXIS,
    BOUNDS,
    EFFECTS,
    ELEMENTS,
    NUMBER,
    REGIONS,
    TILE_PARTS,
    TILED,
    VALUE,
    VERSIONS,
    Number,
)
from workbench.ir.tiles import tile_of
from workbench.ir.values import (
    Block,
    Function,
    Op,
    Value,
    array_of,
    definitions,
    indices_of,
    number_of,
    number_ops,
    walk,
)
from workbench.limits import REPORTED_INDICES
from workbench.passes.analysis.intervals import Intervals, Scopes
from workbench.passes.dce import prune
from workbench.tiles import Tile
from workbench.types import (
    ArrayType,
    Scalar,
    Type,
    Vector,
    element,
    float64,
    int64,
    is_float,
    is_integer,
    uint32,
    uint64,
)
from workbench.types import bool as bool_

# Builtins: a failed assert reports the operands of a comparison; divisions and shifts are themselves checked.
COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
DIVISIONS = frozenset({"floordiv", "mod"})
SHIFTS = frozenset({"lshift", "rshift"})


def without_asserts(function: Function) -> Function:
    """Return the function without its asserts and the bounds of its views, for unchecked code.

    What only these need is left out, too.
    """

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name == "view_index":
            on.mapping[op.result] = op.operands[0]
        return () if op.name in ("assert", "view_index") else None

    return prune(rewrite(function, change))


def without_prints(function: Function) -> Function:
    """Return the function without its prints.

    An adjoint needs that: it runs the kernel's lines again, and should print nothing twice.
    """
    return prune(rewrite(function, lambda on, op: () if op.name == "print" else None))


def guard(function: Function, versions: bool = False) -> Function:
    """Return a function with checks: what would be out of range is skipped and reported, and the launch goes on.

    Args:
        function: any legal IR.
        versions: write the body twice if that saves checks: once without those that a test of the launch's dimensions
            and the arrays' sizes makes needless, for launches that pass the test. What remains can vectorise.
    """
    guarded = _Guard(function)
    body = guarded.block(function.body)
    if versions:
        intervals = Intervals(function)
        quick = _Guard(function, intervals).block(function.body)
        # Without a condition no check could be saved, and the second body would be the first.
        if intervals.conditions:
            # Copied: SSA has one definition of each value, and both bodies define the same ones.
            body = _either(intervals, quick, copy_block(body, {}))
    return replace_body(function, body)


def _either(intervals: Intervals, quick: Block, careful: Block) -> Block:
    """Return the prologue of `intervals` and an `if` that runs `quick` if all its conditions hold, else `careful`."""
    builder = intervals.builder
    good = intervals.all_hold()
    end = Op("yield")
    blocks = Block((), (*quick.ops, end)), Block((), (*careful.ops, end))
    builder.append(Op("if", (good,), (), VERSIONS.of(True), blocks))
    return builder.body()


class Versions(msgspec.Struct, frozen=True):
    """Two forms of a function, of which one runs in a launch.

    Attributes:
        choice: a function that ends in an `if` without operations: `quick` runs if the condition holds, which is the
            same in all threads.
        quick: the function without the checks that the condition makes needless.
        careful: the function with all of them.
    """

    choice: Function
    quick: Function
    careful: Function


def versions_of(function: Function) -> Versions | None:
    """Return the two forms of a function that `guard` wrote twice; None if it is no such function."""
    *before, end = function.body.ops or (Op("yield"),)
    if not end.attrs.get(VERSIONS):
        return None
    nothing = Block((), (Op("yield"),))
    choice = Block((), (*before, Op("if", end.operands, blocks=(nothing, nothing))))
    quick, careful = (replace_body(function, Block((), block.ops[:-1])) for block in end.blocks)
    return Versions(replace_body(function, choice), quick, careful)


def starts_of(op: Op) -> tuple[Value, ...]:
    """Return the indices at which the element, or the part, that an operation accesses begins in its tile."""
    tile = tile_of(op.operands[0])
    return op.operands[1 : 1 + tile.ndim]


def part_of(op: Op) -> tuple[int, ...]:
    """Return the shape of the part of its tile that an operation accesses; ones for a single element."""
    part = op.result.type if op.name == "tile_slice" else op.operands[-1].type
    outer = tile_of(op.operands[0])
    return part.shape if isinstance(part, Tile) and op.name != "tile_extract" else (1,) * outer.ndim


def written_index(defining: dict[Value, Op], index: Value) -> Value:
    """Return the index as the user wrote it: relative to a view, and before a negative one was counted from the end."""
    op = defining.get(index)
    if op is not None and op.name == "view_index":
        op = defining.get(index := op.operands[1])
    return op.operands[0] if op is not None and op.name == "wrap_index" else index


def lengths(op: Op, defining: dict[Value, Op]) -> tuple[Value, ...]:
    """Return the lengths of the view that an access goes through, one for each axis that is a slice."""
    makers = (defining.get(v) for v in indices_of(op))
    return tuple(m.operands[2] for m in makers if m is not None and m.name == "view_index")


def reported(op: Op, defining: dict[Value, Op]) -> tuple[Value, ...]:
    """Return the values that a fault of this operation reports, as the function has them.

    Args:
        op: an operation of the function before it was guarded.
        defining: the operation that defines each value there.
    """
    if op.name in ELEMENTS:
        return (*(written_index(defining, v) for v in indices_of(op)), *lengths(op, defining))[:REPORTED_INDICES]
    if op.name in ("extract", "insert"):
        maker = defining.get(op.operands[1])
        if maker is not None and maker.name == "view_index":
            return maker.operands[0], written_index(defining, op.operands[1])
        return (written_index(defining, op.operands[1]),)
    if op.name in REGIONS or op.name in TILE_PARTS:
        return tuple(written_index(defining, v) for v in (indices_of if op.name in REGIONS else starts_of)(op))
    if op.name == "assert":
        test = defining.get(op.operands[0])
        plain = test is not None and test.name in COMPARISONS and isinstance(test.operands[0].type, Scalar)
        return test.operands if test is not None and plain else ()
    return op.operands[:3]


class _Guard:
    """Writes a function with checks of its accesses, divisions, shifts, asserts and steps of loops.

    Attributes:
        numbers: the number of each operation, which a fault reports.
        defs: the operations that compute the function's values.
        used: all operands of the function.
        intervals: decides which tests a condition before the launch makes needless; None: all are written.
        known: what the open blocks have tested to be in range, to the bool of that test.
    """

    def __init__(self, function: Function, intervals: Intervals | None = None) -> None:
        self.numbers = number_ops(function)
        self.defs = definitions(function.body)
        self.used = {v for op in walk(function.body) for v in op.operands}
        self.intervals = intervals
        self.builder = Builder()
        self.known: Scopes[Hashable, Value] = Scopes()

    def block(self, block: Block) -> Block:
        """Return a copy of the block with checks of its operations."""
        with self.known, self.builder.block(block.params) as opened:
            for op in block.ops:
                self.builder.location = op.location
                _GUARDS.get(op.name, _Guard.keep)(self, op)
        return opened.block

    def keep(self, op: Op, operands: tuple[Value, ...] = ()) -> None:
        """Emit an operation as it is, or with other operands, with checks in its blocks."""
        blocks: list[Block] = []
        for position, inner in enumerate(op.blocks):
            if self.intervals is None:
                blocks.append(self.block(inner))
                continue
            with self.intervals.inside(op, position):
                blocks.append(self.block(inner))
        self.builder.append(op.replace(operands or op.operands, blocks=tuple(blocks)))

    # What is skipped.

    def access(self, op: Op) -> None:
        """Emit an access to an element of an array, which is skipped and reported if it is out of range.

        A second access to an element under the same test is skipped, but not reported again.
        """
        array, indices = op.operands[0], indices_of(op)
        known = self.intervals.hoisted(array, indices) if self.intervals is not None else ()
        axes = [axis for axis in range(len(indices)) if axis not in known]
        if not axes:
            self.builder.append(op)
            return
        # A second access to the same element needs neither test nor report: the first one has made both.
        key = (array, indices)
        seen = self.known.get(key)
        good = seen if seen is not None else self.in_range(array, indices, axes)
        self.known[key] = good
        self.skip(op, good, () if seen is not None else reported(op, self.defs), report=seen is None)

    def component(self, op: Op) -> None:
        """Emit an `extract` or `insert` of a vector; with an index out of range it is skipped and reported."""
        vector, index = op.operands[:2]
        definition, length = self.defs.get(index), getattr(vector.type, "length", 0)
        # Known while compiling to be inside.
        if definition is not None and definition.name == "const" and 0 <= number_of(definition) < length:
            self.builder.append(op)
            return
        good = self.below(index, self.builder.const(length, element(index.type)))
        self.skip(op, good, reported(op, self.defs), report=True)

    def part(self, op: Op) -> None:
        """Emit an access to an element or a part of a tile, which is skipped and reported if it is out of range."""
        good: list[Value] = []
        outer = tile_of(op.operands[0])
        for start, size, length in zip(starts_of(op), part_of(op), outer.shape, strict=True):
            definition, last = self.defs.get(start), length - size
            if definition is None or definition.name != "const" or not 0 <= number_of(definition) <= last:
                good.append(self.below(start, self.builder.const(last + 1, element(start.type))))
        if good:
            self.skip(op, self.all_of(good), reported(op, self.defs), report=True)
        else:
            self.builder.append(op)

    def region(self, op: Op) -> None:
        """Emit an access to a tile of an array, with a report if it is not inside though the kernel says so.

        Then only the part that lies inside is accessed.
        """
        if op.attrs[BOUNDS]:
            self.builder.append(op)
            return
        tile = tile_of(op.operands[-1] if op.name == "tile_store" else op.result)
        lengths = dict(zip(op.attrs[AXES], tile.shape, strict=True))
        none, good = self.builder.const(0, int64), list[Value]()
        for axis, index in enumerate(indices_of(op)):
            start = self.builder.cast(index, int64)
            end = self.builder.one("add", (start, self.builder.const(lengths.get(axis, 1), int64)), int64)
            array = op.operands[0]
            size = self.builder.one("shape", (array,), array_of(array).size_type, {AXIS: axis})
            good.append(self.builder.one("ge", (start, none), bool_))
            good.append(self.builder.one("le", (end, self.builder.cast(size, int64)), bool_))
        bad = self.builder.one("not_", (self.all_of(good),), bool_)
        self.report(bad, op, reported(op, self.defs))
        # After the report it is done as if bounds were checked, so that no memory outside is touched.
        self.builder.append(op.replace(attrs={**op.attrs, BOUNDS: True}))

    def all_of(self, conditions: Sequence[Value]) -> Value:
        """Emit the conjunction of conditions."""
        first, *rest = conditions
        for other in rest:
            first = self.builder.one("and_", (first, other), bool_)
        return first

    def skip(self, op: Op, good: Value, values: Sequence[Value], report: bool) -> None:
        """Emit an operation that runs only if `good` holds.

        Otherwise its results are 0, or the operand that it changes.

        Args:
            op: the operation.
            good: the condition.
            values: what a fault reports.
            report: report a fault if the condition does not hold.
        """
        results = tuple(Value(v.type, v.name) for v in op.results)
        passed = () if self.used.isdisjoint(op.results) else results  # old values of additions are mostly not used
        with self.builder.block() as then:
            self.builder.append(op.replace(results=results))
            self.builder.yield_(*passed)
        with self.builder.block() as orelse:
            if report:
                self.fault(op, values)
            # A vector or tile whose component was not set is still that vector; a load gives 0.
            substitutes = op.operands[:1] if op.name in _CHANGES else [zero(self.builder, v.type) for v in passed]
            self.builder.yield_(*substitutes[: len(passed)])
        outward = op.results[: len(passed)]
        self.builder.append(Op("if", (good,), outward, {}, (then.block, orelse.block), op.location))

    def in_range(self, array: Value, indices: tuple[Value, ...], axes: Sequence[int]) -> Value:
        """Emit the test whether the indices along some axes are in range of the array."""
        good: Value | None = None
        for axis in axes:
            index = indices[axis]
            key = (array, axis, index)
            here = self.known.get(key)
            if here is None:
                size = self.builder.one("shape", (array,), array_of(array).size_type, {AXIS: axis})
                here = self.known[key] = self.below(index, size)
            good = here if good is None else self.builder.one("and_", (good, here), bool_)
        assert good is not None
        return good

    def below(self, index: Value, size: Value) -> Value:
        """Emit the test 0 ≤ index < size, as one comparison of unsigned numbers."""
        # A negative index becomes larger than any size when it is read as unsigned.
        wide = uint64 if 64 in (element(index.type).bits, element(size.type).bits) else uint32
        return self.builder.one("lt", (self.builder.cast(index, wide), self.builder.cast(size, wide)), bool_)

    # What only reports.

    def divide(self, op: Op) -> None:
        """Emit a `//` or `%`, with a report if it divides an integer by 0."""
        divisor = self.defs.get(op.operands[1])
        literal = divisor is not None and divisor.name == "const"
        if self.intervals is not None and not literal and self.intervals.is_positive(op.operands[1]):
            self.builder.append(op)
            return
        self.each(op, lambda x, y: self.builder.one("eq", (y, self.builder.const(0, y.type)), bool_), lambda n: n != 0)

    def shift(self, op: Op) -> None:
        """Emit a `<<` or `>>`, with a report if its count is negative, or not below the width."""

        def bad(x: Value, y: Value) -> Value:
            width = element(y.type).bits
            # Unsigned, so that one comparison finds negative counts, too.
            number = self.builder.const(width, uint64 if width == 64 else uint32)
            return self.builder.one("ge", (self.builder.cast(y, number.type), number), bool_)

        width = element(op.operands[0].type).bits
        self.each(op, bad, lambda n: 0 <= n < width)

    def each(self, op: Op, bad: Callable[[Value, Value], Value], fine: Callable[[int], bool]) -> None:
        """Emit an operation on integers, and a report for each component whose right operand is wrong.

        Args:
            op: the operation; of other types it is emitted as it is.
            bad: emits the test that the operands of a component are wrong.
            fine: says whether a literal right operand is right, which then needs no test.
        """
        definition = self.defs.get(op.operands[1])
        if not is_integer(element(op.result.type)):
            self.builder.append(op)
            return
        numbers = literals(definition.attrs[VALUE]) if definition is not None and definition.name == "const" else []
        if not (numbers and all(map(fine, numbers))):
            # The operation stays whole and vectorises; only the test looks at components.
            columns = [self.parts(v) for v in op.operands]
            for x, y in zip(*columns, strict=True):
                self.report(bad(x, y), op, (x, y))
        self.builder.append(op)

    def parts(self, value: Value) -> list[Value]:
        """Return the components of a vector; a scalar as the only one."""
        if not isinstance(value.type, Vector):
            return [value]
        numbers = [self.builder.const(n) for n in range(value.type.length)]
        return [self.builder.one("extract", (value, n), value.type.dtype) for n in numbers]

    def claim(self, op: Op) -> None:
        """Emit, in place of an `assert`, a report if its condition is false; nothing if it is sure to hold."""
        test = self.defs.get(op.operands[0])
        if (
            self.intervals is not None
            and test is not None
            and test.name in _BY_ORDER
            and self.intervals.is_certain(test)
        ):
            return
        bad = self.builder.one("not_", op.operands, bool_)
        self.report(bad, op, reported(op, self.defs))

    def count(self, op: Op) -> None:
        """Emit a `for`, with a report if its step is 0, when it has no iterations."""
        start, stop, step, *init = op.operands
        definition = self.defs.get(step)
        if definition is None or definition.name != "const" or not definition.attrs[VALUE]:
            bad = self.builder.one("eq", (step, self.builder.const(0, step.type)), bool_)
            self.report(bad, op, reported(op, self.defs))
            # start == stop and a step of 1: a loop of no turns, without a branch around it.
            stop = self.builder.one("where", (bad, start, stop), stop.type)
            step = self.builder.one("where", (bad, self.builder.const(1, step.type), step), step.type)
        self.keep(op, (start, stop, step, *init))

    def report(self, bad: Value, op: Op, values: Sequence[Value]) -> None:
        """Emit a report of a fault if `bad` holds."""
        with self.builder.block() as then:
            self.fault(op, values)
            self.builder.yield_()
        with self.builder.block() as orelse:
            self.builder.yield_()
        self.builder.if_(bad, then.block, orelse.block)

    def fault(self, op: Op, values: Sequence[Value]) -> None:
        """Emit a `fault` of an operation, with its number and values, widened to float64 or int64."""
        # A record holds 8-byte words; which of them are floats follows from the operation, by its number.
        wide = [self.builder.cast(v, float64 if is_float(v.type) else int64) for v in values]
        self.builder.emit("fault", wide, (), {NUMBER: self.numbers[op]})


def literals(value: Number | tuple[Number, ...]) -> list[int]:
    """Return the components of an integer constant, or the one number of a scalar."""
    return [int(number) for number in np.ravel(value)]


def zero(builder: Builder, type: Type | Tile) -> Value:
    """Emit a zero of a type, which a load that is skipped results in."""
    if isinstance(type, Tile):
        (tile,) = builder.tile_map(type.shape, (), lambda at, elements: [zero(builder, type.dtype)])
        return tile
    assert isinstance(type, (Scalar, Vector))
    return builder.const((0,) * type.length if isinstance(type, Vector) else 0, type)


_BY_ORDER = COMPARISONS - {"ne"}

# What is skipped leaves its first operand as it was.
_CHANGES = frozenset({"insert", "tile_insert", "tile_place"})
_GUARDS: dict[str, Callable[[_Guard, Op], None]] = {
    **{name: _Guard.access for name in ELEMENTS},
    **{name: _Guard.divide for name in DIVISIONS},
    **{name: _Guard.shift for name in SHIFTS},
    "extract": _Guard.component,
    "insert": _Guard.component,
    **{name: _Guard.region for name in REGIONS},
    **{name: _Guard.part for name in TILE_PARTS},
    "assert": _Guard.claim,
    "for": _Guard.count,
}


MESSAGE = "What is written here is finite."


def finite(function: Function) -> Function:
    """Return the function with an assert before every float that it writes to an array, except constants."""
    constants = {op.result for op in walk(function.body) if op.name == "const"}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name not in EFFECTS or (value := op.operands[-1]) in constants:
            return None
        return (*_assert(op, value), op) if isinstance(value.type, Scalar | Vector) and is_float(value.type) else None

    return rewrite(function, change)


def _assert(op: Op, value: Value) -> tuple[Op, ...]:
    """Return operations at the location of `op` that assert that a float, or each component of a vector, is finite."""
    builder = Builder()
    builder.location = op.location
    parts = [value]
    if isinstance(value.type, Vector):
        numbers = [builder.const(n) for n in range(value.type.length)]
        parts = [builder.one("extract", (value, n), value.type.dtype) for n in numbers]
    good, *rest = (builder.one("isfinite", (part,), bool_) for part in parts)
    for other in rest:
        good = builder.one("and_", (good, other), bool_)
    builder.emit("assert", (good,), (), {ops.MESSAGE: MESSAGE})
    return builder.body().ops


_LOOPS = ("for", "while")


def shared_stores(function: Function) -> list[Op]:
    """Return the stores of a kernel whose value differs between threads while their index is the same for all.

    Empty for a kernel of tiles or without threads.
    """
    if not function.launch_ndim or function.block_dim:
        return []
    stores: list[Op] = []
    _Lanes(stores).block(function.body, False)
    return stores


class _Lanes:
    """Tracks which values differ between threads, and which come from memory; collects the stores.

    Attributes:
        varying: values that differ between threads.
        from_memory: values that come from memory.
        found: the stores.
    """

    def __init__(self, stores: list[Op]) -> None:
        self.varying: set[Value] = set()
        self.from_memory: set[Value] = set()
        self.found = stores

    def block(self, block: Block, divergent: bool) -> None:
        """Follow the operations of a block; `divergent`: not all threads run it."""
        for op in block.ops:
            if op.name == "store" and not divergent:
                self._store(op)
            inside = divergent or (bool(op.blocks) and self._varies(op.operands))
            # Twice, since a loop carries values back.
            for _ in range(2 if op.name in _LOOPS else 1):
                for each in op.blocks:
                    self._mark(op, each.params, self._varies((*op.operands, *each.yielded)), inside)
                    self.block(each, inside or (op.name == "while" and self._varies(op.blocks[0].yielded)))
            varies = op.name == "tid" or op.name in TILED or self._varies(op.operands)
            varies = varies or inside or any(self._varies(each.yielded) for each in op.blocks)
            self._mark(op, op.results, varies, inside)

    def _mark(self, op: Op, values: tuple[Value, ...], varies: bool, inside: bool) -> None:
        """Record which of `values`, results of an operation or parameters of its block, vary or come from memory.

        Args:
            op: the operation.
            values: its results or parameters.
            varies: they depend on something that varies.
            inside: not all threads run the operation.
        """
        arrays = any(isinstance(v.type, ArrayType) for v in op.operands)
        if varies or inside:
            self.varying.update(values)
        if (arrays and op.name != "shape") or any(v in self.from_memory for v in op.operands) or op.blocks:
            self.from_memory.update(values if op.name not in _LOOPS else ())

    def _varies(self, values: tuple[Value, ...]) -> bool:
        """Return whether any of the values differs between threads."""
        return any(v in self.varying for v in values)

    def _store(self, op: Op) -> None:
        """Collect a store of a varying value at indices that neither vary nor come from memory."""
        indices, value = op.operands[1:-1], op.operands[-1]
        same = not any(i in self.varying or i in self.from_memory for i in indices)
        if same and value in self.varying and op not in self.found:
            self.found.append(op)
