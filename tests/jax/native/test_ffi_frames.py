"""The generic handler against frames that this file makes: every answer it can give, without JAX."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.ffi_frames import Extension, Metadata, MetadataExtension, Refused, Xla, make_plan
from workbench.interop.jax.native.abi import INVALID_ARGUMENT

f32, i32, i64 = np.float32, np.int32, np.int64


@wb.kernel
def saxpy(a: wb.float32, x: wb.array[wb.float32], y: wb.array[wb.float32], out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = a * x[i] + y[i]


@wb.kernel
def table(x: wb.array2d[wb.float64], out: wb.array2d[wb.float64]):
    i, j = wb.tid()
    out[i, j] = x[i, j] + wb.float64(i * 100 + j)


@wb.kernel
def norms(v: wb.array[wb.vec3], w: wb.vec3, out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = wb.dot(v[i], w)


@wb.kernel
def bump(x: wb.array[wb.float32], counts: wb.array[wb.int32]):
    i = wb.tid()
    x[i] = x[i] + 1.0
    wb.atomic_add(counts, 0, 1)


@wb.kernel
def write_some(
    n: wb.int32, a: wb.array[wb.bool], b: wb.array[wb.int16], c: wb.array[wb.float32], d: wb.array[wb.float64]
):
    i = wb.tid()
    if i < n:
        a[i] = True
        b[i] = wb.int16(7)
        c[i] = 7.0
        d[i] = wb.float64(7.0)


def dims(*sizes: int) -> dict[str, Any]:
    return {"dims": np.array(sizes, i64)}


@pytest.fixture(scope="module")
def saxpy_thunk() -> int:
    return make_plan(saxpy).target.thunk()


def arrays(n: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(n, dtype=f32), np.full(n, 10, f32), np.full(n, np.nan, f32)


def test_a_scalar_and_arrays_reach_the_kernel(saxpy_thunk: int) -> None:
    x, y, out = arrays()
    assert Xla().call(saxpy_thunk, [np.array(2, f32), x, y], [out], dims(4)) is None
    np.testing.assert_array_equal(out, 2 * x + y)


def test_two_dimensions_have_their_shape_and_strides() -> None:
    x, out = np.arange(12.0).reshape(3, 4), np.zeros((3, 4))
    Xla().call(make_plan(table).target.thunk(), [x], [out], dims(3, 4))
    np.testing.assert_array_equal(out, x + np.arange(3)[:, None] * 100 + np.arange(4))


def test_vectors_are_a_last_axis() -> None:
    v, w, out = np.arange(12, dtype=f32).reshape(4, 3), np.array([1, 2, 3], f32), np.zeros(4, f32)
    Xla().call(make_plan(norms).target.thunk(), [v, w], [out], dims(4))
    np.testing.assert_array_equal(out, v @ w)


def test_an_empty_launch_runs_nothing(saxpy_thunk: int) -> None:
    x, y, out = arrays()
    Xla().call(saxpy_thunk, [np.array(2, f32), x, y], [out], dims(0))
    assert np.isnan(out).all()


def test_other_stages_touch_nothing(saxpy_thunk: int) -> None:
    x, y, out = arrays()
    for stage in (0, 1, 2):
        assert Xla().call(saxpy_thunk, [np.array(2, f32), x, y], [out], dims(4), stage) is None
    assert np.isnan(out).all()


def test_the_api_version_is_answered_behind_unknown_extensions(saxpy_thunk: int) -> None:
    metadata = Metadata(traits=99)
    asked = MetadataExtension(Extension(type=1), ctypes.pointer(metadata))
    assert Xla().ask(saxpy_thunk, Extension(type=1000), asked) is None
    assert (metadata.api_version.major_version, metadata.api_version.minor_version, metadata.traits) == (0, 1, 0)


def refusal(thunk: int, operands: Any, results: Any, attributes: dict[str, Any]) -> str:
    with pytest.raises(Refused) as error:
        Xla().call(thunk, operands, results, attributes)
    assert error.value.code == INVALID_ARGUMENT
    return str(error.value)


def test_each_misfit_is_named(saxpy_thunk: int) -> None:
    x, y, out = arrays()
    a = np.array(2, f32)
    cases = {
        "kernel 'saxpy' takes 3 operands and 1 results": ([a, x], [out], dims(4)),
        "kernel 'saxpy' takes the attributes dims (1 to 4 int64) and 0 int64 values": ([a, x, y], [out], {}),
        "takes the attributes dims": ([a, x, y], [out], {"dims": np.array([4], i32)}),
        "the attributes dims (1 to 4 int64)": ([a, x, y], [out], dims(1, 1, 1, 1, 1)),
        "the attributes dims (1 to 4 int64) and": ([a, x, y], [out], dims()),
        "parameter 'x': takes float32 elements, was given float64": ([a, x.astype(float), y], [out], dims(4)),
        "parameter 'out': takes float32 elements, was given int32": ([a, x, y], [out.view(i32)], dims(4)),
        "parameter 'a': takes float32 elements, was given int64": ([np.array(2), x, y], [out], dims(4)),
        "parameter 'y': takes 1 dimensions besides batch axes, was given 2": ([a, x, y[None]], [out], dims(4)),
        "parameter 'a': takes 0 dimensions besides batch axes, was given 1": ([x, x, y], [out], dims(4)),
        "parameter 'out': takes 1 dimensions besides batch axes, was given 0": ([a, x, y], [a.copy()], dims(4)),
    }
    for sentence, (operands, results, attributes) in cases.items():
        assert sentence in refusal(saxpy_thunk, operands, results, attributes)
    assert np.isnan(out).all()


def test_an_element_type_that_the_language_has_not_is_named(saxpy_thunk: int) -> None:
    x, y, out = arrays()
    halves = x.astype(np.float16)
    assert "was given float16" in refusal(saxpy_thunk, [np.array(2, f32), halves, y], [out], dims(4))


def test_components_must_be_as_many_as_the_vector_has() -> None:
    thunk = make_plan(norms).target.thunk()
    v, w, out = np.zeros((4, 2), f32), np.zeros(3, f32), np.zeros(4, f32)
    message = refusal(thunk, [v, w], [out], dims(4))
    assert "kernel 'norms', parameter 'v': its last axis holds the 3 components of a vector, was given 2" in message


def test_batches_repeat_what_does_not_vary(saxpy_thunk: int) -> None:
    a = np.arange(6, dtype=f32).reshape(3, 2)
    x, y = np.arange(8, dtype=f32).reshape(1, 2, 4), np.arange(12, dtype=f32).reshape(3, 1, 4)
    out = np.zeros((3, 2, 4), f32)
    Xla().call(saxpy_thunk, [a, x, y], [out], dims(4))
    np.testing.assert_array_equal(out, a[..., None] * x + y)


def test_batch_sizes_that_do_not_fit_are_refused(saxpy_thunk: int) -> None:
    a, x, y = np.zeros(3, f32), np.zeros((2, 4), f32), np.zeros((1, 4), f32)
    message = refusal(saxpy_thunk, [a, x, y], [np.zeros((3, 4), f32)], dims(4))
    assert "parameter 'x': a batch axis has size 3 here, was given 2" in message


def test_too_many_batch_axes_are_refused(saxpy_thunk: int) -> None:
    ones = (1,) * 9
    x = np.zeros((*ones, 4), f32)
    message = refusal(saxpy_thunk, [np.zeros(ones, f32), x, x], [x.copy()], dims(4))
    assert message == "kernel 'saxpy' was called under 9 nested batch axes; at most 8 work"


def test_outputs_are_filled_with_every_bit_pattern() -> None:
    init = {"a": True, "b": -2, "c": -0.0, "d": np.nan}
    plan = make_plan(write_some, outputs=4, init=init)
    results = [np.zeros(5, t) for t in (bool, np.int16, f32, float)]
    Xla().call(plan.target.thunk(), [np.array(2, i32)], results, dims(5))
    a, b, c, d = results
    assert a.all() and b.tolist() == [7, 7, -2, -2, -2] and c[:2].tolist() == [7, 7]
    assert np.signbit(c[2:]).all() and (c[2:] == 0).all()
    assert d[:2].tolist() == [7, 7] and np.isnan(d[2:]).all()


def test_a_fill_covers_all_batches() -> None:
    plan = make_plan(write_some, outputs=4, init={"a": True, "b": 3, "c": 2.5, "d": 0})
    results = [np.full((2, 3), 9, t) for t in (bool, np.int16, f32, float)]
    Xla().call(plan.target.thunk(), [np.array([0, 1], i32)], results, dims(3))
    assert results[1].tolist() == [[3, 3, 3], [7, 3, 3]] and results[2].tolist() == [[2.5] * 3, [7, 2.5, 2.5]]
    assert results[3].tolist() == [[0] * 3, [7, 0, 0]]


def test_in_and_out_is_one_memory_or_a_copy() -> None:
    thunk = make_plan(bump, outputs=1, in_out=("x",), init={"counts": 0}).target.thunk()
    counts = np.zeros(1, i32)
    x = np.arange(4, dtype=f32)
    Xla().call(thunk, [x], [x, counts], dims(4))
    assert x.tolist() == [1, 2, 3, 4] and counts.tolist() == [4]
    other = np.zeros(4, f32)
    Xla().call(thunk, [x], [other, counts], dims(4))
    assert x.tolist() == [1, 2, 3, 4] and other.tolist() == [2, 3, 4, 5]


def test_in_and_out_must_have_one_shape() -> None:
    thunk = make_plan(bump, outputs=1, in_out=("x",), init={"counts": 0}).target.thunk()
    message = refusal(thunk, [np.zeros(4, f32)], [np.zeros(5, f32), np.zeros(1, i32)], dims(4))
    assert "parameter 'x': goes in and comes out, but with sizes 4 and 5 along one axis" in message


def test_static_values_come_as_bits() -> None:
    thunk = make_plan(saxpy, static=("a",)).target.thunk()
    x, y, out = arrays()
    bits = np.array([2.5], f32).view(i32).astype(i64)
    Xla().call(thunk, [x, y], [out], {**dims(4), "values": bits})
    np.testing.assert_array_equal(out, f32(2.5) * x + y)
    assert "and 1 int64 values" in refusal(thunk, [x, y], [out], dims(4))


def large(n: int = 1_000_000) -> tuple[np.ndarray, ...]:
    return np.array(3, f32), np.arange(n, dtype=f32), np.ones(n, f32), np.zeros(n, f32)


@pytest.mark.parametrize("pool", ["threads", "inline", "refuses"])
def test_a_large_launch_is_shared_and_signalled_once(saxpy_thunk: int, pool: str) -> None:
    xla = Xla(threads=4, pool=pool)
    a, x, y, out = large()
    assert xla.call(saxpy_thunk, [a, x, y], [out], dims(x.size)) == 77
    np.testing.assert_array_equal(out, a * x + y)
    assert xla.available == [77]
    assert sorted(xla.destroyed) == sorted(xla.errors)


@pytest.mark.parametrize("xla", [Xla(pool="none"), Xla(1, "threads"), Xla(4, "threads", futures=False)])
def test_without_pool_or_futures_the_calling_thread_does_it(saxpy_thunk: int, xla: Xla) -> None:
    a, x, y, out = large()
    assert xla.call(saxpy_thunk, [a, x, y], [out], dims(x.size)) is None
    np.testing.assert_array_equal(out, a * x + y)
    assert not xla.workers and not xla.available
    assert sorted(xla.destroyed) == sorted(xla.errors)


def test_threads_share_batches_too(saxpy_thunk: int) -> None:
    xla = Xla(threads=3, pool="threads")
    a, x, y = np.arange(7, dtype=f32), np.arange(30_001, dtype=f32)[None], np.ones((7, 30_001), f32)
    out = np.zeros((7, 30_001), f32)
    assert xla.call(saxpy_thunk, [a, x, y], [out], dims(30_001)) == 77
    np.testing.assert_array_equal(out, a[:, None] * x + y)
    assert xla.available == [77]


def test_each_point_runs_exactly_once_over_threads() -> None:
    n = 500_000
    thunk = make_plan(bump, outputs=1, in_out=("x",), init={"counts": 0}).target.thunk()
    x, counts = np.zeros(n, f32), np.full(1, -5, i32)
    Xla(threads=4, pool="threads").call(thunk, [x], [x, counts], dims(n))
    assert counts[0] == n and (x == 1).all()


def test_a_target_is_named_by_its_content() -> None:
    first, again = make_plan(saxpy), make_plan(saxpy)
    other = make_plan(saxpy, static=("a",))
    assert first == again and first.target.name.startswith("workbench.saxpy.")
    assert first.target.name != other.target.name
