"""Points in a plane or in space, drawn by WebGL where the browser has it."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views.arrays.points_view import PointsView
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class Points(Live):
    """A cloud of points that is turned, moved and enlarged in the browser."""

    _module = traitlets.Unicode(module_text("points")).tag(sync=True)
    _css = style_text("points")

    def take(self, view: PointsView) -> dict[str, Any]:
        """Take a view, which has no questions."""
        return {"view": as_data(view)}
