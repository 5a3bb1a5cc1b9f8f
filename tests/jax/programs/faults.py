"""Faults on one of four devices: XLA would end the process where others wait in a collective, so they come later."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import workbench as wb


@wb.kernel
def gather(x: wb.array[float], k: wb.array[int], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[k[i]]


@wb.kernel
def half(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    if i < 4:
        y[i] = x[i] + 1.0


x = jnp.arange(8.0)
good = jnp.zeros(8, jnp.int32)
bad = good.at[5].set(100)
f = wb.jax_kernel(gather)
mesh = Mesh(np.array(jax.devices()), ("d",))
D = PartitionSpec("d")
new = hasattr(jax, "shard_map")
if not new:
    from jax.experimental.shard_map import shard_map


def sharded(function, out):
    make = jax.shard_map if new else shard_map
    return make(function, mesh=mesh, in_specs=(D, D), out_specs=out)


def total(x, k):
    return jax.lax.psum(f(x, k).sum(), "d")


def steps(x, k):
    return jax.lax.scan(lambda c, _: (c + jax.lax.psum(f(x, k), "d"), None), x, None, length=3)[0]


def faults(run, *args):
    """Whether the end of the `with` raises what happened inside, and the same program then runs rightly."""
    try:
        with wb.checks():
            jax.block_until_ready(run(x.reshape(args[0].shape), *args))
    except wb.KernelFault as fault:
        return "x has 2 elements along axis 0; thread (1,) asked for index 100." in str(fault)
    return False


jitted = jax.jit(sharded(total, PartitionSpec()))
with wb.checks():
    assert jitted(x, good) == 24
assert faults(jitted, bad) and faults(jitted, bad)
assert faults(jax.jit(sharded(f, D)), bad)
assert faults(sharded(f, D), bad)
assert faults(jax.jit(sharded(steps, D)), bad)
assert faults(jax.jit(jax.grad(lambda x, k: sharded(total, PartitionSpec())(x, k))), bad)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    assert faults(jax.pmap(total, axis_name="d"), bad.reshape(4, 2))
assert jitted(x, good) == 24

# XLA divides these itself. What asks for unwritten elements is a call with an effect, which each device runs.
spread = jax.device_put(x, NamedSharding(mesh, D))
with wb.checks(), warnings.catch_warnings():
    warnings.simplefilter("ignore")  # x is gathered, because its index is read from k
    np.testing.assert_array_equal(jax.jit(f)(spread, jax.device_put(good, NamedSharding(mesh, D))), np.zeros(8))
    written = wb.jax_kernel(half, init={"y": "zeros"})
    np.testing.assert_array_equal(jax.jit(written)(spread), [1, 2, 3, 4, 0, 0, 0, 0])
try:
    with wb.checks():
        jax.block_until_ready(jax.jit(wb.jax_kernel(half))(spread))
    raise SystemExit("unwritten elements were not reported")
except wb.KernelFault as fault:
    assert "4 of 8 elements of the result y were never written by half." in str(fault), fault

with wb.checks():
    alone = jax.jit(f)
    try:
        jax.block_until_ready(alone(x, bad))
    except jax.errors.JaxRuntimeError as error:
        print("late, and at once" if "asked for index 100" in str(error) else error)
