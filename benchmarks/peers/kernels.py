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
def cell(f, g, i, j):
    """A cell of a lattice gas, with loops as one writes them for numba."""
    cx, cy = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
    share = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)
    o = np.float32
    _, n, m = f.shape
    rho = u = v = o(0)
    for q in range(9):
        c = f[q, (i + n - cx[q]) % n, (j + m - cy[q]) % m]
        rho += c
        u += o(cx[q]) * c
        v += o(cy[q]) * c
    u /= rho
    v /= rho
    for q in range(9):
        along = o(cx[q]) * u + o(cy[q]) * v
        rest = o(share[q]) * rho * (o(1) + o(3) * along + o(4.5) * along * along - o(1.5) * (u * u + v * v))
        g[q, i, j] = o(0.4) * f[q, (i + n - cx[q]) % n, (j + m - cy[q]) % m] + o(0.6) * rest


@numba.njit(parallel=True)
def stream_and_collide(f, g):
    """A step of a lattice gas."""
    for i in numba.prange(f.shape[1]):
        for j in range(f.shape[2]):
            cell(f, g, i, j)
