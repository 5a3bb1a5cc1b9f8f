"""Outputs that show what their cell would no longer compute, and sliders, which are what changes most.

The kernels know what they read, and a slider which cells took its value. At the end of each cell, and when a slider was
moved, the outputs of all cells are looked at, so a value that is put back takes the mark away again.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from kernel_ext.output.output_area import note_cell, redraw_views, runs_of_cells, show_here
from workbench import inspect


class Slider(Protocol):
    """Describes the part of a slider that a notebook needs.

    Attributes:
        name: what the notebook calls it.
        is_shown: whether a cell shows it.
    """

    name: str
    is_shown: bool

    @property
    def shown(self) -> Any:
        """The slider's view in a cell."""
        ...

    def peek(self) -> Any:
        """Return the slider's value, without noting that it was read."""
        ...


class Staleness:
    """Marks stale outputs and displays sliders, by methods that are called around each cell."""

    def __init__(self, shell: Any) -> None:
        """Attach to a shell; nothing is registered before `install`."""
        self._shell = shell
        self._begun = 0
        self._added: list[Slider] = []
        self._read: dict[Slider, Any] = {}

    def install(self) -> None:
        """Register `cell_begins` and `cell_ends` with the shell, to be called around each cell from now on."""
        self._shell.events.register("pre_run_cell", self.cell_begins)
        self._shell.events.register("post_run_cell", self.cell_ends)
        NOTEBOOK[:] = [self]

    def remove(self) -> None:
        """Remove `cell_begins` and `cell_ends` from the shell, and take no more notice of sliders."""
        self._shell.events.unregister("pre_run_cell", self.cell_begins)
        self._shell.events.unregister("post_run_cell", self.cell_ends)
        NOTEBOOK.clear()

    def cell_begins(self, *_: Any) -> None:
        """Note which cell begins, and the number of the next launch; forget the sliders of the cell before."""
        note_cell(self._shell)
        self._begun = inspect.next_launch()
        self._added.clear()
        self._read.clear()

    def cell_ends(self, *_: Any) -> None:
        """Show the cell's new sliders, note what its outputs used, and mark the stale outputs of all cells."""
        for slider in self._added:
            if not slider.is_shown and self.name_of(slider):
                show_here(slider.shown)
        running = runs_of_cells(self._shell, marked=bool(self._read))[0]
        if running is not None:
            running.used += inspect.used_since(self._begun)
            running.read = list(self._read.items())
        self.mark()

    def mark(self) -> None:
        """Mark each cell's outputs with the names and sliders that have changed since it ran, or unmark them."""
        names = self._shell.user_ns
        for run in runs_of_cells(self._shell)[1]:
            changed = [name for used in run.uses(names) for name in inspect.changes_of(used, names)]
            moved = [slider.name for slider, value in run.read if self._differs(slider, value)]
            run.mark(stale_words([*changed, *moved]))

    def _differs(self, slider: Slider, value: Any) -> bool:
        """Return whether the slider has another value than `value`, or its name is bound to something else now."""
        return not np.array_equal(slider.peek(), value) or self._shell.user_ns.get(slider.name) is not slider

    # What sliders ask.

    def add(self, slider: Slider) -> None:
        """Show a new slider when its cell ends, unless the cell does."""
        self._added.append(slider)

    def name_of(self, slider: Slider) -> str:
        """Return the public name that the slider is bound to in the notebook; empty if there is none."""
        return next((n for n, v in self._shell.user_ns.items() if v is slider and not n.startswith("_")), "")

    def read(self, slider: Slider) -> None:
        """Note the slider's value when the running cell reads it for the first time."""
        self._read.setdefault(slider, slider.peek())

    def reaches(self, user: Any) -> bool:
        """Return whether a name of the notebook still means this record or launch."""
        return any(v is user for n, v in self._shell.user_ns.items() if not n.startswith("_"))

    def moved(self) -> int:
        """Draw the views of arrays that were written since, and mark what is stale; return how many were drawn."""
        drawn = redraw_views()
        self.mark()
        return drawn


NOTEBOOK: list[Any] = []
"""The notebook that sliders talk to, `Staleness` or what another host has in its place; empty if there is none."""


def stale_words(names: list[str]) -> str:
    """Return `stale: G changed`, with at most three names; empty if there are no names."""
    known = list(dict.fromkeys(names))
    return f"stale: {', '.join(known[:3])}{', …' if len(known) > 3 else ''} changed" if known else ""
