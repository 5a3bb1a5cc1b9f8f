"""Indices of 8 and 16 bits that count from the end of an array whose size their own type cannot hold."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.backends.python.interpret import run


@wb.kernel
def turned(c: wb.array(dtype=wb.int8), d: wb.array(dtype=wb.int16), x: wb.array(dtype=float), y: wb.array(dtype=float)):
    i = wb.tid()
    y[d[i]] = x[c[i]]


C = np.array([-1, -128, 127, 0, 5, -2], np.int8)
D = np.array([-1, -32768, 32767, 0, 5, -2], np.int16)
X = np.arange(300, dtype=np.float32)
EXPECTED = np.zeros(70_000, np.float32)
EXPECTED[D] = X[C]


@pytest.mark.parametrize("checks", [False, True])
def test_they_mean_what_numpy_means(checks: bool) -> None:
    y = wb.zeros(EXPECTED.size, wb.float32, device="cpu")
    wb.launch(turned, C.size, [*(wb.array(a, device="cpu") for a in (C, D, X)), y], checks=checks)
    np.testing.assert_array_equal(y.numpy(), EXPECTED)


def test_they_mean_the_same_where_kernels_are_interpreted() -> None:
    y = np.zeros_like(EXPECTED)
    run(turned.specialise().function, C.size, [C, D, X, y])
    np.testing.assert_array_equal(y, EXPECTED)
