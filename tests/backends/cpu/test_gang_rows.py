"""Threads that go along rows of their own, and rows thinner than a gang, against NumPy."""

from __future__ import annotations

import os

import numpy as np
import pytest

import workbench as wb
from tests.backends.cpu.test_gang import _before_a_hole
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu import machine

THREADS = (1, 15, 16, 17, 33, 70)
ELEMENTS = (1, 15, 16, 17, 40)


@wb.kernel
def applied(a: wb.array2d[float], x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(a.shape[1]):
        s += a[i, k] * x[k]
    y[i] = s


@wb.kernel
def normalised(a: wb.array2d[float], y: wb.array2d[float]):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(a.shape[1]):
        s += a[i, k]
    for k in range(a.shape[1] - 1, -1, -1):
        y[i, k] = a[i, k] / s


@wb.kernel
def shifted(a: wb.array2d[float], y: wb.array2d[float]):
    i = wb.tid()
    for k in range(1, a.shape[1]):
        y[i, k] = a[i, k - 1] + wb.float32(1.0)


@wb.kernel
def chosen(table: wb.array2d[wb.int64], at: wb.array[int], y: wb.array[wb.int64]):
    i = wb.tid()
    if at[i] >= 0:
        s = wb.int64(0)
        for k in range(table.shape[1]):
            s = s * wb.int64(3) + table[at[i], k]
        y[i] = s


@wb.kernel
def totals(a: wb.array2d[int], sums: wb.array[int], more: wb.array[int]):
    i = wb.tid()
    if more[i] % 3 != 0:
        for k in range(a.shape[1]):
            wb.atomic_add(sums, k, a[i, k])
            wb.atomic_add(a, i, k, more[i])


@wb.kernel
def biased(x: wb.array2d[float], b: wb.array[float], t: wb.array[float], y: wb.array2d[float]):
    i, j = wb.tid()
    if x[i, j] > 0.25:
        y[i, j] = x[i, j] * b[j] + t[i] * float(j)


@wb.kernel
def cubed(x: wb.array3d[wb.float64], y: wb.array3d[wb.float64]):
    h, i, j = wb.tid()
    y[h, i, j] = x[h, i, j] + wb.float64(100 * h + 10 * i + j)


@pytest.mark.parametrize("m", ELEMENTS)
def test_sums_along_rows_keep_their_order(m: int) -> None:
    assert cpu.emitted(applied.specialise().function, Options(), machine.target()).gangs
    for n in THREADS:
        rng = np.random.default_rng(n)
        a, x, y = rng.random((n, m), np.float32), rng.random(m, np.float32), np.zeros(n, np.float32)
        wb.launch(applied, n, [a, x, y])
        expected = np.zeros(n, np.float32)
        for k in range(m):
            expected += a[:, k] * x[k]
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("m", ELEMENTS)
def test_rows_that_are_written_upwards_downwards_and_in_place(m: int) -> None:
    for n in THREADS:
        a = np.random.default_rng(n).random((n, m), np.float32) + 1
        y = np.zeros_like(a)
        wb.launch(normalised, n, [a, y])
        s = np.zeros(n, np.float32)
        for k in range(m):
            s += a[:, k]
        np.testing.assert_array_equal(y, a / s[:, None])
        z = a.copy()
        wb.launch(normalised, n, [z, z])
        np.testing.assert_array_equal(z, y)


def test_a_thread_sees_what_it_wrote_where_two_arguments_are_one_array() -> None:
    a = np.random.default_rng(1).random((70, 40), np.float32)
    y = np.zeros_like(a)
    wb.launch(shifted, 70, [a, y])
    np.testing.assert_array_equal(y[:, 1:], a[:, :-1] + np.float32(1))
    wb.launch(shifted, 70, [a, a])
    expected = a[:, :1].copy()
    for _ in range(1, 40):
        expected = np.concatenate([expected, expected[:, -1:] + np.float32(1)], 1)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("m", ELEMENTS)
def test_rows_by_index_in_some_threads(m: int) -> None:
    rng = np.random.default_rng(m)
    table, at = rng.integers(-9, 9, (20, m)), rng.integers(-5, 20, 70).astype(np.int32)
    y = np.full(70, 7)
    wb.launch(chosen, 70, [table, at, y])
    expected = [_digits(table[k].tolist()) if k >= 0 else 7 for k in at]
    assert y.tolist() == expected


def _digits(row: list[int]) -> int:
    s = 0
    for v in row:
        s = s * 3 + v
    return (s + 2**63) % 2**64 - 2**63


@pytest.mark.skipif(os.name == "nt", reason="mprotect is POSIX's")
@pytest.mark.parametrize("m", ELEMENTS)
def test_rows_that_end_where_memory_ends(m: int) -> None:
    a, x = (_before_a_hole(np.ones(shape, np.float32)) for shape in ((33, m), (m,)))
    y = _before_a_hole(np.zeros(33, np.float32))
    wb.launch(applied, 33, [a, x, y])
    assert (y == m).all()
    z = _before_a_hole(np.zeros((33, m), np.float32))
    wb.launch(normalised, 33, [a, z])
    np.testing.assert_allclose(z, 1 / m, rtol=1e-6)


@pytest.mark.parametrize("m", ELEMENTS)
def test_sums_across_threads_in_each_turn(m: int) -> None:
    for n in (*THREADS, 130):
        rng = np.random.default_rng(n)
        a, sums = rng.integers(0, 100, (n, m)).astype(np.int32), np.zeros(m, np.int32)
        before, more = a.copy(), np.arange(n, dtype=np.int32)
        wb.launch(totals, n, [a, sums, more])
        on = more % 3 != 0
        np.testing.assert_array_equal(sums, before[on].sum(0))
        np.testing.assert_array_equal(a, before + np.where(on, more, 0)[:, None])


@pytest.mark.parametrize("n", (1, 16, 33, 70, 130))
def test_gradients_of_a_product_with_a_vector(n: int) -> None:
    rng = np.random.default_rng(n)
    a, x, y = rng.random((n, 40), np.float32), rng.random(40, np.float32), wb.zeros(n, requires_grad=True)
    seed = rng.random(n, np.float32)
    left, right = wb.array(a, requires_grad=True), wb.array(x, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(applied, n, [left, right, y])
    tape.backward(grads={y: wb.array(seed)})
    np.testing.assert_array_equal(left.grad.numpy(), seed[:, None] * x)
    np.testing.assert_allclose(right.grad.numpy(), seed.astype(np.float64) @ a, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (5, 2), (100, 3), (40, 4), (7, 8), (9, 13), (3, 31), (3, 33)])
def test_rows_thinner_than_a_gang(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    b, t = rng.random(shape[1], np.float32), rng.random(shape[0], np.float32)
    # With the launch's shape, with a longer row, and in memory that is not dense.
    for x in (rng.random(shape, np.float32), rng.random((shape[0], shape[1] + 1), np.float32)):
        y = np.full_like(x, 9)
        wb.launch(biased, shape, [x, b, t, y])
        part = x[:, : shape[1]]
        by_hand = part * b + t[:, None] * np.arange(shape[1], dtype=np.float32)
        expected = np.full_like(x, 9)
        expected[:, : shape[1]] = np.where(part > 0.25, by_hand, 9)
        np.testing.assert_allclose(y, expected, rtol=1e-6)


@wb.kernel
def tabled(b: wb.array[float], t: wb.array[wb.int32], g: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    y[i, j] = b[j] * 2.0 + float(t[i]) + g[1, j + 2] * b[i + 1]


@wb.kernel
def tabled_cells(b: wb.array[float], t: wb.array[wb.uint32], y: wb.array3d[float]):
    h, i, j = wb.tid()
    y[h, i, j] = b[j] + float(t[h] % wb.uint32(1000)) - b[i] * 3.0


@pytest.mark.parametrize("m", (*range(1, 10), 16, 17))
@pytest.mark.parametrize("n", (1, 2, 3, 50))
def test_tables_by_row_and_column(n: int, m: int) -> None:
    """All that a gang reads of a table fits a register, which is filled only as far as the table goes."""
    rng = np.random.default_rng(n * m)
    b, t = _before_a_hole(rng.random(max(m, n + 1), np.float32)), _before_a_hole(np.arange(n, dtype=np.int32) - 7)
    g, y = _before_a_hole(rng.random((2, m + 2), np.float32)), _before_a_hole(np.zeros((n, m), np.float32))
    wb.launch(tabled, (n, m), [b, t, g, y])
    two = np.float32(2)
    np.testing.assert_array_equal(y, b[:m] * two + t[:, None].astype(np.float32) + g[1, 2:] * b[1 : n + 1, None])
    b, t = _before_a_hole(rng.random(max(m, n), np.float32)), _before_a_hole(rng.integers(0, 2**32, 3, np.uint32))
    z = np.zeros((3, n, m), np.float32)
    wb.launch(tabled_cells, z.shape, [b, t, z])
    low = (t % 1000).astype(np.float32)[:, None, None]
    np.testing.assert_array_equal(z, b[:m] + low - b[:n, None] * np.float32(3))


@pytest.mark.parametrize("shape", [(3, 5, 2), (40, 2, 2), (2, 40, 3), (1, 1, 70), (6, 1, 1)])
def test_thin_rows_in_thin_planes(shape: tuple[int, int, int]) -> None:
    x = np.random.default_rng(0).random(shape)
    y = np.zeros_like(x)
    wb.launch(cubed, shape, [x, y])
    h, i, j = np.indices(shape)
    np.testing.assert_array_equal(y, x + (100 * h + 10 * i + j))


@wb.kernel
def inner_differences(x: wb.array2d[float], y: wb.array2d[float], z: wb.array2d[float]):
    i, j = wb.tid()
    if i > 0 and i < x.shape[0] - 1 and j > 0 and j < x.shape[1] - 1:
        y[i, j] = x[i - 1, j - 1] + x[i + 1, j] - 2.0 * x[i, j + 1]
    else:
        y[i, j] = 0.0 - x[i, j]
    if i > 1:
        z[i, j] = x[i - 2, j]


@wb.kernel
def counted_from_the_end(x: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    y[i, j] = x[i - 1, j] - x[i - 2, j - 1]


@wb.struct
class Cell:
    a: float
    b: float
    c: float


@wb.kernel
def cells_before(x: wb.array2d[Cell], y: wb.array2d[float]):
    i, j = wb.tid()
    y[i, j] = x[i - 1, j].a + x[i - 1, j].b * x[i - 1, j].c + x[i, j].a


@pytest.mark.parametrize("shape", [(50, 2), (41, 5), (9, 33)])
def test_structs_in_thin_rows(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(7).random((*shape, 3), np.float32)
    cells = wb.array(np.ascontiguousarray(x).view([(name, "f4") for name in "abc"])[..., 0], dtype=Cell)
    y = wb.zeros(shape)
    wb.launch(cells_before, shape, [cells], [y])
    before = np.roll(x, 1, 0)
    np.testing.assert_array_equal(y.numpy(), before[..., 0] + before[..., 1] * before[..., 2] + x[..., 0])


@pytest.mark.parametrize("shape", [(50, 2), (50, 3), (41, 5), (9, 33), (2, 4), (1, 8), (300, 7)])
@pytest.mark.parametrize("wider", [0, 3])
def test_neighbours_in_thin_rows(shape: tuple[int, int], wider: int) -> None:
    x = _before_a_hole(np.random.default_rng(7).random((shape[0], shape[1] + wider), np.float32))
    y, z, w = (np.full_like(x, 9) for _ in range(3))
    wb.launch(inner_differences, shape, [x, y, z])
    wb.launch(counted_from_the_end, shape, [x, w])
    i, j = np.indices(shape)
    inside = (i > 0) & (i < x.shape[0] - 1) & (j > 0) & (j < x.shape[1] - 1)
    below, right = np.minimum(i + 1, len(x) - 1), np.minimum(j + 1, x.shape[1] - 1)
    expected = np.where(inside, x[i - 1, j - 1] + x[below, j] - np.float32(2) * x[i, right], -x[i, j])
    np.testing.assert_array_equal(y[:, : shape[1]], expected)
    np.testing.assert_array_equal(z[2:, : shape[1]], x[:-2, : shape[1]])
    assert (z[:2] == 9).all() and (y[:, shape[1] :] == 9).all()
    if len(x) > 1:
        np.testing.assert_array_equal(w[:, : shape[1]], x[i - 1, j] - x[i - 2, j - 1])


@wb.kernel
def multiplied(y: wb.array[wb.uint32], x: wb.array[float], z: wb.array[float]):
    i = wb.tid()
    if x[i] > 0.5:
        y[i % 3] *= wb.uint32(3)
    z[i] = x[i] * 2.0


@pytest.mark.parametrize("n", THREADS)
def test_elements_that_several_threads_multiply(n: int) -> None:
    """By compare and swap, of which no lane waits for another."""
    assert cpu.emitted(multiplied.specialise().function, Options(), machine.target()).gangs
    x = np.random.default_rng(n).random(n, np.float32)
    y, z = np.ones(3, np.uint32), np.zeros(n, np.float32)
    wb.launch(multiplied, n, [y, x, z])
    counts = [int((x[k::3] > 0.5).sum()) for k in range(3)]
    assert y.tolist() == [pow(3, count, 2**32) for count in counts]
    np.testing.assert_array_equal(z, 2 * x)
