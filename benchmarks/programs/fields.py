"""Images and grids."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import peers

from programs.kernels import CX, CY, SHARE
from programs.program import Program


def borders() -> list[Program]:
    """7×7 convolutions of an image of 1024² with three kinds of borders."""
    random = np.random.default_rng(3)
    x, w = random.random((1024, 1024)).astype(np.float32), random.random((7, 7)).astype(np.float32)
    y = 0 * x
    seed = random.random(x.shape).astype(np.float32)

    def of(mode: str) -> Callable[[Any, Any], Any]:
        def function(x: Any, w: Any) -> Any:
            wide = jnp.pad(x, 3, mode=mode) if mode else x
            return jax.lax.conv(wide[None, None], w[None, None], (1, 1), "VALID")[0, 0]

        return function

    padded = np.pad(x, 3, mode="edge")
    found: list[Program] = []
    for name, kernel, given, mode, beside in (
        ("7×7 convolution", "valid", padded, "", ""),
        ("7×7, borders clamped", "clamped", x, "edge", "7×7 convolution"),
        ("7×7, borders periodic", "periodic", x, "wrap", "7×7 convolution"),
    ):
        found.append(
            Program(
                name, {"x": given, "w": w, "y": y}, [(kernel, x.shape, "xwy")], "y", ("x", "w"), function=of(mode),
                seed=seed, beside=beside, peers={} if mode else {"numba": lambda: peers.valid(padded, w, y.copy())},
                warp=kernel != "periodic",
            )
        )  # fmt: skip
    return found


def heat() -> list[Program]:
    """Twenty heat steps of 2048² and the squares of what is left; JAX loops by `lax.scan`."""
    steps, shape = 20, (2048, 2048)
    start = np.random.default_rng(4).random(shape, np.float32)
    arrays = {"0": start, **{str(n): 0 * start for n in range(1, steps + 1)}, "o": np.zeros(1, np.float32)}

    def near(x: Any, how: str) -> Any:
        p = jnp.pad(x, 1, mode=how)
        return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]

    def kept(x: Any) -> Any:
        moved = near(x, "edge")[1:-1, 1:-1] - 4 * x[1:-1, 1:-1]
        return x.at[1:-1, 1:-1].add(0.1 * moved)

    def scanned(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            last, _ = jax.lax.scan(lambda now, _: (step(now), None), x, None, length=steps)
            return jnp.sum(last * last)[None]

        return function

    forms: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "walls kept": ("warm_walls", kept),
        "insulated": ("heat", lambda x: x + 0.1 * (near(x, "edge") - 4 * x)),
        "torus": ("ring", lambda x: x + 0.1 * (near(x, "wrap") - 4 * x)),
    }
    return [
        Program(
            f"heat, {name}", arrays,
            [*((kernel, shape, [a, b]) for a, b in itertools.pairwise(map(str, range(steps + 1)))),
             ("energy", shape, [str(steps), "o"])],
            "o", ("0",), {"o": 0.0}, function=scanned(step), seed=np.ones(1, np.float32),
            warp=name == "insulated", error=1e-6,
        )
        for name, (kernel, step) in forms.items()
    ]  # fmt: skip


def gas() -> list[Program]:
    """Ten steps of a lattice gas of 256²; JAX loops by `lax.scan`."""
    random, steps, side = np.random.default_rng(5), 10, 256
    start = (np.array(SHARE)[:, None, None] * (1 + 0.1 * random.random((9, side, side)))).astype(np.float32)
    arrays = {str(n): start if n == 0 else 0 * start for n in range(steps + 1)}

    def step(f: Any, _: None) -> tuple[Any, None]:
        f = jnp.stack([jnp.roll(f[q], (CX[q], CY[q]), (0, 1)) for q in range(9)])
        rho = f.sum(0)
        u, v = (sum(c[q] * f[q] for q in range(9)) / rho for c in (CX, CY))
        rest = []
        for q in range(9):
            along = CX[q] * u + CY[q] * v
            rest.append(SHARE[q] * rho * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u * u + v * v)))
        return 0.4 * f + 0.6 * jnp.stack(rest), None

    def looped() -> np.ndarray:
        before, after = start, np.empty_like(start)
        for _ in range(steps):
            peers.stream_and_collide(before, after)
            before, after = after, before if before is not start else np.empty_like(start)
        return before

    return [
        Program(
            "lattice gas", arrays,
            [("stream_and_collide", (side, side), [a, b]) for a, b in itertools.pairwise(arrays)],
            str(steps), ("0",), function=lambda f: jax.lax.scan(step, f, None, length=steps)[0],
            peers={"numba": looped},
        )
    ]  # fmt: skip
