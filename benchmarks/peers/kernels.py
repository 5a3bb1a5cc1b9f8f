"""Kernels of `workloads.py` for numba."""

import numba
import numpy as np


@numba.njit(parallel=True)
def squares(x):
    """A sum of squares, in float64 as ours."""
    s = 0.0
    for i in numba.prange(x.size):
        s += np.float64(x[i] * x[i])
    return s


@numba.njit
def bins(x):
    """A histogram, on one thread: numba has no atomic additions."""
    counts = np.zeros(256, np.int32)
    for i in range(x.size):
        counts[np.int32(x[i] * np.float32(256))] += 1
    return counts


@numba.njit(parallel=True)
def picked(x, at):
    """Elements by index."""
    y = np.empty_like(x)
    for i in numba.prange(x.size):
        y[i] = x[at[i]]
    return y


@numba.njit(parallel=True)
def csr(row, column, value, x, y):
    """A sparse matrix times a vector."""
    for i in numba.prange(y.size):
        s = np.float32(0)
        for k in range(row[i], row[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s
    return y


@numba.njit(parallel=True)
def multiplied(x, w, y):
    """A product, in the order of loops in which numba puts elements side by side."""
    for i in numba.prange(y.shape[0]):
        for k in range(w.shape[0]):
            for j in range(y.shape[1]):
                y[i, j] += x[i, k] * w[k, j]
    return y


@numba.njit(parallel=True)
def valid(x, w, y):
    """A 7×7 convolution of an image with a margin."""
    for i in numba.prange(y.shape[0]):
        for j in range(y.shape[1]):
            s = np.float32(0)
            for a in range(7):
                for b in range(7):
                    s += x[i + a, j + b] * w[a, b]
            y[i, j] = s
    return y


@numba.njit(parallel=True)
def gravity(x):
    """What all bodies do to each."""
    a = np.empty_like(x)
    for i in numba.prange(len(x)):
        u = v = w = np.float32(0)
        for j in range(len(x)):
            p, q, o = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            r = p * p + q * q + o * o + np.float32(0.01)
            f = np.float32(1) / (r * np.sqrt(r))
            u += p * f
            v += q * f
            w += o * f
        a[i, 0], a[i, 1], a[i, 2] = u, v, w
    return a


@numba.njit(parallel=True)
def mandelbrot(counts):
    """How many turns points stay near."""
    f = np.float32
    for i in numba.prange(counts.shape[0]):
        for j in range(counts.shape[1]):
            cx = f(j) * f(3) / f(counts.shape[1]) - f(2)
            cy = f(i) * f(2) / f(counts.shape[0]) - f(1)
            x = y = f(0)
            n = 0
            while n < 100 and x * x + y * y < f(4):
                x, y = x * x - y * y + cx, f(2) * x * y + cy
                n += 1
            counts[i, j] = n
    return counts


@numba.njit
def rest(share, rho, along, square):
    """A part of a lattice gas at rest, but for where it flows."""
    o = np.float32
    return o(0.6) * (o(share) * rho * (o(1) + o(3) * along + o(4.5) * along * along - square))


@numba.njit(parallel=True)
def stream_and_collide(f, g):
    """A step of a lattice gas on a torus, written out: loops over the velocities take numba 18 times as long."""
    o = np.float32
    _, n, m = f.shape
    for i in numba.prange(n):
        above, below = i - 1 if i > 0 else n - 1, i + 1 if i < n - 1 else 0
        for j in range(m):
            left, right = j - 1 if j > 0 else m - 1, j + 1 if j < m - 1 else 0
            c0 = f[0, i, j]
            c1 = f[1, above, j]
            c2 = f[2, i, left]
            c3 = f[3, below, j]
            c4 = f[4, i, right]
            c5 = f[5, above, left]
            c6 = f[6, below, left]
            c7 = f[7, below, right]
            c8 = f[8, above, right]
            rho = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8
            u = (c1 - c3 + c5 - c6 - c7 + c8) / rho
            v = (c2 - c4 + c5 + c6 - c7 - c8) / rho
            square = o(1.5) * (u * u + v * v)
            g[0, i, j] = o(0.4) * c0 + rest(4 / 9, rho, o(0), square)
            g[1, i, j] = o(0.4) * c1 + rest(1 / 9, rho, u, square)
            g[2, i, j] = o(0.4) * c2 + rest(1 / 9, rho, v, square)
            g[3, i, j] = o(0.4) * c3 + rest(1 / 9, rho, -u, square)
            g[4, i, j] = o(0.4) * c4 + rest(1 / 9, rho, -v, square)
            g[5, i, j] = o(0.4) * c5 + rest(1 / 36, rho, u + v, square)
            g[6, i, j] = o(0.4) * c6 + rest(1 / 36, rho, -u + v, square)
            g[7, i, j] = o(0.4) * c7 + rest(1 / 36, rho, -u - v, square)
            g[8, i, j] = o(0.4) * c8 + rest(1 / 36, rho, u - v, square)


@numba.njit(parallel=True)
def applied(a, x, y):
    """A matrix times a vector."""
    for i in numba.prange(a.shape[0]):
        s = np.float32(0)
        for k in range(a.shape[1]):
            s += a[i, k] * x[k]
        y[i] = s
    return y


@numba.njit(parallel=True)
def log_sums(a, y):
    """The logarithm of the sum of exponentials of each row."""
    for i in numba.prange(a.shape[0]):
        m = a[i, 0]
        for k in range(1, a.shape[1]):
            m = max(m, a[i, k])
        s = np.float32(0)
        for k in range(a.shape[1]):
            s += np.exp(a[i, k] - m)
        y[i] = m + np.log(s)
    return y


@numba.njit(parallel=True)
def distances(x, y, d):
    """The distance of each row from each other one."""
    for i in numba.prange(x.shape[0]):
        for j in range(y.shape[0]):
            s = np.float32(0)
            for k in range(x.shape[1]):
                e = x[i, k] - y[j, k]
                s += e * e
            d[i, j] = np.sqrt(s)
    return d


@numba.njit(parallel=True)
def nearest(x, centre, label):
    """The nearest centre of each row."""
    for i in numba.prange(x.shape[0]):
        best, at = np.float32(1e30), 0
        for j in range(centre.shape[0]):
            s = np.float32(0)
            for k in range(centre.shape[1]):
                e = x[i, k] - centre[j, k]
                s += e * e
            if s < best:
                best, at = s, j
        label[i] = at
    return label


@numba.njit(parallel=True)
def functions(x, y):
    """Several functions of a number."""
    for i in numba.prange(x.size):
        v = x[i]
        y[i] = np.exp(-v) + np.log(v + np.float32(1)) * np.tanh(v) + np.sin(v) + np.arctan2(v, np.float32(1.5))
    return y


@numba.njit(parallel=True)
def life(a, b):
    """A step of Conway's game on a torus."""
    n, m = a.shape
    for i in numba.prange(n):
        up, down = i - 1 if i > 0 else n - 1, i + 1 if i < n - 1 else 0
        for j in range(m):
            left, right = j - 1 if j > 0 else m - 1, j + 1 if j < m - 1 else 0
            s = a[up, left] + a[up, j] + a[up, right] + a[i, left] + a[i, right]
            s += a[down, left] + a[down, j] + a[down, right]
            b[i, j] = 1 if s == 3 or (s == 2 and a[i, j] == 1) else 0
    return b
