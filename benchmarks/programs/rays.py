"""Rays, sets and paths: loops of each thread's own."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import peers

from programs.program import Program


def marches() -> list[Program]:
    """512² rays to waves, and the gradient by the waves' height."""
    shape, height = (512, 512), np.array([0.3], np.float32)
    u, v = np.meshgrid(np.arange(512) / 512 - 0.5, np.arange(512) / 512 - 0.5, indexing="ij")
    way = np.stack([u, 0 * u - 1, v])
    way /= np.linalg.norm(way, axis=0)

    def function(height: Any) -> Any:
        def step(state: Any, _: None) -> tuple[Any, None]:
            t, on = state
            d = 0.5 * (2 + way[1] * t - height[0] * jnp.sin(3 * way[0] * t) * jnp.sin(3 * way[2] * t))
            on = on & (d >= 1e-4)
            return (t + jnp.where(on, d, 0), on), None

        start = jnp.zeros(shape, height.dtype), jnp.ones(shape, bool)
        return jax.lax.scan(step, start, None, length=64)[0][0]

    return [
        Program(
            "rays to waves", {"h": height, "d": np.zeros(shape, np.float32)}, [("march", shape, "hd")], "d", ("h",),
            function=function, error=1e-4, slack=1e-3,
        )
    ]  # fmt: skip


def sets() -> list[Program]:
    """The Mandelbrot set at 512², a hundred turns."""
    shape = (512, 512)
    f = np.float32
    cx, cy = np.meshgrid(np.arange(512, dtype=f) * f(3) / f(512) - f(2), np.arange(512, dtype=f) * f(2) / f(512) - f(1))
    x, y, counts, near = np.zeros(shape, f), np.zeros(shape, f), np.zeros(shape, np.int32), np.ones(shape, bool)
    for _ in range(100):
        near &= x * x + y * y < 4
        x, y = np.where(near, x * x - y * y + cx, x), np.where(near, f(2) * x * y + cy, y)
        counts += near
    return [
        Program(
            "Mandelbrot set", {"n": np.zeros(shape, np.int32)}, [("mandelbrot", shape, "n")], "n", exact=counts,
            error=0.0, peers={"numba": lambda: peers.mandelbrot(np.zeros(shape, np.int32))},
        )
    ]  # fmt: skip


def options() -> list[Program]:
    """200,000 paths of a price of 100; by Black and Scholes the price of an option is known, and its gradient."""
    n, market = 200_000, np.array([100, 0.3], np.float32)
    up = (math.log(100 / 105) + 0.02 + 0.5 * 0.3**2) / 0.3
    low = up - 0.3

    def normal(z: float) -> float:
        return 0.5 * math.erfc(-z / math.sqrt(2))

    # The kernel does not discount.
    price = 100 * math.exp(0.02) * normal(up) - 105 * normal(low)
    delta, vega = math.exp(0.02) * normal(up), 100 * math.exp(0.02 - 0.5 * up**2) / math.sqrt(2 * math.pi)

    def function(market: Any) -> Any:
        key = jax.random.key(7)

        def step(s: Any, k: Any) -> tuple[Any, None]:
            z = jax.random.normal(jax.random.fold_in(key, k), (n,))
            return s * jnp.exp((0.02 - 0.5 * market[1] ** 2) / 64 + market[1] * 0.125 * z), None

        last, _ = jax.lax.scan(step, jnp.full(n, market[0]), jnp.arange(64))
        return jnp.mean(jnp.maximum(last - 105, 0))[None]

    return [
        Program(
            "option, by chance", {"m": market, "p": np.zeros(1, np.float32)}, [("option", n, ["m", float(n), "p"])],
            "p", ("m",), {"p": 0.0}, function=function, exact=np.array([price]), gradient=np.array([delta, vega]),
            seed=np.ones(1, np.float32), error=0.02, slack=0.02,
        )
    ]  # fmt: skip
