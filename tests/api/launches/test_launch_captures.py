"""What a kernel captured is looked at before each launch, wherever it is held: a change is seen, in type and value."""

import types

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError

OUT = wb.array(dtype=float)
modules = [types.ModuleType("first"), types.ModuleType("second")]
modules[0].LEVEL, modules[1].LEVEL = 2.0, 5.0
config = modules[0]
PAIR = (1.0, 2.0)
ROWS = (np.array([1.0, 2.0, 3.0], np.float32),)
SIZE = 3


@wb.kernel
def level(out: OUT):
    i = wb.tid()
    out[i] = config.LEVEL


@wb.kernel
def second_of_pair(out: OUT):
    i = wb.tid()
    out[i] = PAIR[1]


@wb.kernel
def first_row(out: OUT):
    i = wb.tid()
    out[i] = ROWS[0][2]


@wb.kernel
def twice(out: OUT):
    i = wb.tid()
    out[i] = wb.static(max(SIZE, 1) * 2.0)


@wb.kernel
def counted(out: OUT):
    i = wb.tid()
    for k in wb.static(range(SIZE)):
        out[i] += float(k)


def value_of(kernel, *inputs):
    """What the kernel writes; launched twice, so that the second launch takes the short way."""
    for _ in range(2):
        out = wb.zeros(1, device="cpu")
        wb.launch(kernel, 1, inputs=list(inputs), outputs=[out])
    return float(out.numpy()[0])


def test_another_module_under_the_same_name_is_seen(monkeypatch):
    assert value_of(level) == 2.0
    monkeypatch.setitem(globals(), "config", modules[1])
    assert value_of(level) == 5.0
    monkeypatch.setattr(modules[1], "LEVEL", 7.0)
    assert value_of(level) == 7.0


def test_another_tuple_and_an_array_in_a_tuple_changed_in_place_are_seen(monkeypatch):
    assert value_of(second_of_pair) == 2.0
    monkeypatch.setitem(globals(), "PAIR", (1.0, 9.0))
    assert value_of(second_of_pair) == 9.0
    assert value_of(first_row) == 3.0
    ROWS[0][2] = 8.0
    try:
        assert value_of(first_row) == 8.0
    finally:
        ROWS[0][2] = 3.0


def test_names_of_a_static_expression_are_seen_even_those_of_python(monkeypatch):
    assert (value_of(twice), value_of(counted)) == (6.0, 3.0)
    monkeypatch.setitem(globals(), "SIZE", 4)
    assert (value_of(twice), value_of(counted)) == (8.0, 6.0)
    monkeypatch.setitem(globals(), "max", min)
    assert value_of(twice) == 2.0


def test_the_variables_of_an_enclosing_function_are_seen():
    scale, shape = 2.0, wb

    @wb.kernel
    def scaled(out: OUT):
        i = wb.tid()
        out[i] = scale * shape.sqrt(4.0)

    assert value_of(scaled) == 4.0
    scale = 3.0
    assert value_of(scaled) == 6.0
    scale = 3
    assert value_of(scaled) == 6.0

    class Other:
        sqrt = wb.abs

    shape = Other
    assert value_of(scaled) == 12.0


def test_vectors_by_value_are_checked_at_each_launch():
    @wb.kernel
    def last(v: wb.vec3, out: OUT):
        i = wb.tid()
        out[i] = v[2]

    @wb.kernel
    def length(v, out: OUT):
        i = wb.tid()
        out[i] = wb.length(v)

    assert value_of(last, wb.vec3(1.0, 2.0, 3.0)) == 3.0
    assert value_of(last, (1.0, 2.0, 4.0)) == 4.0
    assert value_of(last, (1, 2, 5)) == 5.0
    for wrong in (wb.vec2(1.0, 2.0), (1.0, 2.0), (1.0, 2.0, 1e300)):
        with pytest.raises(LaunchError, match="v"):
            value_of(last, wrong)
    assert value_of(length, wb.vec2(3.0, 4.0)) == 5.0
    assert value_of(length, wb.vec3(2.0, 3.0, 6.0)) == 7.0
    assert value_of(length, wb.vec2(6.0, 8.0)) == 10.0
