"""Names that NumPy's and PyTorch's arrays have and ours lack, and a `.grad` that a tape has not filled."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.names import _INSTEAD


@wb.kernel
def squares(x: wb.array[float], total: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(total, 0, x[i] * x[i])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("argmax", r"np\.argmax\(x\)"),
        ("astype", r"wb\.array\(x, dtype=wb\.float64\)"),
        ("fill", r"x\.fill_\(value\)"),
        ("flags", r"x\.numpy\(\)\.flags"),
    ],
)
def test_it_says_what_to_write(name: str, said: str) -> None:
    x = wb.array([1.0, 2.0])
    assert not hasattr(x, name)
    with pytest.raises(AttributeError, match=said) as caught:
        getattr(x, name)
    assert caught.value.obj is None  # so Python adds no "Did you mean: 'type'?" of its own


def test_a_misspelt_name_is_left_to_python_which_knows_what_is_close() -> None:
    x = wb.array([1.0, 2.0])
    with pytest.raises(AttributeError, match="'shapes'") as caught:
        _ = x.shapes
    assert caught.value.name == "shapes" and caught.value.obj is x  # what its "Did you mean" is made of


def test_what_is_absent_is_not_listed() -> None:
    names = dir(wb.array([1.0, 2.0]))
    assert {"shape", "numpy", "reshape"} <= {*names} and not {"argmax", "astype"} & {*names}


def test_attributes_are_read_without_a_call_of_python_s() -> None:
    # Where a class has `__getattr__`, CPython 3.11 looks up each attribute seven times as slowly.
    assert not hasattr(wb.array, "__getattr__") and wb.array.__getattribute__ is object.__getattribute__


def test_none_of_them_is_there_after_all() -> None:
    assert not [name for name in _INSTEAD if hasattr(wb.array, name)]


def test_numpy_s_function_takes_it() -> None:
    assert np.argmax(wb.array([1.0, 3.0, 2.0])) == 1


def test_a_gradient_that_the_tape_keeps_to_itself_is_named_where_grad_is_read() -> None:
    x, total = wb.array([1.0, 2.0, 3.0]), wb.zeros(1)
    assert x.grad is None
    with wb.Tape() as tape:
        wb.launch(squares, 3, [x], [total])
    tape.backward(total)
    with pytest.warns(UserWarning, match=r"without requires_grad=True\. tape\.gradients\[x\] has") as caught:
        assert x.grad is None
    assert caught[0].filename == __file__
    with warnings.catch_warnings(action="error"):
        assert tape.gradients[x].numpy().tolist() == [2.0, 4.0, 6.0]


def test_an_array_with_a_gradient_is_read_without_a_word() -> None:
    x, total = wb.array([1.0, 2.0], requires_grad=True), wb.zeros(1, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(squares, 2, [x], [total])
    tape.backward(total)
    with warnings.catch_warnings(action="error"):
        assert x.grad is not None and x.grad.numpy().tolist() == [2.0, 4.0]


def test_the_shape_is_not_assigned() -> None:
    x = wb.ones(3)
    with pytest.raises(AttributeError, match=r"stays as it is; x\.reshape\(\(1, 3\)\) is a view"):
        x.shape = (1, 3)
    assert x.shape == (3,) and x.numpy().shape == (3,)
