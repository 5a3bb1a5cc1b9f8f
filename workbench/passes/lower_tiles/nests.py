"""Writing nests of loops over slots: the small change of lowering tiles."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from workbench.ir.build import Builder
from workbench.ir.ops import COLD, INDEPENDENT, SHAPE
from workbench.ir.values import Block, Value
from workbench.types import Scalar, Vector, int32, int64
from workbench.types import bool as bool_

Emit = Callable[[list[Value]], None]


class Nests:
    """A builder that writes nests of loops over slots.

    Indices, and positions in slots (row-major, by `flat_index`), are int32.

    Attributes:
        builder: receives the operations.
        cold: loops are marked as seldom run.
    """

    def __init__(self) -> None:
        self.builder = Builder()
        self.cold = False

    def constant(self, value: int) -> Value:
        """Return an int32 constant."""
        return self.builder.const(value, int32)

    def wide(self, value: Value) -> Value:
        """Return a value as an int64."""
        return self.builder.cast(value, int64)

    def on(self, name: str, *operands: Value, type: Scalar | Vector | None = None) -> Value:
        """Emit a builtin; return its result, of `type` or of the type of its first operand."""
        return self.builder.one(name, operands, type or operands[0].type)

    def add(self, a: Value, b: int) -> Value:
        """Emit a + b; return `a` itself if b is 0."""
        return a if b == 0 else self.on("add", a, self.builder.const(b, a.type))

    def times(self, a: Value, b: int) -> Value:
        """Emit a · b; return `a` itself if b is 1."""
        return a if b == 1 else self.on("mul", a, self.builder.const(b, a.type))

    def nest(self, shape: Sequence[int], body: Emit) -> None:
        """Emit loops over every index of a shape, in row-major order, with `body(indices)` inside."""
        zero, one = self.constant(0), self.constant(1)
        bounds = [(zero, self.constant(n), n == 1) for n in shape]
        self._nest(bounds, one, [], body)

    def clipped(self, low: Sequence[Value], high: Sequence[Value], body: Emit) -> None:
        """Emit loops over every index from `low` to before `high` along each axis, with `body(indices)` inside."""
        self._nest([(a, b, False) for a, b in zip(low, high, strict=True)], self.constant(1), [], body)

    @contextmanager
    def seldom(self) -> Generator[None]:
        """Mark loops that are emitted in the `with` as seldom run, so that their speed does not matter."""
        before, self.cold = self.cold, True
        try:
            yield
        finally:
            self.cold = before

    def _nest(self, bounds: list[tuple[Value, Value, bool]], one: Value, indices: list[Value], body: Emit) -> None:
        """Emit a loop for each of the bounds, with `body(indices)` inside the innermost.

        Args:
            bounds: of each loop: start, stop, and whether it is of one turn, which needs no loop.
            one: the step.
            indices: of the loops around.
            body: emits the body.
        """
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
        # The innermost has the elements of a row: they run side by side (`backends/cpu/gang/iterations`).
        attrs = COLD.of(True) if self.cold else None if bounds[1:] else INDEPENDENT.of(True)
        self.builder.for_(start, stop, one, (), opened.block, attrs)

    def flat_index(self, indices: Sequence[Value], shape: Sequence[int]) -> Value:
        """Emit the row-major position of indices in a shape."""
        at = indices[0]
        for index, size in zip(indices[1:], shape[1:], strict=True):
            at = self.on("add", self.times(at, size), index)
        return at

    def read(self, slots: Value, at: Value) -> Value:
        """Emit a read of a slot; return its value."""
        return self.builder.slot_read(slots, at)

    def write(self, slots: Value, at: Value, value: Value) -> None:
        """Emit a write of a value to a slot."""
        self.builder.slot_write(slots, at, value)

    def copy(self, to: Value, source: Value, count: int) -> None:
        """Emit a copy of the first `count` slots; nothing if the source is the target."""
        if to is not source:
            self.nest((count,), lambda at: self.write(to, at[0], self.read(source, at[0])))

    def fill(self, to: Value, count: int, value: Value) -> None:
        """Emit a loop that writes one value to the first `count` slots."""
        self.nest((count,), lambda at: self.write(to, at[0], value))

    def turn(self, to: Value, source: Value, shape: tuple[int, int]) -> None:
        """Emit the transposition of a matrix of scalars, of this shape in its slots, to other slots."""
        self.builder.emit("slot_transpose", (to, source), (), {SHAPE: shape})

    def when(self, condition: Value, then: Callable[[], None], orelse: Callable[[], None] = lambda: None) -> None:
        """Emit an `if` without results; `then` and `orelse` emit its blocks."""
        sides: list[Block] = []
        for side in (then, orelse):
            with self.builder.block() as opened:
                side()
                self.builder.yield_()
            sides.append(opened.block)
        self.builder.if_(condition, *sides)

    def every(self, conditions: Sequence[Value]) -> Value:
        """Emit the conjunction of conditions, of which there has to be one at least; return the bool."""
        both = conditions[0]
        for other in conditions[1:]:
            both = self.on("and_", both, other, type=bool_)
        return both

    def zero(self, type: Scalar | Vector) -> Value:
        """Return a constant 0 of a type."""
        return self.builder.const((0,) * type.length if isinstance(type, Vector) else 0, type)
