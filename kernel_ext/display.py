"""Putting views into a cell's output.

The static twin is displayed first, the live card after it; the card hides its twin. So a live notebook shows the card,
and a committed one, a page made from it, or a front end without widgets shows the twin.
"""

from __future__ import annotations

import importlib
import os
import secrets
import time
from collections.abc import Callable
from typing import Any

from IPython.display import display, update_display

from kernel_ext import formats, timeline
from kernel_ext.views import CacheView, InspectView, StatusView, TimelineView

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


def show_timeline(view: TimelineView, widgets: bool = False) -> Any:
    """Display what a recorder holds, with `widgets` as a live timeline; the widget, or None."""
    bundle = {"text/plain": timeline.timeline_text(view), "text/html": timeline.timeline_html(view)}
    made = _widget_class("timeline", "Timeline") if widgets and view.rows else None
    return _show_live(bundle, made and (lambda twin: made(view, twin)))


def _show_live(bundle: dict[str, str], make: Callable[[str], Any] | None) -> Any:
    """Display `bundle`, and after it the widget that `make` gives for the class of output that it hides; the widget."""
    if make is None:
        display(bundle, raw=True)
        return None
    twin = _twin()
    display({**bundle, "text/html": f'<div class="{twin}">{bundle["text/html"]}</div>'}, raw=True)
    widget = make(twin)
    _display_widget(widget)
    return widget


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
