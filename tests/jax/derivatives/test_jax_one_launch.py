"""Gradients of kernels whose adjoint is right for some launches only: what a tape takes, JAX's transforms take too."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb
from workbench.errors import NotDifferentiable


@wb.kernel
def turn(theta: wb.array[float], x: wb.array[float]):
    """One thread changes an element in place."""
    x[0] = wb.cos(theta[0]) * x[0]


@wb.kernel
def step(t: int, x: wb.array2d[float]):
    """Row t + 1 from row t."""
    i = wb.tid()
    n = x.shape[1]
    x[t + 1, i] = 0.5 * x[t, (i + 1) % n] * x[t, i]


@wb.kernel
def back(t: int, s: int, x: wb.array2d[float]):
    """Row t from row s."""
    i = wb.tid()
    x[t, i] = x[s, (i + 1) % x.shape[1]] * x[s, i]


def turned(theta: jax.Array, x: jax.Array) -> jax.Array:
    return x.at[0].set(jnp.cos(theta[0]) * x[0])


def stepped(x: jax.Array, t: int) -> jax.Array:
    return x.at[t + 1].set(0.5 * jnp.roll(x[t], -1) * x[t])


TURN = wb.jax_kernel(turn, launch_dims=1, in_out_argnames=["x"])
STEP = wb.jax_kernel(step, launch_dims=4, in_out_argnames=["x"], static_argnames=["t"])
THETA, X = jnp.array([0.5, 3.0]), jnp.array([2.0, -1.0])
ROWS = jnp.asarray(np.random.default_rng(1).uniform(0.5, 1.5, (3, 4)), jnp.float32)


def weigh(result: jax.Array) -> jax.Array:
    return jnp.sum(result * jnp.cos(jnp.arange(result.size, dtype=jnp.float32)).reshape(result.shape))


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_one_thread(wrap) -> None:
    found = wrap(jax.grad(lambda theta, x: weigh(TURN(theta, x)), (0, 1)))(THETA, X)
    expected = jax.grad(lambda theta, x: weigh(turned(theta, x)), (0, 1))(THETA, X)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_rows_that_never_meet(wrap) -> None:
    found = wrap(jax.grad(lambda x: weigh(STEP(1, STEP(0, x)))))(ROWS)
    np.testing.assert_allclose(found, jax.grad(lambda x: weigh(stepped(stepped(x, 0), 1)))(ROWS), rtol=1e-5)


@pytest.mark.slow
def test_batches_of_launches() -> None:
    """Each launch of a batch is one thread; JAX may run them as one launch of many."""
    many = jnp.linspace(0.1, 2.0, 2 * 70).reshape(70, 2)
    found = jax.vmap(jax.grad(lambda theta, x: weigh(TURN(theta, x))), (0, None))(many, X)
    expected = jax.vmap(jax.grad(lambda theta, x: weigh(turned(theta, x))), (0, None))(many, X)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    rows = jnp.stack([ROWS * s for s in jnp.linspace(0.5, 1.5, 5)])
    found = jax.jit(jax.vmap(jax.grad(lambda x: weigh(STEP(1, x)))))(rows)
    np.testing.assert_allclose(found, jax.vmap(jax.grad(lambda x: weigh(stepped(x, 1))))(rows), rtol=1e-5)


@pytest.mark.slow
def test_higher_derivatives() -> None:
    found = jax.hessian(lambda theta: weigh(TURN(theta, X)))(THETA)
    np.testing.assert_allclose(found, jax.hessian(lambda theta: weigh(turned(theta, X)))(THETA), rtol=1e-5)
    found = jax.jacfwd(jax.grad(lambda x: weigh(STEP(0, x))))(ROWS)
    np.testing.assert_allclose(found, jax.jacfwd(jax.grad(lambda x: weigh(stepped(x, 0))))(ROWS), rtol=1e-5)


def test_functions_of_launches() -> None:
    def both(theta: wb.array[float], x: wb.array2d[float]):
        for t in range(2):
            wb.launch(step, 4, [t, x])
        wb.launch(turn, 1, [theta, x[2]])

    both = wb.jax_callable(both, in_out_argnames=["x"])

    def same(theta: jax.Array, x: jax.Array) -> jax.Array:
        x = stepped(stepped(x, 0), 1)
        return x.at[2].set(turned(theta, x[2]))

    found = jax.jit(jax.grad(lambda theta, x: weigh(both(theta, x)), (0, 1)))(THETA, ROWS)
    expected = jax.grad(lambda theta, x: weigh(same(theta, x)), (0, 1))(THETA, ROWS)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_a_launch_in_which_threads_meet_stays_refused() -> None:
    """The same kernel, differentiable for one shape before and after."""
    of_two = wb.jax_kernel(turn, launch_dims=2, in_out_argnames=["x"])
    for _ in range(2):
        jax.grad(lambda theta: weigh(TURN(theta, X)))(THETA)
        with pytest.raises(NotDifferentiable, match="another thread"):
            jax.grad(lambda theta: weigh(of_two(theta, X)))(THETA)


def test_static_numbers_decide() -> None:
    fixed = wb.jax_kernel(back, launch_dims=4, in_out_argnames=["x"], static_argnames=["t", "s"])
    found = jax.jit(jax.grad(lambda x: weigh(fixed(2, 0, x))))(ROWS)
    expected = jax.grad(lambda x: weigh(x.at[2].set(jnp.roll(x[0], -1) * x[0])))(ROWS)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    with pytest.raises(NotDifferentiable, match="another thread"):
        jax.grad(lambda x: weigh(fixed(2, -1, x)))(ROWS)


def test_a_number_that_jax_traces_decides_nothing() -> None:
    traced = wb.jax_kernel(back, launch_dims=4, in_out_argnames=["x"])
    with pytest.raises(NotDifferentiable, match="another thread"):
        jax.jit(jax.grad(lambda x, t: weigh(traced(t, 0, x))))(ROWS, 2)


def test_an_exported_gradient_is_that_of_its_launch() -> None:
    gradient = jax.grad(lambda x: weigh(STEP(0, x)))
    data = wb.jax_pack(wb.jax_export(jax.jit(gradient))(jax.ShapeDtypeStruct(ROWS.shape, ROWS.dtype)))
    np.testing.assert_array_equal(wb.jax_unpack(data).call(ROWS), gradient(ROWS))
