"""Launches with structs, again and again: what is kept of the first never hides what a later one was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError
from workbench.runtime.arrays.structure import kind_of

X = wb.array[float]


@wb.struct
class Held:
    scale: float
    x: X


@wb.struct
class Turned:
    by: wb.vec2
    inner: Held


@wb.struct
class Two:
    a: X
    b: X


@wb.kernel
def scaled(y: X, held: Held, shift: float):
    i = wb.tid()
    y[i] = held.scale * held.x[i] + shift


@wb.kernel
def both(first: Held, v: wb.vec2, second: Held, y: X, two: Two):
    i = wb.tid()
    y[i] = first.scale * first.x[i] + v[1] * second.scale * second.x[i] + two.a[i] - two.b[i]


@wb.kernel
def mixed(held: Held, turned: Turned, y: X):
    i = wb.tid()
    y[i] = held.scale * held.x[i] + turned.by[1] * turned.inner.scale * turned.inner.x[i]


def run(kernel: Any, *inputs: Any, size: int = 3) -> list[float]:
    y = wb.zeros(size, device="cpu")
    wb.launch(kernel, size, [y, *inputs] if kernel is scaled else [*inputs[:3], y, *inputs[3:]], device="cpu")
    return y.numpy().tolist()


def row(*values: float) -> wb.array:
    return wb.array(values, dtype=float, device="cpu")


def test_each_launch_reads_the_fields_as_they_are() -> None:
    held = Held(scale=2.0, x=row(1, 2, 3))
    assert run(scaled, held, 0.5) == [2.5, 4.5, 6.5]
    held.scale = 3
    assert run(scaled, held, 0.5) == [3.5, 6.5, 9.5]
    held.x.fill_(1.0)
    assert run(scaled, held, 0.0) == [3.0, 3.0, 3.0]
    held.x = row(1, 9, 2, 9, 3, 9)[::2]  # with gaps: other code
    assert run(scaled, held, 0.0) == [3.0, 6.0, 9.0]
    held.x = row(4, 5, 6)
    assert run(scaled, held, 1) == [13.0, 16.0, 19.0]


def test_a_field_that_lost_its_array_is_named_and_nothing_runs() -> None:
    held = Held(scale=2.0, x=row(1, 2, 3))
    assert run(scaled, held, 0.0) == [2.0, 4.0, 6.0]
    held.x = None
    assert kind_of(held) != kind_of(Held(scale=2.0, x=row(1, 2, 3)))
    for _ in range(2):
        with pytest.raises(LaunchError, match="The field x of held has no array"):
            run(scaled, held, 0.0)


def test_several_structs_and_a_vector_between_them_keep_their_places() -> None:
    for v in (wb.vec2(9.0, 10.0), (9.0, 10.0)):
        for scale in (1.0, 2.0):
            first, second = Held(scale, row(1, 2, 3)), Held(0.5, row(2, 4, 6))
            two = Two(a=row(100, 200, 300), b=row(1, 1, 1))
            expected = [scale * n + 10 * 0.5 * 2 * n + 100 * n - 1 for n in (1, 2, 3)]
            assert run(both, first, v, second, two) == expected


def test_a_plain_struct_beside_one_with_more_in_it() -> None:
    for _ in range(2):
        held, turned = Held(2.0, row(1, 2, 3)), Turned(by=wb.vec2(0.0, 3.0), inner=Held(5.0, row(1, 1, 2)))
        y = wb.zeros(3, device="cpu")
        wb.launch(mixed, 3, [held, turned], [y], device="cpu")
        assert y.numpy().tolist() == [17.0, 19.0, 36.0]
    turned.inner.x = None
    with pytest.raises(LaunchError, match=r"The field x of turned\.inner has no array"):
        wb.launch(mixed, 3, [held, turned], [y], device="cpu")


def test_on_a_tape_the_gradient_is_of_the_arrays_that_each_launch_had() -> None:
    held, y = Held(scale=2.0, x=row(1, 2, 3)), wb.zeros(3, device="cpu")
    first, second = held.x, row(5, 6, 7)
    with wb.Tape() as tape:
        wb.launch(scaled, 3, [y, held, 0.0], device="cpu")
        held.scale, held.x = 3.0, second
        z = wb.zeros(3, device="cpu")
        wb.launch(scaled, 3, [z, held, 0.0], device="cpu")
    tape.backward(grads={y: 1.0, z: np.float32([1, 0, 2])})
    assert tape.gradients[first].numpy().tolist() == [2.0, 2.0, 2.0]
    assert tape.gradients[second].numpy().tolist() == [3.0, 0.0, 6.0]
