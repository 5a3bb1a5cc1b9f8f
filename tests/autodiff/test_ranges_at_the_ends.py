"""Ranges that reach the ends of their type are Python's: in loops that are left early, and backwards."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.checks.numeric import X1, gradients, kernel
from workbench.backends.python.interpret import run
from workbench.types import SCALARS, ArrayType, element

BOTH = """
def k(a: int, b: int, by: int, x: float, y: float):
    i = tid()
    s = float64(0.0)
    g = 0
    for q in range(a[i], b[i], {step}):
        g += 3{leave}
        s += x[i] * (float64(q) + float64(g))
    y[i] = s
"""
LEAVE = """
        if g > 60:
            break"""
DOWN, UP = -(2**63), 2**63 - 1
RANGES = {
    "int8 1": [(-128, -120), (-100, 100), (0, -128), (127, -128), (3, 7)],
    "int8 -1": [(127, 120), (127, -128), (0, 127), (7, 3)],
    "int8 3": [(-128, 127), (100, -100)],
    "int8": [(-100, 100, 60), (100, -100, -60), (5, 0, 1)],
    "int16 1": [(-32768, -32760), (32767, -32768)],
    "uint8 100": [(0, 255), (255, 0)],
    "int32 1": [(5, -(2**31)), (2**31 - 3, 2**31 - 1), (-(2**31), -(2**31))],
    "int32 -1": [(0, 2**31 - 1), (-(2**31) + 4, -(2**31))],
    "int32": [(-(2**31), 2**31 - 1, 2**30), (2**31 - 1, -(2**31), -(2**30)), (9, 0, -2)],
    "int64 1": [(3 * 2**61, -3 * 2**61), (UP - 4, UP)],
    "int64": [(DOWN, UP, 2**62), (UP, DOWN, -(2**62)), (UP - 10, UP, 100), (DOWN + 5, DOWN, -7), (0, 9, 4)],
    "uint64 1": [(2**63 - 4, 2**63 + 4), (2**63, 0)],
    "uint64": [(0, 2**64 - 1, 2**63), (2**64 - 9, 2**64 - 1, 2**63 + 1)],
}


@pytest.mark.parametrize("leave", ["", LEAVE], ids=["to the end", "left early"])
@pytest.mark.parametrize("name", RANGES)
def test_every_iteration_and_no_other(name: str, leave: str) -> None:
    type, _, step = name.partition(" ")
    text = BOTH.format(step=f"{type}({step})" if step else "by[i]", leave=leave)
    scalar = SCALARS[type]
    whole = ArrayType(scalar)
    function = kernel(text, {"a": whole, "b": whole, "by": whole, "x": X1, "y": X1})
    rows = [(*given, int(step or 0))[:3] for given in RANGES[name]]
    wanted = []
    for a, b, by in rows:
        turns = list(enumerate(range(a, b, by) if by else (), 1))
        wanted.append(sum(float(q) + 3.0 * n for n, q in (turns[:20] if leave else turns)))
    dtype = element(scalar).numpy
    bounds = [np.array(column, dtype) for column in zip(*rows, strict=True)]
    size = len(rows)
    arguments = [*bounds, np.ones(size), np.zeros(size)]
    run(function, size, arguments)
    np.testing.assert_allclose(arguments[-1], wanted, rtol=1e-12)
    found = gradients(function, size, [*bounds, np.ones(size), np.zeros(size)], {"y": np.ones(size)})
    np.testing.assert_allclose(found["x"], wanted, rtol=1e-12)


@pytest.mark.parametrize("step", [1, -1])
def test_an_empty_range_stays_empty_when_it_is_reversed(step: int) -> None:
    text = f"""
    def k(a: int, b: int, y: float):
        i = tid()
        for q in reversed(range(a[i], b[i], {step})):
            y[i] = y[i] * 4.0 + float64(q)
    """
    whole, y = ArrayType(SCALARS["int32"]), np.ones(3)
    bounds = [np.array(v, np.int32) * step for v in ((0, 3, 9), (-(2**31) + (step < 0), 6, 2))]
    run(kernel(text, {"a": whole, "b": whole, "y": X1}), 3, [*bounds, y])
    assert y.tolist() == [1.0, ((4 + 5 * step) * 4 + 4 * step) * 4 + 3 * step, 1.0]


def test_a_reversed_range_of_any_step_has_the_turns_of_python() -> None:
    text = """
    def k(a: int, b: int, s: int, y: float):
        i = tid()
        for q in reversed(range(a[i], b[i], s[i])):
            y[i] = y[i] * 16.0 + float64(q)
    """
    whole, rows = ArrayType(SCALARS["int32"]), [(0, 7, 3), (0, 6, 3), (9, -1, -4), (2, 2, 5), (5, 2, 2), (1, 9, 7)]
    y = np.ones(len(rows))
    bounds = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    run(kernel(text, {"a": whole, "b": whole, "s": whole, "y": X1}), len(rows), [*bounds, y])
    wanted = []
    for row in rows:
        total = 1.0
        for q in reversed(range(*row)):
            total = total * 16 + q
        wanted.append(total)
    assert y.tolist() == wanted
