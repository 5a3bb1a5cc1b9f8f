"""Gradients of gradients, of kernels with loops that carry values: in any order, against each other and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.trees import assert_trees_close

jax = pytest.importorskip("jax")
jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("x64")
DOUBLES = wb.array[wb.float64]


@wb.kernel
def horner(x: DOUBLES, c: DOUBLES, y: DOUBLES):
    i = wb.tid()
    s = wb.float64(0.0)
    for t in range(c.shape[0]):
        s = s * x[i] + c[t]
    y[i] = s


@wb.kernel
def newton(x: DOUBLES, bias: DOUBLES, y: DOUBLES):
    i = wb.tid()
    s = wb.float64(1.0)
    while wb.abs(s * s - x[i]) > 1e-13 * x[i]:
        s = 0.5 * (s + x[i] / s)
    y[i] = s * s * s + bias[i]


@wb.kernel
def nested(A: wb.array2d[wb.float64], x: DOUBLES, y: DOUBLES):
    i = wb.tid()
    s = x[i]
    for t in range(A.shape[1]):
        r = wb.float64(0.0)
        for _ in range(2):
            r = r * s + wb.sin(s * A[i, t])
        s = r + s * 0.5
    y[i] = s


X = np.linspace(0.3, 0.9, 3)
CASES: dict[str, tuple[Any, tuple[Any, ...], Callable[..., Any] | None]] = {
    "horner": (horner, (X, np.array([0.5, -1.0, 2.0, 0.7])), lambda x, c: jnp.polyval(c, x)),
    "newton": (newton, (X + 1, X), lambda x, bias: x**1.5 + bias),
    "nested": (nested, (np.cos(np.arange(9.0)).reshape(3, 3), X), None),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_reverse_over_reverse_is_forward_over_reverse(name: str) -> None:
    kernel, args, _ = CASES[name]
    f, every = wb.jax_kernel(kernel), (0, 1)

    def loss(*a: Any) -> Any:
        return jnp.sum(jnp.sin(f(*a)))

    twice = jax.jit(jax.jacrev(jax.jacrev(loss, every), every))(*args)
    assert_trees_close(twice, jax.jit(jax.jacfwd(jax.jacfwd(loss, every), every))(*args), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["horner", "newton"])
def test_the_gradient_of_a_gradients_norm_is_the_mathematics(name: str) -> None:
    kernel, args, mathematics = CASES[name]

    def norm(f: Callable[..., Any]) -> Callable[..., Any]:
        def of(x: Any, other: Any) -> Any:
            slope = jax.grad(lambda x: jnp.sum(jnp.sin(f(x, other))))(x)
            return jnp.sum(slope**2)

        return jax.jit(jax.grad(of, (0, 1)))

    assert mathematics is not None
    assert_trees_close(norm(wb.jax_kernel(kernel))(*args), norm(mathematics)(*args), rtol=1e-9, atol=1e-11)
    rows = jnp.stack([args[0], args[0] * 1.1])
    many = jax.vmap(norm(wb.jax_kernel(kernel)), (0, None))(rows, args[1])
    assert_trees_close(many, jax.vmap(norm(mathematics), (0, None))(rows, args[1]), rtol=1e-9, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_three_orders_in_either_mode(name: str) -> None:
    from jax.test_util import check_grads

    kernel, args, _ = CASES[name]
    check_grads(wb.jax_kernel(kernel), args, order=3, rtol=1e-3, atol=1e-3)
