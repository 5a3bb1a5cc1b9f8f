"""Which accesses of one thread can meet in one element: indices as a value plus a constant.

Two index tuples are different elements where along one axis they are the same value plus different constants. That
is decided by identity of values, so it holds at one moment; a value made inside a loop is another one in the next
iteration, and is compared only where the caller says that it stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.autodiff.reuse import may_overlap
from workbench.ir.values import EFFECTS, Block, Function, Op, Value, closed_blocks, walk
from workbench.types import ArrayType, is_integer

Still = Callable[[Value], bool]


class Places:
    """The indices of a function's accesses, compared.

    Attributes:
        aliased: arguments may overlap, in whatever way their types allow.
    """

    def __init__(self, function: Function, aliased: bool) -> None:
        self.aliased = aliased
        self._made = {v: op for op in walk(function.body) for v in op.results}

    def meet(self, a: Op, b: Op, still: Still) -> bool:
        """Whether two accesses may touch one element; `still`: whether a value is the same at both."""
        x, y = a.operands[0], b.operands[0]
        if x is not y:
            return self.aliased and may_overlap(x, y, apart=False)
        if "reduce_add" in (a.name, b.name):
            return True
        return not self.differ(indices_of(a), indices_of(b), still)

    def differ(self, a: Sequence[Value], b: Sequence[Value], still: Still) -> bool:
        """Whether two index tuples of one array are different elements."""
        for one, other in zip(a, b, strict=True):
            (base, first), (base2, second) = self.split(one), self.split(other)
            if base is base2 and first != second and (base is None or still(base)):
                return True
        return False

    def split(self, index: Value) -> tuple[Value | None, int]:
        """The index as a value and what is added to it; None where it is a constant alone."""
        added = 0
        while (op := self._made.get(index)) is not None:
            number = self._number(index)
            if number is not None:
                return None, added + number
            if op.name == "cast" and is_integer(op.operands[0].type) and is_integer(op.result.type):
                if op.result.type.bits < op.operands[0].type.bits:  # type: ignore[union-attr]
                    break
                index = op.operands[0]
                continue
            if op.name not in ("add", "sub"):
                break
            left, right = (self._number(v) for v in op.operands)
            if right is not None:
                added, index = added + (right if op.name == "add" else -right), op.operands[0]
            elif left is not None and op.name == "add":
                added, index = added + left, op.operands[1]
            else:
                break
        return index, added

    def _number(self, value: Value) -> int | None:
        op = self._made.get(value)
        while op is not None and op.name == "cast" and is_integer(op.result.type):
            op = self._made.get(op.operands[0])
        return int(op.attrs["value"]) if op is not None and op.name == "const" and is_integer(op.result.type) else None


def indices_of(op: Op) -> tuple[Value, ...]:
    """The indices of an access."""
    array = op.operands[0].type
    assert isinstance(array, ArrayType)
    return () if op.name == "reduce_add" else op.operands[1 : 1 + array.ndim]


def late_loads(function: Function, aliased: bool) -> frozenset[Op]:
    """The loads that may see what this thread has written: others see what the array held before the launch.

    Args:
        function: a kernel without races.
        aliased: arrays that it writes may overlap others.
    """
    return frozenset(_Order(function, aliased).block(function.body, []))


class _Order:
    """One walk in the order of the program; `done` are the effects that may have happened."""

    def __init__(self, function: Function, aliased: bool) -> None:
        self.places = Places(function, aliased)
        self.fixed = set(function.params) | {v for op in function.body.ops for v in op.results}

    def block(self, block: Block, done: list[Op]) -> list[Op]:
        late: list[Op] = []
        for op in block.ops:
            if op.name == "load" and any(self.places.meet(op, other, self.fixed.__contains__) for other in done):
                late.append(op)
            elif op.name in EFFECTS:
                done.append(op)
            elif op.name == "if":
                before = len(done)
                sides = [list(done) for _ in op.blocks]
                for inner, side in zip(op.blocks, sides, strict=True):
                    late += self.block(inner, side)
                done += [effect for side in sides for effect in side[before:]]
            elif op.name == "custom":
                late += self.custom(op, done)
            elif op.blocks:
                done += [o for inner in op.blocks for o in walk(inner) if o.name in EFFECTS]
                for inner in op.blocks:
                    late += self.block(inner, list(done))
        return late

    def custom(self, op: Op, done: list[Op]) -> list[Op]:
        """A func's body; then what its gradient and its replay load of arrays that were written."""
        late = self.block(op.blocks[0], done)
        written = {effect.operands[0] for effect in done}
        for closed in closed_blocks(op):
            given = dict(zip(closed.params, op.operands, strict=False))
            for inner in walk(closed):
                array = given.get(inner.operands[0]) if inner.name == "load" else None
                if array in written or (array is not None and written and self.places.aliased):
                    late.append(inner)
        return late
