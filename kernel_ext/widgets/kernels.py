"""Widgets of kernels: the status of a cell, texts side by side, the cache.

The browser requests a text only when its tab is opened; each is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import traitlets

from kernel_ext.views.kernels import queries
from kernel_ext.views.view_data import PANE_TITLES, CacheView, InspectView, PaneView, StatusView, as_data
from kernel_ext.widgets.live import Live
from workbench.errors import WorkbenchError

LIVE_PANES = ("source", "ir", "adjoint", "cuda", "llvm", "ptx", "sass", "key")
"""Panes that a widget offers."""
PaneMaker = Callable[[str, str], PaneView]


class PaneWidget(Live):
    """The base of widgets with tabs, whose texts are requested when they are opened.

    Attributes:
        panes: the tabs, as pairs of name and title.
    """

    panes = traitlets.List().tag(sync=True)

    def on_message(self, content: dict[str, Any]) -> None:
        """Send the text that `{ask: "pane", kernel, pane}` requests."""
        texts = self._texts
        answer = texts.answer(content)
        if answer is not None and texts is self._texts:  # it may have been given something else to show
            self.send(answer)

    def offer(self, names: Iterable[str], make_pane: PaneMaker | None) -> list[list[str]]:
        """Make texts by `make_pane` from now on; return the tabs of the panes `names`: pairs of name and title."""
        self._texts = _PaneTexts(make_pane)
        return [[name, PANE_TITLES.get(name, name)] for name in names]


class _PaneTexts:
    """Makes and keeps the texts that answer `{ask: "pane", kernel, pane}`."""

    def __init__(self, make: PaneMaker | None) -> None:
        """Start without texts; `make` returns that of a kernel's pane, None: it is not compiled yet."""
        self._make = make
        self._pane_texts: dict[tuple[str, str], dict[str, Any]] = {}

    def answer(self, content: dict[str, Any]) -> dict[str, Any] | None:
        """Return the text that a message requests, as the message to send back; None for any other message."""
        if content.get("ask") != "pane" or content.get("pane") not in LIVE_PANES:
            return None
        kernel, name = str(content.get("kernel")), str(content.get("pane"))
        if (kernel, name) not in self._pane_texts:
            self._pane_texts[kernel, name] = self._text(kernel, name)
        return {"pane": name, "kernel": kernel, **self._pane_texts[kernel, name]}

    def _text(self, kernel: str, name: str) -> dict[str, Any]:
        """Return the text of a kernel's pane and the number of its first line; if it cannot be had, the reason."""
        if self._make is None:
            return {"text": "not compiled yet", "first_line": 1}
        try:
            pane = self._make(kernel, name)
        except Exception as error:  # the browser waits for an answer, whatever happened
            return {"text": f"{type(error).__name__}: {error}", "first_line": 1}
        return {"text": pane.text, "first_line": pane.first_line}


class SourceView(PaneWidget):
    """Displays a kernel's texts, source, IR, adjoint, CUDA, LLVM, PTX, with linked lines.

    Attributes:
        selected: the chosen line of the cell; 0 if none is.
    """

    kind = "source_view"

    selected = traitlets.Int(0).tag(sync=True)

    def take(self, view: InspectView, make_pane: PaneMaker | None = None) -> dict[str, Any]:
        """Return the traits that show a view, with no line chosen; `make_pane` makes a pane's text on request."""
        shown = [p.name for p in view.panes]
        names = dict.fromkeys((*shown, *(LIVE_PANES if make_pane else ())))
        return {"view": as_data(view), "panes": self.offer(names, make_pane), "selected": 0}


class StatusCard(PaneWidget):
    """Displays a `%%kernel` cell's status: a badge, one line, and what unfolds below it."""

    kind = "status_card"

    def take(self, view: StatusView, panes: Iterable[str] = LIVE_PANES) -> dict[str, Any]:
        """Return the traits that show a view; `panes` are those that the card offers once there are texts (`show`)."""
        return {"view": as_data(view), "panes": self.offer(panes or LIVE_PANES, None)}

    def on_message(self, content: dict[str, Any]) -> None:
        """Clear JAX's compiled programs for `{ask: "clear"}`; answer any other request as one for a pane."""
        if content.get("ask") == "clear":
            answer = queries.forget_compiled()
            view: Any = self.view
            self.view = {**view, "outdated": "", "remarks": [*view["remarks"], answer]}
        else:
            super().on_message(content)

    def show(self, view: StatusView, make_pane: PaneMaker | None = None) -> None:
        """Show another view of the same cell; `make_pane`, if given, makes the texts of its kernels from now on."""
        if make_pane is not None:
            self.offer((), make_pane)
        super().show(view)


class CacheTable(Live):
    """Displays the cache as a table, sorted and searched in the browser: contents, hits, reasons of rebuilds.

    Attributes:
        said: a sentence on what the last message did; empty if there is none.
    """

    kind = "cache_table"

    said = traitlets.Unicode("").tag(sync=True)

    def take(self, view: CacheView) -> dict[str, Any]:
        """Return the traits that show a view, without a sentence on a message."""
        return {"view": as_data(view), "said": ""}

    def on_message(self, content: dict[str, Any]) -> None:
        """Remove the module of `{ask: "evict", digest}`, then, as for `{ask: "look"}`, show the cache as it is now."""
        ask = content.get("ask")
        if ask not in ("evict", "look"):
            return
        try:
            self.said = queries.cache_remove(str(content.get("digest"))) if ask == "evict" else ""
        except WorkbenchError as error:
            self.said = error.message
        self.show(queries.cache_view())
