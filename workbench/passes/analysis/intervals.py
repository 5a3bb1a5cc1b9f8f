"""Bounds of integers by what threads share: numbers that are computed before a launch, or before a row of threads.

The value of an index is bounded by the launch's dimensions, sizes of arrays, integer parameters, literals. The bounds
are operations of a prologue, computed in int64. An access is in range in all threads of a launch where conditions on
them hold: that no int32 sum wraps, and that its bounds are inside the array.

Facts of a walk over blocks are in `Scopes`: learnt in one block, a fact holds in the blocks inside and nowhere else.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from workbench.ir.analysis import MIRRORED, Analysis
from workbench.ir.build import Builder
from workbench.ir.ops import AXIS, CAPTURED, Number
from workbench.ir.values import Function, Op, Value, array_of, number_of
from workbench.limits import INTERVAL_DEPTH
from workbench.types import Type, int32, int64
from workbench.types import bool as bool_

Bounds = tuple[Value, Value]
"""The least and the greatest number that an integer can be."""
Known = Sequence[Bounds | None]
"""The bounds of an operation's operands; None: of one of which nothing is known."""
LEAST, MOST = -(2**31), 2**31 - 1


class Prologue:
    """Operations that all threads share, which stand before a function and are computed once.

    Attributes:
        analysis: of the function.
        builder: receives the operations.
        axes: axes of the launch along which the index is known here.
        through: names of the operations that may be computed again here.
    """

    def __init__(self, function: Function, axes: Iterable[int], through: frozenset[str]) -> None:
        self.analysis, self.builder = Analysis(function), Builder()
        self.axes, self.through = frozenset(axes), through
        self._copies: dict[Value, Value | None] = {}
        self._shared: dict[tuple[object, ...], Value] = {}

    def share(self, key: tuple[object, ...], make: Callable[[], Value]) -> Value:
        """Return the value of this key; `make` emits it at the first request."""
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]

    def emit(self, name: str, *operands: Value, type: Type = int64) -> Value:
        """Emit an operation unless it was emitted before; return its result."""
        return self.share((name, *operands), lambda: self.builder.one(name, operands, type))

    def number(self, number: int) -> Value:
        """Return an int64 constant."""
        return self.share(("const", number), lambda: self.builder.const(number, int64))

    def literal(self, value: Value) -> Number | None:
        """Return the number that a value of the function is; None if it is no constant, or a captured one."""
        op = self.analysis.defs.get(value)
        return number_of(op) if op is not None and op.name == "const" and not op.attrs.get(CAPTURED) else None

    def copy(self, value: Value) -> Value | None:
        """Return the function's value as computed here; None if the prologue cannot compute it.

        That is so if it depends on an index along another axis, or on an operation that is not in `through`.
        """
        if value in self.analysis.params:
            return value
        if value not in self._copies:
            self._copies[value] = self._copied(value)
        return self._copies[value]

    def _copied(self, value: Value) -> Value | None:
        """Emit the definition of a value in the prologue and return its result; None if it cannot be computed there."""
        op = self.analysis.defs.get(value)
        if op is None or not (op.attrs[AXIS] in self.axes if op.name == "tid" else op.name in self.through):
            return None
        operands = (
            op.operands if op.name == "shape" else tuple(v for o in op.operands if (v := self.copy(o)) is not None)
        )
        if len(operands) < len(op.operands):
            return None
        return self.share(
            (op.name, value.type, tuple(op.attrs.items()), *operands),
            lambda: self.builder.emit(op.name, operands, (value.type,), op.attrs).result,
        )

    def wide(self, value: Value) -> Value | None:
        """Return an int32 value as int64, computed here; None if it is of another type or cannot be computed here."""
        return self.widened(value) if value.type == int32 else None

    def widened(self, value: Value) -> Value | None:
        """Return an integer as int64, computed here; None if it cannot be computed here."""
        copy = self.copy(value)
        return None if copy is None else self.share(("wide", copy), lambda: self.builder.cast(copy, int64))

    def together(self, name: str, a: Bounds, b: Bounds) -> Bounds:
        """Emit the bounds of a sum ("add") or a difference ("sub") of integers with the bounds `a` and `b`."""
        low, high = b if name == "add" else b[::-1]
        return self.emit(name, a[0], low), self.emit(name, a[1], high)

    def counted(self, value: Value, bounds: Callable[[Value], Bounds | None]) -> Bounds | None:
        """Return the bounds of a loop's counter, by those of the loop's ends.

        It is None if the value is no counter, its step no literal, or the bounds of an end are unknown.
        """
        loop = self.analysis.counters.get(value)
        step = self.literal(loop.operands[2]) if loop is not None else None
        if loop is None or not step:
            return None
        start, stop = (bounds(v) for v in loop.operands[:2])
        if start is None or stop is None:
            return None
        if step > 0:
            return start[0], self.emit("sub", stop[1], self.number(1))
        return self.emit("add", stop[0], self.number(1)), start[1]

    def fold(self, name: str, values: Iterable[Value], type: Type = int64) -> Value:
        """Return all values joined by a binary operation; there has to be at least one."""
        first, *rest = dict.fromkeys(values)
        for value in rest:
            first = self.emit(name, first, value, type=type)
        return first


class Intervals(Prologue):
    """Bounds of the integers of one function, before a launch.

    Attributes:
        conditions: what must hold for the accesses passed to `hoisted` to be in range.
        known_bounds: limits below and above values, from the conditions around the operation at hand.
    """

    def __init__(self, function: Function) -> None:
        super().__init__(function, (), frozenset({"const"}))
        self.conditions: dict[Value, None] = {}
        self.known_bounds: ChainMap[Value, tuple[list[Value], list[Value]]] = ChainMap()
        self._asked: dict[Value, None] = {}

    def all_hold(self) -> Value:
        """Emit the conjunction of all conditions; return the bool."""
        return self.fold("and_", self.conditions, bool_)

    def hoisted(self, array: Value, indices: tuple[Value, ...]) -> list[int]:
        """Return the axes along which an access is in range if `conditions` hold; its own are added to them."""
        axes: list[int] = []
        for axis, index in enumerate(indices):
            op = self.analysis.defs.get(index)
            wraps = op is not None and op.name == "wrap_index"
            bounds = self.bounds(op.operands[0] if op is not None and wraps else index)
            if bounds is None:
                continue
            size = self._size(array, axis)
            least = self.emit("neg", size) if wraps else self.number(0)
            for name, pair in (("ge", (bounds[0], least)), ("lt", (bounds[1], size))):
                self._asked[self.emit(name, *pair, type=bool_)] = None
            axes.append(axis)
        if axes:
            self.conditions.update(self._asked)
        return axes

    def bounds(self, value: Value, depth: int = INTERVAL_DEPTH) -> Bounds | None:
        """Return the least and the greatest number the value can be; None if they are not known.

        `depth` limits how far sums are followed.
        """
        plain = self._plain(value, depth) if value.type == int32 and depth else None
        for known in self.known_bounds.maps:
            for side, pick in enumerate(("max", "min")):
                for limit in known.get(value, ((), ()))[side]:
                    if plain is not None:
                        near = self.emit(pick, plain[side], limit)
                        plain = (near, plain[1]) if side == 0 else (plain[0], near)
        return plain

    def _plain(self, value: Value, depth: int) -> Bounds | None:
        """Return the bounds of an int32 by its definition, without limits from conditions; None if they are unknown."""
        op, literal = self.analysis.defs.get(value), self.literal(value)
        number = self.number(int(literal)) if literal is not None else self.wide(value)
        if number is not None:
            return number, number
        if op is None:
            return self.counted(value, lambda end: self.bounds(end, depth - 1))
        if op.name == "tid":
            axis = AXIS.of(op.attrs[AXIS])
            dim = self.share(("launch_dim", op.attrs[AXIS]), lambda: self.builder.one("launch_dim", (), int64, axis))
            return self.number(0), self.emit("sub", dim, self.number(1))
        if op.name == "shape" and value.type == int32:
            size = self._size(op.operands[0], op.attrs[AXIS])
            return size, size
        if op.name == "cast" and (shape := self.analysis.defs.get(op.operands[0])) and shape.name == "shape":
            size = self._size(shape.operands[0], shape.attrs[AXIS])
            return self._fits((size, size))
        rule = _RULES.get(op.name)
        return rule(self, op, [self.bounds(v, depth - 1) for v in op.operands]) if rule is not None else None

    def total(self, op: Op, operands: Known) -> Bounds | None:
        """Return the bounds of a sum or difference, from those of its operands; None if one has none."""
        one, other = operands
        return None if one is None or other is None else self._fits(self.together(op.name, one, other))

    def product(self, op: Op, operands: Known) -> Bounds | None:
        """Return the bounds of a product, from those of its operands; None if one has none."""
        one, other = operands
        if one is None or other is None:
            return None
        # Those of the operands fit 32 bits, as `_fits` requires, so no product wraps in 64.
        ends = [self.emit("mul", a, b) for a in one for b in other]
        return self._fits((self.fold("min", ends), self.fold("max", ends)))

    def extreme(self, op: Op, operands: Known) -> Bounds | None:
        """Return the bounds of a `min` or `max`, from those of its operands; None if no operand has any."""
        if all(bounds is None for bounds in operands):
            return None
        every = [bounds or self._anything() for bounds in operands]
        low, high = zip(*every, strict=True)
        return self.fold(op.name, low), self.fold(op.name, high)

    def clamped(self, op: Op, operands: Known) -> Bounds | None:
        """Return the bounds of a `clamp`, from those of its operands; None if a limit has none."""
        value, low, high = operands
        if low is None or high is None:
            return None
        value = value or self._anything()
        ends = [self.emit("min", self.emit("max", value[k], low[k]), high[k]) for k in (0, 1)]
        return ends[0], ends[1]

    def remainder(self, op: Op, operands: Known) -> Bounds | None:
        """Return the bounds of a remainder, and require a positive divisor; None if the divisor has no bounds."""
        divisor = operands[1]
        if divisor is None:
            return None
        self._require_positive(divisor)
        return self.number(0), self.emit("sub", divisor[1], self.number(1))

    def quotient(self, op: Op, operands: Known) -> Bounds | None:
        """Return the bounds of a quotient, and require a positive divisor; None if an operand has no bounds."""
        value, divisor = operands
        if value is None or divisor is None:
            return None
        self._require_positive(divisor)
        # In a launch that does not meet this, what is computed here is not used; but it must not divide by 0.
        divisors = [self.emit("max", end, self.number(1)) for end in divisor]
        ends = [self.emit("floordiv", a, b) for a in value for b in divisors]
        return self.fold("min", ends), self.fold("max", ends)

    def wrapped(self, op: Op, operands: Known) -> Bounds | None:
        """Return the bounds of an index of which n is added to negative ones; None if it or n has no bounds.

        n is the size of the axis, from whose end they count.
        """
        index, size = operands
        if index is None or size is None:
            return None
        zero, last = self.number(0), self.emit("sub", size[1], self.number(1))
        negative = self.emit("lt", index[0], zero, type=bool_)
        low = self.emit("where", negative, self.emit("min", zero, self.emit("add", index[0], size[0])), index[0])
        return low, self.emit("where", negative, self.emit("max", index[1], last), index[1])

    def chosen(self, op: Op, operands: Known) -> Bounds | None:
        """Return the bounds of a `where`, which cover those of both sides; None if a side has none."""
        _, one, other = operands
        if one is None or other is None:
            return None
        return self.emit("min", one[0], other[0]), self.emit("max", one[1], other[1])

    def _anything(self) -> Bounds:
        """Return the bounds of an int32 of which nothing is known."""
        return self.number(LEAST), self.number(MOST)

    def _require_positive(self, bounds: Bounds) -> None:
        """Require, as one of the conditions, that the lower bound is above 0."""
        self._asked[self.emit("gt", bounds[0], self.number(0), type=bool_)] = None

    def is_certain(self, comparison: Op) -> bool:
        """Return whether a comparison of integers holds if `conditions` do; if so, its own are added to them."""
        one, other = (self.bounds(v) for v in comparison.operands)
        if one is None or other is None:
            return False
        pairs = [(one[1], other[0]), (other[1], one[0])] if comparison.name == "eq" else [(one[1], other[0])]
        if comparison.name in ("gt", "ge"):
            pairs = [(one[0], other[1])]
        name = "le" if comparison.name == "eq" else comparison.name
        self._asked.update((self.emit(name, *pair, type=bool_), None) for pair in pairs)
        self.conditions.update(self._asked)
        return True

    def is_positive(self, value: Value) -> bool:
        """Return whether an integer is above 0 if `conditions` hold; if so, its own are added to them."""
        bounds = self.bounds(value)
        if bounds is not None:
            self._require_positive(bounds)
            self.conditions.update(self._asked)
        return bounds is not None

    @contextmanager
    def inside(self, op: Op, block: int) -> Generator[None]:
        """Assume, for the length of a `with`, what the condition of an `if` implies in its block number `block`."""
        self.known_bounds = self.known_bounds.new_child({})
        if op.name == "if":
            for name, left, right in self.analysis.implied(op.operands[0], block == 0):
                self._compare(name, left, right)
                self._compare(MIRRORED[name], right, left)
        yield
        self.known_bounds = self.known_bounds.parents

    def _compare(self, name: str, value: Value, other: Value) -> None:
        """Note the limit of an int32 `value` where `value name other` holds; "eq" and "ne" set none."""
        limits = None if name in ("eq", "ne") else self.bounds(other)
        if limits is None or value.type != int32:
            return
        if name in ("lt", "le"):
            self._limit(value, 1, self.emit("sub", limits[1], self.number(1)) if name == "lt" else limits[1])
        else:
            self._limit(value, 0, self.emit("add", limits[0], self.number(1)) if name == "gt" else limits[0])

    def _limit(self, value: Value, side: int, limit: Value) -> None:
        """Note a limit below (side 0) or above a value; of a quotient, the dividend has one, too."""
        self.known_bounds.maps[0].setdefault(value, ([], []))[side].append(limit)
        op = self.analysis.defs.get(value)
        divisor = self.bounds(op.operands[1]) if op is not None and op.name == "floordiv" else None
        if op is not None and divisor is not None and divisor[0] is divisor[1]:
            self._require_positive(divisor)
            if side:
                limit = self.emit("add", limit, self.number(1))
            limit = self.emit("mul", limit, divisor[0])
            self._limit(op.operands[0], side, self.emit("sub", limit, self.number(1)) if side else limit)

    def _fits(self, bounds: Bounds) -> Bounds:
        """Return the bounds of a sum, and require that it does not wrap, without which they would not be its bounds."""
        low, high = self.number(LEAST), self.number(MOST)
        compared = self.emit("ge", bounds[0], low, type=bool_), self.emit("le", bounds[1], high, type=bool_)
        self._asked.update(dict.fromkeys(compared))
        return bounds

    def _size(self, array: Value, axis: int) -> Value:
        """Emit the size of an array along an axis, at the first request; return it as int64."""
        of = array_of(array).size_type
        return self.share(
            ("shape", array, axis),
            lambda: self.builder.cast(self.builder.one("shape", (array,), of, {AXIS: axis}), int64),
        )


_RULES: Mapping[str, Callable[[Intervals, Op, Known], Bounds | None]] = {
    "add": Intervals.total,
    "sub": Intervals.total,
    "mul": Intervals.product,
    "min": Intervals.extreme,
    "max": Intervals.extreme,
    "clamp": Intervals.clamped,
    "mod": Intervals.remainder,
    "floordiv": Intervals.quotient,
    "wrap_index": Intervals.wrapped,
    "where": Intervals.chosen,
}
"""By operation, the bounds of its result by those of its operands."""


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Scopes(dict[K, V]):
    """A dictionary for a walk over blocks: at the end of a block, it removes the entries that were added in it.

    A lookup takes as long however deep the block.
    """

    def __init__(self) -> None:
        """Open the outermost block."""
        super().__init__()
        self._learnt: list[list[K]] = [[]]

    def __setitem__(self, key: K, value: V) -> None:
        """Store an entry until the end of the open block; if the key has a value already, that stays."""
        if key not in self:
            self.learn(key, value)

    def learn(self, key: K, value: V) -> None:
        """Store an entry until the end of the open block, under a key that has none yet; this is not checked."""
        self._learnt[-1].append(key)
        super().__setitem__(key, value)

    def __enter__(self) -> None:
        """Open a block for the length of a `with`."""
        self._learnt.append([])

    def __exit__(self, *_: object) -> None:
        """Close the block: remove the entries that were added in it."""
        for key in self._learnt.pop():
            del self[key]
