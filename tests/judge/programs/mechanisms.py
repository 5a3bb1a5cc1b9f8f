"""Programs for single mechanisms of the optimiser: borders, rows of threads, reductions, searches."""

from __future__ import annotations

import numpy as np

from tests.judge.program import Argument, Program, Scalar
from tests.judge.programs.building import array, floats, integers, output, program

n, m = 19, 23
two: dict[str, Argument] = {"x": floats(n, m), "y": output(n, m)}
flat: dict[str, Argument] = {
    "x": floats(n * m),
    "y": output(n * m),
    "w": Scalar(m, "wb.int32"),
    "h": Scalar(n, "wb.int32"),
}
five = "{c} + 0.1 * ({u} + {d} + {l} + {r} - 4.0 * {c})"
wrapped = five.format(
    c="x[i, j]", u="x[(i + n - 1) % n, j]", d="x[(i + 1) % n, j]", l="x[i, (j + m - 1) % m]", r="x[i, (j + 1) % m]"
)
clamped = five.format(
    c="x[i, j]",
    u="x[max(i - 1, 0), j]",
    d="x[min(i + 1, n - 1), j]",
    l="x[i, max(j - 1, 0)]",
    r="x[i, min(j + 1, m - 1)]",
)
inner = five.format(c="x[i, j]", u="x[i - 1, j]", d="x[i + 1, j]", l="x[i, j - 1]", r="x[i, j + 1]")
start = "i, j = wb.tid()\nn = x.shape[0]\nm = x.shape[1]\n"
linear = "t = wb.tid()\ni = t // w\nj = t % w\n"
FIELDS: list[Program] = [
    program("wrapped borders", (start, f"y[i, j] = {wrapped}"), two, (n, m), smooth=True),
    program("clamped borders", (start, f"y[i, j] = {clamped}"), two, (n, m), smooth=True),
    program(
        "guarded borders",
        (
            start,
            f"""
            if 0 < i and i < n - 1 and 0 < j and j < m - 1:
                y[i, j] = {inner}
            else:
                y[i, j] = x[i, j]
        """,
        ),
        two,
        (n, m),
        smooth=True,
    ),
    program(
        "flattened index",
        (
            linear,
            """
            s = x[t]
            if j > 0:
                s += x[t - 1]
            if j < w - 1:
                s += x[t + 1]
            if i > 0:
                s += x[t - w]
            if i < h - 1:
                s += x[t + w]
            y[t] = s * s
        """,
        ),
        flat,
        (n * m,),
        smooth=True,
    ),
    program(
        "flattened and wrapped",
        (
            linear,
            """
            y[t] = x[i * w + (j + 1) % w] - x[((i + 1) % h) * w + j]
        """,
        ),
        flat,
        (n * m,),
        smooth=True,
    ),
    program(
        "a window",
        (
            start,
            """
            s = 0.0
            for a in range(-2, 3):
                for b in range(-2, 3):
                    s += x[(i + a + n) % n, (j + b + m) % m] * float(a * b + 1)
            y[i, j] = s
        """,
        ),
        two,
        (n, m),
        smooth=True,
    ),
    program(
        "a clamped window",
        (
            start,
            """
            s = 0.0
            for a in range(7):
                for b in range(7):
                    s += x[min(max(i + a - 3, 0), n - 1), min(max(j + b - 3, 0), m - 1)]
            y[i, j] = s
        """,
        ),
        two,
        (n, m),
        smooth=True,
    ),
    program(
        "a ring",
        "i = wb.tid()\nn = len(x)\ny[i] = x[(i + 1) % n] * x[i] - x[i - 1]",
        {"x": floats(67), "y": output(67)},
        (67,),
        smooth=True,
    ),
    program(
        "shifted stores",
        "i = wb.tid()\nif i + 1 < len(y):\n    y[i + 1] = 2.0 * x[i]",
        {"x": floats(67), "y": output(67)},
        (67,),
        smooth=True,
    ),
    program(
        "time steps of a field",
        """
            i = wb.tid()
            if i > 0 and i < u.shape[1] - 1:
                u[t + 1, i] = u[t, i] + 0.2 * (u[t, i - 1] - 2.0 * u[t, i] + u[t, i + 1])
        """,
        {"u": array(floats(3, 41).values, output=True), "t": Scalar(1, "wb.int32")},
        (41,),
        smooth=True,
    ),
    program(
        "life",
        (
            start,
            """
            s = int(0)
            for a in range(3):
                for b in range(3):
                    if a != 1 or b != 1:
                        s += int(x[(i + a + n - 1) % n, (j + b + m - 1) % m])
            y[i, j] = wb.uint8(1 if s == 3 or (s == 2 and x[i, j] == 1) else 0)
        """,
        ),
        {"x": integers(n, m, below=2, dtype=np.uint8), "y": output(n, m, dtype="wb.uint8", held=np.uint8)},
        (n, m),
    ),
]
"""Stencils: borders that wrap, are clamped or guarded, flattened indices, windows."""


a: dict[str, Argument] = {"a": floats(37, 41), "b": floats(41, 35, seed=2)}
sums = {"x": floats(1000), "y": output(1)}
ROWS: list[Program] = [
    program(
        "matrix by vector",
        """
            i = wb.tid()
            s = 0.0
            for j in range(a.shape[1]):
                s += a[i, j] * b[j, 0]
            y[i] = s
        """,
        a | {"y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "product of matrices",
        """
            i, j = wb.tid()
            s = 0.0
            for q in range(a.shape[1]):
                s += a[i, q] * b[q, j]
            y[i, j] = s
        """,
        a | {"y": output(37, 35)},
        (37, 35),
        smooth=True,
    ),
    program(
        "distances",
        """
            i, j = wb.tid()
            s = 0.0
            for q in range(5):
                d = a[i, q] - b[q, j]
                s += d * d
            y[i, j] = wb.sqrt(s)
        """,
        a | {"y": output(37, 35)},
        (37, 35),
        smooth=True,
    ),
    program(
        "nearest row",
        """
            i = wb.tid()
            best = 1e30
            at = int(0)
            for j in range(a.shape[0]):
                d = 0.0
                for q in range(4):
                    e = a[i, q] - a[j, q]
                    d += e * e
                if j != i and d < best:
                    best = d
                    at = j
            y[i] = at
        """,
        {"a": floats(45, 8), "y": output(45, dtype="wb.int32", held=np.int32)},
        (45,),
    ),
    program(
        "log of a sum of exponentials",
        """
            i = wb.tid()
            m = a[i, 0]
            for j in range(1, a.shape[1]):
                m = max(m, a[i, j])
            s = 0.0
            for j in range(a.shape[1]):
                s += wb.exp(a[i, j] - m)
            y[i] = m + wb.log(s)
        """,
        {"a": floats(37, 41), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "bodies",
        """
            i = wb.tid()
            s = wb.vec3(0.0, 0.0, 0.0)
            for j in range(len(p)):
                d = p[j] - p[i]
                s += d / (wb.dot(d, d) + 0.1)
            f[i] = s
        """,
        {"p": array(floats(43, 3).values, "wb.vec3"), "f": output(43, 3, dtype="wb.vec3")},
        (43,),
        smooth=True,
    ),
    program(
        "mandelbrot",
        """
            i, j = wb.tid()
            a = float(i) * 0.1 - 2.0
            b = float(j) * 0.1 - 1.0
            u = 0.0
            v = 0.0
            c = int(0)
            while c < 40 and u * u + v * v < 4.0:
                w = u * u - v * v + a
                v = 2.0 * u * v + b
                u = w
                c += 1
            y[i, j] = c
        """,
        {"y": output(29, 21, dtype="wb.int32", held=np.int32)},
        (29, 21),
    ),
    program(
        "a break in a short loop",
        """
            i = wb.tid()
            v = x[i]
            for j in range(24):
                if v > 3.0:
                    break
                v = v * 1.2 + 0.1
            y[i] = v
        """,
        {"x": floats(67), "y": output(67)},
        (67,),
        smooth=True,
    ),
    program(
        "a counted while",
        """
            i = wb.tid()
            s = 0.0
            j = int(0)
            while j < n:
                s += x[(i + j) % len(x)] * 0.5
                j += 1
            y[i] = s
        """,
        {"x": floats(67), "y": output(67), "n": Scalar(9, "wb.int32")},
        (67,),
        smooth=True,
    ),
    program("sum of all", "i = wb.tid()\nv = x[i]\nwb.atomic_add(y, 0, v * v)", sums, (1000,), smooth=True),
    program(
        "sum of all, several",
        """
            i = wb.tid()
            y[0] += x[i]
            y[1] += x[i] * 0.5
            if x[i] > 0.0:
                c[0] += 1
            wb.atomic_max(c, 1, i * 7 % 101)
        """,
        {"x": floats(1000), "y": output(2), "c": output(2, dtype="wb.int32", held=np.int32)},
        (1000,),
    ),
    program(
        "minimum of all",
        "i = wb.tid()\nwb.atomic_min(y, 0, x[i])\nwb.atomic_max(y, 1, x[i])",
        {"x": floats(777), "y": output(2)},
        (777,),
    ),
    program(
        "histogram",
        "i = wb.tid()\nwb.atomic_add(c, b[i], 1)\nwb.atomic_add(y, b[i], w[i])",
        {
            "b": integers(500, below=9),
            "w": floats(500),
            "c": output(9, dtype="wb.int32", held=np.int32),
            "y": output(9),
        },
        (500,),
        smooth=True,
    ),
    program(
        "sparse rows",
        """
            i = wb.tid()
            s = 0.0
            for q in range(p[i], p[i + 1]):
                s += v[q] * x[c[q]]
            y[i] = s
        """,
        {
            "p": array(np.arange(0, 121, 3, dtype=np.int32)),
            "c": integers(120, below=40),
            "v": floats(120),
            "x": floats(40, seed=3),
            "y": output(40),
        },
        (40,),
        smooth=True,
    ),
    program(
        "quotients by a number",
        "i = wb.tid()\ny[i] = x[i] // n * 100 + x[i] % n + i // n",
        {
            "x": integers(99, below=50, low=-50),
            "y": output(99, dtype="wb.int32", held=np.int32),
            "n": Scalar(7, "wb.int32"),
        },
        (99,),
    ),
    program(
        "a scan by one thread",
        """
            i = wb.tid()
            s = 0.0
            for j in range(len(x)):
                s = 0.9 * s + x[j]
                y[j] = s
        """,
        {"x": floats(50), "y": output(50)},
        (1,),
        smooth=True,
    ),
    program(
        "many threads",
        "i = wb.tid()\ny[i] = wb.sin(x[i]) * x[i] + float(i % 3)",
        {"x": floats(9001), "y": output(9001)},
        (9001,),
        smooth=True,
    ),
    program(
        "network",
        """
            i, j = wb.tid()
            s = 0.0
            for q in range(w.shape[0]):
                h = 0.0
                for p in range(x.shape[1]):
                    h += x[i, p] * w[q, p]
                s += wb.tanh(h) * v[q, j]
            y[i, j] = s
        """,
        {"x": floats(11, 6), "w": floats(9, 6, seed=2), "v": floats(9, 5, seed=3), "y": output(11, 5)},
        (11, 5),
        smooth=True,
    ),
    program(
        "rows of vectors",
        """
            i = wb.tid()
            s = wb.vec3(0.0, 0.0, 0.0)
            for j in range(a.shape[1]):
                s += m[i] @ a[i, j]
            y[i] = s
        """,
        {
            "a": array(floats(21, 5, 3).values, "wb.vec3"),
            "m": array(floats(21, 3, 3).values, "wb.mat33"),
            "y": output(21, 3, dtype="wb.vec3"),
        },
        (21,),
        smooth=True,
    ),
]
"""Loops that a row of threads shares: products, distances, sums, searches; reductions and histograms."""


CHAIN = """
i = wb.tid()
s = 0.5
for j in range(len(w)):
    s = s * x[i] + w[j]
y[i] = s - x[i] * x[i] + (2.0 - w[0] * s)
"""
FUSED: list[Program] = [
    program(
        "fma, a polynomial", CHAIN, {"x": floats(37), "w": floats(9), "y": output(37)}, (37,), smooth=True,
        options="(fma=True)",
    ),
    program(
        "fma, a polynomial of doubles", CHAIN.replace("0.5", "wb.float64(0.5)"),
        {
            "x": floats(21, dtype=np.float64), "w": floats(5, dtype=np.float64),
            "y": output(21, dtype="wb.float64", held=np.float64),
        },
        (21,), smooth=True, options="(fma=True)",
    ),
    program(
        "fma, vectors",
        """
        i = wb.tid()
        a = x[i]
        y[i] = a * w[0] + a - 0.5 * a * wb.dot(a, a) + wb.cross(a, x[0]) * 2.0
        """,
        {
            "x": array(floats(21, 3).values, "wb.vec3"), "w": floats(2),
            "y": output(21, 3, dtype="wb.vec3"),
        },
        (21,), smooth=True, options="(fma=True)",
    ),
    program(
        "fma, sums of products",
        """
        i, j = wb.tid()
        s = float(0.0)
        for q in range(a.shape[1]):
            s += a[i, q] * b[q, j]
        y[i, j] = s
        """,
        {"a": floats(9, 11), "b": floats(11, 13, seed=2), "y": output(9, 13)}, (9, 13), smooth=True,
        options="(fma=True)",
    ),
]  # fmt: skip
"""Products that are added, rounded once or twice."""
