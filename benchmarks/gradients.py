"""Measure what a gradient costs: over its forward kernel, over the adjoint written by hand, and beside JAX and Warp.

Every time is processor time of all threads, per call of the quickest turn in rounds in which all calls take turns. A
gradient is a run forward and backward through a tape with `accumulate=False`, which sets the gradients, as `jax.grad`
returns them; backward is that without the run forward. Accumulated is the same through a tape that adds to gradients,
which are then set to 0. By hand is the ideal adjoint as kernels of the same language, alone: again and again, they find
in the caches what a run forward evicts. The program by hand does all that the tape does: it runs forward and sets the
gradients. `hvp / gradient` is `wb.hvp` over `wb.grad`, by the first
input, of the sum of the result times a seed. Every gradient, and every hvp, is compared with JAX's in float64 before it
is timed; Warp, if it is installed, runs the same kernels, and where its gradient is another one the table says so.

All rows take some minutes; on a busy machine (more processes than cores) caches are shared, and the rows that are bound
by memory show it by factors. Each row is kept as it is measured.

python benchmarks/gradients.py [--only NAME …]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from measure import RESULTS, machine
from peers.jax_functions import (
    WEIGHTS,
    jax_bodies,
    jax_butterfly,
    jax_conv,
    jax_lattice,
    jax_norm,
    jax_smoothed,
    jax_stencil_3d,
)
from peers.warp_kernels import available, translated, with_funcs
from peers.warp_kernels import calls as calls_of_warp

import workbench as wb

ROUNDS = 9
LOAD = os.getloadavg()[0]
TURN = 0.04  # seconds: a single call is too short for the clock, which misses what other threads have not yet booked

RANDOM = np.random.default_rng(0)


@dataclass
class Case:
    """A kernel and what it is compared with.

    Attributes:
        name: of the row.
        kernel: the forward kernel.
        dim: threads.
        inputs: arrays of floats have a gradient, those of integers and numbers have none; the FFT's step comes last.
        shape: of the result, the last argument.
        function: the same for JAX, of the inputs with a gradient.
        hand: makes the call of the adjoint by hand from (inputs with the result behind them, seed, gradients).
        slack: how far from JAX's the gradient may be, of its largest element.
    """

    name: str
    kernel: Any
    dim: Any
    inputs: Sequence[Any]
    shape: tuple[int, ...]
    function: Callable[..., Any]
    hand: Callable[[list[Any], Any, list[Any]], Callable[[], None]] | None = None
    slack: float = 1e-4


def normal(*shape: int, scale: float = 1.0, offset: float = 0.0) -> np.ndarray:
    """Normally distributed float32."""
    return (offset + scale * RANDOM.standard_normal(shape)).astype(np.float32)


@wb.kernel
def map_(x: wb.array[float], y: wb.array[float]):
    """An elementwise function."""
    i = wb.tid()
    y[i] = wb.sin(x[i]) * wb.exp(-x[i])


@wb.func
def greatest(x: wb.array2d[float], i: int):
    """The greatest element of a row."""
    m = x[i, 0]
    for j in range(x.shape[1]):
        m = wb.max(m, x[i, j])
    return m


@wb.func
def sum_of_exponentials(x: wb.array2d[float], i: int, m: float):
    """Of a row, above m."""
    s = 0.0
    for j in range(x.shape[1]):
        s += wb.exp(x[i, j] - m)
    return s


@wb.func
def filtered(x: wb.array3d[float], w: wb.array4d[float], o: int, i: int, j: int):
    """An element of a 3 × 3 convolution."""
    s = 0.0
    for c in range(w.shape[1]):
        for u in range(3):
            for v in range(3):
                s += x[c, i + u, j + v] * w[o, c, u, v]
    return s


@wb.kernel
def softmax(x: wb.array2d[float], y: wb.array2d[float]):
    """A row per thread."""
    i = wb.tid()
    m = greatest(x, i)
    s = sum_of_exponentials(x, i, m)
    for j in range(x.shape[1]):
        y[i, j] = wb.exp(x[i, j] - m) / s


@wb.kernel
def softmax_hand(x: wb.array2d[float], g: wb.array2d[float], gx: wb.array2d[float]):
    """One recomputation and one sum per row."""
    i = wb.tid()
    m = greatest(x, i)
    s = 0.0
    d = 0.0
    for j in range(x.shape[1]):
        e = wb.exp(x[i, j] - m)
        s += e
        d += e * g[i, j]
    d = d / s
    for j in range(x.shape[1]):
        gx[i, j] = wb.exp(x[i, j] - m) / s * (g[i, j] - d)


@wb.kernel
def log_sum_exp(x: wb.array2d[float], y: wb.array[float]):
    """A row per thread."""
    i = wb.tid()
    m = greatest(x, i)
    s = sum_of_exponentials(x, i, m)
    y[i] = m + wb.log(s)


@wb.kernel
def log_sum_exp_hand(x: wb.array2d[float], g: wb.array[float], gx: wb.array2d[float]):
    """Softmax times the cotangent."""
    i = wb.tid()
    m = greatest(x, i)
    s = sum_of_exponentials(x, i, m)
    a = g[i] / s
    for j in range(x.shape[1]):
        gx[i, j] = wb.exp(x[i, j] - m) * a


@wb.kernel
def row_max(x: wb.array2d[float], y: wb.array[float]):
    """A row per thread."""
    i = wb.tid()
    y[i] = greatest(x, i)


@wb.kernel
def row_max_hand(x: wb.array2d[float], g: wb.array[float], gx: wb.array2d[float]):
    """From the last maximum."""
    i = wb.tid()
    m = greatest(x, i)
    a = g[i]
    for j in range(x.shape[1]):
        gx[i, j] = wb.where(x[i, j] == m, a, 0.0)


@wb.kernel
def row_product(x: wb.array2d[float], y: wb.array[float]):
    """A row per thread."""
    i = wb.tid()
    p = 1.0
    for j in range(x.shape[1]):
        p = p * x[i, j]
    y[i] = p


@wb.kernel
def layer_norm(x: wb.array2d[float], w: wb.array[float], b: wb.array[float], y: wb.array2d[float]):
    """A row per thread."""
    i = wb.tid()
    n = x.shape[1]
    s = 0.0
    for j in range(n):
        s += x[i, j]
    m = s / float(n)
    v = 0.0
    for j in range(n):
        d = x[i, j] - m
        v += d * d
    r = 1.0 / wb.sqrt(v / float(n) + 1e-5)
    for j in range(n):
        y[i, j] = (x[i, j] - m) * r * w[j] + b[j]


@wb.kernel
def conv_relu(x: wb.array3d[float], w: wb.array4d[float], y: wb.array3d[float]):
    """3 × 3."""
    o, i, j = wb.tid()
    y[o, i, j] = wb.max(filtered(x, w, o, i, j), 0.0)


@wb.kernel
def conv(x: wb.array3d[float], w: wb.array4d[float], y: wb.array3d[float]):
    """3 × 3."""
    o, i, j = wb.tid()
    y[o, i, j] = filtered(x, w, o, i, j)


@wb.kernel
def conv_mask(y: wb.array3d[float], gy: wb.array3d[float], gz: wb.array3d[float]):
    """The cotangent of the sums, with a border of two zeros."""
    o, i, j = wb.tid()
    gz[o, i + 2, j + 2] = wb.where(y[o, i, j] > 0.0, gy[o, i, j], 0.0)


@wb.kernel
def conv_hand_x(gz: wb.array3d[float], w: wb.array4d[float], gx: wb.array3d[float]):
    """Gather form."""
    c, i, j = wb.tid()
    s = 0.0
    for o in range(w.shape[0]):
        for u in range(3):
            for v in range(3):
                s += gz[o, i + 2 - u, j + 2 - v] * w[o, c, u, v]
    gx[c, i, j] = s


@wb.kernel
def conv_hand_w(gz: wb.array3d[float], x: wb.array3d[float], part: wb.array2d[float], h: int):
    """Sums of columns."""
    q, j = wb.tid()
    o = q // 72
    r = q % 72
    c = r // 9
    u = (r % 9) // 3
    v = r % 3
    s = 0.0
    for i in range(h):
        s += gz[o, i + 2, j + 2] * x[c, i + u, j + v]
    part[q, j] = s


@wb.kernel
def conv_fold(part: wb.array2d[float], gw: wb.array[float]):
    """Add them up."""
    q = wb.tid()
    s = 0.0
    for j in range(part.shape[1]):
        s += part[q, j]
    gw[q] = s


@wb.kernel
def matmul(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
    """An element per thread."""
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def matmul_hand_a(g: wb.array2d[float], b: wb.array2d[float], ga: wb.array2d[float]):
    """A product with the transpose."""
    i, k = wb.tid()
    s = 0.0
    for j in range(b.shape[1]):
        s += g[i, j] * b[k, j]
    ga[i, k] = s


@wb.kernel
def matmul_hand_b(g: wb.array2d[float], a: wb.array2d[float], gb: wb.array2d[float]):
    """The other."""
    k, j = wb.tid()
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i, k] * g[i, j]
    gb[k, j] = s


@wb.kernel
def stencil_1d(x: wb.array[float], y: wb.array[float]):
    """Three points."""
    i = wb.tid()
    y[i + 1] = 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2]


@wb.kernel
def stencil_2d(x: wb.array2d[float], y: wb.array2d[float]):
    """Five points."""
    i, j = wb.tid()
    y[i + 1, j + 1] = 0.25 * (x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2]) - x[i + 1, j + 1]


@wb.kernel
def stencil_3d(x: wb.array3d[float], y: wb.array3d[float]):
    """Seven points, clamped."""
    i, j, k = wb.tid()
    a, b, c = x.shape[0] - 1, x.shape[1] - 1, x.shape[2] - 1
    s = x[wb.max(i - 1, 0), j, k] + x[wb.min(i + 1, a), j, k]
    s += x[i, wb.max(j - 1, 0), k] + x[i, wb.min(j + 1, b), k]
    s += x[i, j, wb.max(k - 1, 0)] + x[i, j, wb.min(k + 1, c)]
    y[i, j, k] = s - 6.0 * x[i, j, k]


@wb.kernel
def wrapped(x: wb.array2d[float], y: wb.array2d[float]):
    """Five points of a torus."""
    i, j = wb.tid()
    h, w = x.shape[0], x.shape[1]
    s = x[(i + 1) % h, j] + x[(i + h - 1) % h, j] + x[i, (j + 1) % w] + x[i, (j + w - 1) % w]
    y[i, j] = s - 4.0 * x[i, j]


@wb.kernel
def embedding(e: wb.array2d[float], ids: wb.array[int], y: wb.array2d[float]):
    """Rows by number."""
    i, j = wb.tid()
    y[i, j] = e[ids[i], j] * 2.0


@wb.kernel
def embedding_hand(ids: wb.array[int], g: wb.array2d[float], ge: wb.array2d[float], n: int):
    """A column per thread."""
    j = wb.tid()
    for i in range(ge.shape[0]):
        ge[i, j] = 0.0
    for i in range(n):
        ge[ids[i], j] += g[i, j] * 2.0


@wb.kernel
def reduce(x: wb.array[float], y: wb.array[float]):
    """A sum of squares."""
    i = wb.tid()
    wb.atomic_add(y, 0, x[i] * x[i])


@wb.kernel
def butterfly(re: wb.array2d[float], im: wb.array2d[float], out: wb.array3d[float], step: int):
    """One stage of an FFT over rows, by decimation in frequency."""
    r, q = wb.tid()
    h = re.shape[1] // 2
    k = q % step
    a, b = q, q + h
    t = -3.14159265 * float(q - k) / float(h)
    c, s = wb.cos(t), wb.sin(t)
    xr, xi = re[r, a] - re[r, b], im[r, a] - im[r, b]
    o = 2 * (q - k) + k
    out[0, r, o] = re[r, a] + re[r, b]
    out[1, r, o] = im[r, a] + im[r, b]
    out[0, r, o + step] = xr * c - xi * s
    out[1, r, o + step] = xr * s + xi * c


@wb.kernel
def bodies(p: wb.array2d[float], f: wb.array2d[float]):
    """Forces of all on each."""
    i = wb.tid()
    x, y, z = p[i, 0], p[i, 1], p[i, 2]
    ax = 0.0
    ay = 0.0
    az = 0.0
    for j in range(p.shape[0]):
        dx, dy, dz = p[j, 0] - x, p[j, 1] - y, p[j, 2] - z
        r = 1.0 / wb.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
        w = r * r * r
        ax += w * dx
        ay += w * dy
        az += w * dz
    f[i, 0] = ax
    f[i, 1] = ay
    f[i, 2] = az


@wb.kernel
def attention(q: wb.array2d[float], k: wb.array2d[float], v: wb.array2d[float], y: wb.array2d[float]):
    """A query per thread, with a running maximum."""
    i = wb.tid()
    d = q.shape[1]
    m = -1e30
    for t in range(k.shape[0]):
        s = 0.0
        for c in range(d):
            s += q[i, c] * k[t, c]
        m = wb.max(m, s)
    n = 0.0
    for t in range(k.shape[0]):
        s = 0.0
        for c in range(d):
            s += q[i, c] * k[t, c]
        n += wb.exp(s - m)
    for t in range(k.shape[0]):
        s = 0.0
        for c in range(d):
            s += q[i, c] * k[t, c]
        e = wb.exp(s - m) / n
        for c in range(d):
            y[i, c] += e * v[t, c]


@wb.kernel
def mlp(x: wb.array2d[float], a: wb.array2d[float], b: wb.array[float], c: wb.array[float], y: wb.array[float]):
    """A sample per thread: one hidden layer."""
    i = wb.tid()
    s = 0.0
    for h in range(a.shape[0]):
        t = b[h]
        for k in range(a.shape[1]):
            t += a[h, k] * x[i, k]
        s += c[h] * wb.tanh(t)
    y[i] = s


@wb.kernel
def smoothed(x: wb.array2d[float], a: wb.array[float], y: wb.array[float]):
    """The end of an exponential moving average."""
    i = wb.tid()
    s = 0.0
    for j in range(x.shape[1]):
        s = a[i] * s + (1.0 - a[i]) * x[i, j]
    y[i] = s


@wb.kernel
def lattice(f: wb.array3d[float], g: wb.array3d[float]):
    """A step of a nine-speed lattice Boltzmann method on a torus."""
    i, j = wb.tid()
    h, w = f.shape[1], f.shape[2]
    im, ip, jm, jp = (i + h - 1) % h, (i + 1) % h, (j + w - 1) % w, (j + 1) % w
    f0, f1, f2 = f[0, i, j], f[1, i, jm], f[2, im, j]
    f3, f4, f5 = f[3, i, jp], f[4, ip, j], f[5, im, jm]
    f6, f7, f8 = f[6, im, jp], f[7, ip, jp], f[8, ip, jm]
    rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
    u = (f1 + f5 + f8 - f3 - f6 - f7) / rho
    v = (f2 + f5 + f6 - f4 - f7 - f8) / rho
    k = 1.0 - 1.5 * (u * u + v * v)
    a, b = u + v, v - u
    g[0, i, j] = f0 + 1.2 * (0.44444444 * rho * k - f0)
    g[1, i, j] = f1 + 1.2 * (0.11111111 * rho * (k + 3.0 * u + 4.5 * u * u) - f1)
    g[2, i, j] = f2 + 1.2 * (0.11111111 * rho * (k + 3.0 * v + 4.5 * v * v) - f2)
    g[3, i, j] = f3 + 1.2 * (0.11111111 * rho * (k - 3.0 * u + 4.5 * u * u) - f3)
    g[4, i, j] = f4 + 1.2 * (0.11111111 * rho * (k - 3.0 * v + 4.5 * v * v) - f4)
    g[5, i, j] = f5 + 1.2 * (0.02777778 * rho * (k + 3.0 * a + 4.5 * a * a) - f5)
    g[6, i, j] = f6 + 1.2 * (0.02777778 * rho * (k + 3.0 * b + 4.5 * b * b) - f6)
    g[7, i, j] = f7 + 1.2 * (0.02777778 * rho * (k - 3.0 * a + 4.5 * a * a) - f7)
    g[8, i, j] = f8 + 1.2 * (0.02777778 * rho * (k - 3.0 * b + 4.5 * b * b) - f8)


@wb.kernel
def lattice_hand(f: wb.array3d[float], d: wb.array3d[float], t: wb.array3d[float]):
    """The adjoint of the collision, where the values came to."""
    i, j = wb.tid()
    h, w = f.shape[1], f.shape[2]
    im, ip, jm, jp = (i + h - 1) % h, (i + 1) % h, (j + w - 1) % w, (j + 1) % w
    f0, f1, f2 = f[0, i, j], f[1, i, jm], f[2, im, j]
    f3, f4, f5 = f[3, i, jp], f[4, ip, j], f[5, im, jm]
    f6, f7, f8 = f[6, im, jp], f[7, ip, jp], f[8, ip, jm]
    d0, d1, d2, d3, d4 = d[0, i, j], d[1, i, j], d[2, i, j], d[3, i, j], d[4, i, j]
    d5, d6, d7, d8 = d[5, i, j], d[6, i, j], d[7, i, j], d[8, i, j]
    rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
    r = 1.0 / rho
    u = (f1 + f5 + f8 - f3 - f6 - f7) * r
    v = (f2 + f5 + f6 - f4 - f7 - f8) * r
    k = 1.0 - 1.5 * (u * u + v * v)
    a, b = u + v, v - u
    e0, e1, e2, e3, e4 = 0.53333333 * d0, 0.13333333 * d1, 0.13333333 * d2, 0.13333333 * d3, 0.13333333 * d4
    e5, e6, e7, e8 = 0.03333333 * d5, 0.03333333 * d6, 0.03333333 * d7, 0.03333333 * d8
    e = e0 + e1 + e2 + e3 + e4 + e5 + e6 + e7 + e8
    m13, m24, m57, m68 = e1 - e3, e2 - e4, e5 - e7, e6 - e8
    p13, p24, p57, p68 = e1 + e3, e2 + e4, e5 + e7, e6 + e8
    dr = e * k + 3.0 * (m13 * u + m24 * v + m57 * a + m68 * b)
    dr += 4.5 * (p13 * u * u + p24 * v * v + p57 * a * a + p68 * b * b)
    du = rho * (3.0 * (m13 + m57 - m68) + 9.0 * (p13 * u + p57 * a - p68 * b) - 3.0 * e * u)
    dv = rho * (3.0 * (m24 + m57 + m68) + 9.0 * (p24 * v + p57 * a + p68 * b) - 3.0 * e * v)
    x, y = du * r, dv * r
    dr -= (du * u + dv * v) * r
    t[0, i, j] = dr - 0.2 * d0
    t[1, i, j] = dr - 0.2 * d1 + x
    t[2, i, j] = dr - 0.2 * d2 + y
    t[3, i, j] = dr - 0.2 * d3 - x
    t[4, i, j] = dr - 0.2 * d4 - y
    t[5, i, j] = dr - 0.2 * d5 + x + y
    t[6, i, j] = dr - 0.2 * d6 - x + y
    t[7, i, j] = dr - 0.2 * d7 - x - y
    t[8, i, j] = dr - 0.2 * d8 + x - y


@wb.kernel
def lattice_shift(t: wb.array3d[float], gf: wb.array3d[float]):
    """The adjoint of the streaming."""
    i, j = wb.tid()
    h, w = t.shape[1], t.shape[2]
    im, ip, jm, jp = (i + h - 1) % h, (i + 1) % h, (j + w - 1) % w, (j + 1) % w
    gf[0, i, j] = t[0, i, j]
    gf[1, i, j] = t[1, i, jp]
    gf[2, i, j] = t[2, ip, j]
    gf[3, i, j] = t[3, i, jm]
    gf[4, i, j] = t[4, im, j]
    gf[5, i, j] = t[5, ip, jp]
    gf[6, i, j] = t[6, ip, jm]
    gf[7, i, j] = t[7, im, jm]
    gf[8, i, j] = t[8, im, jp]


def hand(*launches: tuple[Any, Any, Callable[[list[Any], Any, list[Any]], list[Any]]]) -> Callable[..., Any]:
    """Launches one after the other: kernel, threads, and arguments from (inputs, seed, gradients)."""

    def make(inputs: list[Any], seed: Any, gradients: list[Any]) -> Callable[[], None]:
        bound = [(kernel, dim, args(inputs, seed, gradients)) for kernel, dim, args in launches]

        def run() -> None:
            for kernel, dim, args in bound:
                wb.launch(kernel, dim, args)

        return run

    return make


def conv_hand(inputs: list[Any], seed: Any, gradients: list[Any]) -> Callable[[], None]:
    """Gather, and sum."""
    c, o, n = 8, 16, 64
    gz, part, (x, w, y) = wb.zeros((o, n + 4, n + 4)), wb.zeros((o * c * 9, n)), inputs
    flat = gradients[1].reshape((o * c * 9,))

    def run() -> None:
        wb.launch(conv_mask, (o, n, n), [y, seed, gz])
        wb.launch(conv_hand_x, (c, n + 2, n + 2), [gz, w, gradients[0]])
        wb.launch(conv_hand_w, (o * c * 9, n), [gz, x, part, n])
        wb.launch(conv_fold, o * c * 9, [part, flat])

    return run


def lattice_by_hand(inputs: list[Any], seed: Any, gradients: list[Any]) -> Callable[[], None]:
    """Two launches."""
    t = wb.zeros(seed.shape)
    n = seed.shape[1]

    def run() -> None:
        wb.launch(lattice_hand, (n, n), [inputs[0], seed, t])
        wb.launch(lattice_shift, (n, n), [t, gradients[0]])

    return run


def cases() -> list[Case]:
    """All rows."""
    rows = normal(2048, 512)
    image, filters = normal(8, 66, 66), normal(16, 8, 3, 3, scale=0.1)
    ids = RANDOM.integers(0, 5000, 20000).astype(np.int32)
    populations = (np.array(WEIGHTS)[:, None, None] * (1 + 0.1 * RANDOM.random((9, 256, 256)))).astype(np.float32)
    lse = jax.scipy.special.logsumexp
    first = lambda inputs, seed, grads: [inputs[0], seed, grads[0]]  # noqa: E731
    return [
        Case("map sin·exp 1e6", map_, 1 << 20, [normal(1 << 20)], (1 << 20,), lambda x: jnp.sin(x) * jnp.exp(-x)),
        Case("stencil 1d 1e6", stencil_1d, (1 << 20) - 2, [normal(1 << 20)], (1 << 20,),
             lambda x: jnp.pad(0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:], 1)),
        Case("stencil 2d 1024²", stencil_2d, (1022, 1022), [normal(1024, 1024)], (1024, 1024),
             lambda x: jnp.pad(0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) - x[1:-1, 1:-1], 1),
             ),
        Case("stencil 3d clamped 96³", stencil_3d, (96, 96, 96), [normal(96, 96, 96)], (96, 96, 96), jax_stencil_3d),
        Case("stencil torus 1024²", wrapped, (1024, 1024), [normal(1024, 1024)], (1024, 1024),
             lambda x: jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1) - 4 * x),
        Case("reduce 1e6", reduce, 1 << 20, [normal(1 << 20)], (1,), lambda x: (x * x).sum()[None]),
        Case("softmax 2048×512", softmax, 2048, [rows], (2048, 512), lambda x: jax.nn.softmax(x, 1),
             hand((softmax_hand, 2048, first))),
        Case("log-sum-exp 2048×512", log_sum_exp, 2048, [rows], (2048,), lambda x: lse(x, 1),
             hand((log_sum_exp_hand, 2048, first))),
        Case("row max 2048×512", row_max, 2048, [rows], (2048,), lambda x: x.max(1), hand((row_max_hand, 2048, first))),
        Case("row product 2048×512", row_product, 2048, [1.0 + 0.01 * rows], (2048,), lambda x: x.prod(1)),
        Case("moving average 2048×512", smoothed, 2048, [rows, np.full(2048, 0.9, np.float32)], (2048,), jax_smoothed),
        Case("layer norm 2048×512", layer_norm, 2048, [rows, normal(512), normal(512)], (2048, 512), jax_norm),
        Case("conv 8→16 64²", conv, (16, 64, 64), [image, filters], (16, 64, 64), jax_conv),
        Case("conv + relu", conv_relu, (16, 64, 64), [image, filters], (16, 64, 64),
             lambda x, w: jax.nn.relu(jax_conv(x, w)), conv_hand),
        Case("matmul 192³", matmul, (192, 192), [normal(192, 192), normal(192, 192)], (192, 192), jnp.matmul,
             hand((matmul_hand_a, (192, 192), lambda i, g, d: [g, i[1], d[0]]),
                  (matmul_hand_b, (192, 192), lambda i, g, d: [g, i[0], d[1]]))),
        Case("n-body 1024", bodies, 1024, [normal(1024, 3)], (1024, 3), jax_bodies),
        Case("LBM 256²", lattice, (256, 256), [populations], (9, 256, 256), jax_lattice, lattice_by_hand),
        Case("MLP per thread 8192", mlp, 8192, [normal(8192, 16), normal(32, 16, scale=0.3), normal(32), normal(32)],
             (8192,), lambda x, a, b, c: jnp.tanh(x @ a.T + b) @ c),
        Case("attention 512×64", attention, 512, [normal(512, 64, scale=0.3), normal(512, 64, scale=0.3),
             normal(512, 64)], (512, 64), lambda q, k, v: jax.nn.softmax(q @ k.T, 1) @ v),
        Case("embedding 20000×64", embedding, (20000, 64), [normal(5000, 64), ids], (20000, 64),
             lambda e: e[ids] * 2.0,
             hand((embedding_hand, 64, lambda i, g, d: [i[1], g, d[0], 20000]))),
        Case("FFT stage 512×1024", butterfly, (512, 512), [normal(512, 1024), normal(512, 1024), 4], (2, 512, 1024),
             jax_butterfly),
    ]  # fmt: skip


def calls(case: Case) -> dict[str, Callable[[], Any]]:
    """What is timed, after its gradient was compared."""
    floats = [x for x in case.inputs if isinstance(x, np.ndarray) and x.dtype == np.float32]
    held = [wb.array(x, requires_grad=x.dtype == np.float32) if isinstance(x, np.ndarray) else x for x in case.inputs]
    result, wanted = wb.zeros(case.shape, requires_grad=True), [x for x in held if getattr(x, "requires_grad", False)]
    arguments = [*held[:2], result, held[2]] if case.kernel is butterfly else [*held, result]
    seed = normal(*case.shape)
    given = wb.array(seed)
    function, numbers = case.function, [jnp.asarray(x) for x in floats]
    added = case.kernel is attention or case.kernel is reduce  # to what the result held

    def forward() -> None:
        if added:
            result.zero_()
        wb.launch(case.kernel, case.dim, arguments)

    def tape(accumulate: bool = False) -> None:
        if added:
            result.zero_()
        with wb.Tape(accumulate=accumulate) as recorded:
            wb.launch(case.kernel, case.dim, arguments)
        recorded.backward(grads={result: given})
        slopes[:] = [x.grad.numpy().copy() for x in wanted] if check else []
        if accumulate:
            recorded.zero()

    pulled = jax.jit(lambda seed, *args: (lambda made: (made[0], made[1](seed)))(jax.vjp(function, *args)))
    slopes: list[np.ndarray] = []
    check = True
    for _ in range(2):  # what the second one sets held the gradient of the first
        tape()
    with jax.enable_x64(True):
        doubles = [jnp.asarray(x, jnp.float64) for x in (*floats, seed)]
        exact = [np.asarray(g) for g in jax.vjp(function, *doubles[:-1])[1](doubles[-1])]
    compare(case, slopes, exact)
    check = False
    jitted, seeds = jax.jit(function), jnp.asarray(seed)
    timed: dict[str, Callable[[], Any]] = {"forward": forward, "gradient": tape, "accumulated": lambda: tape(True)}
    if case.hand is not None:
        gradients = [wb.zeros(x.shape) for x in floats]
        adjoint = timed["by hand"] = case.hand([*held, result], given, gradients)
        forward()
        adjoint()
        compare(case, [g.numpy() for g in gradients], exact)

        def program() -> None:
            forward()
            adjoint()

        timed["program by hand"] = program
    if available():
        timed |= warp_calls(case, seed, added, exact)
    timed["jax forward"] = lambda: jax.block_until_ready(jitted(*numbers))
    timed["jax gradient"] = lambda: jax.block_until_ready(pulled(seeds, *numbers))
    return timed | second_order(case, held, given)


def warp_calls(case: Case, seed: np.ndarray, added: bool, exact: Sequence[Any]) -> dict[str, Callable[[], Any]]:
    """Warp's launch, and its gradient if that is right."""
    position = 2 if case.kernel is butterfly else len(case.inputs)
    name = next(name for name, value in globals().items() if value is case.kernel)
    kernel = translated(with_funcs(Path(__file__), name), name)
    timed, slopes = calls_of_warp(kernel, case.dim, case.inputs, position, seed, added)
    if difference(slopes, exact) > case.slack:
        del timed["warp gradient"]
    return timed


def second_order(case: Case, held: Sequence[Any], seed: wb.array) -> dict[str, Callable[[], Any]]:
    """The gradient and the product with the Hessian by the first input, after that was compared."""
    others = [wb.array(x) if isinstance(x, wb.array) else x for x in held[1:]]
    floats = [x for x in case.inputs if isinstance(x, np.ndarray) and x.dtype == np.float32]
    x, along, swapped = wb.array(floats[0]), normal(*floats[0].shape), case.kernel is butterfly

    def total(x: wb.array) -> wb.array:
        result = wb.zeros(case.shape)
        wb.launch(case.kernel, case.dim, [x, *others[:1], result, *others[1:]] if swapped else [x, *others, result])
        return (result * seed).sum()

    gradient, product, direction = wb.grad(total), wb.hvp(total), wb.array(along)
    with jax.enable_x64(True):
        first, *rest, weights = [jnp.asarray(v, jnp.float64) for v in (*floats, seed.numpy())]
        slope = jax.grad(lambda first: (case.function(first, *rest) * weights).sum())
        exact = np.asarray(jax.jvp(slope, (first,), (jnp.asarray(along, jnp.float64),))[1])
    compare(case, [product(x, along=direction).numpy()], [exact])
    return {"one gradient": lambda: gradient(x), "hvp": lambda: product(x, along=direction)}


def difference(slopes: Sequence[np.ndarray], exact: Sequence[Any]) -> float:
    """Return the greatest difference of gradients from the right ones, relative to their largest; inf for NaN."""
    pairs = [(got.reshape(right.shape), right) for got, right in zip(slopes, exact, strict=True)]
    worst = [float(np.max(np.abs(got - right)) / max(np.max(np.abs(right)), 1e-30)) for got, right in pairs]
    return max(error if error == error else float("inf") for error in worst)


def compare(case: Case, slopes: Sequence[np.ndarray], exact: Sequence[Any]) -> None:
    """Stop at a wrong gradient."""
    worst = difference(slopes, exact)
    if worst > case.slack:
        raise SystemExit(f"{case.name}: a gradient is wrong by {worst:.1e}")


def least(timed: dict[str, Callable[[], Any]]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the processor seconds and the wall seconds of each call, those of the quickest turn."""
    repeat: dict[str, int] = {}
    for name, call in timed.items():
        call()
        began = time.perf_counter()
        call()
        repeat[name] = max(1, int(TURN / max(time.perf_counter() - began, 1e-6)))
    processor: dict[str, float] = dict.fromkeys(timed, float("inf"))
    wall = dict(processor)
    for turn in range(ROUNDS):
        for name in list(timed) if turn % 2 else list(timed)[::-1]:
            began, clock = time.process_time(), time.perf_counter()
            for _ in range(repeat[name]):
                timed[name]()
            processor[name] = min(processor[name], (time.process_time() - began) / repeat[name])
            wall[name] = min(wall[name], (time.perf_counter() - clock) / repeat[name])
    return processor, wall


def line(name: str, t: dict[str, float], wall: dict[str, float]) -> str:
    """A row of the table, from processor seconds and wall seconds."""
    backward = t["gradient"] - t["forward"]
    by_hand = f"{t['by hand'] * 1e3:.3g} | {backward / t['by hand']:.2f}" if "by hand" in t else "– | –"
    program = t.get("program by hand", 0.0) - t["forward"]
    by_hand += f" | {backward / program:.2f}" if program > 0 else " | –"
    added = f"{t['accumulated'] * 1e3:.3g}" if "accumulated" in t else "–"
    ours = f"{t['forward'] * 1e3:.3g} | {t['gradient'] * 1e3:.3g} | {added} | {backward / t['forward']:.1f} | {by_hand}"
    theirs = t["jax gradient"] - t["jax forward"]
    peer = f"{theirs / t['jax forward']:.1f} | {t['jax forward'] / t['forward']:.2f} "
    warp = ["–" if "warp forward" not in t else f"{t['warp forward'] / t['forward']:.2f}", "–"]
    if "warp forward" in t:
        warp[1] = f"{t['warp gradient'] / t['gradient']:.2f}" if "warp gradient" in t else "wrong"
    second = f"{t['hvp'] / t['one gradient']:.1f}" if "hvp" in t else "–"
    gradient = f"{t['jax gradient'] / t['gradient']:.2f} | {wall['jax gradient'] / wall['gradient']:.2f}"
    return f"| {name} | {ours} | {peer}| {gradient} | {' | '.join(warp)} | {second} |"


HEAD = """# What gradients cost: processor time in ms

A gradient is a run forward and backward that sets the gradients (`Tape(accumulate=False)`), as `jax.grad` returns them;
backward is that without the forward run; accumulated: adding to gradients, and setting them to 0. By hand are the
kernels of an adjoint alone; the program by hand runs forward, too. `jax / ours` and `warp / ours` are their times over
ours (Warp accumulates); *wrong*: Warp's gradient is not the right one, and was not timed.
`python benchmarks/gradients.py --only NAME …` measures the rows again whose names begin so.

| | forward | gradient | accumulated | backward / forward | by hand | backward / by hand |\
 backward / program by hand | jax: backward / forward | jax / ours, forward | jax / ours, gradient |\
 the same by wall time | warp / ours, forward | warp / ours, gradient | hvp / gradient |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def keep(times: dict[str, dict[str, float]], walls: dict[str, dict[str, float]]) -> None:
    """Write all rows measured so far, in order: processor seconds and wall seconds."""
    facts = machine()
    about = ", ".join(f"{name} {value}" for name, value in facts.items() if value)
    kept = {"machine": facts, "when": time.strftime("%Y-%m-%d"), "seconds": times, "wall": walls}
    (RESULTS / "gradients.json").write_text(json.dumps(kept, indent=1) + "\n")
    rows = "".join(line(name, t, walls[name]) + "\n" for name, t in times.items())
    load = f"under a load of {LOAD:.0f} when the last row began"
    (RESULTS / "gradients.md").write_text(f"{HEAD}{rows}\nThe quickest turn of {ROUNDS}, {load}. {about}\n")


def main(names: Sequence[str]) -> None:
    """Time the rows whose names begin so, or all, and keep them beside those measured before."""
    before = RESULTS / "gradients.json"
    stored = json.loads(before.read_text()) if before.exists() else {}
    times: dict[str, dict[str, float]] = stored.get("seconds", {}) if "wall" in stored else {}
    walls: dict[str, dict[str, float]] = stored.get("wall", {})
    every = cases()
    print(HEAD, end="", flush=True)
    for case in every:
        if not names or case.name.startswith(tuple(names)):
            times[case.name], walls[case.name] = least(calls(case))
            print(line(case.name, times[case.name], walls[case.name]), flush=True)
            measured = [c.name for c in every if c.name in times]
            keep({name: times[name] for name in measured}, {name: walls[name] for name in measured})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME")
    main(parser.parse_args().only)
