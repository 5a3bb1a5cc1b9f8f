"""A record as a timeline that can be zoomed and looked through."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views.view_data import TimelineView, as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class Timeline(Live):
    """A lane for each device, a bar for each thing that ran.

    Attributes:
        selected: index of the chosen bar; -1 if none is.
    """

    _module = traitlets.Unicode(module_text("timeline")).tag(sync=True)
    _css = style_text("timeline")

    selected = traitlets.Int(-1).tag(sync=True)

    def take(self, view: TimelineView, recorder: Any = None) -> dict[str, Any]:
        """Take a view, in which nothing is chosen; the `recorder` is for pages, which measure again."""
        return {"view": as_data(view), "selected": -1}

    def show(self, view: TimelineView) -> None:
        """Show another record; nothing is chosen then."""
        self.selected = -1
        self.view = as_data(view)
