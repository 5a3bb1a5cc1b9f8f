"""Quotients that a gang's threads share: which loops are written so, and that each thread does what it did."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.ir.values import Function
from workbench.passes.loops.forms import uniform_divisors
from workbench.passes.loops.quotients import shared_quotients

INTS = wb.array2d[int]


@wb.kernel
def correlated(x: INTS, n: int, y: INTS):
    i, j = wb.tid()
    s = 0
    for q in range(len(x)):
        s = s * 3 + x[q, (j + q) % n]
    y[i, j] = s


@wb.kernel
def convolved(x: INTS, n: int, y: INTS):
    i, j = wb.tid()
    s = 0
    for q in range(len(x)):
        s = s * 3 + x[q, (j - q) % n]
    y[i, j] = s


@wb.kernel
def rows_too(x: INTS, n: int, y: INTS):
    i, j = wb.tid()
    s = 0
    for q in range(40):
        t = j + 5 * q
        r = (t // n) % len(x)
        s = s * 3 + x[r, t % n] - x[(r + 1) % len(x), (t % n + 1) % n]
    y[i, j] = s


@wb.kernel
def strided_sums(x: INTS, n: int, y: INTS):
    i, j = wb.tid()
    s = 0
    for t in range(j, n * len(x), y.shape[1]):
        s = s * 3 + x[t // n, (t % n + 1) % n]
    y[i, j] = s


@wb.kernel
def changed(x: INTS, n: int, y: INTS):
    i, j = wb.tid()
    for q in range(len(x)):
        y[i, j] = 3 * y[i, j] + x[q, (j + q) % n] if x[q, (j + q) % n] > 0 else 3 * y[i, j]


@wb.kernel
def only_a_number(x: INTS, n: int, y: INTS):
    i, j = wb.tid()
    s = 0
    for q in range(9):
        s = s * 3 + (j + q) % n
    y[i, j] = s


def divided(kernel: wb.Kernel) -> tuple[Function, Function]:
    function = uniform_divisors(kernel.specialise().function)
    return function, shared_quotients(function)


@pytest.mark.parametrize("kernel", [correlated, convolved, rows_too, strided_sums], ids=lambda kernel: kernel.name)
def test_threads_share_quotients(kernel: wb.Kernel) -> None:
    assert "quotient_is" in divided(kernel)[1].body.op_names


def test_a_remainder_that_is_no_index_is_left() -> None:
    before, after = divided(only_a_number)
    assert before is after


def expected(kernel: wb.Kernel, x: np.ndarray, n: int, m: int) -> np.ndarray:
    s, j = np.zeros(m, np.int64), np.arange(m)
    for q in range({"rows_too": 40, "only_a_number": 9, "strided_sums": -(-n * len(x) // m)}.get(kernel.name, len(x))):
        t, c = j + 5 * q, (j - q if kernel is convolved else j + q) % n
        r, u = t // n % len(x), j + q * m
        on, u = (u < n * len(x)) | (kernel is not strided_sums), np.minimum(u, n * len(x) - 1)
        more = {
            "rows_too": lambda t=t, r=r: x[r, t % n] - x[(r + 1) % len(x), (t % n + 1) % n],
            "strided_sums": lambda u=u: x[u // n, (u % n + 1) % n],
            "only_a_number": lambda c=c: c,
            "changed": lambda q=q, c=c: np.maximum(x[q, c], 0),
        }.get(kernel.name, lambda q=q, c=c: x[q, c])()
        s = np.where(on, s * 3 + more, s).astype(np.int32).astype(np.int64)
    return np.broadcast_to(s, (3, m))


KERNELS = [correlated, convolved, rows_too, strided_sums, changed, only_a_number]


@pytest.mark.sample(40)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("n", [1, 2, 7, 15, 16, 17, 63, 64, 70, 200])
@pytest.mark.parametrize("m", [1, 5, 16, 64, 90, 130])
@pytest.mark.parametrize("checks", [False, True])
def test_rotated_rows(kernel: wb.Kernel, n: int, m: int, checks: bool) -> None:
    x = np.random.default_rng(n).integers(-9, 9, (7, n)).astype(np.int32)
    y = wb.zeros((3, m), dtype=int)
    wb.launch(kernel, (3, m), [wb.array(x), n, y], checks=checks)
    np.testing.assert_array_equal(y.numpy(), expected(kernel, x, n, m))


@wb.kernel
def far(x: wb.array[int], shift: int, n: int, y: wb.array[int]):
    j = wb.tid()
    s = 0
    for q in range(5):
        s = s * 3 + x[min((j + q + shift) % n, len(x) - 1)]
    y[j] = s


@pytest.mark.parametrize("shift", [0, -40, 2**31 - 40, -(2**31), -(2**31) - 40 + 2**32])
@pytest.mark.parametrize("n", [2**31 - 1, 2**30, 64, 16, -5])
def test_numbers_that_wrap(shift: int, n: int) -> None:
    x, j, s = np.arange(50, dtype=np.int32), np.arange(200, dtype=np.int32), np.zeros(200, np.int32)
    for q in range(5):
        t = j + np.int32(q) + np.int32(shift)
        k = np.minimum(t % np.int32(n), 49)
        s = s * 3 + x[np.where(k < 0, k + 50, k)]
    y = wb.zeros(200, dtype=int)
    wb.launch(far, 200, [wb.array(x), shift, n, y])
    np.testing.assert_array_equal(y.numpy(), s)
