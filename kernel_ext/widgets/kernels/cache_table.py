"""The cache as a table that is sorted and searched in the browser; a module is removed by a message to the kernel."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views.kernels import queries
from kernel_ext.views.view_data import CacheView, as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text
from workbench.errors import WorkbenchError


class CacheTable(Live):
    """The widget of the cache: what is in it, how it served, why kernels were rebuilt.

    Attributes:
        said: what the last message came to.
    """

    _module = traitlets.Unicode(module_text("cache_table")).tag(sync=True)
    _css = style_text("cache_table")

    said = traitlets.Unicode("").tag(sync=True)

    def take(self, view: CacheView) -> dict[str, Any]:
        """Take a new view, without a message."""
        return {"view": as_data(view), "said": ""}

    def on_message(self, content: dict[str, Any]) -> None:
        """Remove a module (`{ask: "evict", digest}`), or show the cache as it is now (`{ask: "look"}`)."""
        ask = content.get("ask")
        if ask not in ("evict", "look"):
            return
        try:
            self.said = queries.cache_remove(str(content.get("digest"))) if ask == "evict" else ""
        except WorkbenchError as error:
            self.said = error.message
        self.view = as_data(queries.cache_view())
