"""Functions that read values: called back in Python, with a notice; their gradients by a tape; what is refused."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.trees import assert_trees_close
from workbench.errors import NotDifferentiable

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def bend(x: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = s * wb.sin(x[i]) * x[i]


def until_small(x: wb.array[wb.float32], s: wb.array[wb.float32], y: wb.array[wb.float32]):
    """Halves until the largest number is below 1: how often is known only when it runs."""
    now = wb.zeros(x.shape[0])
    wb.copy(now, x)
    while now.numpy().max() > 1.0:
        after = wb.zeros(x.shape[0])
        wb.launch(bend, dim=x.shape, inputs=[now, 0.5], outputs=[after])
        now = after
    wb.launch(bend, dim=x.shape, inputs=[now, float(s.numpy()[0])], outputs=[y])


def until_small_jax(x: Any, s: float) -> Any:
    while x.max() > 1.0:
        x = 0.5 * jnp.sin(x) * x
    return s * jnp.sin(x) * x


X = np.array([0.5, 2.0, 2.8], np.float32)
TWO = np.array([2.0], np.float32)
CALLED = wb.jax_callable(until_small, graph_mode="none")


assert_same = functools.partial(assert_trees_close, rtol=2e-5, atol=1e-6)


def expected_slope(x: Any) -> Any:
    with jax.disable_jit():
        return jax.grad(lambda x: (until_small_jax(x, 2.0) ** 2).sum())(jnp.asarray(x))


def loss(x: Any) -> Any:
    return (CALLED(x, TWO) ** 2).sum()


def test_without_a_mode_it_falls_back_with_a_notice_and_has_gradients() -> None:
    f = wb.jax_callable(until_small)
    with pytest.warns(UserWarning, match="called back in Python at every call"):
        assert_same(f(X, TWO), until_small_jax(X, 2.0))
    assert_same(jax.jit(f)(X, TWO), until_small_jax(X, 2.0))
    assert_same(jax.grad(lambda x: (f(x, TWO) ** 2).sum())(X), expected_slope(X))


@pytest.mark.parametrize("mode", ["jax", "workbench", "staged"])
def test_a_mode_makes_reading_an_error_at_the_line(mode: str) -> None:
    f = wb.jax_callable(until_small, graph_mode=mode)
    with pytest.raises(wb.LaunchError, match="until_small reads the values of an array") as error:
        f(X, TWO)
    assert error.value.location.line == until_small.__code__.co_firstlineno + 4


@pytest.mark.slow
def test_gradients_under_jit_vmap_scan_and_checkpoint() -> None:
    assert_same(jax.jit(jax.grad(loss))(X), expected_slope(X))
    assert_same(jax.grad(jax.checkpoint(loss))(X), expected_slope(X))
    many = np.stack([X, 0.5 * X, X[::-1]])
    rows = np.stack([expected_slope(x) for x in many])
    assert_same(jax.vmap(jax.grad(loss))(many), rows)
    assert_same(jax.grad(lambda m: jax.vmap(loss)(m).sum())(many), rows)
    total = lambda m: jax.lax.scan(lambda c, x: (c + loss(x), None), 0.0, m)[0]  # noqa: E731
    assert_same(jax.jit(jax.grad(total))(many), rows)


def test_in_place_arguments_and_integers() -> None:
    def f(x: wb.array[wb.float32], n: wb.array[wb.int32]):
        for _ in range(int(n.numpy()[0])):
            wb.launch(bend, dim=x.shape, inputs=[x, 1.5], outputs=[x])
        n.fill_(0)

    g = wb.jax_callable(f, num_outputs=2, in_out_argnames=("x", "n"), graph_mode="none")
    count = np.array([2], np.int32)
    plain = lambda x: 1.5 * jnp.sin(1.5 * jnp.sin(x) * x) * 1.5 * jnp.sin(x) * x  # noqa: E731
    x, n = g(X, count)
    assert_same(x, plain(X))
    assert n.tolist() == [0]
    assert_same(jax.grad(lambda x: g(x, count)[0].sum())(X), jax.grad(lambda x: plain(x).sum())(X))


def test_what_a_tape_does_not_have_is_refused() -> None:
    with pytest.raises(NotDifferentiable, match="called back in Python and has no forward mode: only grad and vjp"):
        jax.jvp(loss, (X,), (X,))
    with pytest.raises(NotDifferentiable, match="has no forward mode"):
        jax.jit(lambda x: jax.jvp(loss, (x,), (x,)))(X)
    with pytest.raises(NotDifferentiable, match="has no second derivatives"):
        jax.grad(lambda x: jax.grad(loss)(x).sum())(X)
    with pytest.raises(NotDifferentiable, match="only grad and vjp work, once"):
        jax.hessian(loss)(X)

    def f(x: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
        x.numpy()
        wb.launch(bend, dim=x.shape, inputs=[x, s], outputs=[y])

    g = wb.jax_callable(f, graph_mode="none")
    assert_same(jax.grad(lambda x: g(x, 2.0).sum())(X), 2 * (np.cos(X) * X + np.sin(X)))
    with pytest.raises(NotDifferentiable, match=r"provides no gradient for the scalar s\."):
        jax.grad(lambda s: g(X, s).sum())(2.0)
