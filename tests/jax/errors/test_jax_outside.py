"""Shapes that slipped: a launch that must reach outside of an array is refused when JAX traces it, and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError

jax = pytest.importorskip("jax")
jnp = jax.numpy
SIZE = 3


@wb.struct
class Pair:
    a: wb.array[float]
    b: wb.array[float]


@wb.kernel
def add(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] + z[i]


@wb.kernel
def double(x: wb.array[float], y: wb.array[float]):
    y[wb.tid()] = 2.0 * x[wb.tid()]


@wb.kernel
def product(A: wb.array2d[float], x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    total = 0.0
    for j in range(A.shape[1]):
        total += A[i, j] * x[j]
    y[i] = total


@wb.kernel
def outer(a: wb.array[float], b: wb.array[float], out: wb.array2d[float]):
    i, j = wb.tid()
    out[i, j] = a[i] * b[j]


@wb.kernel
def cube(a: wb.array3d[float], b: wb.array3d[float], out: wb.array3d[float]):
    i, j, k = wb.tid()
    out[i, j, k] = a[i, j, k] + b[k, j, i]


@wb.kernel
def lengths(v: wb.array[wb.vec3], w: wb.array[wb.mat22], out: wb.array[float]):
    i = wb.tid()
    out[i] = wb.length(v[i]) + w[i][0, 0]


@wb.kernel
def pairs(p: Pair, out: wb.array[float]):
    i = wb.tid()
    out[i] = p.a[i] * p.b[i]


@wb.kernel
def shifted(x: wb.array[float], k: int, y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i + k]


@wb.kernel
def scaled(x: wb.array[float], s: float, y: wb.array[float]):
    i = wb.tid()
    x[i] *= s
    y[i] = x[i]


@wb.kernel
def windowed(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    for k in range(SIZE):
        y[i] = wb.max(x[i + k], 0.0)


@wb.kernel
def sums(x: wb.array[float], i0: wb.array[int], out: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(out, 4, x[i0[i]])


@wb.kernel
def rows(A: wb.array2d[float], out: wb.array[float]):
    i = wb.tid()
    row = A[i]
    out[i] = row[0] + row[3]


def launched_twice(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    t = wb.empty(x.shape[0])
    wb.launch(double, dim=x.shape, inputs=[x], outputs=[t])
    wb.launch(add, dim=x.shape, inputs=[t, z[1:]], outputs=[y])


def ones(*shape: int) -> Any:
    return jnp.ones(shape, jnp.float32)


def mesh() -> Any:
    return jax.sharding.Mesh(np.array(jax.devices("cpu")[:1]), ("d",))


def shard_map(function: Any, count: int) -> Any:
    spec = jax.sharding.PartitionSpec("d")
    if hasattr(jax, "shard_map"):
        return jax.shard_map(function, mesh=mesh(), in_specs=(spec,) * count, out_specs=spec)
    from jax.experimental.shard_map import shard_map as mapped

    return mapped(function, mesh=mesh(), in_specs=(spec,) * count, out_specs=spec)


f = wb.jax_kernel(add)
WRONG: dict[str, tuple[Callable[[], Any], str, list[str]]] = {
    "an input is short": (
        lambda: f(ones(6), ones(3)), "z",
        ["z has 3 elements along axis 0", "thread (5,)", "index 5", "6 threads, the shape of x", "z the shape (6,)"],
    ),
    "one element is no scalar": (
        lambda: f(ones(6), ones(1)), "z", ["1 element", "Kernels do not broadcast", "jnp.broadcast_to(z, (6,))"]
    ),
    "an empty one": (lambda: f(ones(6), ones(0)), "z", ["0 elements", "z the shape (6,)"]),
    "in jit": (lambda: jax.jit(f)(ones(6), ones(3)), "z", ["z the shape (6,)"]),
    "in grad": (lambda: jax.grad(lambda z: f(ones(100_000), z).sum())(ones(3)), "z", ["(100000,)"]),
    "in jvp": (lambda: jax.jvp(f, (ones(6), ones(3)), (ones(6), ones(3))), "z", ["z the shape (6,)"]),
    "in hessian": (lambda: jax.hessian(lambda z: f(ones(6), z).sum())(ones(3)), "z", ["z the shape (6,)"]),
    "in checkpoint": (
        lambda: jax.grad(jax.checkpoint(lambda z: f(ones(6), z).sum()))(ones(3)), "z", ["z the shape (6,)"]
    ),
    "in vmap": (lambda: jax.vmap(f)(ones(4, 6), ones(4, 3)), "z", ["z has 3 elements along axis 0", "(6,)"]),
    "in vmap, one axis": (lambda: jax.vmap(f, (0, None))(ones(4, 6), ones(4)), "z", ["4 elements", "(6,)"]),
    "in two vmaps": (lambda: jax.vmap(jax.vmap(f))(ones(2, 4, 6), ones(2, 4, 3)), "z", ["3 elements"]),
    "in scan": (lambda: jax.lax.scan(lambda c, z: (f(c, z), None), ones(6), ones(2, 3)), "z", ["3 elements"]),
    "in while_loop": (
        lambda: jax.lax.while_loop(lambda c: c[0] < 9, lambda c: f(c, ones(2)), ones(6)), "z", ["2 elements"]
    ),
    "in cond": (lambda: jax.lax.cond(True, lambda: f(ones(6), ones(3)), lambda: ones(6)), "z", ["3 elements"]),
    "in shard_map": (lambda: jax.jit(shard_map(f, 2))(ones(6), ones(3)), "z", ["3 elements"]),
    "of shapes alone": (
        lambda: jax.eval_shape(f, jax.ShapeDtypeStruct((6,), "float32"), jax.ShapeDtypeStruct((3,), "float32")), "z",
        ["3 elements"],
    ),
    "an output by its dimensions": (
        lambda: wb.jax_kernel(double, launch_dims=100, output_dims=2)(ones(100)), "y",
        ["y has 2 elements", "100 threads, as launch_dims says", 'output_dims={"y": (100,)}', "launch_dims=(2,)"],
    ),
    "an input by the launch's": (
        lambda: wb.jax_kernel(double, launch_dims=10**6, output_dims=2)(ones(100)), "x", ["1000000 threads"]
    ),
    "by what the call says": (lambda: wb.jax_kernel(double)(ones(4), launch_dims=5), "x", ["launch_dims=(4,)"]),
    "a vector for a matrix": (
        lambda: wb.jax_kernel(product, launch_dims=2)(ones(2, 3), ones(2)), "x", ["index 2", "x the shape (3,)"]
    ),
    "a matrix's rows": (lambda: wb.jax_kernel(product, launch_dims=4)(ones(2, 3), ones(3)), "A", ["(4, 3)"]),
    "a long loop": (
        lambda: wb.jax_kernel(product, launch_dims=2)(ones(2, 300), ones(299)), "x", ["index 299", "(300,)"]
    ),
    "two dimensions": (
        lambda: wb.jax_kernel(outer, launch_dims=(3, 4))(ones(3), ones(3)), "b", ["thread (0, 3)", "3 × 4 threads"]
    ),
    "turned dimensions": (
        lambda: wb.jax_kernel(outer, launch_dims=(3, 4), output_dims=(4, 3))(ones(3), ones(4)), "out",
        ["axis 1", '{"out": (4, 4)}'],
    ),
    "three dimensions": (
        lambda: wb.jax_kernel(cube)(ones(2, 3, 4), ones(2, 3, 4)), "b", ["axis 0", "thread (0, 0, 3)", "(4, 3, 4)"]
    ),
    "vectors and matrices": (
        lambda: wb.jax_kernel(lengths)(ones(4, 3), ones(3, 2, 2)), "w", ["w has 3 elements", "w the shape (4,)"]
    ),
    "a struct's field": (
        lambda: wb.jax_kernel(pairs)({"a": ones(4), "b": ones(3)}), "p.b", ["3 elements", "4 threads"]
    ),
    "a number that is part of the program": (
        lambda: wb.jax_kernel(shifted, static_argnames="k")(ones(6), 2), "x", ["index 7", "(8,)"]
    ),
    "an array that goes in and out": (
        lambda: wb.jax_kernel(scaled, num_outputs=2, in_out_argnames="x", launch_dims=7)(ones(6), 2.0), "x",
        ["index 6", "x the shape (7,)"],
    ),
    "a constant of the session": (lambda: wb.jax_kernel(windowed)(ones(6)), "x", ["index 6", "(8,)"]),
    "a sum into a fixed place": (
        lambda: wb.jax_kernel(sums, output_dims=4, init={"out": 0})(ones(6), jnp.zeros(6, jnp.int32)), "out",
        ["index 4", '{"out": (5,)}'],
    ),
    "a row that is short": (lambda: wb.jax_kernel(rows, launch_dims=2)(ones(2, 3)), "A", ["index 3"]),
    "a launch of a function": (
        lambda: wb.jax_callable(launched_twice)(ones(6), ones(6)), "z", ["5 elements", "as its dim says", "dim=(5,)"]
    ),
    "the gradient of a function": (
        lambda: jax.grad(lambda z: wb.jax_callable(launched_twice)(ones(6), z).sum())(ones(3)), "z", ["2 elements"]
    ),
    "a batch of a function": (
        lambda: jax.vmap(wb.jax_callable(launched_twice))(ones(2, 6), ones(2, 6)), "z", ["5 elements"]
    ),
    "a function of calls": (
        lambda: wb.jax_callable(launched_twice, graph_mode="jax")(ones(6), ones(6)), "z", ["5 elements"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_shape_that_slipped_is_refused_by_name(name: str) -> None:
    program, parameter, said = WRONG[name]
    with pytest.raises(LaunchError) as error:
        program()
    assert error.value.parameter == parameter and error.value.location is not None
    assert [s for s in said if s not in str(error.value)] == [], str(error.value)


def test_the_place_is_the_access_or_the_launch() -> None:
    with pytest.raises(LaunchError, match=r"y\[i\] = x\[i\] \+ z\[i\]"):
        f(ones(6), ones(3))
    with pytest.raises(LaunchError, match=r"wb\.launch\(add, dim=x\.shape, inputs=\[t, z\[1:\]\]"):
        wb.jax_callable(launched_twice)(ones(6), ones(6))


# What must not be refused.


@wb.kernel
def asked_first(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i]
    if i < z.shape[0]:
        y[i] = x[i] + z[i]


@wb.kernel
def left_early(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = 0.0
    if i >= z.shape[0]:
        return
    y[i] = z[i]


@wb.kernel
def left_by_data(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = 0.0
    if x[i] > 0.5:
        return
    y[i] = z[i]


@wb.kernel
def backwards(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[-1 - i] + x[i - 1] + z[-1] + z[-len(z)]


@wb.kernel
def clamped(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = z[wb.min(i, z.shape[0] - 1)] + z[i % z.shape[0]] + z[i * z.shape[0] // x.shape[0]]


@wb.kernel
def no_turns(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = 0.0
    for k in range(3, z.shape[0]):
        y[i] += z[k] + z[k - 3]
    for k in range(100, 0):
        y[i] += z[k]
    k = z.shape[0]
    while k < 3:
        y[i] += z[k + 99]
        k += 100 if x[i] > 2.0 else 1


@wb.kernel
def broken_off(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = 0.0
    for k in range(100):
        if k >= z.shape[0]:
            break
        y[i] += z[k]
    for k in range(100):
        if x[k % 6] > 0.0:
            break
        y[i] += z[k]


@wb.kernel
def by_data(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    k = int(z[0]) - 1
    y[i] = z[k] + x[wb.max(0, k)]


@wb.kernel
def chosen(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = z[i] if i < z.shape[0] else 0.0
    y[i] += z[0] if i < z.shape[0] and z[i] > 0.0 else 1.0


@wb.kernel
def sliced(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    part = x[2:5]
    y[i] = part[i % 3] + part[-1]


@wb.kernel
def by_float(x: wb.array[float], z: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = z[int(float(i) / float(x.shape[0]) * 2.9)]


RIGHT = [
    asked_first,
    left_early,
    left_by_data,
    backwards,
    clamped,
    no_turns,
    broken_off,
    by_data,
    chosen,
    sliced,
    by_float,
]


@pytest.mark.parametrize("kernel", RIGHT, ids=lambda k: k.name)
def test_what_stays_inside_is_not_refused(kernel: Any) -> None:
    """It runs with checks, so nothing was outside; one array is shorter than the launch."""
    x, z = ones(6), ones(3)
    with wb.checks():
        checked = wb.jax_kernel(kernel)(x, z)
    assert np.array_equal(checked, wb.jax_kernel(kernel)(x, z)) and np.isfinite(checked).all()


def test_no_thread_reaches_nothing() -> None:
    assert f(ones(0), ones(0)).shape == (0,)
    assert wb.jax_kernel(double, launch_dims=0, output_dims=2, init={"y": 7})(ones(0)).tolist() == [7, 7]
    assert jax.vmap(f)(ones(0, 3), ones(0, 3)).shape == (0, 3)
    assert wb.jax_kernel(outer, launch_dims=(0, 4), output_dims=(0, 4))(ones(0), ones(0)).shape == (0, 4)


def test_a_number_that_is_traced_is_not_known() -> None:
    with wb.checks(), pytest.raises(wb.KernelFault, match=r"asked for index [67]"):
        wb.jax_kernel(shifted, output_dims=6, launch_dims=6)(ones(6), 2)
    assert wb.jax_kernel(shifted)(ones(6), 0).tolist() == [1] * 6


def test_an_array_longer_than_the_launch_is_fine() -> None:
    assert f(ones(3), ones(6)).tolist() == [2, 2, 2]
    assert wb.jax_kernel(double, launch_dims=2, output_dims=4, init={"y": 0})(ones(6)).tolist() == [2, 2, 0, 0]


def exported(function: Any, *shapes: str) -> Any:
    """An export that leaves sizes open."""
    from jax import export

    scope = export.SymbolicScope()
    given = [jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), jnp.float32) for s in shapes]
    return wb.jax_export(jax.jit(function))(*given)


def test_open_sizes_are_compared_at_the_call() -> None:
    program = exported(f, "n", "m")
    assert program.call(ones(6), ones(6)).tolist() == [2] * 6
    with pytest.raises(Exception, match=r"'add', parameter 'z': has 3 elements along an axis; .* ask for index 5"):
        program.call(ones(6), ones(3))
    assert program.call(ones(2), ones(3)).tolist() == [2, 2]
    slope = exported(jax.grad(lambda x, z: f(x, z).sum(), argnums=1), "n", "m")
    assert slope.call(ones(3), ones(3)).tolist() == [1] * 3
    with pytest.raises(Exception, match="parameter 'z': has 3 elements"):
        slope.call(ones(6), ones(3))


def test_what_is_known_of_open_sizes_is_not_compared() -> None:
    assert "within" not in exported(f, "n", "n").mlir_module()
    assert "within" not in exported(wb.jax_kernel(asked_first), "n", "m").mlir_module()
    backwards_too = exported(lambda x, z: wb.jax_kernel(backwards)(x, z), "n", "m")
    assert backwards_too.call(ones(6), ones(3)).tolist() == [4] * 6
    products = exported(lambda A, x: wb.jax_kernel(product)(A, x, launch_dims=A.shape[0]), "n, m", "m")
    assert products.call(ones(2, 3), ones(3)).tolist() == [3, 3]


def test_an_open_size_that_cannot_fit_is_refused_at_once() -> None:
    with pytest.raises(LaunchError, match=r"thread \(n,\) would ask for index n\."):
        exported(lambda x, z: f(jnp.concatenate([x, x[:1]]), z), "n", "n")
