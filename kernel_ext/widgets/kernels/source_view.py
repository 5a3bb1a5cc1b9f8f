"""A kernel's texts side by side: the browser requests those that are opened later."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views.view_data import InspectView, as_data
from kernel_ext.widgets.kernels.panes import LIVE_PANES, PaneMaker, PaneWidget
from kernel_ext.widgets.modules import module_text, style_text


class SourceView(PaneWidget):
    """The widget of a kernel's texts, source, IR, adjoint, CUDA, LLVM, PTX, with linked lines.

    Attributes:
        selected: the chosen line of the cell; 0 if none is.
    """

    _module = traitlets.Unicode(module_text("source_view")).tag(sync=True)
    _css = style_text("source_view")

    selected = traitlets.Int(0).tag(sync=True)

    def take(self, view: InspectView, make_pane: PaneMaker | None = None) -> dict[str, Any]:
        """Take a view, without a chosen line; `make_pane` makes the text of a pane when it is requested."""
        shown = [p.name for p in view.panes]
        names = dict.fromkeys((*shown, *(LIVE_PANES if make_pane else ())))
        return {"view": as_data(view), "panes": self.offer(names, make_pane), "selected": 0}
