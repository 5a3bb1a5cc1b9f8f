"""Something to look at: a view, its static fallback, and, if a front end can have it, the live widget that hides it.

One object serves a cell's last line, `display`, a script's `print`, and front ends that take a widget (`.widget`).
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, MutableMapping
from functools import cached_property
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import msgspec

from kernel_ext.views.view_data import as_json
from kernel_ext.widgets import MODULES

MIME = "application/vnd.workbench+json"
LARGEST = 100_000
"""Bytes of a view that a saved notebook may hold for our own renderer; a larger one is there as a picture only."""
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"

LAID_OUT: WeakKeyDictionary[Any, None] = WeakKeyDictionary()
"""Widgets that a layout or a host displays, not the run of a cell, in the order in which they were created."""

Make = Callable[[Any], str]
"""Returns a static fallback for a view."""


class Shown:
    """Represents a view with its static fallback and, if anywidget is installed, its live widget.

    Attributes:
        kind: the widget's name, in `widgets.MODULES`; in camel case that of its class.
        view: a frozen struct, or JSON values.
        live_parts: what the widget takes besides the view, by name.
        again: returns the view of what it shows as that is now; None if that was not written since, or is gone.
    """

    again: Callable[[], Any] | None = None
    show_here: ClassVar[Callable[[Shown], None]]
    """Displays a view in the running cell: `output_area`, which knows the cells, sets it."""

    def __init__(self, kind: str, view: Any, text: str | Make, html: str | Make, **live: Any) -> None:
        """Store the forms; `text` and `html` may be functions of the view, `live` is what the widget takes as well."""
        self.kind, self.view = kind, view
        self._text, self._html = text, html
        self.live_parts: MutableMapping[str, Any] = live
        self._widget: Any = None

    @cached_property
    def text(self) -> str:
        """The static fallback in ASCII, made when it is first read: a frame of a film needs none."""
        return self._text if isinstance(self._text, str) else self._text(self.view)

    @cached_property
    def html(self) -> str:
        """The static fallback in HTML that an untrusted notebook keeps, made when it is first read."""
        return self._html if isinstance(self._html, str) else self._html(self.view)

    def with_view(self, view: Any) -> Shown:
        """Return the static form of another view of the same kind, such as a later frame."""
        return Shown(self.kind, view, self._text, self._html)

    @property
    def parts(self) -> tuple[Shown, ...]:
        """The views that this view consists of: itself; of a page several."""
        return (self,)

    def data(self) -> dict[str, Any]:
        """Return the view as JSON values."""
        return self.view if isinstance(self.view, dict) else as_json(self.view)

    def bundle(self, twin: str = "") -> dict[str, Any]:
        """Return the static outputs by MIME type; `twin` is a class by which the live widget finds and hides them."""
        html = self.html
        if twin:
            html = f'<div class="{twin}">{html}<style>{hide_dead(twin)}</style></div>'
        bundle: dict[str, Any] = {"text/plain": self.text, "text/html": html}
        content = {"widget": self.kind, "twin": twin, "view": self.data()}
        if len(json.dumps(content)) <= LARGEST:
            bundle[MIME] = content
        return bundle

    def live(self, twin: str = "", spare: list[Any] | None = None) -> Any:
        """Return the widget, one of the `spare` ones or a new one; None if anywidget is not installed."""
        name = "".join(part.capitalize() for part in self.kind.split("_"))
        try:
            widget_class = getattr(importlib.import_module(f"kernel_ext.widgets.{MODULES[self.kind]}"), name)
        except ImportError:
            return None
        spare = spare if spare is not None else []
        for old in spare:
            if isinstance(old, widget_class) and not old.closed:
                spare.remove(old)
                old.renew(self.view, twin, **self.live_parts)
                return old
        return widget_class(self.view, twin, **self.live_parts)

    @property
    def widget(self) -> Any:
        """The live widget, for front ends and layouts that take one: `mo.ui.anywidget(shown.widget)`.

        Raises:
            RuntimeError: anywidget is not installed.
        """
        if self._laid_out() is None:
            raise RuntimeError("a live view needs anywidget: pip install anywidget")
        return self._widget

    def _laid_out(self) -> Any:
        """Return the widget for a layout, or a host that displays it itself; None if anywidget is not installed."""
        if self._widget is None and (widget := self.live()) is not None:
            self._widget, widget.again = widget, self.again
            for old in [one for one in LAID_OUT if one.closed]:  # by the host, whose cell ran again
                LAID_OUT.pop(old, None)
                old.close()
            LAID_OUT[widget] = None
        return self._widget

    def __repr__(self) -> str:
        """Return the static fallback in ASCII."""
        return self.text

    def _repr_html_(self) -> str:
        """Return the static HTML, for front ends that ask for that alone."""
        return self.html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the static outputs by MIME type, with the live widget's model if anywidget is installed."""
        widget = self._laid_out()
        model = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id} if widget else None
        return {**({WIDGET_MIME: model} if model else {}), **self.bundle()}

    def _ipython_display_(self) -> None:
        """Display the view in the running cell; IPython calls this for a cell's last value and in `display`."""
        type(self).show_here(self)

    def _display_(self) -> Any:
        """Return what marimo shows: the widget, or the static fallback if there is none."""
        return self._laid_out() or Still(self.html)


class Still(msgspec.Struct, frozen=True):
    """Represents a piece of HTML as a value that front ends show."""

    html: str

    def _repr_html_(self) -> str:
        """Return the piece of HTML itself."""
        return self.html


def hide_dead(twin: str) -> str:
    """Return a style rule that hides the output after a static fallback unless a live widget is in it."""
    dead = ".jp-OutputArea-child:has(.jupyter-widgets):not(:has(.wb-live))"
    return f".jp-OutputArea-child:has(.{twin}) + {dead} {{ display: none }}"
