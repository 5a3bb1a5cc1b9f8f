"""jax.grad through kernels, against jax.grad of the same mathematics written in JAX."""

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
    along[i] = wb.dot(v[i], axis)
    which[i] = i


@wb.kernel
def spread(x: wb.array[wb.float64], index: wb.array[wb.int32], out: wb.array[wb.float64]):
    i = wb.tid()
    wb.atomic_add(out, index[i], x[i] * 3.0)


@wb.kernel
def relax(rate: wb.float64, target: wb.array[wb.float64], x: wb.array[wb.float64]):
    i = wb.tid()
    x[i] = target[i] * rate


@wb.kernel
def power_in_pairs(x: wb.array[wb.float64]):
    i = wb.tid()
    x[i] = x[i] * x[i + 1]


rng = np.random.default_rng(3)
X, W, XS, WS = rng.random(6), rng.random(6), rng.random((4, 6)), rng.random((4, 6))
A, AS = 1.3, rng.random(4)
kernel_wave = wb.jax_kernel(wave)


assert_same = functools.partial(assert_trees_close, rtol=1e-10, atol=1e-12)


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: jnp.cos(f(*args)).sum()


GRADS = {
    "grad": lambda f: jax.grad(total(f), (0, 1, 2)),
    "one argument": lambda f: jax.grad(total(f), 1),
    "value and grad": lambda f: jax.value_and_grad(total(f), (0, 2)),
    "jit of grad": lambda f: jax.jit(jax.grad(total(f), (0, 1, 2)), static_argnums=3),
    "grad of jit": lambda f: jax.grad(total(jax.jit(f, static_argnums=3)), (0, 1, 2)),
    "checkpoint": lambda f: jax.grad(total(jax.checkpoint(f, static_argnums=3)), (0, 1, 2)),
    "jacrev": lambda f: jax.jacrev(f, (0, 1, 2)),
    "twice in a row": lambda f: jax.grad(lambda a, x, w, n: f(a, f(a, x, w, n), w, n).sum(), (0, 1, 2)),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", GRADS)
def test_gradients_of_one_launch(name: str) -> None:
    assert_same(GRADS[name](kernel_wave)(A, X, W, 2), GRADS[name](wave_jax)(A, X, W, 2))


# What is mapped, and what is shared by all batches: both kinds of gradients must be right.
MAPS = {
    "arrays": ((None, 0, 0, None), (A, XS, WS, 2)),
    "one array, one shared": ((None, 0, None, None), (A, XS, W, 2)),
    "the scalar alone": ((0, None, None, None), (AS, X, W, 2)),
    "last axis": ((None, 1, None, None), (A, XS.T, W, 2)),
}
ORDERS = {
    "vmap of grad": lambda f, axes: jax.vmap(jax.grad(total(f), (0, 1, 2)), axes),
    "grad of vmap": lambda f, axes: jax.grad(total(jax.vmap(f, axes)), (0, 1, 2)),
    "jit of grad of vmap": lambda f, axes: jax.jit(jax.grad(total(jax.vmap(f, axes)), (0, 1, 2)), static_argnums=3),
    "vmap of grad of jit": lambda f, axes: jax.vmap(jax.grad(total(jax.jit(f, static_argnums=3)), (0, 1, 2)), axes),
    "grad of vmap of jit": lambda f, axes: jax.grad(total(jax.vmap(jax.jit(f, static_argnums=3), axes)), (0, 1, 2)),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("mapped", MAPS)
@pytest.mark.parametrize("order", ORDERS)
def test_gradients_under_vmap(order: str, mapped: str) -> None:
    axes, args = MAPS[mapped]
    assert_same(ORDERS[order](kernel_wave, axes)(*args), ORDERS[order](wave_jax, axes)(*args))


@pytest.mark.sample(2)
@pytest.mark.parametrize("order", ["vmap of grad", "jit of grad of vmap"])
@pytest.mark.parametrize("method", ["broadcast_all", "sequential"])
def test_gradients_under_the_other_vmap_methods(order: str, method: str) -> None:
    axes, args = MAPS["one array, one shared"]
    f = wb.jax_kernel(wave, vmap_method=method)
    assert_same(ORDERS[order](f, axes)(*args), ORDERS[order](wave_jax, axes)(*args))


@pytest.mark.slow
def test_nested_vmap_sums_what_each_level_shares() -> None:
    def nested(f: Callable[..., Any]) -> Any:
        inner = jax.vmap(f, (None, 0, None, None))
        outer = jax.vmap(inner, (0, None, 0, None))
        return jax.grad(total(outer), (0, 1, 2))(AS[:3], XS, WS[:3], 1)

    assert_same(nested(kernel_wave), nested(wave_jax))


def test_through_scan() -> None:
    def unrolled(f: Callable[..., Any]) -> Any:
        def loss(a: Any, x: Any) -> Any:
            last, kept = jax.lax.scan(lambda c, w: (f(a, c, w, 1), f(a, c, w, 2).sum()), x, WS)
            return (last**2).sum() + kept.sum()

        return jax.jit(jax.grad(loss, (0, 1)))(A, X)

    assert_same(unrolled(kernel_wave), unrolled(wave_jax))


def test_vectors_and_outputs_that_have_no_gradient() -> None:
    v, axis = rng.random((5, 3)), rng.random(3)
    f = wb.jax_kernel(project, num_outputs=2)

    def loss(project: Any) -> Any:
        return jax.grad(lambda v, axis: (project(v, axis) ** 3).sum(), (0, 1))(v, axis)

    assert_same(loss(lambda v, axis: f(v, axis)[0]), loss(lambda v, axis: v @ axis))
    assert_same(loss(lambda v, axis: f(v, axis)[0] * f(v, axis)[1]), loss(lambda v, axis: (v @ axis) * jnp.arange(5)))


@pytest.mark.slow
def test_atomic_adds_with_an_integer_operand() -> None:
    f = wb.jax_kernel(spread, init={"out": "zeros"}, output_dims=3)
    index = np.array([0, 2, 2, 1, 0, 2], np.int32)

    def reference(x: Any, index: Any) -> Any:
        return jnp.zeros(3).at[index].add(3 * x)

    assert_same(jax.grad(total(f))(X, index), jax.grad(total(reference))(X, index))
    assert_same(
        jax.vmap(jax.grad(total(f)), (0, None))(XS, index), jax.vmap(jax.grad(total(reference)), (0, None))(XS, index)
    )


@pytest.mark.slow
def test_what_goes_in_and_comes_out() -> None:
    f = wb.jax_kernel(relax, in_out_argnames=["x"], launch_dims=4)

    def reference(rate: Any, target: Any, x: Any) -> Any:
        return x.at[:4].set(target[:4] * rate)

    assert_same(jax.grad(total(f), (0, 1, 2))(A, X, W), jax.grad(total(reference), (0, 1, 2))(A, X, W))
    shared = (None, 0, None)
    assert_same(
        jax.grad(total(jax.vmap(f, shared)), (0, 1, 2))(A, XS, W),
        jax.grad(total(jax.vmap(reference, shared)), (0, 1, 2))(A, XS, W),
    )


def test_unused_results_have_zero_gradients() -> None:
    f = wb.jax_kernel(project, num_outputs=2)
    got = jax.grad(lambda v: f(v, np.ones(3))[1].sum().astype(float) + 2 * v.sum())(rng.random((5, 3)))
    assert_same(got, np.full((5, 3), 2.0))


def test_static_arguments_have_no_gradient_and_the_others_do() -> None:
    f = wb.jax_kernel(wave, static_argnames=("a", "n"))
    got = jax.grad(lambda x: total(f)(A, x, W, 2))(X)
    assert_same(got, jax.grad(lambda x: total(wave_jax)(A, x, W, 2))(X))


def test_what_the_adjoint_cannot_do_is_refused_at_its_line() -> None:
    f = wb.jax_kernel(power_in_pairs, in_out_argnames=["x"], launch_dims=5)
    with pytest.raises(NotDifferentiable) as error:
        jax.grad(total(f))(X)
    assert error.value.location is not None


def test_what_is_overwritten_is_taken_from_the_operand() -> None:
    f = wb.jax_kernel(square_in_place, in_out_argnames=["x"])
    assert_same(jax.grad(total(f))(X), jax.grad(lambda x: total(lambda y: y * y)(x))(X))


def test_enable_backward_false_refuses() -> None:
    f = wb.jax_kernel(wave, enable_backward=False)
    with pytest.raises(NotDifferentiable, match="wave was wrapped with enable_backward=False"):
        jax.grad(total(f))(A, X, W, 1)
    assert_same(f(A, X, W, 1), wave_jax(A, X, W, 1))
