"""After each cell, notes which kernel each name of the notebook now means, so that stale JAX programs are detected.

`%%kernel` cells report it themselves; this is for plain cells, which may define kernels by a decorator or change a
constant.
"""

from __future__ import annotations

from typing import Any

from workbench.inspect import note_bindings


def note_edits(shell: Any, result: Any = None) -> None:
    """Note what the names mean now."""
    number = getattr(result, "execution_count", None) or shell.execution_count
    note_bindings(shell.user_ns, f"cell [{number}]")
