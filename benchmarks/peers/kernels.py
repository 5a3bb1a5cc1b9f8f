"""The kernels of `workloads.py` for Warp and numba, line by line."""

import numba
import numpy as np
import warp as wp

W_FLOATS, W_INTS = wp.array(dtype=wp.float32), wp.array(dtype=wp.int32)
W_IMAGE, W_MATRICES = wp.array(dtype=wp.float32, ndim=2), wp.array(dtype=wp.mat33)


@wp.kernel
def warp_total(x: W_FLOATS, o: W_FLOATS):
    """A sum."""
    i = wp.tid()
    wp.atomic_add(o, 0, x[i])


@wp.kernel
def warp_squares(x: W_FLOATS, o: W_FLOATS):
    """A sum of squares."""
    i = wp.tid()
    wp.atomic_add(o, 0, x[i] * x[i])


@wp.kernel
def warp_extremes(x: W_FLOATS, lo: W_FLOATS, hi: W_FLOATS):
    """The least and the greatest number."""
    i = wp.tid()
    wp.atomic_min(lo, 0, x[i])
    wp.atomic_max(hi, 0, x[i])


@wp.kernel
def warp_csr(row: W_INTS, column: W_INTS, value: W_FLOATS, x: W_FLOATS, y: W_FLOATS):
    """A sparse matrix times a vector."""
    i = wp.tid()
    s = wp.float32(0.0)
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[column[k]]
    y[i] = s


@wp.kernel
def warp_inverses(a: W_MATRICES, b: W_MATRICES):
    """Batched 3×3 inverses."""
    i = wp.tid()
    b[i] = wp.inverse(a[i])


@wp.kernel
def warp_clamped(x: W_IMAGE, w: W_IMAGE, y: W_IMAGE):
    """A convolution; borders are repeated."""
    i, j = wp.tid()
    s = wp.float32(0.0)
    for a in range(7):
        for b in range(7):
            s += x[wp.clamp(i + a - 3, 0, x.shape[0] - 1), wp.clamp(j + b - 3, 0, x.shape[1] - 1)] * w[a, b]
    y[i, j] = s


@wp.kernel
def warp_heat(x: W_IMAGE, y: W_IMAGE):
    """A step of heat flow within insulated walls."""
    i, j = wp.tid()
    n, m = x.shape[0], x.shape[1]
    near = x[wp.max(i - 1, 0), j] + x[wp.min(i + 1, n - 1), j] + x[i, wp.max(j - 1, 0)] + x[i, wp.min(j + 1, m - 1)]
    y[i, j] = x[i, j] + 0.1 * (near - 4.0 * x[i, j])


@numba.njit(parallel=True)
def numba_squares(x):
    """A sum of squares, in float64 as ours."""
    s = 0.0
    for i in numba.prange(x.size):
        s += np.float64(x[i] * x[i])
    return s


@numba.njit(parallel=True)
def numba_csr(row, column, value, x, y):
    """A sparse matrix times a vector."""
    for i in numba.prange(y.size):
        s = np.float32(0)
        for k in range(row[i], row[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s


@numba.njit(parallel=True)
def numba_valid(x, w, y):
    """A 7×7 convolution of an image with a margin."""
    for i in numba.prange(y.shape[0]):
        for j in range(y.shape[1]):
            s = np.float32(0)
            for a in range(7):
                for b in range(7):
                    s += x[i + a, j + b] * w[a, b]
            y[i, j] = s
