"""Kernels in which threads add to elements that they share, by how an element is shared, with the sizes of a launch."""

from __future__ import annotations

from dataclasses import dataclass

import workbench as wb
from workbench.api.kernels.kernel import Kernel

A1 = wb.array(dtype=wb.float32)
A2 = wb.array(dtype=wb.float32, ndim=2)
A3 = wb.array(dtype=wb.float32, ndim=3)
D1 = wb.array(dtype=wb.float64)
H1 = wb.array(dtype=wb.float16)
V1 = wb.array(dtype=wb.vec3)
I1 = wb.array(dtype=wb.int32)


@dataclass(frozen=True)
class Sums:
    """A kernel of sums.

    Attributes:
        kernel: the kernel.
        dims: of a launch of it.
        shapes: of its arrays, in the order of the parameters.
        direction: what is derived from it.
    """

    kernel: Kernel
    dims: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    direction: str = "forward"


@wb.kernel
def parity(x: A1, y: A1):
    i = wb.tid()
    wb.atomic_add(y, i % 2, wb.sin(x[i]) * wb.exp(x[i]) + wb.cos(x[i] * 0.1) * wb.exp(0.5 - x[i]))


@wb.kernel
def blocks_of_ten(x: A1, y: A1):
    i = wb.tid()
    wb.atomic_add(y, i // 10, wb.sin(x[i]) * wb.exp(x[i]) + wb.cos(x[i] * 0.1) * wb.exp(0.5 - x[i]))


@wb.kernel
def row_sums(x: A2, y: A1):
    i, j = wb.tid()
    wb.atomic_add(y, i, x[i, j])


@wb.kernel
def row_sums_that_compute(x: A2, y: A1):
    i, j = wb.tid()
    s = x[i, j]
    for _ in range(30):
        s = wb.sin(s) + 1.0 / (1.0 + s * s)
    wb.atomic_add(y, i, s)


@wb.kernel
def column_sums(x: A2, y: A1):
    i, j = wb.tid()
    wb.atomic_add(y, j, x[i, j])


@wb.kernel
def column_sums_that_compute(x: A2, y: A1):
    i, j = wb.tid()
    s = x[i, j]
    for _ in range(30):
        s = wb.sin(s) + 1.0 / (1.0 + s * s)
    wb.atomic_add(y, j, s)


@wb.kernel
def both_sums(x: A2, y: A1, z: A1):
    i, j = wb.tid()
    v = wb.sin(x[i, j]) * wb.exp(x[i, j] * 0.1) + wb.sqrt(1.0 + x[i, j] * x[i, j]) / (2.0 + x[i, j])
    wb.atomic_add(y, i, v)
    wb.atomic_add(z, j, v * 0.3)


@wb.kernel
def plane_sums(x: A3, y: A2, z: A1):
    i, j, k = wb.tid()
    v = wb.sin(x[i, j, k]) * wb.exp(x[i, j, k] * 0.1) + wb.log(1.0 + x[i, j, k] * x[i, j, k]) * wb.cos(x[i, j, k])
    wb.atomic_add(y, i, j, v)
    wb.atomic_add(z, i, v)


@wb.kernel
def beside(x: A1, y: A1):
    i = wb.tid()
    wb.atomic_add(y, i, x[i] * 0.1)
    wb.atomic_add(y, i + 1, x[i] * 0.7)
    wb.atomic_add(y, i + 2, x[i] / 3.0)


@wb.kernel
def beside_that_computes(x: A1, y: A1):
    i = wb.tid()
    s = x[i]
    for _ in range(40):
        s = wb.sin(s) + 1.0 / (1.0 + s * s)
    wb.atomic_add(y, i, s * 0.1)
    wb.atomic_add(y, i + 1, s * 0.7)
    wb.atomic_add(y, i + 3, s / 3.0)


@wb.kernel
def beside_in_planes(x: A2, y: A2):
    i, j = wb.tid()
    wb.atomic_add(y, i, j, x[i, j])
    wb.atomic_add(y, i + 1, j, x[i, j] * 0.7)
    wb.atomic_add(y, i, j + 1, x[i, j] / 3.0)


@wb.kernel
def clamped(x: A1, y: A1):
    i = wb.tid()
    n = x.shape[0]
    y[i] = x[max(i - 1, 0)] * x[i] + wb.sin(x[min(i + 1, n - 1)]) * 0.3


@wb.kernel
def around(x: A2, y: A2):
    i, j = wb.tid()
    n, m = x.shape[0], x.shape[1]
    y[i, j] = x[(i + 1) % n, j] * x[i, (j + m - 1) % m] + wb.exp(x[i, j] * 0.1)


@wb.kernel
def product(a: A2, b: A2, c: A2):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def bodies(p: V1, a: V1):
    i = wb.tid()
    s = wb.vec3(0.0, 0.0, 0.0)
    for j in range(p.shape[0]):
        d = p[j] - p[i]
        r = wb.sqrt(wb.dot(d, d) + 0.01)
        s += d / (r * r * r)
    a[i] = s


@wb.kernel
def windows(x: A1, w: A1, y: A1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(w.shape[0]):
        s += wb.sin(x[i + k] * w[k])
    y[i] = s


@wb.kernel
def row_weights(x: A2, w: A1, b: A1, y: A2):
    i, j = wb.tid()
    y[i, j] = wb.tanh(x[i, j] * w[i] + b[j])


@wb.kernel
def in_a_branch(x: A2, y: A1):
    i, j = wb.tid()
    if x[i, j] > 0.5:
        wb.atomic_add(y, i, x[i, j])


@wb.kernel
def in_a_loop(x: A2, y: A1):
    i = wb.tid()
    for k in range(x.shape[1]):
        wb.atomic_add(y, k, wb.sin(x[i, k]) / (1.0 + x[i, k]))


@wb.kernel
def in_a_loop_beside(x: A1, y: A1):
    i = wb.tid()
    for k in range(7):
        wb.atomic_add(y, i + k, wb.sin(x[i] + wb.float32(k)))


@wb.kernel
def doubles(x: D1, y: D1):
    i = wb.tid()
    wb.atomic_add(y, i // 16, wb.exp(wb.sin(x[i])) * wb.cos(x[i]) * wb.exp(-x[i]))


@wb.kernel
def vectors(x: V1, y: V1):
    i = wb.tid()
    wb.atomic_add(y, i // 3, x[i] * wb.length(x[i]))


@wb.kernel
def halves_added(x: H1, y: H1):
    i = wb.tid()
    wb.atomic_add(y, i // 5, x[i] * x[i])


@wb.kernel
def rows_of_their_own(x: A2, y: A1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(x.shape[1]):
        s += x[i, k] * x[i, k]
    wb.atomic_add(y, i // 7, wb.sqrt(s))


@wb.kernel
def backwards(x: A1, y: A1):
    i = wb.tid()
    n = x.shape[0]
    wb.atomic_add(y, n - 1 - i, wb.sin(x[i]))
    wb.atomic_add(y, i, wb.exp(-x[i]) * wb.cos(x[i]) * wb.sin(2.0 * x[i]) * wb.exp(x[i] * 0.5))


@wb.kernel
def combined_and_not(x: A2, y: A1, z: A1):
    i, j = wb.tid()
    z[0] += x[i, j]
    wb.atomic_add(y, i, wb.exp(x[i, j]))


@wb.kernel
def integers_and_floats(x: A2, n: I1, y: A1):
    i, j = wb.tid()
    wb.atomic_add(n, j, i)
    wb.atomic_add(y, j, wb.sin(x[i, j]) * wb.exp(x[i, j]) * wb.cos(x[i, j]))


PROGRAMS: dict[str, Sums] = {
    p.kernel.name: p
    for p in (
        Sums(parity, (1500,), ((1500,), (2,))),
        Sums(blocks_of_ten, (1507,), ((1507,), (151,))),
        Sums(row_sums, (9, 130), ((9, 130), (9,))),
        Sums(row_sums_that_compute, (9, 130), ((9, 130), (9,))),
        Sums(column_sums, (9, 130), ((9, 130), (130,))),
        Sums(column_sums_that_compute, (9, 130), ((9, 130), (130,))),
        Sums(both_sums, (9, 130), ((9, 130), (9,), (130,))),
        Sums(plane_sums, (4, 5, 70), ((4, 5, 70), (4, 5), (4,))),
        Sums(beside, (1500,), ((1500,), (1502,))),
        Sums(beside_that_computes, (1500,), ((1500,), (1503,))),
        Sums(beside_in_planes, (9, 130), ((9, 130), (10, 131))),
        Sums(clamped, (1500,), ((1500,), (1500,)), "adjoint"),
        Sums(around, (9, 130), ((9, 130), (9, 130)), "adjoint"),
        Sums(product, (21, 150), ((21, 30), (30, 150), (21, 150)), "adjoint"),
        Sums(bodies, (150,), ((150, 3), (150, 3)), "adjoint"),
        Sums(windows, (700,), ((707,), (7,), (700,)), "adjoint"),
        Sums(row_weights, (9, 130), ((9, 130), (9,), (130,), (9, 130)), "adjoint"),
        Sums(in_a_branch, (9, 130), ((9, 130), (9,))),
        Sums(in_a_loop, (150,), ((150, 37), (37,))),
        Sums(in_a_loop_beside, (700,), ((700,), (707,))),
        Sums(doubles, (1500,), ((1500,), (94,))),
        Sums(vectors, (700,), ((700, 3), (234, 3))),
        Sums(halves_added, (700,), ((700,), (140,))),
        Sums(rows_of_their_own, (150,), ((150, 37), (22,))),
        Sums(backwards, (1500,), ((1500,), (1500,))),
        Sums(combined_and_not, (9, 130), ((9, 130), (9,), (1,))),
        Sums(integers_and_floats, (9, 130), ((9, 130), (130,), (130,))),
    )
}  # fmt: skip
