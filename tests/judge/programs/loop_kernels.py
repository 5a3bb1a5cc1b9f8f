"""Loops of every shape that an optimiser has a case for. `loops.py` reads this file as text, kernel by kernel."""

from __future__ import annotations

import workbench as wb

F1, F2, F3 = (wb.array(dtype=wb.float32, ndim=n) for n in (1, 2, 3))
D1, D2, D3 = (wb.array(dtype=wb.float64, ndim=n) for n in (1, 2, 3))
I1, I2, L1 = wb.array(dtype=wb.int32), wb.array(dtype=wb.int32, ndim=2), wb.array(dtype=wb.int64)
H2, V1 = wb.array(dtype=wb.float16, ndim=2), wb.array(dtype=wb.vec3)
V2, VD1 = wb.array(dtype=wb.vec3, ndim=2), wb.array(dtype=wb.vec3d)


@wb.kernel
def product(x: D2, w: D2, b: D1, y: D2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, j]
    y[i, j] = wb.tanh(s + b[j])


@wb.kernel
def attraction(x: VD1, a: VD1):
    i = wb.tid()
    p = x[i]
    s = wb.vec3d()
    for j in range(x.shape[0]):
        d = x[j] - p
        s += d / (wb.dot(d, d) + wb.float64(0.5))
    a[i] = s * x[i][1]


@wb.kernel
def loops_in_loops(x: D2, w: D2, b: D1, y: D2):
    i, j = wb.tid()
    s, t = b[j], wb.float64(1.0)
    for k in range(w.shape[0]):
        r = wb.float64(0.0)
        for m in range(w.shape[0]):
            r += x[i, m] * w[k, j] + t * wb.float64(0.01)
        s, t = wb.sin(t) + r * b[k], s
    y[i, j] = s * b[j] + t


@wb.kernel
def backwards_and_branches(x: D2, w: D2, b: D1, y: D2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    n = w.shape[0]
    if j % 3 != 1:
        s = b[j]
    for k in range(n - 1, -1, -1):
        v = w[k, j] * x[i, k]
        if v > wb.float64(0.0):
            s += v
        for q in range(3):
            s = s * wb.float64(0.9) + b[k] * wb.float64(q)
            if j + q < n:
                s += w[k, j + q]
    if s > wb.float64(0.0):
        y[i, j] = s


@wb.kernel
def in_place(x: D2, w: D2, b: D1, y: D2):
    i, j = wb.tid()
    for k in range(w.shape[0]):
        y[i, j] = y[i, j] * wb.float64(0.5) + x[i, k] * w[k, j]


@wb.kernel
def columns(x: D2, w: D2, b: D1, y: D2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, wb.max(j - 1, 0)]
    y[i, j] = s


@wb.kernel
def planes(x: D3, y: D3):
    h, i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(x.shape[1]):
        s += x[h, k, j] * x[h, i, k]
    y[h, i, j] = s


@wb.kernel
def nest(x: D2, w: D2, b: D1, y: D2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(7):
        for m in range(6):
            s += w[k, j] * x[i, m]
            if j + m < b.shape[0]:
                s += b[j + m]
    y[i, j] = s


@wb.kernel
def windows(x: D2, w: D2, b: D1, y: D2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(24):
        s += x[i, wb.min(j + k, x.shape[1] - 1)] * b[k]
    y[i, j] = s


@wb.kernel
def window_of_integers(x: wb.array(dtype=int, ndim=2), w: wb.array(dtype=wb.int64), y: wb.array(dtype=wb.int64)):
    j = wb.tid()
    s = wb.int64(0)
    for k in range(x.shape[0]):
        s += wb.int64((x[k, j + 1] * k) // x[k, j]) // w[j]
    y[j] = s


@wb.kernel
def window_of_bytes(x: wb.array(dtype=wb.uint8, ndim=2), w: wb.array(dtype=bool), y: wb.array(dtype=wb.float16)):
    j = wb.tid()
    s = 0
    for k in range(x.shape[0]):
        if w[j]:
            s += int(x[k, j + 1])
    y[j] = wb.float16(s)


@wb.kernel
def paths(x: D1, v: VD1, steps: int, o: D1, most: D1, sums: VD1):
    i = wb.tid()
    s = x[i]
    for _ in range(steps):
        s = wb.sin(s) + wb.float64(0.125)
        o[1] += s * x[0]
    if s > wb.float64(0.5):
        wb.atomic_max(most, 1, s)
    sums[0] += v[i] * s


@wb.kernel
def steps_of_its_own(x: D1, a: wb.float64, o: D1):
    i = wb.tid()
    s, t = x[i], a
    for _ in range(40):
        s, t = wb.sin(s) * t + wb.float64(0.3), s * wb.float64(0.7)
    o[0] += s * t


@wb.kernel
def own_bounds(row: wb.array(dtype=int), x: D1, y: D1):
    i = wb.tid()
    s = wb.float64(0.0)
    for k in range(row[i], row[i + 1]):
        s += x[k]
    y[i] = s


@wb.kernel
def sees_others(x: D2, y: D2):
    i, j = wb.tid()
    for k in range(x.shape[0]):
        y[k, j] = y[k, 0] + x[i, j]


@wb.kernel
def asks_in_a_branch(x: D1, y: D1):
    s = wb.float64(0.0)
    for k in range(x.shape[0]):
        s += x[k]
    if s > wb.float64(0.0):
        y[wb.tid()] = s


@wb.kernel
def rows_product(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, j]
    y[i, j] = s


@wb.kernel
def doubles(x: D2, w: D2, y: D2):
    i, j = wb.tid()
    s = w[-1, j]
    for k in range(w.shape[0] - 1, -1, -1):
        s = s * wb.float64(0.5) + x[i, k] * w[k, j]
    y[i, j] = wb.sin(s) + s


@wb.kernel
def halves(x: H2, w: H2, y: H2):
    i, j = wb.tid()
    s = wb.float16(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, j]
    y[i, j] = s


@wb.kernel
def whole(x: I2, w: I2, y: I2):
    i, j = wb.tid()
    s, most = wb.int32(0), wb.int32(-1000)
    for k in range(w.shape[0]):
        v = x[i, k] - w[k, j]
        if v * v > most and k != j:
            most = v * v
        s += x[i, k] * w[k, j]
    if s % 3 != 1:
        y[i, j] = s + most


@wb.kernel
def vectors(x: V2, w: V2, y: V2):
    i, j = wb.tid()
    s = wb.vec3()
    for k in range(w.shape[0]):
        s += wb.cross(x[i, k], w[k, j]) + w[k, j] * x[i, k][1]
    y[i, j] = s


@wb.kernel
def rows_in_place(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    for k in range(w.shape[0]):
        y[i, j] = y[i, j] * wb.float32(0.5) + x[i, k] * w[k, j]


@wb.kernel
def stopped(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(w.shape[0]):
        if w[k, j] > wb.float32(2.0):
            break
        for q in range(3):
            s += x[i, k] * w[k, j] + wb.float32(q)
    if s > wb.float32(1.0):
        return
    y[i, j] = s


@wb.kernel
def two_loops(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    n = w.shape[0]
    most = wb.float32(-1.0e30)
    for k in range(n):
        most = wb.max(most, x[i, k] * w[k, j])
    s = wb.float32(0.0)
    for k in range(n):
        s += wb.exp(x[i, k] * w[k, j] - most)
    y[i, j] = wb.log(s) + most


@wb.kernel
def rows_planes(x: F3, w: F3, y: F3):
    h, i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(w.shape[1]):
        s += w[h, k, j] * x[h, i, k]
    y[h, i, j] = s


@wb.kernel
def triangle(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(j % 19 + 2):
        s += x[i, k] * w[k, j]
    y[i, j] = s


@wb.kernel
def running(x: F2, w: F1, y: F2, o: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(x.shape[1]):
        s += x[i, k] * w[k]
        y[i, k] = s
    o[i] = s


@wb.kernel
def along_in_place(x: F2, w: F1, y: F2, o: F1):
    i = wb.tid()
    m = x[i, 0]
    for k in range(1, x.shape[1]):
        if x[i, k] > m:
            m = x[i, k]
    s = wb.float32(0.0)
    for k in range(x.shape[1]):
        y[i, k] = y[i, k] * 0.5 + wb.exp(x[i, k] - m)
        s += y[i, k]
    for k in range(x.shape[1]):
        y[i, k] = y[i, k] / s
    o[i] = s + m


@wb.kernel
def in_double(x: D2, w: D1, y: D2, o: D1):
    i = wb.tid()
    s = wb.float64(1.0)
    for k in range(2, x.shape[1] - 1):
        s = s * wb.float64(0.9) - x[i, k] * w[k - 1]
        if s > wb.float64(0.0):
            s = s - x[i, k]
        y[i, k] = y[i, k] + s
    o[i] = s


@wb.kernel
def rows_of_rows(x: F2, w: F1, y: F2, o: F1):
    i = wb.tid()
    m = wb.float32(0.0)
    for j in range(y.shape[1]):
        s = w[j]
        for k in range(x.shape[1]):
            s += x[i, k] * w[k] * s
        y[i, j] = s
        m = wb.max(m, s)
    o[i] = m


@wb.kernel
def two_dimensions(x: F2, w: F1, y: F2, o: F1):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(x.shape[1]):
        d = x[i, k] - x[j, k]
        s += d * d * w[k]
    o[i * x.shape[0] + j] = s


@wb.kernel
def not_in_every_turn(x: F2, m: F1, y: F2, o: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(100):
        if k < x.shape[1]:
            s += x[i, k] * m[k]
    o[i] = s


@wb.kernel
def also_elsewhere(x: F2, m: F1, y: F2, o: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(1, x.shape[1]):
        s += y[i, k]
        y[i, k] = s + y[i, k - 1]
    o[i] = s


@wb.kernel
def whole_numbers(x: wb.array(dtype=int, ndim=2), m: F1, y: F2, o: wb.array(dtype=int)):
    i = wb.tid()
    s = 0
    for k in range(x.shape[1]):
        s += x[i, k]
    o[i] = s


@wb.kernel
def tridiagonal(a: F2, b: F2, c: F2, d: F2):
    """Thomas' algorithm, a system per column: each thread sees the rows that it has changed."""
    j = wb.tid()
    n = a.shape[0]
    for k in range(1, n):
        m = a[k, j] / b[k - 1, j]
        b[k, j] = b[k, j] - m * c[k - 1, j]
        d[k, j] = d[k, j] - m * d[k - 1, j]
    d[n - 1, j] = d[n - 1, j] / b[n - 1, j]
    for q in range(1, n):
        k = n - 1 - q
        d[k, j] = (d[k, j] - c[k, j] * d[k + 1, j]) / b[k, j]


@wb.kernel
def escape(x: F1, y: I1, z: F1):
    i = wb.tid()
    cx, u, v = 3.0 * x[i] - 1.5, wb.float32(0.0), wb.float32(0.0)
    n = 0
    while n < 60 and u * u + v * v < 4.0:
        u, v = u * u - v * v + cx, 2.0 * u * v + 0.3
        n += 1
    y[i] = n
    z[i] = u - v


@wb.kernel
def march(h: F1, x: F2, y: F2):
    i, j = wb.tid()
    t = wb.float32(0.0)
    hits = 0
    for k in range(40):
        d = 0.5 * (2.0 - t + h[0] * wb.sin(3.0 * x[i, j] * t))
        if d < 1.0e-2:
            hits = k
            break
        if d > 0.9:
            t += 0.25
            continue
        t += d
    y[i, j] = t * float(hits)


@wb.kernel
def newton(x: D1, y: D1):
    i = wb.tid()
    a = x[i]
    r, e = a, wb.float64(1.0)
    while e > wb.float64(1.0e-12) * a:
        n = wb.float64(0.5) * (r + a / r)
        e = wb.abs(n - r)
        r = n
    y[i] = r


@wb.kernel
def collatz(x: F1, y: I1, z: L1):
    i = wb.tid()
    n = wb.int64(i + 1)
    c, top = 0, n
    while n != wb.int64(1):
        if n % wb.int64(2) == wb.int64(0):
            n = n // wb.int64(2)
        else:
            n = n * wb.int64(3) + wb.int64(1)
        top = wb.max(top, n)
        c += 1
    y[i] = c
    z[i] = top


@wb.kernel
def euclid(x: F1, y: I1):
    i = wb.tid()
    a, b = int(x[i] * 1000.0) - 300, 36 - i
    while b != 0:
        a, b = b, a % b
    y[i] = a // (i - 7)


@wb.kernel
def wander(x: F1, y: I1, z: V1):
    i = wb.tid()
    state = wb.rand_init(3, i)
    p = wb.vec3(0.0, x[i], 0.0)
    n = 0
    while True:
        p += wb.vec3(wb.randf(state) - 0.5, wb.randf(state) - 0.5, 0.0)
        n += 1
        if wb.dot(p, p) > 4.0:
            break
        if n >= 90:
            p = wb.vec3(9.0, 9.0, 9.0)
            break
    y[i] = n
    z[i] = p


@wb.kernel
def search(x: F1, y: I1):
    i = wb.tid()
    v = float(i) / 30.0
    lo, hi = 0, x.shape[0]
    while lo < hi:
        m = (lo + hi) // 2
        if x[m] < v:
            lo = m + 1
        else:
            hi = m
    y[i] = lo + wb.int32(x[lo - x.shape[0]])


@wb.kernel
def own_ranges(x: F1, y: F1, z: F1):
    i = wb.tid()
    s, t = wb.float32(0.0), wb.float32(1.0)
    for k in range(i % 23):
        s = s * 0.5 + wb.sqrt(float(k)) * x[i]
    for k in range(i % 29 - 4, -3, -1):
        t = t * 0.75 + float(k) * x[k % x.shape[0] - x.shape[0]]
    y[i] = s
    z[i] = t


@wb.kernel
def inner_ranges(x: F1, y: F1):
    i = wb.tid()
    n = x.shape[0]
    s = wb.float32(0.0)
    for k in range(i - 5, i % 7 + 9):
        m = int(x[k % n] * 20.0)
        if m % 3 == 1:
            s += x[m % n - n]
        for q in range(m % 5 - 20, m):
            if q % 2 == 0:
                s = s * 0.9 + float(q)
    y[i] = s


@wb.kernel
def nested(x: F1, y: F1, z: F1):
    i = wb.tid()
    s, n = x[i], 0
    while s < 20.0:
        t, c = s, 0
        while t > 1.0 and c < 30:
            t = t * 0.6 - 0.01
            c += 1
        for _ in range(20):
            s = s + t * 0.01 * x[i]
        s += 0.5 + float(c) * 0.1
        n += 1
        z[i] = s
    y[i] = s + float(n)


@wb.kernel
def inside_a_shared_loop(x: F1, y: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(x.shape[0]):
        t = x[k] + x[i]
        while t > 0.5:
            t *= 0.7
        s = s * 0.5 + t
    y[i] = s


@wb.kernel
def flags(x: F1, y: I1):
    i = wb.tid()
    go, n = x[i] > 0.3, 0
    v = x[i]
    while go:
        v = v * 1.3
        go = v < 5.0
        n += 1 if go else 10
    y[i] = n + (100 if go else 0)


@wb.kernel
def short_loops(x: F1, y: F1):
    i = wb.tid()
    s = x[i]
    while s < 20.0:
        for k in range(3):
            s = s * 1.01 + 0.1 * float(k)
    y[i] = s


@wb.kernel
def rays(h: F1, x: F2, y: F2):
    i, j = wb.tid()
    t = wb.float32(0.0)
    for _ in range(24):
        d = 0.5 * (2.0 - t + h[0] * wb.sin(3.0 * x[i, j] * t))
        if d < 0.1:
            break
        t += d
    y[i, j] = t * x[i, j]


@wb.kernel
def some_turns(x: F1, y: F1):
    i = wb.tid()
    s, n = x[i], i % 5
    while n < 20 and s < 3.0:
        s = s * 1.1 + wb.sqrt(x[i]) * 0.3
        n += 2
    y[i] = s * s


@wb.kernel
def in_a_branch(x: F1, y: F1):
    i = wb.tid()
    s, k = x[i], 30
    if i % 3 != 1:
        n = 0
        while not (s > 2.0 or n > 30 - 1):
            if n % 4 == 3:
                s -= 0.01 * s * x[k % x.shape[0]]
            s += 0.2 * x[i]
            n += 1
            k -= 1
    y[i] = s


@wb.kernel
def turns_in_turns(x: F1, y: F1):
    i = wb.tid()
    s = x[i]
    for _ in range(6):
        n = 0
        while n < 10 and s < 1.0 + x[i]:
            s += 0.1 * s * s + 0.05
            n += 1
        s *= 0.5
    y[i] = s


@wb.kernel
def by_steps(x: D1, y: D1):
    i = wb.tid()
    s, n = x[i], wb.int8(0)
    while n < wb.int8(125) and s < wb.float64(30.0):
        s = s * wb.float64(1.02) + wb.sin(s) * wb.float64(0.01) + wb.float64(0.1)
        n += wb.int8(3)
    y[i] = s


@wb.kernel
def by_steps_past_the_end(x: D1, y: D1):
    i = wb.tid()
    s, n = x[i], wb.int8(0)
    while n < wb.int8(125) and s < wb.float64(30.0):
        s = s * wb.float64(1.02) + wb.sin(s) * wb.float64(0.01) + wb.float64(0.1)
        n += wb.int8(24)
    y[i] = s


@wb.kernel
def indirect_product(row: I1, column: I1, value: F1, x: F1, y: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[column[k]]
    y[i] = s


@wb.kernel
def wide(row: L1, column: L1, value: D1, x: D1, y: D1):
    i = wb.tid()
    for k in range(row[i], row[i + 1]):
        y[i] += value[k] * (x[column[k]] - x[-1])


@wb.kernel
def indirect_vectors(row: I1, column: I1, value: F1, x: V1, y: V1):
    i = wb.tid()
    s = wb.vec3(0.0, 0.0, 0.0)
    last = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        v = x[column[k]]
        last = v.y
        s += value[k] * v
    y[i] = s - last


@wb.kernel
def extremes(row: I1, column: I1, value: F1, x: F1, y: F1):
    i = wb.tid()
    s = wb.float32(-3.0)
    for k in range(row[i], row[i + 1]):
        s = wb.max(s, x[column[k]] - value[k])
        value[k] = x[column[-1 - k]]
    y[i] = s


@wb.kernel
def rows_of_one_size(row: I1, column: I1, value: F1, x: F1, y: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[1]):
        s += value[k] * x[column[k] - i]
    y[i] = s


@wb.kernel
def integers(row: I1, column: I1, value: I1, x: I1, y: I1):
    i = wb.tid()
    s = 0
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[column[k]]
    y[i] = s


@wb.kernel
def roots(row: I1, column: I1, value: F1, x: F1, y: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        s += value[k] / wb.sqrt(x[column[k]])
    y[i] = s


@wb.kernel
def beside(row: I1, column: I1, value: F1, x: F1, y: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[k]
    y[i] = s


@wb.kernel
def bare_sums(x: F2, y: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(i % 23):
        s += x[i, k]
    y[i] = s


@wb.kernel
def sums_along(x: F2, y: F1):
    i = wb.tid()
    s, t = wb.float32(0.0), wb.float32(0.0)
    for k in range(i % 23):
        s += x[i, k] * wb.sqrt(x[i, k])
        t -= x[i, k]
    y[i] = s - t


@wb.kernel
def sums_across(x: F2, y: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(i % 23):
        s += x[k, i] * wb.sqrt(x[k, i])
    y[i] = s


@wb.kernel
def no_sums(x: F2, y: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(i % 23):
        s = s * s + x[i, k]
    y[i] = s
