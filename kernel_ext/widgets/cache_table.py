"""The cache as a table that is sorted and searched in the browser; a module is removed by a message to the kernel."""

from __future__ import annotations

import threading
from typing import Any

import traitlets

from kernel_ext import queries
from kernel_ext.views import CacheView, as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text
from workbench.errors import WorkbenchError


class CacheTable(Live):
    """What is cached, how it served, why kernels were built anew.

    Attributes:
        said: what the last message came to.
    """

    _module = traitlets.Unicode(module_text("cache_table")).tag(sync=True)
    _css = style_text("cache_table")

    view = traitlets.Dict().tag(sync=True)
    said = traitlets.Unicode("").tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)

    def __init__(self, view: CacheView, twin: str = "") -> None:
        """`twin` is a class of the static output to hide."""
        super().__init__(view=as_data(view), twin=twin)
        self._asking = threading.Lock()
        self.on_msg(self._answer)

    def _answer(self, _: Any, content: Any, __: Any) -> None:
        ask = content.get("ask") if isinstance(content, dict) else None
        if ask not in ("evict", "look"):
            return
        with self._asking:
            try:
                self.said = queries.cache_remove(str(content.get("digest"))) if ask == "evict" else ""
            except WorkbenchError as error:
                self.said = error.message
            self.view = as_data(queries.cache_view())
