"""An array to look at: plot or image, histogram, numbers; another slice is requested by a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from kernel_ext.views.arrays import array_view
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text

SliceMaker = Callable[[tuple[int, ...]], array_view.ArrayView]


class ArrayView(Live):
    """A line or an image, with marks where an element is NaN or infinite."""

    _module = traitlets.Unicode(module_text("array_view")).tag(sync=True)
    _css = style_text("array_view")

    def take(self, view: array_view.ArrayView, slice_at: SliceMaker | None = None) -> dict[str, Any]:
        """`slice_at` returns the view at other leading indices."""
        self._slice_at = slice_at
        return {"view": as_data(view)}

    def show(self, view: array_view.ArrayView) -> None:
        """Show another array, or the same one after it was written."""
        self.view = as_data(view)

    def hear(self, content: dict[str, Any]) -> None:
        """`{ask: "slice", at}`: show it at other leading indices."""
        slice_at = self._slice_at
        if content.get("ask") != "slice" or slice_at is None:
            return
        at = tuple(int(k) for k in content.get("at") or ())
        if len(at) == len(self.view["sizes"]):
            found = slice_at(at)
            if slice_at is self._slice_at:  # it may have been given something else to show
                self.show(found)
