"""Kernels on four devices that meet in a collective, one of which would go on for minutes.

`interrupted_devices.py CASE` says "go" before, and how it ended. Without care for the others, a device that is stopped
fails alone, and XLA ends the process 40 seconds later.
"""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

import workbench as wb


@wb.kernel
def slow(x: wb.array(dtype=float), turns: wb.array(dtype=int), y: wb.array(dtype=float)):
    i = wb.tid()
    s = x[i]
    for k in range(turns[0]):
        s = wb.sin(s + float(k))
    y[i] = s


def called_back(x: wb.array(dtype=float), turns: wb.array(dtype=int), y: wb.array(dtype=float)):
    wb.launch(slow, x.shape[0], [x, turns, y])


mesh = Mesh(np.array(jax.devices()), ("d",))
D, WHOLE = PartitionSpec("d"), PartitionSpec()
if hasattr(jax, "shard_map"):
    shard_map = jax.shard_map
else:
    from jax.experimental.shard_map import shard_map
f = wb.jax_kernel(slow)
back = wb.jax_callable(called_back, graph_mode="none")


def total(function):
    def inside(x, turns):
        return jax.lax.psum(function(x, turns).sum(), "d")

    return inside


def sharded(function):
    return jax.jit(shard_map(function, mesh=mesh, in_specs=(D, D), out_specs=WHOLE))


CASES = {
    "kernel": sharded(total(f)),
    "scan": sharded(lambda x, n: jax.lax.fori_loop(0, 5, lambda _, s: s + total(f)(x, n), jnp.float32(0))),
    "gradient": jax.jit(jax.grad(lambda x, n: sharded(total(f))(x, n))),
    "called back": sharded(total(back)),
    "checks": sharded(total(f)),
}


def main(case: str) -> None:
    """Run until it is interrupted."""
    run, x = CASES[case], jnp.arange(8.0)
    few = jnp.full(4, 3, jnp.int32)
    expected = np.asarray(run(x, few)).tolist()
    error = late = ""
    print("go", flush=True)
    try:
        jax.block_until_ready(run(x, few.at[2].set(2**31 - 1)))
        for _ in range(1000):
            pass
    except KeyboardInterrupt as caught:
        error = repr(caught)
    try:
        f(jnp.ones(2), few)
    except wb.KernelFault as caught:
        late = str(caught)
    right = np.asarray(run(x, few)).tolist() == expected
    f(jnp.ones(2), few)
    print(json.dumps({"error": error, "late": late, "right": right}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "checks":
        wb.set_checks(True)
    main(sys.argv[1])
