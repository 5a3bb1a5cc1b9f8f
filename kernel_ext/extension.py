"""What loading adds to a shell, and taking all of it back.

What was there before under the same names is kept and returned, so that unloading leaves the shell as it was found.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import workbench as wb
from kernel_ext import queries
from kernel_ext.magics import KernelMagics
from kernel_ext.tracebacks import ShortTracebacks
from workbench import inspect

_KEY = "kernel_ext"


@dataclass(frozen=True)
class _Loaded:
    """What one shell was given, kept in its registry of magics."""

    magics: KernelMagics
    tracebacks: ShortTracebacks
    before: dict[str, dict[str, Any]]
    warming: threading.Thread
    checks: bool


def load(shell: Any) -> None:
    """Register with `shell` (once) and print the greeting."""
    registry = shell.magics_manager.registry
    if _KEY not in registry:
        before = {kind: dict(names) for kind, names in shell.magics_manager.magics.items()}
        magics = KernelMagics(shell)
        shell.register_magics(magics)
        tracebacks = ShortTracebacks(shell)
        tracebacks.install()
        warming = threading.Thread(target=inspect.warm, name="workbench-warm", daemon=True)
        registry[_KEY] = _Loaded(magics, tracebacks, before, warming, wb.set_checks(True))
        warming.start()
    print(queries.greeting())


def unload(shell: Any) -> None:
    """Take back what `load` added to `shell`; without it, nothing happens."""
    manager = shell.magics_manager
    loaded = manager.registry.pop(_KEY, None)
    if loaded is None:
        return
    manager.registry.pop(type(loaded.magics).__name__, None)
    for kind, names in loaded.magics.magics.items():
        for name in names:
            manager.magics[kind].pop(name, None)
            if name in loaded.before[kind]:
                manager.magics[kind][name] = loaded.before[kind][name]
    if loaded.magics in shell.configurables:
        shell.configurables.remove(loaded.magics)
    loaded.tracebacks.remove()
    loaded.magics.close()
    wb.set_checks(loaded.checks)
    loaded.warming.join()
