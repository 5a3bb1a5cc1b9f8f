"""Accesses that are in range for every thread of a launch, by what is known before it starts.

The value of an index is bounded by numbers that are the same for all threads: the launch's dimensions, sizes of arrays,
integer parameters, literals. The bounds are operations of a prologue, computed in int64, and an access is in range
where conditions on them hold: that no int32 sum wraps, and that its bounds are inside the array.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator
from contextlib import contextmanager

from workbench.ir.analysis import MIRRORED
from workbench.ir.attributes import AXIS, CAPTURED, VALUE
from workbench.ir.values import Function, Op, Value, array_of, number_of
from workbench.limits import INTERVAL_DEPTH
from workbench.passes.analysis.prologue import Bounds, Prologue
from workbench.types import bool as bool_
from workbench.types import int32, int64


class Intervals(Prologue):
    """Bounds of the integers of one function.

    Attributes:
        conditions: what must hold for the accesses asked about so far.
    """

    def __init__(self, function: Function) -> None:
        super().__init__(function, (), frozenset({"const"}))
        self.conditions: dict[Value, None] = {}
        self.facts: ChainMap[Value, tuple[list[Value], list[Value]]] = ChainMap()
        self._asked: dict[Value, None] = {}
        self._indices: dict[Value, Bounds] = {}

    def all_hold(self) -> Value:
        """Return whether every condition does."""
        return self.fold("and_", self.conditions, bool_)

    def hoisted(self, array: Value, indices: tuple[Value, ...]) -> bool:
        """Return whether the access is in range where the conditions hold, which this call adds to."""
        conditions: list[Value] = []
        for axis, index in enumerate(indices):
            op = self.analysis.defs.get(index)
            wraps = op is not None and op.name == "wrap_index"
            bounds = self.bounds(op.operands[0] if op is not None and wraps else index)
            if bounds is None:
                return False
            size = self._size(array, axis)
            least = self.emit("neg", size) if wraps else self.number(0)
            conditions += [self.emit("ge", bounds[0], least, type=bool_), self.emit("lt", bounds[1], size, type=bool_)]
        self.conditions.update(self._asked)
        self.conditions.update(dict.fromkeys(conditions))
        return True

    def bounds(self, value: Value, depth: int = INTERVAL_DEPTH) -> Bounds | None:
        """Return the least and the greatest number the value can be; None if these are not known."""
        plain = self._plain(value, depth) if value.type == int32 and depth else None
        for known in self.facts.maps:
            for side, pick in enumerate(("max", "min")):
                for limit in known.get(value, ((), ()))[side]:
                    if plain is not None:
                        near = self.emit(pick, plain[side], limit)
                        plain = (near, plain[1]) if side == 0 else (plain[0], near)
        return plain

    def _plain(self, value: Value, depth: int) -> Bounds | None:
        if value in self._indices:
            return self._indices[value]
        op = self.analysis.defs.get(value)
        literal = op is not None and op.name == "const" and not op.attrs.get(CAPTURED)
        number = self.number(int(number_of(op))) if op is not None and literal else self.wide(value)
        if number is not None:
            return number, number
        if op is None:
            return None
        if op.name == "tid":
            axis = AXIS.of(op.attrs[AXIS])
            dim = self.share(("launch_dim", op.attrs[AXIS]), lambda: self.builder.one("launch_dim", (), int64, axis))
            return self.number(0), self.emit("sub", dim, self.number(1))
        if op.name == "shape" and value.type == int32:
            size = self._size(op.operands[0], op.attrs[AXIS])
            return size, size
        if op.name in ("add", "sub"):
            bounds = self.together(op.name, *(self.bounds(v, depth - 1) for v in op.operands))
            if bounds is not None:
                self._fits(bounds)
            return bounds
        return None

    @contextmanager
    def inside(self, op: Op, block: int) -> Generator[None]:
        """Assume within block `block` what the condition of an `if`, or the range of a `for`, implies there."""
        self.facts = self.facts.new_child({})
        if op.name == "if":
            for name, left, right in self.analysis.implied(op.operands[0], block == 0):
                self._compare(name, left, right)
                self._compare(MIRRORED[name], right, left)
        elif op.name == "for":
            self._count(op)
        yield
        self.facts = self.facts.parents

    def _compare(self, name: str, value: Value, other: Value) -> None:
        limits = None if name in ("eq", "ne") else self.bounds(other)
        if limits is None or value.type != int32:
            return
        below, above = self.facts.maps[0].setdefault(value, ([], []))
        if name in ("lt", "le"):
            above.append(self.emit("sub", limits[1], self.number(1)) if name == "lt" else limits[1])
        else:
            below.append(self.emit("add", limits[0], self.number(1)) if name == "gt" else limits[0])

    def _count(self, op: Op) -> None:
        """Learn the interval of the index of `range(start, stop)` with a step of 1."""
        start, stop, step = op.operands[:3]
        definition = self.analysis.defs.get(step)
        first, end = self.bounds(start), self.bounds(stop)
        by_one = definition is not None and definition.name == "const" and definition.attrs[VALUE] == 1
        if not by_one or first is None or end is None:
            return
        index = op.blocks[0].params[0]
        self._indices[index] = (first[0], self.emit("sub", end[1], self.number(1)))

    def _fits(self, bounds: Bounds) -> None:
        """Ask that a sum does not wrap: what is compared with it then means the sum."""
        low, high = self.number(-(1 << 31)), self.number((1 << 31) - 1)
        compared = self.emit("ge", bounds[0], low, type=bool_), self.emit("le", bounds[1], high, type=bool_)
        self._asked.update(dict.fromkeys(compared))

    def _size(self, array: Value, axis: int) -> Value:
        of = array_of(array).size_type
        return self.share(
            ("shape", array, axis),
            lambda: self.builder.cast(self.builder.one("shape", (array,), of, {AXIS: axis}), int64),
        )
