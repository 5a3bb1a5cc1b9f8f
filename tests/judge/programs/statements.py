"""Statements in one another, and values that they carry."""

from __future__ import annotations

import numpy as np

from tests.judge.program import Argument, Array, Program
from tests.judge.programs.building import array, floats, integers, output, program

one: dict[str, Argument] = {"x": floats(37), "y": output(37)}
STATEMENTS: list[Program] = [
    program(
        "a loop that data ends",
        """
        i = wb.tid()
        s = 0.0
        for k in range(len(x)):
            v = x[(i + k) % len(x)]
            if v > 1.5:
                break
            if v < -1.0:
                continue
            s += v * v
        y[i] = s
        """,
        one,
        (37,),
        smooth=True,
    ),
    program(
        "loops that end one another",
        """
        i = wb.tid()
        s = x[i]
        for a in range(6):
            for b in range(6):
                if a * b > i % 9:
                    break
                s = s * 0.9 + x[(a + b) % 37] * 0.1
            if s > 1.0:
                break
        y[i] = s
        """,
        one,
        (37,),
        smooth=True,
    ),
    program(
        "a while of three exits",
        """
        i = wb.tid()
        s = x[i]
        n = 0
        while n < 20 and abs(s) < 3.0:
            s = s * 1.3 + 0.01
            n += 1
            if n == i % 7 + 3:
                break
        y[i] = s * float(n)
        """,
        one,
        (37,),
        smooth=True,
    ),
    program(
        "returns from a branch and a loop",
        """
        i = wb.tid()
        if x[i] > 1.0:
            y[i] = x[i]
            return
        for k in range(5):
            if x[i] * float(k) < -2.0:
                y[i] = float(k) * x[i] * x[i]
                return
            y[i] += x[i] * 0.1
        y[i] *= 2.0
        """,
        one,
        (37,),
        smooth=True,
    ),
    program(
        "values that change each other in place",
        """
        i = wb.tid()
        a = x[i]
        b = 0.5
        for k in range(3):
            a, b = f(a, b)
        y[i] = a * b
        """,
        one,
        (37,),
        above="""
            @wb.func
            def f(a: float, b: float):
                if a > b:
                    return b * 0.5, a
                return a + b, b * a
        """,
        smooth=True,
    ),
    program(
        "ternaries in ternaries",
        """
        i = wb.tid()
        v = x[i]
        y[i] = (v * v if v > 1.0 else (2.0 * v if v > 0.0 else (-v if -1.0 < v < -0.5 else wb.sin(v))))
        """,
        one,
        (37,),
        smooth=True,
    ),
    program(
        "minima of maxima",
        """
        i = wb.tid()
        y[i] = min(max(x[i], 0.1 * x[i]), 1.0) + max(x[i], x[(i + 1) % 37], -0.25) * min(x[i], 0.3)
        """,
        one,
        (37,),
        smooth=True,
    ),
    program(
        "clamps, signs and a where",
        """
        i = wb.tid()
        y[i] = wb.clamp(x[i], -0.5, 0.75) * wb.sign(x[i]) + wb.abs(x[i]) ** 1.5
        y[i] += wb.where(x[i] > 0.2, x[i] * 3.0, wb.exp(x[i]))
        """,
        one,
        (37,),
        smooth=True,
    ),
    program(
        "numbers that are none",
        """
        i = wb.tid()
        v = x[i]
        y[i] = (1.0 if wb.isnan(v) else 0.0) + (2.0 if wb.isinf(v) else 0.0) + min(v, 1.0) + float(wb.int32(v)) * 0.001
        """,
        {"x": array(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, 3e38, -3e38] * 5, np.float32)), "y": output(40)},
        (40,),
    ),
    program(
        "conditions of conditions",
        """
        i = wb.tid()
        a = x[i] > 0.0
        b = x[i] < 1.0 or i % 3 == 0
        c = not a
        if (a and b) or (c and not b):
            y[i] = 1.0
        elif a != b:
            y[i] = 2.0
        if a:
            if not c:
                y[i] += 4.0
        """,
        one,
        (37,),
    ),
    program(
        "a component by a number",
        """
        i = wb.tid()
        v = u[i]
        k = i % 3
        v[k] = v[(k + 1) % 3] * 2.0 + x[i]
        v[2] += v[k]
        y[i] = wb.dot(v, u[(i + 1) % 37]) + wb.length(v)
        """,
        {"x": floats(37), "u": array(floats(37, 3, seed=4).values, "wb.vec3"), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "sums of vectors",
        """
        i = wb.tid()
        a = wb.vec3(0.0, 0.0, 0.0)
        for k in range(len(u)):
            d = u[k] - u[i]
            r = wb.dot(d, d) + 0.1
            a += d * (1.0 / (r * wb.sqrt(r)))
        o[i] = a
        """,
        {"u": array(floats(19, 3, seed=4).values, "wb.vec3"), "o": output(19, 3, dtype="wb.vec3")},
        (19,),
        smooth=True,
    ),
    program(
        "fields of a struct in an array",
        """
        i = wb.tid()
        p = s[i]
        p.v = p.v + p.f * 0.1
        p.x += p.v * 0.1
        s[i] = p
        s[(i * 7) % 11].m += 1.0
        """,
        {
            "s": Array(
                np.zeros(11, np.dtype([("x", np.float32), ("v", np.float32), ("f", np.float32), ("m", np.float32)])),
                "S",
                True,
            )
        },
        (11,),
        above="""
            @wb.struct
            class S:
                x: float
                v: float
                f: float
                m: float
        """,
    ),
    program(
        "atomics of one thread",
        """
        a = wb.atomic_max(y, 0, 5)
        b = wb.atomic_min(y, 1, -3)
        c = wb.atomic_add(y, 2, 7)
        d = wb.atomic_cas(y, 3, 0, 9)
        e = wb.atomic_exch(y, 4, 2)
        y[5] = a + b * 10 + c * 100 + d + e
        y[6] |= 12
        y[6] &= 10
        y[6] ^= 3
        y[7] -= 4
        y[7] //= 3
        """,
        {"y": output(8, dtype="wb.int32", held=np.int32)},
        (1,),
    ),
    program(
        "sums of narrow integers",
        """
        i = wb.tid()
        a[i % 5] += wb.uint8(i)
        b[i % 3] -= wb.int16(i)
        c[i % 4] |= wb.uint16(1 << (i % 15))
        """,
        {
            "a": output(5, dtype="wb.uint8", held=np.uint8),
            "b": output(3, dtype="wb.int16", held=np.int16),
            "c": output(4, dtype="wb.uint16", held=np.uint16),
        },
        (67,),
    ),
    program(
        "a vector that a while carries",
        """
        i = wb.tid()
        z = wb.vec2(0.0, 0.0)
        c = wb.vec2(x[i], x[(i + 5) % 37])
        n = 0
        while n < 12 and wb.dot(z, z) < 4.0:
            z = wb.vec2(z[0] * z[0] - z[1] * z[1], 2.0 * z[0] * z[1]) + c
            n += 1
        y[i] = z[0] + float(n)
        """,
        one,
        (37,),
        smooth=True,
    ),
    program(
        "Horner's rule, downward",
        """
        i = wb.tid()
        s = 0.0
        for k in range(len(c) - 1, -1, -1):
            s = s * x[i] + c[k]
        y[i] = s
        """,
        {"x": floats(37), "c": floats(6, seed=8), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "a running maximum and a sum of exponentials",
        """
        i = wb.tid()
        m = x[0]
        for k in range(1, len(x)):
            if x[k] * x[i] > m:
                m = x[k] * x[i]
        s = 0.0
        for k in range(len(x)):
            s += wb.exp(x[k] * x[i] - m)
        y[i] = m + wb.log(s)
        """,
        one,
        (37,),
        smooth=True,
    ),
    program(
        "a product over zeros",
        """
        i = wb.tid()
        p = 1.0
        for k in range(6):
            p *= x[(i + k) % len(x)]
        y[i] = p
        """,
        {"x": array(np.where(np.arange(37) % 5 == 0, 0.0, np.linspace(-2, 2, 37)).astype(np.float32)), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "a moving average in each step",
        """
        i = wb.tid()
        s = 0.0
        for k in range(x.shape[1]):
            s = s * a[i] + (1.0 - a[i]) * x[i, k]
            y[i, k] = s
        """,
        {"x": floats(5, 20), "a": floats(5, low=0.1, high=0.9), "y": output(5, 20)},
        (5,),
        smooth=True,
    ),
    program(
        "the nearest of all",
        """
        i = wb.tid()
        b = 1000.0
        at = 0
        for k in range(len(x)):
            d = wb.abs(x[k] - w[i])
            if d < b:
                b = d
                at = k
        y[i] = b * b + x[at]
        """,
        {"x": floats(23), "w": floats(9, seed=7), "y": output(9)},
        (9,),
        smooth=True,
    ),
    program(
        "an old value in each branch",
        """
        i = wb.tid()
        prev = y[i]
        if x[i] > 0.0:
            y[i] = x[i]
            z[i] = prev * x[i]
        elif x[i] > -1.0:
            prev = y[i] * 2.0
            y[i] = prev
        else:
            z[i] = prev
        """,
        {"x": floats(37), "y": array(floats(37, seed=5).values, output=True), "z": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "outputs that are read again",
        """
        i = wb.tid()
        z[i] = x[i] * 2.0
        y[i] = z[i] * z[i]
        z[i] = y[i] + z[i]
        """,
        {"x": floats(37), "y": output(37), "z": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "casts that saturate",
        """
        i = wb.tid()
        v = x[i] * 1e10
        y[i] = wb.int64(wb.int32(v)) + wb.int64(wb.uint8(x[i] * 300.0)) * wb.int64(1000)
        y[i] += wb.int64(wb.int8(x[i] * 200.0)) + wb.int64(wb.uint32(v))
        """,
        {"x": floats(37), "y": output(37, dtype="wb.int64", held=np.int64)},
        (37,),
    ),
    program(
        "integers that wrap",
        """
        i = wb.tid()
        a = x[i] * 123456789
        b = a ^ (a >> 7)
        c = b * b - (a << 3)
        y[i] = (c // 7) + (c % 13) - (-c // 5) + (~c & 255)
        """,
        {"x": integers(37, below=100000, low=-100000), "y": output(37, dtype="wb.int32", held=np.int32)},
        (37,),
    ),
    program(
        "unsigned integers that wrap",
        """
        i = wb.tid()
        a = wb.uint32(x[i]) * wb.uint32(2654435761)
        b = a >> wb.uint32(i % 31)
        y[i] = b - a // wb.uint32(17) + (a % wb.uint32(9)) * wb.uint32(3)
        """,
        {"x": integers(37, below=100000, low=-100000), "y": output(37, dtype="wb.uint32", held=np.uint32)},
        (37,),
    ),
    program(
        "integers of 64 bits that wrap",
        """
        i = wb.tid()
        a = wb.int64(x[i]) * wb.int64(6364136223846793005) + wb.int64(1442695040888963407)
        y[i] = (a >> wb.int64(33)) ^ (a // wb.int64(1000003)) ^ (a % wb.int64(65537))
        """,
        {"x": integers(37, below=100000, low=-100000), "y": output(37, dtype="wb.int64", held=np.int64)},
        (37,),
    ),
    program(
        "ternaries of a number and a literal",
        """
        i = wb.tid()
        a = x[i] if x[i] > 0.0 else 0.1
        b = 0.3 if k[i] > 50 else z[i]
        c = (x[i] if k[i] > 30 else 0.7) if k[i] % 2 == 0 else 0.1
        d = pick(x[i] > 0.5, x[i], 0.1) + pick(x[i] > 0.5, z[i], 0.1)
        y[i] = z[i] * a + b + c * z[i] + d
        """,
        {
            "x": floats(37),
            "z": floats(37, seed=2, dtype=np.float64),
            "k": integers(37, below=100),
            "y": output(37, dtype="wb.float64", held=np.float64),
        },
        (37,),
        above="@wb.func\ndef pick(which, a, b):\n    return a if which else b",
    ),
    program(
        "ternaries of integers of several widths",
        """
        i = wb.tid()
        a = k[i] if k[i] % 3 == 0 else 200
        b = a + a
        c = wb.int64(k[i]) if k[i] % 2 == 0 else 3
        s = 0
        for j in range(3):
            s += (u[i] if j == 1 else 7) + j
        y[i] = wb.int64(b) + c * wb.int64(3000000000) + wb.int64(s)
        """,
        {
            "k": integers(37, below=100),
            "u": integers(37, below=250, dtype=np.uint8),
            "y": output(37, dtype="wb.int64", held=np.int64),
        },
        (37,),
    ),
    program(
        "types called without arguments",
        """
        i = wb.tid()
        s = wb.float32()
        n = int()
        v = wb.vec3()
        for k in range(3):
            s += x[i] * float(k)
            n += k
        y[i] = s + float(n) + v[0] + float() + float(bool())
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
    ),
    program(
        "atomics at an index that is a tuple",
        """
        i = wb.tid()
        wb.atomic_add(y, (i % 5, i // 5 % 3), x[i])
        wb.atomic_max(z, (i % 5, 1), k[i])
        wb.atomic_sub(z, (i % 5, 0), 1)
        """,
        {
            "x": floats(37),
            "k": integers(37, below=100),
            "y": output(5, 3),
            "z": output(5, 2, dtype="wb.int32", held=np.int32),
        },
        (37,),
    ),
    program(
        "indices that are names of tuples",
        """
        i, j = wb.tid()
        at = (i, j)
        other = (2 - i, -1)
        y[at] = x[at] * x[other]
        y[at] += 2.0
        wb.atomic_add(z, at, x[other])
        m = wb.mat22(x[at], 1.0, 2.0, x[other])
        corner = (1, 0)
        m[corner] *= 3.0
        y[at] += m[corner] * m[0, 0]
        """,
        {"x": floats(3, 5), "y": output(3, 5), "z": output(3, 5)},
        (3, 5),
        smooth=True,
    ),
    program(
        "funcs with the names of builtins",
        """
        i = wb.tid()
        y[i] = clamp(x[i]) + lerp(x[i], 2.0) * wb.clamp(x[i], 0.25, 0.5) + step(x[i], 1.0)
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
        above="""
        @wb.func
        def clamp(a: float):
            return a * 3.0

        @wb.func
        def lerp(a: float, b: float):
            return a * b - 1.0

        @wb.func
        def step(a: float, b: float):
            return a + b
        """,
        smooth=True,
    ),
    program(
        "zips that end with the shortest",
        """
        i = wb.tid()
        s = 0.0
        v = wb.vec3(x[i], 2.0, -1.0)
        for k, c in zip(range(5), v):
            s += c * float(k + 1)
        for a, b in zip((1.0, x[i]), v):
            s += a * b
        y[i] = s
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "sums of narrow numbers that start with literals",
        """
        i = wb.tid()
        s = 0
        t = 0.0
        m = 0
        p = 1
        for k in range(len(u)):
            s += u[k]
            t += h[k]
            m = max(m, u[k])
            p = p * 3 + w[k]
        y[i] = s + m * 1000
        q[i] = p
        z[i] = t
        n = 0
        while n < 40:
            n += u[i % 5] + 1
        y[i] += n
        """,
        {
            "u": integers(37, below=250, dtype=np.uint8),
            "w": integers(37, below=200, low=-200, dtype=np.int16),
            "h": floats(37, dtype=np.float16),
            "y": output(37, dtype="wb.int32", held=np.int32),
            "q": output(37, dtype="wb.int32", held=np.int32),
            "z": output(37),
        },
        (37,),
    ),
    program(
        "conditions that are known",
        """
        i = wb.tid()
        s = x[i]
        if ON and s > 0.0:
            s += 1.0
        if OFF or s > 2.0:
            s *= 0.5
        if ON or s > 0.0:
            s += 0.25
        if OFF and s > 0.0:
            s += 100.0
        if not OFF and (s < 1.0 or ON):
            s -= 0.125
        y[i] = s if ON and not OFF else 0.0
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
        above="ON = True\nOFF = False",
        smooth=True,
    ),
]
