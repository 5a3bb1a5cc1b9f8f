"""Kernels as JAX functions on a device: values, gradients, command buffers, many calls, several devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def curve(x: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = s * wb.sin(x[i]) * x[i]


@wb.kernel
def total(x: wb.array[wb.float32], out: wb.array[wb.float32]):
    wb.atomic_add(out, 0, x[wb.tid()])


F, SUM = wb.jax_kernel(curve), wb.jax_kernel(total, output_dims=1, init={"out": "zeros"})
X = np.linspace(0.1, 2, 1000, dtype=np.float32)


@pytest.fixture
def gpu(device: str) -> Any:
    """JAX's first CUDA device; skips where it has none."""
    try:
        return jax.devices("cuda")[0]
    except RuntimeError as problem:
        pytest.skip(f"JAX has no CUDA device: {problem}")


def curve_jax(x: Any, s: Any) -> Any:
    return s * jnp.sin(x) * x


WAYS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f(X, 1.5),
    "jit": lambda f: jax.jit(f)(X, 1.5),
    "grad": lambda f: jax.jit(jax.grad(lambda x, s: f(x, s).sum(), (0, 1)))(X, 1.5),
    "jvp": lambda f: jax.jit(lambda x, s: jax.jvp(f, (x, s), (x, s)))(X, 1.5),
    "vmap": lambda f: jax.jit(jax.vmap(f, (None, 0)))(X, jnp.arange(3.0)),
    "scan": lambda f: jax.lax.scan(lambda c, s: (f(c, s), c.sum()), X, jnp.arange(1.0, 4.0)),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_jax_does_with_it_is_right(gpu: Any, way: str) -> None:
    with jax.default_device(gpu):
        got, expected = WAYS[way](F), WAYS[way](curve_jax)
    jax.tree.map(lambda g, e: np.testing.assert_allclose(g, e, rtol=1e-4, atol=1e-4), got, expected)


def test_an_initial_value_is_set_on_the_device(gpu: Any) -> None:
    with jax.default_device(gpu):
        np.testing.assert_allclose(jax.jit(SUM)(X), [X.sum()], rtol=1e-4)


def test_calls_stand_in_command_buffers(gpu: Any, tmp_path: Path) -> None:
    """XLA's own dump of the program it runs names the calls inside a command buffer."""
    options = {"xla_dump_to": str(tmp_path), "xla_gpu_graph_min_graph_size": 1}

    def many(x: Any) -> Any:
        for _ in range(8):
            x = F(x, 1.0)
        return x

    with jax.default_device(gpu):
        jax.jit(many, compiler_options=options)(X).block_until_ready()
    texts = [f.read_text(errors="replace") for f in tmp_path.rglob("*after_optimizations*.txt")]
    inside = [t for t in texts if "command_buffer" in t and "workbench.curve" in t]
    assert inside, [f.name for f in tmp_path.rglob("*")]


def test_a_hundred_thousand_calls_in_a_loop(gpu: Any) -> None:
    @wb.kernel
    def step(x: wb.array[wb.float32], y: wb.array[wb.float32]):
        i = wb.tid()
        y[i] = x[i] + 1.0

    f = wb.jax_kernel(step)
    with jax.default_device(gpu):
        found = jax.jit(lambda x: jax.lax.fori_loop(0, 100_000, lambda _, x: f(x), x))(jnp.zeros(64))
    np.testing.assert_array_equal(found, np.full(64, 100_000.0))


def test_all_devices_run_the_same_code(gpu: Any) -> None:
    for place in jax.devices("cuda"):
        got = jax.jit(F)(jax.device_put(X, place), 2.0)
        assert got.devices() == {place}
        np.testing.assert_allclose(got, curve_jax(X, 2.0), rtol=1e-4)
