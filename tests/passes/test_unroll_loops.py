"""Loops over constant ranges written out: same meaning, no loop left, nothing above the limit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.checks.numeric import I1, X1, kernel
from workbench.backends.python.interpret import run
from workbench.ir.values import Function, walk
from workbench.ir.verify import verify
from workbench.passes.fold import fold
from workbench.passes.unroll import unroll, write_out
from workbench.types import int32


def loops(function: Function) -> int:
    return sum(op.name == "for" for op in walk(function.body))


def results(function: Function, n: int = 3) -> np.ndarray:
    y = np.zeros(2)
    run(function, 2, [np.array([0.3, 0.7, 1.9, 2.3]), y, n])
    return y


BODIES = {
    "product": ("for j in range(4):\n        s = s * x[j] + float64(j)", 0),
    "backwards": ("for j in range(3, -1, -2):\n        s = s * x[j] + float64(j)", 0),
    "empty": ("for j in range(3, 1):\n        s = s * x[j]", 0),
    "exchange": ("t = x[0]\n    for j in range(3):\n        s, t = t, s * 2.0\n    s = s - t", 0),
    "nested": ("for j in range(3):\n        for k in range(2):\n            s = s * x[j] + x[k]", 0),
    "dynamic around static": ("for j in range(n):\n        for k in range(2):\n            s = s * x[j] + x[k]", 1),
    "in a branch": ("if i > 0:\n        for j in range(3):\n            s += x[j] * s", 0),
    "dynamic": ("for j in range(n):\n        s = s * x[j]", 1),
}


@pytest.mark.parametrize("name", BODIES)
def test_the_meaning_stays(name: str) -> None:
    body, left = BODIES[name]
    text = f"def k(x, y, n):\n    i = tid()\n    s = x[i]\n    {body}\n    y[i] = s"
    function = kernel(text, {"x": X1, "y": X1, "n": int32})
    unrolled = verify(unroll(function, 1000))
    assert loops(unrolled) == left
    np.testing.assert_array_equal(results(unrolled), results(function))


def test_a_bound_that_depends_on_an_outer_index_is_constant_after_folding() -> None:
    text = """def k(x, y, n):
    s = x[0]
    for j in range(3):
        for k in range(j):
            s = s * x[k]
    y[tid()] = s"""
    function = kernel(text, {"x": X1, "y": X1, "n": int32})
    once = unroll(function, 1000)
    assert loops(once) == 3
    twice = unroll(fold(once), 1000)
    assert loops(twice) == 0
    np.testing.assert_array_equal(results(twice), results(function))


def test_the_limit_counts_operations() -> None:
    function = kernel("def k(at):\n    i = tid()\n    for j in range(10):\n        at[i] += j", {"at": I1})
    (loop,) = (op for op in walk(function.body) if op.name == "for")
    size = 10 * len(loop.blocks[0].ops)
    assert loops(unroll(function, size)) == 0
    assert unroll(function, size - 1) is function


def test_only_what_is_chosen() -> None:
    text = """def k(at):
    i = tid()
    for j in range(2):
        at[i] += j
    for j in range(3):
        at[i] += j"""
    function = kernel(text, {"at": I1})
    first, _ = (op for op in walk(function.body) if op.name == "for")
    assert loops(unroll(function, 1000, lambda op: op is first)) == 1


def test_nests_that_would_become_too_many_operations_stay_and_others_are_written_out() -> None:
    """Each loop of the large nest is small enough by itself; all together they would be 100,000 operations."""
    text = """def k(x, y, n):
    s = x[0]
    for i in range({}):
        for j in range(i + 1):
            for k in range(j + 1):
                if k != i:
                    s = s * x[k % 4] + float64(i - j)
    for k in range(4):
        if k != n:
            s = s + x[k]
        if k == 2:
            s = s * 0.5
    y[tid()] = s"""
    for count, left in ((3, 0), (32, 3)):
        function = kernel(text.format(count), {"x": X1, "y": X1, "n": int32})
        assert loops(write_out(function)) == left
    function = kernel(text.format(5), {"x": X1, "y": X1, "n": int32})
    np.testing.assert_array_equal(results(write_out(function)), results(function))
