"""Kernels of which each depends on one mechanism of the optimiser: without it, its row is several times slower."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse

from programs.program import Program


def flattened() -> list[Program]:
    """An image and an outer product by `i // w` and `i % w`, and integers by a divisor that all threads share."""
    random = np.random.default_rng(31)
    h, w = 1024, 1020
    x = random.random(h * w).astype(np.float32)
    p, q = (random.standard_normal(n).astype(np.float32) for n in (1024, 1000))
    whole = random.integers(-(1 << 30), 1 << 30, 1 << 20, dtype=np.int32)

    def step(x: Any) -> Any:
        a = x.reshape(h, w)
        near = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
        return a.at[1:-1, 1:-1].add(0.1 * (near - 4 * a[1:-1, 1:-1])).ravel()

    return [
        Program(
            "flattened stencil", {"x": x, "y": 0 * x}, [("flat_heat", x.size, ["x", w, h, "y"])], "y", ("x",),
            function=step,
        ),
        Program(
            "flattened outer product", {"p": p, "q": q, "y": np.zeros(p.size * q.size, np.float32)},
            [("flat_product", p.size * q.size, ["p", "q", q.size, "y"])], "y", ("p", "q"),
            function=lambda p, q: jnp.outer(p, q).ravel(),
        ),
        Program(
            # Warp's `%` and `//` of negative integers are C's.
            "division by a uniform", {"x": whole, "y": 0 * whole}, [("divided", whole.size, ["x", 37, "y"])], "y",
            exact=whole // 37 + whole % 37, error=0.0, warp=False,
            peers={"numpy": lambda: whole // 37 + whole % 37},
        ),
    ]  # fmt: skip


def loops() -> list[Program]:
    """A `break` in a loop, and a `while` that counts."""
    x = np.random.default_rng(32).random((100_000, 24)).astype(np.float32)
    most = 6.0

    def until(x: Any) -> Any:
        before = jnp.cumsum(x * x, 1) - x * x
        return jnp.sum(jnp.where(before <= most, x * x, 0), 1)

    y = np.zeros(len(x), np.float32)
    return [
        Program(
            "break in a loop", {"x": x, "y": y}, [("until", len(x), ["x", most, "y"])], "y", ("x",), function=until,
            warp="forward",
        ),
        Program(
            "counting while", {"x": x, "y": y}, [("counting", len(x), "xy")], "y", ("x",),
            function=lambda x: jnp.sum(x * x, 1), warp="forward",
        ),
    ]  # fmt: skip


def indirect() -> list[Program]:
    """Sums of rows of a table by index, and a sparse matrix of rows of unequal length times a dense one."""
    random = np.random.default_rng(33)
    table, at = random.standard_normal((5000, 64)).astype(np.float32), random.integers(0, 5000, (4096, 32), np.int32)
    n, wide = 10_000, 32
    row = np.concatenate([[0], np.cumsum(random.integers(0, 20, n))]).astype(np.int32)
    column, value = random.integers(0, n, row[-1], np.int32), random.standard_normal(row[-1]).astype(np.float32)
    x, seed = (random.standard_normal((n, wide)).astype(np.float32) for _ in range(2))
    matrix = scipy.sparse.csr_matrix((value.astype(np.float64), column, row), shape=(n, n))
    return [
        Program(
            "embedding sums", {"t": table, "i": at, "y": np.zeros((4096, 64), np.float32)},
            [("embedded", (4096, 64), "tiy")], "y", ("t",), function=lambda table: table[at].sum(1), warp="forward",
        ),
        Program(
            "CSR times dense", {"row": row, "column": column, "value": value, "x": x, "y": 0 * x},
            [("csr_rows", x.shape, ["row", "column", "value", "x", "y"])], "y", ("x", "value"), seed=seed,
            exact=matrix @ x, gradient=matrix.T @ seed.astype(np.float64), warp="forward",
            peers={"scipy": lambda: matrix @ x},
        ),
    ]  # fmt: skip


def eight_bits() -> list[Program]:
    """Guarded cells of a byte, and a histogram of bytes."""
    random = np.random.default_rng(34)
    cells = (random.random((1024, 1024)) < 0.4).astype(np.uint8)
    grey = random.integers(0, 256, (1024, 1024), dtype=np.uint8)
    flat = random.integers(0, 256, 1 << 22, dtype=np.uint8)

    def life() -> np.ndarray:
        s = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return np.pad(((s == 3) | ((s == 2) & (cells == 1)))[1:-1, 1:-1], 1)

    def edges() -> np.ndarray:
        g = grey.astype(np.int32)
        across, down = g[:, 2:] - g[:, :-2], g[2:] - g[:-2]
        u = across[:-2] + 2 * across[1:-1] + across[2:]
        v = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
        return np.pad(np.minimum(np.maximum(abs(u), abs(v)), 255), 1)

    return [
        Program(
            "walled game of life", {"a": cells, "b": 0 * cells}, [("walled_life", cells.shape, "ab")], "b",
            exact=life(), error=0.0, peers={"numpy": life},
        ),
        Program(
            "Sobel of bytes", {"a": grey, "b": 0 * grey}, [("sobel", grey.shape, "ab")], "b", exact=edges(), error=0.0,
            peers={"numpy": edges},
        ),
        Program(
            "histogram of bytes", {"x": flat, "n": np.zeros(256, np.int32)}, [("levels", flat.size, "xn")], "n",
            cleared={"n": 0}, exact=np.bincount(flat, minlength=256), error=0.0,
            peers={"numpy": lambda: np.bincount(flat, minlength=256)},
        ),
    ]  # fmt: skip


def narrow() -> list[Program]:
    """Halves by themselves, and in sums in float32."""
    random = np.random.default_rng(35)
    x, y = (random.random(1 << 21).astype(np.float16) for _ in range(2))
    rows = random.random((20_000, 100)).astype(np.float16)
    seed = random.random(len(rows)).astype(np.float32)
    wide = rows.astype(np.float64)
    return [
        Program(
            "halves", {"x": x, "y": y, "z": 0 * x}, [("half_axpy", x.size, [0.5, "x", "y", "z"])], "z", ("x", "y"),
            exact=0.5 * x.astype(np.float64) + y, gradient=0.5 * y.astype(np.float64), seed=y, error=1e-3, slack=1e-3,
        ),
        Program(
            "rows of halves", {"x": rows, "y": 0 * seed}, [("half_rows", len(rows), "xy")], "y", ("x",), seed=seed,
            exact=(wide**2).sum(1), gradient=2 * wide * seed[:, None], slack=1e-3, warp="forward",
        ),
    ]  # fmt: skip


def eighteen(state: Any, dt: float, steps: int) -> Any:
    """Return what `bodies` of `kernels` does, for JAX and NumPy: `state` has a row per number."""
    x, u, a, p, d = (state[k : k + 3] for k in (0, 3, 6, 9, 12))
    m, n, o = state[15:]
    for _ in range(steps):
        u = u + dt * d / m
        x = x + dt * u
    turned = [a[k] + steps * dt * p[k] * (o if k == 2 else n) for k in range(3)]
    return sum(x[k] * turned[k] for k in range(3))


def records() -> list[Program]:
    """4×4 products, a struct of 18 numbers, and components by a varying index."""
    random = np.random.default_rng(36)
    a, b, seed = (random.standard_normal((100_000, 4, 4)).astype(np.float32) for _ in range(3))
    v, at = random.standard_normal((1_000_000, 4)).astype(np.float32), random.integers(0, 4, 1_000_000, np.int32)
    bodies, dt = (random.random((100_000, 18)) + 0.5).astype(np.float32), 0.01
    y, out = np.zeros(len(v), np.float32), np.zeros(len(bodies), np.float32)
    all_of = np.arange(len(v), dtype=np.int32)
    structs = bodies.view(np.dtype([(name, np.float32) for name in "xyzuvwabcpqrdefmno"]))[:, 0]
    return [
        Program(
            "4×4 products", {"a": a, "b": b, "c": 0 * a}, [("matrices", len(a), "abc")], "c", ("a", "b"),
            types=dict.fromkeys("abc", "mat44"), function=lambda a, b: a @ b, seed=seed,
            peers={"numpy": lambda: a @ b},
        ),
        Program(
            "component by index", {"v": v, "at": at, "y": y}, [("component", len(v), ["v", "at", "y"])], "y", ("v",),
            types={"v": "vec4"}, function=lambda v: v[all_of, at], peers={"numpy": lambda: v[all_of, at]},
        ),
        Program(
            "component set by index", {"v": v, "at": at, "y": y}, [("component_set", len(v), ["v", "at", "y"])], "y",
            ("v",), types={"v": "vec4"}, function=lambda v: jnp.sum(v.at[all_of, at].set(2.0) ** 2, 1), warp="forward",
        ),
        Program(
            "struct of 18 in a loop", {"s": bodies, "y": out}, [("bodies", len(bodies), ["s", dt, "y"])], "y", ("s",),
            function=lambda s: eighteen(s.T, dt, 8), warp=False,
        ),
        Program(
            "array of structs of 18", {"s": structs, "y": out}, [("kept_bodies", len(bodies), ["s", dt, "y"])], "y",
            types={"s": "Body"}, exact=eighteen(bodies.T.astype(np.float64), dt, 1), warp=False,
        ),
    ]  # fmt: skip


def attention() -> list[Program]:
    """Attention of 512 queries of 64, and a network of two layers, a thread for each query or input."""
    random = np.random.default_rng(37)
    q, k, v = (random.standard_normal((512, 64)).astype(np.float32) for _ in range(3))
    scores = np.zeros((512, 512), np.float32)
    x, w, u = (random.standard_normal(n).astype(np.float32) / 8 for n in ((2048, 64), (64, 128), (128, 10)))
    return [
        Program(
            "attention per thread", {"q": q, "k": k, "v": v, "p": scores, "e": scores, "o": 0 * q},
            [("attend", len(q), "qkvpeo")], "o", ("q", "k", "v"),
            function=lambda q, k, v: jax.nn.softmax(q @ k.T / 8, 1) @ v, only="forward",
        ),
        Program(
            "network per thread",
            {"x": x, "w": w, "u": u, "h": np.zeros((2048, 128), np.float32), "y": np.zeros((2048, 10), np.float32)},
            [("perceptron", len(x), "xwuhy")], "y", ("x", "w", "u"),
            function=lambda x, w, u: jnp.maximum(x @ w, 0) @ u, only="forward",
        ),
    ]  # fmt: skip
