"""Gradients of whole-array expressions in which `where` guards what has no finite slope: as inside one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb

X = np.float32([-1.0, 0.0, 4.0])
DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))
OPTIONS = [{}, {"checkpoint_every": 1}, {"checkpoint_every": 3}]
Program = Callable[[wb.array], wb.array]


def shared_root(x: wb.array) -> wb.array:
    """The root is used under two conditions."""
    root = wb.sqrt(x)
    return wb.where(x > 0.0, root, 0.0) + wb.where(x > 1.0, 3.0 * root, x)


PROGRAMS: dict[str, tuple[Program, list[float]]] = {
    "root": (lambda x: wb.where(x > 0.0, wb.sqrt(x), 0.0), [0, 0, 1 / 4]),
    "on the other side": (lambda x: wb.where(x <= 0.0, 0.0, wb.sqrt(x)), [0, 0, 1 / 4]),
    "logarithm of a root": (lambda x: wb.where(x > 0.0, wb.log(wb.sqrt(x)), 0.0), [0, 0, 1 / 8]),
    "division": (lambda x: wb.where(x <= 0.0, x, 1.0 / x), [1, 1, -1 / 16]),
    "power": (lambda x: wb.where(x > 0.0, x**0.5, x * x), [-2, 0, 1 / 4]),
    "nested": (lambda x: wb.where(x > 0.0, wb.where(x > 5.0, wb.log(x - 4.0), wb.sqrt(x)), 0.0), [0, 0, 1 / 4]),
    "nested inside": (lambda x: wb.where(x > 0.0, wb.sqrt(wb.where(x > 0.0, x, 0.0)), 0.0), [0, 0, 1 / 4]),
    "between other operators": (lambda x: 2.0 * wb.where(x > 0.0, 3.0 * wb.sqrt(x) + x, x) + x, [3, 3, 1.5 + 2 + 1]),
    "a root for two": (shared_root, [1, 1, 1 / 4 + 3 / 4]),
    "a scalar condition": (lambda x: wb.where(np.bool_(False), wb.sqrt(x), x), [1, 1, 1]),
    "a condition of NumPy's": (lambda x: wb.where(X > 0, wb.sqrt(x), 0.0), [0, 0, 1 / 4]),
    "arcsine": (lambda x: wb.where(wb.abs(x) < 1.0, wb.asin(x), 0.0), [0, 1, 0]),
    "a map": (lambda x: wb.where(x > 0.0, wb.map(root_of_cube, x), 0.0), [0, 0, 3.0]),
}  # fmt: skip


@wb.func
def root_of_cube(t: float):
    return wb.sqrt(t * t * t)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", OPTIONS, ids=["kept", "run again", "run again in threes"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_branch_that_is_not_taken_has_no_part(name: str, options: dict[str, Any], device: str) -> None:
    program, expected = PROGRAMS[name]
    x = wb.array(X, device=device, requires_grad=True)
    with wb.Tape(**options) as tape:
        loss = program(x).sum()
    for passes in (1, 2):
        tape.backward(loss)
        np.testing.assert_allclose(x.grad.numpy(), passes * np.float32(expected), rtol=1e-5)


def test_shapes_that_broadcast() -> None:
    """A root of a row is used where some element of its column is chosen; one of a column likewise."""
    row, column = np.float32([0.0, 4.0, 0.0]), np.float32([[0.0], [9.0]])
    chosen = np.array([[False, True, False], [False, True, False]])
    x, y = wb.array(row, requires_grad=True), wb.array(column, requires_grad=True)
    with wb.Tape() as tape:
        loss = wb.where(wb.array(chosen), wb.sqrt(x), 1.0).sum() + wb.where(wb.array(column > 0), wb.sqrt(y), x).sum()
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), [1, 2 / 4 + 1, 1])
    np.testing.assert_allclose(y.grad.numpy(), [[0], [3 / 6]], rtol=1e-6)


def test_what_the_condition_was_and_not_what_it_became() -> None:
    x = wb.array(X, requires_grad=True)
    with wb.Tape() as tape:
        condition = x > 0.0
        loss = wb.where(condition, wb.sqrt(x), 0.0).sum()
        condition.fill_(True)
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [0, 0, 0.25]


def test_what_is_used_elsewhere_too_keeps_its_slope() -> None:
    """The root at 0 is used: its slope is infinite, and says so."""
    x = wb.array(X[1:], requires_grad=True)
    with wb.Tape() as tape:
        root = wb.sqrt(x)
        loss = (wb.where(x > 0.0, root, 0.0) + root).sum()
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [np.inf, 0.5]


def test_a_pass_that_starts_at_what_where_used_too() -> None:
    """Seeds of the root itself reach elements that `where` did not choose."""
    x = wb.array(np.float32([1.0, 4.0]), requires_grad=True)
    with wb.Tape() as tape:
        root = wb.sqrt(x)
        chosen = wb.where(x > 2.0, root, 0.0)
    tape.backward(grads={chosen: np.float32([1, 1]), root: np.float32([1, 1])})
    assert x.grad.numpy().tolist() == [0.5, 0.5]


def test_in_place_and_into_arrays_that_were_there() -> None:
    x, out = wb.array(X, requires_grad=True), wb.zeros(3)
    with wb.Tape() as tape:
        wb.map(wb.sqrt, x, out=out)
        wb.map(wb.sqrt, out, out=out)
        loss = wb.where(x > 0.0, out, 0.0).sum()
        wb.map(wb.sin, x, out=out)
        loss = loss + wb.where(x < 0.0, out, 0.0).sum()
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), [np.cos(-1), 0, 0.25 * 4**-0.75], rtol=1e-5)


def test_vectors() -> None:
    points = np.float32([[0, 0, 0], [3, 4, 0]])
    x = wb.array(points, dtype=wb.vec3, requires_grad=True)
    with wb.Tape() as tape:
        length = wb.length(x)
        loss = wb.where(wb.array([False, True]), wb.sqrt(length), 0.0).sum()
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), [[0, 0, 0], [0.6 / (2 * 5**0.5), 0.8 / (2 * 5**0.5), 0]], rtol=1e-6)


def test_transforms_of_functions() -> None:
    """f = Σ where(x > 0, x^1.5, 0): f' = 1.5 √x, f'' = 0.75 / √x, both 0 elsewhere."""

    def f(x: wb.array) -> wb.array:
        return wb.where(x > 0.0, x * wb.sqrt(x), 0.0).sum()

    x = wb.array(X)
    np.testing.assert_allclose(wb.grad(f)(x).numpy(), [0, 0, 3], rtol=1e-6)
    np.testing.assert_allclose(wb.jvp(f)(x, along=wb.ones(3))[1].numpy(), [3], rtol=1e-6)
    np.testing.assert_allclose(wb.hvp(f)(x, along=wb.ones(3)).numpy(), [0, 0, 0.375], rtol=1e-5)
    np.testing.assert_allclose(wb.grad(lambda x: wb.grad(f)(x).sum())(x).numpy(), [0, 0, 0.375], rtol=1e-5)
    assert wb.jacobian(lambda x: wb.where(x > 0.0, wb.sqrt(x), 0.0))(x).numpy()[2].tolist() == [0, 0, 0.25]


def test_what_explains_gradients_sees_what_the_pass_did() -> None:
    x = wb.array(X, requires_grad=True)
    with wb.Tape() as tape:
        loss = wb.where(x > 0.0, wb.sqrt(x), 0.0).sum()
    tape.backward(loss)
    assert wb.explain_grad(tape, x).state == "fine"


def test_captured() -> None:
    x = wb.array(X, requires_grad=True)
    with wb.capture() as graph:
        with wb.Tape() as tape:
            loss = wb.where(x > 0.0, wb.sqrt(x), 0.0).sum()
        tape.backward(loss)
    for _ in range(2):
        x.grad.zero_()
        graph.launch()
        assert x.grad.numpy().tolist() == [0, 0, 0.25]
