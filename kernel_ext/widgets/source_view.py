"""A kernel's texts side by side: the browser asks for those that are opened later."""

from __future__ import annotations

import traitlets

from kernel_ext.views import PANE_TITLES, InspectView, as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text
from kernel_ext.widgets.panes import LIVE_PANES, PaneAnswers, PaneMaker


class SourceView(Live):
    """Source, IR, adjoint, CUDA, LLVM, PTX with linked lines.

    Attributes:
        selected: the chosen line of the cell; 0 where none is.
    """

    _module = traitlets.Unicode(module_text("source_view")).tag(sync=True)
    _css = style_text("source_view")

    view = traitlets.Dict().tag(sync=True)
    panes = traitlets.List().tag(sync=True)
    selected = traitlets.Int(0).tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)

    def __init__(self, view: InspectView, twin: str = "", make_pane: PaneMaker | None = None) -> None:
        """`twin` is a class of the static output to hide; `make_pane` makes the text of a pane when asked."""
        shown = [p.name for p in view.panes]
        names = dict.fromkeys((*shown, *(LIVE_PANES if make_pane else ())))
        panes = [[name, PANE_TITLES[name]] for name in names]
        super().__init__(view=as_data(view), twin=twin, panes=panes)
        self._texts = PaneAnswers(make_pane)
        self.on_msg(lambda _, content, __: self._texts.answer(content, self.send))
