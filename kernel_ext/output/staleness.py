"""Outputs that show what a launch would no longer compute, since a constant, a helper or a kernel has changed.

The kernels know what they read. At the end of each cell the outputs of all cells are looked at, so a value that is put
back takes the mark away again.
"""

from __future__ import annotations

from typing import Any

from kernel_ext.output.output_area import runs_of_cells
from workbench import inspect


class Staleness:
    """Marks live views; `cell_begins` and `cell_ends` are called around each cell."""

    def __init__(self, shell: Any) -> None:
        """For a shell."""
        self._shell = shell
        self._begun = 0

    def install(self) -> None:
        """Look from now on."""
        self._shell.events.register("pre_run_cell", self.cell_begins)
        self._shell.events.register("post_run_cell", self.cell_ends)

    def remove(self) -> None:
        """Look no more."""
        self._shell.events.unregister("pre_run_cell", self.cell_begins)
        self._shell.events.unregister("post_run_cell", self.cell_ends)

    def cell_begins(self, *_: Any) -> None:
        """Note what was launched before."""
        self._begun = inspect.next_launch()

    def cell_ends(self, *_: Any) -> None:
        """Note what this cell's outputs used, and mark those of all cells."""
        names = self._shell.user_ns
        running, runs = runs_of_cells(self._shell)
        if running is not None:
            running.used += inspect.used_since(self._begun)
        for run in runs:
            said = stale_words([name for used in run.uses(names) for name in inspect.changes_of(used, names)])
            for widget in run.widgets:
                if widget.stale != said:
                    widget.stale = said


def stale_words(names: list[str]) -> str:
    """Return `stale: G changed`; empty if nothing did."""
    known = list(dict.fromkeys(names))
    return f"stale: {', '.join(known[:3])}{', …' if len(known) > 3 else ''} changed" if known else ""
