"""Kernels on eight devices under a plain `jit`: what is divided, what must not be, and values as on one device."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import workbench as wb

SPEC, N = PartitionSpec("d"), 16
TYPES = getattr(jax.sharding, "AxisType", None)  # not in JAX 0.5, which divides nothing
MESH = jax.make_mesh((8,), ("d",), **({} if TYPES is None else {"axis_types": (TYPES.Auto,)}))
DIVIDES = TYPES is not None and jax.config.jax_use_shardy_partitioner
FLOATS = wb.array[float]


@wb.kernel
def square(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def guarded(x: FLOATS, y: FLOATS):
    i = wb.tid()
    if i >= x.shape[0]:
        return
    y[i] = wb.sin(x[i])


@wb.kernel
def picked(x: FLOATS, k: wb.array[int], y: FLOATS):
    i = wb.tid()
    y[i] = x[k[i]] * 2.0


@wb.kernel
def summed(x: FLOATS, total: FLOATS):
    wb.atomic_add(total, 1, x[wb.tid()])


@wb.kernel
def smallest(x: FLOATS, least: FLOATS):
    wb.atomic_min(least, 0, x[wb.tid()])


@wb.kernel
def counted(x: FLOATS, k: wb.array[int], bins: wb.array[int]):
    i = wb.tid()
    if x[i] > 0.3:
        wb.atomic_add(bins, k[i], 1)


@wb.kernel
def grown(x: FLOATS, v: FLOATS):
    i = wb.tid()
    x[i] = x[i] + v[i]


@wb.kernel
def spun(p: wb.array[wb.vec3], s: float, q: wb.array[wb.vec3]):
    i = wb.tid()
    q[i] = wb.cross(p[i], wb.vec3(s, 1.0, 0.0))


@wb.kernel
def numbered(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[i] + float(i)


@wb.kernel
def sized(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[i] / float(x.shape[0])


@wb.kernel
def seeded(x: FLOATS, y: FLOATS):
    i = wb.tid()
    state = wb.rand_init(7, i)
    y[i] = x[i] + wb.randf(state)


@wb.kernel
def ahead(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[(i + 1) % x.shape[0]]


@wb.kernel
def first(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[i] - x[0]


@wb.kernel
def backwards(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[x.shape[0] - 1 - i] = x[i]


@wb.kernel
def limited(x: FLOATS, n: int, y: FLOATS):
    i = wb.tid()
    y[i] = 0.0
    if i < n:
        y[i] = x[i]


@wb.kernel
def once(x: FLOATS, y: FLOATS):
    i = wb.tid()
    if x[i] == 3.0:
        y[0] = x[i]


@wb.kernel
def diagonal(A: wb.array2d[float], y: FLOATS):
    i = wb.tid()
    y[i] = A[i, i]


@wb.kernel
def ordered(x: FLOATS, total: FLOATS, y: FLOATS):
    i = wb.tid()
    old = wb.atomic_add(total, 0, x[i])
    y[i] = wb.min(old, -1.0)


@wb.kernel
def looped(x: FLOATS, y: FLOATS):
    i = wb.tid()
    total = 0.0
    for _ in range(i):
        total += x[i]
    y[i] = total


@wb.kernel
def added(x: FLOATS, total: FLOATS):
    wb.atomic_add(total, 0, x[wb.tid()])


def program(f: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    """Results, and the compiled text, of operands that are divided along their first axes."""

    def placed(x: Any) -> Any:
        spec = SPEC if np.ndim(x) and np.shape(x)[0] % 8 == 0 else PartitionSpec()
        return jax.device_put(x, NamedSharding(MESH, spec))

    given = [placed(x) for x in args]
    compiled = jax.jit(f).lower(*given).compile()
    return compiled(*given), compiled.as_text()


def check(f: Callable[..., Any], *args: Any, divided: bool, gradient: bool = True) -> None:
    """Values, and gradients by all floats, are those of one device; nothing is gathered where it is divided."""
    functions = [f]
    floats = tuple(n for n, x in enumerate(args) if np.asarray(x).dtype == np.float32)
    if gradient:
        functions.append(jax.grad(lambda *a: sum(jnp.sum(jnp.sin(r)) for r in jax.tree.leaves(f(*a))), floats))
    for function in functions:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found, text = program(function, *args)
        expected = jax.jit(function)(*args)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6), found, expected)
        if not DIVIDES:
            continue
        if divided:
            # What all devices update is small, and its minima are compared on every device.
            assert not re.search(r"\[\d\d+[\d,]*\]\S* all-gather\(", text), (f, said)
            assert not said, (f, [str(w.message) for w in said])
        elif function is f:
            assert "all-gather" in text, f
            (one,) = [str(w.message) for w in said if "JAX gathers" in str(w.message)]
            assert " on every device, along axis 0: " in one, one


def main() -> None:
    """Everything, or the `few` that the default tests take."""
    x, k = jnp.linspace(-1.0, 1.0, N), jnp.arange(N, dtype=jnp.int32) % 5
    kernel = wb.jax_kernel
    if sys.argv[1:] == ["few"]:
        check(kernel(summed, output_dims=3, init={"total": 0}), x, divided=True)
        check(kernel(numbered), x, divided=True, gradient=False)
        check(kernel(first), x, divided=False, gradient=False)
        check(jax.vmap(kernel(numbered)), x.reshape(8, 2), divided=True, gradient=False)
        print("equal")
        return
    check(kernel(square), x, divided=True)
    check(kernel(guarded), x, divided=True)
    check(kernel(counted, output_dims=5, init={"bins": 0}), x, k, divided=True, gradient=False)
    check(kernel(summed, output_dims=3, init={"total": 0}), x, divided=True)
    check(kernel(smallest, output_dims=1, init={"least": 5}), x, divided=True, gradient=False)
    check(kernel(grown, in_out_argnames="x"), x, x + 2, divided=True)
    check(kernel(spun), jnp.stack([x, x * 2, x + 1], 1), jnp.float32(2.0), divided=True)
    # The table is not divided, so nothing of it has to be gathered.
    table = jnp.arange(7.0)
    check(kernel(picked, launch_dims=N), table, k, divided=True)
    # Their parts are given where they begin, and how large the whole is.
    for uses in (numbered, sized, seeded, looped):
        check(kernel(uses), x, divided=True)
    check(kernel(limited), x, jnp.int32(11), divided=True)
    # Neighbours' edges are exchanged.
    check(kernel(ahead), x, divided=True)
    for wrong in (first, backwards):
        check(kernel(wrong), x, divided=False)
    check(kernel(once, output_dims=1, init={"y": 1}), jnp.arange(16.0), divided=False, gradient=False)
    check(kernel(diagonal, launch_dims=8, output_dims=8), jnp.arange(64.0).reshape(8, 8), divided=False)
    check(kernel(square, launch_dims=8, init={"y": 4}, output_dims=16), x, divided=False)
    check(kernel(added, output_dims=1, init={"total": 3}), x, divided=False)
    check(kernel(ordered, num_outputs=2, output_dims={"total": 1}, init={"total": 0}), x, divided=False, gradient=False)
    # A batch is divided whatever the kernel does with its index.
    rows = jnp.linspace(-1.0, 1.0, 8 * N).reshape(8, N)
    check(jax.vmap(kernel(numbered)), rows, divided=True)
    check(jax.vmap(kernel(seeded), spmd_axis_name="d"), rows, divided=True)
    check(jax.vmap(kernel(added, output_dims=1, init={"total": 3})), rows, divided=True)
    check(jax.vmap(jax.vmap(kernel(first))), rows.reshape(8, 2, N // 2), divided=True)
    print("equal")


if __name__ == "__main__":
    main()
