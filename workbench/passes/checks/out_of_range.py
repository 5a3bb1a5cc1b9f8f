"""Accesses that a launch is certain to make outside of an array, found from its dimensions and sizes before it runs.

The threads at the corners of the launch are followed through the kernel with what is known beforehand: dimensions,
sizes, literals, some numbers. Loaded values are unknown, and so is what is computed of them; what stands under an
unknown condition is not followed. So whatever is found does happen. Indices that are sums of thread indices are largest
and smallest at corners; others are looked at there only, and checks find the rest when the launch runs.

Sizes may be symbolic (`SymbolicSize`): what cannot be decided then is a condition for later, on sizes alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import msgspec
import numpy as np

from workbench.builtins import TABLE
from workbench.builtins.declaration.meaning import apply, convert, value_of
from workbench.ir.ops import AXIS, ELEMENTS, LEVEL, REFERENCE, VALUE
from workbench.ir.values import Block, Function, Op, Value, definitions, indices_of, scalar_of
from workbench.limits import EXPLAINED_ITERATIONS, EXPLAINED_OPERATIONS
from workbench.passes.analysis.offsets import Axis, Size, SymbolicSize, combined, compared
from workbench.passes.checks.bounds_checks import lengths, written_index
from workbench.types import Scalar, is_integer
from workbench.types import bool as bool_

_Known: TypeAlias = SymbolicSize | np.integer[Any] | np.bool_
"""The known value of an integer or a bool, of its type."""


class Outside(msgspec.Struct, frozen=True):
    """An access that one thread is certain to make outside of an array.

    Attributes:
        op: the access.
        thread: its index.
        values: the indices as written, then the lengths of slices, as `bounds_checks.reported` lists them; 0 for one
            that is not known.
    """

    op: Op
    thread: tuple[Size, ...]
    values: tuple[Size, ...]


class Condition(msgspec.Struct, frozen=True):
    """A condition on sizes: an index is inside an array along an axis.

    It is at least 0, or minus the size if it `wraps`, and below the size.

    Attributes:
        array: the parameter.
        axis: the axis.
        wraps: negative indices count from the end.
        constant, terms: the index, as in `SymbolicSize`.
    """

    array: str
    axis: int
    wraps: bool
    constant: int
    terms: tuple[tuple[Axis, int], ...]


class Accesses(msgspec.Struct):
    """The accesses of a launch, as far as they are certain before it runs.

    Attributes:
        outside: the first one outside of its array; None if no access is certain to be.
        needs: the least size of an array along an axis with which the indices that are known are inside.
        conditions: on sizes that are not known yet.
    """

    outside: Outside | None = None
    needs: dict[Axis, int] = msgspec.field(default_factory=dict[Axis, int])
    conditions: dict[Condition, None] = msgspec.field(default_factory=dict[Condition, None])


def accesses(
    function: Function, dims: Sequence[Size], shapes: Mapping[str, Sequence[Size]], numbers: Mapping[str, object]
) -> Accesses:
    """Return what is certain about a launch's accesses: the first outside of its array, and the sizes that arrays need.

    Only the threads at the corners of the launch are followed.

    Args:
        function: a kernel, or a derivative of one, before it was guarded.
        dims: of the launch.
        shapes: of its arrays, by parameter.
        numbers: values of number parameters, where they are known.
    """
    accesses_ = Accesses()
    if 0 in (d for d in dims if isinstance(d, int)) or ELEMENTS.isdisjoint(function.body.op_names):
        return accesses_
    # First and last index along each axis; once where they are the same.
    ends = [(0, *([] if d == 1 else [d.plus(-1) if isinstance(d, SymbolicSize) else d - 1])) for d in dims]
    follow, corners = _ThreadWalk(function, dims, shapes, numbers, accesses_), list(product(*ends))
    with np.errstate(all="ignore"):
        for thread in corners:
            # Each corner has its share: a long kernel would else never be looked at from its last threads.
            follow.thread(thread, EXPLAINED_OPERATIONS // len(corners))
    return accesses_


class _NothingCertain(Exception):
    """Raised to stop following a thread, as nothing more of what it does is certain."""


class _ThreadWalk:
    """Follows threads through a function, one after the other, and collects which accesses are outside of arrays.

    Attributes:
        function: the function.
        dims: of the launch.
        shapes: of its arrays, by parameter, where they are known.
        numbers: values of number parameters, where they are known.
        found: receives what is certain of the accesses.
        defs: the operations that compute the function's values.
        index: of the thread that is followed.
        left: how many more operations it is followed for.
        known: the values that are known in it.
    """

    def __init__(
        self,
        function: Function,
        dims: Sequence[Size],
        shapes: Mapping[str, Sequence[Size]],
        numbers: Mapping[str, object],
        accesses_: Accesses,
    ) -> None:
        self.function, self.dims, self.shapes, self.numbers, self.found = function, dims, shapes, numbers, accesses_
        self.defs = definitions(function.body)

    def thread(self, index: tuple[Size, ...], most: int) -> None:
        """Follow the thread of this index for up to `most` operations."""
        self.index, self.left = index, most
        self.known: dict[Value, _Known] = {}
        for param in self.function.params:
            if param.name in self.numbers and isinstance(param.type, Scalar) and _counts(param.type):
                self.known[param] = param.type.numpy.type(self.numbers[param.name])
        try:
            self.block(self.function.body)
        except _NothingCertain:
            return

    def block(self, block: Block, arguments: Sequence[_Known | None] = ()) -> list[_Known | None]:
        """Follow a block, given what is known of its parameters (None: nothing); return the same of what it yields."""
        self.let(block.params, arguments)
        for op in block.ops:
            if op.name == "yield":
                break
            self.left -= 1
            if self.left < 0:
                # What was found until here stands: it happens whatever comes later.
                raise _NothingCertain
            rule = _RULES.get(op.name)
            if op.name in ELEMENTS:
                self.access(op)
            elif rule is not None:
                self.let(op.results, rule(self, op))
            elif op.name in TABLE:
                self.let(op.results, [self.computed(op)])
        return [self.known.get(v) for v in block.yielded]

    def let(self, values: Sequence[Value], numbers: Sequence[_Known | None]) -> None:
        """Record what values are; None: not known, even if they were known in an earlier iteration."""
        for value, number in zip(values, numbers, strict=False):
            if number is None:
                self.known.pop(value, None)
            else:
                self.known[value] = number

    def computed(self, op: Op) -> _Known | None:
        """Return the result of a builtin on integers that are known; None if it is not known."""
        operands = [self.known.get(v) for v in op.operands]
        type = op.result.type
        if any(v is None for v in operands) or not (isinstance(type, Scalar) and _counts(type)):
            return self.chosen(op, operands)
        if any(isinstance(v, SymbolicSize) for v in operands):
            result = combined(op.name, [_plain(v) for v in operands if v is not None])
            return result if result is None or isinstance(result, SymbolicSize) else type.numpy.type(result)
        return apply(TABLE[op.name], operands, type)

    def chosen(self, op: Op, operands: Sequence[_Known | None]) -> _Known | None:
        """Return the result of `where`, `and_` or `or_` that one known operand decides; None if none does."""
        if op.name == "where" and isinstance(operands[0], np.bool_) and isinstance(op.result.type, Scalar):
            # The other side may be unknown: it is not chosen.
            return operands[1 if operands[0] else 2]
        if op.name in ("and_", "or_"):
            return next((v for v in operands if v is not None and bool(v) is (op.name == "or_")), None)
        return None

    # Accesses.

    def access(self, op: Op) -> None:
        """Record whether an access is outside, as far as its indices are known."""
        array = op.operands[0].name
        shape, indices = self.shapes.get(array), indices_of(op)
        # What memory holds is not known before the launch runs.
        self.let(op.results, [None] * len(op.results))
        if shape is None:
            return
        for axis, (index, size) in enumerate(zip(indices, shape, strict=True)):
            number, wanted = self.known.get(index), written_index(self.defs, index)
            maker = self.defs.get(index)
            wraps = maker is not None and maker.name == "wrap_index"
            # Looked at before it is counted from the end: a negative index is inside down to -size.
            if wraps:
                number = self.known.get(wanted)
            if number is None:
                continue
            if isinstance(number, SymbolicSize) or isinstance(size, SymbolicSize):
                self.compare(op, array, axis, _plain(number), size, wraps)
                continue
            number = int(number)
            # A negative index that does not wrap is outside of arrays of any size, so it needs none.
            if wraps or number >= 0:
                self.require(array, axis, number + 1 if number >= 0 else -number)
            if not (-size if wraps else 0) <= number < size:
                self.outside(op)

    def compare(self, op: Op, array: str, axis: int, index: Size, size: Size, wraps: bool) -> None:
        """Record whether an index is outside, or the condition for it, if the index or the size is symbolic."""
        negative = -size if isinstance(size, int) else size.times(-1)
        inside = compared("lt", index, size), compared("ge", index, negative if wraps else 0)
        if False in inside:
            self.outside(op)
        elif None in inside:
            terms, constant = (index.terms, index.constant) if isinstance(index, SymbolicSize) else ((), index)
            self.found.conditions[Condition(array, axis, wraps, constant, terms)] = None

    def require(self, array: str, axis: int, size: int) -> None:
        """Record that an array needs at least this size along an axis."""
        self.found.needs[array, axis] = max(size, self.found.needs.get((array, axis), 0))

    def outside(self, op: Op) -> None:
        """Record an access as the first one outside of its array, with thread and indices; later ones are ignored."""
        if self.found.outside is None:
            wanted = (written_index(self.defs, v) for v in indices_of(op))
            values = tuple(_plain(self.known.get(v, 0)) for v in (*wanted, *lengths(op, self.defs)))
            self.found.outside = Outside(op, tuple(map(_plain, self.index)), values)

    # Operations with rules of their own: each gives its results, None for what is not known.

    def const(self, op: Op) -> list[_Known | None]:
        """Return a constant's number; None for a vector or a float."""
        type = op.result.type
        return [value_of(op.attrs[VALUE], type) if isinstance(type, Scalar) and _counts(type) else None]

    def tid(self, op: Op) -> list[_Known | None]:
        """Return the thread's index; None in a kernel of tiles unless it is the block's index."""
        if self.function.block_dim and op.attrs.get(LEVEL) != "block":
            return [None]
        return [_typed(self.index[op.attrs[AXIS]], op)]

    def launch_dim(self, op: Op) -> list[_Known | None]:
        """Return the launch's dimension along the operation's axis."""
        return [_typed(self.dims[op.attrs[AXIS]], op)]

    def shape(self, op: Op) -> list[_Known | None]:
        """Return the array's size along the operation's axis; None if its shape is not known."""
        shape = self.shapes.get(op.operands[0].name)
        return [None if shape is None else _typed(shape[op.attrs[AXIS]], op)]

    def cast(self, op: Op) -> list[_Known | None]:
        """Return the converted number; None if it is unknown, no integer or bool, or symbolic and cast to bool."""
        value, type = self.known.get(op.operands[0]), op.result.type
        if value is None or not (isinstance(type, Scalar) and _counts(type)):
            return [None]
        if isinstance(value, SymbolicSize):
            return [value if is_integer(type) else None]
        return [convert(value, type)]

    def if_(self, op: Op) -> list[_Known | None]:
        """Follow the branch that the thread takes; return what it yields, all None if the condition is not known."""
        condition = self.known.get(op.operands[0])
        if condition is None:
            return [None] * len(op.results)
        # Followed on one side alone, as the thread would run it.
        return self.block(op.blocks[0 if condition else 1])

    def for_(self, op: Op) -> list[_Known | None]:
        """Follow all iterations of a loop, or only the first and last of many; return its results.

        They are all None if there are many, or if the loop is not followed because its range is not known.
        """
        limits = [v for v in map(self.known.get, op.operands[:3]) if isinstance(v, np.integer)]
        carried = [self.known.get(v) for v in op.operands[3:]]
        unknown: list[_Known | None] = [None] * len(carried)
        if len(limits) < 3 or not limits[2]:
            return unknown
        turns, of = range(*map(int, limits)), scalar_of(op.operands[0])
        if len(turns) <= EXPLAINED_ITERATIONS:
            for number in turns:
                carried = self.block(op.blocks[0], (of.numpy.type(number), *carried))
            return carried
        self.block(op.blocks[0], (of.numpy.type(turns[0]), *carried))
        # What the turns between have carried is not known in the last one.
        self.block(op.blocks[0], (of.numpy.type(turns[-1]), *unknown))
        return unknown

    def while_(self, op: Op) -> list[_Known | None]:
        """Follow a loop until it ends; return its results, all None where a condition is not known.

        Raises:
            _NothingCertain: it has not ended after EXPLAINED_ITERATIONS.
        """
        carried = [self.known.get(v) for v in op.operands]
        for _ in range(EXPLAINED_ITERATIONS):
            (going,) = self.block(op.blocks[0], carried)
            if going is None:
                return [None] * len(carried)
            if not going:
                return carried
            carried = self.block(op.blocks[1], carried)
        raise _NothingCertain  # it may go on for ever

    def custom(self, op: Op) -> list[_Known | None]:
        """Follow the Python body of a func with its own gradient or CUDA text; all results are None without a body."""
        if op.attrs.get(REFERENCE, True):
            return self.block(op.blocks[0])
        return [None] * len(op.results)

    def mark(self, op: Op) -> list[_Known | None]:
        """Return what is known of the operands, which a `mark` passes on."""
        return [self.known.get(v) for v in op.operands]


_RULES = {
    "const": _ThreadWalk.const,
    "tid": _ThreadWalk.tid,
    "launch_dim": _ThreadWalk.launch_dim,
    "shape": _ThreadWalk.shape,
    "cast": _ThreadWalk.cast,
    "if": _ThreadWalk.if_,
    "for": _ThreadWalk.for_,
    "while": _ThreadWalk.while_,
    "custom": _ThreadWalk.custom,
    "mark": _ThreadWalk.mark,
}


def _counts(type: Scalar) -> bool:
    """Return whether the type's values are exact: floats may differ in their last bit from what a device computes."""
    return is_integer(type) or type == bool_


def _typed(number: Size, op: Op) -> _Known:
    """Return a size or index as the result of an operation."""
    type = scalar_of(op.result)
    return number if isinstance(number, SymbolicSize) else type.numpy.type(number)


def _plain(number: _Known | int) -> Size:
    """Return a NumPy number as a Python one; an int or a symbolic size as it is."""
    return number.item() if isinstance(number, np.generic) else number
