"""Gradients of gradients of kernels whose loops run backwards from states that were kept, against JAX in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench.errors import NotDifferentiable

jax = pytest.importorskip("jax")
jnp = jax.numpy
ROWS, N = 3, 6

# Bodies of a kernel (x, a, y) that computes s from the row x[i, :n] and a, and the same for JAX.
PROGRAMS: dict[str, tuple[str, Callable[..., Any]]] = {
    "Horner": (
        "for j in range(n):\n        s = s * a + x[i, j] * x[i, j]",
        lambda x, a: jax.lax.scan(lambda s, v: (s * a + v * v, None), 0.0 * a, x)[0],
    ),
    "Horner, while": (
        "j = 0\n    while j < n:\n        s = s * a + x[i, j] * x[i, j]\n        j += 1",
        lambda x, a: jax.lax.scan(lambda s, v: (s * a + v * v, None), 0.0 * a, x)[0],
    ),
    "products in a sum": (
        "for j in range(n):\n        p = a\n        for k in range(j):\n            p = p * x[i, k]\n"
        "        s = s * 0.5 + p * p",
        lambda x, a: jax.lax.scan(lambda c, v: ((c[0] * 0.5 + c[1] ** 2, c[1] * v), None), (0.0 * a, a), x)[0][0],
    ),
    "log-sum-exp, in one loop": (
        "m = x[i, 0]\n    s = wb.exp(x[i, 0] - x[i, 0])\n    for j in range(1, n):\n        q = wb.max(m, x[i, j])\n"
        "        s = s * wb.exp(m - q) + wb.exp(x[i, j] - q)\n        m = q\n    s = (m + wb.log(s)) * a",
        lambda x, a: jax.scipy.special.logsumexp(x) * a,
    ),
}


def _cell(body: str) -> Any:
    parameters = "x: wb.array2d[wb.float64], a: wb.float64, y: wb.array[wb.float64]"
    before = "i = wb.tid()\n    n = x.shape[1]\n    s = wb.float64(0.0)"
    cell = f"""@wb.kernel
def k({parameters}):
    {before}
    {body}
    wb.atomic_add(y, 0, s * s)

@wb.kernel
def squares(x: wb.array2d[wb.float64], y: wb.array[wb.float64]):
    i, j = wb.tid()
    wb.atomic_add(y, 0, x[i, j] * x[i, j])"""
    return define(cell, {"wb": wb})


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_of_a_gradient_is_that_of_jax(name: str) -> None:
    body, function = PROGRAMS[name]
    cell = _cell(body)

    def energy(x: Any) -> Any:
        out = wb.zeros(1, wb.float64)
        wb.launch(cell["k"], ROWS, [x, 1.1, out])
        return out

    def steepness(x: Any) -> Any:
        out = wb.zeros(1, wb.float64)
        wb.launch(cell["squares"], (ROWS, N), [wb.grad(energy)(x), out])
        return out

    x = np.random.default_rng(0).uniform(0.6, 1.4, (ROWS, N))
    found = wb.grad(steepness)(wb.array(x)).numpy()
    with jax.enable_x64(True):
        total = lambda x: (jax.vmap(lambda row: function(row, jnp.float64(1.1)))(x) ** 2).sum()  # noqa: E731
        right = jax.jit(jax.grad(lambda x: (jax.grad(total)(x) ** 2).sum()))(x)
    np.testing.assert_allclose(found, right, rtol=1e-11)


@pytest.mark.slow
def test_jax_differentiates_twice_by_arrays_and_numbers() -> None:
    body, function = PROGRAMS["Horner"]
    with jax.enable_x64(True):
        call = wb.jax_kernel(_cell(body)["k"], launch_dims=ROWS, in_out_argnames=["y"])
        x = np.random.default_rng(1).uniform(0.6, 1.4, (ROWS, N))

        def ours(x: Any, a: Any) -> Any:
            return jnp.ravel(call(x, a, jnp.zeros(1))[0])[0]

        def theirs(x: Any, a: Any) -> Any:
            return (jax.vmap(lambda row: function(row, a))(x) ** 2).sum()

        for by in (0, 1):
            found, right = (jax.jacrev(jax.grad(f, by), by)(x, 1.1) for f in (ours, theirs))
            np.testing.assert_allclose(found, right, rtol=1e-11)


def test_what_has_no_second_gradient_is_refused_at_its_line() -> None:
    text = """@wb.kernel
def k(x: wb.array[wb.float64], n: int):
    i = wb.tid()
    s = x[i]
    for j in range(n):
        s = s * s
    x[i] = s"""
    kernel = define(text, {"wb": wb})["k"]

    def energy(x: Any) -> Any:
        x = wb.clone(x)
        wb.launch(kernel, 1, [x, 3])
        return x

    with pytest.raises(NotDifferentiable, match="backwards from states that were kept") as caught:
        wb.grad(lambda x: wb.grad(energy)(x))(wb.array(np.ones(1)))
    assert caught.value.location is not None and caught.value.location.line == 5
