"""By how much an index differs from the thread's own: of `max(i - 1, 0)` by -1 or 0, of `(i + 1) % n` by 1 or 1 - n.

What is found holds where a launch is no larger than the sizes that clamp or wrap its indices (`needs`): the caller
asks that before the launch, when all sizes are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from workbench.ir.attributes import AXIS
from workbench.ir.values import Function, Op, Value, number_of, walk
from workbench.limits import PULLED_OFFSET
from workbench.types import ArrayType, int32, int64, is_integer


class Size(msgspec.Struct, frozen=True):
    """A number that is known before a launch.

    Attributes:
        parameter: the array with this size, or the number; "" for a constant.
        axis: of the array; -1 of a number.
        added: what is added to it.
    """

    parameter: str
    axis: int
    added: int


class Need(msgspec.Struct, frozen=True):
    """A condition on a launch: that a dimension (or a number, if `dim` is -1) is at most a size, or equal to it."""

    dim: int
    number: int
    size: Size
    equal: bool = False


class Difference(msgspec.Struct, frozen=True):
    """One way in which an index may differ from the thread's own: by `added`, and `sign` times `size`.

    Attributes:
        edge: where a clamp makes the index another one than it was, what it is clamped to; None elsewhere. The
            threads that are found by the distance have to be asked for their index then.
    """

    added: int
    sign: int = 0
    size: Value | None = None
    edge: Value | None = None


class Index(msgspec.Struct, frozen=True):
    """An index as the thread's own along one axis of the launch, and all ways in which it may differ from that."""

    axis: int
    ways: tuple[Difference, ...]
    needs: frozenset[Need] = frozenset()

    @property
    def only(self) -> int | None:
        """The difference, if there is one and it is a constant."""
        first, *more = self.ways
        return None if more or first.size is not None else first.added


class Differences:
    """The indices of one function."""

    def __init__(self, function: Function) -> None:
        self.made = {v: op for op in walk(function.body) for v in op.results}
        self.params = set(function.params)

    def of(self, value: Value, least: Mapping[int, int]) -> Index | None:
        """How the index differs from the thread's own; None if that is not known.

        Args:
            value: an index.
            least: for axes of the launch, the least number that the thread's own can be here.
        """
        op = self.made.get(value)
        # Unsigned numbers wrap at 0, where `min` makes something else of them.
        if op is None or value.type not in (int32, int64):
            return None
        if op.name == "tid":
            return Index(op.attrs[AXIS], (Difference(0),))
        if op.name == "cast":
            return self.of(op.operands[0], least)
        if op.name in ("add", "sub"):
            return self._shifted(op, least)
        if op.name == "wrap_index":
            return self._from_the_end(op, least)
        if op.name == "mod":
            return self._periodic(op, least)
        if op.name in ("min", "max", "clamp"):
            return self._clamped(op, least)
        return None

    def number(self, value: Value) -> int | None:
        """The integer, if it is a constant."""
        op = self.made.get(value)
        while op is not None and op.name == "cast" and is_integer(op.result.type):
            op = self.made.get(op.operands[0])
        known = op is not None and op.name == "const" and is_integer(op.result.type)
        return int(number_of(op)) if op is not None and known else None

    def size(self, value: Value) -> Size | None:
        """The number as one that is known before a launch."""
        number = self.number(value)
        if number is not None:
            return Size("", -1, number)
        if value in self.params:
            return Size(value.name, -1, 0) if value.type == int32 else None
        op = self.made.get(value)
        if op is None:
            return None
        if op.name == "shape":
            return Size(op.operands[0].name, op.attrs[AXIS], 0)
        if op.name in ("add", "sub") and value.type == int32:
            for one, other in (op.operands, op.operands[::-1]):
                inner, more = self.size(one), self.number(other)
                if inner is not None and more is not None and (op.name == "add" or one is op.operands[0]):
                    return Size(inner.parameter, inner.axis, inner.added + (more if op.name == "add" else -more))
        return None

    def _shifted(self, op: Op, least: Mapping[int, int]) -> Index | None:
        for one, other in (op.operands, op.operands[::-1]):
            inner, more = self.of(one, least), self.number(other)
            if (
                inner is None
                or more is None
                or abs(more) > PULLED_OFFSET
                or (op.name == "sub" and one is not op.operands[0])
            ):
                continue
            more = more if op.name == "add" else -more
            if inner.only is not None:
                return Index(inner.axis, (Difference(inner.only + more),), inner.needs)
        return None

    def _from_the_end(self, op: Op, least: Mapping[int, int]) -> Index | None:
        """An index that counts from the end where it is negative."""
        inner = self.of(op.operands[0], least)
        if inner is None or self._not_negative(op.operands[0], inner, least):
            return inner
        back = inner.only
        if back is None:
            return None
        return Index(inner.axis, (Difference(back), Difference(back, 1, op.operands[1])), inner.needs)

    def _not_negative(self, value: Value, index: Index, least: Mapping[int, int]) -> bool:
        op = self.made[value]
        if op.name in ("cast", "min"):
            # What a launch is no larger than (`needs`) is not negative either.
            inner = [(v, found) for v in op.operands if (found := self.of(v, least)) is not None]
            return all(self._not_negative(v, found, least) for v, found in inner)
        if op.name in ("max", "clamp"):
            limits = op.operands[1:2] if op.name == "clamp" else op.operands
            return any((n := self.number(v)) is not None and n >= 0 for v in limits)
        one = all(w.size is None and least.get(index.axis, 0) + w.added >= 0 for w in index.ways)
        return op.name == "mod" or one

    def _periodic(self, op: Op, least: Mapping[int, int]) -> Index | None:
        inner, size = self.of(op.operands[0], least), self.size(op.operands[1])
        added = inner.only if inner is not None and not inner.needs else None
        if inner is None or size is None or added is None:
            return None
        needs = frozenset({Need(inner.axis, 0, size), Need(-1, max(1, abs(added)), size)})
        other = () if added == 0 else (Difference(added, 1 if added < 0 else -1, op.operands[1]),)
        return Index(inner.axis, (Difference(added), *other), needs)

    def _clamped(self, op: Op, least: Mapping[int, int]) -> Index | None:
        if op.name == "clamp":
            inner = self.of(op.operands[0], least)
            return self._at_most(self._at_least(inner, op.operands[1]), op.operands[2])
        for one, limit in (op.operands, op.operands[::-1]):
            inner = self.of(one, least)
            if inner is not None:
                return self._at_least(inner, limit) if op.name == "max" else self._at_most(inner, limit)
        return None

    def _at_least(self, inner: Index | None, limit: Value) -> Index | None:
        """max(index, 0): a thread's own index is not negative, so it differs by less."""
        if inner is None or self.number(limit) != 0:
            return None
        return self._spread(inner, limit, lambda added: range(added + 1, 1))

    def _at_most(self, inner: Index | None, limit: Value) -> Index | None:
        """min(index, limit) where the launch ends at the limit: then it differs by less too."""
        size = self.size(limit)
        if inner is None or size is None or not size.parameter or any(w.size is not None for w in inner.ways):
            return None
        need = Need(inner.axis, 0, Size(size.parameter, size.axis, size.added + 1))
        return self._spread(inner, limit, lambda added: range(0, added), need)

    def _spread(self, inner: Index, limit: Value, clamped: Callable[[int], range], *needs: Need) -> Index | None:
        """With the ways in which the index may differ where it is the limit."""
        if any(w.size is not None for w in inner.ways):
            return None
        more = {n for w in inner.ways for n in clamped(w.added)} - {w.added for w in inner.ways}
        ways = (*inner.ways, *(Difference(n, edge=limit) for n in sorted(more)))
        return Index(inner.axis, ways, inner.needs | frozenset(needs)) if len(ways) <= PULLED_OFFSET else None


def lower_bounds(condition: Value, holds: bool, made: Mapping[Value, Op], where: Differences) -> dict[int, int]:
    """The least that the thread's own index can be along each axis, by a condition that holds, or does not."""
    op = made.get(condition)
    if op is None:
        return {}
    if op.name == ("and_" if holds else "or_"):
        found: dict[int, int] = {}
        for part in op.operands:
            for axis, low in lower_bounds(part, holds, made, where).items():
                found[axis] = max(low, found.get(axis, 0))
        return found
    if op.name == "not_":
        return lower_bounds(op.operands[0], not holds, made, where)
    name = op.name if holds else _OPPOSITE.get(op.name, "")
    if name not in _OPPOSITE:
        return {}
    index, limit = op.operands if name in ("gt", "ge") else op.operands[::-1]
    number, at = where.number(limit), where.of(index, {})
    if number is None or at is None or at.needs or at.only is None:
        return {}
    return {at.axis: max(0, number + (name in ("gt", "lt")) - at.only)}


def upper_bounds(condition: Value, holds: bool, where: Differences, axis: int, size: Size) -> int:
    """What the thread's own index along an axis is more than a size, which it is below, at most: by a condition that
    holds, or does not.
    """
    op = where.made.get(condition)
    if op is None:
        return -1
    if op.name == ("and_" if holds else "or_"):
        return min(upper_bounds(part, holds, where, axis, size) for part in op.operands)
    if op.name == "not_":
        return upper_bounds(op.operands[0], not holds, where, axis, size)
    name = op.name if holds else _OPPOSITE.get(op.name, "")
    if name not in _OPPOSITE:
        return -1
    index, limit = op.operands if name in ("lt", "le") else op.operands[::-1]
    end, at = where.size(limit), where.of(index, {})
    if end is None or at is None or at.needs or at.only is None or at.axis != axis:
        return -1
    same = (end.parameter, end.axis) == (size.parameter, size.axis)
    return min(-1, end.added - size.added - (name in ("lt", "gt")) - at.only) if same else -1


_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def shape_of(array: Value, axis: int) -> Size:
    """The size of an array along an axis."""
    assert isinstance(array.type, ArrayType)
    return Size(array.name, axis, 0)
