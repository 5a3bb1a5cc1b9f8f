"""A graph of launches that can be looked through: a chosen node shows what it is and what it waits for."""

from __future__ import annotations

from typing import Any

import traitlets

import workbench as wb
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class GraphView(Live):
    """The widget of a graph: boxes in layers, lines with the arrays that they carry.

    Attributes:
        selected: index of the chosen node; -1 if none is.
    """

    _module = traitlets.Unicode(module_text("graph_view")).tag(sync=True)
    _css = style_text("graph_view")

    selected = traitlets.Int(-1).tag(sync=True)

    def take(self, view: dict[str, Any]) -> dict[str, Any]:
        """Take a graph's `layout()`, in which nothing is chosen."""
        return {"view": view, "selected": -1}

    def show(self, graph: wb.Graph) -> None:
        """Show another graph, or the same one after it was updated or timed; nothing is chosen then."""
        self.selected = -1
        self.view = graph.layout()
