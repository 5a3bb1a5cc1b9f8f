"""A warp forwards and backwards: what comes back is what a tape finds, beside the values that it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import inspect
from workbench.errors import KernelFault, LaunchError

CELL = """
def powers(x: array[float], y: array[float], a: float):
    i = tid()
    s = sin(x[i]) * a
    for k in range(3):
        s = s * x[i] + 1.0
    y[i] = s

def sides(x: array[float], w: array[float], y: array[float]):
    i = tid()
    if i > 0:
        d = x[i] - x[i - 1]
        if d > 0.0:
            y[i] = w[0] * d
        else:
            y[i] = w[1] * d * d

def swing(q: array[float], steps: int, end: array[float]):
    i = tid()
    a = q[i]
    v = 0.0
    for _ in range(steps):
        v = v - 0.1 * sin(a)
        a = a + 0.1 * v
    end[i] = a

def scaled(v: array[vec3], y: array[float]):
    i = tid()
    n = length(v[i])
    y[i] = n * n

def stray(x: array[float], y: array[float]):
    i = tid()
    y[i] = x[i + 1]
"""


@pytest.fixture(scope="module")
def kernels() -> dict[str, Any]:
    return wb.build_cell(CELL, {}, name="cell").kernels


def gathered(sweeps: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """What a warp adds to the gradient of an array."""
    found = np.zeros(shape)
    for step in sweeps.backward:
        for _, item in step.items:
            for index, value in zip(item.indices, item.values, strict=True):
                if item.name == f"{name}.grad[]" and index is not None:
                    found[index] += value
    return found


def test_what_comes_back_is_what_a_tape_finds(kernels):
    x = wb.array(np.linspace(-1, 1, 20).astype(np.float32), requires_grad=True)
    w = wb.array(np.array([2, 3], np.float32), requires_grad=True)
    y = wb.zeros(20)
    with wb.Tape() as tape:
        wb.launch(kernels["sides"], 20, [x, w], [y])
    tape.backward(grads={y: wb.ones(20)})
    found = inspect.sweeps(kernels["sides"], 20, [wb.array(x.numpy()), wb.array(w.numpy()), y])
    np.testing.assert_allclose(gathered(found, "x", (20,)), x.grad.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gathered(found, "w", (2,)), w.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_a_loop_comes_back_turn_by_turn(kernels):
    x, y = wb.array(np.array([0.5, 2.0], np.float32)), wb.zeros(2)
    found = inspect.sweeps(kernels["powers"], 2, [x, y, 2.0])
    rows = [k for k, step in enumerate(found.forward) if any(i.name == "s" for i in step.items)]
    assert [found.forward[k].line for k in rows] == [4, 6, 6, 6]
    values = {row: item.values for step in found.backward for row, item in step.items if item.name == "adj_s"}
    # The cotangent of the last s is the seed; each turn multiplies by x.
    assert [values[row] for row in rows] == [(0.125, 8.0), (0.25, 4.0), (0.5, 2.0), (1.0, 1.0)]
    (total,) = [item for step in found.backward for row, item in step.items if item.name == "a.grad[]" and row == 0]
    np.testing.assert_allclose(total.values, np.sin([0.5, 2.0]) * [0.125, 8.0], rtol=1e-5)


def test_a_loop_that_keeps_states_comes_back_to_each_turn(kernels):
    found = inspect.sweeps(kernels["swing"], 3, [wb.ones(3), 4, wb.zeros(3)])
    for name in ("v", "a"):
        turns = [k for k, step in enumerate(found.forward) if step.text.strip().startswith(f"{name} = {name} ")]
        back = [row for step in found.backward for row, item in step.items if item.name == f"adj_{name}"]
        assert len(turns) == 4 and back[:4] == turns[::-1]


def test_lanes_go_dark_and_keep_their_own(kernels):
    x = wb.array(np.array([0, 1, 0, 2], np.float32))
    found = inspect.sweeps(kernels["sides"], 4, [x, wb.ones(2), wb.zeros(4)])
    sides = {step.line: step for step in found.forward if any(i.name == "y[]" for i in step.items)}
    dark = [[v is None for v in step.items[0].values] for step in sides.values()]
    assert dark == [[True, False, True, False], [True, True, False, True]]
    (d,) = [k for k, step in enumerate(found.forward) if any(i.name == "d" for i in step.items)]
    back = [item.values for step in found.backward for row, item in step.items if row == d and item.name == "adj_d"]
    assert [tuple(v[k] for v in back if v[k] is not None) for k in (1, 2, 3)] == [(1.0,), (-2.0,), (1.0,)]


def test_gradients_that_are_there_begin_it(kernels):
    v, y = wb.array(np.array([[3, 4, 0]], np.float32), dtype=wb.vec3), wb.zeros(1, requires_grad=True)
    y.grad.numpy()[0] = 2.0
    found = inspect.sweeps(kernels["scaled"], 1, [v, y])
    assert found.seeds == "y.grad begins as it is"
    (item,) = [item for step in found.backward for _, item in step.items if item.name == "v.grad[]"]
    np.testing.assert_allclose(item.values[0], (12, 16, 0), rtol=1e-5)
    assert item.text(0).startswith("(12") and item.label(0) == "v.grad[0]"


def test_arrays_are_left_alone(kernels):
    x, y = wb.ones(4), wb.zeros(4)
    inspect.sweeps(kernels["powers"], 4, [x, y, 2.0])
    assert not y.numpy().any() and x.grad is None


def test_what_cannot_go_backwards_is_refused(kernels):
    with pytest.raises(LaunchError, match="no warp 1"):
        inspect.sweeps(kernels["powers"], 4, [wb.ones(4), wb.zeros(4), 1.0], warp=1)
    with pytest.raises(LaunchError, match="takes 3 arguments"):
        inspect.sweeps(kernels["powers"], 4, [wb.ones(4)])
    with pytest.raises(LaunchError, match="run both ways; this is a builtin"):
        inspect.sweeps(len, 4, [])
    with pytest.raises(KernelFault, match="out of range"):
        inspect.sweeps(kernels["stray"], 4, [wb.ones(4), wb.zeros(4)])
