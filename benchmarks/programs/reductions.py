"""Many numbers into few, and by index."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import peers

from programs.program import Program

N = 10_000_000


def sums() -> list[Program]:
    """Ten million float32 into one element, and their running sums."""
    x = np.random.default_rng(0).random(N, np.float32) + np.float32(0.5)
    exact, one = x.astype(np.float64), np.zeros(1, np.float32)
    part = x[:8_400_000]
    return [
        Program(
            "sum", {"x": x, "o": one}, [("total", N, "xo")], "o", ("x",), {"o": 0.0}, function=jnp.sum,
            exact=exact.sum()[None], only="forward", error=1e-6, peers={"numpy": lambda: x.sum()},
        ),
        Program(
            "sum of squares", {"x": x, "o": one}, [("squares", N, "xo")], "o", ("x",), {"o": 0.0},
            function=lambda x: jnp.sum(x * x)[None], exact=(exact**2).sum()[None], gradient=2 * exact, error=1e-6,
            seed=np.ones(1, np.float32), peers={"numpy": lambda: np.dot(x, x), "numba": lambda: peers.squares(x)},
        ),
        Program(
            "least and greatest", {"x": x, "lo": one + 2, "hi": one - 1}, [("extremes", N, ["x", "lo", "hi"])], "lo",
            ("x",), {"lo": 2.0, "hi": -1.0}, function=lambda x: (jnp.min(x), jnp.max(x)), exact=exact.min()[None],
            only="forward", peers={"numpy": lambda: (x.min(), x.max())[0]},
        ),
        Program(
            "running sums", {"x": part, "y": 0 * part}, [("scan", 0, "xy")], "y", ("x",), function=jnp.cumsum,
            exact=np.cumsum(part.astype(np.float64)), seed=part,
            gradient=np.cumsum(part[::-1].astype(np.float64))[::-1], peers={"numpy": lambda: np.cumsum(part)},
            warp="forward", error=3e-5,
        ),
    ]  # fmt: skip


def by_index() -> list[Program]:
    """A histogram of ten million, a million additions to a hundred thousand elements, ten million by index."""
    random = np.random.default_rng(1)
    x = random.random(N, np.float32)
    at, few = random.integers(0, N, N, np.int32), random.integers(0, 100_000, 1_000_000, np.int32)
    some = x[: len(few)]
    added = np.bincount(few, some, 100_000)
    counted = np.bincount((x * np.float32(256)).astype(np.int64), minlength=256)
    seed = random.random(N, np.float32)
    return [
        Program(
            "histogram", {"x": x, "n": np.zeros(256, np.int32)}, [("bins", N, "xn")], "n", ("x",), {"n": 0},
            function=lambda x: jnp.zeros(256, jnp.int32).at[(x * 256).astype(jnp.int32)].add(1), exact=counted,
            only="forward", error=0.0,
            peers={
                "numpy": lambda: np.bincount((x * np.float32(256)).astype(np.int64), minlength=256),
                "numba": lambda: peers.bins(x),
            },
        ),
        Program(
            "additions by index", {"x": some, "at": few, "o": np.zeros(100_000, np.float32)},
            [("scattered", len(few), ["x", "at", "o"])], "o", ("x",), {"o": 0.0},
            function=lambda x: jnp.zeros(100_000, x.dtype).at[few].add(x), exact=added,
            peers={"numpy": lambda: np.bincount(few, some, 100_000)},
        ),
        Program(
            "elements by index", {"x": x, "at": at, "y": 0 * x}, [("picked", N, ["x", "at", "y"])], "y", ("x",),
            function=lambda x: x[at], exact=x.astype(np.float64)[at], gradient=np.bincount(at, seed, N), seed=seed,
            peers={"numpy": lambda: x[at], "numba": lambda: peers.picked(x, at)},
        ),
    ]  # fmt: skip
