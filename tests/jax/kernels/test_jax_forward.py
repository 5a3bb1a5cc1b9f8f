"""Kernels as JAX functions: the same numbers as NumPy, eagerly and under jit, vmap and scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def affine(a: wb.float32, x: wb.array[wb.float32], b: wb.float32, out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = a * x[i] + b


@wb.kernel
def planes(x: wb.array3d[wb.float32], out: wb.array3d[wb.float32]):
    i, j, k = wb.tid()
    out[i, j, k] = x[i, j, k] * 2.0 + wb.float32(i)


@wb.kernel
def column_sums(x: wb.array2d[wb.float32], out: wb.array[wb.float32]):
    j = wb.tid()
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i, j]
    out[j] = s


@wb.kernel
def spin(v: wb.array[wb.vec3], axis: wb.vec3, out: wb.array[wb.vec3]):
    i = wb.tid()
    out[i] = wb.cross(v[i], axis)


@wb.kernel
def count(x: wb.array[wb.int32], keep: wb.array[wb.bool], low: wb.int32, out: wb.array[wb.int32]):
    i = wb.tid()
    if keep[i] and x[i] >= low:
        wb.atomic_add(out, 0, 1)


@wb.kernel
def both(x: wb.array[wb.float32], plus: wb.array[wb.float32], minus: wb.array[wb.float32]):
    i = wb.tid()
    plus[i] = x[i] + 1.0
    minus[i] = x[i] - 1.0


@wb.kernel
def decay(rate: wb.float32, x: wb.array[wb.float32]):
    i = wb.tid()
    x[i] = x[i] * rate


@wb.kernel
def ramp(scale: wb.float32, out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = scale * wb.float32(i)


@wb.kernel
def doubled(x, out: wb.array[wb.float64]):
    i = wb.tid()
    out[i] = wb.float64(x[i]) * 2.0


def eager(f: Callable[..., Any]) -> Callable[..., Any]:
    return f


WAYS = pytest.mark.parametrize("way", [eager, jax.jit], ids=["eager", "jit"])
x5 = np.arange(5, dtype=np.float32)


@WAYS
def test_scalars_are_numbers_traced_or_arrays(way: Callable[..., Any]) -> None:
    f = way(wb.jax_kernel(affine))
    for a, b in ((2.0, 1), (jnp.float32(2), jnp.array(1.0)), (np.float32(2), np.int64(1))):
        np.testing.assert_array_equal(f(a, x5, b), 2 * x5 + 1)


def test_static_scalars_stand_in_the_program() -> None:
    f = wb.jax_kernel(affine, static_argnames=("a",))
    np.testing.assert_array_equal(f(3.0, x5, 1.0), 3 * x5 + 1)
    text = jax.jit(lambda x: f(3.0, x, 1.0)).lower(x5).as_text()
    assert "values" in text
    np.testing.assert_array_equal(jax.vmap(lambda b: f(3.0, x5, b))(jnp.arange(2.0)), [3 * x5, 3 * x5 + 1])


@WAYS
def test_three_dimensions(way: Callable[..., Any]) -> None:
    x = np.random.default_rng(0).random((3, 4, 5), np.float32)
    np.testing.assert_array_equal(way(wb.jax_kernel(planes))(x), x * 2 + np.arange(3, dtype=np.float32)[:, None, None])


@WAYS
def test_dims_of_the_launch_and_of_the_output(way: Callable[..., Any]) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    expected = x.sum(0)
    np.testing.assert_array_equal(way(wb.jax_kernel(column_sums, launch_dims=4))(x), expected)
    f = wb.jax_kernel(column_sums)
    np.testing.assert_array_equal(way(lambda x: f(x, launch_dims=(4,)))(x), expected)
    longer = way(lambda x: f(x, launch_dims=2, output_dims={"out": 4}))(x)
    assert longer.shape == (4,) and np.array_equal(longer[:2], expected[:2])


@WAYS
def test_vectors_are_a_last_axis_of_components(way: Callable[..., Any]) -> None:
    v, axis = np.random.default_rng(1).random((6, 3), np.float32), np.array([1, 2, 3], np.float32)
    f = wb.jax_kernel(spin)
    np.testing.assert_allclose(way(f)(v, axis), np.cross(v, axis), rtol=1e-6)
    assert f(v, (1.0, 2.0, 3.0)).shape == (6, 3)


@WAYS
def test_integers_booleans_and_an_output_that_adds_up(way: Callable[..., Any]) -> None:
    f = wb.jax_kernel(count, init={"out": 100}, output_dims=1)
    x, keep = np.arange(6, dtype=np.int32), np.array([1, 1, 0, 1, 0, 1], bool)
    assert way(f)(x, keep, 2).tolist() == [102]
    each = jax.vmap(f, (None, None, 0))(x, keep, jnp.arange(7))
    assert each.tolist() == [[104], [103], [102], [102], [101], [101], [100]]


@WAYS
def test_several_outputs(way: Callable[..., Any]) -> None:
    plus, minus = way(wb.jax_kernel(both, num_outputs=2))(x5)
    np.testing.assert_array_equal(plus - 2, minus)


@WAYS
def test_what_goes_in_and_comes_out_leaves_the_argument_as_it_was(way: Callable[..., Any]) -> None:
    f = way(wb.jax_kernel(decay, in_out_argnames=["x"]))
    x = jnp.arange(4.0)
    np.testing.assert_array_equal(f(0.5, x), [0, 0.5, 1, 1.5])
    assert x.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(jax.vmap(f, (0, None))(jnp.array([1.0, 2.0]), x), [x, 2 * x])


@WAYS
def test_a_kernel_without_array_inputs(way: Callable[..., Any]) -> None:
    np.testing.assert_array_equal(way(wb.jax_kernel(ramp, launch_dims=4))(2.0), [0, 2, 4, 6])


def test_generic_inputs_take_their_type_from_the_argument(x64: None) -> None:
    f = wb.jax_kernel(doubled)
    for dtype in ("int32", "float32", "uint8", "float64", "int64"):
        assert f(np.arange(3, dtype=dtype)).tolist() == [0, 2, 4]


def test_an_empty_launch() -> None:
    assert wb.jax_kernel(affine)(1.0, x5[:0], 1.0).shape == (0,)


@pytest.mark.parametrize("method", ["expand_dims", "broadcast_all", "sequential"])
def test_each_vmap_method_gives_the_same(method: str) -> None:
    f = wb.jax_kernel(affine, vmap_method=method)
    x = np.random.default_rng(2).random((5, 3), np.float32)
    a = jnp.arange(4.0)
    inner = jax.vmap(f, (None, 1, None))
    got = jax.jit(jax.vmap(inner, (0, None, None), out_axes=1))(a, x, 1.0)
    np.testing.assert_allclose(got, np.asarray(a)[None, :, None] * x.T[:, None] + 1, rtol=1e-6)


def test_expand_dims_broadcasts_nothing() -> None:
    f = wb.jax_kernel(affine)
    text = jax.jit(jax.vmap(f, (0, None, None))).lower(jnp.arange(50.0), x5, 1.0).as_text()
    assert "tensor<1x5xf32>" in text and text.count("tensor<50x5xf32>") <= 4
    assert not [row for row in text.splitlines() if "broadcast_in_dim" in row and "50x5" in row]


def test_inside_scan_and_while() -> None:
    f = wb.jax_kernel(affine)
    last, _ = jax.jit(lambda x: jax.lax.scan(lambda c, a: (f(a, c, 1.0), None), x, jnp.array([2.0, 3.0])))(x5)
    np.testing.assert_array_equal(last, 3 * (2 * x5 + 1) + 1)
    looped = jax.lax.fori_loop(0, 3, lambda n, c: f(2.0, c, 0.0), jnp.asarray(x5))
    np.testing.assert_array_equal(looped, 8 * x5)


def test_a_large_launch_over_xlas_threads() -> None:
    x = jnp.arange(2_000_003, dtype=jnp.float32)
    f = jax.jit(lambda x: wb.jax_kernel(affine)(2.0, x, 1.0) + 1.0)
    np.testing.assert_array_equal(f(x), 2 * x + 2)


@wb.kernel
def halved(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = 0.5 * x[i]


@pytest.mark.parametrize("count", [8, 1_000_000])
def test_subnormal_numbers_are_numbers(count: int) -> None:
    """XLA's threads take them for 0; a large launch runs on several of them."""
    x = np.full(count, 3e-39, np.float32)
    x[:4] = 1.2e-38, -5e-45, 1e-45, 1.0
    f, y = wb.jax_kernel(halved), wb.zeros(count)
    wb.launch(halved, count, [x], [y])
    assert y.numpy()[4] > 0
    for found in (jax.jit(f)(x), jax.jit(jax.vmap(f))(x.reshape(4, -1))):
        np.testing.assert_array_equal(np.asarray(found).reshape(-1).view(np.uint32), y.numpy().view(np.uint32))
    # The thread's mode is as it was: XLA's own operations flush. (Not all of its threads did in 0.5.)
    tiny = jax.jit(lambda x: f(x) * 2.0)(x[:8])
    assert np.asarray(tiny)[4] == 0.0
