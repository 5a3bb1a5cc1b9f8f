"""The kernels of `gradients.py` as functions for JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

CX, CY = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
WEIGHTS = (4 / 9, *(1 / 9,) * 4, *(1 / 36,) * 4)


def jax_lattice(f: Any) -> Any:
    """The same for JAX."""
    q = [jnp.roll(f[k], (CY[k], CX[k]), (0, 1)) for k in range(9)]
    rho = sum(q)
    u = sum(CX[k] * q[k] for k in range(9)) / rho
    v = sum(CY[k] * q[k] for k in range(9)) / rho
    out = []
    for k in range(9):
        c = CX[k] * u + CY[k] * v
        out.append(q[k] + 1.2 * (WEIGHTS[k] * rho * (1 - 1.5 * (u * u + v * v) + 3 * c + 4.5 * c * c) - q[k]))
    return jnp.stack(out)


def jax_conv(x: Any, w: Any) -> Any:
    """The same for JAX."""
    return jax.lax.conv_general_dilated(x[None], w, (1, 1), "VALID")[0]


def jax_butterfly(re: Any, im: Any) -> Any:
    """The same for JAX."""
    step, h = 4, re.shape[1] // 2
    q = jnp.arange(h)
    k = q % step
    t = -3.14159265 * (q - k).astype(re.dtype) / h
    c, s = jnp.cos(t), jnp.sin(t)
    xr, xi = re[:, :h] - re[:, h:], im[:, :h] - im[:, h:]
    parts = [(re[:, :h] + re[:, h:], xr * c - xi * s), (im[:, :h] + im[:, h:], xr * s + xi * c)]

    def woven(a: Any, b: Any) -> Any:
        both = jnp.stack([a.reshape(len(a), -1, step), b.reshape(len(b), -1, step)], 2)
        return both.reshape(len(a), -1)

    return jnp.stack([woven(a, b) for a, b in parts])


def jax_bodies(p: Any) -> Any:
    """The same for JAX."""
    d = p[None] - p[:, None]
    r = 1 / jnp.sqrt((d * d).sum(2) + 0.01)
    return ((r * r * r)[:, :, None] * d).sum(1)


def jax_stencil_3d(x: Any) -> Any:
    """The same for JAX."""
    p = jnp.pad(x, 1, mode="edge")
    c = slice(1, -1)
    return p[:-2, c, c] + p[2:, c, c] + p[c, :-2, c] + p[c, 2:, c] + p[c, c, :-2] + p[c, c, 2:] - 6 * x


def jax_norm(x: Any, w: Any, b: Any) -> Any:
    """The same for JAX."""
    return (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b


def jax_smoothed(x: Any, a: Any) -> Any:
    """The same for JAX."""
    return jax.lax.scan(lambda s, row: (a * s + (1 - a) * row, None), jnp.zeros_like(a), x.T)[0]
