"""Kernels that several tests of JAX call, with their counterparts in `jax.numpy`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import workbench as wb


@wb.kernel
def wave(a: wb.float64, x: wb.array[wb.float64], w: wb.array[wb.float64], n: wb.int32, out: wb.array[wb.float64]):
    i = wb.tid()
    j = (i + n) % x.shape[0]
    out[i] = wb.sin(a * x[j]) * w[i] + x[i] * x[i]


def wave_jax(a: Any, x: Any, w: Any, n: Any) -> Any:
    return jnp.sin(a * jnp.roll(x, -n)) * w + x * x


@wb.kernel
def square_in_place(x: wb.array[wb.float64]):
    i = wb.tid()
    x[i] = x[i] * x[i]
