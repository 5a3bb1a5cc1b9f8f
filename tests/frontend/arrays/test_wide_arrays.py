"""Arrays with a size of 2³¹ or more: sizes and what is counted from them in 64 bits; mostly without the memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import workbench as wb
from tests.support.checks.meaning import define
from workbench.backends.base import Options
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cuda.emit import emit_cuda
from workbench.backends.python.interpret import run
from workbench.errors import KernelFault, LaunchError
from workbench.types import ArrayType

N = 2**31 + 10
TEXT = """
def k(x: array(dtype=int), y: array(dtype=int64)):
    i = tid()
    n = x.shape[0]
    y[0] = int64(n)
    y[1] = int64(x[-1]) + int64(x[n - 1]) + int64(x[int64(i) + 2147483655])
    s = x[5:-1]
    y[2] = int64(len(s)) + s[n - 7] - s[-1]
    c = int64(0)
    for j in range(n - 3, len(x)):
        c += j
    y[3] = c
    y[4] = int64(lower_bound(x, 6, len(x), 3))
"""


def _broad() -> np.ndarray[Any, Any]:
    """2³¹ + 10 elements that are one number."""
    return as_strided(np.array([3], np.int32), (N,), (0,))


def _kernel() -> wb.Kernel:
    kernel = define(TEXT)["k"]
    assert isinstance(kernel, wb.Kernel)
    return kernel


MEANT = [N, 9, N - 6, 3 * N - 6, 6]


@pytest.mark.parametrize("checks", [False, True])
def test_sizes_are_what_they_are(checks):
    k, y = _kernel(), wb.zeros(5, wb.int64)
    x = wb.array(_broad(), copy=False)
    wb.launch(k, 1, [x, y], checks=checks)
    assert y.numpy().tolist() == MEANT
    expected = np.zeros(5, np.int64)
    run(k.used.function, 1, [_broad(), expected], checks=checks)
    assert expected.tolist() == MEANT


def test_small_arrays_keep_code_of_32_bits():
    k = define("def k(x: array(dtype=int), y: array(dtype=int64)):\n    y[tid()] = int64(x.shape[0]) + x[-1]\n")["k"]
    x, y = wb.array([1, 2, 3]), wb.zeros(1, wb.int64)
    wb.launch(k, 1, [x, y])
    narrow = k.used.function
    wb.launch(k, 1, [wb.array(_broad(), copy=False), y])
    wide = k.used.function
    assert y.numpy().tolist() == [N + 3]
    wb.launch(k, 1, [x, y])
    assert y.numpy().tolist() == [6]
    assert "trunc i64" in emit_llvm(narrow, Options()).split("store")[0]
    assert "(int)x.shape" in emit_cuda(narrow, Options())
    assert "(int)x.shape" not in emit_cuda(wide, Options()) and "x.shape[0]" in emit_cuda(wide, Options())


@pytest.mark.parametrize("index", [N, -N - 1, 2**32 + 1])
def test_bounds_are_compared_in_64_bits(index):
    k = define(f"def k(x: array(dtype=int), y: array(dtype=int)):\n    y[tid()] = x[int64({index}) + int64(y[0])]\n")[
        "k"
    ]
    y = wb.zeros(1, wb.int32)
    with pytest.raises(KernelFault, match=f"x has {N} elements along axis 0; thread .* asked for index {index}"):
        wb.launch(k, 1, [wb.array(_broad(), copy=False), y], checks=True)


def test_a_dimension_of_a_launch_is_below_2_31():
    k = define("def k(y: array(dtype=int)):\n    y[0] = tid()\n")["k"]
    with pytest.raises(LaunchError, match="as tid\\(\\) is an int32") as raised:
        wb.launch(k, 2**31, [wb.zeros(1, wb.int32)])
    assert "int64(i) * columns + j" in raised.value.advice


def test_types_compare_alike():
    assert ArrayType(wb.int32, 1, wide=True) == ArrayType(wb.int32)
    assert wb.array(_broad(), copy=False).type.wide and not wb.zeros(3).type.wide


@pytest.mark.slow
def test_more_than_2_31_bytes_are_all_reached():
    """2 GiB of uint8: written and read by a launch over two dimensions."""
    k = define("""
        def k(x: array(dtype=uint8), columns: int):
            i, j = tid()
            n = int64(i) * columns + j
            if n < x.shape[0]:
                x[n] = uint8(n % 251)
        """)["k"]  # fmt: skip
    x = wb.empty(N, wb.uint8)
    columns = 2**16
    wb.launch(k, (-(-N // columns), columns), [x, columns])
    data = x.numpy()
    places = np.concatenate([np.arange(10), np.arange(2**31 - 10, N), np.random.default_rng(0).integers(0, N, 10**6)])
    assert np.array_equal(data[places], (places % 251).astype(np.uint8))
    assert int(data[-1]) == (N - 1) % 251
