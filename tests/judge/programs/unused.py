"""Programs with unused values of infinite derivatives: 0 times infinity must not reach a gradient."""

from __future__ import annotations

import numpy as np

from tests.judge.program import Program
from tests.judge.programs.building import array, floats, output, program

ZEROS = {"x": floats(37, low=0.5), "z": array(np.zeros(37, np.float32)), "y": output(37)}


def unused(name: str, body: str, above: str = "") -> Program:
    """A program whose result is a function of x, and z, which is 0, leads to no part of it."""
    return program(name, "i = wb.tid()\n" + body, ZEROS, (37,), above=above, smooth=True)


UNUSED = [
    unused(
        "a field of a struct without a use",
        "p = P(x[i], 1.0 / z[i])\nq = scaled(p)\ny[i] = q.a",
        """
        @wb.struct
        class P:
            a: float
            b: float

        @wb.func
        def scaled(p: P):
            return P(p.a * 2.0, wb.sqrt(p.b) * p.a)
        """,
    ),
    unused(
        "a result of a func without a use",
        "a, b = both(x[i], z[i])\ny[i] = a",
        "@wb.func\ndef both(a: float, b: float):\n    return a * a, wb.log(b) * a",
    ),
    unused("the side of a where", "y[i] = wb.where(z[i] > 0.0, wb.sqrt(z[i]), x[i] * x[i])"),
    unused("the side of a ternary", "y[i] = wb.sqrt(z[i]) if z[i] > 0.0 else x[i] * x[i]"),
    unused(
        "what a loop leaves out",
        """
s = x[i]
for k in range(6):
    d = x[i] if k % 2 == 0 else z[i]
    if k % 2 == 0:
        s += 1.0 / d
y[i] = s
""",
    ),
    unused(
        "a carried value without a use",
        """
s = x[i]
t = z[i]
for k in range(4):
    t = wb.sqrt(t) * s
    s = s * 0.5 + x[i]
y[i] = s
""",
    ),
    unused("a value that is overwritten", "a = wb.log(z[i])\nb = a * x[i]\na = x[i]\nb = a * a\ny[i] = b"),
    unused(
        "an element that is overwritten",
        "y[i] = wb.sqrt(z[i]) / z[i]\ny[i] = x[i] * 3.0",
    ),
    unused(
        "rows of matrices without a use",
        """
m = wb.mat22(x[i], 2.0, z[i], 1.0)
n = wb.mat22(x[i], x[i], z[i], z[i])
q = wb.cw_div(m, n)
y[i] = q[0, 0] + q[0, 1] + wb.transpose(q)[1, 0] + q[0][1]
""",
    ),
    unused(
        "components that are chosen",
        """
v = wb.vec4(x[i], z[i], x[i] * 2.0, 1.0)
w = wb.vec4(1.0) * 2.0
w = wb.sqrt(v) + wb.cw_div(w, v)
y[i] = w[0] * w[3] + w.xz[1]
""",
    ),
    unused(
        "a vector of which a component changes",
        """
v = wb.vec3(x[i], 1.0 / z[i], 2.0)
v[1] = x[i]
y[i] = v[0] * v[1] * v[2]
""",
    ),
    unused(
        "a minimum beside infinity",
        "y[i] = wb.min(x[i], 1.0 / z[i]) + wb.clamp(1.0 / z[i], 0.0, 3.0) * x[i] + wb.max(x[i], -1.0 / z[i])",
    ),
    unused(
        "a loop that is left before",
        """
s = x[i]
for k in range(5):
    if k == 2:
        break
    s = s * x[i]
    t = wb.log(z[i]) * s
y[i] = s
""",
    ),
    unused(
        "a product with a zero that is computed",
        "g = 0.0 if z[i] == 0.0 else 1.0\ny[i] = x[i] + (wb.sqrt(z[i]) if g > 0.0 else 0.0)",
    ),
]
