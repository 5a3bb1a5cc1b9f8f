"""Corners of the language that programs by chance leave out.

Custom gradients here are the true ones, written in another way, so that the oracle need not know them.
"""

from __future__ import annotations

import numpy as np

from tests.judge.program import Argument, Program, Scalar
from tests.judge.programs.building import array, floats, integers, output, program

one: dict[str, Argument] = {"x": floats(21), "y": output(21)}
square = """
    @wb.func
    def f(v: float):
        return v * v

    @wb.func_grad(f)
    def adj_f(v: float, adj: float):
        wb.adjoint[v] += (v + v) * adj
"""
pair = """
    @wb.func
    def f(a: float, b: float):
        return a * b, wb.sin(a)

    @wb.func_grad(f)
    def adj_f(a: float, b: float, p: float, q: float):
        wb.adjoint[a] += b * p + wb.cos(a) * q
        wb.adjoint[b] -= -a * p
"""
store = """
    @wb.func
    def f(a: wb.array[float], i: int, v: float):
        a[i] = wb.exp(v)

    @wb.func_grad(f)
    def adj_f(a: wb.array[float], i: int, v: float):
        wb.adjoint[v] += wb.exp(v) * wb.adjoint[a][i]
        wb.adjoint[a][i] = 0.0
"""
LANGUAGE: list[Program] = [
    program("a custom gradient", "i = wb.tid()\ny[i] = f(x[i]) * 3.0", one, (21,), above=square, smooth=True),
    program(
        "a custom gradient in a loop",
        """
            i = wb.tid()
            s = 0.1
            for j in range(len(x)):
                s = 0.1 * f(s) + x[j % 4]
            y[i] = s
        """,
        one,
        (21,),
        above=square,
        smooth=True,
    ),
    program(
        "a custom gradient of two results",
        "i = wb.tid()\np, q = f(x[i], x[i] + 1.0)\ny[i] = p * q",
        one,
        (21,),
        above=pair,
        smooth=True,
    ),
    program("a custom gradient of a store", "i = wb.tid()\nf(y, i, x[i])", one, (21,), above=store, smooth=True),
    program(
        "prints",
        """
            i = wb.tid()
            if i % 5 == 0:
                print("at", i, x[i] > 0.0, wb.vec3(1.0, 2.0, float(i)))
            wb.printf("%d %f\\n", i, 2.5)
            y[i] = x[i]
        """,
        one,
        (21,),
    ),
    program(
        "static values",
        """
            i = wb.tid()
            s = 0.0
            for j in wb.static(range(3)):
                s += x[i] * wb.static(len('ab'))
            if wb.static(2 > 1):
                s += 1.0
            else:
                s += 'no'
            y[i] = s
        """,
        one,
        (21,),
        smooth=True,
    ),
    program("an index out of range", "i = wb.tid()\ny[i] = x[i + 1]", one, (21,)),
    program(
        "an index below the first",
        "i = wb.tid()\ny[i] = x[i - 30]",
        one,
        (21,),
    ),
    program(
        "an index out of a row in a loop",
        """
            i = wb.tid()
            for j in range(x.shape[1] + 1):
                y[i, 0] += x[i, j]
        """,
        {"x": floats(5, 4), "y": output(5, 4)},
        (5,),
    ),
    program(
        "a guarded index",
        """
            i = wb.tid()
            if i + 3 < len(x):
                y[i] = x[i + 3]
            for j in range(2, len(x) - 2):
                y[i] += x[j - 2] * x[j + 2]
        """,
        one,
        (21,),
    ),
    program("an assertion", 'i = wb.tid()\nassert x[i] < 1.5, "large"\ny[i] = x[i]', one, (21,)),
    program(
        "division by zero",
        "i = wb.tid()\ny[i] = 100 // x[i] + 100 % x[i]",
        {"x": integers(21, below=9), "y": output(21, dtype="wb.int32", held=np.int32)},
        (21,),
    ),
    program(
        "a view that is too short",
        "i = wb.tid()\nr = x[i, 1:3]\ny[i, 0] = r[i]",
        {"x": floats(5, 4), "y": output(5, 4)},
        (5,),
    ),
    program(
        "matrices",
        """
            i = wb.tid()
            a = m[i]
            a[1, 2] += v[i].x
            a[0] = v[i]
            b = a @ a.T
            b[i % 3, 1] = 2.0
            y[i] = b - wb.transpose(a) * 0.5 + wb.outer(v[i], v[i]) + wb.diag(v[i]) + wb.skew(v[i])
            u[i] = v[i] @ a + b[2] + wb.get_diag(a) * wb.trace(a) + wb.cross(v[i], a[1])
        """,
        {
            "m": array(floats(11, 3, 3).values, "wb.mat33"),
            "v": array(floats(11, 3).values, "wb.vec3"),
            "y": output(11, 3, 3, dtype="wb.mat33"),
            "u": output(11, 3, dtype="wb.vec3"),
        },
        (11,),
        smooth=True,
    ),
    program(
        "matrices from rows and columns",
        """
            i = wb.tid()
            a = wb.matrix_from_rows(v[i], v[i] * 2.0, wb.vec3(1.0, 2.0, 3.0))
            b = wb.matrix_from_cols(v[i], v[i], v[i])
            y[i] = wb.cw_mul(a, b) + wb.identity(3, float) + wb.mat33(1.0)
        """,
        {"v": array(floats(11, 3).values, "wb.vec3"), "y": output(11, 3, 3, dtype="wb.mat33")},
        (11,),
        smooth=True,
    ),
    program(
        "a long loop of states",
        """
            i = wb.tid()
            u = x[i]
            v = 0.5
            for j in range(200):
                w = 0.99 * u - 0.01 * wb.sin(v)
                v = v + 0.01 * u
                u = w
            y[i] = u * v
        """,
        one,
        (21,),
        smooth=True,
    ),
    program(
        "a long while of states",
        """
            i = wb.tid()
            u = x[i]
            c = 0.0
            while c < 30.0 + float(i):
                u = u * 0.97 + 0.01 * u * u
                c += 1.0
            y[i] = u * c
        """,
        one,
        (21,),
        smooth=True,
    ),
    program(
        "stores in a loop",
        """
            i = wb.tid()
            for j in range(x.shape[1] - 1):
                y[i, j + 1] = y[i, j] * 0.5 + x[i, j] * x[i, j]
        """,
        {"x": floats(9, 13), "y": output(9, 13)},
        (9,),
        smooth=True,
    ),
    program(
        "an element changed again and again",
        """
            i = wb.tid()
            for j in range(5):
                y[i] = y[i] * x[i] + float(j)
            y[i] = y[i] * y[i]
        """,
        one,
        (21,),
        smooth=True,
    ),
    program(
        "a func of arrays",
        "i = wb.tid()\ny[i] = total(x, i) + total(x[3:9], i)",
        one,
        (21,),
        above="""
            @wb.func
            def total(a: wb.array[float], i: int):
                s = 0.0
                for j in range(len(a)):
                    if j == 15 + i:
                        return s
                    s += a[j] * a[j]
                return s
        """,
        smooth=True,
    ),
    program(
        "powers",
        """
            i = wb.tid()
            v = abs(x[i]) + 0.2
            y[i] = v ** 0.5 + v ** 2 + v ** -1.0 + v ** 3.7 + 2.0 ** v
        """,
        one,
        (21,),
        smooth=True,
    ),
    program(
        "ints of all widths",
        """
            i = wb.tid()
            a = wb.int8(x[i] * 9)
            b = wb.uint16(x[i] - 3)
            c = wb.uint64(x[i])
            d = wb.int64(a // wb.int8(3)) + wb.int64(b >> wb.uint16(2)) * wb.int64(7)
            y[i] = d + wb.int64(c % wb.uint64(5)) + (wb.int64(x[i]) << 33)
        """,
        {"x": integers(33, below=9, low=-9), "y": output(33, dtype="wb.int64", held=np.int64)},
        (33,),
    ),
    program(
        "a long loop of states from 3 on, by twos",
        """
        i = wb.tid()
        u = x[i]
        for j in range(3, 403, 2):
            u = 0.99 * u + 0.01 * wb.sin(u * float(j))
        y[i] = u
        """,
        one,
        (21,),
        smooth=True,
    ),
    program(
        "a while whose end comes nearer",
        """
        i = wb.tid()
        s = x[i]
        j = 0
        k = i % 4
        while j < len(x) - k:
            s = s * 0.5 + x[j]
            j += 1
            k += 2
        y[i] = s
        """,
        one,
        (21,),
        smooth=True,
    ),
    program(
        "powers of large and small numbers",
        """
        i = wb.tid()
        y[i] = x[i] ** w[i % 3] + wb.log2(x[i]) + wb.exp(w[i % 3] * 30.0)
        """,
        {
            "x": array(np.logspace(-30, 30, 41).astype(np.float32)),
            "w": array(np.array([0.9, -0.7, 1.1], np.float32)),
            "y": output(41),
        },
        (41,),
    ),
    program(
        "powers of large and small doubles",
        """
        i = wb.tid()
        y[i] = x[i] ** w[i % 3] + wb.log2(x[i]) + wb.exp(w[i % 3] * wb.float64(100.0))
        """,
        {
            "x": array(np.logspace(-200, 200, 41)),
            "w": array(np.array([0.9, -0.7, 1.1])),
            "y": output(41, dtype="wb.float64", held=np.float64),
        },
        (41,),
    ),
    program(
        "slices that begin before the array, and end behind it",
        """
        i = wb.tid()
        a = x[-30:4]
        b = x[i - 40 : i + 3]
        c = x[5 : i + 30]
        d = x[i : i - 60 : -2]
        y[i] = float(len(a) * 1000 + len(b) * 100 + len(c) * 10 + len(d))
        for q in range(len(a)):
            y[i] += a[q]
        for q in range(len(d)):
            y[i] = y[i] * 0.5 + d[q]
        """,
        one,
        (21,),
        smooth=True,
    ),
    program(
        "ranges of large unsigned numbers",
        """
        i = wb.tid()
        n = wb.uint32(4294967290) - wb.uint32(i)
        for k in range(n, wb.uint32(4294967295)):
            y[i] += k // wb.uint32(3)
        for k in range(wb.uint32(i), wb.uint32(7), 3):
            y[i] += k * wb.uint32(5)
        """,
        {"y": output(21, dtype="wb.uint32", held=np.uint32)},
        (21,),
    ),
    program(
        "guards on both sides",
        """
        i = wb.tid()
        if i >= 0 and i - 2 < len(x) - 5:
            y[i] = x[i] * x[i + 3] + x[i + 1]
        if i > 1:
            y[i] += x[i - 2] * 0.5
        if not i < 4 and len(x) > i + 1:
            z[i] = x[i - 4] - x[i + 1]
        """,
        {"x": floats(37), "y": output(37), "z": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "ranges that are reversed, and counted",
        """
        i = wb.tid()
        s = x[i]
        for j in reversed(range(2, 9, 3)):
            s = s * 0.5 + x[j]
        for n, j in enumerate(range(i, i + 4)):
            s = s * x[j % len(x)] + float(n)
        y[i] = s
        """,
        one,
        (21,),
        smooth=True,
    ),
    program(
        "indices that a number of the launch bounds",
        """
        i = wb.tid()
        y[i] = x[max(i, n)] * x[min(i, n)] + x[min(max(i - n, 0), len(x) - 1)] - x[max(i - 2, n)]
        """,
        {"x": floats(67), "n": Scalar(40, "wb.int32"), "y": output(67)},
        (67,),
        smooth=True,
    ),
    program(
        "a row that is computed from the row before",
        """
        i = wb.tid()
        u[t + 1, i] = 0.5 * (u[t, i] + u[t, (i + 1) % len(x)]) + x[i] * x[i]
        """,
        {"x": floats(21), "u": array(floats(4, 21, seed=5).values, output=True), "t": Scalar(1, "wb.int32")},
        (21,),
        smooth=True,
    ),
    program(
        "an element that is multiplied and read again in each turn",
        """
        i = wb.tid()
        for j in range(3):
            y[i + j] *= x[i]
            z[i] += y[i + j]
        """,
        {"x": floats(1), "y": array(floats(4, seed=5).values, output=True), "z": output(1)},
        (1,),
    ),
    program(
        "borders of borders",
        """
        i = wb.tid()
        n = len(x)
        y[i] = x[min((i + 1) % n, n - 1)] * x[max((i - 2) % n, 0)] + x[min(n - 1, i + 3)] * x[max(0, i - 1)]
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "a guard that holds for all",
        """
        i = wb.tid()
        if i > -1:
            y[i] = x[i - 1] * x[i - 1]
        if -3 <= i:
            y[i] += x[i - 2] * 0.5
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "rows in one number",
        """
        i = wb.tid()
        r = i // w
        c = i % w
        y[i] = x[r * w + (c + 1) % w] * x[i] + x[max(r - 1, 0) * w + c + k]
        if i % h == 1:
            y[i] += x[i // h] * 0.5
        """,
        {
            "x": floats(42),
            "y": output(35),
            "w": Scalar(7, "wb.int32"),
            "h": Scalar(3, "wb.int32"),
            "k": Scalar(2, "wb.int32"),
        },
        (35,),
        smooth=True,
    ),
    program(
        "loops from elsewhere by other steps",
        """
        i = wb.tid()
        s = x[i]
        for k in range(2, 13, 3):
            s = wb.sin(s) * x[k] + 0.1 * float(k)
        for k in range(11, a, -2):
            s = wb.cos(s * x[k]) + s * x[(i + k) % len(x)]
        for k in range(a, b, c):
            s = s * 0.5 + wb.sin(x[k] * s)
        y[i] = s
        """,
        one | {"a": Scalar(3, "wb.int32"), "b": Scalar(17, "wb.int32"), "c": Scalar(4, "wb.int32")},
        (21,),
        smooth=True,
    ),
    program(
        "a loop whose end comes nearer",
        """
        i = wb.tid()
        s = x[i]
        k = 0
        while k < 17 - 2 * k:
            s = wb.sin(s) + x[k]
            k += 1
        y[i] = s + float(k)
        """,
        one,
        (21,),
        smooth=True,
    ),
    program(
        "values that are used around two loops",
        """
        i = wb.tid()
        a = x[i] * 2.0
        s = 0.0
        for k in range(len(x)):
            s += a * x[k]
        b = s + a
        t = 1.0
        for k in range(len(x)):
            t += b * x[k] + a
        y[i] = t + a * b
        total[0] += scale
        total[1] += t * scale
        """,
        one | {"total": output(2), "scale": Scalar(0.25, "wb.float32")},
        (21,),
    ),
    program(
        "an index that starts by data",
        """
        i = wb.tid()
        s = 0.0
        for k in range(j[i], 3):
            s += x[min(max(i + k, 0), len(x) - 1)]
        y[i] = s
        """,
        one | {"j": integers(21, low=-3, below=4)},
        (21,),
    ),
    program(
        "a name that one way binds before it returns",
        """
        i = wb.tid()
        y[i] = f(x[i]) + f(0.5 * x[i])
        """,
        one,
        (21,),
        above="""
            @wb.func
            def f(a: float):
                t = 0.5
                if a > 0.0:
                    t = a * 2.0
                    if a > 1.0:
                        return t * t
                    u = t + 1.0
                else:
                    if a < -1.0:
                        return a
                    u = a * a
                return t * u
        """,
        smooth=True,
    ),
    program(
        "powers far from one",
        """
        i = wb.tid()
        y[i] = wb.pow(x[i], wb.float64(1.3)) * wb.pow(wb.float64(1.0) / x[i], wb.float64(0.37))
        """,
        {
            "x": array(10.0 ** np.linspace(-180.0, 180.0, 21)),
            "y": output(21, dtype="wb.float64", held=np.float64),
        },
        (21,),
    ),
    program(
        "components that are multiplied together",
        "i = wb.tid()\nv[i // 3][1] *= x[i]\nv[i // 3][2] -= x[i]",
        {"x": floats(6), "v": array(floats(2, 3, seed=4).values, "wb.vec3", output=True)},
        (6,),
    ),
]
