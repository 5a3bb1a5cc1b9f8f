"""The live status of one `%%kernel` cell.

The kernel pushes the view through a trait; the browser asks for a pane's text only when its tab is opened. The answer
is made under a lock and kept, because ipykernel may call back from another thread while a cell runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from kernel_ext.views import PANE_TITLES, PaneView, StatusView, as_data
from kernel_ext.widgets.modules import module_text, style_text

_LIVE_PANES = ("source", "ir", "adjoint", "cuda", "llvm", "ptx", "key")
PaneMaker = Callable[[str, str], PaneView]


class StatusCard(anywidget.AnyWidget):
    """State badge, one line, and what unfolds below it."""

    _esm = module_text("status_card")
    _css = style_text("status_card")

    view = traitlets.Dict().tag(sync=True)
    panes = traitlets.List().tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)

    def __init__(self, view: StatusView, twin: str = "", make_pane: PaneMaker | None = None) -> None:
        """`twin` is a class of the static output to hide; `make_pane` makes the text of a kernel's pane when asked."""
        super().__init__(view=as_data(view), twin=twin, panes=[[name, PANE_TITLES[name]] for name in _LIVE_PANES])
        self._make_pane = make_pane
        self._made: dict[tuple[str, str], dict[str, Any]] = {}
        self._asking = threading.Lock()
        self.on_msg(self._answer)

    def show(self, view: StatusView, make_pane: PaneMaker | None = None) -> None:
        """Show another view of the same cell; with `make_pane`, panes are made anew."""
        if make_pane is not None:
            with self._asking:
                self._make_pane = make_pane
                self._made.clear()
        self.view = as_data(view)

    def _answer(self, _: Any, content: Any, __: Any) -> None:
        if not isinstance(content, dict) or content.get("ask") != "pane":
            return
        kernel, name = str(content.get("kernel")), str(content.get("pane"))
        if name not in _LIVE_PANES:
            return
        with self._asking:
            if (kernel, name) not in self._made:
                self._made[kernel, name] = self._text(kernel, name)
            self.send({"pane": name, "kernel": kernel, **self._made[kernel, name]})

    def _text(self, kernel: str, name: str) -> dict[str, Any]:
        if self._make_pane is None:
            return {"text": "not compiled yet", "first_line": 1}
        try:
            pane = self._make_pane(kernel, name)
        except Exception as error:  # the browser waits for an answer, whatever happened
            return {"text": f"{type(error).__name__}: {error}", "first_line": 1}
        return {"text": pane.text, "first_line": pane.first_line}
