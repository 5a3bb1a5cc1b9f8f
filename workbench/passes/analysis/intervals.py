"""Which accesses are in range for every thread of a launch, by what is known before it starts.

The value of an index is bounded by numbers that are the same for all threads: the launch's dimensions, sizes of arrays,
integer parameters, literals. The bounds are operations of a prologue, computed in int64, and an access is in range
where conditions on them hold: that no int32 sum wraps, and that its bounds are inside the array.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Generator
from contextlib import contextmanager

from workbench.ir.attributes import AXIS, CAPTURED, VALUE
from workbench.ir.build import Builder
from workbench.ir.values import Function, Op, Value, number_of, walk
from workbench.limits import INTERVAL_DEPTH
from workbench.types import ArrayType, Scalar, int32, int64
from workbench.types import bool as bool_

Bounds = tuple[Value, Value]

_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


class Intervals:
    """Bounds of the integers of one function.

    Attributes:
        builder: where the prologue is written.
        conditions: what must hold for the accesses found so far.
    """

    def __init__(self, function: Function) -> None:
        self.builder = Builder()
        self.conditions: dict[Value, None] = {}
        self.made = {v: op for op in walk(function.body) for v in op.results}
        self.params = set(function.params)
        self.facts: ChainMap[Value, tuple[list[Value], list[Value]]] = ChainMap()
        self._asked: dict[Value, None] = {}
        self._indices: dict[Value, Bounds] = {}
        self._shared: dict[tuple[object, ...], Value] = {}

    def all_hold(self) -> Value:
        """Whether every condition does."""
        first, *rest = self.conditions
        for other in rest:
            first = self._emit("and_", first, other, type=bool_)
        return first

    def hoisted(self, array: Value, indices: tuple[Value, ...]) -> bool:
        """Whether the access is in range where the conditions hold, which this call adds to."""
        found: list[Value] = []
        for axis, index in enumerate(indices):
            op = self.made.get(index)
            wraps = op is not None and op.name == "wrap_index"
            bounds = self.bounds(op.operands[0] if op is not None and wraps else index)
            if bounds is None:
                return False
            size = self._size(array, axis)
            least = self._emit("neg", size) if wraps else self._number(0)
            found += [self._emit("ge", bounds[0], least, type=bool_), self._emit("lt", bounds[1], size, type=bool_)]
        self.conditions.update(self._asked)
        self.conditions.update(dict.fromkeys(found))
        return True

    def bounds(self, value: Value, depth: int = INTERVAL_DEPTH) -> Bounds | None:
        """The least and the greatest number the value can be; None if these are not known."""
        plain = self._plain(value, depth) if value.type == int32 and depth else None
        for facts in self.facts.maps:
            for side, pick in enumerate(("max", "min")):
                for limit in facts.get(value, ((), ()))[side]:
                    if plain is not None:
                        near = self._emit(pick, plain[side], limit)
                        plain = (near, plain[1]) if side == 0 else (plain[0], near)
        return plain

    def _plain(self, value: Value, depth: int) -> Bounds | None:
        if value in self.params:
            whole = self._wide(value)
            return whole, whole
        if value in self._indices:
            return self._indices[value]
        op = self.made.get(value)
        if op is None:
            return None
        if op.name == "const":
            number = self._captured(op) if op.attrs.get(CAPTURED) else self._number(int(number_of(op)))
            return number, number
        if op.name == "tid":
            last = self._emit("sub", self._dim(op.attrs[AXIS]), self._number(1))
            return self._number(0), last
        if op.name == "shape" and value.type == int32:
            size = self._size(op.operands[0], op.attrs[AXIS])
            return size, size
        if op.name in ("add", "sub"):
            a, b = (self.bounds(v, depth - 1) for v in op.operands)
            if a is None or b is None:
                return None
            low, high = b if op.name == "add" else b[::-1]
            bounds = self._emit(op.name, a[0], low), self._emit(op.name, a[1], high)
            self._fits(bounds)
            return bounds
        return None

    @contextmanager
    def inside(self, op: Op, block: int) -> Generator[None]:
        """What the condition of an `if`, or the range of a `for`, says holds in its block of that number."""
        self.facts = self.facts.new_child({})
        if op.name == "if":
            self._believe(op.operands[0], block == 0)
        elif op.name == "for":
            self._count(op)
        yield
        self.facts = self.facts.parents

    def _believe(self, condition: Value, holds: bool) -> None:
        """Note what a condition that holds (or does not) says about one value against bounds."""
        op = self.made.get(condition)
        if op is None:
            return
        if op.name == ("and_" if holds else "or_"):
            for part in op.operands:
                self._believe(part, holds)
        elif op.name == "not_":
            self._believe(op.operands[0], not holds)
        elif op.name == "if" and len(op.results) == 1:
            self._short_cut(op, holds)
        elif op.name in _OPPOSITE:
            name = op.name if holds else _OPPOSITE[op.name]
            self._compare(name, *op.operands)
            self._compare(_MIRRORED[name], *op.operands[::-1])

    def _short_cut(self, op: Op, holds: bool) -> None:
        """`a and b` (and `not (a or b)`) as an `if`: the side that is a literal is not where we are."""
        for side, block in enumerate(op.blocks):
            end = self.made.get(block.yielded[0])
            if end is not None and end.name == "const" and bool(number_of(end)) is not holds:
                self._believe(op.operands[0], side == 1)
                self._believe(op.blocks[1 - side].yielded[0], holds)

    def _compare(self, name: str, value: Value, other: Value) -> None:
        limits = self.bounds(other)
        if limits is None or value.type != int32:
            return
        below, above = self.facts.maps[0].setdefault(value, ([], []))
        if name in ("lt", "le"):
            above.append(self._emit("sub", limits[1], self._number(1)) if name == "lt" else limits[1])
        else:
            below.append(self._emit("add", limits[0], self._number(1)) if name == "gt" else limits[0])

    def _count(self, op: Op) -> None:
        """The index of `range(start, stop)` with a step of 1."""
        start, stop, step = op.operands[:3]
        made = self.made.get(step)
        first, end = self.bounds(start), self.bounds(stop)
        if made is None or made.name != "const" or made.attrs[VALUE] != 1 or first is None or end is None:
            return
        index = op.blocks[0].params[0]
        self._indices[index] = (first[0], self._emit("sub", end[1], self._number(1)))

    def _fits(self, bounds: Bounds) -> None:
        """Ask that a sum does not wrap: what is compared with it then means the sum."""
        low, high = self._number(-(1 << 31)), self._number((1 << 31) - 1)
        asked = self._emit("ge", bounds[0], low, type=bool_), self._emit("le", bounds[1], high, type=bool_)
        self._asked.update(dict.fromkeys(asked))

    def _number(self, number: int) -> Value:
        return self._share(("const", number), lambda: self.builder.const(number, int64))

    def _dim(self, axis: int) -> Value:
        return self._share(("dim", axis), lambda: self.builder.one("launch_dim", (), int64, {AXIS: axis}))

    def _size(self, array: Value, axis: int) -> Value:
        assert isinstance(array.type, ArrayType)
        of = array.type.size_type
        return self._share(
            ("shape", array, axis),
            lambda: self.builder.cast(self.builder.one("shape", (array,), of, {AXIS: axis}), int64),
        )

    def _captured(self, op: Op) -> Value:
        """A captured constant, again by its name: the prologue stands before the operation."""
        again = self._share(
            ("captured", op.attrs[CAPTURED], op.result.type),
            lambda: self.builder.const(op.attrs[VALUE], int32, op.attrs[CAPTURED]),
        )
        return self._wide(again)

    def _wide(self, value: Value) -> Value:
        return self._share(("wide", value), lambda: self.builder.cast(value, int64))

    def _emit(self, name: str, *operands: Value, type: Scalar = int64) -> Value:
        return self._share((name, *operands), lambda: self.builder.one(name, operands, type))

    def _share(self, key: tuple[object, ...], make: Callable[[], Value]) -> Value:
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]
