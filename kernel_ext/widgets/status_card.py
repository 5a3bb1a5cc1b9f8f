"""The live status of one `%%kernel` cell.

The kernel pushes the view through a trait; the browser asks for a pane's text only when its tab is opened.
"""

from __future__ import annotations

import traitlets

from kernel_ext.views import PANE_TITLES, StatusView, as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text
from kernel_ext.widgets.panes import LIVE_PANES, PaneAnswers, PaneMaker


class StatusCard(Live):
    """State badge, one line, and what unfolds below it."""

    _module = traitlets.Unicode(module_text("status_card")).tag(sync=True)
    _css = style_text("status_card")

    view = traitlets.Dict().tag(sync=True)
    panes = traitlets.List().tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)

    def __init__(self, view: StatusView, twin: str = "", make_pane: PaneMaker | None = None) -> None:
        """`twin` is a class of the static output to hide; `make_pane` makes the text of a kernel's pane when asked."""
        super().__init__(view=as_data(view), twin=twin, panes=[[name, PANE_TITLES[name]] for name in LIVE_PANES])
        self._texts = PaneAnswers(make_pane)
        self.on_msg(lambda _, content, __: self._texts.answer(content, self.send))

    def show(self, view: StatusView, make_pane: PaneMaker | None = None) -> None:
        """Show another view of the same cell; with `make_pane`, panes are made anew."""
        if make_pane is not None:
            self._texts.renew(make_pane)
        self.view = as_data(view)
