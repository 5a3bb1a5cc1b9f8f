"""Texts about kernels, made when the browser asks: once each, one at a time.

Under a lock, because ipykernel may call back from another thread while a cell runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from kernel_ext.views import PaneView

LIVE_PANES = ("source", "ir", "adjoint", "cuda", "llvm", "ptx", "sass", "key")
"""Panes that a widget offers."""
PaneMaker = Callable[[str, str], PaneView]


class PaneAnswers:
    """Answers to `{ask: "pane", kernel, pane}`."""

    def __init__(self, make: PaneMaker | None = None) -> None:
        """`make` gives the text of a kernel's pane; without it there is none yet."""
        self._make = make
        self._made: dict[tuple[str, str], dict[str, Any]] = {}
        self._lock = threading.Lock()

    def renew(self, make: PaneMaker) -> None:
        """Make all of them anew from now on."""
        with self._lock:
            self._make = make
            self._made.clear()

    def answer(self, content: Any, send: Callable[[dict[str, Any]], None]) -> None:
        """Send the text that a message asks for; other messages get no answer."""
        if not isinstance(content, dict) or content.get("ask") != "pane" or content.get("pane") not in LIVE_PANES:
            return
        kernel, name = str(content.get("kernel")), str(content.get("pane"))
        with self._lock:
            if (kernel, name) not in self._made:
                self._made[kernel, name] = self._text(kernel, name)
            send({"pane": name, "kernel": kernel, **self._made[kernel, name]})

    def _text(self, kernel: str, name: str) -> dict[str, Any]:
        if self._make is None:
            return {"text": "not compiled yet", "first_line": 1}
        try:
            pane = self._make(kernel, name)
        except Exception as error:  # the browser waits for an answer, whatever happened
            return {"text": f"{type(error).__name__}: {error}", "first_line": 1}
        return {"text": pane.text, "first_line": pane.first_line}
