"""Kernels under a plain `jax.jit` over eight CPU devices of one process, beside `jax.shard_map` and plain JAX.

All systems of a row run in turn. The last row is a kernel that cannot be divided.
"""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from measure import OURS, Row, Table, clock, take_turns, write

import workbench as wb

SIZE, ROUNDS = 8_000_000, 15
BY_HAND, JAX = "shard_map", "plain JAX"


@wb.kernel
def wave(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    """Each thread on its own element."""
    i = wb.tid()
    y[i] = x[i] * x[i] + 1.0


@wb.kernel
def ramp(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    """With the index as a number: a part is given where it begins."""
    i = wb.tid()
    y[i] = x[i] * x[i] + wb.float32(i)


@wb.kernel
def lag(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    """Reads an element of another thread."""
    i = wb.tid()
    y[i] = x[i] * x[i] - x[0]


def twice(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    """Two launches as one function."""
    between = wb.empty(x.shape[0])
    wb.launch(wave, dim=x.shape, inputs=[x], outputs=[between])
    wb.launch(wave, dim=x.shape, inputs=[between], outputs=[y])


def gradient(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Of the sum of squares."""
    return jax.grad(lambda x: jnp.sum(f(x) ** 2))


def plain(x: Any) -> Any:
    """`wave` in JAX."""
    return x * x + 1.0


def measured(what: str, ours: Any, theirs: Any, make: Callable[[Any], Any], by_hand: bool = True) -> Row:
    """One row: `make` of our function under jit, inside `shard_map` (if that gives the same), and of plain JAX."""
    mesh = jax.make_mesh((8,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = PartitionSpec("d")
    x = jax.device_put(np.linspace(-1, 1, SIZE, dtype=np.float32), NamedSharding(mesh, spec))
    programs = {OURS: jax.jit(make(ours)), JAX: jax.jit(make(theirs))}
    if by_hand:
        programs[BY_HAND] = jax.jit(make(jax.shard_map(ours, mesh=mesh, in_specs=spec, out_specs=spec)))
    cases = {n: clock(lambda f=f: jax.block_until_ready(f(x))) for n, f in programs.items()}
    return Row(what, take_turns(cases, ROUNDS, warm=2))


def main() -> None:
    """Measure, and write the table."""
    table = Table("jax_sharding", f"{SIZE:,} floats divided among 8 devices, under a plain jit", ROUNDS)
    kernel, function = wb.jax_kernel(wave), wb.jax_callable(twice)
    table.rows = [
        measured("a kernel", kernel, plain, lambda f: f),
        measured("its gradient", kernel, plain, gradient),
        measured("a function of two launches", function, lambda x: plain(plain(x)), lambda f: f),
        measured(
            "a kernel with its index as a number", wb.jax_kernel(ramp),
            lambda x: x * x + jnp.arange(SIZE, dtype=np.float32), lambda f: f, False,
        ),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table.rows.append(
            measured("one that is gathered", wb.jax_kernel(lag), lambda x: x * x - x[0], lambda f: f, False)
        )
    write(table)


if __name__ == "__main__":
    main()
