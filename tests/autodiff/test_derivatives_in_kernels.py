"""`grad(f)(x)` in a kernel: derivatives of funcs and builtins, compared with JAX's, and what it refuses."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb


@wb.func
def wave(x: float, y: float):
    s = wb.sin(x * y)
    for k in range(3):
        s += wb.exp(-x) * float(k + 1) * y
    if x > 1.0:
        s = s * s
    return s


@wb.func
def energy(v: wb.vec3, scale: int):
    return wb.dot(v, v) * wb.length(v) * float(scale)


@wb.kernel
def differentiate(x: wb.array[float], by_x: wb.array[float], by_y: wb.array[float], force: wb.array[wb.vec3]):
    i = wb.tid()
    slope = wb.grad(wave)
    by_x[i], by_y[i] = slope(x[i], 0.5)
    by_x[i] += wb.grad(wb.atan)(x[i])
    force[i] = wb.grad(energy)(wb.vec3(x[i], 1.0, 2.0), 3)


def wave_in_jax(x: jax.Array, y: jax.Array) -> jax.Array:
    s = jnp.sin(x * y) + 6 * jnp.exp(-x) * y
    return jnp.where(x > 1, s * s, s)


def results_for(x: wb.array) -> tuple[wb.array, ...]:
    return (*(wb.zeros(len(x), requires_grad=True) for _ in range(2)), wb.zeros(len(x), wb.vec3))


def test_derivatives_of_funcs_are_those_of_jax() -> None:
    x = wb.array(np.linspace(0.1, 2, 9), float)
    by_x, by_y, force = results_for(x)
    wb.launch(differentiate, len(x), inputs=[x], outputs=[by_x, by_y, force])
    dx, dy = jax.vmap(jax.grad(wave_in_jax, (0, 1)), (0, None))(x.numpy(), 0.5)
    np.testing.assert_allclose(by_x.numpy(), dx + 1 / (1 + x.numpy() ** 2), rtol=2e-5)
    np.testing.assert_allclose(by_y.numpy(), dy, rtol=2e-5)
    of_v = jax.vmap(jax.grad(lambda v: 3 * jnp.dot(v, v) * jnp.linalg.norm(v)))
    points = np.stack([x.numpy(), np.ones(9), np.full(9, 2)], 1).astype(np.float32)
    np.testing.assert_allclose(force.numpy(), of_v(points), rtol=2e-5)


def test_a_derivative_in_a_kernel_has_a_derivative() -> None:
    x = wb.array(np.linspace(0.1, 0.9, 5), float, requires_grad=True)
    by_x, by_y, force = results_for(x)
    with wb.Tape() as tape:
        wb.launch(differentiate, len(x), inputs=[x], outputs=[by_x, by_y, force])
    tape.backward(grads={by_x: np.ones(5, np.float32)})
    second = jax.vmap(jax.grad(lambda x: jax.grad(wave_in_jax)(x, 0.5) + 1 / (1 + x * x)))(x.numpy())
    np.testing.assert_allclose(x.grad.numpy(), second, rtol=1e-4)


@wb.func
def write(x: float, out: wb.array[float]):
    out[0] = x
    return x


@wb.func
def whole(x: float):
    return int(x)


@wb.kernel
def of_a_func_that_writes(x: wb.array[float]):
    x[0] = wb.grad(write)(x[0], x)


@wb.kernel
def of_an_integer(x: wb.array[float]):
    x[0] = wb.grad(whole)(x[0])


@wb.kernel
def without_floats(x: wb.array[float]):
    x[0] = wb.grad(wb.sin)()


@wb.kernel
def of_a_number(x: wb.array[float]):
    x[0] = wb.grad(x[0])(1.0)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (of_a_func_that_writes, "changes an array"),
        (of_an_integer, "needs one float"),
        (without_floats, "at least one float"),
        (of_a_number, "takes a func or a builtin"),
    ],
)
def test_what_has_no_derivative_is_refused_with_its_line(kernel: wb.Kernel, message: str) -> None:
    with pytest.raises(wb.KernelTypeError, match=message) as caught:
        wb.launch(kernel, 1, inputs=[wb.zeros(1)])
    assert "x[0] = wb.grad(" in str(caught.value)
