"""The threads of a launch: the grid, the arrays, and a block step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from kernel_ext.views.programs import threads_view
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text

Follow = Callable[[int], threads_view.ThreadsView]


class ThreadsView(Live):
    """The threads of a launch: what each did, and who touched which element.

    Attributes:
        selected: the step of the block that is shown; -1 is the first one that touches memory.
        at: the thread to point at when it opens, as its block and its number within it, and the step is its last one
            that touches memory; empty: none.
    """

    _module = traitlets.Unicode(module_text("threads_view")).tag(sync=True)
    _css = style_text("threads_view")

    selected = traitlets.Int(-1).tag(sync=True)
    at = traitlets.List(traitlets.Int(), []).tag(sync=True)

    def take(
        self, view: threads_view.ThreadsView, follow: Follow | None = None, at: tuple[int, int] | None = None
    ) -> dict[str, Any]:
        """Take a view; `follow` returns the view from another block on."""
        self._follow = follow
        return {"view": as_data(view), "selected": -1, "at": list(at or ())}

    def on_message(self, content: dict[str, Any]) -> None:
        """Follow blocks from the one of `{ask: "first", block}` on."""
        block = content.get("block")
        if content.get("ask") != "first" or self._follow is None or not isinstance(block, int):
            return
        if 0 <= block < self.view["total"]:
            self.selected, self.at = -1, []
            self.view = as_data(self._follow(block))
