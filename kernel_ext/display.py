"""Putting views into a cell's output.

The static twin is displayed first, the live card after it; the card hides its twin. So a live notebook shows the card,
and a committed one, a page made from it, or a front end without widgets shows the twin.
"""

from __future__ import annotations

import importlib
import os
import secrets
import time
from typing import Any

from IPython.display import display, update_display

from kernel_ext import formats
from kernel_ext.views import CacheView, InspectView, StatusView

_WIDGET = "application/vnd.jupyter.widget-view+json"
_PAUSE = 0.1  # seconds between two pictures of a build that goes on


def widgets_wanted() -> bool:
    """Whether live widgets may be shown: `WORKBENCH_WIDGETS=0` keeps outputs static, for notebooks to be committed."""
    return os.environ.get("WORKBENCH_WIDGETS", "1").lower() not in ("0", "no", "off", "false")


def show_inspect(view: InspectView) -> None:
    """Display a kernel's panes."""
    display({"text/plain": formats.inspect_text(view), "text/html": formats.inspect_html(view)}, raw=True)


def show_cache(view: CacheView) -> None:
    """Display the cache."""
    display({"text/plain": formats.cache_text(view), "text/html": formats.cache_html(view)}, raw=True)


class LiveViews:
    """Widgets of one magic by the name of what they show: the widget of an earlier one of that name is closed."""

    def __init__(self, shell: Any) -> None:
        """For a shell; only one with a front end gets widgets."""
        self._shell = shell
        self._shown: dict[str, Any] = {}

    def show(self, name: str, bundle: dict[str, str], module: str, kind: str, data: Any) -> None:
        """Display `bundle`, and where the front end can have it the widget `kind` of `data`, which hides it.

        Args:
            name: of what is shown.
            bundle: the static twin: text/plain and text/html.
            module: the widget's file in `kernel_ext/widgets`.
            kind: the widget's class.
            data: what the class is made with.
        """
        old = self._shown.pop(name, None)
        if old is not None:
            old.close()
        live = getattr(self._shell, "kernel", None) is not None and widgets_wanted()
        made = _widget_class(module, kind) if live else None
        if made is None:
            display(bundle, raw=True)
            return
        twin = _twin()
        display({**bundle, "text/html": f'<div class="{twin}">{bundle["text/html"]}</div>'}, raw=True)
        self._shown[name] = made(data, twin)
        _display_widget(self._shown[name])

    def close(self) -> None:
        """Close all; their static twins come back."""
        for widget in self._shown.values():
            widget.close()
        self._shown.clear()


def _display_widget(widget: Any) -> None:
    bundle = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    display({_WIDGET: bundle, "text/plain": "", "text/html": "<span></span>"}, raw=True)


def _twin() -> str:
    return f"wb-twin-{secrets.token_hex(6)}"


class StatusDisplay:
    """The status of one running cell: a twin, and a card where the front end can have one.

    Views may come from any thread, but only traits are set from there; `open` and `close` run in the cell's thread.
    """

    def __init__(self, live: bool, quiet: bool = False) -> None:
        """`live`: the front end can change an output later; `quiet`: show nothing at all."""
        self.card: Any = None
        self._live = live
        self._quiet = quiet
        self._twin = _twin()
        self._shown = 0.0

    def open(self, view: StatusView, widgets: bool) -> None:
        """Show that the build has begun; a terminal waits for its end instead."""
        if self._quiet or not self._live:
            return
        self._shown = time.monotonic()
        display(self._bundle(view), raw=True, display_id=self._twin)
        card_class = _widget_class("status_card", "StatusCard") if widgets else None
        if card_class is not None:
            self.card = card_class(view, self._twin)
            _display_widget(self.card)

    def watch(self, view: StatusView) -> None:
        """Show a view of the build going on, if the last one has been seen for a while."""
        now = time.monotonic()
        if self.card is not None and now - self._shown > _PAUSE:
            self._shown = now
            self.card.show(view)

    def close(self, view: StatusView, make_pane: Any = None) -> None:
        """Show the last view."""
        if self._quiet:
            return
        if self._live:
            update_display(self._bundle(view), raw=True, display_id=self._twin)
        else:
            display(self._bundle(view), raw=True)
        if self.card is not None:
            self.card.show(view, make_pane)

    def _bundle(self, view: StatusView) -> dict[str, str]:
        return {"text/plain": formats.status_text(view), "text/html": formats.status_html(view, self._twin)}


def _widget_class(module: str, name: str) -> Any:
    """A widget's class, or None where anywidget is not installed."""
    try:
        return getattr(importlib.import_module(f"kernel_ext.widgets.{module}"), name)
    except ImportError:
        return None
