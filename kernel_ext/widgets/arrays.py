"""Widgets of arrays: values and images, clouds of points, animations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from kernel_ext.views.arrays import animation, array_view
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Answering, Live

ThreadsMaker = Callable[[int], dict[str, Any]]
SliceMaker = Callable[[tuple[int, ...], str], array_view.ArrayView]


class Animation(Answering):
    """Displays frames of a program, with play, pause and a slider: the kernel makes what the browser requests."""

    kind = "animation"

    source: animation.Animation | None

    def on_message(self, content: dict[str, Any]) -> None:
        """Show the frame `at` that the message number `number`, `{ask: "frame", at, number}`, requests."""
        if content.get("ask") == "frame" and (frames := self.source) is not None:
            self.answer(content, frames.frame(int(content.get("at") or 0)), frames)


class ArrayView(Live):
    """Displays an array as plot or image, histogram and numbers, with marks where an element is NaN or infinite."""

    kind = "array_view"

    asks_threads = traitlets.Bool(False).tag(sync=True)
    threads = traitlets.Dict().tag(sync=True)

    def take(
        self, view: array_view.ArrayView, slice_at: SliceMaker | None = None, threads_at: ThreadsMaker | None = None
    ) -> dict[str, Any]:
        """Store what answers messages, and return the traits that show the view.

        `slice_at` draws other indices or a field, `threads_at` follows threads that touched the array, from a block on.
        """
        self._slice_at, self._threads_at = slice_at, threads_at
        return {"view": as_data(view), "asks_threads": threads_at is not None, "threads": {}}

    def on_message(self, content: dict[str, Any]) -> None:
        """Show what a message requests: `{ask: "slice", at, field}` or `{ask: "threads", block}`.

        The threads are those of the last launch that was given the array.
        """
        slice_at, threads_at = self._slice_at, self._threads_at
        if content.get("ask") == "threads" and threads_at is not None:
            threads = threads_at(int(content.get("block") or 0))
            if threads_at is self._threads_at:
                self.threads = threads
        if content.get("ask") != "slice" or slice_at is None:
            return
        at = tuple(int(k) for k in content.get("at") or ())
        field = str(content.get("field") or "")
        if len(at) == len(self.view["sizes"]) and field in ("", *self.view["fields"]):
            view = slice_at(at, field)
            if slice_at is self._slice_at:  # it may have been given something else to show
                self.show(view)


class Points(Live):
    """Displays a cloud of points that is turned, moved and enlarged in the browser, by WebGL if available."""

    kind = "points"
