"""Indices and borders that decide which form an adjoint takes."""

from __future__ import annotations

import numpy as np

from tests.judge.program import Program, Scalar
from tests.judge.programs.building import array, floats, integers, output, program

INDICES: list[Program] = [
    program(
        "a cross in a plane, clamped",
        """
        i, j = wb.tid()
        n = x.shape[0]
        m = x.shape[1]
        y[i, j] = x[max(i-1,0), j]*x[min(i+1,n-1), j] + x[i, max(j-2,0)] - x[i, min(j+1, m-1)]*0.5
        """,
        {"x": floats(9, 7), "y": output(9, 7)},
        (9, 7),
        smooth=True,
    ),
    program(
        "a plane read across",
        """
        i, j = wb.tid()
        y[i, j] = x[j % x.shape[0], i % x.shape[1]] * x[i, j]
        """,
        {"x": floats(9, 7), "y": output(9, 7)},
        (9, 7),
        smooth=True,
    ),
    program(
        "a plane read from its end",
        """
        i, j = wb.tid()
        n = x.shape[0]
        y[i, j] = x[n-1-i, j] * x[i, x.shape[1]-1-j]
        """,
        {"x": floats(9, 7), "y": output(9, 7)},
        (9, 7),
        smooth=True,
    ),
    program(
        "borders that reflect",
        """
        i, j = wb.tid()
        n = x.shape[0]
        a = abs(i - 2)
        b = n - 1 - abs(n - 1 - (i + 2))
        y[i, j] = x[a, j] * x[b, j]
        """,
        {"x": floats(9, 7), "y": output(9, 7)},
        (9, 7),
        smooth=True,
    ),
    program(
        "a window by loops, guarded",
        """
        i, j = wb.tid()
        s = 0.0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                a = i + di
                b = j + dj
                if a >= 0 and a < x.shape[0] and b >= 0 and b < x.shape[1]:
                    s += x[a, b] * x[a, b] / float(1 + abs(di) + abs(dj))
        y[i, j] = s
        """,
        {"x": floats(9, 7), "y": output(9, 7)},
        (9, 7),
        smooth=True,
    ),
    program(
        "a window by loops, around the border, without its centre",
        """
        i, j = wb.tid()
        s = 0.0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                if di == 0 and dj == 0:
                    continue
                a = (i + di + x.shape[0]) % x.shape[0]
                b = (j + dj + x.shape[1]) % x.shape[1]
                s += x[a, b] * x[i, j]
        y[i, j] = s
        """,
        {"x": floats(9, 7), "y": output(9, 7)},
        (9, 7),
        smooth=True,
    ),
    program(
        "a window with weights",
        """
        i = wb.tid()
        s = 0.0
        for d in range(len(w)):
            s += x[min(max(i + d - 2, 0), len(x) - 1)] * w[d]
        y[i] = s
        """,
        {"x": floats(37), "w": floats(5, seed=3), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "a window of steps with a bias and a relu",
        """
        i = wb.tid()
        s = b[0]
        for d in range(len(w)):
            s += x[3 * i + 2 * d] * w[d]
        y[i] = max(s, 0.0)
        """,
        {"x": floats(50), "w": floats(4, seed=3), "b": floats(1, seed=9), "y": output(14)},
        (14,),
        smooth=True,
    ),
    program(
        "elements that several threads read",
        """
        i = wb.tid()
        y[i] = x[i // 2] * 0.75 + x[min(i // 2 + 1, len(x) - 1)] * 0.25 * x[i // 3]
        """,
        {"x": floats(20), "y": output(39)},
        (39,),
        smooth=True,
    ),
    program(
        "elements in twos, and from the end",
        """
        i = wb.tid()
        y[i] = x[2 * i] * x[2 * i + 1] + x[len(x) - 1 - 2 * i]
        """,
        {"x": floats(40), "y": output(20)},
        (20,),
        smooth=True,
    ),
    program(
        "rows by data",
        """
        i, j = wb.tid()
        y[i, j] = t[idx[i], j] * t[idx[(i + 1) % len(idx)], j]
        """,
        {"t": floats(5, 6), "idx": integers(13, below=5), "y": output(13, 6)},
        (13, 6),
        smooth=True,
    ),
    program(
        "a sum by data",
        """
        i = wb.tid()
        wb.atomic_add(y, idx[i], x[i] * x[i])
        """,
        {"x": floats(37), "idx": integers(37, below=6), "y": output(6)},
        (37,),
        smooth=True,
    ),
    program(
        "three axes in one number",
        """
        t = wb.tid()
        k = t % c
        j = (t // c) % b
        i = t // (b * c)
        y[t] = x[(i * b + max(j - 1, 0)) * c + (k + 1) % c] * x[t]
        """,
        {"x": floats(60), "b": Scalar(4, "int"), "c": Scalar(5, "int"), "y": output(60)},
        (60,),
        smooth=True,
    ),
    program(
        "neighbours along three axes",
        """
        i, j, k = wb.tid()
        y[i, j, k] = x[i, (j + 1) % x.shape[1], max(k - 1, 0)] * x[min(i + 1, x.shape[0] - 1), j, k]
        """,
        {"x": floats(3, 4, 5), "y": output(3, 4, 5)},
        (3, 4, 5),
        smooth=True,
    ),
    program(
        "four axes, two of them exchanged",
        """
        a, b, c, d = wb.tid()
        y[a, b, c, d] = x[a, b, c, d] * x[b % x.shape[0], a % x.shape[1], c, (d + 1) % x.shape[3]]
        """,
        {"x": floats(2, 3, 2, 4), "y": output(2, 3, 2, 4)},
        (2, 3, 2, 4),
        smooth=True,
    ),
    program(
        "a triangle of a product",
        """
        i, j = wb.tid()
        if j <= i:
            s = 0.0
            for k in range(j, i + 1):
                s += x[i, k] * x[k, j]
            y[i, j] = s
        """,
        {"x": floats(8, 8), "y": output(8, 8)},
        (8, 8),
        smooth=True,
    ),
    program(
        "elements that change places",
        """
        i = wb.tid()
        if i < len(y) // 2:
            a = y[i]
            y[i] = y[len(y) - 1 - i]
            y[len(y) - 1 - i] = a * x[i]
        """,
        {"x": floats(37), "y": array(floats(37, seed=2).values, output=True)},
        (37,),
        smooth=True,
    ),
    program(
        "a row as a view, from both ends",
        """
        i = wb.tid()
        r = x[i]
        s = 0.0
        for k in range(len(r)):
            s += r[k] * r[len(r) - 1 - k]
        q = x[i, 1:4]
        y[i] = s + q[0] * q[2]
        """,
        {"x": floats(9, 6), "y": output(9)},
        (9,),
        smooth=True,
    ),
    program(
        "a component one too far",
        """
        i = wb.tid()
        v = wb.vec3(x[i], 2.0, 3.0)
        j = 0
        for t in range(3):
            j += 1
        y[i] = v[j]
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
    ),
    program(
        "a component before the first",
        """
        i = wb.tid()
        v = wb.vec3(x[i], 2.0, 3.0)
        j = 1
        for t in range(5):
            j -= 1
        y[i] = v[j]
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
    ),
    program(
        "a guard that holds in its branch only",
        """
        i = wb.tid()
        if i < len(x) - 1:
            y[i] = x[i + 1]
        y[i] += x[i + 1]
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
    ),
    program(
        "a guard by a parameter that holds in its branch only",
        """
        i = wb.tid()
        s = 0.0
        if n < len(x):
            for k in range(n):
                s += x[k]
        for k in range(n):
            s += x[k]
        y[i] = s
        """,
        {"x": floats(37), "n": Scalar(40, "wb.int32"), "y": output(37)},
        (37,),
    ),
    program(
        "a guard in one side",
        """
        i = wb.tid()
        s = 0.0
        for k in range(4):
            if i + k < len(x):
                s += x[i + k]
            else:
                s += x[i + k - 37]
        y[i] = s
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
    ),
    program(
        "a loop one too far",
        """
        i = wb.tid()
        s = 0.0
        for k in range(len(x) + 1):
            s += x[k]
        y[i] = s
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
    ),
    program(
        "an index that counts, of an element changed in place",
        """
        i = wb.tid()
        y[i, wb.atomic_add(c, i, 1)] += x[i]
        y[i, wb.atomic_add(c, i, 1)] *= 2.0
        y[i, wb.atomic_add(c, i, 1)] -= x[i] * x[i]
        """,
        {
            "x": floats(37),
            "y": array(floats(37, 5, seed=2).values, output=True),
            "c": output(37, dtype="wb.int32", held=np.int32),
        },
        (37,),
    ),
    program(
        "components without a use, where a function has no derivative",
        """
        i = wb.tid()
        v = wb.vec3(x[i], z[i], 1.0)
        u = wb.vec3(2.0, z[i], x[i])
        q = wb.cw_div(v, u)
        r = wb.sqrt(v)
        y[i] = q[0] + r[0] + wb.abs(v)[0] + wb.cw_div(u, v)[0]
        """,
        {"x": floats(37, low=0.5), "z": array(np.zeros(37, np.float32)), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "slices that are empty or end before they begin",
        """
        i = wb.tid()
        a = x[i : i - 3]
        b = x[i:n]
        c = x[n : n : 2]
        d = x[i : n : -1]
        y[i, 0] = len(a)
        y[i, 1] = len(b)
        y[i, 2] = len(c)
        y[i, 3] = len(d)
        s = 0.0
        for k in range(len(b)):
            s += b[k]
        for k in range(len(d)):
            s += d[k] * 2.0
        z[i] = s
        """,
        {
            "x": floats(37),
            "n": Scalar(20, "wb.int32"),
            "y": output(37, 4, dtype="wb.int32", held=np.int32),
            "z": output(37),
        },
        (37,),
        smooth=True,
    ),
    program(
        "draws between bounds",
        """
        i = wb.tid()
        s = wb.rand_init(7, i)
        k = wb.randi(s, -3, 9)
        y[i] = wb.randf(s, 1.0, 3.0) + float(k)
        """,
        {"y": output(37)},
        (37,),
    ),
    program(
        "an element that is read, overwritten and read at another index",
        """
        i = wb.tid()
        for t in range(6):
            a = y[k[t]]
            y[k[t]] = a * x[t] + 1.0
            b = y[k[5 - t]]
            y[k[5 - t]] = b * b * 0.5
            z[t] = b * a + y[k[t]]
        """,
        {
            "x": floats(6),
            "k": array(np.array([0, 2, 1, 1, 0, 2], np.int32)),
            "y": array(floats(3, seed=2).values, output=True),
            "z": output(6),
        },
        (1,),
        smooth=True,
    ),
    program(
        "indices of 64 bits in sums of rows",
        """
        i = wb.tid()
        s = 0.0
        t = 0.0
        for k in range(len(b)):
            s += a[wb.int64(i + 1) - wb.int64(1), k] * b[k]
            t += a[36 - i, k] * c[wb.int64(k) * wb.int64(37) + wb.int64(36 - i)]
        y[wb.int64(i + 2) - wb.int64(2)] = s
        z[wb.int64(36 - i)] = t + s
        """,
        {"a": floats(37, 70), "b": floats(70, seed=2), "c": floats(70 * 37, seed=3), "y": output(37), "z": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "indices of 64 bits in a product",
        """
        i, j = wb.tid()
        s = 0.0
        for k in range(a.shape[1]):
            s += a[wb.int64(i), k] * b[k, wb.int64(j + 1) - wb.int64(1)]
        y[wb.int64(i + 1) - wb.int64(1), wb.int64(j)] = s
        """,
        {"a": floats(9, 33), "b": floats(33, 40, seed=2), "y": output(9, 40)},
        (9, 40),
        smooth=True,
    ),
    program(
        "a guard that admits one too many",
        """
        i = wb.tid()
        s = 0.0
        for j in range(len(x) + 3):
            if j <= n:
                s += x[j]
        y[i] = s
        """,
        {"x": floats(37), "n": Scalar(37, "wb.int32"), "y": output(37)},
        (37,),
    ),
    program(
        "a guard by the size that admits one too many",
        """
        i = wb.tid()
        s = 0.0
        for j in range(len(x) + 3):
            if j <= len(x):
                s += x[j]
        y[i] = s
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
    ),
    program(
        "guards that admit all and no more",
        """
        i = wb.tid()
        s = 0.0
        for j in range(len(x) + 3):
            if j < len(x):
                s += x[j]
            if j <= len(x) - 1:
                s += x[j] * 0.5
            if len(x) > j:
                s += x[j] * 0.25
        y[i] = s
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "loops over integers of 64 bits",
        """
        i = wb.tid()
        s = 0.0
        n = wb.int64(len(x))
        for j in range(n):
            s += x[j]
        for j in range(wb.int64(1), n, 3):
            s += x[j] * 0.5
        for j in range(n - wb.int64(1), wb.int64(-1), -2):
            s = s * 0.75 + x[j]
        for j in range(n, wb.int64(0), wb.int64(-5)):
            s = s * 0.5 + x[j - wb.int64(1)]
        y[i] = s
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "old values of a sum by one thread",
        """
        i = wb.tid()
        for j in range(len(x)):
            old = wb.atomic_add(t, 0, x[j])
            y[j] = old * 2.0
            c[j] = wb.atomic_add(n, 0, 2)
        """,
        {
            "x": floats(37),
            "t": output(1),
            "n": output(1, dtype="wb.int32", held=np.int32),
            "y": output(37),
            "c": output(37, dtype="wb.int32", held=np.int32),
        },
        (1,),
    ),
    program(
        "a maximum whose old value is used",
        """
        i = wb.tid()
        for j in range(len(k)):
            y[j] = wb.atomic_max(t, 0, k[j])
        """,
        {
            "k": integers(37, below=100),
            "t": output(1, dtype="wb.int32", held=np.int32),
            "y": output(37, dtype="wb.int32", held=np.int32),
        },
        (1,),
    ),
    program(
        "slices from the beginning and to the end",
        """
        i = wb.tid()
        a = x[:n]
        b = x[n:]
        c = x[:]
        d = x[:-3]
        e = x[-4:]
        s = a[-1] + b[0] * 2.0 + c[-1] * 3.0 + d[-1] * 4.0 + e[0] * 5.0
        for k in range(len(a)):
            s += a[k]
        y[i] = s + float(len(a) + 2 * len(b) + 3 * len(d))
        """,
        {"x": floats(37), "n": Scalar(20, "wb.int32"), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "while loops whose bounds change",
        """
        i = wb.tid()
        j = 0
        n = i % 23
        s = 0.0
        while j < n:
            s += x[j]
            j += 1
            if j % 3 == 0:
                n -= 1
        lo = 0
        hi = len(x) - 1
        while lo < hi:
            s = s * 0.5 + x[lo] * x[hi]
            lo += 1
            hi -= 2
        y[i] = s
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "a chain that overwrites behind itself",
        """
        i = wb.tid()
        for t in range(1, len(x)):
            a = y[t - 1]
            y[t] = y[t] * a + x[t] * a * a
            y[t - 1] = a * 0.5 + x[t]
        """,
        {"x": floats(9, low=0.25, high=0.75), "y": array(floats(9, seed=2, low=0.25, high=0.75).values, output=True)},
        (1,),
        smooth=True,
    ),
    program(
        "a chain by steps of two that is read again",
        """
        i = wb.tid()
        for t in range(2, len(x), 2):
            y[t] = y[t - 2] * y[t - 2] * x[t] + y[t - 1]
            y[t - 1] = y[t] * y[t - 2]
            z[t] = y[t - 1] * y[t]
        """,
        {
            "x": floats(9, low=0.25, high=0.75),
            "y": array(floats(9, seed=2, low=0.25, high=0.75).values, output=True),
            "z": output(9),
        },
        (1,),
        smooth=True,
    ),
    program(
        "loops near the largest integer",
        """
        i = wb.tid()
        s = x[i]
        for j in range(2147483640, 2147483647, 3):
            s = s * 0.5 + x[j - 2147483640]
            if s > 1.5:
                break
        j = 2147483640
        while j < 2147483645:
            s = s * x[i] + 0.25
            j += 2
        k = -2147483640
        while k > -2147483645:
            s = s * 0.75 + x[i]
            k -= 2
        y[i] = s + float(j - 2147483640)
        """,
        {"x": floats(37), "y": output(37)},
        (37,),
        smooth=True,
    ),
    program(
        "matrices of another type",
        """
        i = wb.tid()
        m = wb.mat22(x[i], 2.0, 3.0, x[36 - i])
        d = wb.mat22d(m)
        v = wb.vec3d(wb.vec3(x[i], 1.0, 2.0))
        y[i] = d[0, 1] * wb.float64(0.1) + d[1, 1] + v[0] * v[2]
        """,
        {"x": floats(37), "y": output(37, dtype="wb.float64", held=np.float64)},
        (37,),
        smooth=True,
    ),
    program(
        "a thread too many past its guard",
        """
        i = wb.tid()
        if i <= n:
            y[i] = x[i]
        """,
        {"x": floats(37), "n": Scalar(37, "wb.int32"), "y": output(40)},
        (40,),
    ),
    program(
        "a thread past the guard of another access",
        """
        i = wb.tid()
        if i < len(x):
            y[i] = x[i]
        if i < n:
            y[i] += x[i]
        """,
        {"x": floats(37), "n": Scalar(39, "wb.int32"), "y": output(40)},
        (40,),
    ),
    program(
        "threads that their guards keep inside",
        """
        i = wb.tid()
        if i < len(x):
            y[i] = x[i]
        if i <= n:
            y[i] += x[i] * 2.0
        if n > i and i > 2:
            y[i] += x[i - 3] * 0.5
        """,
        {"x": floats(37), "n": Scalar(36, "wb.int32"), "y": output(40)},
        (40,),
        smooth=True,
    ),
]
