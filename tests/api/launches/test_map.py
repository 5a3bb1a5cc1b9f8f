"""`wb.map`: the elementwise kernel of a function."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import KernelTypeError, LaunchError, WorkbenchError

SCALE = 2.0


@wb.func
def blend(a, b, t):
    return a + (b - a) * t


def plain(a):
    return SCALE * a


@wb.func
def polar(a, b):
    return wb.sqrt(a * a + b * b), wb.vec2d(a, b)


@wb.kernel
def some_kernel(x: wb.array[float]):
    x[wb.tid()] = 0.0


@wb.func
def nothing(a):
    pass


def data(shape, dtype=np.float64):
    return np.arange(1, 1 + np.prod(shape), dtype=dtype).reshape(shape)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 1, 3), (2, 1, 3, 2), (0,)])
def test_a_func_over_arrays_of_1_to_4_dimensions_with_a_number(shape):
    a, b = data(shape), -2 * data(shape)
    got = wb.map(blend, wb.array(a), wb.array(b), 0.1)
    assert got.shape == shape and got.dtype == wb.float64
    assert np.array_equal(got.numpy(), a + (b - a) * 0.1)


def test_builtins_and_functions_of_numpy():
    x = wb.array(data((4,)))
    assert np.allclose(wb.map(wb.sin, x).numpy(), np.sin(data((4,))))
    assert np.allclose(wb.map(np.exp, x).numpy(), np.exp(data((4,))))
    assert wb.map(max, x, 2.5).numpy().tolist() == [2.5, 2.5, 3.0, 4.0]


def test_a_plain_function_and_the_constant_that_it_captures(monkeypatch):
    x = wb.array(np.array([1.0, 2.0], np.float32))
    assert wb.map(plain, x).numpy().tolist() == [2.0, 4.0]
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert wb.map(plain, x).numpy().tolist() == [3.0, 6.0]
    monkeypatch.setitem(globals(), "SCALE", wb.vec2(0.5, 2.0))  # another type of the constant: another result
    assert wb.map(plain, x).numpy().tolist() == [[0.5, 2.0], [1.0, 4.0]]


def test_the_kernel_is_made_once_for_each_kind_of_arguments():
    with wb.record() as recorder:
        for _ in range(3):
            wb.map(blend, wb.array(data((3,))), wb.array(data((3,))), 0.5)
    seen = [r.specialisation for r in recorder.launches]
    assert len(seen) == 3 and len({id(s) for s in seen}) == 1


def test_several_results_numpy_arrays_vectors_and_integers():
    length, both = wb.map(polar, np.array([3.0, 6.0]), np.array([4.0, 8.0]))
    assert length.numpy().tolist() == [5.0, 10.0]
    assert both.dtype == wb.vec2d and both.numpy().tolist() == [[3.0, 4.0], [6.0, 8.0]]
    points = wb.array(np.ones((5, 3), np.float32), dtype=wb.vec3)
    dots = wb.map(wb.dot, points, wb.vec3(1.0, 2.0, 3.0))
    assert dots.numpy().tolist() == [6.0] * 5
    halves = wb.map(blend, wb.array(np.array([1, 2], np.int32)), 3, 2)
    assert halves.dtype == wb.int32 and halves.numpy().tolist() == [5, 4]


def test_out_is_written_and_given_back():
    x, out = wb.array(data((3,))), wb.array(np.zeros(3))
    assert wb.map(wb.sqrt, x, out=out) is out
    assert np.allclose(out.numpy(), np.sqrt(data((3,))))
    for wrong in (wb.array(np.zeros(4)), wb.zeros(3, float), 3.0):
        with pytest.raises(LaunchError, match="out must be an array of float64 of shape"):
            wb.map(wb.sqrt, x, out=wrong)
    with pytest.raises(LaunchError, match="the function has 2 results; out has 1"):
        wb.map(polar, x, x, out=out)


def test_a_tape_sees_it():
    x = wb.array(data((4,)), requires_grad=True)
    with wb.Tape() as tape:
        y = wb.map(blend, x, wb.map(wb.sin, x), 0.25)
    assert y.requires_grad
    tape.backward(grads={y: wb.array(np.ones(4))})
    assert np.allclose(x.grad.numpy(), 0.75 + 0.25 * np.cos(data((4,))))


def test_what_does_not_fit():
    x = wb.array(data((3,)))
    for arguments, sentence in [
        ((wb.sin,), "needs an array"),
        ((blend, x, wb.array(data((4,))), 0.5), r"shapes \(3,\), \(4,\) do not"),
        ((plain, "text", x), "this is a str"),
        ((some_kernel, x), "some_kernel is a kernel"),
    ]:
        with pytest.raises(LaunchError, match=sentence):
            wb.map(*arguments)
    with pytest.raises(KernelTypeError, match="takes a float"):
        wb.map(wb.sin, wb.array(np.arange(3, dtype=np.int32)))
    with pytest.raises(KernelTypeError, match="needs an argument for t"):
        wb.map(blend, x, x)
    with pytest.raises(WorkbenchError, match="returns nothing"):
        wb.map(nothing, x)


def test_a_lambda_is_mapped_with_what_it_sees_now():
    x, scale = wb.array([1.0, -2.0, 3.0]), 2.0
    f = lambda a, b: (a + 1.0) * (scale if b > 0.0 else (3.0))  # noqa: E731
    two = wb.map(lambda a: a + 1.0, x), wb.map(
        lambda a: a
        - 1.0, x
    )  # fmt: skip
    assert [t.numpy().tolist() for t in two] == [[2, -1, 4], [0, -3, 2]]
    assert wb.map(f, x, x).numpy().tolist() == [4, -3, 8]
    scale = 5.0
    assert wb.map(f, x, x).numpy().tolist() == [10, -3, 20]


def test_a_lambda_without_a_file_is_refused():
    with pytest.raises(wb.KernelSyntaxError, match="lambda cannot be found"):
        wb.map(eval("lambda a: a"), wb.zeros(2))
