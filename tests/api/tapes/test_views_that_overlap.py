"""Gradients of views whose elements share memory with each other, or with what they are copied to."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError, NotDifferentiable

X = wb.array(dtype=float)
X2 = wb.array(dtype=float, ndim=2)


@wb.kernel
def squares(x: X2, y: X2):
    j, i = wb.tid()  # neighbouring threads read windows that overlap
    y[i, j] = x[i, j] * x[i, j]


@wb.kernel
def times(x: X, y: X, z: X):
    i = wb.tid()
    z[i] = x[i] * y[i]


def windows(rows: int, length: int, strides: tuple[int, int]) -> Any:
    data = np.linspace(-1, 1, 2 * rows + 2 * length, dtype=np.float32)
    return np.lib.stride_tricks.as_strided(data, (rows, length), strides)


@pytest.mark.parametrize("strides", [(4, 4), (8, 4), (0, 4), (4, 0), (4, 8)])
def test_gradients_of_windows_that_overlap_are_summed(strides: tuple[int, int]) -> None:
    rows, length = (2, 6) if strides[0] == 0 else (40000, 6)
    held = windows(rows, length, strides)
    x, y = wb.from_numpy(held), wb.zeros((rows, length), device="cpu")
    with wb.Tape() as tape:
        wb.launch(squares, (length, rows), [x], [y])
    tape.backward(grads={y: 1.0})
    places = (np.arange(rows)[:, None] * strides[0] + np.arange(length) * strides[1]) // 4
    counts = np.bincount(places.ravel())
    np.testing.assert_allclose(tape.gradients[x].numpy(), 2 * held * counts[places], rtol=1e-4)


@pytest.mark.parametrize("add", [False, True])
def test_no_gradient_of_a_copy_of_windows_that_overlap(add: bool) -> None:
    x, y = wb.from_numpy(windows(4, 3, (4, 4))), wb.zeros((4, 3), device="cpu")
    with wb.Tape() as tape:
        (y.add_ if add else y.copy_)(x)
    with pytest.raises(NotDifferentiable, match=r"strides \(4, 4\) share memory.*in a kernel"):
        tape.backward(grads={y: 1.0})


def test_no_gradient_of_a_result_whose_elements_share_memory() -> None:
    x, y = wb.ones((4, 3), device="cpu"), wb.from_numpy(windows(4, 3, (4, 4)))
    with wb.Tape() as tape:
        wb.launch(squares, (3, 4), [x], [y])
    with pytest.raises(LaunchError, match=r"elements of y share memory"):
        tape.backward(grads={y: 1.0})


def test_a_copy_to_where_it_is_read_from_with_another_stride() -> None:
    numbers = np.arange(521, dtype=np.float32)
    x, y = wb.array(numbers, device="cpu", requires_grad=True), wb.zeros(521, device="cpu")
    with wb.Tape() as tape:
        x[128:346].copy_(x[2:438:2])
        y.copy_(x)
    moved = numbers.copy()
    moved[128:346] = numbers[2:438:2].copy()
    np.testing.assert_array_equal(x.numpy(), moved)
    seed = np.random.default_rng(0).uniform(-1, 1, 521).astype(np.float32)
    tape.backward(grads={y: seed})
    want = seed.copy()
    want[128:346] = 0
    want[2:438:2] += seed[128:346]
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-6)


@pytest.mark.parametrize("every", [0, 1, 4])
def test_an_array_turned_round_in_place(every: int) -> None:
    x, y = wb.array([1.0, 2.0, 3.0], device="cpu"), wb.zeros(3, device="cpu")
    with wb.Tape(checkpoint_every=every) as tape:
        x.copy_(x[::-1])
        wb.launch(times, 3, [x, x], [y])
    tape.backward(grads={y: [1.0, 10.0, 100.0]})
    assert tape.gradients[x].numpy().tolist() == [200.0, 40.0, 6.0]


def test_strides_of_one_element_say_nothing() -> None:
    x, y = wb.array([3.0], device="cpu"), wb.zeros(1, device="cpu")
    with wb.Tape() as tape:
        wb.launch(times, 1, [x, x], [x])
        y.copy_(x[::-1])  # the adjoint is made like this view, with a stride of -4
    tape.backward(grads={y: 1.0})
    assert tape.gradients[x].numpy().tolist() == [6.0]


def test_arrays_of_a_launch_in_place_are_freed_without_a_search_for_cycles() -> None:
    gc.disable()
    try:
        x, y = wb.array([1.0, 2.0], device="cpu"), wb.ones(2, device="cpu")
        with wb.Tape() as tape:
            wb.launch(times, 2, [x, y], [y])
        tape.backward(grads={y: 1.0})
        memories = [y.memory, *(a.memory for a in tape.adjoints.values()), *(s.memory for s in tape.snapshots)]
        held = [weakref.ref(m.owner) for m in memories]
        del x, y, tape, memories
        assert [place() for place in held] == [None] * 4
    finally:
        gc.enable()
