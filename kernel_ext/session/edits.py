"""At the end of a cell: which kernels the notebook's names mean now, for JAX programs compiled with older ones.

A kernel cell says so itself; this is for plain cells, which may define kernels by a decorator or change a constant.
"""

from __future__ import annotations

from typing import Any

from workbench.inspect import note_bindings


class Edits:
    """Looks after each cell of a shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def install(self) -> None:
        """Begin."""
        self._shell.events.register("post_run_cell", self.cell_ends)

    def remove(self) -> None:
        """End."""
        self._shell.events.unregister("post_run_cell", self.cell_ends)

    def cell_ends(self, result: Any = None) -> None:
        """Note what the names mean now."""
        number = getattr(result, "execution_count", None) or self._shell.execution_count
        note_bindings(self._shell.user_ns, f"cell [{number}]")
