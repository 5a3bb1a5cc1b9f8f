"""Records, tapes and graphs as JAX functions: `wb.jax_callable(work)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb


@wb.kernel
def grow(x: wb.array[float], y: wb.array[float], rate: float):
    i = wb.tid()
    y[i] = y[i] * rate + x[i] * x[i]


@wb.kernel
def total(y: wb.array[float], out: wb.array[float]):
    wb.atomic_add(out, 0, y[wb.tid()])


def arrays() -> tuple[wb.array, wb.array, wb.array]:
    return wb.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True), wb.zeros(3), wb.zeros(1)


def program(x: wb.array, y: wb.array, out: wb.array) -> None:
    """out = the sum of y[1:] after two steps; the first element stays out of it."""
    out.zero_()
    for _ in range(2):
        wb.launch(grow, 3, [x, y, 0.5])
    wb.launch(total, 2, [y[1:], out])


def recorded(x: wb.array, y: wb.array, out: wb.array) -> wb.Recorder:
    with wb.record() as work:
        program(x, y, out)
    return work


def taped(x: wb.array, y: wb.array, out: wb.array) -> wb.Tape:
    with wb.Tape() as work:
        program(x, y, out)
    return work


def captured(x: wb.array, y: wb.array, out: wb.array) -> wb.Graph:
    with wb.capture() as work:
        program(x, y, out)
    return work


def reference(x: Any, y: Any) -> Any:
    """The same in jax.numpy."""
    for _ in range(2):
        y = 0.5 * y + x * x
    return y, y[1:].sum()


@pytest.mark.parametrize("made", [recorded, taped, captured])
def test_recorded_work_is_a_function_of_its_arrays(made: Callable[..., Any]) -> None:
    x, y, out = arrays()
    function = wb.jax_callable(made(x, y, out))
    before = [a.numpy().copy() for a in (x, y, out)]
    a, b = jnp.array([1.0, -2.0, 4.0]), jnp.array([8.0, 4.0, 2.0])
    wanted = reference(a, b)
    for call in (function, jax.jit(function)):
        after, result = call(a, b)
        np.testing.assert_allclose(after, wanted[0], rtol=1e-6)
        np.testing.assert_allclose(result, wanted[1][None], rtol=1e-6)
    gradient = jax.grad(lambda a, b: function(a, b)[1][0], argnums=(0, 1))(a, b)
    np.testing.assert_allclose(gradient, jax.grad(lambda a, b: reference(a, b)[1], argnums=(0, 1))(a, b), rtol=1e-6)
    many = jax.vmap(function, in_axes=(0, None))(jnp.stack([a, 2 * a]), b)
    np.testing.assert_allclose(many[1][:, 0], [reference(a, b)[1], reference(2 * a, b)[1]], rtol=1e-6)
    for now, held in zip((x, y, out), before, strict=True):
        np.testing.assert_array_equal(now.numpy(), held)


def test_names_and_options() -> None:
    x, y, out = arrays()
    with wb.record() as work:
        program(x, y, out)
        wb.launch(total, 3, [x, out])
    function = wb.jax_callable(work)
    assert (function.inputs, function.outputs, function.in_out) == (("x", "y"), ("out",), {"y"})
    with pytest.raises(wb.LaunchError, match="its arrays decide"):
        wb.jax_callable(work, num_outputs=2)
    two = wb.zeros(1)
    with wb.record() as work:
        wb.launch(total, 3, [x, out])
        wb.launch(total, 3, [y, two])
    assert wb.jax_callable(work).inputs == ("y", "out", "y_2", "out_2")


def test_views_of_one_memory_are_one_array() -> None:
    memory = wb.array(np.arange(6, dtype=np.float32))
    with wb.record() as work:
        wb.launch(grow, 3, [memory[:3], memory[3:], 0.5])
    function = wb.jax_callable(work)
    assert function.inputs == ("x",)
    np.testing.assert_allclose(function(jnp.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0])), [1, 2, 3, 3, 7, 13])


def test_what_is_no_work_of_the_cpu_is_refused() -> None:
    with pytest.raises(wb.LaunchError, match="has no entries"):
        wb.jax_callable(wb.Recorder())
    y, out = (wb.zeros(1, device="emulated") for _ in range(2))
    with wb.record() as work:
        wb.launch(total, 1, [y, out], device="emulated")
    with pytest.raises(wb.LaunchError, match="ran on emulated"):
        wb.jax_callable(work)
    x = wb.zeros(4)
    with wb.record() as work:
        wb.launch(total, 4, [x, x.view(wb.int32).view(float)])
        x.view(wb.int32).fill_(0)
    with pytest.raises(wb.LaunchError, match="several types in one memory"):
        wb.jax_callable(work)
