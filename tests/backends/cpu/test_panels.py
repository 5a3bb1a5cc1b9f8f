"""Loops that read the same in all rows of a launch: products in many shapes, against NumPy's sums in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

import workbench as wb

Array = np.ndarray
ROWS = (1, 7, 8, 63, 64, 65, 130)
COLUMNS = (1, 31, 32, 33, 100)
ITERATIONS = (0, 1, 15, 16, 127, 128, 639, 640, 641)


@wb.kernel
def product(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def by_rows(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[j, k]
    c[i, j] = s


@wb.kernel
def guarded(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float], rows: int, columns: int):
    i, j = wb.tid()
    if i < rows and j < columns:
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[j, k]
        c[i, j] = s


@wb.kernel
def left_early(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float], rows: int, columns: int):
    i, j = wb.tid()
    if i <= rows or j >= columns:
        return
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def distances(x: wb.array2d[float], y: wb.array2d[float], d: wb.array2d[float], first: int, end: int):
    i, j = wb.tid()
    s = 0.0
    for k in range(first, end):
        t = x[i, k] - y[j, k]
        s += t * t
    d[i, j] = s


@wb.kernel
def in_two_loops(a: wb.array2d[float], b: wb.array2d[float], w: wb.array[float], c: wb.array2d[float]):
    i, j = wb.tid()
    s = w[j]
    for k in range(a.shape[1]):
        s += a[i, k] * b[j, k] * w[k]
    for k in range(a.shape[1]):
        s -= a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def batched(a: wb.array3d[float], b: wb.array3d[float], c: wb.array3d[float]):
    p, i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[2]):
        s += a[p, i, k] * b[p, j, k]
    c[p, i, j] = s


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng((seed, *shape)).uniform(-1, 1, shape).astype(np.float32)


def total(terms: Iterable[Array], shape: tuple[int, ...]) -> Array:
    """The terms added in their order, in float32."""
    s = np.zeros(shape, np.float32)
    for term in terms:
        s = s + term
    return s


def outer(a: Array, b: Array) -> Array:
    """The sums of a[i, k] * b[j, k] in the order of k."""
    return total((a[:, k, None] * b[None, :, k] for k in range(a.shape[1])), (len(a), len(b)))


@pytest.mark.sample(12)
@pytest.mark.parametrize("count", ITERATIONS)
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", ROWS)
def test_products(rows: int, columns: int, count: int) -> None:
    a, b = numbers(rows, count), numbers(columns, count, seed=1)
    c, transposed = wb.zeros((rows, columns)), wb.zeros((rows, columns))
    wb.launch(product, (rows, columns), [wb.array(a), wb.array(b.T.copy()), c])
    wb.launch(by_rows, (rows, columns), [wb.array(a), wb.array(b), transposed])
    assert np.array_equal(c.numpy(), outer(a, b)) and np.array_equal(transposed.numpy(), outer(a, b))


@pytest.mark.parametrize("count", [32767, 32768, 32769])
def test_long_products(count: int) -> None:
    """On both sides of PANEL_ITERATIONS."""
    a, b, c, d = numbers(9, count), numbers(33, count, seed=1), wb.zeros((9, 33)), wb.zeros((9, 33))
    wb.launch(by_rows, (9, 33), [wb.array(a), wb.array(b), c])
    wb.launch(product, (9, 33), [wb.array(a), wb.array(b.T.copy()), d])
    assert np.array_equal(c.numpy(), outer(a, b)) and np.array_equal(d.numpy(), outer(a, b))


@pytest.mark.parametrize("rows, columns", [(64, 64), (70, 100), (63, 33), (0, 5), (200, 200), (-1, 40), (66, 0)])
def test_guards(rows: int, columns: int) -> None:
    a, b, shape = numbers(70, 20), numbers(100, 20, seed=1), (70, 100)
    c, d = wb.full(shape, 7.0), wb.full(shape, 7.0)
    wb.launch(guarded, shape, [wb.array(a), wb.array(b), c, rows, columns])
    wb.launch(left_early, shape, [wb.array(a), wb.array(b.T.copy()), d, rows, columns])
    i, j = np.mgrid[:70, :100]
    assert np.array_equal(c.numpy(), np.where((i < rows) & (j < columns), outer(a, b), np.float32(7)))
    assert np.array_equal(d.numpy(), np.where((i > rows) & (j < columns), outer(a, b), np.float32(7)))


def test_a_guard_keeps_threads_from_memory_that_is_not_there() -> None:
    """A launch larger than its arrays: what the guard excludes is not read ahead, either."""
    a, b = numbers(5, 40), numbers(33, 40, seed=1)
    c = wb.zeros((5, 33))
    wb.launch(guarded, (64, 96), [wb.array(a), wb.array(b), c, 5, 33])
    assert np.array_equal(c.numpy(), outer(a, b))


@pytest.mark.parametrize("first, end", [(0, 20), (3, 19), (5, 5), (9, 2), (-4, 18), (-20, 0)])
def test_ranges(first: int, end: int) -> None:
    x, y, d = numbers(70, 20), numbers(40, 20, seed=1), wb.zeros((70, 40))
    wb.launch(distances, (70, 40), [wb.array(x), wb.array(y), d, first, end])
    terms = (np.square(x[:, k, None] - y[None, :, k]) for k in range(first, end))
    assert np.array_equal(d.numpy(), total(terms, (70, 40)))


def test_loops_one_after_the_other() -> None:
    a, b, w, c = numbers(70, 40), numbers(40, 40, seed=1), numbers(40, seed=2), wb.zeros((70, 40))
    wb.launch(in_two_loops, (70, 40), [wb.array(a), wb.array(b), wb.array(w), c])
    terms = [np.broadcast_to(w, (70, 40)), *(a[:, k, None] * b[None, :, k] * w[k] for k in range(40))]
    assert np.array_equal(c.numpy(), total([*terms, *(-(a[:, k, None] * b[k]) for k in range(40))], (70, 40)))


@pytest.mark.parametrize("rows", [6, 20, 64, 128])
def test_batches(rows: int) -> None:
    """Blocks of rows end with a plane."""
    a, b, c = numbers(3, rows, 17), numbers(3, 40, 17, seed=1), wb.zeros((3, rows, 40))
    wb.launch(batched, (3, rows, 40), [wb.array(a), wb.array(b), c])
    assert np.array_equal(c.numpy(), [outer(one, other) for one, other in zip(a, b, strict=True)])


LAYOUTS: dict[str, Callable[[Array], wb.array]] = {
    "rows apart": lambda x: wb.array(np.pad(x, ((2, 1), (3, 5))))[2:-1, 3:-5],
    "transposed": lambda x: wb.array(x.T.copy()).transpose(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_views(layout: str) -> None:
    view = LAYOUTS[layout]
    a, b, c, d = numbers(70, 130), numbers(40, 130, seed=1), wb.zeros((70, 40)), wb.zeros((70, 40))
    wb.launch(by_rows, (70, 40), [view(a), view(b), c])
    wb.launch(product, (70, 40), [view(a), view(b.T.copy()), d])
    assert np.array_equal(c.numpy(), outer(a, b)) and np.array_equal(d.numpy(), outer(a, b))


@pytest.mark.parametrize("kernel", [product, by_rows])
def test_a_result_between_the_columns_of_an_operand(kernel: wb.Kernel) -> None:
    """Arrays whose memory overlaps without a common element."""
    a, both = numbers(40, 40), numbers(40, 80, seed=1)
    shared = wb.array(both)
    wb.launch(kernel, (40, 40), [wb.array(a), shared[:, :40], shared[:, 40:]])
    b = both[:, :40]
    assert np.array_equal(shared.numpy(), np.hstack([b, outer(a, b.T if kernel is product else b)]))


@pytest.mark.parametrize("threads", ["1", "3"])
def test_any_number_of_cores(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_THREADS", threads)
    a, b, c = numbers(300, 150), numbers(260, 150, seed=1), wb.zeros((300, 260))
    wb.launch(by_rows, (300, 260), [wb.array(a), wb.array(b), c])
    assert np.array_equal(c.numpy(), outer(a, b))
