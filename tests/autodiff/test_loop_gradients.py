"""Loops whose adjoint must be right: static, additive, linear, nested, of every range."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.support.checks.numeric import X1, check, kernel, values
from workbench.types import float64, int32, uint32

N = 5


LOOPS: dict[str, str] = {
    "static sum": "s = float64(0.0)\n    for j in range(3):\n        s += x[j] * x[i]\n    y[i] = s * s",
    "static product": "s = float64(1.0)\n    for j in range(3):\n        s *= x[j] + x[i]\n    y[i] = s",
    "static, nested product": """s = float64(1.0)
    for j in range(2):
        for k in range(j + 1):
            s = s * x[k] + x[j]
    y[i] = s""",
    "static product in a dynamic sum": """s = float64(0.0)
    for j in range(n):
        p = float64(1.0)
        for k in range(3):
            p *= x[k] + x[j]
        s += p
    y[i] = s""",
    "static maximum": "m = x[0]\n    for j in range(1, 4):\n        m = max(m, x[j])\n    y[i] = m",
    "dynamic sum": "s = float64(0.0)\n    for j in range(n):\n        s += sin(x[j]) * a\n    y[i] = s * s",
    "sum from the shape": """s = float64(0.0)
    for j in range(len(x)):
        s += x[j] * x[j]
    y[i] = s * x[i]""",
    "starts with a value": "s = x[i] * a\n    for j in range(n):\n        s += x[j]\n    y[i] = s * s",
    "two sums": """s = float64(0.0)
    t = a
    for j in range(n):
        s += x[j]
        t += s * 0.5
    y[i] = s * t""",
    "linear recurrence": "s = x[0]\n    for j in range(n):\n        s = 0.5 * s + x[j] * x[i]\n    y[i] = s * s",
    "rotation": """u = x[i]
    v = 1.0
    for j in range(n):
        w = u * 0.8 - v * 0.6
        v = u * 0.6 + v * 0.8 + x[j]
        u = w
    y[i] = u * v""",
    "last one wins": "s = a\n    for j in range(n):\n        s = x[j] * x[j]\n    y[i] = s",
    "selection": "s = a\n    for j in range(n):\n        if j == i:\n            s = x[j] * a\n    y[i] = s * s",
    "conditional sum": """s = float64(0.0)
    for j in range(n):
        if j != i:
            s += x[j] * x[i]
    y[i] = s""",
    "steps": "s = float64(0.0)\n    for j in range(1, n, 2):\n        s += x[j] * float64(j)\n    y[i] = s",
    "steps that do not meet the end": """s = x[0]
    for j in range(0, n, 3):
        s = 0.5 * s + x[j] * x[j]
    y[i] = s""",
    "an element read before it changes in a loop": """t = y[i]
    for j in range(n):
        y[i] = 0.5 * y[i] + x[j]
    y[i] = y[i] + t * 2.0""",
    "an element that a loop reads, overwritten after": """y[i] = x[i] * 3.0
    s = x[i]
    for j in range(n):
        s += y[i]
        y[i] = 0.5 * y[i]
    y[i] = s""",
    "backwards": """s = float64(0.0)
    for j in range(n - 1, -1, -1):
        s = 0.5 * s + x[j] * x[j]
    y[i] = s""",
    "backwards by two": """s = float64(0.0)
    for j in range(n - 1, 0, -2):
        s = 0.5 * s + x[j] * x[j]
    y[i] = s""",
    "a step from a parameter": """s = float64(0.0)
    for j in range(4, i, -m):
        s = 0.5 * s + x[j] * x[j]
    y[i] = s""",
    "a rising step from a parameter": """s = float64(0.0)
    for j in range(i, 5, m):
        s = 0.5 * s + x[j] * x[j]
    y[i] = s""",
    "empty": "s = a\n    for j in range(n, 2):\n        s += x[j]\n    y[i] = s * s",
    "bounds from the thread": "s = float64(0.0)\n    for j in range(i, n):\n        s += x[j] * x[i]\n    y[i] = s",
    "nested dynamic": """s = float64(0.0)
    for j in range(n):
        t = a
        for k in range(j):
            t += x[k] * x[j]
        s += t * t
    y[i] = s""",
    "nested, carried through both": """s = float64(0.0)
    for j in range(n):
        for k in range(j, n):
            s = 0.9 * s + x[k] * x[j]
    y[i] = s""",
    "a counter": """s = float64(0.0)
    c = 1
    for j in range(m):
        s += x[c] * x[c]
        c += 1
    y[i] = s""",
    "a counter down": """s = float64(0.0)
    c = 4
    for j in range(n, 1, -2):
        s += x[c] * x[c]
        c = c - m
    y[i] = s""",
    "stores in a loop": "for j in range(n):\n        y[i] = x[j] * a",
    "additions in a loop": "for j in range(n):\n        y[i] += x[j] * x[i]",
    "linear update in a loop": "for j in range(n):\n        y[i] = 0.5 * y[i] + x[j] * x[j]",
    "while, inactive": """c = 0
    while c < n and x[c] < 1.2:
        c += 1
    y[i] = x[i] * float64(c)""",
    "a bound that is loaded": """s = float64(0.0)
    for j in range(int(x[i] * 3.0)):
        s += x[j] * x[j]
    y[i] = s""",
    "a loop in a branch": """s = a
    if i > 1:
        for j in range(i):
            s += x[j] * x[i]
    y[i] = s * s""",
    "a branch in a loop in a branch": """s = a
    if i > 1:
        for j in range(n):
            if x[j] > 1.0:
                s += x[j] * x[i]
            else:
                s = s * 0.5
    y[i] = s * s""",
    "a constant in a loop": "s = x[i]\n    for j in range(n):\n        s = float64(1.0)\n    y[i] = s * a",
    "names exchanged": "u = x[i]\n    v = a\n    for j in range(n):\n        u, v = v, u\n    y[i] = u * 2.0 + v * v",
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str) -> None:
    text = f"def k(x, y, a, n, m):\n    i = tid()\n    {LOOPS[name]}"
    function = kernel(text, {"x": X1, "y": X1, "a": float64, "n": int32, "m": int32})
    check(function, N, values(N), values(N), 1.3, N, 2)


def test_an_unsigned_range() -> None:
    text = """
    def k(x, y, n):
        s = x[0]
        for j in range(uint32(2), n, uint32(3)):
            s = 0.5 * s + x[j] * x[j]
        y[tid()] = s
    """
    function = kernel(text, {"x": X1, "y": X1, "n": uint32})
    for n in (0, 2, 3, 8, 9):
        check(function, 1, values(9), values(1), n)


@pytest.mark.parametrize("start", [-2, 0, 3])
@pytest.mark.parametrize("stop", [-3, 0, 4, 5])
@pytest.mark.parametrize("step", [-3, -2, -1, 1, 2, 3])
def test_every_range_backwards(start: int, stop: int, step: int) -> None:
    text = """
    def k(x, y, start, stop, step):
        s = x[0]
        c = 0.0
        for j in range(start, stop, step):
            s = 0.5 * s + x[j] * x[j]
            c += 1.0
        y[tid()] = s * x[0] + c
    """
    function = kernel(text, {"x": X1, "y": X1, "start": int32, "stop": int32, "step": int32})
    check(function, 1, values(N), values(1), start, stop, step)


@wb.kernel
def found_by_a_loop(z: wb.array(dtype=float), y: wb.array(dtype=float)):
    i = wb.tid()
    place = 0
    step = 0
    while place < 3:
        step += 1
        place += step
    y[place] = z[i] * z[i]


def test_an_index_that_a_loop_with_several_results_gives() -> None:
    z, y = wb.array([3.0]), wb.zeros(8)
    assert wb.gradcheck(found_by_a_loop, 1, inputs=[z], outputs=[y]).ok
