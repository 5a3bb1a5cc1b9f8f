"""A cell that was interrupted leaves no tape open.

Python may raise the interrupt as the `__exit__` of a `with` begins. The tape would then observe every later cell.
"""

from __future__ import annotations

from typing import Any

from workbench.inspect import opened


class Interrupted:
    """Looks at the tapes before and after each cell."""

    def __init__(self, shell: Any) -> None:
        self._events = shell.events
        self._before: tuple[object, ...] = ()

    def install(self) -> None:
        """Look from now on."""
        self._events.register("pre_run_cell", self.cell_begins)
        self._events.register("post_run_cell", self.cell_ends)

    def remove(self) -> None:
        """Look no more."""
        self._events.unregister("pre_run_cell", self.cell_begins)
        self._events.unregister("post_run_cell", self.cell_ends)

    def cell_begins(self, *_: Any) -> None:
        """Note which tapes are open."""
        self._before = opened()

    def cell_ends(self, result: Any) -> None:
        """Close those that an interrupted cell opened."""
        if isinstance(result.error_in_exec, KeyboardInterrupt):
            for tape in reversed(opened()):
                if tape not in self._before:
                    tape.__exit__(None, None, None)
