"""Sliders of a record or a launch: the browser sends values, the kernel replays and answers with the new view."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.controls import Bound, ControlsView
from kernel_ext.views import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class Controls(Live):
    """A slider a number; a move replays, and compiles nothing.

    Attributes:
        answered: number of the browser's last message that was answered; it sends the next one then.
    """

    _module = traitlets.Unicode(module_text("controls")).tag(sync=True)
    _css = style_text("controls")

    view = traitlets.Dict().tag(sync=True)
    answered = traitlets.Int(0).tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)

    def __init__(self, view: ControlsView, twin: str = "", bound: Bound | None = None) -> None:
        """`twin` is a class of the static output to hide; `bound` is what replays."""
        super().__init__(view=as_data(view), twin=twin)
        self._bound = bound
        self.on_msg(self._answer)

    def _answer(self, _: Any, content: Any, __: Any) -> None:
        if not isinstance(content, dict) or content.get("ask") != "replay" or self._bound is None:
            return
        given = {str(n): v for n, v in dict(content.get("values") or {}).items() if isinstance(v, int | float)}
        view = self._bound.run(given)
        with self.hold_sync():
            self.view = as_data(view)
            self.answered = int(content.get("number") or 0)
