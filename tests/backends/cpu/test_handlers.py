"""Handlers of operations whose modules are imported at their first call."""

from __future__ import annotations

from importlib import import_module

from workbench.backends.cpu.emit.emit_module import HANDLERS
from workbench.backends.cpu.gang.emit_gang import RULES


def test_handlers_that_are_imported_later_exist() -> None:
    names = {h.__qualname__ for h in (*HANDLERS.values(), *RULES.values()) if "." in h.__qualname__}
    stand_ins = [name.rpartition(".") for name in sorted(names) if "<" not in name]
    assert ("gang.control", ".", "emit_for") in stand_ins
    for module, _, name in stand_ins:
        assert callable(getattr(import_module(f"workbench.backends.cpu.{module}"), name))
