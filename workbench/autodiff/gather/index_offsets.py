"""By how much an index differs from the thread's own: of `max(i - 1, 0)` by -1 or 0, of `(i + 1) % n` by 1 or 1 - n.

What is found holds where a launch is no larger than the sizes that clamp or wrap its indices (`needs`): the caller
asks that before the launch, when all sizes are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

import msgspec

from workbench.ir.analysis import MIRRORED, Analysis, Atom, Form
from workbench.ir.values import Function, Op, Value
from workbench.limits import PULLED_OFFSET
from workbench.types import int32, int64


class LaunchCondition(msgspec.Struct, frozen=True):
    """A condition on a launch: that a dimension, or a number, is at most a size, or equal to it.

    Attributes:
        dim: the axis of the launch; -1: `number` is compared instead.
        number: the number; only if `dim` is -1.
        size: what it is compared with.
        equal: it has to be equal.
    """

    dim: int
    number: int
    size: Form
    equal: bool = False


class IndexOffset(msgspec.Struct, frozen=True):
    """A possible difference of an index from the thread's own: `added` + `sign` · `size`.

    Attributes:
        added: a constant.
        sign: 1 or -1; 0 without a size.
        size: a size or number; None: there is none.
        edge: the limit at which a clamp changes the index into another one; None elsewhere. Threads that are found by
            this distance have to be asked for their index.
    """

    added: int
    sign: int = 0
    size: Value | None = None
    edge: Value | None = None


class Index(msgspec.Struct, frozen=True):
    """An index as the thread's own along an axis of the launch, plus one of several differences.

    Attributes:
        axis: the axis's number.
        offsets: all differences that it may have, each a constant or one that depends on a size.
        needs: the conditions that a launch has to meet for this to hold.
    """

    axis: int
    offsets: tuple[IndexOffset, ...]
    needs: frozenset[LaunchCondition] = frozenset()

    @property
    def only(self) -> int | None:
        """The difference, if there is one and it is a constant."""
        first, *more = self.offsets
        return None if more or first.size is not None else first.added


class OffsetAnalysis:
    """Finds by how much indices in one function differ from the thread's own index.

    Attributes:
        analysis: of the function's values, as linear forms.
        defs: the operations that compute the values.
        number: returns the number of a value that is a constant, else None.
    """

    def __init__(self, function: Function) -> None:
        self.analysis = Analysis(function)
        self.defs = self.analysis.defs
        self.number = self.analysis.number
        self._types = {p.name: p.type for p in function.params}

    def of(self, value: Value, least: Mapping[int, int]) -> Index | None:
        """Return how an index differs from the thread's own; None if that is not known, or it is no signed integer.

        Args:
            value: an index.
            least: for axes of the launch, the least number that the thread's own can be here.
        """
        # Unsigned numbers wrap at 0, where `min` makes something else of them.
        return self._of(self.analysis.form(value), least) if value.type in (int32, int64) else None

    def _of(self, form: Form, least: Mapping[int, int]) -> Index | None:
        """Return how an index with this linear form differs from the thread's own; None if that is not known."""
        if list(form.terms.values()) != [1] or abs(form.constant) > PULLED_OFFSET:
            return None
        (atom,) = form.terms
        if atom.kind == "tid":
            return Index(atom.axis, (IndexOffset(form.constant),))
        value = atom.value
        op = self.defs.get(value) if value is not None and value.type in (int32, int64) else None
        rule = None if op is None else self._RULES.get(op.name)
        inner = None if op is None or rule is None else rule(self, op, least)
        if inner is None or not form.constant:
            return inner
        only = inner.only
        return None if only is None else Index(inner.axis, (IndexOffset(only + form.constant),), inner.needs)

    def size(self, value: Value) -> Form | None:
        """Return a number as a linear form that is known before a launch; None if it is not.

        It is a constant, or one array size or int32 parameter plus a constant.
        """
        form = self.analysis.form(value)
        known = [a.kind == "shape" or (a.kind == "number" and self._types[a.name] == int32) for a in form.terms]
        return form if known in ([], [True]) and set(form.terms.values()) <= {1} else None

    def _from_the_end(self, op: Op, least: Mapping[int, int]) -> Index | None:
        """Return an index that counts from an array's end where it is negative; None if the difference is not known."""
        inner = self.of(op.operands[0], least)
        if inner is None or self._not_negative(op.operands[0], inner, least):
            return inner
        back = inner.only
        if back is None:
            return None
        return Index(inner.axis, (IndexOffset(back), IndexOffset(back, 1, op.operands[1])), inner.needs)

    def _not_negative(self, value: Value, index: Index, least: Mapping[int, int]) -> bool:
        """Return whether a value, analysed as `index`, cannot be negative where the thread's own is `least` or more."""
        op = self.defs[value]
        if op.name in ("cast", "min"):
            # What a launch is no larger than (`needs`) is not negative either.
            inner = [(v, own_index) for v in op.operands if (own_index := self.of(v, least)) is not None]
            return all(self._not_negative(v, own_index, least) for v, own_index in inner)
        if op.name in ("max", "clamp"):
            limits = op.operands[1:2] if op.name == "clamp" else op.operands
            return any((n := self.number(v)) is not None and n >= 0 for v in limits)
        one = all(w.size is None and least.get(index.axis, 0) + w.added >= 0 for w in index.offsets)
        return op.name == "mod" or one

    def _periodic(self, op: Op, least: Mapping[int, int]) -> Index | None:
        """Return the index that `i % size` is, with its difference where it wraps around; None if it is not known."""
        size = self.size(op.operands[1])
        if size is None or (not size.terms and size.constant < 1):
            return None
        times, rest = self.analysis.form(op.operands[0]).divided(size)
        inner = self._of(rest, least)
        added = inner.only if inner is not None and not inner.needs else None
        if inner is None or added is None:
            return None
        needs = {LaunchCondition(inner.axis, 0, size), LaunchCondition(-1, max(1, abs(added)), size)}
        if times:  # of `(i + n - 1) % n` the sum must not wrap
            needs.add(LaunchCondition(-1, 0, Form(2**31 - 1, {}).plus(size, -abs(times) - 2)))
        other = () if added == 0 else (IndexOffset(added, 1 if added < 0 else -1, op.operands[1]),)
        return Index(inner.axis, (IndexOffset(added), *other), frozenset(needs))

    def _clamped(self, op: Op, least: Mapping[int, int]) -> Index | None:
        """Return the index that a `min`, `max` or `clamp` is; None if that is not known."""
        if op.name == "clamp":
            inner = self.of(op.operands[0], least)
            return self._at_most(self._at_least(inner, op.operands[1]), op.operands[2])
        for one, limit in (op.operands, op.operands[::-1]):
            inner = self.of(one, least)
            if inner is not None:
                return self._at_least(inner, limit) if op.name == "max" else self._at_most(inner, limit)
        return None

    def _at_least(self, inner: Index | None, limit: Value) -> Index | None:
        """Return max(index, 0); None if the limit is another one, or the index is not known.

        A thread's own index is not negative, so greater differences up to 0 are possible as well.
        """
        if inner is None or self.number(limit) != 0:
            return None
        return self._spread(inner, limit, lambda added: range(added + 1, 1))

    def _at_most(self, inner: Index | None, limit: Value) -> Index | None:
        """Return min(index, limit), for launches that are no larger than the limit plus 1; None if that is not known.

        There the differences are those and smaller ones down to 0.
        """
        size = self.size(limit)
        if inner is None or size is None or not size.terms or any(w.size is not None for w in inner.offsets):
            return None
        need = LaunchCondition(inner.axis, 0, size.plus(Form(1, {})))
        return self._spread(inner, limit, lambda added: range(0, added), need)

    def _spread(
        self, inner: Index, limit: Value, clamped: Callable[[int], range], *needs: LaunchCondition
    ) -> Index | None:
        """Return an index clamped to a limit: its differences, and those that it may have where it is the limit.

        Args:
            inner: the index before the clamp.
            limit: what it is clamped to.
            clamped: returns, for a constant difference, those that the clamp may turn it into.
            needs: what else has to hold of the launch.

        Returns:
            The index; None if a difference is no constant, or there are too many.
        """
        if any(w.size is not None for w in inner.offsets):
            return None
        more = {n for w in inner.offsets for n in clamped(w.added)} - {w.added for w in inner.offsets}
        offsets = (*inner.offsets, *(IndexOffset(n, edge=limit) for n in sorted(more)))
        return Index(inner.axis, offsets, inner.needs | frozenset(needs)) if len(offsets) <= PULLED_OFFSET else None

    def _narrowed(self, op: Op, least: Mapping[int, int]) -> Index | None:
        """Return the index that the operand of a cast is; None if that is not known."""
        return self.of(op.operands[0], least)

    _RULES: ClassVar[dict[str, Callable[[OffsetAnalysis, Op, Mapping[int, int]], Index | None]]] = {
        "cast": _narrowed,
        "wrap_index": _from_the_end,
        "mod": _periodic,
        "min": _clamped,
        "max": _clamped,
        "clamp": _clamped,
    }


Guards = Sequence[tuple[Value, bool]]
"""Conditions, and whether each holds."""


def lower_bounds(guards: Guards, where: OffsetAnalysis) -> dict[int, int]:
    """Return the least that the thread's own index can be along each axis, where the guards hold as they say.

    Axes of which nothing is known are left out.
    """
    least: dict[int, int] = {}
    for name, index, limit in _limits(guards, where, ("gt", "ge")):
        number, at = where.number(limit), where.of(index, {})
        if number is not None and at is not None and not at.needs and at.only is not None:
            least[at.axis] = max(number + (name == "gt") - at.only, least.get(at.axis, 0))
    return least


def upper_bounds(guards: Guards, where: OffsetAnalysis, axis: int, size: Form) -> int:
    """Return by how much the thread's own index along an axis can exceed a size, where the guards hold as they say.

    It is -1 or less: the index is taken to be below the size.
    """
    most = -1
    for name, index, limit in _limits(guards, where, ("lt", "le")):
        end, at = where.size(limit), where.of(index, {})
        same = end is not None and end.terms == size.terms
        if same and end and at is not None and not at.needs and at.only is not None and at.axis == axis:
            most = min(most, end.constant - size.constant - (name == "lt") - at.only)
    return most


def _limits(guards: Guards, where: OffsetAnalysis, names: tuple[str, str]) -> Iterator[tuple[str, Value, Value]]:
    """Yield the comparisons that guards imply, as (name, left, right), mirrored if only then the name is in `names`."""
    for condition, holds in guards:
        for name, left, right in where.analysis.implied(condition, holds):
            if name in names:
                yield name, left, right
            elif MIRRORED[name] in names:
                yield MIRRORED[name], right, left


def shape_of(array: Value, axis: int) -> Form:
    """Return the size of an array along an axis, as a linear form."""
    return Form(0, {Atom("shape", array.name, axis): 1})
