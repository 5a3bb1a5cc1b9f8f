"""Kernels of many kinds on the CPU: Workbench against NumPy or SciPy, Warp, numba and JAX, each checked.

What counts is the processor time of all threads (the least of all rounds): the machines are shared, Warp's kernels run
on one thread and the others on several. The wall time beside it is a median. Every system's result is compared with
NumPy's or SciPy's in float64 before anything is timed.

python benchmarks/workloads.py [name …]      all, or those whose names begin so
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse
import warp as wp
from measure import RESULTS, machine, shown
from peers import kernels as peers

import workbench as wb

ROUNDS = 6
N = 10_000_000
SIDE = 1024
FLOATS, INTS, IMAGE = wb.array(dtype=wb.float32), wb.array(dtype=int), wb.array(dtype=wb.float32, ndim=2)
MATRICES = wb.array(dtype=wb.mat33)


@dataclass
class Workload:
    """What is timed: a call per system that returns its result, the exact result, and how far one may be from it."""

    name: str
    calls: dict[str, Callable[[], np.ndarray]]
    exact: np.ndarray
    error: float
    beside: str = ""
    """The same workload without what makes this one harder; the table shows their ratio."""


@wb.kernel
def total(x: FLOATS, o: FLOATS):
    """A sum."""
    i = wb.tid()
    wb.atomic_add(o, 0, x[i])


@wb.kernel
def squares(x: FLOATS, o: FLOATS):
    """A sum of squares."""
    i = wb.tid()
    o[0] += x[i] * x[i]


@wb.kernel
def extremes(x: FLOATS, lo: FLOATS, hi: FLOATS):
    """The least and the greatest number."""
    i = wb.tid()
    wb.atomic_min(lo, 0, x[i])
    wb.atomic_max(hi, 0, x[i])


@wb.kernel
def csr(row: INTS, column: INTS, value: FLOATS, x: FLOATS, y: FLOATS):
    """A sparse matrix times a vector."""
    i = wb.tid()
    s = 0.0
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[column[k]]
    y[i] = s


@wb.kernel
def inverses(a: MATRICES, b: MATRICES):
    """Batched 3×3 inverses."""
    i = wb.tid()
    b[i] = wb.inverse(a[i])


@wb.kernel
def valid(x: IMAGE, w: IMAGE, y: IMAGE):
    """A 7×7 convolution of an image with a margin."""
    i, j = wb.tid()
    s = 0.0
    for a in range(7):
        for b in range(7):
            s += x[i + a, j + b] * w[a, b]
    y[i, j] = s


@wb.kernel
def clamped(x: IMAGE, w: IMAGE, y: IMAGE):
    """The same; borders are repeated."""
    i, j = wb.tid()
    s = 0.0
    for a in range(7):
        for b in range(7):
            s += x[wb.clamp(i + a - 3, 0, x.shape[0] - 1), wb.clamp(j + b - 3, 0, x.shape[1] - 1)] * w[a, b]
    y[i, j] = s


@wb.kernel
def periodic(x: IMAGE, w: IMAGE, y: IMAGE):
    """The same; the image goes on at its other side."""
    i, j = wb.tid()
    s = 0.0
    for a in range(7):
        for b in range(7):
            s += x[(i + a - 3) % x.shape[0], (j + b - 3) % x.shape[1]] * w[a, b]
    y[i, j] = s


@wb.kernel
def heat(x: IMAGE, y: IMAGE):
    """A step of heat flow within insulated walls."""
    i, j = wb.tid()
    n, m = x.shape[0], x.shape[1]
    near = x[max(i - 1, 0), j] + x[min(i + 1, n - 1), j] + x[i, max(j - 1, 0)] + x[i, min(j + 1, m - 1)]
    y[i, j] = x[i, j] + 0.1 * (near - 4.0 * x[i, j])


def ours(kernel: object, dim: object, inputs: list, outputs: list, start: float | None = None) -> Callable:
    """A launch; with `start` the outputs are set before."""

    def call() -> np.ndarray:
        if start is not None:
            outputs[0].fill_(start)
        wb.launch(kernel, dim, inputs, outputs, device="cpu")
        return outputs[0].numpy()

    return call


def theirs(kernel: object, dim: object, inputs: list, outputs: list, start: float | None = None) -> Callable:
    """The same of Warp."""

    def call() -> np.ndarray:
        if start is not None:
            outputs[0].fill_(start)
        wp.launch(kernel, dim=dim, inputs=inputs, outputs=outputs, device="cpu")
        return outputs[0].numpy()

    return call


def there(data: np.ndarray, dtype: object = None) -> wp.array:
    """Warp's array."""
    return wp.array(data, device="cpu") if dtype is None else wp.array(data, dtype=dtype, device="cpu")


def sums() -> list[Workload]:
    """Ten million float32 into one element."""
    x = np.random.default_rng(0).random(N, np.float32) + np.float32(0.5)
    here, warps, jaxs = wb.array(x), there(x), jnp.asarray(x)
    exact = x.astype(np.float64)
    o, lo, hi = wb.zeros(1), wb.array([2.0], dtype=float), wb.array([-1.0], dtype=float)
    wo, wlo, whi = there(np.zeros(1, np.float32)), there(np.full(1, 2, np.float32)), there(np.full(1, -1, np.float32))
    jitted, jitted_squares, jitted_least = (
        jax.jit(jnp.sum),
        jax.jit(lambda v: jnp.sum(v * v)),
        jax.jit(lambda v: (jnp.min(v), jnp.max(v))),
    )
    return [
        Workload(
            "sum", {
                "workbench": ours(total, N, [here], [o], 0.0), "numpy": lambda: x.sum(),
                "warp": theirs(peers.warp_total, N, [warps], [wo], 0.0), "jax": lambda: np.asarray(jitted(jaxs)),
            }, exact.sum(), 1e-6,
        ),
        Workload(
            "sum of squares", {
                "workbench": ours(squares, N, [here], [o], 0.0), "numpy": lambda: np.dot(x, x),
                "warp": theirs(peers.warp_squares, N, [warps], [wo], 0.0),
                "numba": lambda: np.asarray(peers.numba_squares(x)),
                "jax": lambda: np.asarray(jitted_squares(jaxs)),
            }, (exact**2).sum(), 1e-6,
        ),
        Workload(
            "least and greatest", {
                "workbench": ours(extremes, N, [here], [lo, hi]), "numpy": lambda: (x.min(), x.max())[0],
                "warp": theirs(peers.warp_extremes, N, [warps], [wlo, whi]),
                "jax": lambda: np.asarray(jitted_least(jaxs)[0]),
            }, exact.min(), 0,
        ),
    ]  # fmt: skip


def sparse() -> list[Workload]:
    """500,000 rows of ten elements."""
    n, each = 500_000, 10
    random = np.random.default_rng(1)
    row = np.arange(0, n * each + 1, each, dtype=np.int32)
    column = np.sort(random.integers(0, n, (n, each), dtype=np.int32), axis=1).ravel()
    value, x = random.random(n * each, np.float32), random.random(n, np.float32)
    matrix = scipy.sparse.csr_matrix((value, column, row), shape=(n, n))
    data, y = (row, column, value, x), np.zeros(n, np.float32)

    def looped() -> np.ndarray:
        peers.numba_csr(*data, y)
        return y

    return [
        Workload(
            "CSR product", {
                "workbench": ours(csr, n, [wb.array(d) for d in data], [wb.zeros(n)]), "scipy": lambda: matrix @ x,
                "warp": theirs(peers.warp_csr, n, [there(d) for d in data], [there(y)]), "numba": looped,
            }, matrix.astype(np.float64) @ x.astype(np.float64), 1e-5,
        )
    ]  # fmt: skip


def matrices() -> list[Workload]:
    """A million of them."""
    n = 1_000_000
    a = np.random.default_rng(2).random((n, 3, 3)).astype(np.float32) + 2 * np.eye(3, dtype=np.float32)
    return [
        Workload(
            "3×3 inverse", {
                "workbench": ours(inverses, n, [wb.array(a, dtype=wb.mat33)], [wb.zeros(n, dtype=wb.mat33)]),
                "warp": theirs(peers.warp_inverses, n, [there(a, wp.mat33)], [there(0 * a, wp.mat33)]),
                "numpy": lambda: np.linalg.inv(a),
            }, np.linalg.inv(a.astype(np.float64)), 1e-5,
        )
    ]  # fmt: skip


def images() -> list[Workload]:
    """An image of 1024² with three kinds of borders, and a heat step."""
    random = np.random.default_rng(3)
    x, w = random.random((SIDE, SIDE)).astype(np.float32), random.random((7, 7)).astype(np.float32)
    shape = x.shape
    y = np.zeros_like(x)
    padded = {mode: np.pad(x, 3, mode=mode) for mode in ("edge", "wrap")}

    def convolved(image: np.ndarray) -> np.ndarray:
        windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.float64), (7, 7))
        return np.einsum("ijab,ab->ij", windows, w.astype(np.float64))

    def looped() -> np.ndarray:
        peers.numba_valid(padded["edge"], w, y)
        return y

    flow = np.pad(x.astype(np.float64), 1, mode="edge")
    near = flow[:-2, 1:-1] + flow[2:, 1:-1] + flow[1:-1, :-2] + flow[1:-1, 2:]

    @jax.jit
    def jax_heat(x: jax.Array) -> jax.Array:
        p = jnp.pad(x, 1, mode="edge")
        return x + 0.1 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x)

    here, weights, jaxs = wb.array(x), wb.array(w), jnp.asarray(x)
    out = wb.zeros(shape, dtype=float)
    return [
        Workload(
            "7×7 convolution", {
                "workbench": ours(valid, shape, [wb.array(padded["edge"]), weights], [out]), "numba": looped,
            }, convolved(padded["edge"]), 1e-5,
        ),
        Workload(
            "7×7, borders clamped", {
                "workbench": ours(clamped, shape, [here, weights], [out]),
                "warp": theirs(peers.warp_clamped, shape, [there(x), there(w)], [there(y)]),
            }, convolved(padded["edge"]), 1e-5, "7×7 convolution",
        ),
        Workload(
            "7×7, borders periodic", {"workbench": ours(periodic, shape, [here, weights], [out])},
            convolved(padded["wrap"]), 1e-5, "7×7 convolution",
        ),
        Workload(
            "heat step, insulated", {
                "workbench": ours(heat, shape, [here], [out]),
                "warp": theirs(peers.warp_heat, shape, [there(x)], [there(y)]),
                "jax": lambda: np.asarray(jax_heat(jaxs)),
            }, x + 0.1 * (near - 4 * x.astype(np.float64)), 1e-6,
        ),
    ]  # fmt: skip


def timed(workloads: list[Workload]) -> dict[str, dict[str, tuple[float, float]]]:
    """Processor and wall seconds of each system, after its result was checked; all take turns."""
    for load in workloads:
        for system, call in load.calls.items():
            got = np.asarray(call(), np.float64).reshape(np.shape(load.exact))
            worst = float(np.max(np.abs(got - load.exact)) / np.max(np.abs(load.exact)))
            if system == "workbench":
                assert worst <= load.error, f"{load.name} of {system} is wrong by {worst:.1e}"
            elif worst > 1e-4:
                print(f"{load.name}: {system} is wrong by {worst:.1e}", flush=True)
    seen: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for _ in range(ROUNDS):
        for load in workloads:
            for system, call in load.calls.items():
                wall, processor = time.perf_counter(), time.process_time()
                call()
                took = time.process_time() - processor, time.perf_counter() - wall
                seen.setdefault(load.name, {}).setdefault(system, []).append(took)
    return {
        name: {s: (min(c for c, _ in t), statistics.median(w for _, w in t)) for s, t in systems.items()}
        for name, systems in seen.items()
    }


def markdown(workloads: list[Workload], times: dict[str, dict[str, tuple[float, float]]]) -> str:
    """A row per workload: our times, and each peer's processor time over ours."""
    others = ["numpy", "scipy", "warp", "numba", "jax"]
    lines = ["## Workloads on the CPU", "", "| | workbench | wall | " + " | ".join(others) + " | beside |"]
    lines.append("|---" * (len(others) + 4) + "|")
    for load in workloads:
        systems = times[load.name]
        processor, wall = systems["workbench"]
        cells = [f"{systems[p][0] / processor:.2f}×" if p in systems else "" for p in others]
        beside = f"{processor / times[load.beside]['workbench'][0]:.2f}× {load.beside}" if load.beside in times else ""
        lines.append(f"| {load.name} | {shown(processor)} | {shown(wall)} | {' | '.join(cells)} | {beside} |")
    facts = ", ".join(f"{name} {value}" for name, value in machine().items() if value)
    note = f"Least processor time of all threads over {ROUNDS} rounds; × is that system's over Workbench's. "
    note += "Other work ran beside."
    return "\n".join([*lines, "", note, "", facts, ""])


def main() -> None:
    """Check, time, and write the table."""
    wp.config.quiet = True
    chosen = sys.argv[1:]
    made = [load for make in (sums, sparse, matrices, images) for load in make()]
    workloads = [load for load in made if not chosen or load.name.startswith(tuple(chosen))]
    times = timed(workloads)
    text = markdown(workloads, times)
    print(text, flush=True)
    if not chosen:
        kept = {"machine": machine(), "when": time.strftime("%Y-%m-%d"), "rounds": ROUNDS, "seconds": times}
        (RESULTS / "workloads.json").write_text(json.dumps(kept, indent=1) + "\n")
        (RESULTS / "workloads.md").write_text(text)


if __name__ == "__main__":
    main()
