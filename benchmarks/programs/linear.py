"""Matrices: sparse, small, and of a network."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import peers
import scipy.sparse

from programs.program import Program


def sparse() -> list[Program]:
    """500,000 rows of ten elements."""
    n, each = 500_000, 10
    random = np.random.default_rng(1)
    row = np.arange(0, n * each + 1, each, dtype=np.int32)
    column = np.sort(random.integers(0, n, (n, each), dtype=np.int32), axis=1).ravel()
    value, x, seed = random.random(n * each, np.float32), random.random(n, np.float32), random.random(n, np.float32)
    rows = jnp.repeat(jnp.arange(n), each)
    matrix = scipy.sparse.csr_matrix((value, column, row), shape=(n, n))
    exact, y = matrix.astype(np.float64), np.zeros(n, np.float32)

    def function(x: Any, value: Any) -> Any:
        return jax.ops.segment_sum(value * x[column], rows, n, indices_are_sorted=True)

    return [
        Program(
            "CSR product", {"row": row, "column": column, "value": value, "x": x, "y": 0 * x},
            [("csr", n, ["row", "column", "value", "x", "y"])], "y", ("x", "value"), function=function, seed=seed,
            exact=exact @ x, gradient=exact.T @ seed.astype(np.float64),
            peers={"scipy": lambda: matrix @ x, "numba": lambda: peers.csr(row, column, value, x, y)},
        )
    ]  # fmt: skip


def small() -> list[Program]:
    """A million inverses, and 200,000 times the singular values."""
    n, few = 1_000_000, 200_000
    a = np.random.default_rng(2).random((n, 3, 3)).astype(np.float32) + 2 * np.eye(3, dtype=np.float32)
    seed = np.random.default_rng(9).random(a.shape).astype(np.float32)
    b = np.linalg.inv(a.astype(np.float64))
    back = np.swapaxes(b, 1, 2)
    some = a[:few]
    u, d, v = np.linalg.svd(some.astype(np.float64))
    weights = np.random.default_rng(8).random((few, 3)).astype(np.float32)
    return [
        Program(
            "3×3 inverse", {"a": a, "b": 0 * a}, [("inverses", n, "ab")], "b", ("a",),
            types={"a": "mat33", "b": "mat33"}, seed=seed, exact=b, gradient=-back @ seed @ back,
            peers={"numpy": lambda: np.linalg.inv(a)},
        ),
        Program(
            "3×3 singular values", {"a": some, "s": np.zeros((few, 3), np.float32)}, [("singular", few, "as")], "s",
            ("a",), types={"a": "mat33", "s": "vec3"}, exact=d, gradient=np.einsum("nij,nj,njk->nik", u, weights, v),
            seed=weights, peers={"numpy": lambda: np.linalg.svd(some, compute_uv=False)},
        ),
    ]  # fmt: skip


def networks() -> list[Program]:
    """Two layers of 256 for 1024 inputs, of tiles and of plain loops, and a product alone."""
    random = np.random.default_rng(4)
    x, seed = (random.standard_normal((1024, 256)).astype(np.float32) for _ in range(2))
    w, v = ((random.standard_normal((256, 256)) / 16).astype(np.float32) for _ in range(2))
    b, dims = np.zeros(256, np.float32), (1024 // 64, 256 // 64)
    p, q = (random.standard_normal((512, 512)).astype(np.float32) for _ in range(2))

    def network(w: Any, v: Any, b: Any) -> Any:
        return jnp.tanh(jnp.tanh(x @ w + b) @ v + b)

    given: dict[str, Any] = {
        "result": "y", "by": ("w", "v", "b"), "constant": ("x",), "function": network, "seed": seed,
        "peers": {"numpy": lambda: np.tanh(np.tanh(x @ w + b) @ v + b)},
    }  # fmt: skip
    arrays = {"x": x, "w": w, "v": v, "b": b, "s": 0 * x, "h": 0 * x, "t": 0 * x, "y": 0 * x}
    plain = {n: a for n, a in arrays.items() if n not in ("s", "t")}
    tiled = [
        ("product", dims, "xws"), ("active", x.shape, "sbh"), ("product", dims, "hvt"), ("active", x.shape, "tby")
    ]  # fmt: skip
    return [
        Program(
            "product of tiles", {"p": p, "q": q, "r": 0 * p}, [("product", (8, 8), "pqr")], "r", ("p", "q"),
            function=lambda p, q: p @ q, peers={"numpy": lambda: p @ q},
        ),
        Program(
            "product", {"p": p, "q": q, "r": 0 * p}, [("multiplied", p.shape, "pqr")], "r", ("p", "q"),
            function=lambda p, q: p @ q,
            peers={"numpy": lambda: p @ q, "numba": lambda: peers.multiplied(p, q, 0 * p)},
        ),
        Program("network of tiles", arrays, tiled, **given),
        Program("network", plain, [("layer", x.shape, "xwbh"), ("layer", x.shape, "hvby")], **given),
    ]  # fmt: skip
