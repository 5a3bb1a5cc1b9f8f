"""Kernels whose adjoint must be right: every gradient against difference quotients in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.checks.numeric import I1, V1, X1, X2, check, kernel, values
from workbench.types import VECTORS, Type, float64, int32

vec3d = VECTORS["vec3d"]
N = 5


STRAIGHT: dict[str, str] = {
    "arithmetic": "y[i] = x[i] * x[i] - 3.0 / x[i] + (-x[i]) * a",
    "several uses of one value": "t = sin(x[i])\n    u = t * t\n    y[i] = u * t + u",
    "functions": "y[i] = exp(x[i]) * sqrt(x[i]) + log(x[i]) * atan2(x[i], a) + pow(x[i], a)",
    "mod": "y[i] = (x[i] * 7.0) % a",
    "where": "y[i] = where(x[i] > 1.0, x[i] * x[i], a * x[i])",
    "min and max": "y[i] = min(x[i], a) * max(x[i], 1.0) + clamp(x[i], 0.5, 1.0)",
    "integer cast cuts": "y[i] = x[i] * float64(int(x[i] * 10.0))",
    "rounding": "y[i] = x[i] - floor(x[i] * 3.0) * a",
    "int to float": "y[i] = x[i] * float64(i) + float64(i * 2)",
    "a constant stored": "y[i] = 2.5",
    "nothing of x": "y[i] = a",
    "written twice": "y[i] = x[i] * 2.0\n    y[i] = x[i] * a",
    "written, then cleared": "y[i] = x[i]\n    y[i] = 0.0",
    "read after write": "y[i] = x[i] * 3.0\n    x[i] = y[i] * 2.0",
    "read after write, nonlinear": "y[i] = sin(x[i])\n    t = y[i]\n    y[i] = t * t",
    "linear update": "y[i] = y[i] + a * x[i] * x[i]",
    "augmented": "y[i] += sin(x[i])\n    y[i] -= x[i] * 0.5",
    "scaled update": "y[i] = 0.25 * y[i] + x[i]",
    "overwritten, read between": "y[i] = x[i] * 3.0\n    x[i] += y[i] * 0.5\n    y[i] = x[i]",
    "swap": "s = x[i]\n    t = y[i]\n    x[i] = t\n    y[i] = s",
    "used before it is overwritten linearly": "s = x[i]\n    x[i] = 2.0 * s\n    y[i] = s + x[i]",
    "scalar in a power": "y[i] = a ** x[i]",
    "chained": "y[i] = tanh(sinh(x[i] * 0.3)) + cosh(x[i]) * erf(a * x[i])",
    "index from the end": "y[i] = x[-1 - i] * x[i]",
    "overwritten": "x[i] = sin(x[i])",
    "scaled in place": "x[i] *= y[i]",
    "overwritten later": "t = x[i]\n    y[i] = t * t\n    x[i] = 0.0",
    "divided and scaled": "x[i] /= y[i]\n    x[i] *= a\n    y[i] *= x[i]",
    "neighbours": "j = (i + 1) % len(x)\n    y[i] = x[i] * x[j] + x[j] * x[j]",
}


@pytest.mark.parametrize("name", STRAIGHT)
@pytest.mark.parametrize("atomic", [False, True], ids=["plain", "atomic"])
def test_straight_line(name: str, atomic: bool) -> None:
    function = kernel(f"def k(x, y, a):\n    i = tid()\n    {STRAIGHT[name]}", {"x": X1, "y": X1, "a": float64})
    check(function, N, values(N), values(N), 1.3, atomic=atomic)


BRANCHES: dict[str, str] = {
    "one side": "if x[i] > 1.0:\n        y[i] = x[i] * x[i]",
    "two sides": "if x[i] > 1.0:\n        y[i] = x[i] * a\n    else:\n        y[i] = sin(x[i])",
    "a value from both": "if x[i] > a:\n        t = x[i] * x[i]\n    else:\n        t = a\n    y[i] = t * t",
    "a value that stays": "t = x[i] * a\n    if i % 2 == 0:\n        t = t * t\n    y[i] = t * x[i]",
    "nested": """t = x[i]
    if i > 0:
        u = t * a
        if i > 2:
            t = u * u
        else:
            t = u + a
            y[i] = t
    y[i] = y[i] + t * x[i]""",
    "results of inner branches and loops used at each level": """t = x[i]
    if i > 0:
        u = t * a
        if i > 1:
            u = u * t
            c = 0
            while u < 3.0 + t:
                u = u * 1.5 + 0.2
                c += 1
            if c > 1:
                for j in range(c):
                    u = sin(u) * t
                t = t * u
            else:
                t = u / t
            t = t * u
        else:
            u = exp(t)
        t = t * u
    y[i] = t * t""",
    "elif": """if i == 0:
        t = x[i]
    elif i == 1:
        t = x[i] * x[i]
    else:
        t = x[i] * a
    y[i] = t * t""",
    "ternary": "y[i] = x[i] * x[i] if x[i] > 1.0 else a / x[i]",
    "early return": "if i == 2:\n        return\n    y[i] = x[i] * a",
    "store in one, overwritten after": "if i > 1:\n        y[i] = x[i]\n    y[i] = x[i] * x[i]",
    "stored before one side stores": "y[i] = x[i] * a\n    if i > 1:\n        y[i] = x[i] * x[i]",
    "read before and after one side stores": "t = y[i]\n    if i > 1:\n        y[i] = x[i]\n    y[i] = y[i] + t * 2.0",
    "conditional on both": "if x[i] > 0.5 and x[i] < a:\n        y[i] = exp(x[i])",
}


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name: str) -> None:
    function = kernel(f"def k(x, y, a):\n    i = tid()\n    {BRANCHES[name]}", {"x": X1, "y": X1, "a": float64})
    check(function, N, values(N), values(N), 1.1)


NANS: dict[str, str] = {
    "if": "if x[i] > 0.0:\n        y[i] = sqrt(x[i]) * log(x[i])\n    else:\n        y[i] = x[i]",
    "if, computed outside": "r = sqrt(x[i])\n    t = x[i]\n    if x[i] > 0.0:\n        t = r * a\n    y[i] = t",
    "where": "y[i] = where(x[i] > 0.0, sqrt(x[i]), x[i] * a)",
    "where of a shared value": """r = sqrt(x[i])
    y[i] = where(x[i] > 0.0, r, 0.0) * a + where(x[i] > 0.0, r * r, 1.0)""",
    "where in where": "r = log(x[i])\n    y[i] = where(x[i] > 0.0, where(x[i] > 1.0, r, r * r), a)",
    "where in an untaken if": """r = log(x[i])
    t = a
    if i > 0:
        t = where(x[i] > 0.0, r, a)
    y[i] = t""",
    "a loop that does not run": """r = sqrt(x[i])
    s = float64(0.0)
    for j in range(int(x[i] > 0.0)):
        s += r
    y[i] = s""",
    "a sum that is not used": """s = float64(0.0)
    for j in range(n):
        s += sqrt(x[j])
    y[i] = where(x[i] > 9.0, s, x[i] * a)""",
    "values before the last": "s = a\n    for j in range(n):\n        s = sqrt(x[j])\n    y[i] = s",
    "values before a selected one": """s = a
    for j in range(n):
        r = sqrt(x[j])
        if x[j] > 0.0:
            s = r
    y[i] = s""",
    "one of two sums": """s = float64(0.0)
    t = float64(0.0)
    for j in range(n):
        s += t
        t = log(x[j]) if j == 4 else x[j]
    y[i] = s""",
    "a value before a loop that replaces it": "s = sqrt(x[i])\n    for j in range(n):\n        s = x[4]\n    y[i] = s",
    "stored, then overwritten": "y[i] = log(x[i])\n    if i > 1:\n        y[i] *= sqrt(x[i])\n    y[i] = x[i]",
    "overwritten after a loop": "for j in range(n):\n        y[i] += log(x[j])\n    y[i] = x[i]",
    "maximum": "y[i] = max(a, sqrt(x[i] * 0.0)) * x[i]",
}


@pytest.mark.parametrize("name", NANS)
def test_a_nan_of_what_was_not_taken_never_gets_through(name: str) -> None:
    text = f"def k(x, y, a, n):\n    i = tid()\n    {NANS[name]}"
    function = kernel(text, {"x": X1, "y": X1, "a": float64, "n": int32})
    x = np.array([-1.0, 0.7, -0.4, 1.6, 2.0])
    check(function, N, x, values(N), 1.1, N)


def test_what_is_overwritten_where_the_run_decides_has_no_nan() -> None:
    text = """def k(x, w, at, a):
    i = tid()
    w[i, at[0]] = sqrt(x[i]) * exp(log(x[i]))
    w[i, at[1]] = x[i] * a
"""
    function = kernel(text, {"x": X1, "w": X2, "at": I1, "a": float64})
    check(function, 3, np.array([-1.0, 0.7, -2.0]), values(3, 2), np.array([1, 1], np.int32), 1.1)


@pytest.mark.parametrize("read", ["v.x", "v[0]", "v.x * v.z"])
def test_a_component_nobody_used_has_no_nan(read: str) -> None:
    text = f"def k(p, y):\n    i = tid()\n    v = sqrt(p[i])\n    y[i] = {read}"
    check(kernel(text, {"p": V1, "y": X1}), 3, values(3, 3) * [1, -1, 1], values(3))


def test_a_component_that_was_replaced_has_no_nan() -> None:
    text = "def k(p, y, n):\n    i = tid()\n    v = sqrt(p[i])\n    v[n] = 2.0\n    y[i] = v.x + v.y * v.z"
    check(kernel(text, {"p": V1, "y": X1, "n": int32}), 3, values(3, 3) * [1, -1, 1], values(3), 1)


ARRAYS: dict[str, tuple[str, dict[str, Type], Any, list[Any]]] = {
    "two dimensions": (
        "def k(x, y):\n    i, j = tid()\n    y[j, i] = x[i, j] * x[i, j]",
        {"x": X2, "y": X2}, (2, 3), [values(2, 3), values(3, 2)],
    ),
    "rows of a thread": (
        """def k(x, y):
    i = tid()
    for j in range(1, 4):
        y[i, j] = y[i, j - 1] * 0.5 + x[i, j] * x[i, 0]""",
        {"x": X2, "y": X2}, 3, [values(3, 4), values(3, 4)],
    ),
    "matrix times vector": (
        """def k(m, x, y):
    i = tid()
    s = float64(0.0)
    for j in range(m.shape[1]):
        s += m[i, j] * x[j]
    y[i] = s * s""",
        {"m": X2, "x": X1, "y": X1}, 3, [values(3, 4), values(4), values(3)],
    ),
    "blur": (
        """def k(x, y):
    i, j = tid()
    s = float64(0.0)
    for di in range(-1, 2):
        for dj in range(-1, 2):
            r = clamp(i + di, 0, x.shape[0] - 1)
            c = clamp(j + dj, 0, x.shape[1] - 1)
            s += x[r, c] * (1.0 + 0.5 * float64(di * dj))
    y[i, j] = s / 9.0""",
        {"x": X2, "y": X2}, (3, 4), [values(3, 4), values(3, 4)],
    ),
    "gather": (
        "def k(x, y, at):\n    i = tid()\n    y[i] = x[at[i]] * x[at[i]]",
        {"x": X1, "y": X1, "at": I1}, 4, [values(3), values(4), np.array([0, 2, 2, 1], np.int32)],
    ),
    "scatter without races": (
        "def k(x, y, at):\n    i = tid()\n    y[at[i]] = x[i] * x[i]",
        {"x": X1, "y": X1, "at": I1}, 3, [values(3), values(4), np.array([2, 0, 3], np.int32)],
    ),
    "histogram": (
        "def k(x, y, at):\n    i = tid()\n    atomic_add(y, at[i], x[i] * x[i])",
        {"x": X1, "y": X1, "at": I1}, 4, [values(4), values(3), np.array([0, 2, 2, 1], np.int32)],
    ),
    "atomic sum in a loop": (
        """def k(x, y):
    i = tid()
    for j in range(len(y)):
        atomic_add(y, j, x[i] * x[j])""",
        {"x": X1, "y": X1}, 4, [values(4), values(3)],
    ),
    "atomic_sub": (
        "def k(x, y):\n    i = tid()\n    atomic_sub(y, 0, x[i] * x[i])",
        {"x": X1, "y": X1}, 4, [values(4), values(1)],
    ),
    "own element, added and assigned": (
        "def k(x, y):\n    i = tid()\n    y[i] = x[i]\n    atomic_add(y, i, x[i] * x[i])",
        {"x": X1, "y": X1}, 4, [values(4), values(4)],
    ),
    "interleaved": (
        "def k(x, y):\n    i = tid()\n    y[2 * i] = x[i] * x[i]\n    y[2 * i + 1] = sin(x[i])",
        {"x": X1, "y": X1}, 3, [values(3), values(6)],
    ),
    "one thread writes all": (
        "def k(x, y):\n    for j in range(len(y)):\n        y[j] = x[j] * x[0]",
        {"x": X1, "y": X1}, 1, [values(4), values(4)],
    ),
    "integers counted beside": (
        "def k(x, y, at):\n    i = tid()\n    atomic_add(at, 0, 1)\n    y[i] = x[i] * x[i]",
        {"x": X1, "y": X1, "at": I1}, 3, [values(3), values(3), np.zeros(1, np.int32)],
    ),
    "a scalar alone": (
        "def k(y, a):\n    i = tid()\n    y[i] = a * a * float64(i)",
        {"y": X1, "a": float64}, 3, [values(3), 1.7],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("atomic", [False, True], ids=["plain", "atomic"])
def test_arrays(name: str, atomic: bool) -> None:
    text, signature, dim, arguments = ARRAYS[name]
    check(kernel(text, signature), dim, *arguments, atomic=atomic)


VECTOR_KERNELS: dict[str, str] = {
    "arithmetic": "q[i] = p[i] * a + p[i] * p[i] - p[i] / b",
    "functions by component": "q[i] = sin(p[i]) * exp(b)",
    "scalar products": "q[i] = p[i] * dot(p[i], b) + cross(p[i], b) * length(p[i])",
    "normalize": "q[i] = normalize(p[i]) * length_sq(b)",
    "components": "v = p[i]\n    q[i] = vec3d(v.x * v.y, v.z * a, sin(v.x))",
    "one component": "q[i] = vec3d(p[i].y * p[i].y, 0.0, b.x)",
    "component by an index": """s = float64(0.0)
    for j in range(3):
        s += p[i][j] * b[2 - j]
    q[i] = b * s""",
    "component by a dynamic index": """s = float64(0.0)
    for j in range(n):
        s += p[i][j] * b[j]
    q[i] = b * s""",
    "component written": "v = p[i]\n    v.y = v.x * a\n    q[i] = v * v",
    "component written in a loop": "v = b\n    for j in range(n):\n        v[j] = p[i][j] * a\n    q[i] = v * v",
    "component read after it was written": "v = p[i]\n    v.x = a\n    v.x = v.x * v.y\n    q[i] = v * v.x",
    "where": "q[i] = where(p[i].x > 1.0, p[i] * p[i], b)",
    "sum in a loop": "v = b\n    for j in range(n):\n        v = v * 0.5 + p[j] * p[i].x\n    q[i] = v",
    "branches": "v = p[i]\n    if v.x > 1.0:\n        v = v * v.y\n    q[i] = v + b",
    "lerp": "q[i] = lerp(p[i], b, vec3d(a))",
}


@pytest.mark.parametrize("name", VECTOR_KERNELS)
def test_vectors(name: str) -> None:
    text = f"def k(p, q, b, a, n):\n    i = tid()\n    {VECTOR_KERNELS[name]}"
    function = kernel(text, {"p": V1, "q": V1, "b": vec3d, "a": float64, "n": int32})
    check(function, 3, values(3, 3), values(3, 3), np.array([0.4, 1.2, 0.9]), 1.3, 3)


def test_funcs_are_part_of_it() -> None:
    text = """
    def k(x, y, a):
        i = tid()
        t = x[i]
        for j in range(4):
            t = t - (t * t - a) / (2.0 * t)
        y[i] = t
    """
    check(kernel(text, {"x": X1, "y": X1, "a": float64}), N, values(N), values(N), 2.0)
