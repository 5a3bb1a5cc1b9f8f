"""Gradients of a sparse product, a convolution, a network and a lattice gas against JAX: as `workloads.py` measures.

Each call runs forward and backward. What is compared is checked against SciPy, or against JAX in float64.

python benchmarks/gradients.py [name …]      all, or those whose names begin so
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse
from measure import RESULTS, machine
from workloads import FLOATS, IMAGE, Workload, csr, markdown, timed, valid

import workbench as wb

CX, CY = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
SHARE = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)
SIDE = wb.constant(64)
GAS = wb.array(dtype=wb.float32, ndim=3)


@wb.kernel
def product(x: IMAGE, w: IMAGE, y: IMAGE):
    """A tile of a product per block."""
    i, j = wb.tid()
    found = wb.tile_zeros((SIDE, SIDE))
    for k in range(x.shape[1] // SIDE):
        left = wb.tile_load(x, shape=(SIDE, SIDE), offset=(i * SIDE, k * SIDE))
        right = wb.tile_load(w, shape=(SIDE, SIDE), offset=(k * SIDE, j * SIDE))
        wb.tile_matmul(left, right, found)
    wb.tile_store(y, found, offset=(i * SIDE, j * SIDE))


@wb.kernel
def active(x: IMAGE, b: FLOATS, y: IMAGE):
    """A layer's bias and its tanh."""
    i, j = wb.tid()
    y[i, j] = wb.tanh(x[i, j] + b[j])


@wb.kernel
def stream_and_collide(f: GAS, g: GAS):
    """A step of a lattice gas of nine velocities on a torus."""
    i, j = wb.tid()
    n, m = f.shape[1], f.shape[2]
    rho, u, v = 0.0, 0.0, 0.0
    for q in wb.static(range(9)):
        c = f[q, (i - CX[q]) % n, (j - CY[q]) % m]
        rho += c
        u += wb.static(float(CX[q])) * c
        v += wb.static(float(CY[q])) * c
    u /= rho
    v /= rho
    for q in wb.static(range(9)):
        along = wb.static(float(CX[q])) * u + wb.static(float(CY[q])) * v
        rest = wb.static(SHARE[q]) * rho * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (u * u + v * v))
        g[q, i, j] = 0.4 * f[q, (i - CX[q]) % n, (j - CY[q]) % m] + 0.6 * rest


def backwards(run: Callable[[], tuple[list[wb.array], wb.array]], seed: np.ndarray) -> Callable[[], np.ndarray]:
    """A call that runs, goes backwards from the result with `seed`, and returns the first gradient of those."""
    given = wb.array(seed)

    def call() -> np.ndarray:
        with wb.Tape() as tape:
            by, result = run()
        tape.backward(grads={result: given})
        return tape.gradients[by[0]].numpy()

    return call


def there(f: Callable[..., Any], *given: np.ndarray) -> Callable[[], np.ndarray]:
    """JAX's gradients, of which the first is returned."""
    made = jax.jit(jax.grad(f, tuple(range(len(given)))))
    held = [jnp.asarray(g) for g in given]

    def call() -> np.ndarray:
        found = made(*held)
        jax.block_until_ready(found)
        return np.asarray(found[0])

    return call


def exact(f: Callable[..., Any], *given: np.ndarray) -> np.ndarray:
    """The same in float64."""
    with jax.enable_x64(True):
        return there(f, *[g.astype(np.float64) for g in given])()


def sparse() -> Workload:
    """500,000 rows of ten elements, by the vector and by the matrix."""
    n, each = 500_000, 10
    random = np.random.default_rng(1)
    row = np.arange(0, n * each + 1, each, dtype=np.int32)
    column = np.sort(random.integers(0, n, (n, each), dtype=np.int32), axis=1).ravel()
    value, x, seed = random.random(n * each, np.float32), random.random(n, np.float32), random.random(n, np.float32)
    rows = jnp.repeat(jnp.arange(n), each)
    held, at, values, y = wb.array(x), wb.array(column), wb.array(value), wb.zeros(n)

    def run() -> tuple[list[wb.array], wb.array]:
        wb.launch(csr, n, [wb.array(row, copy=False), at, values, held], [y])
        return [held, values], y

    def loss(x: Any, value: Any) -> Any:
        return jnp.sum(jax.ops.segment_sum(value * x[column], rows, n, indices_are_sorted=True) * seed)

    matrix = scipy.sparse.csr_matrix((value.astype(np.float64), column, row), shape=(n, n))
    calls = {"workbench": backwards(run, seed), "jax": there(loss, x, value)}
    return Workload("gradient of a CSR product", calls, matrix.T @ seed.astype(np.float64), 1e-5)


def convolution() -> Workload:
    """1024² by 7×7, by the image and by the weights."""
    random = np.random.default_rng(3)
    x, w = random.random((1030, 1030)).astype(np.float32), random.random((7, 7)).astype(np.float32)
    seed = random.random((1024, 1024)).astype(np.float32)
    image, weights, y = wb.array(x), wb.array(w), wb.zeros((1024, 1024))

    def run() -> tuple[list[wb.array], wb.array]:
        wb.launch(valid, y.shape, [image, weights], [y])
        return [image, weights], y

    def loss(x: Any, w: Any) -> Any:
        return jnp.sum(jax.lax.conv(x[None, None], w[None, None], (1, 1), "VALID")[0, 0] * seed)

    calls = {"workbench": backwards(run, seed), "jax": there(loss, x, w)}
    return Workload("gradient of a 7×7 convolution", calls, exact(loss, x, w), 1e-5)


def network() -> Workload:
    """Two layers of 256 for 1024 inputs, by the first weights and all others."""
    random = np.random.default_rng(4)
    x, seed = (random.standard_normal((1024, 256)).astype(np.float32) for _ in range(2))
    w, v = ((random.standard_normal((256, 256)) / 16).astype(np.float32) for _ in range(2))
    b = np.zeros(256, np.float32)
    first, second, bias, data = wb.array(w), wb.array(v), wb.array(b), wb.array(x)
    arrays = [wb.zeros(x.shape) for _ in range(4)]

    def run() -> tuple[list[wb.array], wb.array]:
        before = data
        for weights, sums, after in ((first, *arrays[:2]), (second, *arrays[2:])):
            wb.launch_tiled(
                product, dim=(1024 // SIDE, 256 // SIDE), inputs=[before, weights], outputs=[sums], block_dim=64
            )
            wb.launch(active, x.shape, [sums, bias], [after])
            before = after
        return [first, second, bias], before

    def loss(w: Any, v: Any, b: Any) -> Any:
        return jnp.sum(jnp.tanh(jnp.tanh(x @ w + b) @ v + b) * seed)

    calls = {"workbench": backwards(run, seed), "jax": there(loss, w, v, b)}
    return Workload("gradient of a network", calls, exact(loss, w, v, b), 1e-5)


def gas() -> Workload:
    """Ten steps of a lattice gas of 256², by what it began with; JAX loops by `lax.scan`."""
    random, steps, side = np.random.default_rng(5), 10, 256
    start = (np.array(SHARE)[:, None, None] * (1 + 0.1 * random.random((9, side, side)))).astype(np.float32)
    seed = random.random((9, side, side)).astype(np.float32)
    states = [wb.array(start), *(wb.zeros(start.shape) for _ in range(steps))]

    def run() -> tuple[list[wb.array], wb.array]:
        for before, after in itertools.pairwise(states):
            wb.launch(stream_and_collide, (side, side), [before], [after])
        return [states[0]], states[-1]

    def step(f: Any, _: None) -> tuple[Any, None]:
        f = jnp.stack([jnp.roll(f[q], (CX[q], CY[q]), (0, 1)) for q in range(9)])
        rho = f.sum(0)
        u, v = (sum(c[q] * f[q] for q in range(9)) / rho for c in (CX, CY))
        rest = []
        for q in range(9):
            along = CX[q] * u + CY[q] * v
            rest.append(SHARE[q] * rho * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u * u + v * v)))
        return 0.4 * f + 0.6 * jnp.stack(rest), None

    def loss(f: Any) -> Any:
        return jnp.sum(jax.lax.scan(step, f, None, length=steps)[0] * seed)

    calls = {"workbench": backwards(run, seed), "jax": there(loss, start)}
    return Workload("gradient of a lattice gas", calls, exact(loss, start), 1e-5)


def main() -> None:
    """Check, time, and write the table."""
    chosen = sys.argv[1:]
    loads = [load for make in (sparse, convolution, network, gas) for load in [make()]]
    loads = [load for load in loads if not chosen or load.name.startswith(tuple(chosen))]
    times = timed(loads)
    text = markdown(loads, times).replace("Workloads on the CPU", "Gradients on the CPU")
    print(text, flush=True)
    if not chosen:
        kept = {"machine": machine(), "when": time.strftime("%Y-%m-%d"), "seconds": times}
        (RESULTS / "gradients.json").write_text(json.dumps(kept, indent=1) + "\n")
        (RESULTS / "gradients.md").write_text(text)


if __name__ == "__main__":
    main()
