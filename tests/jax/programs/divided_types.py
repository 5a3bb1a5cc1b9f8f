"""Meshes with explicit axes and with two axes, functions of launches, unequal parts, and JAX's persistent cache."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import sys
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from divided import FLOATS, N, check, guarded, numbered, square, summed
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import workbench as wb


@wb.kernel
def outer(x: FLOATS, y: FLOATS, z: wb.array2d[float]):
    i, j = wb.tid()
    z[i, j] = x[i] * wb.sin(y[j])


@wb.kernel
def product(A: wb.array2d[float], v: FLOATS, scale: float, y: FLOATS):
    i = wb.tid()
    total = 0.0
    for j in range(A.shape[1]):
        total += A[i, j] * v[j]
    y[i] = scale * total


@wb.kernel
def waves(x: wb.array2d[float], s: float, y: wb.array2d[float]):
    i, j = wb.tid()
    y[i, j] = wb.sin(x[i, j] * s) + 0.1 * float(i)


def twice(x: wb.array2d[float], s: float, y: wb.array2d[float]):
    between = wb.empty(x.shape)
    wb.launch(waves, dim=x.shape, inputs=[x, s], outputs=[between])
    wb.launch(waves, dim=x.shape, inputs=[between, s], outputs=[y])


def placed(x: Any, mesh: Any, *spec: Any) -> Any:
    return jax.device_put(x, NamedSharding(mesh, PartitionSpec(*spec)))


def equal(found: Any, expected: Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6), found, expected)


def explicit() -> None:
    """Types say how results are divided, values are; gradients have the types of what they belong to."""
    multiply = wb.jax_kernel(product)
    A, v = jnp.linspace(0.0, 1.0, 8 * N).reshape(N, 8), jnp.linspace(1.0, 2.0, 8)

    def loss(A: Any, v: Any, s: Any) -> Any:
        return jnp.sum(multiply(A, v, s, launch_dims=N) ** 2)

    wanted = jax.grad(loss, (0, 1, 2))(A, v, 2.0)
    mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        x = placed(jnp.arange(float(N)), mesh, "d")
        kinds = []

        def typed(x: Any) -> Any:
            kinds.append(jax.typeof(wb.jax_kernel(square)(x)).sharding.spec)
            return wb.jax_kernel(square)(x)

        assert jax.jit(typed)(x).sharding.spec == PartitionSpec("d") and kinds == [PartitionSpec("d")]
        assert wb.jax_kernel(square)(x).sharding.spec == PartitionSpec("d")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # v is divided, and the kernel needs all of it
            found = jax.jit(jax.grad(loss, (0, 1, 2)))(placed(A, mesh, "d"), placed(v, mesh, "d"), 2.0)
        assert [g.sharding.spec for g in found[:2]] == [PartitionSpec("d", None), PartitionSpec("d")]
        equal(found, wanted)
        steps = jax.jit(lambda x: jax.lax.scan(lambda c, _: (typed(c) * 0.1, None), x, None, length=3)[0])
        assert steps(x).sharding.spec == PartitionSpec("d")
        rows = placed(A, mesh, "d")
        assert jax.jit(jax.vmap(wb.jax_kernel(numbered)))(rows).sharding.spec == PartitionSpec("d", None)
        both = lambda x, y: wb.jax_kernel(outer, launch_dims=(N, N))(x, y)  # noqa: E731
        try:
            jax.jit(both)(x, x)
        except wb.LaunchError as error:
            assert "ambiguous" in str(error) and "jax.sharding.reshard" in str(error)
        else:
            raise AssertionError("two axes along one axis of the mesh")


def functions() -> None:
    """A function of launches is divided launch by launch, with its derivatives, under both kinds of meshes."""
    f = wb.jax_callable(twice)
    x = jnp.linspace(0.0, 1.0, 3 * N).reshape(N, 3)
    loss = lambda x, s: jnp.sum(f(x, s) ** 2)  # noqa: E731
    cases = [f, jax.grad(loss, (0, 1)), jax.jacfwd(loss, 1), jax.hessian(loss, 1)]
    wanted = [case(x, 1.5) for case in cases]
    for kind in (AxisType.Auto, AxisType.Explicit):
        mesh = jax.make_mesh((8,), ("d",), axis_types=(kind,))
        with jax.set_mesh(mesh):
            given = placed(x, mesh, "d")
            for case, expected in zip(cases, wanted, strict=True):
                compiled = jax.jit(case).lower(given, 1.5).compile()
                assert "all-gather" not in compiled.as_text()
                equal(compiled(given, 1.5), expected)


def two_axes() -> None:
    """Each thread index along its own axis of the mesh; unequal parts are gathered; `shard_map` over one axis."""
    mesh = jax.make_mesh((4, 2), ("d", "e"), axis_types=(AxisType.Auto,) * 2)
    f = wb.jax_kernel(outer, launch_dims=(N, N))
    x = jnp.linspace(0.0, 1.0, N)
    loss = lambda x, y: jnp.sum(f(x, y) ** 2)  # noqa: E731
    given = placed(x, mesh, "d"), placed(x, mesh, "e")
    assert jax.jit(f)(*given).sharding.spec == PartitionSpec("d", "e")
    equal(jax.jit(f)(*given), f(x, x))
    equal(jax.jit(jax.grad(loss, (0, 1)))(*given), jax.grad(loss, (0, 1))(x, x))
    g = wb.jax_kernel(square)
    unequal = lambda x: g(jax.lax.with_sharding_constraint(x[:10] * 2, NamedSharding(mesh, PartitionSpec("d"))))  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        equal(jax.jit(unequal)(x), g(x[:10] * 2))
    rows = placed(x.reshape(4, 4), mesh, "d", "e")
    for kernel in (square, numbered):
        batched = jax.vmap(wb.jax_kernel(kernel))
        assert jax.jit(batched)(rows).sharding.spec == PartitionSpec("d", "e")
        equal(jax.jit(batched)(rows), batched(x.reshape(4, 4)))
        slopes = jax.grad(lambda x, f=batched: jnp.sum(f(x) ** 2))
        equal(jax.jit(slopes)(rows), slopes(x.reshape(4, 4)))
    both = wb.jax_kernel(numbered)
    equal(jax.jit(both)(placed(x, mesh, ("e", "d"))), both(x))
    part = jax.shard_map(
        lambda x: g(x) + 0 * jax.lax.axis_index("d"), mesh=mesh, in_specs=PartitionSpec("d"),
        out_specs=PartitionSpec("d"), axis_names={"d"},
    )  # fmt: skip
    equal(jax.jit(part)(placed(x, mesh, ("d", "e"))), g(x))


def cached(folder: str, name: str) -> None:
    """One of two kernels that XLA cannot tell apart before they are divided, with what earlier processes compiled."""
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_remove_custom_partitioning_ptr_from_cache_key", True)
    check(wb.jax_kernel({"square": square, "guarded": guarded}[name]), jnp.linspace(-1.0, 1.0, N), divided=True)


def checked() -> None:
    """A fault on one device, in a program of eight, is reported at the end of the `with`."""
    mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
    with wb.checks():
        total = wb.jax_kernel(summed, output_dims=2, init={"total": 0})
        found = jax.jit(total)(placed(jnp.ones(N), mesh, "d"))
    assert found.tolist() == [0.0, N]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        cached(*sys.argv[1:])
    else:
        for part in (explicit, functions, two_axes, checked):
            part()
    print("equal")
