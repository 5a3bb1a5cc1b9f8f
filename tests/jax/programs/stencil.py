"""A periodic stencil of two sweeps whose neighbours' edges come from other shards; what the programs here share."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import workbench as wb

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

X, K = np.linspace(0, 1, 48, dtype=np.float32), 0.1


@wb.kernel
def sweep(
    x: wb.array[wb.float32],
    left: wb.array[wb.float32],
    right: wb.array[wb.float32],
    k: wb.float32,
    out: wb.array[wb.float32],
):
    i = wb.tid()
    n = x.shape[0]
    before = left[0]
    after = right[0]
    if i > 0:
        before = x[i - 1]
    if i < n - 1:
        after = x[i + 1]
    out[i] = x[i] + k * (before * after - 2.0 * x[i])


step = wb.jax_kernel(sweep)


@wb.kernel
def ring(x: wb.array[wb.float32], k: wb.float32, out: wb.array[wb.float32]):
    i = wb.tid()
    n = x.shape[0]
    out[i] = x[i] + k * (x[(i + n - 1) % n] * x[(i + 1) % n] - 2.0 * x[i])


by_itself = wb.jax_kernel(ring)
"""The same sweep over any mesh under a plain `jit`, which exchanges the edges."""


def whole(x: Any, k: Any) -> Any:
    """One sweep on one device."""
    return step(x, x[-1:], x[:1], k)


def local(x: Any, k: Any) -> Any:
    """One sweep of a shard of the axis "x"."""
    n = jax.lax.psum(1, "x")
    left = jax.lax.ppermute(x[-1:], "x", [(i, (i + 1) % n) for i in range(n)])
    right = jax.lax.ppermute(x[:1], "x", [(i, (i - 1) % n) for i in range(n)])
    return step(x, left, right, k)


def sharded(mesh: Any) -> Any:
    """One sweep over a mesh."""
    spec = jax.sharding.PartitionSpec("x")
    return shard_map(local, mesh=mesh, in_specs=(spec, jax.sharding.PartitionSpec()), out_specs=spec)


def loss(sweep: Any) -> Any:
    """What is differentiated: two sweeps, squared."""
    return lambda x, k: (sweep(sweep(x, k), k) ** 2).sum()
