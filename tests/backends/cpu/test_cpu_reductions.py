"""Changes of one element by all threads: right, and the same bits whatever the cores and the way it is launched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.launching import execute

N = 1_000_003
FLOATS = wb.array(dtype=wb.float32)


@wb.kernel
def squares(x: FLOATS, o: FLOATS):
    i = wb.tid()
    wb.atomic_add(o, 1, x[i] * x[i])


@wb.kernel
def extremes(x: FLOATS, k: wb.array(dtype=int), lo: FLOATS, hi: FLOATS, bits: wb.array(dtype=int), most: wb.array[int]):
    i = wb.tid()
    if x[i] > 0.5:
        return
    wb.atomic_min(lo, 0, x[i])
    wb.atomic_max(hi, 0, x[i])
    wb.atomic_or(bits, 0, k[i])
    wb.atomic_max(most, 0, k[i])


@wb.kernel
def rows(x: wb.array(dtype=wb.vec3, ndim=2), o: wb.array(dtype=wb.vec3), count: wb.array(dtype=int)):
    i, j = wb.tid()
    for _ in range(2):
        o[0] += x[i, j]
    if i > j:
        count[-1] += 1


@wb.kernel
def beyond(x: FLOATS, o: FLOATS):
    i = wb.tid()
    if x[i] > 2.0:
        wb.atomic_add(o, 1_000_000_000, x[i])


@pytest.fixture
def x() -> wb.array:
    return wb.array(np.random.default_rng(0).random(N, np.float32))


def sum_of_squares(x: wb.array, **how: object) -> np.ndarray:
    o = wb.zeros(2)
    wb.launch(squares, x.size, [x], [o], **how)
    return o.numpy()


def test_a_sum_is_as_good_as_in_float64(x: wb.array) -> None:
    exact = float((x.numpy().astype(np.float64) ** 2).sum())
    assert sum_of_squares(x)[0] == 0
    assert abs(sum_of_squares(x)[1] - exact) <= 1e-7 * exact


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_bits_do_not_depend_on_the_cores(monkeypatch: pytest.MonkeyPatch, x: wb.array, threads: int) -> None:
    first = sum_of_squares(x).tobytes()
    monkeypatch.setattr(execute, "cpu_threads", lambda: threads)
    assert sum_of_squares(x).tobytes() == first
    assert sum_of_squares(x, deterministic=True).tobytes() == first


def test_the_bits_do_not_depend_on_who_launches(x: wb.array) -> None:
    first = sum_of_squares(x)
    o = wb.zeros(2)
    kept = wb.launch(squares, x.size, [x], [o], record_cmd=True)
    kept.launch()
    assert o.numpy().tobytes() == first.tobytes()
    o.zero_()
    with wb.capture() as graph:
        wb.launch(squares, x.size, [x], [o])
        wb.launch(squares, x.size, [x], [o])
    graph.launch()
    twice = wb.zeros(2)
    for _ in range(2):
        wb.launch(squares, x.size, [x], [twice])
    assert o.numpy().tobytes() == twice.numpy().tobytes()


def test_the_least_and_the_greatest(x: wb.array) -> None:
    lo, hi, most = wb.array([9.0], dtype=float), wb.array([-9.0], dtype=float), wb.array([-5], dtype=int)
    k = np.random.default_rng(1).integers(0, 1000, N).astype(np.int32)
    bits = wb.zeros(1, dtype=int)
    wb.launch(extremes, N, [x, wb.array(k)], [lo, hi, bits, most])
    chosen = x.numpy() <= 0.5
    assert (lo.numpy()[0], hi.numpy()[0]) == (x.numpy()[chosen].min(), x.numpy()[chosen].max())
    assert (bits.numpy()[0], most.numpy()[0]) == (np.bitwise_or.reduce(k[chosen]), k[chosen].max())


def test_nan_goes_in_and_stays() -> None:
    data = np.ones(5000, np.float32)
    data[1234] = np.nan
    lo, hi, zeros = wb.array([9.0], dtype=float), wb.array([np.nan], dtype=float), wb.zeros(5000, dtype=int)
    wb.launch(extremes, 5000, [wb.array(data - 1), zeros], [lo, hi, wb.zeros(1, dtype=int), wb.zeros(1, dtype=int)])
    assert np.isnan(lo.numpy()[0]) and np.isnan(hi.numpy()[0])


def test_vectors_rows_loops_and_branches() -> None:
    data = np.random.default_rng(2).random((211, 307, 3), np.float32)
    o, count = wb.zeros(1, dtype=wb.vec3), wb.zeros(4, dtype=int)
    wb.launch(rows, (211, 307), [wb.array(data, dtype=wb.vec3)], [o, count])
    np.testing.assert_allclose(o.numpy()[0], 2 * data.astype(float).sum((0, 1)), rtol=1e-7)
    assert count.numpy().tolist() == [0, 0, 0, sum(min(i, 307) for i in range(211))]


@wb.kernel
def plain_rows(x: wb.array(dtype=Any, ndim=2), o: wb.array(dtype=Any), hi: wb.array(dtype=Any)):
    i, j = wb.tid()
    o[0] += x[i, j]
    wb.atomic_max(hi, 0, x[i, j])


@pytest.mark.parametrize("dtype", [wb.float32, wb.int64])
def test_groups_of_threads_and_what_is_left_of_rows(dtype: type) -> None:
    for shape in ((1, 1), (1, 31), (3, 33), (2, 64), (5, 257), (1, 2000)):
        data = (np.arange(np.prod(shape)).reshape(shape) * 7 % 113).astype(wb.zeros(1, dtype=dtype).numpy().dtype)
        o, hi = wb.zeros(1, dtype=dtype), wb.zeros(1, dtype=dtype)
        wb.launch(plain_rows, shape, [wb.array(data, dtype=dtype)], [o, hi])
        assert (o.numpy()[0], hi.numpy()[0]) == (data.sum(dtype=data.dtype), data.max()), shape


def test_an_element_that_no_thread_changes_need_not_be_there() -> None:
    o = wb.zeros(1)
    wb.launch(beyond, 1000, [wb.ones(1000)], [o])
    assert o.numpy().tolist() == [0]


def test_one_array_as_both_arguments_is_added_to_one_by_one() -> None:
    both = wb.ones(4)
    wb.launch(squares, 1, [both], [both])
    assert both.numpy().tolist() == [1, 2, 1, 1]


@pytest.mark.parametrize("dtype", [wb.float16, wb.float64, wb.int64, wb.uint8])
def test_sums_of_other_types(dtype: type) -> None:
    @wb.kernel
    def total(x: wb.array(dtype=Any), o: wb.array(dtype=Any)):
        i = wb.tid()
        wb.atomic_add(o, 0, x[i])

    values = (np.arange(100) % 3).astype(wb.zeros(1, dtype=dtype).numpy().dtype)
    o = wb.zeros(1, dtype=dtype)
    wb.launch(total, 100, [wb.array(values, dtype=dtype)], [o])
    assert o.numpy()[0] == values.sum()


def test_under_jax_the_bits_are_the_same(x: wb.array) -> None:
    jax = pytest.importorskip("jax")
    call = jax.jit(wb.jax_kernel(squares, output_dims={"o": 2}, launch_dims=N, init={"o": "zeros"}))
    got = call(x.numpy())
    assert np.asarray(got).tobytes() == sum_of_squares(x).tobytes()
