"""Threads at a border apart from those inside: which kernels are split, and that each thread does what it did."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.ir.values import Function, walk
from workbench.passes.loops.interior import interior_of, split_border

FLOATS = wb.array(dtype=wb.float32)
IMAGE = wb.array(dtype=wb.float32, ndim=2)
RADIUS = 2


@wb.kernel
def clamped(x: IMAGE, y: IMAGE, total: FLOATS):
    i, j = wb.tid()
    s = 0.0
    for a in range(-RADIUS, RADIUS + 1):
        for b in range(RADIUS, -RADIUS - 1, -2):
            row = wb.clamp(i + a, 0, x.shape[0] - 1)
            s += x[row, min(max(0, j + b), x.shape[1] - 1)] * (float(a) + 0.5)
    y[i, j] = s
    total[0] += s


@wb.kernel
def periodic(shift: int, x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[(i - 1) % x.shape[0]] + 2.0 * x[(i + shift) % x.shape[0]] + 4.0 * x[i - 1]


@wb.kernel
def round_and_round(shift: int, x: FLOATS, y: FLOATS):
    i = wb.tid()
    n = x.shape[0]
    y[i] = x[(i - 1 + n) % n] + 2.0 * x[(x.shape[0] + (i + shift)) % x.shape[0]] + 4.0 * x[(i + n - 1 + shift) % n]


@wb.kernel
def guarded(x: FLOATS, y: FLOATS):
    i = wb.tid()
    if i > 0:
        y[i] = x[i - 1]


@wb.kernel
def nearly_all_border(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[min(i, 3)]


@wb.kernel
def no_index(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[i] * float(min(i, x.shape[0] - 1))


@wb.kernel
def by_element(k: wb.array(dtype=int), x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[wb.clamp(i + k[i], 0, x.shape[0] - 1)]


@wb.kernel
def across(x: IMAGE, y: IMAGE):
    i, j = wb.tid()
    y[i, j] = x[max(i - 1, 0), j]


def split(kernel: wb.Kernel) -> Function:
    return split_border(kernel.specialise().function)


@pytest.mark.parametrize("kernel", [clamped, periodic, round_and_round], ids=lambda kernel: kernel.name)
def test_nothing_is_clamped_inside(kernel: wb.Kernel) -> None:
    found = interior_of(split(kernel))
    assert found is not None
    last = {op.operands[1 + op.operands[0].type.ndim - 1] for op in walk(found.inside) if op.name == "load"}
    makers = {op.name for op in walk(found.inside) if not last.isdisjoint(op.results)}
    assert makers <= {"tid", "add", "sub"}
    assert sum(op.name == "load" for op in walk(found.border)) == sum(op.name == "load" for op in walk(found.inside))


@pytest.mark.parametrize("kernel", [guarded, nearly_all_border, no_index, by_element, across], ids=lambda k: k.name)
def test_other_kernels_stay(kernel: wb.Kernel) -> None:
    assert split(kernel) is kernel.specialise().function


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (5, 4), (7, 5), (19, 70)])
@pytest.mark.parametrize("checks", [False, True])
def test_a_clamped_image(shape: tuple[int, int], checks: bool) -> None:
    n, m = shape
    x = np.random.default_rng(0).random(shape).astype(np.float32)
    want = np.zeros(shape, np.float32)
    for a in range(-2, 3):
        for b in range(2, -3, -2):
            rows, columns = np.clip(np.arange(n) + a, 0, n - 1), np.clip(np.arange(m) + b, 0, m - 1)
            want += x[rows][:, columns] * np.float32(a + 0.5)
    y, total = wb.zeros(shape), wb.zeros(1)
    wb.launch(clamped, shape, [wb.array(x)], [y, total], checks=checks)
    assert y.numpy().tobytes() == want.tobytes()
    np.testing.assert_allclose(total.numpy()[0], want.astype(np.float64).sum(), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("shift", [0, 1, -1, 63, 64, 65, -700, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("n", [1, 2, 64, 1000])
def test_a_periodic_row(shift: int, n: int) -> None:
    x = np.random.default_rng(1).random(n).astype(np.float32)
    i = np.arange(n, dtype=np.int32)
    far = (i + np.int32(shift)) % np.int32(n)  # the sum wraps, as in the kernel
    want = x[(i - 1) % n] + np.float32(2) * x[far] + np.float32(4) * x[i - 1]
    y = wb.zeros(n)
    wb.launch(periodic, n, [shift, wb.array(x)], [y])
    assert y.numpy().tobytes() == want.astype(np.float32).tobytes()
    far = i + np.int32(shift) + np.int32(n)
    want = x[(i - 1) % n] + np.float32(2) * x[far % np.int32(n)] + np.float32(4) * x[(far - np.int32(1)) % np.int32(n)]
    wb.launch(round_and_round, n, [shift, wb.array(x)], [y])
    assert y.numpy().tobytes() == want.astype(np.float32).tobytes()
