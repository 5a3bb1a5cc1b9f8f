"""An animation with play, pause and a slider: the browser requests frames, the kernel makes and keeps them."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views.arrays.animation import Animation as Frames
from kernel_ext.views.arrays.animation import AnimationView
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class Animation(Live):
    """The widget of an animation: frames of a program.

    Attributes:
        answered: number of the browser's last message that was answered; it sends the next one then.
    """

    _module = traitlets.Unicode(module_text("animation")).tag(sync=True)
    _css = style_text("animation")

    answered = traitlets.Int(0).tag(sync=True)

    def take(self, view: AnimationView, frames: Frames | None = None) -> dict[str, Any]:
        """Take a view; `frames` makes and stores its frames."""
        self._frames = frames
        return {"view": as_data(view), "answered": 0}

    def on_message(self, content: dict[str, Any]) -> None:
        """Show the frame `at` that `{ask: "frame", at, number}` requests."""
        frames = self._frames
        if content.get("ask") != "frame" or frames is None:
            return
        view = frames.frame(int(content.get("at") or 0))
        if frames is not self._frames:  # it has been given something else to show
            return
        with self.hold_sync():
            self.view = as_data(view)
            self.answered = int(content.get("number") or 0)

    def latest(self) -> Any:
        """Return the view of the last run."""
        return self._frames.view if self._frames is not None else None
