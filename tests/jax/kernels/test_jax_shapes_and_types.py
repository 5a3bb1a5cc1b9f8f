"""Shapes and types that follow the inputs: dimensions as expressions, launches over indexed axes, open types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import KernelTypeError, LaunchError

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def product(A: wb.array2d[float], x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    total = 0.0
    for j in range(A.shape[1]):
        total += A[i, j] * x[j]
    y[i] = total


@wb.kernel
def steps(x: wb.array2d[Any], y: wb.array2d[Any]):
    i, j = wb.tid()
    y[i, j] = x[i + 1, j] - x[i, j]


@wb.kernel
def plain(x, y):
    i = wb.tid()
    y[i] = 0
    y[i] += 2 * x[i]


@wb.kernel
def several(x, up, count, half):
    i = wb.tid()
    up[i] = x[i] > 0.0
    count[i, 0] = i
    half[i] = wb.vec2(x[i], 0.5)


@wb.kernel
def counts(n: int, y):
    y[wb.tid()] = 1.5 * float(n)


@wb.kernel
def both_axes(x: wb.array2d[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i, 0] + x[0, i]


A = jnp.arange(6.0).reshape(2, 3)


def test_a_launch_over_the_axes_that_tid_indexes() -> None:
    f = wb.jax_kernel(product)
    x = jnp.array([1.0, 2.0, 3.0])
    assert f(A, x).tolist() == [8, 26]
    assert jax.jit(jax.grad(lambda x: f(A, x).sum()))(x).tolist() == A.sum(0).tolist()
    assert jax.vmap(lambda x: f(A, x))(jnp.eye(3)).tolist() == A.T.tolist()
    assert jax.vmap(f, in_axes=(1, None))(jnp.stack([A, 2 * A], 1), x).tolist() == [[8, 26], [16, 52]]
    with pytest.raises(LaunchError, match=r"asks tid\(\) for 1 dimensions; its launch would have 2"):
        wb.jax_kernel(both_axes)(A)  # both axes, of different sizes
    assert wb.jax_kernel(both_axes)(jnp.ones((2, 2))).tolist() == [2, 2]


def test_dimensions_as_expressions() -> None:
    x = jnp.arange(12.0).reshape(4, 3) ** 2
    f = wb.jax_kernel(steps, input_dims="n, m", launch_dims="n - 1, m")
    assert np.array_equal(f(x), jnp.diff(x, axis=0))
    assert np.array_equal(jax.jit(f)(x[:3]), jnp.diff(x[:3], axis=0))
    padded = wb.jax_kernel(
        steps, input_dims={"x": "n, _"}, launch_dims=("n - 1", 3), output_dims={"y": "max(n, 2), x.shape[1]"},
        init={"y": 0},
    )  # fmt: skip
    assert padded(x).shape == (4, 3) and padded(x)[3].tolist() == [0, 0, 0]
    assert f(x, launch_dims="n - 2, m").shape == (2, 3)  # a call may say it too


@pytest.mark.slow
def test_dimensions_of_symbolic_sizes() -> None:
    f = wb.jax_kernel(steps, input_dims="n, m", launch_dims="n - 1, m")
    (shape,) = jax.export.symbolic_args_specs([jax.ShapeDtypeStruct((4, 3), np.float32)], ["a, b"])
    exported = wb.jax_export(jax.jit(f))(shape)
    x = jnp.arange(10.0).reshape(5, 2) ** 2
    assert np.array_equal(exported.call(x), jnp.diff(x, axis=0))


def test_dimensions_in_a_function_of_launches() -> None:
    def difference(x: wb.array2d[float], y: wb.array2d[float]) -> None:
        wb.launch(steps, dim=y.shape, inputs=[x], outputs=[y])

    f = wb.jax_callable(difference, output_dims="x.shape[0] - 1, x.shape[1]")
    assert np.array_equal(f(A), jnp.diff(A, axis=0))
    with pytest.raises(LaunchError, match="n is no size of its inputs"):
        f(A, output_dims="n - 1, 3")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "int8"])
def test_an_output_has_the_type_that_is_stored(dtype: str) -> None:
    f = wb.jax_kernel(plain)
    x = jnp.array([1, 2, 3], dtype)
    found = jax.jit(f)(x)
    # 0 and 2 have no type of their own, so they do not decide.
    assert found.tolist() == [2, 4, 6] and (found.dtype == x.dtype or dtype == "int8")
    assert f(x).dtype == found.dtype == jax.eval_shape(f, x).dtype


def test_each_output_has_its_own_type() -> None:
    f = wb.jax_kernel(several, num_outputs=3, output_dims={"count": (2, 1)})
    up, count, half = f(jnp.array([-1.0, 1.0], jnp.float32))
    assert up.tolist() == [False, True] and count.tolist() == [[0], [1]] and half.shape == (2, 2)
    assert (up.dtype, count.dtype, half.dtype) == (bool, jnp.int32, jnp.float32)
    assert wb.jax_kernel(counts, launch_dims=2)(3).tolist() == [4.5, 4.5]
    both = jax.jit(jax.vmap(wb.jax_kernel(plain)))(A)
    assert np.array_equal(both, 2 * A)


def test_declared_types() -> None:
    f = wb.jax_kernel(steps, input_dims="n, m", launch_dims="n - 1, m", output_dtypes={"y": "x"})
    assert f(A.astype(jnp.float16)).dtype == jnp.float16
    g = wb.jax_kernel(counts, launch_dims=1, output_dtypes={"y": jnp.float32})
    assert g(2).dtype == jnp.float32
    with pytest.raises(KernelTypeError, match="An element of y is float32; the value is float16"):
        wb.jax_kernel(steps, launch_dims=(1, 3), output_dtypes={"y": "float32"})(A.astype(jnp.float16))


ERRORS: list[tuple[Callable[[], Any], str]] = [
    (lambda: wb.jax_kernel(product, input_dims={"A": "n, m", "x": "m"})(A, jnp.ones(1)),
     "x of product has 1 element along axis 0; m is 3 in A.  Kernels do not broadcast: jnp.broadcast_to does."),
    (lambda: wb.jax_kernel(product, input_dims={"A": "n, 4"})(A, jnp.ones(3)),
     "A of product has 3 elements along axis 1; input_dims says 4."),
    (lambda: wb.jax_kernel(product, input_dims={"A": "n"})(A, jnp.ones(3)),
     r"input_dims says that A of product has the axes n; its shape is \(2, 3\)"),
    (lambda: wb.jax_kernel(product, input_dims={"A": "n-1, m"})(A, jnp.ones(3)), "it names each axis of an array"),
    (lambda: wb.jax_kernel(product, input_dims={"B": "n"})(A, jnp.ones(3)), "input_dims of product names 'B'"),
    (lambda: wb.jax_kernel(steps, launch_dims="k - 1")(A),
     'k is no size of its inputs.  Name the sizes, input_dims={"x": "n, m"}, or write x.shape'),
    (lambda: wb.jax_kernel(steps, launch_dims="__import__('os')")(A), "cannot be evaluated"),
    (lambda: wb.jax_kernel(steps, launch_dims="x.__class__")(A), "cannot be evaluated"),
    (lambda: wb.jax_kernel(steps, launch_dims="x.shape[0] - 5, 1")(A), r"launch_dims of steps is \(-3, 1\)"),
    (lambda: wb.jax_kernel(steps, output_dtypes={"y": "z"})(A), "says 'z' for y, which is neither an input of it nor"),
    (lambda: wb.jax_kernel(steps, output_dtypes={"z": "x"}), "output_dtypes of steps names 'z'"),
    (lambda: wb.jax_kernel(product, output_dtypes={"y": "x"}), "names y, which is annotated array"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), ERRORS, ids=[s[:30] for _, s in ERRORS])
def test_what_does_not_fit(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(LaunchError, match=sentence.replace("{", r"\{")):
        call()


@wb.kernel
def doubles(x: wb.array[wb.float64], y: wb.array[wb.float64]):
    y[wb.tid()] = x[wb.tid()]


@wb.kernel
def words(x: wb.array[wb.uint32], y: wb.array[wb.uint32]):
    y[wb.tid()] = x[wb.tid()]


def test_advice_for_types_of_jax_alone() -> None:
    with pytest.raises(LaunchError, match=r'jax_enable_x64", True\). Then convert it: x.astype\(.float64'):
        wb.jax_kernel(doubles)(jnp.ones(3))
    key = jax.random.key(0)
    with pytest.raises(LaunchError, match=r"jax.random.key_data\(x\)"):
        wb.jax_kernel(words)(key)
    with pytest.raises(LaunchError, match=r"jax.random.key_data\(x\)"):
        wb.jax_kernel(plain)(key[None])
    assert wb.jax_kernel(words)(jax.random.key_data(key)).tolist() == jax.random.key_data(key).tolist()
    assert wb.jax_kernel(plain)(jnp.full(3, 1j)).tolist() == [2j] * 3


@wb.kernel
def turned(x: wb.array[wb.vec2], y: wb.array[wb.mat22]):
    i = wb.tid()
    y[i] = wb.outer(x[i], x[i])


def turn(x: wb.array[wb.vec2], y: wb.array[wb.mat22]):
    wb.launch(turned, 3, [x], [y])


@pytest.mark.parametrize("dims", [3, (3,), (3, 2, 2)])
def test_output_dims_may_end_with_the_sizes_of_components(dims):
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    wanted = np.einsum("ni,nj->nij", x, x).reshape(3, -1)
    for f in (wb.jax_kernel(turned, output_dims={"y": dims}), wb.jax_callable(turn, output_dims={"y": dims})):
        assert np.array_equal(np.reshape(f(x), (3, -1)), wanted)
