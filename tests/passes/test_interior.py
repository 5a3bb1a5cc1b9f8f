"""Threads at a border apart from those inside: which kernels are split, and that each thread does what it did."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.api.builds.build import ir_of
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu import machine
from workbench.ir.values import Function, walk
from workbench.passes.loops.peeling import peel_boundaries, peeled_parts

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
def wide_ring(n: wb.int64, x: FLOATS, y: FLOATS):
    i = wb.int64(wb.tid())
    y[i] = x[(i - 1 + n) % n] + 2.0 * x[(i + 1) % n] + 4.0 * x[max(i - 2, 0)] + 8.0 * x[min(i + 2, n - 1)]


@wb.kernel
def wide_size(n: wb.int64, x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[(i - 1 + n) % n] + 2.0 * x[(i + 1) % n] + 4.0 * x[max(i - 2, 0)] + 8.0 * x[min(i + 2, n - 1)]


@wb.kernel
def unsigned_ring(n: wb.uint32, x: FLOATS, y: FLOATS):
    i, one = wb.uint32(wb.tid()), wb.uint32(1)
    two = one + one
    y[i] = x[(i - one + n) % n] + 2.0 * x[(i + one) % n] + 4.0 * x[i - min(i, two)] + 8.0 * x[min(i + two, n - one)]


@wb.kernel
def chosen_ring(n: int, x: FLOATS, y: FLOATS):
    i = wb.tid()
    before = i - 1 if i > 0 else n - 1
    after = i + 1
    if after == n:
        after = 0
    y[i] = x[before] + 2.0 * x[after] + 4.0 * x[wb.where(i < 2, 0, i - 2)] + 8.0 * x[min(i + 2, n - 1)]


@wb.kernel
def masked_ring(n: int, x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[(i - 1) & (n - 1)] + 2.0 * x[(n - 1) & (i + 1)] + 4.0 * x[max(i - 2, 0)] + 8.0 * x[min(i + 2, n - 1)]


@wb.kernel
def remainder_ring(n: int, x: FLOATS, y: FLOATS):
    """`%` as in C."""
    i = wb.tid()
    before, after = i - 1 + n, i + 1
    r, s = before % n, after % n
    r = wb.where(r != 0 and (before < 0) != (n < 0), r - n, r)
    s = wb.where(s != 0 and (after < 0) != (n < 0), s - n, s)
    y[i] = x[r] + 2.0 * x[s] + 4.0 * x[max(i - 2, 0)] + 8.0 * x[min(i + 2, n - 1)]


RINGS = [wide_ring, wide_size, chosen_ring, masked_ring, remainder_ring]


@wb.kernel
def padded(x: IMAGE, w: IMAGE, k: int, y: IMAGE):
    i, j = wb.tid()
    s = 0.0
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            r = i + a + k
            c = j + b - w.shape[1] // 2
            if r >= 0 and r < x.shape[0] and not (c < 0 or x.shape[1] <= c):
                s += x[r, c] * w[a, b]
    y[i, j] = s


@wb.kernel
def filtered(x: IMAGE, w: IMAGE, y: IMAGE):
    i, j = wb.tid()
    s = 0.0
    for a in range(9):
        for b in range(5):
            s += x[(i + a - 4) % x.shape[0], wb.clamp(j + b - 2, 0, x.shape[1] - 1)] * w[a, b]
    y[i, j] = s


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
def within_steps(step: int, x: IMAGE, y: IMAGE):
    i, j = wb.tid()
    k = j % step
    y[i, j] = x[i, 2 * (j - k) + k] + x[i, k + 1]


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


@wb.kernel
def shifted(a: int, b: int, y: wb.array(dtype=int)):
    i = wb.tid()
    if i + a > 0 and i > 1 and i - b < 90:
        y[i] = 1


def split(kernel: wb.Kernel) -> Function:
    return peel_boundaries(kernel.specialise().function)


@pytest.mark.parametrize("n", [1, 2, 4, 16, 64, 1024])
@pytest.mark.parametrize("kernel", [*RINGS, unsigned_ring], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("checks", [False, True])
def test_rings_of_every_spelling(kernel: wb.Kernel, n: int, checks: bool) -> None:
    x, i = np.random.default_rng(n).integers(-9, 9, n).astype(np.float32), np.arange(n)
    want = np.roll(x, 1) + 2 * np.roll(x, -1) + 4 * x[np.maximum(i - 2, 0)] + 8 * x[np.minimum(i + 2, n - 1)]
    y = wb.zeros(n)
    wb.launch(kernel, n, [n, wb.array(x)], [y], checks=checks)
    assert (y.numpy() == want).all()


@wb.kernel
def far(n: wb.int64, shift: wb.int64, limit: wb.int64, y: wb.array(dtype=wb.int64)):
    i = wb.int64(wb.tid())
    k = (i + shift) % n
    y[i % wb.int64(len(y))] = k + max(i - limit, wb.int64(-5)) + min(i + limit, wb.int64(5))


@pytest.mark.parametrize("n", [1, 100, 2**31, 2**47 + 1, 2**63 - 1, -7, -(2**63)])
@pytest.mark.parametrize("shift", [0, -3, 2**31, 2**62, 2**63 - 50, -(2**63)])
def test_numbers_of_64_bits_wrap_as_they_do(n: int, shift: int) -> None:
    i, y = np.arange(99, dtype=np.int64), wb.zeros(99, dtype=wb.int64)
    wb.launch(far, 99, [n, shift, shift, y])
    with np.errstate(over="ignore"):
        k, less, more = i + np.int64(shift), i - np.int64(shift), i + np.int64(shift)
        want = k % np.int64(n) + np.maximum(less, -5) + np.minimum(more, 5)
    assert (y.numpy() == want).all()


@pytest.mark.parametrize(
    "kernel", [clamped, periodic, round_and_round, guarded, *RINGS], ids=lambda kernel: kernel.name
)
def test_nothing_is_clamped_inside(kernel: wb.Kernel) -> None:
    found = peeled_parts(split(kernel))
    assert found is not None
    last = {op.operands[1 + op.operands[0].type.ndim - 1] for op in walk(found.inside) if op.name == "load"}
    makers = {op.name for op in walk(found.inside) if not last.isdisjoint(op.results)}
    assert makers <= {"tid", "add", "sub", "cast"}
    assert sum(op.name == "load" for op in walk(found.border)) == sum(op.name == "load" for op in walk(found.inside))


@pytest.mark.parametrize("kernel", [nearly_all_border, no_index, by_element, across], ids=lambda k: k.name)
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


@wb.kernel
def straight(x: IMAGE, y: IMAGE):
    i, j = wb.tid()
    n, m = x.shape[0], x.shape[1]
    y[i, j] = x[i, (j + m - 2) % m] + 2.0 * x[max(i - 1, 0), min(j + 3, m - 1)]
    if j > 0 and j < m - 1:
        y[i, j] += 4.0 * x[(i + 1) % n, j - 1]


@pytest.mark.parametrize("m", [2, 3, 5, 15, 16, 17, 31, 33, 64, 100])
@pytest.mark.parametrize("checks", [False, True])
def test_straight_code_at_a_border(m: int, checks: bool) -> None:
    x = np.random.default_rng(m).integers(-9, 9, (5, m)).astype(np.float32)
    i, j = np.arange(5)[:, None], np.arange(m)
    want = x[i, (j - 2) % m] + 2 * x[np.maximum(i - 1, 0), np.minimum(j + 3, m - 1)]
    want[:, 1:-1] += 4 * np.roll(x, -1, 0)[:, : m - 2]
    y = wb.zeros(x.shape)
    wb.launch(straight, x.shape, [wb.array(x), y], checks=checks)
    assert (y.numpy() == want).all()


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


SHAPES = [(1, 1), (3, 2), (5, 4), (19, 70), (12, 150)]


@pytest.mark.parametrize("a", [-3, 2**31 - 1, 2**31 - 9, -(2**31)])
@pytest.mark.parametrize("b", [3, -(2**31), -(2**31) + 9, 2**31 - 1])
def test_conditions_on_sums_that_wrap(a: int, b: int) -> None:
    i = np.arange(99, dtype=np.int64)
    want = ((i + a).astype(np.int32) > 0) & (i > 1) & ((i - b).astype(np.int32) < 90)
    y = wb.zeros(99, dtype=int)
    wb.launch(shifted, 99, [a, b, y], checks=False)
    assert (y.numpy() == want).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_border_of_zeros(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(0)
    x, w = (draw.integers(-9, 9, s).astype(np.float32) for s in (shape, (3, 5)))
    wide = np.pad(x, ((1, 1), (2, 2)))
    taps = [(a, b) for a in range(3) for b in range(5)]
    want = sum(wide[a : a + shape[0], b : b + shape[1]] * w[a, b] for a, b in taps)
    y = wb.zeros(shape)
    wb.launch(padded, shape, [wb.array(x), wb.array(w), -1, y])
    assert (y.numpy() == want).all()
    # Sums that wrap are negative, and so in no row.
    wb.launch(padded, shape, [wb.array(x), wb.array(w), 2**31 - 2, y])
    assert not y.numpy().any()


def test_rows_at_a_border_have_no_threads_inside() -> None:
    found = peeled_parts(split(padded))
    assert found is not None
    assert "if" not in {op.name for op in walk(found.inside)}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradient_of_a_filter(shape: tuple[int, int]) -> None:
    n, m = shape
    draw = np.random.default_rng(0)
    x, w, seed = (draw.integers(-4, 5, s).astype(np.float32) for s in (shape, (9, 5), shape))
    of_x, of_w = np.zeros_like(x), np.zeros_like(w)
    for a in range(9):
        for b in range(5):
            rows, columns = (np.arange(n)[:, None] + a - 4) % n, np.clip(np.arange(m) + b - 2, 0, m - 1)
            np.add.at(of_x, (rows, columns), seed * w[a, b])
            of_w[a, b] = (x[rows, columns] * seed).sum()
    given, weights, y = wb.array(x, requires_grad=True), wb.array(w, requires_grad=True), wb.zeros(shape)
    with wb.Tape() as tape:
        wb.launch(filtered, shape, [given, weights, y])
    tape.backward(grads={y: wb.array(seed)})
    # Small integers: no sum is rounded, in whatever order.
    assert (given.grad.numpy() == of_x).all()
    assert (weights.grad.numpy() == of_w).all()


def test_the_gradient_of_a_filter_has_an_inside_that_gangs_take() -> None:
    adjoint = ir_of(filtered.specialise().function, "adjoint", False, 16)
    assert peeled_parts(peel_boundaries(adjoint)) is not None
    assert cpu.emitted(adjoint, Options(few_cores=True), machine.target()).gangs


@wb.kernel
def windowed(x: wb.array[wb.float32], w: wb.array[wb.float32], y: wb.array[wb.float32]):
    i = wb.tid()
    s = 0.0
    for d in range(len(w)):
        s += x[min(max(i + d - 2, 0), len(x) - 1)] * w[d]
    y[i] = s


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 7), (100, 9), (1000, 40)])
def test_rows_held_in_slots_beside_a_border(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    x, w, seed = (rng.normal(size=size).astype(np.float32) for size in (n, m, n))
    ours = [wb.array(x, requires_grad=True), wb.array(w, requires_grad=True)]
    y = wb.zeros(n, dtype=float, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(windowed, n, inputs=ours, outputs=[y])
    tape.backward(grads={y: seed})
    read = np.clip(np.arange(n)[:, None] + np.arange(m) - 2, 0, n - 1)
    to_x = np.zeros(n)
    np.add.at(to_x, read, seed[:, None] * w)
    np.testing.assert_allclose(y.numpy(), (x[read] * w).sum(1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ours[0].grad.numpy(), to_x, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(ours[1].grad.numpy(), (x[read] * seed[:, None]).sum(0), rtol=1e-3, atol=1e-3)


@wb.kernel
def wrapped_in_a_loop(n: int, x: IMAGE, y: IMAGE):
    i, j = wb.tid()
    s = 0.0
    for k in range(4):
        s += x[k, j % n] * float(k + 1)
    y[i, j] = s


@pytest.mark.parametrize("m", [1, 15, 16, 70, 150, 300])
@pytest.mark.parametrize("n", [1, 3, 64, 70])
def test_an_index_modulo_a_size_that_rows_exceed(n: int, m: int) -> None:
    x = np.random.default_rng(m).random((4, n), dtype=np.float32)
    y, expected = wb.zeros((5, m)), np.zeros((5, m), np.float32)
    wb.launch(wrapped_in_a_loop, y.shape, [n, wb.array(x)], [y])
    for k in range(4):
        expected += x[k, np.arange(m) % n] * np.float32(k + 1)
    assert y.numpy().tobytes() == expected.tobytes()
    wide, two = np.random.default_rng(n).random((5, 4 * m + 2 * n), dtype=np.float32), wb.zeros((5, m))
    wb.launch(within_steps, (5, m), [n, wb.array(wide)], [two])
    i = np.arange(m)
    assert two.numpy().tobytes() == (wide[:, 2 * (i - i % n) + i % n] + wide[:, i % n + 1]).tobytes()
