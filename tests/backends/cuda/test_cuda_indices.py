"""Indices of threads from a launch's dimensions: a multiplication in place of each division."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.support.devices.on_gpu import DEVICE
from workbench.backends.base import Options
from workbench.backends.cuda import copies
from workbench.backends.cuda.compile.nvrtc import build
from workbench.backends.layout import multiplier
from workbench.runtime.arrays.copies import Move

MOST = 2**31 - 1
SIZES = st.one_of(
    st.integers(1, MOST),
    st.integers(0, 30).flatmap(lambda k: st.integers(max(1, 2**k - 2), min(MOST, 2**k + 2))),
)


@given(SIZES, st.integers(0, MOST), st.integers(-2, 2))
def test_the_multiplier_divides_all_indices(size: int, n: int, near: int) -> None:
    number = multiplier(size)
    assert 0 < number < 2**32
    # Multiples of the size and their neighbours are where a quotient that is not exact is wrong first.
    for index in (n, min(max(n // size * size + near, 0), MOST), MOST, MOST // size * size - 1, 0):
        assert (2 * max(index, 0) * number >> 32) >> (size - 1).bit_length() == max(index, 0) // size


@wb.kernel
def two(y: wb.array2d[int]):
    i, j = wb.tid()
    y[i, j] = i * 1000 + j


@wb.kernel
def four(y: wb.array4d[int]):
    i, j, k, m = wb.tid()
    y[i, j, k, m] = ((i * 100 + j) * 100 + k) * 100 + m


@pytest.mark.parametrize("shape", [(7, 1), (1, 9), (64, 64), (5, 97), (3, 4, 1, 5), (2, 1, 33, 3), (0, 5)])
def test_each_thread_has_its_indices(shape: Sequence[int]) -> None:
    kernel, base = (two, 1000) if len(shape) == 2 else (four, 100)
    y = wb.zeros(shape, int, device=DEVICE)
    wb.launch(kernel, shape, [y])
    expected = np.zeros(shape, int)
    for index in np.indices(shape):
        expected = expected * base + index
    np.testing.assert_array_equal(y.numpy(), expected)


def test_a_graph_divides_by_the_dimensions_that_it_gets() -> None:
    y = wb.zeros((6, 10), int, device=DEVICE)
    with wb.capture() as graph:
        wb.launch(two, (2, 3), [y])
    for rows, columns in ((2, 3), (5, 7), (6, 10), (1, 9)):
        y.zero_()
        graph.update(dim=(rows, columns))
        graph.launch()
        i, j = np.indices((6, 10))
        np.testing.assert_array_equal(y.numpy(), np.where((i < rows) & (j < columns), i * 1000 + j, 0))


def test_no_kernel_divides_for_its_indices() -> None:
    text = wb.inspect.ptx(two)
    assert not re.search(r"\b(div|rem)\.", text) and "mul.hi.u32" in text


def test_a_profile_of_arrays_of_the_cpu_divides_alike() -> None:
    y = wb.zeros((5, 7), int)
    counted = wb.profile(two, (5, 7), [y], arch="sm_90")
    assert counted.total.global_sectors > 0


@pytest.mark.parametrize("shape", [(31,), (6, 1), (3, 17), (4, 5, 3), (2, 3, 1, 7)])
def test_strided_copies_fills_and_sums_reach_each_element(shape: Sequence[int]) -> None:
    wider = tuple(2 * n for n in shape)
    every = tuple(slice(1, None, 2) for _ in shape)
    data = np.arange(np.prod(wider)).reshape(wider)
    x, y = (wb.array(a, dtype=float, device=DEVICE) for a in (data, -data))
    expected = (-data).astype(np.float32)
    with wb.capture() as graph:
        y[every].assign(x[every])
        y[every] += x[every]
        x[every].fill_(7.0)
    graph.launch()
    expected[every] = 2 * data[every]
    np.testing.assert_array_equal(y.numpy(), expected)
    filled = data.astype(np.float32)
    filled[every] = 7
    np.testing.assert_array_equal(x.numpy(), filled)


@pytest.mark.parametrize("entry", ["wb_copy_i32", "wb_copy_i64", "wb_add_float"])
def test_copies_neither_divide_nor_use_the_stack(entry: str) -> None:
    text = build(copies.text(entry), Options(), "sm_90", "ptx").image.decode()
    assert not re.search(r"\b(div|rem|call)\.|\.local", text)
    assert re.search(r"\bdiv\.", build(copies.text(entry + copies.FAR), Options(), "sm_90", "ptx").image.decode())


@pytest.mark.parametrize("value", [0, 3])
@pytest.mark.parametrize("dtype", [wb.int8, wb.float16, float, wb.vec3, wb.float64])
def test_graphs_have_no_kernels_for_dense_copies_and_fills(
    dtype: object, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, z = (wb.zeros((5, 7), dtype, device=DEVICE) for _ in range(3))
    with wb.capture() as graph:
        x.fill_(value)
        y.assign(x)
        z[1:3].assign(y[2:4])
    x.fill_(1)
    y.fill_(1)
    if dtype is not wb.float64 or not value:  # 8 bytes that no fill of the driver repeats
        monkeypatch.setattr(Move, "kernel", lambda *_: pytest.fail("a kernel"))
    for _ in range(2):
        graph.launch()
        assert (x.numpy() == value).all() and (y.numpy() == value).all()
        assert (z.numpy()[1:3] == value).all() and not z.numpy()[3:].any() and not z.numpy()[0].any()
