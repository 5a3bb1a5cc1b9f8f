"""Tapes that keep little and run steps again: the same gradients, to the last bit."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from tests.support.kernels.simulations import PROGRAMS, start
from workbench.api.tapes.checkpoints import schedule
from workbench.types import float64

CELL = meaning.define("""
    @kernel
    def square(x: array[float], y: array[float]):
        i = tid()
        y[i] = x[i] * x[i]

    @kernel
    def stir(x: array[float], at: array[int]):
        i = tid()
        x[i] = x[i] * x[i] * float(1 + at[i])
        at[i] = (at[i] + 1) % 3

    @kernel
    def highest(x: array[float], y: array[float]):
        atomic_max(y, 0, x[tid()])
""")
square, stir, highest = CELL.values()


def gradients(name: str, steps: int, every: int = 0, checkpoint: int = 0) -> tuple[wb.Tape, list[np.ndarray]]:
    program, _ = PROGRAMS[name]
    state, parameter, kind = start(name)
    x, p = wb.array(state, kind, requires_grad=True), wb.array(parameter, float64, requires_grad=True)
    with wb.Tape(deterministic=True, checkpoint_every=every, checkpoint=checkpoint) as tape:
        loss = program(x, p, steps)
    after = x.numpy().copy()
    tape.backward(loss)
    assert np.array_equal(x.numpy(), after)
    first = [x.grad.numpy().copy(), p.grad.numpy().copy()]
    tape.backward(loss)
    for one, two in zip(first, (x.grad, p.grad), strict=True):
        np.testing.assert_allclose(two.numpy(), 2 * one, rtol=1e-12)
    return tape, first


@pytest.mark.sample(4)
@pytest.mark.parametrize("every", [1, 7, 40, 1000])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_gradients(name: str, every: int) -> None:
    _, expected = gradients(name, 50, 0)
    _, found = gradients(name, 50, every)
    for mine, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.sample(6)
@pytest.mark.parametrize("checkpoint", [1, 2, 3, 5, 16, 1000])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_gradients_by_the_binomial_schedule(name: str, checkpoint: int) -> None:
    _, expected = gradients(name, 50)
    _, found = gradients(name, 50, checkpoint=checkpoint)
    for mine, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("checkpoint", [8, 50])
def test_ten_thousand_steps(checkpoint: int) -> None:
    """2 launches a step, 96 bytes each: what the tape keeps does not grow with the steps, and it says the peak."""
    full, expected = gradients("heat", 5000)
    little, found = gradients("heat", 5000, checkpoint=checkpoint)
    for mine, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, wanted)
    plain, memory = wb.inspect.tape_memory(full), wb.inspect.tape_memory(little)
    assert (plain.kept, plain.peak, plain.recomputes) == (full.nbytes, full.nbytes, False)
    assert plain.plain == plain.kept == memory.plain
    assert memory.kept == little.nbytes <= checkpoint * 192 * 2
    assert memory.peak < plain.kept / 40
    assert memory.again < 18 * len(little)  # of two backward passes
    assert "without checkpoints 960,000" in str(memory)


def counted(lengths: list[int], states: int) -> tuple[int, int]:
    """Return how many steps run to go back through segments, and the most states at once."""
    ran, most = 0, 0
    for k, length in enumerate(lengths):
        free = states - k
        inner = (0, length) if length <= free else counted(schedule(length, free), free)
        ran += length + inner[0]
        most = max(most, k + inner[1])
    return ran, most


@pytest.mark.parametrize(("steps", "states"), [(10, 3), (100, 5), (1000, 10), (3000, 12), (9, 9), (17, 2)])
def test_a_schedule_runs_few_steps_again(steps: int, states: int) -> None:
    """Within the bound of Griewank and Walther (2000), and near the recursion that tries every cut.

    There the state in which steps run is none of those that are counted; here a segment's beginning is copied.
    """
    ran, most = counted(schedule(steps, states), states)
    assert most <= states
    runs = next(r for r in range(steps) if math.comb(states - 1 + r, states - 1) >= steps)
    assert ran <= (runs + 1) * steps
    if steps <= 100:
        assert ran <= fewest(steps, states - 1) + steps


@cache
def fewest(steps: int, states: int) -> int:
    """Return how few steps run forward before each step is undone, if the beginning is one of the states."""
    if steps == 1:
        return 0
    if states == 1:
        return steps * (steps - 1) // 2
    return min(cut + fewest(steps - cut, states - 1) + fewest(cut, states) for cut in range(1, steps))


def test_a_change_from_outside_is_no_state_to_run_over() -> None:
    found = []
    for checkpoint in (0, 2):
        x, at = wb.array([1.1, 0.9], requires_grad=True), wb.zeros(2, int)
        tape = wb.Tape(checkpoint=checkpoint)
        for k in range(6):
            with tape:
                wb.launch(stir, 2, inputs=[x, at])
            if k % 2 == 1:
                at.fill_(k % 3)
        tape.backward(grads={x: np.ones(2, np.float32)})
        found.append(x.grad.numpy().copy())
    np.testing.assert_array_equal(*found)


def test_a_thousand_steps_in_little_memory() -> None:
    full, expected = gradients("heat", 500, 0)
    little, found = gradients("heat", 500, 50)
    for mine, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, wanted)
    assert len(full.snapshots) == 500 and len(little.snapshots) <= 44
    assert little.nbytes < full.nbytes / 10
    assert "an array, 192 bytes, before advance changed it" in repr(little)


@pytest.mark.parametrize("every", [1, 2, 3, 100])
def test_copies_fills_views_and_integers(every: int) -> None:
    found = []
    for n in (0, every):
        x = wb.array([1.1, 0.9, 1.2, 0.8], requires_grad=True)
        with wb.Tape(checkpoint_every=n) as tape:
            at = wb.zeros(4, int)
            y = wb.clone(x)
            for _ in range(3):
                wb.launch(stir, 4, inputs=[y, at])
                y[1:2] = y[2:3]
                y.add_(x)
            at.fill_(2)
            wb.launch(stir, 4, inputs=[y, at])
            z = wb.zeros(4)
            wb.launch(square, 2, inputs=[y[::2]], outputs=[z[:2]])
            y.zero_()
            z[1] = 0.5
        tape.backward(grads={z: np.ones(4)})
        found.append(x.grad.numpy().copy())
    assert np.array_equal(*found) and found[0].any()


def test_refused() -> None:
    x, y, top = wb.array([1.0, 2.0], requires_grad=True), wb.zeros(2), wb.zeros(1)
    with wb.Tape(checkpoint_every=2) as tape:
        wb.launch(square, 2, inputs=[x], outputs=[y])
        with pytest.raises(wb.LaunchError, match="without checkpoints"):
            tape.record_func(lambda: None, [x])
    x.fill_(0.0)
    with pytest.raises(wb.NotDifferentiable, match="outside its `with`"):
        tape.backward(grads={y: np.ones(2)})
    with pytest.raises(wb.LaunchError, match="needs a tape without checkpoints"):
        wb.explain_grad(tape, x)
    with pytest.raises(wb.LaunchError, match="retain_grad needs a tape without"):
        tape.backward(grads={y: np.ones(2)}, retain_grad=True)
    with wb.Tape(checkpoint_every=2) as tape:
        wb.launch(highest, 2, inputs=[y], outputs=[top])
    with pytest.raises(wb.NotDifferentiable, match="atomic_max"):
        tape.backward(top)
    with pytest.raises(ValueError, match="number of steps"):
        wb.Tape(checkpoint_every=-1)
    with pytest.raises(ValueError, match="number of copies"):
        wb.Tape(checkpoint=2.5)
    with pytest.raises(ValueError, match="one of the two"):
        wb.Tape(checkpoint=2, checkpoint_every=2)
