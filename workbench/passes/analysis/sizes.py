"""Numbers that are known once the sizes of arrays are: sums of sizes, which stand for indices until then."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

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
