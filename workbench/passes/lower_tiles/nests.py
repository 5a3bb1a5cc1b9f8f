"""Writing nests of loops over slots: the small change of lowering tiles."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from workbench.ir.attributes import COLD
from workbench.ir.build import Builder
from workbench.ir.values import Block, Value
from workbench.types import Scalar, Vector, int32, int64
from workbench.types import bool as bool_

Emit = Callable[[list[Value]], None]


class Nests:
    """A builder with loops. Indices and places are int32; row-major places of a shape are `place(indices, shape)`."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.cold = False

    def number(self, value: int) -> Value:
        """Return an int32."""
        return self.builder.const(value, int32)

    def wide(self, value: Value) -> Value:
        """As int64."""
        return self.builder.cast(value, int64)

    def on(self, name: str, *operands: Value, type: Scalar | Vector | None = None) -> Value:
        """Return a builtin."""
        return self.builder.one(name, operands, type or operands[0].type)

    def add(self, a: Value, b: int) -> Value:
        """a + b."""
        return a if b == 0 else self.on("add", a, self.builder.const(b, a.type))

    def times(self, a: Value, b: int) -> Value:
        """a · b."""
        return a if b == 1 else self.on("mul", a, self.builder.const(b, a.type))

    def nest(self, shape: Sequence[int], body: Emit) -> None:
        """Emit `body(indices)` for every index of a shape, in row-major order."""
        zero, one = self.number(0), self.number(1)
        bounds = [(zero, self.number(n), n == 1) for n in shape]
        self._nest(bounds, one, [], body)

    def clipped(self, low: Sequence[Value], high: Sequence[Value], body: Emit) -> None:
        """Emit `body(indices)` for every index from `low` up to `high`."""
        self._nest([(a, b, False) for a, b in zip(low, high, strict=True)], self.number(1), [], body)

    @contextmanager
    def seldom(self) -> Generator[None]:
        """Loops that seldom run, so that their speed does not matter."""
        self.cold = True
        try:
            yield
        finally:
            self.cold = False

    def _nest(self, bounds: list[tuple[Value, Value, bool]], one: Value, indices: list[Value], body: Emit) -> None:
        if not bounds:
            body(indices)
            return
        start, stop, single = bounds[0]
        # A loop of one turn is a constant index: less for LLVM to see through.
        if single:
            self._nest(bounds[1:], one, [*indices, start], body)
            return
        index = Value(int32)
        with self.builder.block((index,)) as opened:
            self._nest(bounds[1:], one, [*indices, index], body)
            self.builder.yield_()
        self.builder.for_(start, stop, one, (), opened.block, {COLD: True} if self.cold else None)

    def place(self, indices: Sequence[Value], shape: Sequence[int]) -> Value:
        """Return the row-major place of the indices."""
        at = indices[0]
        for index, size in zip(indices[1:], shape[1:], strict=True):
            at = self.on("add", self.times(at, size), index)
        return at

    def read(self, slots: Value, at: Value) -> Value:
        """Return a slot."""
        return self.builder.slot_read(slots, at)

    def write(self, slots: Value, at: Value, value: Value) -> None:
        """Write a slot."""
        self.builder.slot_write(slots, at, value)

    def copy(self, to: Value, source: Value, count: int) -> None:
        """Copy so many slots."""
        if to is not source:
            self.nest((count,), lambda at: self.write(to, at[0], self.read(source, at[0])))

    def fill(self, to: Value, count: int, value: Value) -> None:
        """Write one value to so many slots."""
        self.nest((count,), lambda at: self.write(to, at[0], value))

    def when(self, condition: Value, then: Callable[[], None], orelse: Callable[[], None] = lambda: None) -> None:
        """Emit an `if` without results."""
        sides: list[Block] = []
        for side in (then, orelse):
            with self.builder.block() as opened:
                side()
                self.builder.yield_()
            sides.append(opened.block)
        self.builder.if_(condition, *sides)

    def every(self, conditions: Sequence[Value]) -> Value:
        """Return whether all hold."""
        both = conditions[0]
        for other in conditions[1:]:
            both = self.on("and_", both, other, type=bool_)
        return both

    def zero(self, type: Scalar | Vector) -> Value:
        """0 of a type."""
        return self.builder.const((0,) * type.length if isinstance(type, Vector) else 0, type)
