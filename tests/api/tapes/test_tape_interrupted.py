"""A tape whose `with` is interrupted between two of its instructions: it is closed, and can be opened again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.runtime import active_observers
from workbench.runtime.active_observers import OBSERVERS


@wb.kernel
def squares(x: wb.array[float], total: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(total, 0, x[i] * x[i])


CALLS = ("get on entering", "set on entering", "get on leaving", "set on leaving")


class Interrupted:
    """The observers, with an interrupt before or after one of the calls: Python raises a signal's exception there."""

    def __init__(self, call: str, late: bool) -> None:
        self._left = CALLS.index(call)
        self._late = late

    def __getattr__(self, name: str) -> Any:
        self._left -= 1
        now = self._left == -1
        if now and not self._late:
            raise KeyboardInterrupt
        real = getattr(OBSERVERS, name)

        def call(*arguments: Any) -> Any:
            found = real(*arguments)
            if now:
                raise KeyboardInterrupt
            return found

        return call


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_it_is_closed_and_records_again(call: str, late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    tape, x, total = wb.Tape(), wb.array([1.0, 2.0], requires_grad=True), wb.zeros(1)
    with monkeypatch.context() as patched:
        patched.setattr(active_observers, "OBSERVERS", Interrupted(call, late))
        with pytest.raises(KeyboardInterrupt), tape:
            assert "leaving" in call, "the others come before the block"
    assert OBSERVERS.get() == ()
    with tape:
        wb.launch(squares, 2, [x], [total])
    tape.backward(total)
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])


def test_one_inside_another_leaves_that_open(monkeypatch: pytest.MonkeyPatch) -> None:
    with wb.Tape() as outer:
        with monkeypatch.context() as patched:
            patched.setattr(active_observers, "OBSERVERS", Interrupted("set on entering", late=True))
            with pytest.raises(KeyboardInterrupt), wb.Tape():
                pass
        assert OBSERVERS.get() == (outer,)
