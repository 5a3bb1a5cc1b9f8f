"""The live status of one `%%kernel` cell.

The kernel pushes the view through a trait; the browser requests a pane's text only when its tab is opened.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import traitlets

from kernel_ext.views.kernels.queries import forget_compiled
from kernel_ext.views.view_data import StatusView, as_data
from kernel_ext.widgets.kernels.panes import LIVE_PANES, PaneMaker, PaneWidget
from kernel_ext.widgets.modules import module_text, style_text


class StatusCard(PaneWidget):
    """The widget of a cell's status: a badge, one line, and what unfolds below it."""

    _module = traitlets.Unicode(module_text("status_card")).tag(sync=True)
    _css = style_text("status_card")

    def take(self, view: StatusView, panes: Iterable[str] = LIVE_PANES) -> dict[str, Any]:
        """Take a view; `panes` are those that it offers once there are texts (`show`)."""
        return {"view": as_data(view), "panes": self.offer(panes or LIVE_PANES, None)}

    def on_message(self, content: dict[str, Any]) -> None:
        """Make JAX forget what it compiled (`{ask: "clear"}`); any other request to a card is for a pane."""
        if content.get("ask") == "clear":
            answer = forget_compiled()
            self.view = {**self.view, "outdated": "", "remarks": [*self.view["remarks"], answer]}
        else:
            super().on_message(content)

    def show(self, view: StatusView, make_pane: PaneMaker | None = None) -> None:
        """Show another view of the same cell; with `make_pane`, which makes a kernel's text, panes are made again."""
        if make_pane is not None:
            self.offer((), make_pane)
        self.view = as_data(view)
