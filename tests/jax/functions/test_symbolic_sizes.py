"""A function of launches exported for sizes that are known only when the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")
pytest.importorskip("flatbuffers")
jnp = jax.numpy


@wb.kernel
def smooth(x: wb.array[float], k: float, y: wb.array[float]):
    i = wb.tid()
    n = x.shape[0]
    y[i] = 0.5 * x[i] + k * (x[wb.max(i - 1, 0)] + x[wb.min(i + 1, n - 1)])


@wb.kernel
def add_outer(x: wb.array[float], z: wb.array[float], c: wb.array2d[float]):
    i, j = wb.tid()
    c[i, j] += x[i] * z[j]


@wb.kernel
def next_to(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i + 1]


@wb.kernel
def turn(v: wb.array[wb.vec2], out: wb.array[wb.vec2]):
    i = wb.tid()
    out[i] = wb.vec2(-v[i][1], v[i][0])


def twice(x: wb.array[float], k: float, y: wb.array[float]):
    between = wb.empty(x.shape[0])
    wb.launch(smooth, x.shape, inputs=[x, k], outputs=[between])
    wb.launch(smooth, between.shape[0], inputs=[between, 2.0 * k], outputs=[y])


f = wb.jax_callable(twice)


def shapes(*sizes: str) -> list[Any]:
    scope = export.SymbolicScope()
    return [jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope) if s else (), "float32") for s in sizes]


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("size", ["n", "4*n + 1"])
def test_values_and_gradients_for_every_size(size: str) -> None:
    values = wb.jax_export(f)(*shapes(size, ""))
    slope = jax.grad(lambda x, k: (f(x, k) ** 2).sum(), argnums=(0, 1))
    slopes = wb.jax_export(slope)(*shapes(size, ""))
    for count in (5, 61, 81):
        x = jnp.sin(jnp.arange(float(count)))
        np.testing.assert_allclose(values.call(x, 0.2), f(x, 0.2), rtol=1e-6)
        for found, expected in zip(slopes.call(x, 0.2), slope(x, 0.2), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_two_open_sizes_in_place_and_vectors() -> None:
    def table(x: wb.array[float], z: wb.array[float], c: wb.array2d[float]):
        for _ in range(3):
            wb.launch(add_outer, c.shape, inputs=[x, z], outputs=[c])

    g = wb.jax_callable(table, init={"c": 0})
    made = wb.jax_export(lambda x, z: g(x, z, output_dims=(x.shape[0], z.shape[0])))(*shapes("a", "b"))
    x, z = jnp.arange(4.0), jnp.arange(1.0, 3.0)
    np.testing.assert_allclose(made.call(x, z), 3 * jnp.outer(x, z))

    def turned(v: wb.array[wb.vec2], out: wb.array[wb.vec2]):
        between = wb.zeros_like(v)
        wb.launch(turn, v.shape, inputs=[v], outputs=[between])
        wb.copy(out, between)

    made = wb.jax_export(wb.jax_callable(turned))(*shapes("n, 2"))
    assert made.call(jnp.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[-2, 1], [-4, 3]]


def refusal(function: Any) -> str:
    with pytest.raises(wb.LaunchError) as found:
        wb.jax_export(wb.jax_callable(function))(*shapes("n"))
    return str(found.value)


def test_what_depends_on_the_number_of_an_open_size_is_refused() -> None:
    def loops(x: wb.array[float], y: wb.array[float]):
        for _ in range(x.shape[0]):
            wb.launch(smooth, x.shape, inputs=[x, 0.1], outputs=[y])

    def divides(x: wb.array[float], y: wb.array[float]):
        wb.launch(smooth, x.shape, inputs=[x, 1.0 / x.shape[0]], outputs=[y])

    def forgets(x: wb.array[float], y: wb.array[float]):
        wb.launch(smooth, int(np.prod(x.shape)), inputs=[x, 0.1], outputs=[y])

    assert all("does something else for each size" in refusal(g) for g in (loops, divides, forgets))


def test_a_branch_that_an_open_size_does_not_decide_is_jaxs_error() -> None:
    def branch(x: wb.array[float], y: wb.array[float]):
        if x.shape[0] > 70:
            wb.copy(y, x)
        else:
            wb.launch(smooth, x.shape, inputs=[x, 0.1], outputs=[y])

    with pytest.raises(Exception, match="inconclusive"):
        wb.jax_export(wb.jax_callable(branch))(*shapes("n"))
    # It is decided here.
    assert wb.jax_export(wb.jax_callable(branch))(*shapes("n + 70")).call(jnp.ones(72)).shape == (72,)


def test_parts_of_an_array_with_an_open_size_are_refused() -> None:
    def part(x: wb.array[float], y: wb.array[float]):
        wb.launch(smooth, x.shape[0] - 1, inputs=[x[1:], 0.1], outputs=[y[1:]])

    def copied(x: wb.array[float], y: wb.array[float]):
        wb.copy(y, x)
        wb.copy(y[1:], x[:-1])

    assert all("a part of an array whose size is known only" in refusal(g) for g in (part, copied))


def test_an_access_outside_of_an_open_size_is_refused() -> None:
    def outside(x: wb.array[float], y: wb.array[float]):
        wb.launch(next_to, x.shape, inputs=[x], outputs=[y])

    assert "would ask for index n" in refusal(outside)
