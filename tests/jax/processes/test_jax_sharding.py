"""Kernels divided among devices by XLA under a plain `jit`: rules here, values in processes with eight devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import workbench as wb

jax = pytest.importorskip("jax")
jnp = jax.numpy

PROGRAMS = Path(__file__).parents[1] / "programs"


def run(name: str, *arguments: Any) -> None:
    command = [sys.executable, str(PROGRAMS / name), *map(str, arguments)]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900, check=False)
    assert done.returncode == 0 and done.stdout == "equal\n", done.stderr[-2000:]


@wb.kernel
def rows(A: wb.array2d[float], v: wb.array[float], s: float, y: wb.array[float]):
    i = wb.tid()
    total = 0.0
    for j in range(A.shape[1]):
        total += A[i, j] * v[j]
    y[i] = s * total


@wb.kernel
def lagged(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] - x[0]


def test_a_kernel_shows_its_rule_and_why_the_rest_stays_whole() -> None:
    shapes = jax.ShapeDtypeStruct((6, 4), "float32"), jax.ShapeDtypeStruct((4,), "float32")
    rule = wb.jax_kernel(rows).sharding_rule(*shapes, 2.0, launch_dims=6)
    assert str(rule) == "i j, k -> i"
    assert repr(rule).splitlines()[1] == "axis 1 of A stays whole: no thread's index is its subscript"
    rule = wb.jax_kernel(lagged).sharding_rule(jnp.ones(8))
    assert rule.rule == "j -> k" and "x is accessed at other elements as well" in rule.whole[0]
    # A launch that is smaller than the array cannot be divided with it.
    small = wb.jax_kernel(rows).sharding_rule(*shapes, s=2.0, launch_dims=3, output_dims=6)
    assert "A has 6 elements along it, and the launch 3" in small.whole[0]


@wb.kernel
def five(u: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    n, m = u.shape[0], u.shape[1]
    total = u[max(i - 1, 0), j] + u[min(i + 2, n - 1), j] - 4.0 * u[i, j]
    y[i, j] = total + u[i, (j + m - 1) % m] + u[i, (j + 1) % m]


@wb.kernel
def mirrored(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[x.shape[0] - 1 - i]


def test_a_stencil_shows_what_devices_exchange() -> None:
    step = wb.jax_kernel(five, sharding="i j -> i j")
    rule = step.sharding_rule(jnp.ones((64, 16)))
    assert str(rule) == "i j -> i j" and rule.whole == ()
    assert rule.exchanged == (
        "axis 0 of u: a device receives 1 before and 2 after its part, 192 bytes",
        "axis 1 of u: a device receives 1 before and 1 after its part, 512 bytes",
    )
    assert step(jnp.ones((8, 8))).shape == (8, 8)
    # Subscripts without a bounded offset: the reason names them, and a rule that is asked for is refused.
    (why,) = wb.jax_kernel(mirrored).sharding_rule(jnp.ones(8)).whole
    assert "a subscript of x is not the thread's index plus a bounded number" in why and ".py" in why
    with pytest.raises(wb.LaunchError, match=r"axis 0 of x \(i\) cannot be divided: a subscript of x is not"):
        wb.jax_kernel(mirrored, sharding="i -> i")(jnp.ones(8))


@wb.kernel
def edges(u: wb.array2d[float], q: wb.array2d[float]):
    i, j = wb.tid()
    q[i, j] = u[min(i, u.shape[0] - 1), j] - u[max(i - 1, 0), j]


def test_a_staggered_grid_shows_what_moves() -> None:
    f = wb.jax_kernel(edges, input_dims={"u": "n, m"}, launch_dims="n + 1, m", sharding="i j -> i j")
    rule = f.sharding_rule(jnp.ones((64, 16)))
    assert rule.whole == () and rule.exchanged == (
        "axis 0 of u: a device receives 1 before and 0 after its part, 64 bytes",
        "axis 0 of u: padded, as it is 1 shorter than the launch; of d devices one receives up to d + 1 rows of "
        "neighbours, 64 bytes each",
    )
    # Half of the parts would be padding.
    (why, *_) = wb.jax_kernel(edges, launch_dims="8, 16").sharding_rule(jnp.ones((64, 16))).whole
    assert why.startswith("axis 0 of u stays whole: u has 64 elements along it, and the launch 8")


def test_a_rule_that_is_declared_is_compared() -> None:
    A, v = jnp.ones((6, 4)), jnp.ones(4)
    allowed = wb.jax_kernel(rows, sharding="a b, b -> a", launch_dims=6)
    assert allowed(A, v, 2.0).tolist() == [8.0] * 6
    assert jax.vmap(allowed, in_axes=(0, None, None))(A[None], v, 2.0).shape == (1, 6)
    with pytest.raises(
        wb.LaunchError, match=r"axis 0 of x \(i\) cannot be divided: x is accessed at other elements as well"
    ):
        wb.jax_kernel(lagged, sharding="i -> i")(v)
    with pytest.raises(wb.LaunchError, match=r"its arrays have these axes: i j, i -> i\."):
        wb.jax_kernel(rows, sharding="i, i -> i", launch_dims=6)(A, v, 2.0)
    with pytest.raises(wb.LaunchError, match=r"axis 0 of v \(i\) cannot be divided"):
        wb.jax_kernel(rows, sharding="i j, i -> i", launch_dims=6)(A, v, 2.0)


@pytest.mark.slow
def test_kernels_are_divided_and_values_stay() -> None:
    run("divided.py", "few")


@pytest.mark.slow
def test_every_kernel_and_gradient_is_the_same_on_eight_devices() -> None:
    run("divided.py")


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 8])
def test_a_stencil_exchanges_edges_and_gathers_nothing(count: int) -> None:
    run("halos.py", count, "few")


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 8])
def test_stencils_and_their_derivatives_on_meshes_are_those_of_one_device(count: int) -> None:
    run("halos.py", count)


@pytest.mark.slow
def test_explicit_meshes_two_axes_and_functions_of_launches() -> None:
    run("divided_types.py")


@pytest.mark.slow
def test_jax_keeps_divided_programs_apart_on_disk(tmp_path: Path) -> None:
    for name in ("square", "guarded", "square"):
        run("divided_types.py", tmp_path, name)
