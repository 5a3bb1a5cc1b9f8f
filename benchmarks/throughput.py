"""Elementwise kernels on ten million numbers: Workbench against Warp, numba's prange and jax.jit.

saxpy is bound by memory, sin·exp by arithmetic. Each system writes into an array that is there already, but for JAX,
which allocates its result (XLA reuses the memory).
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numba
import numpy as np
import warp as wp
from measure import Row, Table, clock, take_turns, write

import workbench as wb

SIZE = 10_000_000
ROUNDS = 15
A = 2.5


@wb.kernel
def saxpy(a: float, x: wb.array(dtype=float), y: wb.array(dtype=float), z: wb.array(dtype=float)):
    """One multiplication and one addition for twelve bytes."""
    i = wb.tid()
    z[i] = a * x[i] + y[i]


@wb.kernel
def sin_exp(a: float, x: wb.array(dtype=float), y: wb.array(dtype=float), z: wb.array(dtype=float)):
    """Two transcendental functions for twelve bytes."""
    i = wb.tid()
    z[i] = a * wb.sin(x[i]) * wb.exp(y[i])


@wp.kernel
def warp_saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    """The same for Warp."""
    i = wp.tid()
    z[i] = a * x[i] + y[i]


@wp.kernel
def warp_sin_exp(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    """The same for Warp."""
    i = wp.tid()
    z[i] = a * wp.sin(x[i]) * wp.exp(y[i])


@numba.njit(parallel=True)
def numba_saxpy(a, x, y, z):
    """The same for numba."""
    for i in numba.prange(x.size):
        z[i] = a * x[i] + y[i]


@numba.njit(parallel=True)
def numba_sin_exp(a, x, y, z):
    """The same for numba."""
    for i in numba.prange(x.size):
        z[i] = a * np.sin(x[i]) * np.exp(y[i])


@jax.jit
def jax_saxpy(a, x, y):
    """The same for JAX."""
    return a * x + y


@jax.jit
def jax_sin_exp(a, x, y):
    """The same for JAX."""
    return a * jnp.sin(x) * jnp.exp(y)


def cases(ours: object, theirs: object, looped: Callable, jitted: Callable, x: np.ndarray, y: np.ndarray) -> dict:
    """One call of each system, after checking that their results agree."""
    here = [wb.array(x), wb.array(y), wb.zeros(SIZE, dtype=wb.float32)]
    there = [wp.array(x, device="cpu"), wp.array(y, device="cpu"), wp.zeros(SIZE, dtype=float, device="cpu")]
    z = np.zeros_like(x)
    jx, jy, a = jnp.asarray(x), jnp.asarray(y), np.float32(A)
    calls = {
        "workbench": lambda: wb.launch(ours, dim=SIZE, inputs=[A, *here[:2]], outputs=[here[2]], device="cpu"),
        "warp": lambda: wp.launch(theirs, dim=SIZE, inputs=[A, *there[:2]], outputs=[there[2]], device="cpu"),
        "numba prange": lambda: looped(a, x, y, z),
        "jax.jit": lambda: jitted(a, jx, jy).block_until_ready(),
    }
    for call in calls.values():
        call()
    for result in (there[2].numpy(), z, np.asarray(jitted(a, jx, jy))):
        np.testing.assert_allclose(here[2].numpy(), result, rtol=2e-5, atol=1e-6)
    return {name: clock(call) for name, call in calls.items()}


def main() -> None:
    """Time both kernels and write the table."""
    wp.config.quiet = True
    random = np.random.default_rng(0)
    x = random.uniform(-3, 3, SIZE).astype(np.float32)
    y = random.uniform(-3, 3, SIZE).astype(np.float32)
    table = Table("throughput", f"Elementwise kernels, {SIZE:.0e} float32", ROUNDS)
    for what, systems in {
        "saxpy": (saxpy, warp_saxpy, numba_saxpy, jax_saxpy),
        "sin·exp": (sin_exp, warp_sin_exp, numba_sin_exp, jax_sin_exp),
    }.items():
        medians = take_turns(cases(*systems, x, y), ROUNDS, warm=2)
        rate = f"{12e-9 * SIZE / medians['workbench']:.1f} GB/s" if what == "saxpy" else ""
        table.rows.append(Row(what, medians, rate))
    write(table)


if __name__ == "__main__":
    main()
