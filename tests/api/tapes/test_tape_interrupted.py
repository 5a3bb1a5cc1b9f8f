"""A tape whose `with` is interrupted between two of its instructions: it is closed, and can be opened again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.launching import opened


@wb.kernel
def squares(x: wb.array[float], total: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(total, 0, x[i] * x[i])


class Interrupted:
    """The observers, with an interrupt after each call of one method: Python raises a signal's exception there."""

    def __init__(self, method: str) -> None:
        self._method = method

    def __getattr__(self, name: str) -> Any:
        real = getattr(OBSERVERS, name)

        def call(*arguments: Any) -> Any:
            found = real(*arguments)
            if name == self._method and (name != "set" or arguments[0]):
                raise KeyboardInterrupt
            return found

        return call


@pytest.mark.parametrize("method", ["get", "set", "reset"])
def test_it_is_closed_and_records_again(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tape, x, total = wb.Tape(), wb.array([1.0, 2.0], requires_grad=True), wb.zeros(1)
    with monkeypatch.context() as patched:
        patched.setattr(opened, "OBSERVERS", Interrupted(method))
        with pytest.raises(KeyboardInterrupt), tape:
            assert method == "reset", "the others come before the block"
    assert OBSERVERS.get() == ()
    with tape:
        wb.launch(squares, 2, [x], [total])
    tape.backward(total)
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])


def test_one_inside_another_leaves_that_open(monkeypatch: pytest.MonkeyPatch) -> None:
    with wb.Tape() as outer:
        with monkeypatch.context() as patched:
            patched.setattr(opened, "OBSERVERS", Interrupted("set"))
            with pytest.raises(KeyboardInterrupt), wb.Tape():
                pass
        assert OBSERVERS.get() == (outer,)
