"""A launch and its adjoint as a pair, without a tape."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning

CELL = meaning.define("""
    @kernel
    def square(x: array[float]):
        i = tid()
        x[i] = x[i] * x[i]

    @kernel
    def scale(a: float, x: array[float], y: array[float]):
        i = tid()
        y[i] = a * x[i]

    @kernel
    def both(x: array[float], y: array[float]):
        i = tid()
        y[i] = x[i] * y[i]
""")
square, scale, both = CELL.values()


def test_in_place_again_and_again() -> None:
    x = wb.array([1.0, 2.0, 3.0], requires_grad=True)
    pair = wb.launch_pair(square, 3, inputs=[x])
    assert (pair.kept, pair.nbytes) == (("x",), 12)
    assert repr(pair) == "<LaunchPair square[3], keeps x: 12 bytes>"
    for _ in range(2):
        before = x.numpy().copy()
        pair.forward()
        assert np.array_equal(x.numpy(), before**2)
        x.grad.fill_(1.0)
        pair.backward()
        assert np.array_equal(x.grad.numpy(), 2 * before)


def test_nothing_is_kept_where_nothing_is_needed() -> None:
    x, y, adj_a = wb.array([1.0, 2.0], requires_grad=True), wb.zeros(2, requires_grad=True), wb.zeros(1)
    pair = wb.launch_pair(scale, 2, inputs=[3.0, x], outputs=[y], adj_inputs=[adj_a])
    pair.forward()
    y.grad.fill_(1.0)
    pair.backward()
    assert (pair.kept, pair.nbytes) == ((), 0) and "keeps" not in repr(pair)
    assert x.grad.numpy().tolist() == [3, 3] and float(adj_a) == 3 and y.grad.numpy().tolist() == [0, 0]


def test_views_of_one_memory() -> None:
    held = wb.array(np.arange(1.0, 7.0, dtype=np.float32), requires_grad=True)
    adjoint = wb.zeros(6)
    pair = wb.launch_pair(
        both, 3, inputs=[held[:3]], outputs=[held[3:]], adj_inputs=[adjoint[:3]], adj_outputs=[adjoint[3:]]
    )
    adjoint.fill_(1.0)
    pair.forward()
    pair.backward()
    assert pair.nbytes == 24
    assert adjoint.numpy().tolist() == [5, 6, 7, 1, 2, 3]


def test_refused() -> None:
    x = wb.array([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.raises(wb.LaunchError, match="comes after forward"):
        wb.launch_pair(square, 3, inputs=[x]).backward()
    with pytest.raises(wb.LaunchError, match="adjoint of x is missing"):
        wb.launch_pair(square, 3, inputs=[wb.ones(3)])
    with pytest.raises(wb.NotDifferentiable, match="its adjoint needs what x held") as caught:
        wb.launch(square, 3, inputs=[x], adjoint=True)
    assert "pair = wb.launch_pair(square" in caught.value.advice
    with wb.Tape() as tape:
        wb.launch_pair(square, 3, inputs=[x]).forward()
    tape.backward(grads={x: np.ones(3)})
    assert x.grad.numpy().tolist() == [2, 4, 6]
