"""Several Python threads at once, and many calls: right results, and nothing that grows."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.interop.jax.native.target import registered

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def power(x: wb.array[wb.float32], n: wb.int32, out: wb.array[wb.float32]):
    i = wb.tid()
    p = x[i]
    for _ in range(n):
        p = p * x[i]
    out[i] = p


@wb.kernel
def halve(x: wb.array[wb.float32], out: wb.array[wb.float32]):
    i = wb.tid()
    out[i] = 0.5 * x[i]


def twice(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    between = wb.empty(x.shape[0])
    wb.launch(halve, dim=x.shape, inputs=[x], outputs=[between])
    wb.launch(halve, dim=x.shape, inputs=[between], outputs=[y])


@pytest.mark.slow
def test_eight_threads_call_the_same_and_different_programs() -> None:
    """Each thread traces, compiles and calls, all starting together; sizes on both sides of XLA's thread pool."""
    f, g = wb.jax_kernel(power), wb.jax_callable(twice)
    start = threading.Barrier(8)
    shared = jax.jit(lambda x: f(x, 2))

    def work(number: int) -> list[bool]:
        start.wait()
        right = []
        for size in (7, 1000, 200_000 + number):
            x = jnp.linspace(0, 1, size)
            right.append(np.allclose(shared(x), x**3, rtol=1e-5))
            right.append(np.allclose(jax.jit(lambda x: f(x, number))(x), x ** (number + 1), rtol=1e-4))
            right.append(np.allclose(g(x), 0.25 * x, rtol=1e-5))
            right.append(np.allclose(f(x, number), x ** (number + 1), rtol=1e-4))
        return right

    with ThreadPoolExecutor(8) as pool:
        assert all(all(r) for r in pool.map(work, range(8)))


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


def grown(run: Any, first: int, more: int) -> float:
    """Bytes by which one more call grows the process, after the first ones."""
    for _ in range(first):
        run()
    before = resident()
    for _ in range(more):
        run()
    return (resident() - before) / more


@pytest.mark.slow
def test_eager_calls_and_traces_leave_nothing_behind() -> None:
    """100,000 eager calls of each; traces of programs and of their gradients."""
    f, g, x = wb.jax_kernel(power), wb.jax_callable(twice), jnp.ones(64)
    assert grown(lambda: f(x, 2).block_until_ready(), 2_000, 100_000) < 12
    assert grown(lambda: g(x).block_until_ready(), 2_000, 100_000) < 12
    h = wb.jax_kernel(halve)
    targets = len(registered())

    def trace() -> None:
        jax.make_jaxpr(jax.grad(lambda x: h(g(x)).sum()))(x)

    assert grown(trace, 300, 1_500) < 3_000
    assert len(registered()) == targets
