"""Bodies, springs and neighbours."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import peers
import scipy.spatial

from programs.program import Program


def bodies() -> list[Program]:
    """4096 bodies that attract each other."""
    x = np.random.default_rng(5).standard_normal((4096, 3)).astype(np.float32)

    def function(x: Any) -> Any:
        d = x[None] - x[:, None]
        r = jnp.sum(d * d, -1) + 0.01
        return jnp.sum(d / (r * jnp.sqrt(r))[..., None], 1)

    return [
        Program(
            "bodies", {"x": x, "a": 0 * x}, [("gravity", len(x), "xa")], "a", ("x",), function=function,
            types={"x": "vec3", "a": "vec3"}, peers={"numba": lambda: peers.gravity(x)},
        )
    ]  # fmt: skip


def pull(p: Any, q: Any) -> Any:
    """The force of a spring, as in `kernels`."""
    d = q - p
    return d * (100 - 10 / jnp.linalg.norm(d, axis=-1, keepdims=True))


def cloths() -> list[Program]:
    """Ten steps of a cloth of 256²; JAX loops by `lax.scan`."""
    side, steps = 256, 10
    random = np.random.default_rng(6)
    i, j = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    x = (np.stack([0.1 * i, 0.0 * i, 0.1 * j], -1) + 0.02 * random.random((side, side, 3))).astype(np.float32)
    v = (0.1 * random.random(x.shape)).astype(np.float32)
    arrays = {f"{n}{k}": (x if n == "x" else v) if k == 0 else 0 * x for k in range(steps + 1) for n in "xv"}

    def step(state: Any, _: None) -> tuple[Any, None]:
        x, v = state
        f = jnp.array([0, -9.8, 0], x.dtype) - 0.5 * v
        down, right = pull(x[:-1], x[1:]), pull(x[:, :-1], x[:, 1:])
        f = f.at[1:].add(-down).at[:-1].add(down).at[:, 1:].add(-right).at[:, :-1].add(right)
        now = (v + 0.01 * f).at[0].set(0)
        return (x + 0.01 * now, now), None

    return [
        Program(
            "cloth", arrays,
            [("cloth", (side, side), [f"{n}{m}" for m in (k, k + 1) for n in "xv"]) for k in range(steps)],
            f"x{steps}", ("x0", "v0"), types=dict.fromkeys(arrays, "vec3"),
            function=lambda x, v: jax.lax.scan(step, (x, v), None, length=steps)[0][0],
        )
    ]  # fmt: skip


def masses() -> list[Program]:
    """Ten steps of 50,000 masses and 100,000 springs between near ones; JAX loops by `lax.scan`."""
    n, steps = 50_000, 10
    random = np.random.default_rng(7)
    a = random.integers(0, n - 40, 2 * n, np.int32)
    b = a + random.integers(1, 40, 2 * n, np.int32)
    x, v = (random.random((n, 3)).astype(np.float32) for _ in range(2))
    arrays = {"a": a, "b": b}
    for k in range(steps + 1):
        arrays |= {f"x{k}": x if k == 0 else 0 * x, f"v{k}": v if k == 0 else 0 * x, f"f{k}": 0 * x}
    launches: list[Any] = []
    for k in range(steps):
        launches.append(("springs", 2 * n, [f"x{k}", "a", "b", f"f{k}"]))
        launches.append(("moved", n, [f"x{k}", f"v{k}", f"f{k}", f"x{k + 1}", f"v{k + 1}"]))

    def step(state: Any, _: None) -> tuple[Any, None]:
        x, v = state
        p = pull(x[a], x[b])
        f = jnp.zeros_like(x).at[a].add(p).at[b].add(-p)
        now = 0.999 * v + 0.001 * f
        return (x + 0.001 * now, now), None

    return [
        Program(
            "masses and springs", arrays, launches, f"x{steps}", ("x0", "v0"), {f"f{k}": 0.0 for k in range(steps)},
            types={name: "vec3" for name in arrays if name not in "ab"},
            function=lambda x, v: jax.lax.scan(step, (x, v), None, length=steps)[0][0],
        )
    ]  # fmt: skip


def neighbours() -> list[Program]:
    """200,000 points: a grid is built, and each looks for those near it."""
    n, radius = 200_000, 0.025
    x = np.random.default_rng(8).random((n, 3)).astype(np.float32)
    seed = np.random.default_rng(9).random(n).astype(np.float32)
    exact = x.astype(np.float64)
    pairs = scipy.spatial.cKDTree(exact).query_pairs(radius, output_type="ndarray")
    one, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    d = exact[one] - exact[other]
    r = radius**2 - np.sum(d * d, -1)
    near = radius**6 + np.bincount(one, r**3, n)
    # Both of a pair have a sum in which it stands.
    slope = (-6 * r**2 * (seed[one].astype(np.float64) + seed[other]))[:, None] * d
    gradient = np.stack([np.bincount(one, slope[:, k], n) for k in range(3)], -1)

    def grid(lib: Any, arrays: dict[str, Any]) -> dict[str, Any]:
        made = lib.HashGrid(64, 64, 64, device="cpu")

        def build() -> None:
            made.build(arrays["x"], radius)

        build()
        return {"grid": getattr(made, "id", made), "build": build}

    arrays, types = {"x": x, "o": np.zeros(n, np.float32)}, {"x": "vec3"}
    return [
        Program(
            "grid built, and neighbours", arrays, [("call", 0, ["build"]), ("density", n, ["grid", "x", radius, "o"])],
            "o", types=types, exact=near, values=grid,
        ),
        Program(
            "neighbours", arrays, [("density", n, ["grid", "x", radius, "o"])], "o", ("x",), types=types, exact=near,
            gradient=gradient, seed=seed, values=grid,
        ),
    ]  # fmt: skip
