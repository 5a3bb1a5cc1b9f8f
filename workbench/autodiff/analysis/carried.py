"""Carried values that a loop's start, its end and the turn of their last change say in each turn.

Backwards, such a value needs no history. There are two kinds, recognised by the operations between what a turn begins
with and what it yields:

- a *latch* is a bool that is set and never reset (or the other way round): behind the turn of its change it is what it
  was set to, before it what it began with;
- an *extreme* is a running maximum or minimum, by `max`, `where` or `if`, also through loops inside and under
  conditions. Its cotangent ends in the turn in which it last changed, which passes it on to what the value changed to.
  In later turns it is what the loop returns; in that turn its start takes the same decision as the value itself; in
  earlier turns no rule looks at it. So nothing else may look at it, and ties are shared as by the operation itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from workbench.builtins import Ref
from workbench.builtins.scalars import operators
from workbench.ir.ops import LASTING, LEAD, LOOPS, OPAQUE, VALUE
from workbench.ir.values import Block, Op, Value, definitions, number_of, walk
from workbench.limits import UNROLLED_ITERATIONS
from workbench.passes.analysis.cost import known_trips
from workbench.source import UNKNOWN
from workbench.types import Scalar, is_float
from workbench.types import bool as bool_

_COMPARED = {"gt": 1, "ge": 1, "lt": -1, "le": -1}
_EXTREMA = {"max": 1, "min": -1}


class Latch(msgspec.Struct, frozen=True):
    """A carried bool that is only ever set to `value`, never reset."""

    value: bool

    def events(self, old: Ref, new: Ref, of: Callable[[Value], Ref]) -> list[Ref]:
        """Return a list of one condition: that an iteration changed it.

        Args:
            old: it before the iteration.
            new: it after that.
            of: gives the iteration's other values; not used.
        """
        return [operators.xor_(old, new)]

    def at_iteration(self, start: Ref, last: Ref, here: Ref, behind: Ref) -> Ref:
        """Return what it was at the beginning of an iteration.

        Args:
            start: what it was before the loop.
            last: what the loop returned.
            here: this is the iteration of the last change.
            behind: this is a later one.
        """
        return operators.or_(start, behind) if self.value else operators.and_(start, operators.not_(behind))


class Extreme(msgspec.Struct, frozen=True):
    """A carried float that is a running maximum (`sign` 1) or minimum (-1).

    Attributes:
        sign: which of the two.
        takes: a NaN among what is compared is never taken, or stays for good. Otherwise whatever is compared with a NaN
            is taken, so a NaN can stand for the start.
        other: what `max` or `min` compares it with, if each iteration does so once.
        test: if `other` is None: the condition that decides, and whether it holds where the other value is taken; None
            if that is not known either.
    """

    sign: int
    takes: bool
    other: Value | None = None
    test: tuple[Value, bool] | None = None

    def events(self, old: Ref, new: Ref, of: Callable[[Value], Ref]) -> list[Ref]:
        """Return conditions on an iteration: that it changed the value, and perhaps another.

        That is, if `other` or `test` is known: that the value with which it was compared took part in the result.

        Args:
            old: it before the iteration.
            new: it after that.
            of: gives the iteration's other values.
        """
        beyond = new > old if self.sign > 0 else new < old
        changed = [beyond if self.takes else new.differs(old)]
        if self.other is not None:
            other = of(self.other)
            return [*changed, operators.not_(old > other if self.sign > 0 else old < other)]
        if self.test is not None:
            test, taken = of(self.test[0]), self.test[1]
            return [*changed, test if taken else operators.not_(test)]
        return changed

    def at_iteration(self, start: Ref, last: Ref, here: Ref, behind: Ref) -> Ref:
        """Return what stands for it at the beginning of an iteration.

        Args:
            start: what it was before the loop, which stands for it in the iteration of the last change (a NaN in place
                of it, unless `takes` holds).
            last: what the loop returned, which stands for it in all others.
            here: this is the iteration of the last change.
            behind: this is a later one; not used.
        """
        return operators.where(here, start if self.takes else start.like(float(np.nan)), last)


Form = Latch | Extreme


def forms(op: Op, outside: Callable[[Value], Op | None]) -> dict[int, Form]:
    """Return those carried values of a loop that need no history, by number, as a `Latch` or an `Extreme`.

    It is empty if `op` is no loop, or one over a known, short range. Values that the condition of a `while` reads are
    left out.

    Args:
        op: any operation; only loops carry.
        outside: the operation that computes a value outside the loop, or None if it is not known.
    """
    known: dict[int, Form] = {}
    if op.name not in LOOPS or (op.name == "for" and _is_short([outside(v) for v in op.operands[:3]])):
        return known
    # What the condition of a `while` looks at is kept: backwards, that is asked of states as they come.
    condition = walk(op.blocks[0]) if op.name == "while" else ()
    condition_reads = {v for inner in condition for v in inner.operands}
    for slot in range(len(op.results)):
        if op.name == "while" and op.blocks[0].params[slot] in condition_reads:
            continue
        form = _latch(op, slot, outside) or _extreme(op, slot)
        if form is not None:
            known[slot] = form
    return known


def _is_short(bounds: Sequence[Op | None]) -> bool:
    """Return whether a range is known, and so short that the loop is better unrolled."""
    constants = [op for op in bounds if op is not None and op.name == "const"]
    if len(constants) < len(bounds):
        return False
    loop = Op("for", tuple(op.result for op in constants), (), {}, (), UNKNOWN)
    trips = known_trips(loop, {op.result: number_of(op) for op in constants})
    return trips is not None and trips <= UNROLLED_ITERATIONS


def _param(op: Op, slot: int) -> Value:
    """Return the parameter of a loop's body for the carried value of this number."""
    params = op.blocks[-1].params
    return params[len(params) - len(op.results) + slot]


def _latch(op: Op, slot: int, outside: Callable[[Value], Op | None]) -> Latch | None:
    """Return a carried bool as a latch; None if an iteration may yield anything but its old value or one constant.

    Args:
        op: the loop.
        slot: the number of the carried value.
        outside: returns the operation that computes a value outside the loop, or None if it is not known.
    """
    param = _param(op, slot)
    if param.type != bool_:
        return None
    defining = definitions(op.blocks[-1])

    def is_set(value: Value, to: bool) -> bool:
        if value is param:
            return True
        step = defining.get(value) or outside(value)
        if step is None:
            return False
        if step.name == "const":
            return bool(step.attrs[VALUE]) is to
        if step.name == ("or_" if to else "and_"):
            return any(is_set(v, to) for v in step.operands)
        if step.name == "where":
            return all(is_set(v, to) for v in step.operands[1:])
        if step.name == "if":
            return all(is_set(b.yielded[step.results.index(value)], to) for b in step.blocks)
        return False

    return next((Latch(to) for to in (True, False) if is_set(op.blocks[-1].yielded[slot], to)), None)


def _extreme(op: Op, slot: int) -> Extreme | None:
    """Return a carried float as a running extreme; None if it is none, or is read otherwise than by comparing."""
    param = _param(op, slot)
    if not isinstance(param.type, Scalar) or not is_float(param.type):
        return None
    chain = _Chain(op, slot)
    try:
        chain.of(op, slot)
    except _Other:
        return None
    signs, takes = {s for s, _ in chain.kinds}, {t for _, t in chain.kinds}
    if len(signs) != 1 or len(takes) != 1 or not chain.is_alone():
        return None
    other, test = _decision(op.blocks[-1], op.blocks[-1].yielded[slot], param)
    return Extreme(signs.pop(), takes.pop(), other, test)


def _decision(body: Block, value: Value, param: Value) -> tuple[Value | None, tuple[Value, bool] | None]:
    """Return what decides, in one iteration, whether a running extreme changes; at most one of the two is not None.

    The first is the value that `max` or `min` compares it with; the second a choice's condition, and whether it holds
    where the other value is taken. Both are None unless each iteration decides exactly once, outside of nested blocks.

    Args:
        body: the loop's body.
        value: what it yields for the extreme.
        param: the extreme at its beginning.
    """
    step = next((op for op in body.ops if value in op.results), None)
    inner = {v for op in body.ops for block in op.blocks for o in walk(block) for v in o.results}
    if step is not None and step.name in _EXTREMA and param in step.operands:
        other = step.operands[1 - step.operands.index(param)]
        return (None if other in inner else other), None
    sides: list[Value] = []
    if step is not None and step.name in ("where", "if"):
        slot = step.results.index(value)
        sides = list(step.operands[1:]) if step.name == "where" else [b.yielded[slot] for b in step.blocks]
    if param in sides and step is not None:
        return None, (step.operands[0], sides[1] is param)
    return None, None


def _acts(op: Op) -> bool:
    """Return whether a branch has an effect that lasts, or code whose effects are unknown."""
    return any(o.name in LASTING or o.name in OPAQUE for b in op.blocks for o in walk(b))


class _Other(Exception):
    """Raised where a value proves to be no running extreme."""


class _Chain:
    """The operations through which a carried value passes from the beginning of an iteration to its end.

    Attributes:
        loop: the loop that carries the value.
        defs: the operations that compute the values in it.
        users: of each value, the operations that use it, and as which operand.
        yields: the last operations of loops' bodies, to those loops.
        values: the values that belong to the chain.
        kinds: of the comparisons on the way: 1 for a maximum and -1 for a minimum, and `Extreme.takes`.
        uses: the operands, by operation and position, that belong to the chain.
    """

    def __init__(self, loop: Op, slot: int) -> None:
        self.loop = loop
        self.defs = definitions(*loop.blocks)
        self.users: dict[Value, list[tuple[Op, int]]] = defaultdict(list)
        self.yields = {loop.blocks[-1].ops[-1]: loop}
        for op in (inner for block in loop.blocks for inner in walk(block)):
            self.yields.update({op.blocks[-1].ops[-1]: op} if op.name in LOOPS else {})
            for position, value in enumerate(op.operands):
                self.users[value].append((op, position))
        self.values = set[Value]()
        self.add_params(loop, slot)
        self.kinds: set[tuple[int, bool]] = set()
        self.uses: set[tuple[Op, int]] = set()

    def add_params(self, loop: Op, slot: int) -> None:
        """Add the parameters of a loop's blocks for one carried value to the values of the chain."""
        self.values.update(b.params[len(b.params) - len(loop.results) + slot] for b in loop.blocks)

    def of(self, loop: Op, slot: int) -> None:
        """Follow a loop's carried value from an iteration's end to its beginning, and add what it meets to the chain.

        Raises:
            _Other: it is no running extreme.
        """
        self.add_params(loop, slot)
        self.uses.add((loop.blocks[-1].ops[-1], slot))
        self.follow(loop.blocks[-1].yielded[slot])

    def follow(self, value: Value) -> None:
        """Follow a value back to the beginning of the iteration, and add what it meets to the chain.

        Raises:
            _Other: it is no running extreme.
        """
        if value in self.values:
            return
        op = self.defs.get(value)
        if op is None:
            raise _Other
        self.values.add(value)
        if op.name in _EXTREMA:
            self.kinds.add((_EXTREMA[op.name], True))
            self.either(op, (0, 1))
        elif op.name in ("where", "if"):
            self.choice(op, value)
        elif op.name in LOOPS:
            slot = op.results.index(value)
            self.uses.add((op, LEAD[op.name] + slot))
            self.of(op, slot)
            self.follow(op.operands[LEAD[op.name] + slot])
        else:
            raise _Other

    def either(self, op: Op, positions: Sequence[int]) -> None:
        """Follow the first operand among `positions` that leads back to the beginning.

        Raises:
            _Other: none does, or it is no running extreme.
        """
        for position in positions:
            if self.leads(op.operands[position]):
                self.uses.add((op, position))
                self.follow(op.operands[position])
                return
        raise _Other

    def leads(self, value: Value) -> bool:
        """Return whether a value is the carried one, or computed from it by comparisons, choices and loops alone."""
        if value in self.values:
            return True
        op = self.defs.get(value)
        if op is None or op.name not in (*_EXTREMA, "where", "if", *LOOPS):
            return False
        if op.name in LOOPS:
            return self.leads(op.operands[LEAD[op.name] + op.results.index(value)])
        sources = op.operands
        if op.name == "if":
            sources = tuple(b.yielded[op.results.index(value)] for b in op.blocks)
        return any(self.leads(v) for v in sources)

    def choice(self, op: Op, value: Value) -> None:
        """Follow a `where` or an `if`: both sides, if both lead back; else one side, if it is compared with the other.

        Raises:
            _Other: it is no running extreme.
        """
        if op.name == "where":
            sides = [(op, 1, op.operands[1]), (op, 2, op.operands[2])]
        else:
            slot = op.results.index(value)
            sides = [(b.ops[-1], slot, b.yielded[slot]) for b in op.blocks]
        if all(self.leads(v) for _, _, v in sides):
            for step, position, side in sides:
                self.uses.add((step, position))
                self.follow(side)
            return
        for (step, position, own), (_, _, other), taken in ((*sides, False), (*sides[::-1], True)):
            if self.leads(own):
                self.uses.add((step, position))
                self.follow(own)
                self.compared(op, own, other, taken)
                return
        raise _Other

    def compared(self, op: Op, own: Value, other: Value, taken: bool) -> None:
        """Record the comparison that decides a choice.

        Args:
            op: the choice.
            own: the side that leads back.
            other: the other side.
            taken: the condition holds where `other` is chosen; False: where `own` is.

        Raises:
            _Other: the condition is no comparison of the two, or decides something else as well.
        """
        test = self.defs.get(op.operands[0])
        while test is not None and test.name == "not_":
            test, taken = self.defs.get(test.operands[0]), not taken
        if test is None or test.name not in _COMPARED or set(test.operands) != {own, other}:
            raise _Other
        first = _COMPARED[test.name] * (1 if test.operands[0] is (other if taken else own) else -1)
        self.kinds.add((first, taken))
        self.uses.add((test, test.operands.index(own)))
        if _acts(op):
            raise _Other
        if taken:
            self.check_choices(test, op)
        elif len(self.users[test.result]) > 1 or (op.name == "if" and len(op.results) > 1):
            raise _Other

    def check_choices(self, test: Op, choice: Op) -> None:
        """Check that all else that depends on a comparison is chosen along with the extreme, as its index is.

        Raises:
            _Other: something else depends on it.
        """
        if choice.operands[0] is not test.result:
            if len(choice.results) > 1 or len(self.users[choice.operands[0]]) > 1 or len(self.users[test.result]) > 1:
                raise _Other
        elif not all(self.is_chosen(user, position) for user, position in self.users[test.result]):
            raise _Other

    def is_chosen(self, op: Op, position: int) -> bool:
        """Return whether an operation only chooses new values of what loops carry, and keeps the old ones otherwise.

        Args:
            op: what uses a condition.
            position: as which operand.
        """
        if op.name not in ("where", "if") or position or _acts(op):
            return False
        old = op.operands[2:] if op.name == "where" else op.blocks[1].yielded
        return all(r in self.values or self.is_carried(r, v) for r, v in zip(op.results, old, strict=True))

    def is_carried(self, result: Value, old: Value) -> bool:
        """Return whether a result is unused, or only yielded by a loop that carries it from iteration to iteration.

        Args:
            result: of a choice.
            old: the value that the choice keeps; it has to be the carried one, without other uses.
        """
        users = self.users[result]
        if not users:
            return True
        (use, slot), *others = users
        loop = self.yields.get(use)
        if others or loop is None or _param(loop, slot) is not old or len(self.users[old]) != 1:
            return False
        if loop.name == "while" and self.users[loop.blocks[0].params[slot]]:
            return False
        return loop is self.loop or self.is_carried(loop.results[slot], loop.operands[LEAD[loop.name] + slot])

    def is_alone(self) -> bool:
        """Return whether nothing else reads the values of the chain, except to note in which iteration one changed."""
        for op, _ in (use for value in self.values for use in self.users[value] if use not in self.uses):
            if op.name not in (*_COMPARED, "ne") or not self.values.issuperset(op.operands):
                return False
            if not all(self.is_chosen(*use) for use in self.users[op.result]):
                return False
        return True
