"""Arrays that are created while a tape records: creation overwrites nothing, so a gradient by them is theirs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb

DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))
SOURCE = np.float32([1.0, -2.0, 3.0, 0.5])
Make = Callable[[str], wb.array]

MAKERS: dict[str, Make] = {
    "zeros": lambda device: wb.zeros(4, device=device, requires_grad=True),
    "ones": lambda device: wb.ones(4, device=device, requires_grad=True),
    "full": lambda device: wb.full(4, -1.5, device=device, requires_grad=True),
    "zeros_like": lambda device: wb.zeros_like(wb.array(SOURCE, device=device), requires_grad=True),
    "ones_like": lambda device: wb.ones_like(wb.array(SOURCE, device=device), requires_grad=True),
    "full_like": lambda device: wb.full_like(wb.array(SOURCE, device=device), 2.0, requires_grad=True),
    "empty and fill_": lambda device: wb.empty(4, device=device, requires_grad=True).fill_(3.0),
    "shape": lambda device: wb.array(shape=4, device=device, requires_grad=True),
    "array": lambda device: wb.array(SOURCE, device=device, requires_grad=True),
    "array of an array": lambda device: wb.array(wb.array(SOURCE, device=device), requires_grad=True),
    "clone": lambda device: wb.clone(wb.array(SOURCE, device=device), requires_grad=True),
    "copy": lambda device: copy.copy(wb.array(SOURCE, device=device, requires_grad=True)),
}


# A copied array brings its gradient, which is then state of the program that backward() changes: not to be run again.
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("name", "options"),
    [(name, {}) for name in MAKERS] + [(name, {"checkpoint_every": 2}) for name in MAKERS if name != "copy"],
)
def test_the_gradient_by_a_leaf_made_inside_the_tape(name: str, options: dict[str, Any], device: str) -> None:
    """Σ (x + 1)² has the gradient 2 (x + 1); two passes add up."""
    with wb.Tape(**options) as tape:
        x = MAKERS[name](device)
        loss = ((x + 1) * (x + 1)).sum()
    for passes in (1, 2):
        tape.backward(loss)
        assert np.array_equal(x.grad.numpy(), passes * 2 * (x.numpy() + 1)), name


def test_what_explains_gradients_finds_nothing_wrong_with_such_a_leaf() -> None:
    with wb.Tape() as tape:
        x = wb.ones(4, requires_grad=True)
        loss = (x * x).sum()
    tape.backward(loss)
    assert wb.explain_grad(tape, x).state == "fine"


def test_a_clone_has_a_gradient_and_carries_it_to_its_source() -> None:
    source = wb.array(SOURCE, requires_grad=True)
    with wb.Tape() as tape:
        x = wb.clone(source, requires_grad=True)
        loss = (x * x).sum() + source.sum()
    tape.backward(loss)
    assert np.array_equal(x.grad.numpy(), 2 * SOURCE)
    assert np.array_equal(source.grad.numpy(), 2 * SOURCE + 1)


@pytest.mark.parametrize("options", [{}, {"checkpoint_every": 2}], ids=["kept", "run again"])
@pytest.mark.parametrize("change", ["fill_", "zero_", "copy_", "item"])
def test_an_older_array_is_overwritten(change: str, options: dict[str, Any]) -> None:
    """Σ x² + Σ 3x, where x changes between the sums: only the first of them depends on what x held."""
    x = wb.array(SOURCE, requires_grad=True)
    with wb.Tape(**options) as tape:
        loss = (x * x).sum()
        if change == "item":
            x[:] = 2.0
        else:
            getattr(x, change)(*{"fill_": (2.0,), "zero_": (), "copy_": (wb.ones(4),)}[change])
        loss = loss + (x * 3).sum()
    tape.backward(loss)
    assert np.array_equal(x.grad.numpy(), 2 * SOURCE)


def test_the_second_fill_of_an_array_made_inside_overwrites_the_first() -> None:
    with wb.Tape() as tape:
        x = wb.ones(4, requires_grad=True)
        first = (x * 5).sum()
        x.fill_(2.0)
        loss = first + (x * x).sum()
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [5, 5, 5, 5]


def test_what_numpy_has_written_to_is_older() -> None:
    x = wb.empty(4, requires_grad=True)
    x.numpy()[:] = SOURCE
    with wb.Tape() as tape:
        x.fill_(2.0)
        loss = (x * x).sum()
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [0, 0, 0, 0]


def test_derivatives_of_a_function_that_creates_arrays() -> None:
    """f(x) = Σ (x + c)³ with c = clone(1): f' = 3 (x + 1)², f'' = 6 (x + 1)."""

    def f(x: wb.array) -> wb.array:
        shift = wb.clone(wb.ones_like(x))
        return ((x + shift) ** 3).sum()

    x, along = wb.array(SOURCE), wb.ones(4)
    np.testing.assert_allclose(wb.grad(f)(x).numpy(), 3 * (SOURCE + 1) ** 2, rtol=1e-5)
    np.testing.assert_allclose(wb.hvp(f)(x, along=along).numpy(), 6 * (SOURCE + 1), rtol=1e-5)
    np.testing.assert_allclose(wb.grad(lambda x: wb.grad(f)(x).sum())(x).numpy(), 6 * (SOURCE + 1), rtol=1e-5)
    np.testing.assert_allclose(wb.jvp(f)(x, along=along)[1].numpy(), [(3 * (SOURCE + 1) ** 2).sum()], rtol=1e-5)


def test_a_captured_step_creates_again() -> None:
    """A graph fills its accumulator at each launch, and the gradient of the leaf made inside is the same again."""
    with wb.capture() as graph:
        with wb.Tape() as tape:
            x = wb.full(4, 3.0, requires_grad=True)
            loss = (x * x).sum()
        tape.backward(loss)
    for _ in range(2):
        graph.launch()
        assert float(loss) == 36
    assert x.grad.numpy().tolist() == [6, 6, 6, 6]  # the gradient itself was created, as zeros, inside
