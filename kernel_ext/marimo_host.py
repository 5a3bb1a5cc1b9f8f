"""Serve marimo, which has no magics and runs cells again by itself: values show themselves, and sliders draw.

`import kernel_ext` installs it where marimo is; nothing here imports marimo.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from kernel_ext.output.output_area import redraw_views
from kernel_ext.output.staleness import NOTEBOOK, Slider
from kernel_ext.session.recording import place_label
from kernel_ext.values import Values


class MarimoNotebook:
    """The notebook that sliders see under marimo (`Staleness` in Jupyter): marimo knows which cells to run again."""

    def name_of(self, slider: Slider) -> str:
        """Return the name that the slider is bound to in the notebook; empty if there is none."""
        return next((n for n, v in names().items() if v is slider), "")

    def add(self, slider: Slider) -> None:
        """Do nothing: in marimo a cell shows its slider itself."""

    def read(self, slider: Slider) -> None:
        """Mark nothing."""

    def reaches(self, user: Any) -> bool:
        """Return whether a name still means it: what a cell defined goes when the cell runs again."""
        return True

    def moved(self) -> int:
        """Draw the views of arrays that were written since; return how many were drawn."""
        return redraw_views()


def names() -> dict[str, Any]:
    """Return the notebook's names and what they mean."""
    return vars(sys.modules["__main__"])


def install() -> None:
    """Let values on the last line of a cell show themselves, and sliders draw."""
    Values(SimpleNamespace(user_ns=names()), place_label).install_in_marimo()
    NOTEBOOK[:] = [MarimoNotebook()]
