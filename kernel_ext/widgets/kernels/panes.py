"""Texts about kernels, made when the browser asks: once each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import traitlets

from kernel_ext.views.view_data import PANE_TITLES, PaneView
from kernel_ext.widgets.live import Live

LIVE_PANES = ("source", "ir", "adjoint", "cuda", "llvm", "ptx", "sass", "key")
"""Panes that a widget offers."""
PaneMaker = Callable[[str, str], PaneView]


class PaneWidget(Live):
    """A widget with tabs, whose texts are requested when they are opened.

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
        """Make texts by `make_pane` from now on; the tabs for panes of these names (a difference has its own)."""
        self._texts = _PaneTexts(make_pane)
        return [[name, PANE_TITLES.get(name, name)] for name in names]


class _PaneTexts:
    """The texts that answer `{ask: "pane", kernel, pane}`."""

    def __init__(self, make: PaneMaker | None) -> None:
        """Hold no text yet; `make` returns that of a kernel's pane."""
        self._make = make
        self._made: dict[tuple[str, str], dict[str, Any]] = {}

    def answer(self, content: dict[str, Any]) -> dict[str, Any] | None:
        """Return the text that a message requests; other messages get no answer."""
        if content.get("ask") != "pane" or content.get("pane") not in LIVE_PANES:
            return None
        kernel, name = str(content.get("kernel")), str(content.get("pane"))
        if (kernel, name) not in self._made:
            self._made[kernel, name] = self._text(kernel, name)
        return {"pane": name, "kernel": kernel, **self._made[kernel, name]}

    def _text(self, kernel: str, name: str) -> dict[str, Any]:
        if self._make is None:
            return {"text": "not compiled yet", "first_line": 1}
        try:
            pane = self._make(kernel, name)
        except Exception as error:  # the browser waits for an answer, whatever happened
            return {"text": f"{type(error).__name__}: {error}", "first_line": 1}
        return {"text": pane.text, "first_line": pane.first_line}
