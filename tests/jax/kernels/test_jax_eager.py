"""Calls that nothing traces, as operations of JAX's own behave: without jit, under a search for NaNs, transposed."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import NotDifferentiable

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def root(x: wb.array[wb.float32], a: wb.float32, y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = a * wb.sqrt(x[i])


def roots(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    between = wb.empty(x.shape[0])
    wb.launch(root, dim=x.shape, inputs=[x, 2.0], outputs=[between])
    wb.launch(root, dim=x.shape, inputs=[between, 1.0], outputs=[y])


kernel, function = wb.jax_kernel(root), wb.jax_callable(roots)


def one(x: Any) -> Any:
    return kernel(x, 2.0)


CALLS = [(one, lambda x: 2 * x**0.5), (function, lambda x: 2**0.5 * x**0.25)]


@pytest.mark.parametrize(("call", "meaning"), CALLS, ids=["kernel", "function"])
def test_without_jit_everything_means_the_same(call: Any, meaning: Any) -> None:
    x = jnp.linspace(1, 2, 5)
    with jax.disable_jit():
        np.testing.assert_allclose(call(x), meaning(x), rtol=1e-6)
        np.testing.assert_allclose(jax.jit(call)(x), meaning(x), rtol=1e-6)
        slope = jax.grad(lambda x: meaning(x).sum())(x)
        np.testing.assert_allclose(jax.grad(lambda x: call(x).sum())(x), slope, rtol=1e-5)
        np.testing.assert_allclose(jax.vmap(call)(jnp.stack([x, x])), [meaning(x)] * 2, rtol=1e-6)
        last, _ = jax.lax.scan(lambda c, _: (call(c), None), x, None, length=2)
        np.testing.assert_allclose(last, meaning(meaning(x)), rtol=1e-6)


@pytest.mark.parametrize(("call", "name"), [(one, "root"), (function, "roots")])
def test_a_nan_is_found_where_it_was_made(call: Any, name: str) -> None:
    x = jnp.arange(4.0)
    runs = [call, jax.jit(lambda x: call(x) + 1), lambda x: jax.vmap(call)(x[None]), jax.grad(lambda x: call(x).sum())]
    with jax.debug_nans(True):
        assert np.isfinite(call(x)).all()
        for run in runs:  # JAX 0.5 names the function that was jitted
            with pytest.raises(FloatingPointError, match=rf"encountered in (jit\()?({name}|<lambda>)"):
                run(x - 2.0)


@pytest.mark.parametrize("call", [one, function], ids=["kernel", "function"])
def test_transposing_what_is_not_linear_is_refused(call: Any) -> None:
    x = jnp.ones(3)
    with pytest.raises(NotDifferentiable, match=r"root is not linear in x: this line takes sqrt of .* jax.vjp"):
        jax.linear_transpose(call, x)(x)
    push = jax.linearize(call, x)[1]
    np.testing.assert_allclose(jax.linear_transpose(push, x)(x)[0], jax.vjp(call, x)[1](x)[0])


@pytest.mark.parametrize("call", [kernel, function], ids=["kernel", "function"])
def test_jit_finds_arguments_by_name(call: Any) -> None:
    x, rest = jnp.ones(4) + 0, (2.0,) * (call is kernel)
    assert list(inspect.signature(call).parameters)[: 1 + len(rest)] == ["x", "a"][: 1 + len(rest)]
    jax.jit(call, donate_argnames="x")(x, *rest)
    assert x.is_deleted()
    static = jax.jit(wb.jax_kernel(root, static_argnames="a"), static_argnames="a")
    np.testing.assert_allclose(static(jnp.ones(3), 3.0), [3, 3, 3])
    assert inspect.signature(type(call)), "the class has its own"


def test_settings_are_copied_with_the_functions_in_them() -> None:
    settings = {"layers": [kernel, function]}
    assert copy.deepcopy(settings) == settings and copy.copy(kernel) is kernel


def test_a_jaxpr_says_what_runs_in_a_few_words() -> None:
    shown = str(jax.make_jaxpr(jax.vmap(jax.grad(lambda x: one(x).sum())))(jnp.ones((2, 3))))
    assert "plan=root (adjoint)" in shown and "config=dim (3,) × batch (2,)" in shown and "Target(" not in shown
