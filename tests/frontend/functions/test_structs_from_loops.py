"""Structs that a `return` inside a loop gives: what Python makes of the same text, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.support.checks import meaning

STRUCTS = """
@struct
class Inner:
    v: vec2d
    k: int

@struct
class Hit:
    a: float64
    b: int
    inner: Inner

"""
FUNCS = """
def nested(x, s):
    hit = Hit()
    for i in range(len(x)):
        if x[i] > s:
            hit.a = x[i]
            hit.inner.v = vec2d(s, x[i])
            return hit
        hit.b += 1
        for j in range(i, 100):
            if x[j % 4]*3.0 > s + j:
                return Hit(s, j, Inner(vec2d(1.0, s), i))
    hit.inner.k = -1
    return hit

def short(x, s):
    for i in range(4):
        if x[i] > s:
            return Hit(x[i], i)
    return Hit(-s, -1)

def in_turn(x, s):
    for w in (1.0, 2.0, 3.0):
        if x[0]*w > s:
            return Hit(w*s, 7)
    return Hit(-s, -1)

def endless(x, s):
    i = 0
    while True:
        if x[i % 4] + i > s:
            return Hit(s*x[i % 4], i), s
        i += 1

def total(x, s):
    p, q, r, t = nested(x, s), short(x, s), in_turn(x, s), endless(x, s*5.0)
    u = p.a + 10.0*p.b + 100.0*p.inner.v[1]*p.inner.v[0] + p.inner.k + q.a*q.b + r.a*r.b
    return u + t[0].a + t[0].b*t[1]
"""
X = np.array([0.5, 1.5, 2.5, 3.5])


class Inner:
    def __init__(self, v: Any = (0.0, 0.0), k: int = 0) -> None:
        self.v, self.k = v, k


class Hit:
    def __init__(self, a: float = 0.0, b: int = 0, inner: Any = None) -> None:
        self.a, self.b, self.inner = a, b, inner or Inner()


def kernel() -> wb.Kernel:
    return meaning.define(f"{STRUCTS}{FUNCS}def k(x: array[float64], y: array[float64]):\n    i = tid()\n"
                          "    y[i] = total(x, x[i])\n")["k"]  # fmt: skip


def test_a_struct_leaves_a_loop_as_in_python() -> None:
    names: dict[str, Any] = {"Hit": Hit, "Inner": Inner, "vec2d": lambda *parts: list(parts)}
    exec(FUNCS, names)
    y = wb.zeros(4, dtype=wb.float64)
    wb.launch(kernel(), 4, inputs=[wb.array(X)], outputs=[y])
    np.testing.assert_allclose(y.numpy(), [names["total"](X.tolist(), s) for s in X.tolist()], rtol=1e-14)


def test_its_gradient_is_right() -> None:
    assert wb.gradcheck(kernel(), 4, inputs=[wb.array(X)], outputs=[wb.zeros(4, dtype=wb.float64)]).ok
