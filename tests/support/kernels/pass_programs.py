"""Small programs for the tests of passes: a kernel with everything, random ones, and a check that meaning stays."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.backends.python import run
from workbench.builtins import TABLE, Ref
from workbench.ir import Builder, Function, Value
from workbench.ir.values import walk
from workbench.ir.verify import verify
from workbench.types import ArrayType, Scalar, element, float64, int32

BINARY = ("add", "sub", "mul", "div", "min", "max", "floordiv", "mod")
INTEGER = ("add", "sub", "mul", "min", "max", "floordiv", "mod", "bit_and", "bit_xor", "lshift", "rshift")
UNARY = ("neg", "abs", "sign", "floor", "sqrt")


def names(function: Function) -> list[str]:
    """The operations, outer before inner."""
    return [op.name for op in walk(function.body)]


def results(function: Function, dim: int, arrays: list[np.ndarray], *scalars: Any) -> list[np.ndarray]:
    """What the arrays hold after running the function on copies."""
    copies = [a.copy() for a in arrays]
    run(function, dim, [*copies, *scalars])
    return copies


def same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    """Whether all arrays have equal bits (NaN equal to NaN)."""
    return all(
        np.array_equal(x, y, equal_nan=x.dtype.kind == "f") and np.array_equal(np.signbit(x), np.signbit(y))
        if x.dtype.kind == "f" and not np.isnan(x).any()
        else np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
        for x, y in zip(a, b, strict=True)
    )


class Program:
    """A random program: arithmetic on earlier values, literals, branches and loops; every value is a number."""

    def __init__(self, choices: np.random.Generator, scalar: Scalar) -> None:
        self.choices = choices
        self.scalar = scalar
        self.builder = Builder()
        self.operators = BINARY if scalar == float64 else INTEGER

    def function(self, size: int) -> Function:
        """`size` steps that read `x[i]`, `x[i + 1]` and write `y[i]`, `y[i + 1]`."""
        x, y = Value(ArrayType(self.scalar), "x"), Value(ArrayType(self.scalar), "y")
        b = self.builder
        i = b.one("tid", (), int32, {"axis": 0})
        j = b.one("add", (i, b.const(1)), int32)
        values = [b.load(x, i), b.load(x, j), b.const(2, self.scalar), b.const(0, self.scalar), b.const(1, self.scalar)]
        values = self.steps(values, size, 0)
        b.store(y, i, values[-1])
        b.store(y, j, values[-2])
        return verify(Function("random", (x, y), b.body(), 1))

    def pick(self, values: list[Value]) -> Value:
        return values[int(self.choices.integers(len(values)))]

    def steps(self, values: list[Value], count: int, depth: int) -> list[Value]:
        values = list(values)
        for _ in range(count):
            kind = int(self.choices.integers(10))
            if kind == 0 and depth < 2:
                values += self.branch(values, depth)
            elif kind == 1 and depth < 2:
                values += self.loop(values, depth)
            elif kind == 2:
                values.append(self.builder.const(int(self.choices.integers(-2, 3)), self.scalar))
            elif kind == 3 and self.scalar == float64:
                values.append(
                    self.builder.one(UNARY[int(self.choices.integers(len(UNARY)))], (self.pick(values),), float64)
                )
            else:
                name = self.operators[int(self.choices.integers(len(self.operators)))]
                values.append(self.builder.one(name, (self.pick(values), self.pick(values)), self.scalar))
        return values

    def condition(self, values: list[Value]) -> Value:
        left = Ref(self.builder, self.pick(values))
        return TABLE["lt"](left, Ref(self.builder, self.pick(values))).value

    def branch(self, values: list[Value], depth: int) -> list[Value]:
        condition, blocks = self.condition(values), []
        for _ in range(2):
            with self.builder.block() as opened:
                inner = self.steps(values, 3, depth + 1)
                self.builder.yield_(inner[-1], self.pick(inner))
            blocks.append(opened.block)
        return list(self.builder.if_(condition, *blocks))

    def loop(self, values: list[Value], depth: int) -> list[Value]:
        carried = [self.pick(values), self.pick(values)]
        params = [Value(int32, "k"), Value(self.scalar), Value(self.scalar)]
        with self.builder.block(params) as opened:
            inner = self.steps([*values, *params[1:]], 3, depth + 1)
            self.builder.yield_(inner[-1], self.pick(inner))
        b = self.builder
        count = int(self.choices.integers(4))
        return list(b.for_(b.const(0), b.const(count), b.const(1), carried, opened.block))


def random_function(seed: int, scalar: Scalar, size: int = 14) -> Function:
    """A random program with at most `size` outer steps."""
    return Program(np.random.default_rng(seed), scalar).function(size)


def inputs(scalar: Scalar, count: int = 6) -> list[np.ndarray]:
    """`x` with interesting numbers and an empty `y`, each one longer than the number of threads."""
    x = np.array([0.5, -0.0, 3.0, -2.0, 1e9, 7.0, -1.5][: count + 1]).astype(element(scalar).numpy)
    return [x, np.zeros_like(x)]
