"""Putting views into a cell's output.

The static fallback is displayed first, the live card after it; the card hides its fallback. So a live notebook shows
the card, and a committed one, a page made from it, or a front end without widgets shows the fallback.
"""

from __future__ import annotations

import os
import secrets
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from IPython.core.getipython import get_ipython
from IPython.display import display, update_display

from kernel_ext.output.renderable import LAID_OUT, MIME, WIDGET_MIME, Shown
from kernel_ext.views import html
from kernel_ext.views.kernels import renderers
from kernel_ext.views.view_data import StatusView

_PAUSE = 0.1  # seconds between two pictures of a build that goes on


def widgets_wanted() -> bool:
    """Return whether live widgets may be shown: `WORKBENCH_WIDGETS=0` keeps outputs static, for commits."""
    return os.environ.get("WORKBENCH_WIDGETS", "1").lower() not in ("0", "no", "off", "false")


class _Run(msgspec.Struct):
    """Represents the outputs of one run of a cell.

    Attributes:
        message: the id of the front end's message that ran the cell.
        spare: widgets of the cell's run before that this one has not shown again. A front end clears a cell's outputs
            before it runs, and keeps something of each widget that ever was, so they are used again.
        widgets: those shown in this run.
        views: what it showed, for an export.
        used: what ran of each kernel that it launched, or that wrote an array that it showed.
        read: the sliders whose values it took, each with the value.
        static: its outputs without a widget, by display id; None for one that only ever holds a mark.
        shown_reason: the text of its marks; empty if it has none.
    """

    message: str
    spare: list[Any]
    widgets: list[Any] = msgspec.field(default_factory=list)
    views: list[Shown] = msgspec.field(default_factory=list)
    used: list[Any] = msgspec.field(default_factory=list)
    read: list[tuple[Any, Any]] = msgspec.field(default_factory=list)
    static: dict[str, Shown | None] = msgspec.field(default_factory=dict)
    shown_reason: str = ""

    def mark(self, reason: str) -> None:
        """Show above the run's outputs why they are stale; an empty reason removes the mark."""
        for widget in self.widgets:
            if widget.stale != reason:
                widget.stale = reason
        if reason != self.shown_reason:
            for twin, shown in self.static.items():
                update_display(_marked(shown, reason), raw=True, display_id=twin)
        self.shown_reason = reason

    def uses(self, namespace: Mapping[str, Any]) -> list[Any]:
        """Return what ran of the kernels that made these outputs, as far as that was noted.

        If nothing was, return what ran last of each kernel on the run's card, by its name in the namespace.
        """
        cards = [name for shown in self.views if shown.kind == "status_card" for name in shown.view.kernels]
        return self.used or [used for name in cards if (used := getattr(namespace.get(name), "used", None)) is not None]

    def show_static(self, shown: Shown | None, shell: Any) -> None:
        """Display a view without its widget, or an empty output, such that a front end can mark it later."""
        twin = _twin() if getattr(shell, "kernel", None) is not None else None
        if twin is not None:
            self.static[twin] = shown
        display(_marked(shown, ""), raw=True, display_id=twin)

    def live(self, shown: Shown, twin: str) -> Showing | None:
        """Return the showing of a view's widget, a spare one or a new one, which is not displayed yet.

        None if anywidget is not installed.
        """
        widget = shown.live(twin, self.spare)
        if widget is None:
            return None
        self.widgets.append(widget)
        return Showing(widget, twin)


def _marked(shown: Shown | None, reason: str) -> dict[str, Any]:
    """Return the static outputs of a view by MIME type, below a line that says why they are stale.

    Without a reason there is no such line; a view None stands for an empty output.
    """
    bundle = shown.bundle() if shown is not None else {"text/plain": "", "text/html": "<span></span>"}
    if reason:
        text = f"{reason} · run the cell again\n{bundle['text/plain']}"
        bundle |= {"text/plain": text, "text/html": html.stale(reason) + bundle["text/html"]}
        bundle.pop(MIME, None)
    return bundle


class Showing(msgspec.Struct, frozen=True):
    """Represents one showing of a widget; a later run of its cell may show something else with it."""

    widget: Any
    twin: str

    @property
    def lasts(self) -> bool:
        """Return whether the widget still shows this view, and no later one of the cell."""
        return self.widget.twin == self.twin

    def close(self) -> None:
        """Close the widget if it still shows this; its static fallback comes back."""
        if self.lasts:
            self.widget.close()


_RUNS: dict[str, _Run] = {}
"""The last run of each cell; where a front end gives cells no identity, of each text of a cell."""
_MOST = 500  # runs kept
_COUNTS: dict[int, tuple[str, str]] = {}
"""By execution count: the cell, and the message that ran it."""


def show_here(shown: Shown) -> None:
    """Display a view in the running cell, with a widget of the cell's earlier run where one fits."""
    show_and_keep(shown, get_ipython())


Shown.show_here = show_here


def session_views() -> list[Shown]:
    """Return everything that the last run of each cell showed, in the order of these runs."""
    return [shown for run in _RUNS.values() for shown in run.views]


def note_cell(shell: Any) -> None:
    """Record which cell begins to run, by its execution count."""
    header = getattr(shell, "parent_header", None)
    cell, _, message = _running(shell) if header else (secrets.token_hex(6), False, "")
    _COUNTS[len(shell.history_manager.input_hist_raw)] = cell, message


def runs_by_count() -> dict[int, tuple[str, tuple[Shown, ...]]]:
    """Return the runs of cells by execution count: the cell's identity, and its views if that is its last run."""
    runs = {(cell, run.message): tuple(run.views) for cell, run in _RUNS.items()}
    return {count: (cell, runs.get((cell, message), ())) for count, (cell, message) in _COUNTS.items()}


def forget_session() -> None:
    """Forget the outputs of all cells of this session, so that an export begins anew."""
    _RUNS.clear()
    _COUNTS.clear()


def runs_of_cells(shell: Any, marked: bool = False) -> tuple[_Run | None, list[_Run]]:
    """Return the run of the cell that is running, and the last runs of all cells.

    The first is None if the cell has shown nothing yet, unless `marked` makes it show something.

    Args:
        shell: whose cell runs.
        marked: if it showed nothing, give it an empty output that can be marked later.
    """
    cell, _, message = _running(shell)
    run = _RUNS.get(cell)
    run = run if run is not None and run.message == message else None
    if marked and getattr(shell, "kernel", None) is not None and not (run and (run.widgets or run.static)):
        run = _run(shell)
        run.show_static(None, shell)
    return run, list(_RUNS.values())


def _running(shell: Any) -> tuple[str, bool, str]:
    """Return the running cell's identity, whether the front end gave it, and the id of the message that runs it."""
    header = getattr(shell, "parent_header", None) or {}
    identity = (header.get("metadata") or {}).get("cellId")
    code = (header.get("content") or {}).get("code")
    begun, _ = next(reversed(_COUNTS.values()), (secrets.token_hex(6), ""))  # what a shell without messages runs
    cell = str(identity or (f"text {code}" if code else begun))
    return cell, bool(identity), str((header.get("header") or {}).get("msg_id") or "")


def _run(shell: Any) -> _Run:
    """Return the record of the running cell's outputs, a new one in the first call of a run.

    The record of an earlier run of the same cell is ended; the new one takes over its widgets if the cell is known
    to be the same. The oldest records are dropped, and their widgets closed, when there are too many.
    """
    cell, identity, message = _running(shell)
    spare: list[Any] = []
    if cell in _RUNS and _RUNS[cell].message != message:
        before = _RUNS.pop(cell)
        _close(*before.spare)
        if identity:
            spare = before.widgets
        else:  # it may be another cell with the same text, whose output must not show what this one does
            _close(*before.widgets)
    while cell not in _RUNS and len(_RUNS) >= _MOST:
        before = _RUNS.pop(next(iter(_RUNS)))
        _close(*before.spare, *before.widgets)
    return _RUNS.setdefault(cell, _Run(message, spare))


def _close(*widgets: Any) -> None:
    """Close these widgets; the static fallbacks that they hide come back."""
    for widget in widgets:
        widget.close()


def _note(shown: Shown, run: _Run) -> None:
    """Append a view, or the views of a page, to what a run has shown, for an export.

    Arrays and what else their widgets take are held weakly.
    """
    from kernel_ext.output.computed import subject_of

    for part in shown.parts:
        live = {name: value for name, value in part.live_parts.items() if hasattr(value, "__weakref__")}
        stored = Shown(part.kind, part.view, part.text, part.html if subject_of(live) else "")
        stored.live_parts = weakref.WeakValueDictionary(live)
        run.views.append(stored)


def show_and_keep(shown: Shown, shell: Any) -> Showing | None:
    """Display a view: its static fallback and, if the front end can have it, the widget, which hides the fallback.

    Returns:
        The widget's showing; None if there is only the fallback.
    """
    run = _run(shell)
    _note(shown, run)
    follow = shown.live_parts.get("threads_at")
    if follow is not None and (used := follow.last.kernel.used) is not None:
        run.used.append(used)
    twin = _twin()
    live = getattr(shell, "kernel", None) is not None and widgets_wanted()
    showing = run.live(shown, twin) if live else None
    if showing is None:
        run.show_static(shown, shell)
        return None
    display(shown.bundle(twin), raw=True, display_id=twin)
    showing.widget.again, showing.widget.rested = shown.again, partial(_draw_again, shown, twin)
    _display_widget(showing.widget)
    return showing


def _draw_again(shown: Shown, twin: str, view: Any) -> None:
    """Put a later view into the static fallback, which is what a saved notebook shows; None leaves that as it is.

    Then the static fallbacks of other widgets that were redrawn meanwhile are brought up to date, too.
    """
    if view is not None:
        update_display(shown.with_view(view).bundle(twin), raw=True, display_id=twin)
    while _REDRAWN:  # what it drew again besides itself rests, too
        widget, later = _REDRAWN.popitem()[1]
        widget.rested(later)


_REDRAWN: dict[int, tuple[Any, Any]] = {}
"""Widgets that were drawn again, each with its view, while their static fallbacks show an earlier one."""


def redraw_views() -> int:
    """Draw again what live views show of arrays that were written since; return how many views that were."""
    widgets = [*(widget for run in _RUNS.values() for widget in run.widgets), *LAID_OUT]
    drawn = [(widget, view) for widget in widgets if (view := widget.redraw()) is not None]
    _REDRAWN.update({id(widget): (widget, view) for widget, view in drawn if widget.rested is not None})
    return len(drawn)


class LiveViews:
    """Holds the widgets of one magic, by name: a new widget closes the earlier one of its name."""

    def __init__(self, shell: Any) -> None:
        """Attach to a shell; only one with a front end gets widgets."""
        self._shell = shell
        self._shown: dict[str, Showing] = {}

    def show(self, name: str, shown: Shown) -> None:
        """Display a view under a name, and close the earlier one of that name."""
        old = self._shown.pop(name, None)
        showing = show_and_keep(shown, self._shell)
        if old is not None:
            old.close()
        if showing is not None:
            self._shown[name] = showing

    def close(self) -> None:
        """Close all widgets; their static fallbacks come back."""
        for showing in self._shown.values():
            showing.close()
        self._shown.clear()


def _display_widget(widget: Any) -> None:
    """Display a widget in the running cell, with an empty text and empty HTML for front ends without widgets."""
    bundle = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    display({WIDGET_MIME: bundle, "text/plain": "", "text/html": "<span></span>"}, raw=True)


def _twin() -> str:
    """Return a new random id that pairs a static output with the live widget that hides it."""
    return f"wb-twin-{secrets.token_hex(6)}"


class StatusDisplay:
    """Displays the status of one running cell: a static fallback and, if the front end can have one, a card.

    Views may come from any thread, but only traits are set from there; `open` and `close` run in the cell's thread.
    """

    def __init__(self, live: bool, quiet: bool = False) -> None:
        """Make an empty display; `live`: the front end can change an output later; `quiet`: show nothing at all."""
        self.card: Showing | None = None
        self._live = live
        self._quiet = quiet
        self._twin = _twin()
        self._shown = 0.0
        self._run: _Run | None = None

    def open(self, view: StatusView, widgets: bool, panes: Sequence[str] = ()) -> None:
        """Show that the build has begun; a terminal waits for its end instead. `panes`: those that a card offers."""
        if self._quiet:
            return
        self._run = _run(get_ipython())
        if not self._live:
            return
        self._shown = time.monotonic()
        self.card = self._run.live(self._as_shown(view, panes=panes), self._twin) if widgets else None
        display(self._bundle(view), raw=True, display_id=self._twin)
        if self.card is not None:
            _display_widget(self.card.widget)

    def watch(self, view: StatusView) -> None:
        """Show a view of a build that goes on, if the last one was shown at least `_PAUSE` seconds ago."""
        now = time.monotonic()
        if now - self._shown > _PAUSE:
            self._shown = now
            self._tell_card(view)

    def say(self, text: str) -> None:
        """Print a text where outputs cannot change, as in a terminal, unless the display is quiet."""
        if not (self._quiet or self._live):
            print(text)

    def update(self, view: StatusView) -> None:
        """Show the last view of a build in the background, from its thread; a terminal is not disturbed."""
        if self._live:
            self.close(view)

    def close(self, view: StatusView, make_pane: Any = None) -> None:
        """Show the last view; `make_pane` makes the texts that a card offers from now on.

        Where the front end can change outputs, any thread may call this.
        """
        if self._quiet:
            return
        if self._run is not None:
            self._run.views[:] = [v for v in self._run.views if v.kind != "status_card"]
            _note(self._as_shown(view), self._run)
        if self._live:
            update_display(self._bundle(view), raw=True, display_id=self._twin)
            if self._run is not None and self.card is None:
                self._run.static[self._twin] = self._as_shown(view)
        else:
            display(self._bundle(view), raw=True)
        self._tell_card(view, make_pane)

    def _tell_card(self, view: StatusView, make_pane: Any = None) -> None:
        """Show the view on the live card, if there is one and no later run has taken it over."""
        # A build in the background may end when its cell, and with it the card, shows another one.
        if self.card is not None and self.card.lasts:
            self.card.widget.show(view, make_pane)

    def _bundle(self, view: StatusView) -> dict[str, Any]:
        """Return the static outputs of the view by MIME type, with the id by which a live card hides them."""
        return self._as_shown(view).bundle(self._twin if self.card is not None else "")

    def _as_shown(self, view: StatusView, **live: Any) -> Shown:
        """Return the view as a status card; `live`: what its widget takes besides the view."""
        return Shown("status_card", view, renderers.status_text, renderers.status_html, **live)
