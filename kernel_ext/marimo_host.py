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
    """Stands for the notebook that sliders talk to (in Jupyter `Staleness`): marimo itself reruns cells."""

    def name_of(self, slider: Slider) -> str:
        """Return the name that the slider is bound to in the notebook; empty if there is none."""
        return next((n for n, v in names().items() if v is slider), "")

    def add(self, slider: Slider) -> None:
        """Do nothing: in marimo a cell shows its slider itself."""

    def read(self, slider: Slider) -> None:
        """Do nothing: marimo marks no output."""

    def reaches(self, user: Any) -> bool:
        """Return True: in marimo what a cell defined goes when the cell runs again, so all that is left is in use."""
        return True

    def moved(self) -> int:
        """Draw the views of arrays that were written since; return how many were drawn."""
        return redraw_views()


def names() -> dict[str, Any]:
    """Return the live dict of the notebook's global names, that of `__main__`."""
    return vars(sys.modules["__main__"])


def install() -> None:
    """Let Workbench's values end marimo cells as views, and let sliders that move redraw views."""
    Values(SimpleNamespace(user_ns=names()), place_label).install_in_marimo()
    NOTEBOOK[:] = [MarimoNotebook()]
