"""Rows of matrices, functions of numbers, and cells: what everyday programs are made of."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import peers

from programs.program import Program


def rows() -> list[Program]:
    """A thread per row: a product with a vector, log-sum-exp, distances, and the nearest of 32 centres."""
    random = np.random.default_rng(11)
    a, x, y = random.random((2048, 1000)), random.random(1000), np.zeros(2048, np.float32)
    b = random.standard_normal((4096, 256))
    p, q, c = random.random((512, 32)), random.random((512, 32)) + 1, random.random((32, 8))
    points, labels = random.random((20_000, 8)), np.zeros(20_000, np.int32)
    a, x, b, p, q, c, points = (v.astype(np.float32) for v in (a, x, b, p, q, c, points))
    d, logs = np.zeros((512, 512), np.float32), np.zeros(4096, np.float32)

    def apart(p: Any, q: Any) -> Any:
        return jnp.sqrt(((p[:, None] - q[None]) ** 2).sum(2))

    closest = np.argmin(((points[:, None] - c[None]) ** 2).sum(2), 1)
    return [
        Program(
            "matrix times vector", {"a": a, "x": x, "y": y}, [("applied", len(a), "axy")], "y", ("a", "x"),
            function=lambda a, x: a @ x,
            peers={"numpy": lambda: a @ x, "numba": lambda: peers.applied(a, x, y)},
        ),
        Program(
            # Warp's gradient is wrong: what a loop carries, it takes from the last turn.
            "log-sum-exp", {"b": b, "y": logs}, [("log_sums", len(b), "by")], "y", ("b",), warp="forward",
            function=lambda b: jax.nn.logsumexp(b, 1), peers={"numba": lambda: peers.log_sums(b, logs)},
        ),
        Program(
            "distances", {"p": p, "q": q, "d": d}, [("distances", d.shape, "pqd")], "d", ("p", "q"), warp="forward",
            function=apart, peers={"numba": lambda: peers.distances(p, q, d)},
        ),
        Program(
            "nearest centres", {"x": points, "c": c, "l": labels}, [("nearest", len(points), "xcl")], "l",
            exact=closest, error=0.0, peers={"numba": lambda: peers.nearest(points, c, labels)},
        ),
    ]  # fmt: skip


def functions() -> list[Program]:
    """Several maths functions of 2²⁰ numbers, one of them with a literal."""
    x = np.random.default_rng(12).random(1 << 20).astype(np.float32)

    def function(v: Any) -> Any:
        return jnp.exp(-v) + jnp.log(v + 1) * jnp.tanh(v) + jnp.sin(v) + jnp.arctan2(v, 1.5)

    return [
        Program(
            "maths functions", {"x": x, "y": 0 * x}, [("functions", x.size, "xy")], "y", ("x",), function=function,
            peers={"numba": lambda: peers.functions(x, 0 * x)},
        )
    ]  # fmt: skip


def cells() -> list[Program]:
    """A step of Conway's game at 1024²."""
    a = (np.random.default_rng(13).random((1024, 1024)) < 0.4).astype(np.uint8)

    def step() -> np.ndarray:
        s = sum(np.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return (s == 3) | ((s == 2) & (a == 1))

    return [
        Program(
            "game of life", {"a": a, "b": 0 * a}, [("life", a.shape, "ab")], "b", exact=step(), error=0.0,
            peers={"numpy": step, "numba": lambda: peers.life(a, 0 * a)},
        )
    ]  # fmt: skip
