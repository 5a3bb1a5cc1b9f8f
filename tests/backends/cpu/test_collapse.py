"""Loops whose iterations become threads (`passes/loops/dimensions`): results as of one thread after the other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import workbench as wb
from workbench.ir.values import Function
from workbench.passes.loops.dimensions import collapsed
from workbench.passes.pipeline import RUNNABLE, run

IMAGE, FLOATS = wb.array2d[float], wb.array[float]
F = np.float32


@wb.kernel
def scaled(x: IMAGE, y: IMAGE):
    i = wb.tid()
    for j in range(y.shape[1]):
        y[i, j] = 2.0 * x[i, j]


@wb.kernel
def product(a: IMAGE, b: IMAGE, c: IMAGE):
    i = wb.tid()
    for j in range(b.shape[1]):
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@wb.kernel
def by_rows(a: IMAGE, b: IMAGE, c: IMAGE):
    i = wb.tid()
    for j in range(b.shape[1]):
        c[i, j] = 0.0
    for k in range(a.shape[1]):
        for j in range(b.shape[1]):
            c[i, j] += a[i, k] * b[k, j]


@wb.kernel
def inner(x: IMAGE, y: IMAGE):
    i = wb.tid()
    if x[i, 0] < 0.5:
        for j in range(1, y.shape[1] - 1):
            y[i, j] = x[i, j - 1] + 2.0 * x[i, j] + 3.0 * x[i, j + 1]


@wb.kernel
def planes(x: wb.array3d[float], y: wb.array3d[float]):
    n, i = wb.tid()
    for j in range(y.shape[2]):
        y[n, i, j] = x[n, i, j] + float(100 * n + 10 * i + j)


@wb.kernel
def four(x: FLOATS, y: FLOATS):
    q = wb.tid()
    for j in range(4 * q, 4 * q + 4):
        y[j] = x[j] + float(j)


@wb.kernel
def three_of_a_row(x: IMAGE, y: IMAGE):
    i, q = wb.tid()
    for j in range(3 * q, 3 * q + 3):
        y[i, j] = x[i, j] * float(i + j)


@wb.kernel
def strided(x: IMAGE, m: int, y: IMAGE):
    h, w = x.shape[0], x.shape[1]
    for t in range(wb.tid(), h * w, m):
        i, j = t // w, t % w
        y[i, j] = x[i, (j + 1) % w] - 2.0 * x[max(i - 1, 0), j]


@wb.kernel
def strided_while(x: IMAGE, m: int, y: IMAGE):
    h, w = x.shape[0], x.shape[1]
    t = wb.tid()
    while t < h * w:
        i, j = divmod(t, w)
        y[i, j] = x[i, (j + 1) % w] - 2.0 * x[max(i - 1, 0), j]
        t += m


@wb.kernel
def wide_strided(x: IMAGE, m: wb.int64, y: IMAGE):
    h, w = wb.int64(x.shape[0]), wb.int64(x.shape[1])
    for t in range(wb.int64(wb.tid()), h * w, m):
        i, j = t // w, t % w
        y[i, j] = x[i, (j + 1) % w] - 2.0 * x[max(i - 1, 0), j]


@wb.kernel
def stretches(x: IMAGE, m: int, y: IMAGE):
    h, w = x.shape[0], x.shape[1]
    q = wb.tid()
    for t in range(q * m, min((q + 1) * m, h * w)):
        i, j = t // w, t % w
        y[i, j] = x[i, (j + 1) % w] - 2.0 * x[max(i - 1, 0), j]


@wb.kernel
def stretches_while(x: IMAGE, m: int, y: IMAGE):
    h, w = x.shape[0], x.shape[1]
    t = m * wb.tid()
    stop = min(h * w, t + m)
    while t < stop:
        i, j = t // w, t % w
        y[i, j] = x[i, (j + 1) % w] - 2.0 * x[max(i - 1, 0), j]
        t += 1


@wb.kernel
def both_axes(x: IMAGE, m: int, y: IMAGE):
    h, w = x.shape[0], x.shape[1]
    a, b = wb.tid()
    for i in range(a, h, 3):
        for j in range(b, w, m):
            y[i, j] = x[i, (j + 1) % w] - 2.0 * x[max(i - 1, 0), j]


@wb.kernel
def digits(m: int, y: wb.array3d[int]):
    for t in range(wb.tid(), y.shape[0] * y.shape[1] * y.shape[2], m):
        rest, k = divmod(t, y.shape[2])
        y[rest // y.shape[1], rest % y.shape[1], k] = min(t, 1000)


SHARES = [strided, strided_while, wide_strided, stretches, stretches_while]


@wb.kernel
def half_a_digit(x: IMAGE, m: int, y: IMAGE):
    for t in range(wb.tid(), x.shape[0] * x.shape[1], m):
        y[0, t % x.shape[1]] = x[t // x.shape[1], min(t, 2)]


@wb.kernel
def used_index(x: IMAGE, m: int, y: IMAGE):
    q = wb.tid()
    for t in range(q * m, q * m + m):
        y[t // x.shape[1], t % x.shape[1]] = float(q)


@wb.kernel
def constant(y: IMAGE):
    i = wb.tid()
    for j in range(20):
        y[i, j] = float(10 * i + j)


@wb.kernel
def square(a: IMAGE, b: IMAGE, n: int, c: IMAGE):
    i = wb.tid()
    for j in range(n):
        for k in range(n):
            c[i, j] += a[i, k] * b[k, j]


@wb.kernel
def square_by_rows(a: IMAGE, b: IMAGE, n: int, c: IMAGE):
    i = wb.tid()
    for k in range(n):
        for j in range(n):
            c[i, j] += a[i, k] * b[k, j]


@wb.kernel
def half_of_a_row(x: IMAGE, y: IMAGE):
    i = wb.tid()
    for j in range(y.shape[1] // 2):
        y[i, j] = x[i, j] + 1.0


@wb.kernel
def running(x: IMAGE, y: IMAGE):
    i = wb.tid()
    for j in range(1, y.shape[1]):
        y[i, j] = y[i, j - 1] + x[i, j]


@wb.kernel
def mirrored(x: IMAGE, y: IMAGE):
    i = wb.tid()
    for j in range(y.shape[1]):
        y[i, j] = x[i, j]
    for j in range(y.shape[1]):
        y[i, j] += y[i, y.shape[1] - 1 - j]


@wb.kernel
def softmax(x: IMAGE, y: IMAGE):
    i = wb.tid()
    total = 0.0
    for j in range(y.shape[1]):
        total += x[i, j]
    for j in range(y.shape[1]):
        y[i, j] = x[i, j] / total


@wb.kernel
def column(x: IMAGE, y: IMAGE):
    j = wb.tid()
    for i in range(y.shape[0]):
        y[i, j] = x[i, j]


@wb.kernel
def strided_pairs(x: FLOATS, y: FLOATS):
    q = wb.tid()
    for j in range(2 * q, 2 * q + 2):
        y[j] = x[q]


def forward(kernel: wb.Kernel) -> Function:
    return run(RUNNABLE, kernel.specialise().function)


MAPPED = [scaled, product, by_rows, inner, planes, four, three_of_a_row, constant, square, *SHARES, both_axes, digits]
LEFT = [running, mirrored, softmax, column, strided_pairs, half_of_a_row, half_a_digit, used_index]


@pytest.mark.parametrize("kernel", MAPPED, ids=lambda kernel: kernel.name)
def test_iterations_become_threads(kernel: wb.Kernel) -> None:
    assert collapsed(forward(kernel)) is not None


@pytest.mark.parametrize("kernel", LEFT, ids=lambda kernel: kernel.name)
def test_other_loops_stay(kernel: wb.Kernel) -> None:
    assert collapsed(forward(kernel)) is None


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("n", [1, 3, 4, 9, 70])
@pytest.mark.parametrize("m", [0, 1, 3, 15, 16, 17, 40, 131])
def test_rows(n: int, m: int, checks: bool) -> None:
    draw = np.random.default_rng(n * 1000 + m)
    a, b, x = (draw.random(s, F) for s in ((n, 5), (5, m), (n, m)))
    exact = np.zeros((n, m), F)
    for k in range(5):
        exact = exact + a[:, k : k + 1] * b[k]
    for kernel in (product, by_rows):
        c = wb.full((n, m), 7.0)
        wb.launch(kernel, n, [wb.array(a), wb.array(b)], [c], checks=checks)
        assert c.numpy().tobytes() == exact.tobytes(), kernel.name
    y = wb.zeros((n, m))
    wb.launch(scaled, n, [wb.array(x)], [y], checks=checks)
    assert y.numpy().tobytes() == (x * F(2)).tobytes()
    if m:
        y = wb.zeros((n, m))
        wb.launch(inner, n, [wb.array(x)], [y], checks=checks)
        wanted = np.zeros((n, m), F)
        wanted[:, 1:-1] = (x[:, :-2] + F(2) * x[:, 1:-1]) + F(3) * x[:, 2:] if m > 1 else 0
        wanted[x[:, 0] >= 0.5] = 0
        assert y.numpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("count", [1, 2, 5, 16, 33, 100])
def test_stretches_of_a_row(count: int, checks: bool) -> None:
    x = np.random.default_rng(count).random((3, 4 * count), F)
    y = wb.zeros(4 * count)
    wb.launch(four, count, [wb.array(x[0])], [y], checks=checks)
    np.testing.assert_array_equal(y.numpy(), x[0] + np.arange(4 * count, dtype=F))
    x = np.ascontiguousarray(x[:, : 3 * count])
    y = wb.zeros(x.shape)
    wb.launch(three_of_a_row, (3, count), [wb.array(x)], [y], checks=checks)
    np.testing.assert_array_equal(y.numpy(), x * np.add.outer(np.arange(3), np.arange(3 * count)).astype(F))


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("threads", [1, 7, 16, 100])
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (4, 8), (5, 33), (19, 70)])
def test_shares_of_a_range(shape: tuple[int, int], threads: int, checks: bool) -> None:
    x, size = np.random.default_rng(threads).random(shape, F), shape[0] * shape[1]
    right = np.roll(x, -1, 1) - F(2) * x[np.maximum(np.arange(shape[0]) - 1, 0)]
    even = -(-size // threads)
    for kernel in SHARES:
        stretch = kernel.name.startswith("stretches")
        for m in (even, even + 3, 1, 0, -2) if stretch else (threads, threads + 1, 2 * threads):
            t = np.arange(size)
            done = (t < m * threads) if stretch else (t % m < threads)
            y = wb.full(shape, 7.0)
            wb.launch(kernel, threads, [wb.array(x), m, y], checks=checks)
            assert y.numpy().tobytes() == np.where(done.reshape(shape), right, F(7)).tobytes(), (kernel.name, m)
    for m in (threads, threads + 2):
        y = wb.full(shape, 7.0)
        wb.launch(both_axes, (3, threads), [wb.array(x), m, y], checks=checks)
        done = np.arange(shape[1]) % m < threads
        assert y.numpy().tobytes() == np.where(done, right, F(7)).astype(F).tobytes(), m


@pytest.mark.parametrize("shape", [(2, 3, 5), (3, 9, 16), (1, 1, 1)])
def test_three_digits_of_a_counter(shape: tuple[int, int, int]) -> None:
    y = wb.zeros(shape, dtype=int)
    wb.launch(digits, 16, [16, y])
    assert (y.numpy().ravel() == np.minimum(np.arange(y.numpy().size), 1000)).all()


def test_planes_views_and_constant_rows() -> None:
    x = np.random.default_rng(1).random((3, 5, 37), F)
    y = wb.zeros(x.shape)
    wb.launch(planes, x.shape[:2], [wb.array(x)], [y])
    n, i, j = np.indices(x.shape)
    np.testing.assert_array_equal(y.numpy(), x + (100 * n + 10 * i + j).astype(F))
    y = wb.zeros((6, 40))
    wb.launch(scaled, 6, [wb.array(x[0].repeat(2, 0)[:6, ::2].copy())], [y[:, 1:38:2]])
    np.testing.assert_array_equal(y.numpy()[:, 1:38:2], 2 * x[0].repeat(2, 0)[:6, ::2])
    assert not y.numpy()[:, ::2].any()
    y = wb.zeros((7, 20))
    wb.launch(constant, 7, [], [y])
    np.testing.assert_array_equal(y.numpy(), np.add.outer(10 * np.arange(7), np.arange(20)))


def test_arrays_that_share_memory_are_done_in_order() -> None:
    whole = np.zeros((4, 65), F)
    whole[:, 0] = [1, 2, 3, 4]
    kept = wb.array(whole)
    wb.launch(scaled, 4, [kept[:, :-1]], [kept[:, 1:]])
    np.testing.assert_array_equal(kept.numpy()[:, :60], whole[:, :1] * F(2) ** np.arange(60, dtype=F))
    x = np.random.default_rng(0).random((5, 33), F)
    for kernel in (running, mirrored, softmax):
        y = wb.array(x.copy())
        wb.launch(kernel, 5, [wb.array(x)], [y])
        wanted = x.copy()
        if kernel is running:
            for j in range(1, 33):
                wanted[:, j] = wanted[:, j - 1] + x[:, j]
        if kernel is mirrored:
            for j in range(33):
                wanted[:, j] += wanted[:, 32 - j]
        if kernel is softmax:
            total = np.zeros(5, F)
            for j in range(33):
                total = total + x[:, j]
            wanted = x / total[:, None]
        assert y.numpy().tobytes() == wanted.tobytes(), kernel.name


def test_a_launch_of_many_chunks() -> None:
    x = np.random.default_rng(2).random((5003, 67), F)
    y = wb.zeros(x.shape)
    wb.launch(scaled, len(x), [wb.array(x)], [y])
    np.testing.assert_array_equal(y.numpy(), x * F(2))


@wb.kernel
def halves(x: wb.array2d[wb.float16], y: wb.array2d[wb.float16]):
    i = wb.tid()
    for j in range(y.shape[1]):
        y[i, j] = wb.float16(2.0) * x[i, j] + wb.float16(1.0)


@wb.kernel
def two_sines(x: IMAGE, y: IMAGE):
    i = wb.tid()
    for j in range(y.shape[1]):
        s = 0.0
        for k in range(3):
            s += wb.sin(x[i, k])
        t = 0.0
        for k in range(3):
            t += wb.sin(x[i, k]) * float(j)
        y[i, j] = s + t


def test_passes_that_remove_code_leave_the_length_of_rows() -> None:
    x = np.random.default_rng(4).random((9, 50), F)
    y = wb.zeros(x.shape, dtype=wb.float16)
    wb.launch(halves, 9, [wb.array(x.astype(np.float16))], [y])
    np.testing.assert_array_equal(y.numpy(), np.float16(2) * x.astype(np.float16) + np.float16(1))
    y = wb.zeros(x.shape)
    wb.launch(two_sines, 9, [wb.array(x)], [y])
    s = np.sin(x[:, :3].astype(np.float64)).sum(1)[:, None]
    np.testing.assert_allclose(y.numpy(), s + s * np.arange(50), rtol=1e-5)


@pytest.mark.parametrize("kernel", [square, square_by_rows], ids=lambda k: k.name)
def test_loops_over_one_range_in_one_another(kernel: wb.Kernel) -> None:
    a, b = (np.random.default_rng(n).random((24, 24), F) for n in (7, 8))
    c, wanted = wb.zeros((24, 24)), np.zeros((24, 24), F)
    wb.launch(kernel, 24, [wb.array(a), wb.array(b), 24], [c])
    for k in range(24):
        wanted += a[:, k : k + 1] * b[k]
    np.testing.assert_array_equal(c.numpy(), wanted)
    y = wb.zeros((24, 24))
    wb.launch(half_of_a_row, 24, [wb.array(a)], [y])
    np.testing.assert_array_equal(y.numpy()[:, :12], a[:, :12] + 1)
    assert not y.numpy()[:, 12:].any()


def test_a_gradient_that_overwrites_rows() -> None:
    values = np.random.default_rng(5).random((20_000, 40), F)
    x, y = wb.array(values, requires_grad=True), wb.zeros(len(values), requires_grad=True)
    seed = np.random.default_rng(6).random(len(values), F)
    with wb.Tape() as tape:
        wb.launch(squares_of_rows, len(values), [x], [y])
    tape.backward(grads={y: wb.array(seed)})
    np.testing.assert_allclose(x.grad.numpy(), 2 * values * seed[:, None], rtol=1e-6)


@wb.kernel
def squares_of_rows(x: IMAGE, y: FLOATS):
    i = wb.tid()
    s = 0.0
    for k in range(x.shape[1]):
        s += x[i, k] * x[i, k]
    y[i] = s


def test_a_row_backwards_shares_memory_with_itself() -> None:
    kept = wb.array(np.arange(1, 41, dtype=F).reshape(1, 40))
    wb.launch(scaled, 1, [kept[:, ::-1]], [kept])
    wanted = np.arange(1, 41, dtype=F)
    for j in range(40):
        wanted[j] = 2 * wanted[39 - j]
    np.testing.assert_array_equal(kept.numpy()[0], wanted)


@wb.kernel
def doubled(c: IMAGE, a: IMAGE):
    i = wb.tid()
    for j in range(c.shape[1]):
        c[i, j] = 2.0 * c[i, j] + a[i, j]


@wb.kernel
def last_of_two_rows(c: IMAGE):
    i = wb.tid()
    for k in range(2):
        for j in range(c.shape[1]):
            c[i + k, j] = float(10 * k + j)


@pytest.mark.parametrize("strides", [(4, 0), (0, 0), (8, 4), (80, -4), (4, 8), (160, 8)])
def test_elements_that_share_memory_are_changed_in_order(strides: tuple[int, int]) -> None:
    a = np.random.default_rng(9).integers(0, 3, (2, 20)).astype(F)
    memory, wanted = np.arange(200, dtype=F), np.arange(200, dtype=F)
    view, rows = (as_strided(m[20:], (2, 20), strides) for m in (memory, wanted))
    wb.launch(doubled, 1, [wb.from_numpy(view), wb.array(a)])
    for j in range(20):
        rows[0, j] = 2 * rows[0, j] + a[0, j]
    np.testing.assert_array_equal(memory, wanted)
    wb.launch(last_of_two_rows, 1, [wb.from_numpy(view)])
    for k in range(2):
        for j in range(20):
            rows[k, j] = 10 * k + j
    np.testing.assert_array_equal(memory, wanted)
