"""Forward mode and derivatives of any order through kernels, against the same mathematics written in JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.trees import assert_trees_close
from tests.support.kernels.jax_kernels import square_in_place, wave, wave_jax
from workbench.errors import NotDifferentiable

jax = pytest.importorskip("jax")
jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("x64")


@wb.kernel
def project(v: wb.array[wb.vec3d], axis: wb.vec3d, along: wb.array[wb.float64], which: wb.array[wb.int32]):
    i = wb.tid()
    along[i] = wb.dot(v[i], axis) * wb.dot(v[i], axis)
    which[i] = i


@wb.kernel
def spread(x: wb.array[wb.float64], index: wb.array[wb.int32], out: wb.array[wb.float64]):
    i = wb.tid()
    wb.atomic_add(out, index[i], x[i] * x[i])


X, W, A = np.linspace(0.1, 1, 5), np.cos(np.arange(5.0)), 1.3
kernel_wave = wb.jax_kernel(wave)


assert_same = functools.partial(assert_trees_close, rtol=1e-9, atol=1e-11)


def once(make: Callable[[], Any]) -> Any:
    """As one program: op by op, XLA compiles each."""
    return jax.jit(make)()


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, x, w: jnp.cos(f(a, x, w, 2)).sum()


def plain(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, x, w: f(a, x, w, 2)


WAYS: dict[str, Callable[[Any], Any]] = {
    "jvp": lambda f: jax.jvp(plain(f), (A, X, W), (0.5, W, X)),
    "jvp of the scalar, jitted": lambda f: jax.jit(lambda a: jax.jvp(lambda a: f(a, X, W, 2), (a,), (1.0,)))(A),
    "jacfwd": lambda f: jax.jacfwd(plain(f), (0, 1, 2))(A, X, W),
    "linearize": lambda f: jax.linearize(plain(f), A, X, W)[1](0.3, W, X),
    "hessian": lambda f: jax.hessian(total(f), (0, 1, 2))(A, X, W),
    "reverse over forward": lambda f: jax.jacrev(jax.jacfwd(total(f), (0, 1)), (0, 1, 2))(A, X, W),
    "reverse over reverse": lambda f: jax.jacrev(jax.grad(total(f), 1), (0, 1, 2))(A, X, W),
    "jvp of grad": lambda f: jax.jvp(jax.grad(lambda x: total(f)(A, x, W)), (X,), (W,)),
    "third": lambda f: jax.jacfwd(jax.jacfwd(jax.grad(total(f), 1)))(A, X, W),
    "vmap of hessian": lambda f: jax.vmap(jax.hessian(total(f), 1), (0, None, None))(np.array([1.0, 2]), X, W),
    "hessian of vmap": lambda f: jax.hessian(
        lambda x: total(jax.vmap(f, (None, 0, None, None)))(A, jnp.stack([x, 2 * x]), W)
    )(X),
    "jvp through scan": lambda f: jax.jvp(
        lambda a: jax.lax.scan(lambda c, w: (f(a, c, w, 1), None), X, np.stack([W, X]))[0], (A,), (1.0,)
    ),
    "checkpoint, second order": lambda f: jax.grad(lambda a: jax.grad(jax.checkpoint(total(f)))(a, X, W))(A),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", WAYS)
def test_derivatives_equal_jaxs_own(way: str) -> None:
    assert_same(once(lambda: WAYS[way](kernel_wave)), once(lambda: WAYS[way](wave_jax)))


def test_in_place_kernels_have_gradients_of_both_orders() -> None:
    f = wb.jax_kernel(square_in_place, in_out_argnames=["x"])
    assert_same(jax.grad(lambda x: f(f(x)).sum())(X), 4 * X**3)
    assert_same(once(lambda: jax.hessian(lambda x: f(f(x)).sum())(X)), np.diag(12 * X**2))
    assert_same(once(lambda: jax.grad(lambda x: jax.grad(lambda x: f(x).sum())(x) @ W)(X)), 2 * W)


@pytest.mark.slow
def test_vectors_integers_and_atomics() -> None:
    v, axis, index = np.random.default_rng(1).random((4, 3)), np.array([1.0, 2, 3]), np.array([0, 2, 2, 1], np.int32)
    f = wb.jax_kernel(project, num_outputs=2)
    for outer in (jax.jacfwd, jax.jacrev):
        found = jax.jit(outer(jax.grad(lambda v, axis: f(v, axis)[0].sum(), 1), 0))(v, axis)
        assert_same(found, jax.jit(outer(jax.grad(lambda v, axis: ((v @ axis) ** 2).sum(), 1), 0))(v, axis))
    g = wb.jax_kernel(spread, init={"out": "zeros"}, output_dims=3)
    x = X[:4]
    found = jax.jit(jax.hessian(lambda x: (g(x, index) ** 2).sum()))(x)
    assert_same(found, jax.jit(jax.hessian(lambda x: (ref(x, index) ** 2).sum()))(x))


def ref(x: Any, index: Any) -> Any:
    return jnp.zeros(3).at[index].add(x * x)


def test_static_scalars_stand_still() -> None:
    f = wb.jax_kernel(wave, static_argnames=("a", "n"))
    assert_same(jax.jvp(lambda x: f(A, x, W, 2), (X,), (W,)), jax.jvp(lambda x: wave_jax(A, x, W, 2), (X,), (W,)))


def test_what_was_wrapped_without_derivatives_refuses_all() -> None:
    f = wb.jax_kernel(wave, enable_backward=False)
    for use in (jax.grad(total(f)), jax.jacfwd(total(f))):
        with pytest.raises(NotDifferentiable, match="wave was wrapped with enable_backward=False"):
            use(A, X, W)
