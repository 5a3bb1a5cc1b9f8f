"""Copies and pickles of kernels and funcs: as those of functions, so objects that hold them can be copied and sent."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

import workbench as wb
from workbench.errors import LaunchError


@wb.func
def twice(a: float):
    return a + a


@wb.kernel
def doubled(x: wb.array[float]):
    x[wb.tid()] = twice(x[wb.tid()])


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_a_copy_of_a_kernel_or_func_is_itself(how: Callable[[object], object]) -> None:
    assert how(doubled) is doubled and how(twice) is twice


def test_a_kernel_of_a_function_is_pickled_by_value() -> None:
    @wb.kernel
    def doubled(x: wb.array[float]):
        x[wb.tid()] = 2.0

    assert copy.deepcopy([doubled]) == [doubled]
    x = wb.zeros(1)
    wb.launch(pickle.loads(pickle.dumps(doubled)), 1, [x])
    assert x.numpy()[0] == 2.0


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_tape_is_not_copied(how: Callable[[object], object]) -> None:
    with pytest.raises(LaunchError, match="A Tape cannot be copied or pickled"):
        how(wb.Tape())
