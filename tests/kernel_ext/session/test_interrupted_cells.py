"""A tape that an interrupted cell left open, because the interrupt came as its `__exit__` began, is closed."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.runtime.active_observers import OBSERVERS


@pytest.fixture
def shell(session: Any) -> Any:
    session.run("%load_ext kernel_ext")
    session.run("import workbench as wb\ndef interrupt(*_):\n    raise KeyboardInterrupt")
    yield session
    session.run("%unload_ext kernel_ext")
    OBSERVERS.set(())


def test_what_an_interrupted_cell_opened_is_closed(shell: Any) -> None:
    shell.run("tape = wb.Tape()\ntape.__enter__()\ninterrupt()")
    assert isinstance(shell.raised, KeyboardInterrupt) and OBSERVERS.get() == ()
    shell.run("x, y = wb.zeros(2), wb.ones(2)\nx.copy_(y)\nassert len(tape) == 0\nwith tape:\n    x.copy_(y)")
    assert shell.raised is None and len(shell.shell.user_ns["tape"]) == 1


def test_what_was_open_before_or_was_not_interrupted_stays_open(shell: Any) -> None:
    shell.run("tape = wb.Tape()\ntape.__enter__()")
    shell.run("with wb.Tape() as other:\n    interrupt()")
    shell.run("raise ValueError")
    assert OBSERVERS.get() == (shell.shell.user_ns["tape"],)
    shell.run("tape.__exit__(None, None, None)")
    assert OBSERVERS.get() == ()
