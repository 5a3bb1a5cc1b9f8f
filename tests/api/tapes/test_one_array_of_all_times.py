"""Tapes over kernels that read and write one array, right for what each launch is known to be."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import NotDifferentiable


@wb.kernel
def step(t: int, x: wb.array2d[float]):
    i = wb.tid()
    n = x.shape[1]
    x[t + 1, i] = 0.5 * x[t, (i + 1) % n] * x[t, i]


@wb.kernel
def turn(theta: wb.array[float], x: wb.array[float]):
    x[0] = wb.cos(theta[0]) * x[0]


@wb.kernel
def back(t: int, s: int, x: wb.array2d[float]):
    i = wb.tid()
    x[t, i] = x[s, (i + 1) % x.shape[1]] * x[s, i]


def stepped(rows: np.ndarray, steps: int) -> np.ndarray:
    """The last row, in float64."""
    row = rows[0].astype(np.float64)
    for _ in range(steps):
        row = 0.5 * np.roll(row, -1) * row
    return row


def test_rows_of_one_array_are_steps_of_time() -> None:
    first = np.array([[1, 2, 3], [0, 0, 0], [0, 0, 0]], np.float32)
    x = wb.array(first, requires_grad=True)
    with wb.Tape() as tape:
        for t in range(2):
            wb.launch(step, 3, [t, x])
    seed = np.zeros((3, 3), np.float32)
    seed[2] = 1
    tape.backward(grads={x: wb.array(seed)})
    quotients = [
        (stepped(first + h, 2).sum() - stepped(first - h, 2).sum()) / 2e-3
        for h in (np.eye(3)[k] * 1e-3 for k in range(3))
    ]
    np.testing.assert_allclose(x.grad.numpy()[0], quotients, rtol=1e-5)


def test_one_thread_changes_an_element_in_place() -> None:
    theta = wb.array(np.array([0.5], np.float32), requires_grad=True)
    x = wb.array(np.array([2.0], np.float32), requires_grad=True)
    with wb.Tape() as tape:
        for _ in range(2):
            wb.launch(turn, 1, [theta, x])
    tape.backward(grads={x: wb.ones(1)})
    np.testing.assert_allclose(theta.grad.numpy(), [-2 * 2 * np.cos(0.5) * np.sin(0.5)], rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), [np.cos(0.5) ** 2], rtol=1e-6)


def test_the_same_kernel_with_several_threads_stays_refused() -> None:
    theta, x = (wb.array(np.array([0.5], np.float32), requires_grad=True) for _ in range(2))
    for threads in (1, 2):
        with wb.Tape() as tape:
            wb.launch(turn, threads, [theta, x])
        if threads == 1:
            tape.backward(grads={x: wb.ones(1)})
            continue
        with pytest.raises(NotDifferentiable, match="another thread"):
            tape.backward(grads={x: wb.ones(1)})


@pytest.mark.parametrize(("t", "s", "meet"), [(1, 0, False), (0, -1, False), (2, -1, True), (1, 1, True)])
def test_each_launch_is_asked_whether_its_rows_meet(t: int, s: int, meet: bool) -> None:
    x = wb.array(np.arange(1, 10, dtype=np.float32).reshape(3, 3), requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(back, 3, [t, s, x])
    if meet:
        with pytest.raises(NotDifferentiable, match="another thread"):
            tape.backward(grads={x: wb.ones((3, 3))})
        return
    tape.backward(grads={x: wb.ones((3, 3))})
    expected = np.ones((3, 3))
    expected[t] = 0
    row = np.arange(1, 10).reshape(3, 3)[s]
    expected[s] += np.roll(row, -1) + np.roll(row, 1)
    np.testing.assert_allclose(x.grad.numpy(), expected)


def test_a_recorded_gradient_is_asked_again_for_other_numbers() -> None:
    x = wb.array(np.ones((3, 3), np.float32), requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(back, 3, [1, 0, x])
    with wb.record() as record:
        tape.backward(grads={x: wb.ones((3, 3))})
    record.replay(s=2)
    with pytest.raises(NotDifferentiable, match="another thread"):
        record.replay(s=1)


def test_gradcheck_knows_its_launch() -> None:
    assert wb.gradcheck(step, 3, [1, np.random.default_rng(0).uniform(0.5, 1.5, (3, 3))])
    assert wb.gradcheck(turn, 1, [np.array([0.5]), np.array([2.0])])
    with pytest.raises(NotDifferentiable, match="another thread"):
        wb.gradcheck(turn, 2, [np.array([0.5]), np.array([2.0])])


@wb.kernel
def between(n: int, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[(i + 1) % n]


def test_a_gathered_gradient_is_asked_again_for_another_size() -> None:
    x, y = wb.array(np.arange(1, 7, dtype=np.float32), requires_grad=True), wb.zeros(6, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(between, 6, [6, x, y])
    with wb.record() as record:
        tape.backward(grads={y: wb.ones(6)})
    try:
        record.replay(n=3)
    except NotDifferentiable:
        return
    except wb.LaunchError as error:
        assert "recorded in the form" in str(error)
        return
    expected = np.zeros(6)
    values = np.arange(1, 7)
    for i in range(6):
        expected[i] += values[(i + 1) % 3]
        expected[(i + 1) % 3] += values[i]
    np.testing.assert_allclose(x.grad.numpy() - 0, expected)
