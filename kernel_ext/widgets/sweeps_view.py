"""A warp forwards and backwards, step by step."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views import sweeps_view
from kernel_ext.views.views import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class SweepsView(Live):
    """A warp forwards and backwards: cotangents fill in as values drain.

    Attributes:
        selected: the step that is shown; -1 is the last one of the forward sweep.
    """

    _module = traitlets.Unicode(module_text("sweeps_view")).tag(sync=True)
    _css = style_text("sweeps_view")

    selected = traitlets.Int(-1).tag(sync=True)

    def take(self, view: sweeps_view.SweepsView) -> dict[str, Any]:
        """A new view begins at the turn."""
        return {"view": as_data(view), "selected": -1}
