"""The last launch that was given an array: noted on request, without keeping anything alive."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import workbench as wb
from workbench import inspect


@wb.kernel
def fill(x: wb.array[float], a: float):
    x[wb.tid()] = a


@wb.kernel
def shift(x: wb.array[wb.vec2], by: wb.vec2):
    i = wb.tid()
    x[i] = x[i] + by


@pytest.fixture
def noting() -> Iterator[None]:
    inspect.note_launches(True)
    yield
    inspect.note_launches(False)


def test_the_launch_is_found_by_its_array(noting: None) -> None:
    x, y = wb.zeros(4), wb.zeros(4)
    wb.launch(fill, 4, [x, 1.0])
    wb.launch(fill, 3, [y, 2.0])
    found = inspect.last_launch_with(y)
    assert found is not None and (found.kernel, found.dim, found.parameter(y)) == (fill, 3, "x")
    assert found.arguments == [y, 2.0]
    assert inspect.last_launch_with(x) is None, "one launch per kernel is noted"


def test_vectors_are_arguments_too(noting: None) -> None:
    x = wb.zeros(4, dtype=wb.vec2)
    wb.launch(shift, 4, [x, wb.vec2(1.0, 2.0)])
    found = inspect.last_launch_with(x)
    assert found is not None and found.arguments is not None
    assert tuple(found.arguments[1]) == (1.0, 2.0)


def test_nothing_is_kept_alive(noting: None) -> None:
    x = wb.array(np.zeros(4, np.float32))
    wb.launch(fill, 4, [x, 1.0])
    found = inspect.last_launch_with(x)
    assert found is not None and found.arguments is not None
    del x
    assert found.arguments is None


def test_scripts_note_nothing() -> None:
    x = wb.zeros(4)
    wb.launch(fill, 4, [x, 1.0])
    assert inspect.last_launch_with(x) is None
