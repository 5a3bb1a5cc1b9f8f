"""One of several processes, each with a CPU device, that share the stencil through `jax.distributed` and gloo.

Arguments: the coordinator's address, how many processes, which one this is. JAX is told of the others before anything
starts its backend: importing kernels does not.
"""

from __future__ import annotations

import sys

import jax
import numpy as np
from jax.experimental.multihost_utils import process_allgather


def main(address: str, count: int, number: int) -> None:
    """Values and gradients over all processes, against one device's."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(address, count, number)
    from stencil import K, X, by_itself, loss, sharded, whole

    assert jax.process_count() == count and len(jax.devices()) == count
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    placed = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    x = jax.make_array_from_callback(X.shape, placed, lambda at: np.asarray(X)[at])
    alone, (ax, ak) = jax.jit(jax.value_and_grad(loss(whole), (0, 1)))(np.asarray(X), K)
    for spread in (sharded(mesh), by_itself):
        value, (dx, dk) = jax.jit(jax.value_and_grad(loss(spread), (0, 1)))(x, K)
        dx = process_allgather(dx, tiled=True)
        for got, expected in ((value, alone), (dx, ax), (dk, ak)):
            np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-4, atol=1e-6)
    print("equal")


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
