"""Which accesses of one thread can meet in one element: indices as a value plus a constant.

Two index tuples are different elements where along one axis they are the same value plus different constants. That
is decided by identity of values, so it holds at one moment; a value made inside a loop is another one in the next
iteration, and is compared only where the caller says that it stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.autodiff.memory.load_forwarding import may_overlap
from workbench.ir.ops import EFFECTS, LOADS, TILED
from workbench.ir.values import Block, Function, Op, Value, closed_blocks, number_of, walk
from workbench.types import ArrayType, element, is_float, is_integer

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
            # Different parameters: only an overlap of the arguments can bring them together.
            return self.aliased and may_overlap(x, y, apart=False)
        # These touch many elements at once; their indices say where they begin, not where they end.
        if "reduce_add" in (a.name, b.name) or a.name in TILED or b.name in TILED:
            return True
        return not self.differ(indices_of(a), indices_of(b), still)

    def differ(self, a: Sequence[Value], b: Sequence[Value], still: Still) -> bool:
        """Whether two index tuples of one array are different elements."""
        for one, other in zip(a, b, strict=True):
            (base, first), (base2, second) = self.split(one), self.split(other)
            # One axis that differs is enough. Without a base both are constants, which stand still everywhere.
            if base is base2 and first != second and (base is None or still(base)):
                return True
        return False

    def ahead(self, load: Op, effect: Op, loop: Op) -> bool:
        """Whether the loop's index keeps a load away from the effect in earlier iterations."""
        if loop.name != "for" or load.operands[0] is not effect.operands[0]:
            return False
        step = self._number(loop.operands[2])
        for one, other in zip(indices_of(load), indices_of(effect), strict=False):
            (base, now), (base2, before) = self.split(one), self.split(other)
            if base is not None and base is base2 and base is loop.blocks[0].params[0]:
                # The index of an earlier iteration lies a positive multiple of the step behind: it can have met this
                # element only if `back` is such a multiple.
                back = before - now
                if back == 0 or (step and (back * step < 0 or back % step)):
                    return True
        return False

    def split(self, index: Value) -> tuple[Value | None, int]:
        """The index as a value and what is added to it; None if it is a constant alone."""
        added = 0
        while (op := self._made.get(index)) is not None:
            number = self._number(index)
            if number is not None:
                return None, added + number
            if op.name == "cast" and is_integer(op.operands[0].type) and is_integer(op.result.type):
                # A narrowing cast wraps: two indices that differ before it can be equal after it.
                if element(op.result.type).bits < element(op.operands[0].type).bits:
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
        return int(number_of(op)) if op is not None and op.name == "const" and is_integer(op.result.type) else None


def indices_of(op: Op) -> tuple[Value, ...]:
    """The indices of an access."""
    array = op.operands[0].type
    assert isinstance(array, ArrayType)
    return () if op.name == "reduce_add" else op.operands[1 : 1 + array.ndim]


def overwritten_loads(function: Function, aliased: bool) -> frozenset[Op]:
    """The loads that may see what this thread has written: others see what the array held before the launch.

    Args:
        function: a kernel without races.
        aliased: arrays that it writes may overlap others.
    """
    return frozenset(_Order(function, aliased).block(function.body, []))


def overwrites(function: Function, aliased: bool) -> bool:
    """Whether a thread may store a float where it has stored one before."""
    order = _Order(function, aliased)
    order.block(function.body, [])
    return order.twice


class _Order:
    """One walk in the order of the program.

    `done` are the effects that may have happened in this iteration of every loop around; `earlier` those of earlier
    iterations of a loop, with that loop.
    """

    def __init__(self, function: Function, aliased: bool) -> None:
        self.places = Places(function, aliased)
        self.earlier: list[tuple[Op, list[Op], set[Value]]] = []
        self.twice = False

    def block(self, block: Block, done: list[Op]) -> list[Op]:
        overwritten: list[Op] = []
        for op in block.ops:
            if op.name in LOADS and self.is_overwritten(op, done):
                overwritten.append(op)
            elif op.name in EFFECTS:
                if op.name == "store" and is_float(op.operands[0].type):
                    self.twice |= self.is_overwritten(op, done, "store")
                done.append(op)
            elif op.name == "if":
                # The two sides exclude each other, so what one does has not happened in the other; after the `if`
                # either may have.
                before = len(done)
                sides = [list(done) for _ in op.blocks]
                for inner, side in zip(op.blocks, sides, strict=True):
                    overwritten += self.block(inner, side)
                done += [effect for side in sides for effect in side[before:]]
            elif op.name == "custom":
                overwritten += self.custom(op, done)
            elif op.blocks:
                overwritten += self.loop(op, done)
        return overwritten

    def loop(self, op: Op, done: list[Op]) -> list[Op]:
        ops = [o for inner in op.blocks for o in walk(inner)]
        inside = {v for o in ops for v in o.results} | {p for o in (op, *ops) for b in o.blocks for p in b.params}
        effects = [o for o in ops if o.name in EFFECTS]
        self.earlier.append((op, effects, inside))
        # The loop's own effects are in `earlier` while its body is walked: a load may follow them by one iteration.
        overwritten = [load for inner in op.blocks for load in self.block(inner, list(done))]
        self.earlier.pop()
        done += effects
        return overwritten

    def is_overwritten(self, load: Op, done: list[Op], after: str = "") -> bool:
        """Whether an access may meet an effect before it (one of this name, where it is given)."""
        if any(
            self.places.meet(load, effect, lambda v: True) for effect in done if effect.name == (after or effect.name)
        ):
            return True
        return any(
            effect.name == (after or effect.name)
            and self.places.meet(load, effect, lambda v, inside=inside: v not in inside)
            and not self.places.ahead(load, effect, loop)
            for loop, effects, inside in self.earlier
            for effect in effects
        )

    def custom(self, op: Op, done: list[Op]) -> list[Op]:
        """A func's body; then what its gradient and its replay load of arrays that were written."""
        # The body is recomputed in its place; a gradient and a replay read the adjoint's arrays, which are as they were
        # before the launch, so that every earlier write counts.
        overwritten = self.block(op.blocks[0], done)
        before = [effect for _, effects, _ in self.earlier for effect in effects]
        written = {effect.operands[0] for effect in (*done, *before)}
        for closed in closed_blocks(op):
            given = dict(zip(closed.params, op.operands, strict=False))
            for inner in walk(closed):
                array = given.get(inner.operands[0]) if inner.name == "load" else None
                if array in written or (array is not None and written and self.places.aliased):
                    overwritten.append(inner)
        return overwritten
