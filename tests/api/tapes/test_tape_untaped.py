"""`record_tape=False`: what a launch writes is constant for tapes, or the user's own function answers for it."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import NotDifferentiable

X = np.array([1.0, 2.0, 3.0], np.float32)


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def scale(x: wb.array[float], w: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = w[i] * x[i]


@wb.kernel
def total(x: wb.array[float], out: wb.array[float]):
    wb.atomic_add(out, 0, x[wb.tid()])


def arrays() -> tuple[wb.array, ...]:
    return wb.array(X, requires_grad=True), *(wb.zeros(3, requires_grad=True) for _ in range(2)), wb.zeros(1)


@pytest.mark.parametrize("every", [0, 2])
def test_what_it_writes_is_constant(every: int) -> None:
    x, w, y, loss = arrays()
    with wb.Tape(checkpoint_every=every) as tape:
        wb.launch(square, 3, [x], [w], record_tape=False)
        wb.launch(scale, 3, [x, w], [y])
        wb.launch(total, 3, [y], [loss])
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), X**2)
    np.testing.assert_allclose(w.grad.numpy(), X)


def test_arrays_that_it_overwrites_are_kept():
    x, w, y, loss = arrays()
    with wb.Tape() as tape:
        w.fill_(2.0)
        wb.launch(square, 3, [x], [y])
        wb.launch(total, 3, [y], [loss])
        wb.launch(scale, 3, [w, w], [x], record_tape=False)
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)
    assert len(tape.snapshots) == 1 and x.numpy().tolist() == [4, 4, 4]


@pytest.mark.parametrize("every", [0, 2, 3])
@pytest.mark.parametrize("kept", [False, True])
def test_a_gradient_that_has_to_go_through_it_is_refused(kept: bool, every: int) -> None:
    x, w, y, loss = arrays()
    with wb.Tape(checkpoint_every=every) as tape:
        wb.launch(square, 3, [x], [y])
        if kept:
            again = wb.launch(scale, 3, [y, w], [x], record_cmd=True, record_tape=False)
            again.set_params([y, y, y])
            again.launch()
        else:
            wb.launch(scale, 3, [y, y], [y], record_tape=False)
        wb.launch(total, 3, [y], [loss])
    with pytest.raises(NotDifferentiable, match="scale was launched with record_tape=False and writes y, through"):
        tape.backward(loss)
    assert not np.any(x.grad.numpy())


def test_a_function_of_the_users_answers_for_it():
    x, _, y, loss = arrays()

    def undo() -> None:  # of y = (x²)²
        out, into = tape.gradients[y].numpy(), tape.gradients[y]
        into.assign(out * 2 * X**2)

    with wb.Tape() as tape:
        wb.launch(square, 3, [x], [y])
        wb.launch(scale, 3, [y, y], [y], record_tape=False)
        tape.record_func(undo, [y])
        wb.launch(total, 3, [y], [loss])
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), 4 * X**3)


def test_tiles_and_other_observers():
    x, y = wb.array(np.ones(8, np.float32), requires_grad=True), wb.zeros(8)
    with wb.record() as rec, wb.Tape() as tape:
        wb.launch_tiled(doubled, 2, [x], [y], block_dim=4, record_tape=False)
    assert len(rec.entries) == 1 and y.numpy().tolist() == [2] * 8
    tape.backward(grads={y: 1.0})
    assert not np.any(x.grad.numpy())


@wb.kernel
def doubled(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    wb.tile_store(y, wb.tile_load(x, shape=4, offset=i * 4) * 2.0, offset=i * 4)
