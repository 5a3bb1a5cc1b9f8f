"""Gradients of complex numbers by JAX's convention, (∂L/∂x) - i (∂L/∂y), on tapes and through JAX, beside JAX's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")
jnp = jax.numpy

C = wb.complex128
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda z, w: jnp.exp(z),
    "log": lambda z, w: jnp.log(z),
    "sqrt": lambda z, w: jnp.sqrt(z),
    "sin": lambda z, w: jnp.sin(z),
    "cos": lambda z, w: jnp.cos(z),
    "sinh": lambda z, w: jnp.sinh(z),
    "cosh": lambda z, w: jnp.cosh(z),
    "tanh": lambda z, w: jnp.tanh(z),
    "product": lambda z, w: z * w,
    "quotient": lambda z, w: z / w,
    "conj": lambda z, w: jnp.conj(z) * z * z,
    "abs": lambda z, w: jnp.abs(z) * w,
    "parts": lambda z, w: z.real * w + 1j * z.imag * w.imag,
    "cube": lambda z, w: z**3,
    "inverse square": lambda z, w: 1 / (z * z),
    "power": lambda z, w: z**w,
    "choice": lambda z, w: jnp.where(z.real > 0, z * z, w),
    "both ways": lambda z, w: (z.real + 1j * w.imag) * 2.0,
}


@wb.kernel
def everything(z: wb.array[C], w: wb.array[C], y: wb.array2d[C]):
    i = wb.tid()
    a, b = z[i], w[i]
    y[0, i] = wb.exp(a)
    y[1, i] = wb.log(a)
    y[2, i] = wb.sqrt(a)
    y[3, i] = wb.sin(a)
    y[4, i] = wb.cos(a)
    y[5, i] = wb.sinh(a)
    y[6, i] = wb.cosh(a)
    y[7, i] = wb.tanh(a)
    y[8, i] = a * b
    y[9, i] = a / b
    y[10, i] = wb.conj(a) * a * a
    y[11, i] = abs(a) * b
    y[12, i] = a.real * b + complex(0.0, a.imag * b.imag)
    y[13, i] = a**3
    y[14, i] = a**-2
    y[15, i] = a**b
    y[16, i] = a * a if a.real > 0.0 else b
    y[17, i] = complex(a.real, b.imag) * 2.0


def points(count: int = 6) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(8)
    z, w = rng.normal(size=(2, count)) + 1j * rng.normal(size=(2, count))
    weights = rng.normal(size=(len(FUNCTIONS), count)) + 1j * rng.normal(size=(len(FUNCTIONS), count))
    return z, w, weights


def jax_results(z: Any, w: Any) -> Any:
    return jnp.stack([f(z, w) + 0j for f in FUNCTIONS.values()])


@pytest.mark.slow
def test_adjoints_of_a_tape_are_those_of_jax(x64: None) -> None:
    z, w, weights = points()
    a, b, y = wb.array(z, requires_grad=True), wb.array(w, requires_grad=True), wb.zeros(weights.shape, dtype=C)
    with wb.Tape() as tape:
        wb.launch(everything, z.size, [a, b], [y])
    value, pulled = jax.vjp(jax.jit(jax_results), z, w)
    np.testing.assert_allclose(y.numpy(), value, rtol=1e-12)
    pull = jax.jit(pulled)
    for row, name in enumerate(FUNCTIONS):
        only = np.zeros_like(weights)
        only[row] = weights[row]
        tape.zero()
        tape.backward(grads={y: only})
        for ours, theirs in zip((a.grad, b.grad), pull(only), strict=True):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-11, atol=1e-12, err_msg=name)


def test_the_magnitude_has_a_gradient_of_0_at_0_as_jaxs() -> None:
    z = wb.array(np.array([0, 3 - 4j, 1e200j]))
    found = wb.grad(lambda z: abs(z).sum())(z).numpy()
    np.testing.assert_allclose(found, [0, 0.6 + 0.8j, -1j])


TRANSFORMS = {
    "grad": lambda f, z, w: jax.jit(jax.grad(f, (0, 1)))(z, w),
    "jvp": lambda f, z, w: jax.jvp(f, (z, w), (z[::-1] * 0.5j, w + 1.0)),
    "hvp": lambda f, z, w: jax.jvp(jax.grad(f), (z, w), (z[::-1] * 0.5j, w + 1.0)),
    "vmap": lambda f, z, w: jax.vmap(jax.grad(f), (0, None))(np.stack([z, z[::-1]]), w),
}


@wb.kernel
def few(z: wb.array[C], w: wb.array[C], y: wb.array[C]):
    i = wb.tid()
    y[i] = z[i] * z[i] * wb.conj(w[i]) + abs(z[i]) / w[i]


@pytest.mark.parametrize("name", ["grad", *(pytest.param(n, marks=pytest.mark.slow) for n in ("jvp", "hvp", "vmap"))])
def test_a_kernel_within_jax_has_all_of_its_derivatives(name: str, x64: None) -> None:
    z, w, _ = points(3)
    ours = wb.jax_kernel(few)
    mine, theirs = (
        TRANSFORMS[name](lambda z, w, of=of: jnp.sum(jnp.abs(of(z, w)) ** 2) + of(z, w)[0].imag, z, w)
        for of in (ours, lambda z, w: z * z * jnp.conj(w) + jnp.abs(z) / w)
    )
    for a, b in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


@pytest.mark.slow
def test_numbers_fills_and_several_launches_within_jax() -> None:
    @wb.kernel
    def turned(z: wb.array[complex], by: complex, y: wb.array[complex]):
        i = wb.tid()
        y[i] += z[i] * by + wb.conj(z[i])

    def twice(z: wb.array[complex], by: complex, y: wb.array[complex]):
        middle = wb.full(z.shape[0], 1 + 2j)
        wb.launch(turned, z.shape[0], [z, by], [middle])
        y.fill_(0)
        wb.launch(turned, z.shape[0], [middle, by], [y])

    z = np.array([1 + 1j, -2j], np.complex64)
    f = wb.jax_callable(twice)

    def want(z: Any, by: Any) -> Any:
        middle = z * by + jnp.conj(z) + (1 + 2j)
        return middle * by + jnp.conj(middle)

    for by in (0.5 - 1j, jnp.float32(3)):
        np.testing.assert_allclose(f(z, by), want(z, by), rtol=1e-6)
    ours, theirs = (
        jax.grad(lambda *v, of=of: jnp.sum(jnp.abs(of(*v)) ** 2), (0, 1))(jnp.asarray(z), jnp.complex64(1 - 2j))
        for of in (f, want)
    )
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    kernel = wb.jax_kernel(turned, init={"y": 2})
    np.testing.assert_allclose(kernel(z, 1j), 2 + z * 1j + np.conj(z), rtol=1e-6)
    with pytest.raises(wb.LaunchError, match="by of turned takes complex64, not"):
        kernel(z, "x")
    shared = wb.from_jax(jnp.asarray(z), copy=False)
    assert shared.dtype == wb.complex64 and np.array_equal(jnp.from_dlpack(wb.array(z)), z)
