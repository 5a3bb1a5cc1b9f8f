"""Offsets of an access's subscripts from the thread's own index, for a launch whose sizes are known.

Of `x[max(i - 1, 0)]` the offset is -1 to 0; of `x[(i + 1) % n]` it is 1 on a ring, where n is the size of the launch.
An offset is an interval: integers are bounded as in interval analysis, and the thread's index is kept as a symbol.

Numbers that are known once the sizes of arrays are, such as sums of sizes, stand for indices until then (`Size`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import msgspec

from workbench.ir.analysis import MIRRORED, Analysis, Atom, Form, Sizes
from workbench.ir.ops import ELEMENTS
from workbench.ir.values import Function, Op, Value, indices_of
from workbench.types import int32, int64, is_integer

Bounds = Mapping[int, tuple[int, int]]
"""The least and the greatest index of a thread along dimensions of the launch."""


class Offset(msgspec.Struct, frozen=True):
    """The thread's index along `dimension` plus something from `low` to `high`.

    Attributes:
        dimension: of the launch; -1: the offset is a number from `low` to `high`, without an index.
        ring: whether a multiple of the launch's size along the dimension may come on top.
    """

    dimension: int
    low: int
    high: int
    ring: bool = False

    def plus(self, other: Offset) -> Offset | None:
        """Return the sum; None if both offsets contain a thread's index."""
        if self.dimension >= 0 and other.dimension >= 0:
            return None
        dimension = max(self.dimension, other.dimension)
        return Offset(dimension, self.low + other.low, self.high + other.high, self.ring or other.ring)

    def times(self, factor: int) -> Offset | None:
        """Return a multiple; None if the offset contains a thread's index and the factor is not 1."""
        if factor == 1:
            return self
        ends = self.low * factor, self.high * factor
        return Offset(-1, min(ends), max(ends)) if self.dimension < 0 else None


Rule = Callable[["Offsets", Op, Value, Bounds], Offset | None]


class Offsets:
    """Finds the offsets of a function's integers from the thread's own index, in a launch whose sizes are known.

    Attributes:
        analysis: of the function's values, as affine forms.
        sizes: of the launch.
    """

    def __init__(self, function: Function, sizes: Sizes) -> None:
        self.analysis, self.sizes = Analysis(function), sizes

    def accesses(self) -> dict[Op, tuple[Offset | None, ...]]:
        """Return the offset of each subscript of each access to an element; None for one that is unknown.

        u[i - 1, j] = …    # (Offset(0, -1, -1), Offset(1, 0, 0))
        """
        result: dict[Op, tuple[Offset | None, ...]] = {}
        for access in self.analysis.accesses():
            if access.op.name in ELEMENTS:
                bounds: Bounds = {}
                for condition, holds in access.guards:
                    bounds = self._narrowed(condition, holds, bounds)
                result[access.op] = tuple(self._nearest(index, bounds) for index in access.indices)
        return result

    def _nearest(self, index: Value, bounds: Bounds) -> Offset | None:
        """Return the offset of a subscript, as near to 0 as multiples of a ring's size allow; None if it is unknown.

        An adjoint in gather form writes i - 1 on a ring as i + n - 1.
        """
        offset, wraps = self.of(index, bounds), self.launches(index)
        if offset is None or not wraps:
            return offset
        back = wraps * self.size(offset.dimension)
        return Offset(offset.dimension, offset.low - back, offset.high - back, ring=True)

    def launches(self, index: Value) -> int:
        """Return how many launch sizes a subscript is away from the thread's index, rounded; 0 if unknown."""
        offset = self.of(index, {})
        size = 0 if offset is None or offset.dimension < 0 else self.size(offset.dimension)
        return 0 if offset is None or not size else (offset.low + offset.high + size) // (2 * size)

    def of(self, value: Value, bounds: Bounds) -> Offset | None:
        """Return the offset of an int32 or int64; None if it is unknown or of another type.

        `bounds` hold for the indices of the threads that compute it.
        """
        return self._of_form(self.analysis.form(value), bounds) if value.type in (int32, int64) else None

    def _of_form(self, form: Form, bounds: Bounds) -> Offset | None:
        """Return the offset of an affine form; None if that of a term or of the sum is unknown."""
        total: Offset | None = Offset(-1, form.constant, form.constant)
        for atom, n in form.terms.items():
            term = self._of_atom(atom, bounds)
            term = None if term is None else term.times(n)
            total = None if total is None or term is None else total.plus(term)
        return total

    def _of_atom(self, atom: Atom, bounds: Bounds) -> Offset | None:
        """Return the offset of a form's atom: a thread's index, a size, a counter or another value; None if unknown."""
        if atom.kind == "tid":
            return Offset(atom.axis, 0, 0)
        number = self.sizes.of(atom)
        if number is not None:
            return Offset(-1, number, number)
        value = atom.value
        if value is None or value.type not in (int32, int64):
            return None
        if value in self.analysis.counters:
            return self._counted(self.analysis.counters[value], bounds)
        op = self.analysis.defs.get(value)
        rule = None if op is None else self._RULES.get(op.name)
        return None if rule is None or op is None else rule(self, op, value, bounds)

    def wraps(self, op: Op) -> int:
        """Return how many times `mod` subtracts its size from an index, for most threads.

        It is 0 if that is not known, and for `wrap_index`.
        """
        inner, size = (self.of(v, {}) for v in op.operands)
        if op.name != "mod" or inner is None or size is None:
            return 0
        return (inner.low + inner.high + size.low) // (2 * size.low)

    def size(self, dimension: int) -> int:
        """Return the launch's size along a dimension; the largest possible if it is unknown."""
        return self.sizes.dims[dimension] if dimension < len(self.sizes.dims) else 2**31 - 1

    def ends(self, dimension: int, bounds: Bounds) -> tuple[int, int]:
        """Return the least and the greatest index of a thread along a dimension.

        They are those in `bounds`, or else those of the launch.
        """
        return bounds.get(dimension, (0, self.size(dimension) - 1))

    # ---- operations whose result is not affine

    def _narrowing(self, op: Op, value: Value, bounds: Bounds) -> Offset | None:
        """Return the offset of a cast from an integer, which is that of its operand; None if it is unknown."""
        return self.of(op.operands[0], bounds) if is_integer(op.operands[0].type) else None

    def _product(self, op: Op, value: Value, bounds: Bounds) -> Offset | None:
        """Return the interval of a product; None if an operand is unknown or contains a thread's index."""
        one, other = (self.of(v, bounds) for v in op.operands)
        if one is None or other is None or max(one.dimension, other.dimension) >= 0:
            return None
        ends = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
        return Offset(-1, min(ends), max(ends))

    def _clamped(self, op: Op, value: Value, bounds: Bounds) -> Offset | None:
        """Return the offset of a `min`, `max` or `clamp`; None if its operands have no common base."""
        names = {"clamp": (max, min), "max": (max,), "min": (min,)}[op.name]
        result = self.of(op.operands[0], bounds)
        for pick, limit in zip(names, op.operands[1:], strict=True):
            both = self._with_common_base(result, self.of(limit, bounds), bounds)
            if both is None:
                return None
            result = Offset(both[0].dimension, *(pick(getattr(b, end) for b in both) for end in ("low", "high")))
        return result

    def _with_common_base(
        self, one: Offset | None, other: Offset | None, bounds: Bounds
    ) -> tuple[Offset, Offset] | None:
        """Return both offsets as from the same index, if one of them has an index; None if they have different ones.

        It is None too if one is unknown or on a ring.
        """
        if one is None or other is None or one.ring or other.ring:
            return None
        dimension = max(one.dimension, other.dimension)
        first, last = self.ends(dimension, bounds) if dimension >= 0 else (0, 0)
        offsets = [
            o if o.dimension == dimension else Offset(dimension, o.low - last, o.high - first) for o in (one, other)
        ]
        return (offsets[0], offsets[1]) if {one.dimension, other.dimension} <= {-1, dimension} else None

    def _chosen(self, op: Op, value: Value, bounds: Bounds) -> Offset | None:
        """Return the offset that covers those of both sides of a `where` or an `if`; None if there is none."""
        sides: Sequence[Value] = op.operands[1:]
        if op.name == "if":
            number = op.results.index(value)
            sides = [block.yielded[number] for block in op.blocks]
        narrow = [self._narrowed(op.operands[0], holds, bounds) for holds in (True, False)]
        offsets = [self.of(side, n) for side, n in zip(sides, narrow, strict=True)]
        dimension = max((o.dimension for o in offsets if o is not None), default=-1)
        either: list[Offset] = []
        for side, inside in zip(offsets, narrow, strict=True):
            both = self._with_common_base(side, Offset(dimension, 0, 0), inside) if side is not None else None
            if both is None:
                return None
            either.append(both[0])
        return Offset(dimension, min(o.low for o in either), max(o.high for o in either))

    def _around(self, op: Op, value: Value, bounds: Bounds) -> Offset | None:
        """Return the offset of `mod`, or of an index that counts from the end if it is negative.

        It is None if it is not known.
        """
        inner, size = (self.of(v, bounds) for v in op.operands)
        if inner is None or size is None or size.dimension >= 0 or size.low != size.high or size.low < 1:
            return None
        least = inner.low + (self.ends(inner.dimension, bounds)[0] if inner.dimension >= 0 else 0)
        if op.name == "wrap_index" and least >= 0 and not inner.ring:
            return inner
        if inner.dimension < 0 or self.size(inner.dimension) != size.low:
            return None
        back = self.wraps(op) * size.low
        return Offset(inner.dimension, inner.low - back, inner.high - back, ring=True)

    def _counted(self, op: Op, bounds: Bounds) -> Offset | None:
        """Return the interval of a `for`'s counter; None if its ends contain an index, or its step is not constant."""
        start, stop, step = (self.of(v, bounds) for v in op.operands[:3])
        ends = start is not None and stop is not None and max(start.dimension, stop.dimension) < 0
        if not ends or step is None or step.low != step.high or step.low == 0 or start is None or stop is None:
            return None
        if step.low > 0:
            return Offset(-1, start.low, max(start.low, stop.high - 1))
        return Offset(-1, min(start.high, stop.low + 1), start.high)

    # ---- conditions

    def _narrowed(self, condition: Value, holds: bool, bounds: Bounds) -> Bounds:
        """Return the bounds of the indices of threads in which a condition holds; with `holds` false, does not hold."""
        for name, left, right in self.analysis.implied(condition, holds):
            one, other = self.of(left, bounds), self.of(right, bounds)
            if one is not None and other is not None and one.dimension < 0:
                name, one, other = MIRRORED[name], other, one
            if one is None or other is None or one.dimension < 0 or other.dimension >= 0 or one.ring:
                continue
            first, last = self.ends(one.dimension, bounds)
            strict = name in ("lt", "gt")
            if name in ("lt", "le", "eq"):
                last = min(last, other.high - one.low - strict)
            if name in ("gt", "ge", "eq"):
                first = max(first, other.low - one.high + strict)
            if name == "ne" and one.low == one.high and other.low == other.high:
                first, last = first + (other.low - one.low == first), last - (other.low - one.low == last)
            bounds = {**bounds, one.dimension: (first, last)} if first <= last else bounds
        return bounds

    _RULES: ClassVar[dict[str, Rule]] = {
        "cast": _narrowing, "mul": _product, "min": _clamped, "max": _clamped, "clamp": _clamped, "where": _chosen,
        "if": _chosen, "mod": _around, "wrap_index": _around,
    }  # fmt: skip


def subscripts(op: Op) -> range:
    """Return the positions of an operation's operands that are subscripts of an element."""
    return range(1, 1 + len(indices_of(op))) if op.name in ELEMENTS else range(0)


Axis = tuple[str, int]


class SymbolicSize(msgspec.Struct, frozen=True, eq=False):
    """A sum of sizes of arrays that are not known yet.

    Attributes:
        number: the same as a foreign symbolic number (JAX's), which decides comparisons if it can, or raises.
        constant, terms: the sum: a number, and multiples of the sizes of array parameters along an axis.
    """

    number: Any
    constant: int
    terms: tuple[tuple[Axis, int], ...]

    @classmethod
    def of(cls, number: Any, array: str, axis: int) -> SymbolicSize:
        """Return the size of the array parameter `array` along an axis, of which `number` is the foreign form."""
        return cls(number, 0, (((array, axis), 1),))

    @property
    def key(self) -> tuple[object, ...]:
        """The constant and terms, which are equal for equal sums."""
        return self.constant, self.terms

    def plus(self, other: SymbolicSize | int, sign: int = 1) -> SymbolicSize:
        """Return the sum of this size and `sign` times another one."""
        if isinstance(other, int):
            return SymbolicSize(self.number + sign * other, self.constant + sign * other, self.terms)
        terms = dict(self.terms)
        for axis, factor in other.terms:
            terms[axis] = terms.get(axis, 0) + sign * factor
        nonzero = tuple(sorted((a, f) for a, f in terms.items() if f))
        return SymbolicSize(self.number + sign * other.number, self.constant + sign * other.constant, nonzero)

    def times(self, factor: int) -> SymbolicSize:
        """Return the size multiplied by a number."""
        return SymbolicSize(self.number * factor, self.constant * factor, tuple((a, f * factor) for a, f in self.terms))


Size = SymbolicSize | int


def combined(name: str, operands: Sequence[Size]) -> Size | None:
    """Return the result of the operation `name` on integers, at least one of them symbolic; None if it is not known.

    That of a comparison is a bool.
    """
    rule = _RULES.get(name)
    return None if rule is None else rule(*operands)


def compared(name: str, a: Size, b: Size) -> bool | None:
    """Return whether the comparison `name` ("lt", …) holds; None if that depends on sizes that are not known."""
    left, right = (v.number if isinstance(v, SymbolicSize) else v for v in (a, b))
    try:
        return bool(_COMPARES[name](left, right))
    except Exception:  # JAX's "inconclusive", which has no public name
        return None


def _symbolic(size: Size) -> SymbolicSize:
    """Return the size as it is, asserting that it is symbolic."""
    assert isinstance(size, SymbolicSize)
    return size


def _add(a: Size, b: Size) -> Size:
    """Return a + b, of which one at least is symbolic."""
    return a.plus(b) if isinstance(a, SymbolicSize) else _symbolic(b).plus(a)


def _subtract(a: Size, b: Size) -> Size:
    """Return a - b, of which one at least is symbolic."""
    return a.plus(b, -1) if isinstance(a, SymbolicSize) else _symbolic(b).times(-1).plus(a)


def _multiply(a: Size, b: Size) -> Size | None:
    """Return a · b, of which one at least is symbolic; None if both are."""
    if isinstance(a, SymbolicSize) and isinstance(b, SymbolicSize):
        return None
    symbolic, number = (a, b) if isinstance(a, SymbolicSize) else (_symbolic(b), a)
    assert not isinstance(number, SymbolicSize)
    return symbolic.times(number)


def _choose(name: str) -> Callable[[Size, Size], Size | None]:
    """Return a rule for sizes a and b: a if `a name b` holds, b if not; None if that is not known."""

    def rule(a: Size, b: Size) -> Size | None:
        first = compared(name, a, b)
        return None if first is None else a if first else b

    return rule


def _wrap(i: Size, n: Size) -> Size | None:
    """Return an index, plus the size n if it is negative; None if its sign is not known."""
    below = compared("lt", i, 0)
    return None if below is None else _add(i, n) if below else i


_COMPARES: dict[str, Callable[..., object]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
_RULES: dict[str, Callable[..., Size | None]] = {
    **{name: partial(compared, name) for name in _COMPARES},
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "neg": partial(_multiply, -1),
    "min": _choose("le"),
    "max": _choose("ge"),
    "wrap_index": _wrap,
}
