"""Signed sums, differences and products that C++ may compute without a detour through unsigned types.

Integers of the language wrap, but C++ leaves signed overflow undefined and NVRTC uses that (`a * 2 / 2` becomes `a`).
So signed arithmetic is written in unsigned numbers, `int(unsigned(a) * 31U + b)`, except where overflow cannot happen
(shown by intervals), or where the result is nothing but an index: an index that overflowed is no index of any array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.ir.ops import COUNT, ELEMENTS
from workbench.ir.values import Block, Function, Op, Value, number_of, scalar_of, walk
from workbench.types import ArrayType, Kind, Scalar, is_integer

Interval = tuple[int, int]

# Builtins whose result the language wraps, and C++ leaves undefined.
WRAPPING = frozenset({"add", "sub", "mul", "neg"})
# `tid` counts in int32: a launch has at most this many threads along one dimension (the launcher refuses more).
MAX_DIM = (1 << 31) - 1


def plain_arithmetic(function: Function) -> frozenset[Op]:
    """Return the sums, differences, products and negations that cannot overflow or are used for indexing alone.

    `wrap_index` operations whose results are used for indexing alone are returned too.
    """
    intervals = _Intervals(function)
    return frozenset(intervals.safe | _index_only(function))


def _index_only(function: Function) -> set[Op]:
    """Return the wrapping operations and `wrap_index`es whose results are used for indexing alone."""
    uses: dict[Value, list[tuple[Op, int]]] = {}
    for op in walk(function.body):
        for position, value in enumerate(op.operands):
            uses.setdefault(value, []).append((op, position))
    chosen: set[Op] = set()
    for op in reversed(list(walk(function.body))):
        if (op.name in WRAPPING or op.name == "wrap_index") and all(
            _is_index(user, position) or (user in chosen and (user.name in WRAPPING or position == 0))
            for user, position in uses.get(op.result, [])
        ):
            chosen.add(op)
    return chosen


def _is_index(op: Op, position: int) -> bool:
    """Return whether the operand at `position` is an index of an element of an array or of a slot."""
    if op.name in ("slot_read", "slot_write"):
        return position == 1
    if op.name not in ELEMENTS:
        return False
    array = op.operands[0].type
    return isinstance(array, ArrayType) and 1 <= position <= array.ndim


def type_range(type: Scalar) -> Interval:
    """Return the least and the greatest number of an integer type (a bool counts as 0 and 1)."""
    if type.kind is Kind.BOOL:
        return 0, 1
    if type.kind is Kind.UINT:
        return 0, (1 << type.bits) - 1
    return -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1


def _corners(f: Callable[[int, int], int]) -> Callable[[Sequence[Interval]], Interval]:
    """Return a rule that maps two intervals to that of `f`, from its values at their ends."""

    def rule(args: Sequence[Interval]) -> Interval:
        values = [f(a, b) for a in args[0] for b in args[1]]
        return min(values), max(values)

    return rule


def _modulo(args: Sequence[Interval]) -> Interval | None:
    """Return the interval of a remainder by positive divisors; None if a divisor may be 0 or negative."""
    return (0, args[1][1] - 1) if args[1][0] > 0 else None


def _floordiv(args: Sequence[Interval]) -> Interval | None:
    """Return the interval of a quotient by positive divisors; None if a divisor may be 0 or negative."""
    return _corners(lambda a, b: a // b)(args) if args[1][0] > 0 else None


def _bit_and(args: Sequence[Interval]) -> Interval | None:
    """Return the interval of a bitwise and; None if both operands may be negative."""
    bounds = [high for low, high in args if low >= 0]
    return (0, min(bounds)) if bounds else None


_RULES: dict[str, Callable[[Sequence[Interval]], Interval | None]] = {
    "add": lambda a: (a[0][0] + a[1][0], a[0][1] + a[1][1]),
    "sub": lambda a: (a[0][0] - a[1][1], a[0][1] - a[1][0]),
    "mul": _corners(lambda x, y: x * y),
    "neg": lambda a: (-a[0][1], -a[0][0]),
    "min": lambda a: (min(a[0][0], a[1][0]), min(a[0][1], a[1][1])),
    "max": lambda a: (max(a[0][0], a[1][0]), max(a[0][1], a[1][1])),
    "where": lambda a: (min(a[1][0], a[2][0]), max(a[1][1], a[2][1])),
    "mod": _modulo,
    "remainder": _modulo,
    "floordiv": _floordiv,
    "quotient": _floordiv,
    "bit_and": _bit_and,
    "cast": lambda a: a[0],
}


class _Intervals:
    """The intervals of a function's integer values, by one forward walk; values that a loop carries are unbounded.

    Attributes:
        known: by value, its least and greatest number, if they are narrower than those of its type.
        safe: the sums, differences, products and negations that cannot overflow.
    """

    def __init__(self, function: Function) -> None:
        self.known: dict[Value, Interval] = {}
        self.safe: set[Op] = set()
        self._block(function.body)

    def _of(self, value: Value) -> Interval:
        """Return the interval of an integer value; that of its type if nothing is known."""
        return self.known.get(value) or type_range(scalar_of(value))

    def _block(self, block: Block) -> None:
        """Compute the intervals of the integer results in a block and the blocks inside."""
        for op in block.ops:
            if op.name == "for" and is_integer(op.operands[0].type):
                self._loop_index(op)
            for inner in op.blocks:
                self._block(inner)
            if op.name == "if":
                self._joined(op)
            elif len(op.results) == 1 and is_integer(op.result.type):
                self._scalar(op)

    def _scalar(self, op: Op) -> None:
        """Set the interval of an operation's result if one is known; add an operation without overflow to `safe`."""
        result = op.result
        low, high = type_range(scalar_of(result))
        if op.name == "const":
            self.known[result] = (int(number_of(op)), int(number_of(op)))
        elif op.name == "tid":
            self.known[result] = (0, MAX_DIM - 1)
        elif op.name == "lane":
            self.known[result] = (0, op.attrs[COUNT] - 1)
        elif op.name == "shape":
            self.known[result] = (0, high)
        elif op.name in _RULES and all(
            isinstance(v.type, Scalar) and v.type.kind is not Kind.FLOAT for v in op.operands
        ):
            interval = _RULES[op.name]([self._of(v) for v in op.operands])
            if interval is not None and low <= interval[0] and interval[1] <= high:
                self.known[result] = interval
                if op.name in WRAPPING:
                    self.safe.add(op)

    def _loop_index(self, op: Op) -> None:
        """Set the interval of a `for`'s index, if the sign of the step is known."""
        start, stop, step = (self._of(v) for v in op.operands[:3])
        if step[0] > 0:
            self.known[op.blocks[0].params[0]] = (start[0], max(start[0], stop[1] - 1))
        elif step[1] < 0:
            self.known[op.blocks[0].params[0]] = (min(start[1], stop[0] + 1), start[1])

    def _joined(self, op: Op) -> None:
        """Set the interval of each integer result of an `if`: the hull of what its branches yield."""
        for position, result in enumerate(op.results):
            if is_integer(result.type):
                ends = [self._of(block.yielded[position]) for block in op.blocks]
                self.known[result] = (min(e[0] for e in ends), max(e[1] for e in ends))
