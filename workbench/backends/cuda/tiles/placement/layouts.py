"""Layouts of tiles: which thread of a block computes which element, and in which of its registers the element lies.

`Striped`: thread e % block_dim computes element e. `Spread`, for products of matrices: each thread has some rows
times some columns, so that it reads each element of an operand once for several products. On tensor cores the rows
and columns are those of the fragments (PTX ISA, "Matrix fragments for mma.m16n8k16").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import TypeAlias

import msgspec

from workbench.ir.build import Builder
from workbench.ir.ops import PLAIN, UNROLL
from workbench.ir.values import Value
from workbench.types import bool as bool_
from workbench.types import int32

WARP = 32
MMA_ROWS, MMA_COLUMNS = 16, 8


class Element:
    """An element of a tile, in the loop of the thread that has it; code for its indices is emitted on demand.

    Attributes:
        builder: receives that code.
        shape: of the tile.
        register: the number of the thread's register that holds it; None in a loop over shared memory.
    """

    def __init__(
        self,
        builder: Builder,
        shape: tuple[int, ...],
        register: Value | None,
        linear: Value | None = None,
        indices: tuple[Value, ...] = (),
    ) -> None:
        """Name an element by its position in row-major order, or by its indices."""
        self.builder, self.shape, self.register = builder, shape, register
        self._linear = linear
        self._indices: dict[int, Value] = dict(enumerate(indices))

    @property
    def linear(self) -> Value:
        """The IR value of the element's index in row-major order; the first use emits its computation."""
        if self._linear is None:
            # Made on demand, once: divisions by sizes are slow, and many bodies need only one of the two forms.
            steps = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
            self._linear = self.weighted(steps)
        return self._linear

    def index(self, axis: int) -> Value:
        """Return the IR value of the element's index along an axis; the first call emits its computation."""
        if axis not in self._indices:
            b, inner = self.builder, math.prod(self.shape[axis + 1 :])
            index = self.linear if inner == 1 else b.one("quotient", (self.linear, b.const(inner)), int32)
            if axis > 0:
                index = b.one("remainder", (index, b.const(self.shape[axis])), int32)
            self._indices[axis] = b.const(0) if self.shape[axis] == 1 else index
        return self._indices[axis]

    def weighted(self, steps: list[int], offset: Value | None = None) -> Value:
        """Emit the sum of the indices, each times its step, and of `offset`."""
        total = offset
        for axis, step in enumerate(steps):
            if step == 0 or self.shape[axis] == 1:
                continue
            part = self.index(axis) if step == 1 else product(self.builder, self.index(axis), step)
            total = part if total is None else self.builder.one("add", (total, part), int32)
        return self.builder.const(0) if total is None else total


Body: TypeAlias = Callable[[Element], object]
Values: TypeAlias = tuple[Value, ...]


class Striped(msgspec.Struct, frozen=True):
    """A layout with element e of `count` in thread e % threads, register e // threads."""

    count: int
    threads: int

    @property
    def registers(self) -> int:
        """The number of registers of a thread, one per element."""
        return -(-self.count // self.threads)

    @property
    def active(self) -> int:
        """The number of threads that have an element; they are the first ones."""
        return min(self.count, self.threads)

    @property
    def who(self) -> Hashable:
        """A name for the share of elements that each thread has; equal names mean equal shares."""
        return ("striped", self.threads)

    def each(self, builder: Builder, lane: Value, shape: tuple[int, ...], body: Body, registers: bool = True) -> None:
        """Emit `body` for each element that a thread has.

        With `registers` it is an unrolled loop, so that registers' numbers are known; else a plain one, in which
        `Element.register` is None unless a thread has only one element.
        """
        # With one register per thread there is no loop to write, and no index to compute.
        if self.registers == 1:
            first = builder.const(0)
            when(builder, self._inside_test(builder, lane), lambda: body(Element(builder, shape, first, lane)))
            return
        if registers:
            loop(builder, self.registers, lambda r: self.one(builder, lane, shape, r, body))
            return
        stop, step = builder.const(self.count), builder.const(self.threads)
        linear = Value(int32, "e")
        with builder.block((linear,)) as scope:
            body(Element(builder, shape, None, linear))
            builder.yield_()
        # Neighbouring threads take neighbouring elements, so that a warp's accesses coalesce.
        builder.for_(lane, stop, step, (), scope.block, {PLAIN: True})

    def one(self, builder: Builder, lane: Value, shape: tuple[int, ...], register: Value, body: Body) -> None:
        """Emit `body` for the element in a register, if the thread has one there."""
        here = builder.one("add", (product(builder, register, self.threads), lane), int32)
        when(builder, self._inside_test(builder, here), lambda: body(Element(builder, shape, register, here)))

    def _inside_test(self, builder: Builder, linear: Value) -> Value | None:
        """Emit the test that element `linear` exists; return None where every register of every thread has one."""
        # No test where every thread has an element in every register.
        if self.count % self.threads == 0:
            return None
        return builder.one("lt", (linear, builder.const(self.count)), bool_)


class Spread(msgspec.Struct, frozen=True, dict=True):
    """A layout of a matrix of `rows` × `columns`, in which each thread has some rows times some columns.

    Attributes:
        down, across: the number of groups along rows and columns: of threads, or of warps with `fragments`.
        fragments: rows and columns lie as in the fragments of tensor cores.
    """

    rows: int
    columns: int
    threads: int
    down: int
    across: int
    fragments: bool = False

    @cached_property
    def own_rows(self) -> int:
        """The number of rows that a thread has, the last ones perhaps outside of the matrix."""
        return 2 * -(-self.rows // (MMA_ROWS * self.down)) if self.fragments else -(-self.rows // self.down)

    @cached_property
    def own_columns(self) -> int:
        """The number of columns that a thread has, the last ones perhaps outside of the matrix."""
        return (
            2 * -(-self.columns // (MMA_COLUMNS * self.across)) if self.fragments else -(-self.columns // self.across)
        )

    @property
    def registers(self) -> int:
        """The number of registers of a thread, one per element."""
        return self.own_rows * self.own_columns

    @property
    def who(self) -> Hashable:
        """A name for the share of elements that each thread has: the layout. Equal names mean equal shares."""
        return self

    @property
    def used(self) -> int:
        """The number of threads that have elements; they are the first ones."""
        return self.down * self.across * (WARP if self.fragments else 1)

    def row(self, lane: str, number: str) -> str:
        """Return the C++ expression of the matrix's row that is a thread's own row `number`.

        Args:
            lane: the C++ name of the thread's index.
            number: a C++ name or literal.
        """
        if not self.fragments:
            return f"{lane} / {self.across} + {number} * {self.down}"
        # Of mma.m16n8k16 a thread has rows l / 4 and l / 4 + 8 of its fragment; `number` counts those two first.
        group = f"{lane} / {WARP} / {self.across}"
        return f"({group} + {number} / 2 * {self.down}) * {MMA_ROWS} + {number} % 2 * 8 + {lane} % {WARP} / 4"

    def column(self, lane: str, number: str) -> str:
        """Return the C++ expression of the matrix's column that is a thread's own column `number`.

        Args:
            lane: the C++ name of the thread's index.
            number: a C++ name or literal.
        """
        if not self.fragments:
            return f"{lane} % {self.across} + {number} * {self.across}"
        # … and columns 2 (l % 4) and the one after it.
        group = f"{lane} / {WARP} % {self.across}"
        return f"({group} + {number} / 2 * {self.across}) * {MMA_COLUMNS} + {lane} % 4 * 2 + {number} % 2"

    def each(self, builder: Builder, lane: Value, shape: tuple[int, ...], body: Body, registers: bool = True) -> None:
        """Emit `body` for each element that a thread has, in unrolled loops whatever `registers` is."""

        def row(i: Value) -> None:
            at = self._coordinate(builder, lane, i, rows=True)
            wide = builder.const(self.own_columns)

            def column(j: Value) -> None:
                indices = (at, self._coordinate(builder, lane, j, rows=False))
                register = builder.one("add", (builder.one("mul", (i, wide), int32), j), int32)
                body_here = Element(builder, shape, register, None, indices)
                when(builder, self._inside_test(builder, lane, indices), lambda: body(body_here))

            loop(builder, self.own_columns, column, "j")

        loop(builder, self.own_rows, row, "i")

    def pairs(
        self, b: Builder, lane: Value, shape: tuple[int, ...], body: Callable[[Element, Element], object]
    ) -> None:
        """Emit `body` for each two neighbours in a row that a thread has in fragments.

        The matrix has an even number of columns.
        """

        def row(i: Value) -> None:
            at = self._coordinate(b, lane, i, rows=True)

            def two(j: Value) -> None:
                first = b.one("mul", (j, b.const(2)), int32)
                numbers = (first, b.one("add", (first, b.const(1)), int32))
                indices = [(at, self._coordinate(b, lane, number, rows=False)) for number in numbers]
                start = b.one("mul", (i, b.const(self.own_columns)), int32)
                registers = [b.one("add", (start, number), int32) for number in numbers]
                pair = [Element(b, shape, r, None, p) for r, p in zip(registers, indices, strict=True)]
                when(b, self._inside_test(b, lane, indices[0]), lambda: body(*pair))

            loop(b, self.own_columns // 2, two, "j")

        loop(b, self.own_rows, row, "i")

    def _coordinate(self, b: Builder, lane: Value, number: Value, rows: bool) -> Value:
        """Emit the row of the matrix, or its column, that is this thread's own row or column `number`, as an int32."""

        def op(name: str, x: Value, y: int) -> Value:
            return b.one(name, (x, b.const(y)), int32)

        if not self.fragments:
            groups = self.down if rows else self.across
            first = op("quotient" if rows else "remainder", lane, self.across)
            return b.one("add", (first, product(b, number, groups)), int32)
        group = op("quotient" if rows else "remainder", op("quotient", lane, WARP), self.across)
        again = product(b, op("quotient", number, 2), self.down if rows else self.across)
        block = product(b, b.one("add", (group, again), int32), MMA_ROWS if rows else MMA_COLUMNS)
        odd = op("remainder", number, 2)
        inner = op("quotient", op("remainder", lane, WARP), 4) if rows else product(b, op("remainder", lane, 4), 2)
        inner = b.one("add", (inner, product(b, odd, 8) if rows else odd), int32)
        return b.one("add", (block, inner), int32)

    def _inside_test(self, b: Builder, lane: Value, indices: tuple[Value, ...]) -> Value | None:
        """Emit the test that an element is in the matrix and the thread has elements; return None if always so."""
        unit = (MMA_ROWS, MMA_COLUMNS) if self.fragments else (1, 1)
        ends = zip(indices, (self.rows, self.columns), (self.down, self.across), unit, strict=True)
        tests = [b.one("lt", (at, b.const(size)), bool_) for at, size, groups, one in ends if size % (groups * one)]
        # Threads beyond a whole grid of groups have no elements, whatever their indices say.
        if self.used < self.threads:
            tests.append(b.one("lt", (lane, b.const(self.used)), bool_))
        return every(b, tests)


Layout: TypeAlias = Striped | Spread


def for_product(rows: int, columns: int, threads: int) -> Spread:
    """Return the layout of a product's result by which threads read the fewest elements of the operands."""
    best: tuple[float, Spread] | None = None
    across = 1
    # Powers of two: most divisions by `across` then become shifts.
    while across <= min(threads, 1 << (columns - 1).bit_length()):
        down = min(threads // across, rows)
        spread = Spread(rows, columns, threads, down, min(across, columns))
        # Per step along K a thread reads own_rows + own_columns elements for registers products: squares read least.
        cost = spread.registers + 0.5 * (spread.own_rows + spread.own_columns)
        if best is None or cost < best[0]:
            best = (cost, spread)
        across *= 2
    assert best is not None
    return best[1]


def for_fragments(rows: int, columns: int, threads: int) -> Spread | None:
    """Return the layout of a product's result in fragments by which warps read the fewest elements of the operands.

    It is None if the block is not made of whole warps.
    """
    warps = threads // WARP
    if threads % WARP or not warps:
        return None
    choices: list[tuple[float, int, Spread]] = []
    for across in range(1, warps + 1):
        down = min(warps // across, -(-rows // MMA_ROWS))
        wide = min(across, -(-columns // MMA_COLUMNS))
        spread = Spread(rows, columns, threads, down, wide, fragments=True)
        choices.append((spread.registers * (1 + 0.25 / spread.own_rows + 0.25 / spread.own_columns), across, spread))
    # Ties go to the smaller `across`, so that the choice does not depend on the order of the loop.
    return min(choices, key=lambda c: c[:2])[2]


def product(builder: Builder, value: Value, factor: int) -> Value:
    """Emit `value * factor` as an int32; return the value itself if the factor is 1."""
    return value if factor == 1 else builder.one("mul", (value, builder.const(factor)), int32)


def loop(builder: Builder, count: int, body: Callable[[Value], object], name: str = "r") -> None:
    """Emit an unrolled loop of `count` iterations; `body` gets the index, which is called `name`."""
    if count == 1:
        body(builder.const(0))
        return
    number = Value(int32, name)
    with builder.block((number,)) as scope:
        body(number)
        builder.yield_()
    # Registers have no address: an index into them must be known after unrolling.
    builder.for_(builder.const(0), builder.const(count), builder.const(1), (), scope.block, {UNROLL: True})


def when(builder: Builder, condition: Value | None, body: Callable[[], object]) -> None:
    """Emit `body` under the condition, or unconditionally if that is None."""

    def then() -> Values:
        body()
        return ()

    either(builder, condition, then, tuple)


def either(
    builder: Builder, condition: Value | None, then: Callable[[], Values], orelse: Callable[[], Values]
) -> Values:
    """Emit a branch, and return its values: `then()` if the condition holds or is None, else `orelse()`."""
    if condition is None:
        return then()
    with builder.block() as first:
        builder.yield_(*then())
    with builder.block() as second:
        builder.yield_(*orelse())
    return builder.if_(condition, first.block, second.block)


def every(builder: Builder, tests: Iterable[Value]) -> Value | None:
    """Emit the conjunction of tests, and return it; None if there is none."""
    result: Value | None = None
    for test in tests:
        result = test if result is None else builder.one("and_", (result, test), bool_)
    return result
