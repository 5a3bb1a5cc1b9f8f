"""The code kept for dense arrays that share no memory is used for those alone."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError


@wb.kernel
def shifted(x: wb.array[float], y: wb.array[float]):
    """Reads two neighbours: the adjoint adds to x[i] and x[i + 1]."""
    i = wb.tid()
    y[i] = x[i] * x[i + 1]


def gradient(x: wb.array, y: wb.array, n: int) -> np.ndarray:
    with wb.Tape() as tape:
        wb.launch(shifted, n, inputs=[x], outputs=[y])
    tape.backward(grads={y: np.ones(y.shape, np.float32)})
    return tape.gradients[x].numpy().copy()


def test_a_strided_array_after_a_dense_one_and_back() -> None:
    data = np.arange(1, 10, dtype=np.float32)
    expected = np.r_[data[1], data[:-2] + data[2:], data[-2]]
    wide = wb.zeros(18)
    every_second = wide[::2]
    every_second.assign(data)
    for x in (wb.array(data), every_second, wb.array(data), every_second):
        np.testing.assert_array_equal(gradient(x, wb.zeros(8), 8), expected)


def test_arrays_that_overlap_after_some_that_do_not() -> None:
    whole = wb.array(np.arange(1, 9, dtype=np.float32))
    gradient(whole, wb.zeros(7), 7)
    with wb.Tape() as tape:
        wb.launch(shifted, 3, inputs=[whole[:4]], outputs=[whole[4:7]])
        wb.launch(shifted, 6, inputs=[whole[1:]], outputs=[wb.zeros(6)])
    tape.backward(grads={whole: np.ones(8, np.float32)})
    assert tape.gradients[whole].numpy()[0] == 3.0  # its own seed, and x₁ by way of whole[4]
    with pytest.raises(LaunchError, match="share memory"):
        x, y = wb.zeros(4), wb.zeros(3)
        same = wb.zeros(4)
        wb.launch(shifted, 3, inputs=[x], outputs=[y], adjoint=True, adj_inputs=[same], adj_outputs=[same[:3]])


def test_the_dimensions_and_adjoints_are_looked_at_each_time() -> None:
    x, y = wb.zeros(5), wb.zeros(4)
    given = {"adjoint": True, "adj_inputs": [wb.zeros(5)]}
    wb.launch(shifted, 4, inputs=[x], outputs=[y], adj_outputs=[wb.zeros(4)], **given)
    with pytest.raises(LaunchError, match="has shape"):
        wb.launch(shifted, 4, inputs=[x], outputs=[y], adj_outputs=[wb.zeros(3)], **given)
    with pytest.raises(LaunchError, match="asks tid"):
        wb.launch(shifted, (4, 1), inputs=[x], outputs=[y], adj_outputs=[wb.zeros(4)], **given)


def test_numpy_views_keep_the_memory_and_not_the_array() -> None:
    x = wb.array(np.arange(6, dtype=np.float32))
    columns = wb.zeros((4, 3))
    column, view = columns[:, 1], x.numpy()
    seen = column.numpy()
    columns.fill_(7)
    del x, columns, column
    gc.collect()
    assert view.tolist() == [0, 1, 2, 3, 4, 5]
    assert seen.tolist() == [7, 7, 7, 7] and seen.strides == (12,)
    seen[2] = 1
    assert seen.tolist() == [7, 7, 1, 7]


def test_sums_of_earlier_passes_stay() -> None:
    x, y = wb.array(np.full(3, 2, np.float32)), wb.zeros(2)
    with wb.Tape() as tape:
        wb.launch(shifted, 2, inputs=[x], outputs=[y])
    for turn in (1, 2, 3):
        tape.backward(grads={y: np.ones(2, np.float32)})
        assert tape.gradients[x].numpy().tolist() == [2 * turn, 4 * turn, 2 * turn]
        assert tape.gradients[y].numpy().tolist() == [0, 0]
