"""Sliders of a record or a launch: the browser sends values, the kernel replays and answers with the new view."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views.programs.controls import Bound, ControlsView
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class Controls(Live):
    """A slider a number; a move replays, and compiles nothing.

    Attributes:
        answered: number of the browser's last message that was answered; it sends the next one then.
    """

    _module = traitlets.Unicode(module_text("controls")).tag(sync=True)
    _css = style_text("controls")

    answered = traitlets.Int(0).tag(sync=True)

    def take(self, view: ControlsView, bound: Bound | None = None) -> dict[str, Any]:
        """Take a view; `bound` is what replays."""
        self._bound = bound
        return {"view": as_data(view), "answered": 0}

    def on_message(self, content: dict[str, Any]) -> None:
        """Replay with the values of `{ask: "replay", values, number}`."""
        bound = self._bound
        if content.get("ask") != "replay" or bound is None:
            return
        numbers = {str(n): v for n, v in dict(content.get("values") or {}).items() if isinstance(v, int | float)}
        view = bound.run(numbers)
        if bound is not self._bound:  # it has been given something else to show
            return
        with self.hold_sync():
            self.view = as_data(view)
            self.answered = int(content.get("number") or 0)

    def latest(self) -> Any:
        """Return the view of the last run."""
        return self._bound.view if self._bound is not None else None
