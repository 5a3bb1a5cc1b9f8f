"""A graph of launches that can be looked through: nodes are chosen, and tell what they are and what they wait for."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

import workbench as wb

_STATIC = Path(__file__).parent / "static"


class GraphView(anywidget.AnyWidget):
    """Boxes in layers, lines with the arrays they carry.

    Attributes:
        selected: index of the chosen node; -1 where none is.
    """

    _esm = _STATIC / "graph_view.js"
    _css = _STATIC / "graph_view.css"

    view = traitlets.Dict().tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)

    def __init__(self, graph: wb.Graph, twin: str = "") -> None:
        """`twin` is a class of the static output to hide."""
        super().__init__(view=graph.layout(), twin=twin)

    def show(self, graph: wb.Graph) -> None:
        """Show another graph, or the same one after it was updated or timed; nothing is chosen then."""
        self.selected = -1
        self.view = graph.layout()
