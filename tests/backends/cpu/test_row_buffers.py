"""Rows that a loop goes through again in each iteration, against NumPy and against single threads."""

from __future__ import annotations

import os

import numpy as np
import pytest

import workbench as wb
from tests.backends.cpu.test_gang import _before_a_hole
from tests.backends.cpu.test_gang_rows import THREADS
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu import machine
from workbench.limits import EXPANDED_BYTES

LENGTHS = (1, 15, 16, 17, 40, EXPANDED_BYTES // 4, EXPANDED_BYTES // 4 + 1)


@wb.kernel
def mixed(q: wb.array2d[float], k: wb.array2d[float], y: wb.array2d[float]):
    i = wb.tid()
    for t in range(k.shape[0]):
        s = wb.float32(0.0)
        for c in range(q.shape[1]):
            s += q[i, c] * k[t, c]
        for c in range(q.shape[1]):
            y[i, c] = y[i, c] + s * k[t, c]


def _mixed(q: np.ndarray, k: np.ndarray, y: np.ndarray) -> np.ndarray:
    for t in range(len(k)):
        s = np.zeros(len(q), np.float32)
        for c in range(q.shape[1]):
            s += q[:, c] * k[t, c]
        y = y + s[:, None] * k[t]
    return y


@pytest.mark.parametrize("m", LENGTHS)
def test_rows_that_are_read_and_rows_that_are_changed(m: int) -> None:
    assert cpu.emitted(mixed.specialise().function, Options(), machine.target()).gangs
    for n in THREADS:
        for turns in (0, 1, 5):
            rng = np.random.default_rng(n)
            q, k, y = (rng.random((rows, m), np.float32) for rows in (n, turns, n))
            expected = _mixed(q, k, y)
            wb.launch(mixed, n, [q, k, y])
            np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("m", LENGTHS)
def test_a_row_that_is_read_and_changed_under_two_names(m: int) -> None:
    q, k = (np.random.default_rng(m).random((n, m), np.float32) - np.float32(0.5) for n in (70, 3))
    expected = q.copy()
    for t in range(3):
        s = np.zeros(70, np.float32)
        for c in range(m):
            s += expected[:, c] * k[t, c]
        expected = expected + s[:, None] * k[t]
    wb.launch(mixed, 70, [q, k, q])
    np.testing.assert_array_equal(q, expected)


@wb.kernel
def up_to(q: wb.array2d[wb.int64], k: wb.array2d[wb.int64], n: wb.array[int], y: wb.array2d[wb.int64]):
    i = wb.tid()
    if n[i] != 3:
        for t in range(n[i]):
            for _u in range(2):
                for c in range(q.shape[1]):
                    y[i, c] = y[i, c] * wb.int64(3) + q[n[i], c] * k[t, c]


@pytest.mark.skipif(os.name == "nt", reason="mprotect is POSIX's")
@pytest.mark.parametrize("m", LENGTHS[:-1])
def test_some_threads_have_no_iterations_and_no_rows(m: int) -> None:
    """Rows that no iteration accesses are not there."""
    rng = np.random.default_rng(m)
    n = rng.integers(0, 6, 70).astype(np.int32)
    k, q = rng.integers(-9, 9, (5, m)), _before_a_hole(rng.integers(-9, 9, (6, m)))
    y = rng.integers(-9, 9, (70, m))
    expected, far = y.copy(), np.where(n == 0, 2**30, n).astype(np.int32) * np.where(n == 0, -1, 1).astype(np.int32)
    for i in range(70):
        for t in range(n[i]) if n[i] != 3 else ():
            for _ in range(2):
                expected[i] = expected[i] * 3 + q[n[i]] * k[t]
    wb.launch(up_to, 70, [q, k, far, y])
    np.testing.assert_array_equal(y, expected)


@wb.kernel
def inner(x: wb.array2d[float], a: wb.array2d[float], y: wb.array2d[float]):
    i = wb.tid()
    for t in range(3):
        for r in range(t, 4):
            for c in range(r):
                y[i, c] = y[i, c] + x[i, c] * a[t, r]
        for c in range(a.shape[1]):
            y[i, c] = y[i, c] * wb.float32(0.5)


@wb.kernel
def overwritten(x: wb.array2d[float], y: wb.array2d[float], total: wb.array[float]):
    i = wb.tid()
    s = wb.float32(0.0)
    for t in range(4):
        for c in range(1, x.shape[1]):
            y[i, c] = x[i, c] * float(t)
        for c in range(1, x.shape[1]):
            s += y[i, c]
    total[i] = s


@wb.kernel
def counted(x: wb.array2d[int], k: wb.array2d[int], y: wb.array2d[int], total: wb.array[int]):
    i = wb.tid()
    s = 0
    for t in range(k.shape[0]):
        for c in range(x.shape[1]):
            y[i, c] = y[i, c] + x[i, c] * k[t, c]
        for c in range(x.shape[1]):
            s += y[i, c]
    total[i] = s


@pytest.mark.parametrize("n", THREADS)
def test_ranges_that_differ_and_rows_that_are_only_written(n: int) -> None:
    rng = np.random.default_rng(n)
    x, a, y = (rng.random(shape, np.float32) for shape in ((n, 20), (3, 20), (n, 20)))
    expected = y.copy()
    for t in range(3):
        for r in range(t, 4):
            for c in range(r):
                expected[:, c] += x[:, c] * a[t, r]
        expected *= np.float32(0.5)
    wb.launch(inner, n, [x, a, y])
    np.testing.assert_array_equal(y, expected)
    total, sums = np.zeros(n, np.float32), np.zeros(n, np.float32)
    wb.launch(overwritten, n, [x, y, total])
    for t in range(4):
        for c in range(1, 20):
            sums += x[:, c] * np.float32(t)
    np.testing.assert_array_equal(total, sums)
    np.testing.assert_array_equal(y, np.concatenate([expected[:, :1], x[:, 1:] * np.float32(3)], 1))


@pytest.mark.parametrize("n", THREADS)
def test_sums_of_integers_of_a_row_that_was_just_changed(n: int) -> None:
    rng = np.random.default_rng(n)
    x, k, y = (rng.integers(-9, 9, (rows, 33)).astype(np.int32) for rows in (n, 6, n))
    total, expected, sums = np.zeros(n, np.int32), y.copy(), np.zeros(n, np.int32)
    for row in k:
        expected += x * row
        sums += expected.sum(1)
    wb.launch(counted, n, [x, k, y, total])
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(total, sums)


@wb.kernel
def weighted(x: wb.array2d[float], a: wb.array2d[float], y: wb.array[float]):
    i = wb.tid()
    s = 0.0
    for h in range(a.shape[0]):
        t = 0.0
        for k in range(a.shape[1]):
            t += a[h, k] * x[i, k]
        s += t * t
    y[i] = s


@pytest.mark.parametrize("n", THREADS)
@pytest.mark.parametrize("m", LENGTHS[:5])
def test_gradients_of_rows_and_of_what_all_threads_share(n: int, m: int) -> None:
    rng = np.random.default_rng(m)
    x, a = (wb.array(rng.random((rows, m), np.float32), requires_grad=True) for rows in (n, 6))
    y = wb.zeros(n, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(weighted, n, [x, a, y])
    tape.backward(grads={y: wb.array(np.ones(n, np.float32))})
    t = x.numpy().astype(float) @ a.numpy().T
    np.testing.assert_allclose(x.grad.numpy(), 2 * t @ a.numpy(), rtol=1e-5)
    np.testing.assert_allclose(a.grad.numpy(), 2 * t.T @ x.numpy(), rtol=1e-5)


@wb.kernel
def in_turn(x: wb.array2d[float], a: wb.array[float], y: wb.array2d[float], total: wb.array[float]):
    i = wb.tid()
    m = x.shape[1]
    s = wb.float32(0.0)
    for c in range(m):
        y[i, c] = y[i, c] + x[i, c]
        s += y[i, c]
    if s > wb.float32(8.0):
        s = s * a[i]
    for c in range(m - 1, -1, -1):
        s = s + x[i, c]
    for c in range(m):
        y[i, c] = y[i, c] * s
    total[i] = s


@pytest.mark.parametrize("m", (0, *LENGTHS))
def test_a_row_that_several_loops_change(m: int) -> None:
    assert cpu.emitted(in_turn.specialise().function, Options(), machine.target()).gangs
    for n in THREADS:
        rng = np.random.default_rng(n)
        x, y, a = (rng.random(shape, np.float32) for shape in ((n, m), (n, m), (n,)))
        total, s, expected = np.zeros(n, np.float32), np.zeros(n, np.float32), y + x
        for c in range(m):
            s += expected[:, c]
        s = np.where(s > 8, s * a, s)
        for c in range(m - 1, -1, -1):
            s += x[:, c]
        wb.launch(in_turn, n, [x, a, y, total])
        np.testing.assert_array_equal(total, s)
        np.testing.assert_array_equal(y, expected * s[:, None])
