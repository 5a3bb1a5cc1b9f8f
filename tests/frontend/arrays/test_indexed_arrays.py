"""Arrays behind arrays of indices: read, written, summed and differentiated as NumPy's x[np.ix_(…)]."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.python.interpret import run
from workbench.errors import KernelFault, LaunchError

TEXT = """
@wb.func
def first(row: wb.indexedarray(dtype=wb.float64), j: int):
    return row[j]

def k(x: wb.indexedarray(dtype=wb.float64, ndim=2), y: wb.array[wb.float64]):
    i = tid()
    s = x[i, 1] + 10.0 * x[-1, -1] + first(x[i], 0)
    part = x[::-1, 1:]
    for v in part[i]:
        s += 100.0 * v
    y[i] = s + 1000.0 * (len(x) + x.shape[1])
"""
DATA = np.arange(20.0).reshape(4, 5)
CHOICES = [([2, 0, 2], [4, 1]), ([3, 1, 0], None), (None, [0, 0, 3]), (None, None)]


def _meant(x: np.ndarray) -> np.ndarray:
    part = x[::-1, 1:]
    last = 1000 * (x.shape[0] + x.shape[1])
    return np.array([x[i, 1] + 10 * x[-1, -1] + x[i, 0] + 100 * part[i].sum() + last for i in range(3)])


@pytest.mark.sample(1)
@pytest.mark.parametrize("rows, columns", CHOICES)
def test_means_what_numpy_means(rows, columns, need):
    k = define(TEXT, {"wb": wb})["k"]
    base, y = wb.array(DATA), wb.zeros(3, wb.float64)
    x = wb.indexedarray(base, [rows, columns])
    seen = DATA[np.ix_(range(4) if rows is None else rows, range(5) if columns is None else columns)]
    assert x.shape == seen.shape and np.array_equal(x.numpy(), seen) and np.array_equal(x.contiguous().numpy(), seen)
    for checks in (False, True, False):
        wb.launch(k, 3, [x, y], checks=checks)
        assert np.array_equal(y.numpy(), _meant(seen))
    function = k.used.function
    given = [DATA, *(t.numpy() for t in x.indices if t is not None)]
    expected, shown = np.zeros(3), np.zeros(3)
    run(function, 3, [*given, expected])
    need("nvrtc")
    Library([function], Options()).run("k", 3, [*given, shown])
    assert np.array_equal(expected, _meant(seen)) and np.array_equal(shown, expected)


def test_a_plain_array_stands_in_its_place():
    k = define(TEXT, {"wb": wb})["k"]
    y = wb.zeros(3, wb.float64)
    wb.launch(k, 3, [wb.array(DATA), y])
    assert np.array_equal(y.numpy(), _meant(DATA))
    wb.launch(k, 3, [DATA.copy(), y])
    assert np.array_equal(y.numpy(), _meant(DATA))


def test_writing_and_sums_reach_the_array():
    k = define("""
        def k(x: wb.indexedarray[float], total: wb.indexedarray[float]):
            i = tid()
            x[i] = float(i) + 1.0
            total[i] += 2.0
        """, {"wb": wb})["k"]  # fmt: skip
    base, sums = wb.zeros(6), wb.zeros(2)
    wb.launch(k, 3, [wb.indexedarray(base, [5, 0, 2]), wb.indexedarray(sums, [[1, 1, 0]])])
    assert base.numpy().tolist() == [2, 0, 3, 0, 0, 1] and sums.numpy().tolist() == [2, 4]


def test_gradients_go_to_the_array():
    k = define("""
        def k(x: wb.indexedarray[wb.float64], y: wb.array[wb.float64]):
            i = tid()
            y[i] = x[i] * x[i]
        """, {"wb": wb})["k"]  # fmt: skip
    base = wb.array([1.0, 2.0, 3.0], wb.float64, requires_grad=True)
    x, y = wb.indexedarray(base, [2, 0, 2]), wb.zeros(3, wb.float64, requires_grad=True)
    assert wb.gradcheck(k, 3, inputs=[x], outputs=[y]).ok
    with wb.Tape() as tape:
        wb.launch(k, 3, [x], [y])
    tape.backward(grads={y: np.ones(3)})
    assert base.grad.numpy().tolist() == [2.0, 0.0, 12.0]


def test_generic_parameters_and_bounds():
    k = define("def k(x, y: wb.array[float]):\n    i = tid()\n    y[i] = x[i]\n", {"wb": wb})["k"]
    y = wb.zeros(2)
    wb.launch(k, 2, [wb.indexedarray(wb.array([7.0, 8.0]), [1, 0]), y])
    assert y.numpy().tolist() == [8.0, 7.0]
    with pytest.raises(KernelFault, match=r"x\.indices0 has 1 element along axis 0"):
        wb.launch(k, 2, [wb.indexedarray(wb.array([7.0, 8.0]), [[1]]), y], checks=True)


def test_refused():
    base = wb.array(DATA)
    with pytest.raises(ValueError, match="index of axis 0 is outside"):
        wb.indexedarray(base, [[4], None])
    with pytest.raises(ValueError, match="1 indices were given"):
        wb.indexedarray(base, [[1]])
    with pytest.raises(TypeError, match="an array and indices, or a dtype"):
        wb.indexedarray()
    assert repr(wb.indexedarray(dtype=float, ndim=2)) == "indexedarray2d[float32]"
    k = define("def k(x: wb.array[float], z: wb.indexedarray[float]):\n    x[tid()] = z[0]\n", {"wb": wb})["k"]
    some = wb.indexedarray(wb.ones(3), [1, 2])
    with pytest.raises(LaunchError, match="x takes array"):
        wb.launch(k, 1, [some, some])
    with pytest.raises(LaunchError, match="another number of dimensions"):
        wb.launch(k, 1, [wb.ones(3), wb.indexedarray(wb.zeros((2, 2)), [None, [0]])])
    kept = wb.launch(k, 1, [wb.ones(3), some], record_cmd=True)
    with pytest.raises(LaunchError, match="made with indices for"):
        kept.set_param_by_name("z", wb.ones(3))


@wb.struct
class Chosen:
    rows: wb.indexedarray(dtype=float, ndim=2)


@wb.kernel
def sum_rows(c: Chosen, y: wb.array[float]):
    i = wb.tid()
    for j in range(c.rows.shape[1]):
        y[i] += c.rows[i, j]


def test_a_struct_has_one_as_a_field():
    x, y = np.arange(12, dtype=np.float32).reshape(4, 3), wb.zeros(2)
    c = Chosen()
    c.rows = wb.indexedarray(wb.array(x), [[3, 1], None])
    wb.launch(sum_rows, 2, inputs=[c, y])
    assert np.array_equal(y.numpy(), x[[3, 1]].sum(1))
