"""Dependences between accesses of one thread, by the affine forms of their indices.

A value made inside a loop is another one in the next iteration, and is compared only where the caller says that it
stands still.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from workbench.ir.analysis import Analysis, Atom, Dependence
from workbench.ir.ops import EFFECTS, LOADS
from workbench.ir.values import Block, Function, Op, Value, closed_blocks, definitions, indices_of, walk
from workbench.passes.memory.load_forwarding import may_overlap
from workbench.types import is_float

LoopInvariant = Callable[[Value], bool]


class IndexComparison:
    """Compares the indices of a function's accesses.

    Attributes:
        aliased: arguments may overlap, in whatever way their types allow.
        disjoint: receives dependences that must be checked at a launch; None: nothing can be left to that, so they
            count.
    """

    def __init__(self, function: Function, aliased: bool, disjoint: list[Dependence] | None = None) -> None:
        self.aliased = aliased
        self.disjoint = disjoint
        self._function = function

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis of the function's indices: computed once there are two accesses to compare."""
        return Analysis(self._function)

    def may_alias(self, a: Op, b: Op, loop_invariant: LoopInvariant) -> bool:
        """Return whether two accesses may touch one element, except as noted in `disjoint`.

        Args:
            a, b: the accesses.
            loop_invariant: whether a value is the same at both.
        """
        x, y = a.operands[0], b.operands[0]
        if x is not y:
            # Different parameters: only an overlap of the arguments can bring them together.
            return self.aliased and may_overlap(x, y, disjoint=False)
        dependence = self.analysis.dependence(a, b, None, lambda atom: atom.value is None or loop_invariant(atom.value))
        if self.disjoint is None or not any(d.is_fixed() for d in dependence.differences):
            return dependence.exists()
        self.disjoint += [dependence] if dependence.exists() else []
        return False

    def ahead(self, load: Op, effect: Op, loop: Op) -> bool:
        """Return whether a loop's index keeps a load away from what an effect changed in earlier iterations."""
        if loop.name != "for" or load.operands[0] is not effect.operands[0]:
            return False
        step = self.analysis.number(loop.operands[2])
        counter = Atom("value", value=loop.blocks[0].params[0])
        for one, other in zip(indices_of(load), indices_of(effect), strict=False):
            (now, first), (before, second) = self.analysis.index(one), self.analysis.index(other)
            k, back = now.terms.get(counter, 0), before.constant - now.constant
            loop_invariant = all(atom.value is None for atom in now.terms if atom != counter)
            if k == 0 or now.terms != before.terms or not loop_invariant or first or second:
                continue
            # The index of an earlier iteration lies a positive multiple of the step behind: it can have met this
            # element only if `back` is such a multiple.
            if back == 0 or (step and (back * k * step < 0 or back % (k * step))):
                return True
        return False


def overwritten_loads(function: Function, aliased: bool, disjoint: list[Dependence] | None = None) -> frozenset[Op]:
    """Return the loads that may see what the same thread has written; others see what the array held before the launch.

    Args:
        function: a kernel without races.
        aliased: arrays that it writes may overlap others.
        disjoint: receives dependences that must be checked at a launch and do not count; None: they count.
    """
    return frozenset(_Order(function, aliased, disjoint).block(function.body, []))


def overwrites(function: Function, aliased: bool) -> bool:
    """Return whether a thread may store a float where it has stored one before."""
    order = _Order(function, aliased)
    order.block(function.body, [])
    return order.twice


class _Order:
    """A walk over a function in the order of the program.

    Attributes:
        earlier: for each loop around: the loop, its effects, which may have happened in earlier iterations, and the
            values computed in it.
        twice: a float may have been stored where the thread stored one before.
    """

    def __init__(self, function: Function, aliased: bool, disjoint: list[Dependence] | None = None) -> None:
        self.comparison = IndexComparison(function, aliased, disjoint)
        self.earlier: list[tuple[Op, list[Op], set[Value]]] = []
        self.twice = False

    def block(self, block: Block, done: list[Op]) -> list[Op]:
        """Return the loads in a block that may see what the thread has written before; append its effects to `done`."""
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
        """Return the loads in a loop that may see what the thread has written, also in earlier iterations.

        The loop's effects are appended to `done`.
        """
        ops = [o for inner in op.blocks for o in walk(inner)]
        inside = {*definitions(*op.blocks)} | {p for o in (op, *ops) for b in o.blocks for p in b.params}
        effects = [o for o in ops if o.name in EFFECTS]
        self.earlier.append((op, effects, inside))
        # The loop's own effects are in `earlier` while its body is walked: a load may follow them by one iteration.
        overwritten = [load for inner in op.blocks for load in self.block(inner, list(done))]
        self.earlier.pop()
        done += effects
        return overwritten

    def is_overwritten(self, load: Op, done: list[Op], after: str = "") -> bool:
        """Return whether an access may touch an element that an earlier effect of the thread changed.

        Args:
            load: the access.
            done: the effects that may have happened in this iteration of every loop around.
            after: only effects of this name count; empty: all.
        """
        if any(
            self.comparison.may_alias(load, effect, lambda v: True)
            for effect in done
            if effect.name == (after or effect.name)
        ):
            return True
        return any(
            effect.name == (after or effect.name)
            and self.comparison.may_alias(load, effect, lambda v, inside=inside: v not in inside)
            and not self.comparison.ahead(load, effect, loop)
            for loop, effects, inside in self.earlier
            for effect in effects
        )

    def custom(self, op: Op, done: list[Op]) -> list[Op]:
        """Return the overwritten loads of a func's body, and those of its gradient and replay.

        The latter two read the adjoint's arrays, which are as they were before the launch, so that every earlier write
        counts.
        """
        # The body is recomputed in its place; a gradient and a replay read the adjoint's arrays, which are as they were
        # before the launch, so that every earlier write counts.
        overwritten = self.block(op.blocks[0], done)
        before = [effect for _, effects, _ in self.earlier for effect in effects]
        written = {effect.operands[0] for effect in (*done, *before)}
        for closed in closed_blocks(op):
            arguments = dict(zip(closed.params, op.operands, strict=False))
            for inner in walk(closed):
                array = arguments.get(inner.operands[0]) if inner.name == "load" else None
                if array in written or (array is not None and written and self.comparison.aliased):
                    overwritten.append(inner)
        return overwritten
