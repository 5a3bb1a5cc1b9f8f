"""Three simulations whose arrays change in place at every step, as kernels and as the same programs in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from workbench.types import VECTORS, float64

vec3d = VECTORS["vec3d"]
DT = 1e-3


@wb.kernel
def flow(u: wb.array[wb.float64], k: wb.array[wb.float64], du: wb.array[wb.float64]):
    i = wb.tid()
    n = len(u)
    left = u[max(i - 1, 0)]
    right = u[min(i + 1, n - 1)]
    du[i] = k[i] * (1.0 + u[i] * u[i]) * (left - 2.0 * u[i] + right)


@wb.kernel
def advance(x: wb.array[wb.float64], dx: wb.array[wb.float64], dt: wb.float64):
    i = wb.tid()
    x[i] += dt * dx[i]


@wb.kernel
def squares(x: wb.array[wb.float64], out: wb.array[wb.float64]):
    i = wb.tid()
    wb.atomic_add(out, 0, x[i] * x[i])


def heat(u: wb.array, k: wb.array, steps: int) -> wb.array:
    """Heat with a conductivity that grows with the temperature; the sum of squares in the end."""
    du, loss = wb.zeros_like(u), wb.zeros(1, float64)
    for _ in range(steps):
        wb.launch(flow, len(u), inputs=[u, k], outputs=[du])
        wb.launch(advance, len(u), inputs=[u, du, DT])
    wb.launch(squares, len(u), inputs=[u], outputs=[loss])
    return loss


def heat_jax(jax: Any, u: Any, k: Any, steps: int) -> Any:
    jnp = jax.numpy

    def step(u: Any, _: Any) -> Any:
        left, right = jnp.concatenate([u[:1], u[:-1]]), jnp.concatenate([u[1:], u[-1:]])
        return u + DT * k * (1.0 + u * u) * (left - 2.0 * u + right), None

    u, _ = jax.lax.scan(step, u, None, length=steps)
    return jnp.sum(u * u)


@wb.kernel
def pull(x: wb.array[wb.float64], stiffness: wb.array[wb.float64], v: wb.array[wb.float64], dt: wb.float64):
    i = wb.tid()
    n = len(x)
    force = wb.float64(0.0)
    if i > 0:
        stretch = x[i - 1] - x[i] + 1.0
        force += stiffness[i - 1] * (stretch + stretch * stretch * stretch)
    if i < n - 1:
        stretch = x[i + 1] - x[i] - 1.0
        force += stiffness[i] * (stretch + stretch * stretch * stretch)
    v[i] = v[i] * (1.0 - 0.1 * dt) + dt * force


def springs(x: wb.array, stiffness: wb.array, steps: int) -> wb.array:
    """A chain of masses on stiffening springs, all of it in place."""
    v, loss = wb.zeros_like(x), wb.zeros(1, float64)
    for _ in range(steps):
        wb.launch(pull, len(x), inputs=[x, stiffness, v, 10 * DT])
        wb.launch(advance, len(x), inputs=[x, v, 10 * DT])
    wb.launch(squares, len(x), inputs=[x], outputs=[loss])
    return loss


def springs_jax(jax: Any, x: Any, stiffness: Any, steps: int) -> Any:
    jnp = jax.numpy

    def step(state: Any, _: Any) -> Any:
        x, v = state
        stretch = x[1:] - x[:-1] - 1.0
        pulled = stiffness[:-1] * (stretch + stretch**3)
        force = jnp.zeros_like(x).at[:-1].add(pulled).at[1:].add(-pulled)
        v = v * (1.0 - 0.1 * 10 * DT) + 10 * DT * force
        return (x + 10 * DT * v, v), None

    (x, _), _ = jax.lax.scan(step, (x, jnp.zeros_like(x)), None, length=steps)
    return jnp.sum(x * x)


@wb.kernel
def attract(x: wb.array[wb.vec3d], mass: wb.array[wb.float64], v: wb.array[wb.vec3d], dt: wb.float64):
    i = wb.tid()
    total = wb.vec3d(0.0)
    for j in range(len(x)):
        d = x[j] - x[i]
        r2 = wb.dot(d, d) + 0.05
        total += d * (mass[j] / (r2 * wb.sqrt(r2)))
    v[i] += total * dt


@wb.kernel
def drift(x: wb.array[wb.vec3d], v: wb.array[wb.vec3d], dt: wb.float64):
    i = wb.tid()
    x[i] += v[i] * dt


@wb.kernel
def spread(x: wb.array[wb.vec3d], out: wb.array[wb.float64]):
    i = wb.tid()
    wb.atomic_add(out, 0, wb.dot(x[i], x[i]))


def bodies(x: wb.array, mass: wb.array, steps: int) -> wb.array:
    """Bodies that attract each other."""
    v, loss = wb.zeros_like(x), wb.zeros(1, float64)
    for _ in range(steps):
        wb.launch(attract, len(x), inputs=[x, mass, v, DT])
        wb.launch(drift, len(x), inputs=[x, v, DT])
    wb.launch(spread, len(x), inputs=[x], outputs=[loss])
    return loss


def bodies_jax(jax: Any, x: Any, mass: Any, steps: int) -> Any:
    jnp = jax.numpy

    def step(state: Any, _: Any) -> Any:
        x, v = state
        d = x[None, :, :] - x[:, None, :]
        r2 = jnp.sum(d * d, -1) + 0.05
        v = v + DT * jnp.sum(d * (mass[None, :] / (r2 * jnp.sqrt(r2)))[:, :, None], 1)
        return (x + DT * v, v), None

    (x, _), _ = jax.lax.scan(step, (x, jnp.zeros_like(x)), None, length=steps)
    return jnp.sum(x * x)


def start(name: str) -> tuple[np.ndarray, np.ndarray, type]:
    """Initial state, a parameter for each point, and the state's element type."""
    random = np.random.default_rng(4)
    if name == "bodies":
        return random.normal(size=(7, 3)), random.uniform(0.5, 2.0, 7), vec3d  # type: ignore[return-value]
    shift = np.arange(24.0) if name == "springs" else np.zeros(24)
    return random.uniform(0.0, 1.0, 24) + shift, random.uniform(0.5, 2.0, 24), float64  # type: ignore[return-value]


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "heat": (heat, heat_jax),
    "springs": (springs, springs_jax),
    "bodies": (bodies, bodies_jax),
}
