"""What crosses to JAX: every dtype, vectors, matrices, quaternions, names, dimensions at construction or per call."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.trees import assert_trees_close

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def add(x, y, out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = wb.float32(x[i]) + wb.float32(y)


@wb.kernel
def scale16(x: wb.array[wb.float16], a: wb.float16, out: wb.array[wb.float16]):
    i = wb.tid()
    out[i] = x[i] * x[i] * a


@wb.kernel
def scaleb16(x: wb.array[wb.bfloat16], a: wb.bfloat16, out: wb.array[wb.bfloat16]):
    i = wb.tid()
    out[i] = x[i] * x[i] * a


@wb.kernel
def flags(x: wb.array[wb.int8], y: wb.array[wb.uint16], low: wb.int8, out: wb.array[wb.bool]):
    i = wb.tid()
    out[i] = x[i] > low and y[i] != wb.uint16(3)


@wb.kernel
def turn(m: wb.array[wb.mat22], by: wb.mat22, v: wb.vec2, out: wb.array[wb.mat22], moved: wb.array[wb.vec2]):
    i = wb.tid()
    out[i] = m[i] @ by
    moved[i] = (m[i] @ by) @ v


@wb.kernel
def rotate(q: wb.quat, v: wb.array[wb.vec3], out: wb.array[wb.vec3]):
    i = wb.tid()
    out[i] = wb.quat_rotate(q, v[i])


@wb.kernel
def rows(x: wb.array2d[wb.float32], a: wb.float32, out: wb.array[wb.float32]):
    i = wb.tid()
    s = 0.0
    for j in range(x.shape[1]):
        s += a * x[i, j] * x[i, j]
    out[i] = s


assert_same = functools.partial(assert_trees_close, rtol=1e-5, atol=1e-6)


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"])
def test_every_dtype_of_generic_inputs(dtype: str) -> None:
    x = np.array([0, 1, 1, 0], dtype)
    f = wb.jax_kernel(add)
    assert_same(jax.jit(f)(x, x[1]), x.astype(float) + 1)
    assert_same(f(x, y=2), x.astype(float) + 2)


@pytest.mark.parametrize(("kernel", "dtype"), [(scale16, "float16"), (scaleb16, "bfloat16")])
def test_half_floats_and_their_gradients(kernel: Any, dtype: str) -> None:
    x = jnp.arange(1, 5).astype(dtype)
    f = wb.jax_kernel(kernel)
    assert f(x, 0.5).dtype == dtype
    assert_same(f(x, 0.5), 0.5 * np.arange(1, 5) ** 2)
    dx, da = jax.grad(lambda x, a: f(x, a).astype("float32").sum(), (0, 1))(x, jnp.asarray(0.5, dtype))
    assert dx.dtype == dtype and da.dtype == dtype
    assert_same((dx, da), (np.arange(1, 5), 30))
    assert_same(jax.jvp(lambda x: f(x, 0.5), (x,), (x,))[1], np.arange(1, 5) ** 2)
    assert_same(jax.vmap(f, (None, 0))(x, jnp.array([1, 2], dtype)), np.outer([1, 2], np.arange(1, 5) ** 2))


def test_small_integers_and_booleans() -> None:
    f = wb.jax_kernel(flags)
    out = f(np.array([1, 5, -3], np.int8), np.array([1, 3, 2], np.uint16), -4)
    assert out.dtype == bool and out.tolist() == [True, False, True]


def turn_jax(m: Any, by: Any, v: Any) -> Any:
    return m @ by, (m @ by) @ v


def test_matrices_have_two_last_axes() -> None:
    rng = np.random.default_rng(0)
    m, by, v = (rng.random(s, np.float32) for s in ((5, 2, 2), (2, 2), (2,)))
    f = wb.jax_kernel(turn, num_outputs=2)
    assert_same(jax.jit(f)(m, by, v), turn_jax(m, by, v))
    assert_same(f(m, ((1, 2), (3, 4)), (1.0, 2.0)), turn_jax(m, np.array([[1, 2], [3, 4]]), np.array([1, 2])))

    def loss(f: Any) -> Any:
        return lambda m, by: sum((r**2).sum() for r in f(m, by, v))

    assert_same(jax.jit(jax.grad(loss(f), (0, 1)))(m, by), jax.jit(jax.grad(loss(turn_jax), (0, 1)))(m, by), rtol=1e-4)
    bys = rng.random((3, 2, 2), np.float32)
    assert_same(jax.vmap(f, (None, 0, None))(m, bys, v), jax.vmap(turn_jax, (None, 0, None))(m, bys, v))
    with pytest.raises(wb.LaunchError, match="Its last axes are 2 by 2"):
        f(rng.random((5, 3, 2), np.float32), by, v)


def test_matrices_in_a_function_of_launches() -> None:
    def both(m: wb.array[wb.mat22], by: wb.mat22, out: wb.array[wb.mat22]):
        moved = wb.zeros(m.shape[0], dtype=wb.vec2)
        wb.launch(turn, dim=m.shape, inputs=[m, by, wb.vec2(1.0, 2.0)], outputs=[out, moved])

    rng = np.random.default_rng(1)
    m, by = rng.random((4, 2, 2), np.float32), rng.random((2, 2), np.float32)
    f = wb.jax_callable(both)
    assert_same(f(m, by), m @ by)
    assert_same(jax.grad(lambda by: f(m, by).sum())(jnp.asarray(by)), jax.grad(lambda by: (m @ by).sum())(by))


def test_quaternions() -> None:
    q, v = jnp.array([0, 0, np.sqrt(0.5), np.sqrt(0.5)]), np.eye(3, dtype=np.float32)
    f = wb.jax_kernel(rotate)
    assert_same(f(q, v), [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    assert jax.grad(lambda q: f(q, v).sum())(q).shape == (4,)


@pytest.mark.slow
def test_dimensions_per_call_also_with_gradients() -> None:
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    f = wb.jax_kernel(rows)
    call = lambda x, a: f(x, a, launch_dims=3, output_dims={"out": 3})  # noqa: E731
    assert_same(jax.jit(call)(x, 2.0), 2 * (x**2).sum(1))
    got = jax.grad(lambda x, a: call(x, a).sum(), (0, 1))(x, 2.0)
    assert_same(got, (4 * x, (x**2).sum()))
    g = wb.jax_kernel(rows, launch_dims=3, output_dims=3, block_dim=64)
    assert_same(jax.hessian(lambda a: g(x, a).sum() ** 2)(2.0), 2 * float((x**2).sum()) ** 2)
    assert_same(g(a=1.0, x=x, block_dim=32), (x**2).sum(1))


@pytest.mark.parametrize("block", [0, 2000, "many"])
def test_a_block_size_that_cannot_be_is_refused(block: Any) -> None:
    with pytest.raises(wb.LaunchError, match="block_dim of rows is"):
        wb.jax_kernel(rows, block_dim=block)


def test_an_eager_call_with_dimensions_compiles_once() -> None:
    f, x = wb.jax_kernel(rows), np.ones((3, 2), np.float32)
    run = lambda: f(x, 1.0, launch_dims=[3], output_dims={"out": (3,)})  # noqa: E731
    run()
    with jax.log_compiles():
        compiled: list[str] = []
        jax.monitoring.register_event_duration_secs_listener(lambda event, _, **__: compiled.append(event))
        assert_same(run(), [2, 2, 2])
    assert not [e for e in compiled if "backend_compile" in e]
