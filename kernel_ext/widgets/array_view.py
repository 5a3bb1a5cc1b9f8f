"""An array to look at: plot or image, histogram, numbers; another slice is asked for by a message."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import traitlets

from kernel_ext import arrays
from kernel_ext.views import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text

SliceMaker = Callable[[tuple[int, ...]], arrays.ArrayView]


class ArrayView(Live):
    """A line or an image, with marks where an element is NaN or infinite."""

    _module = traitlets.Unicode(module_text("array_view")).tag(sync=True)
    _css = style_text("array_view")

    view = traitlets.Dict().tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)

    def __init__(self, view: arrays.ArrayView, twin: str = "", slice_at: SliceMaker | None = None) -> None:
        """`twin` is a class of the static output to hide; `slice_at` gives the view at other leading indices."""
        super().__init__(view=as_data(view), twin=twin)
        self._slice_at = slice_at
        self._asking = threading.Lock()
        self.on_msg(self._answer)

    def show(self, view: arrays.ArrayView) -> None:
        """Show another array, or the same one after it was written."""
        self.view = as_data(view)

    def _answer(self, _: Any, content: Any, __: Any) -> None:
        if not isinstance(content, dict) or content.get("ask") != "slice" or self._slice_at is None:
            return
        at = tuple(int(k) for k in content.get("at") or ())
        if len(at) == len(self.view["sizes"]):
            with self._asking:
                self.show(self._slice_at(at))
