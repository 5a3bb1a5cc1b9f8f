"""Elements that are a thread's own are changed plainly; those that two threads meet in lose nothing."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.passes.memory.atomics import owned_arrays


@wb.kernel
def rows(w: wb.array2d[float], x: wb.array[float]):
    i = wb.tid()
    for j in range(3):
        w[i, 2] *= x[j]
        w[i, j] += 1.0


@wb.kernel
def turned(y: wb.array2d[float]):
    i, j = wb.tid()
    y[j, i] += 1.0


@wb.kernel
def both_ways(y: wb.array2d[float]):
    i, j = wb.tid()
    y[i, j] += 1.0
    y[j, i] += 1.0


@wb.kernel
def no_thread(y: wb.array2d[float]):
    y[0, 0] += 1.0


@wb.kernel
def column_alone(y: wb.array2d[float]):
    _, j = wb.tid()
    y[0, j] += 1.0


@wb.kernel
def pairs(y: wb.array[float], x: wb.array[float]):
    i = wb.tid()
    y[2 * i] *= x[0]
    y[2 * i + 1] += x[1]


@wb.kernel
def triples_that_meet(y: wb.array[float], x: wb.array[float]):
    i = wb.tid()
    y[2 * i] *= x[0]
    y[2 * i + 2] += x[1]


@wb.kernel
def from_the_end(y: wb.array[float]):
    i = wb.tid()
    y[2 * i - 10] *= 2.0


@wb.kernel
def two_positions(y: wb.array2d[float]):
    i, j = wb.tid()
    y[3 * j, i + 1] *= 2.0


def expected_rows(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    w = w.copy()
    for j in range(3):
        w[:, 2] *= x[j]
        w[:, j] += 1
    return w


@pytest.mark.parametrize(
    ("kernel", "owned"),
    [(rows, "w"), (turned, "y"), (both_ways, ""), (no_thread, ""), (column_alone, ""), (pairs, "y"),
     (triples_that_meet, ""), (from_the_end, ""), (two_positions, "y")],
)  # fmt: skip
def test_threads_that_differ_at_one_position_own_their_elements(kernel: wb.Kernel, owned: str) -> None:
    names = {p.name for p in owned_arrays(kernel.specialise().function)}
    assert names - {"x"} == {*owned}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_sums_and_products_lose_nothing(device: str) -> None:
    start, x = np.full((500, 4), 2.0, np.float32), np.array([2.0, 0.5, 3.0], np.float32)
    w = wb.array(start, device=device)
    wb.launch(rows, 500, [w, wb.array(x, device=device)], device=device)
    assert np.array_equal(w.numpy(), expected_rows(start, x))
    for kernel, right in ((both_ways, np.full((96, 96), 2.0)), (turned, np.ones((96, 96)))):
        y = wb.zeros((96, 96), device=device)
        wb.launch(kernel, (96, 96), [y], device=device)
        assert np.array_equal(y.numpy(), right)
    y = wb.zeros((96, 96), device=device)
    wb.launch(column_alone, (96, 96), [y], device=device)
    assert np.array_equal(y.numpy()[0], np.full(96, 96.0))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_elements_that_lie_apart_and_those_that_do_not(device: str) -> None:
    """300 threads: what each owns is changed plainly, what two share loses nothing; against loops in NumPy."""
    x = np.array([2.0, 3.0], np.float32)
    for kernel, apart in ((pairs, True), (triples_that_meet, False)):
        y = wb.array(np.ones(602, np.float32), device=device)
        wb.launch(kernel, 300, [y, wb.array(x, device=device)], device=device)
        even = y.numpy()[:600:2]
        if apart:
            assert (even == 2).all() and (y.numpy()[1:600:2] == 4).all()
        else:  # 1 · 2, or (1 + 3) · 2, or 1 · 2 + 3: threads have no order
            assert even[0] == 2 and np.isin(even[1:], (5, 8)).all()
    y = wb.array(np.ones((14, 6), np.float32), device=device)
    wb.launch(two_positions, (5, 5), [y], device=device)
    right = np.ones((14, 6))
    right[::3, 1:] = 2
    assert np.array_equal(y.numpy(), right)


def test_a_row_that_is_a_threads_own_has_a_tangent() -> None:
    def product(x):
        w = wb.full((4, 4), 2.0)
        wb.launch(rows, 4, [w, x])
        return w

    x, along = (wb.array(np.array(v, np.float32)) for v in ([2.0, 0.5, 3.0], [1.0, 0.0, 0.0]))
    value, slope = wb.jvp(product)(x, along=along)
    assert value.numpy()[:, 2].tolist() == [7.0] * 4  # 2·2·0.5·3 + 1
    assert slope.numpy()[:, 2].tolist() == [3.0] * 4  # 2·0.5·3
