"""The display of values that end a cell: live where the front end can, and as a static fallback in what is saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from pkgutil import resolve_name
from typing import Any

from IPython.display import display

import workbench as wb
from kernel_ext.output.output_area import session_views, show_here
from kernel_ext.output.renderable import Shown, Still
from kernel_ext.refusal import Refusal
from kernel_ext.session.recording import Label
from kernel_ext.views.view_data import StatusView
from workbench.errors import WorkbenchError

LARGEST_GRAPH = 1000
"""Nodes of the largest graph that is drawn live."""
_RECORD = "workbench.api.recorder.Recorder"


class Values:
    """Shows values of Workbench's types as views, in one shell."""

    def __init__(self, shell: Any, label: Label) -> None:
        """Attach to a shell; `label` turns a file's name into what people call it."""
        self.shell = shell
        self._label = label
        # By name, and `show` when it is needed: to look for the types would import all that they belong to.
        self._shown: Mapping[type | str, Callable[[Any], Shown | None]] = {
            wb.array: self._array,
            wb.Kernel: self._kernel,
            _RECORD: self._timeline,
            "workbench.api.tapes.tape.Tape": self._tape,
            "workbench.api.graphs.graph.Graph": self._graph,
            "workbench.api.diagnosis.stepper.Steps": partial(_show, "steps"),
            "workbench.api.gradients.gradcheck.Verdict": partial(_show, "grad"),
            "workbench.api.gradients.report.GradientReport": partial(_show, "gradient_report"),
            "workbench.api.profiling.report.Profile": partial(_show, "profile"),
            "workbench.api.profiling.threads.Threads": partial(_show, "followed"),
            "workbench.api.diagnosis.sweeps.Sweeps": partial(_show, "both_ways"),
        }

    def install(self) -> None:
        """Register the formatters, so that IPython shows these values as views."""
        for kind, make in self._shown.items():
            self.shell.display_formatter.ipython_display_formatter.for_type(
                kind, lambda value, make=make: self._show(value, make)
            )
        # Where something else formats it (a list, `display` of a bundle), a record is its timeline as well.
        formatters = self.shell.display_formatter.formatters
        formatters["text/plain"].for_type(_RECORD, lambda value, p, cycle: p.text(self._timeline(value).text))
        formatters["text/html"].for_type(_RECORD, lambda value: self._timeline(value).html)

    def remove(self) -> None:
        """Remove the formatters, so that IPython shows these values as it did before."""
        for kind in self._shown:
            self.shell.display_formatter.ipython_display_formatter.pop(kind, None)
        for kind in ("text/plain", "text/html"):
            self.shell.display_formatter.formatters[kind].pop(_RECORD, None)

    def install_in_marimo(self) -> None:
        """Give the types of these values a `_display_`, by which marimo shows the value on a cell's last line."""
        for kind, make in self._shown.items():
            shown_type: Any = resolve_name(kind) if isinstance(kind, str) else kind
            shown_type._display_ = lambda value, make=make: self._displayed(value, make)

    def _displayed(self, value: Any, make: Callable[[Any], Shown | None]) -> Any:
        """Return what marimo displays for a value: the view that `make` returns, or, if there is none, static HTML."""
        shown = self._view(value, make)
        if isinstance(shown, Shown):
            return shown._display_()
        return Still(shown.get("text/html") or f"<pre>{escape(shown['text/plain'])}</pre>")

    def _show(self, value: Any, make: Callable[[Any], Shown | None]) -> None:
        """Display a value in the running cell: the view that `make` returns; without one its static bundle."""
        shown = self._view(value, make)
        if isinstance(shown, Shown):
            show_here(shown)
        else:
            display(shown, raw=True)

    def _view(self, value: Any, make: Callable[[Any], Shown | None]) -> Shown | dict[str, Any]:
        """Return the view of a value; if it has none, its static outputs by MIME type."""
        try:
            shown = make(value)
        except (Refusal, WorkbenchError):  # an array that a capture is still to write
            shown = None
        if shown is not None:
            return shown
        mime = getattr(value, "_repr_mimebundle_", None)
        return mime() if mime else {"text/plain": repr(value)}

    def _name(self, value: Any, default: str) -> str:
        """Return the notebook's name of the value, else `default`."""
        names = (n for n, v in self.shell.user_ns.items() if v is value and not n.startswith("_"))
        return next(names, default)

    def _array(self, value: wb.array) -> Shown:
        """Return the array's view, with few values before the picture; its plain text is the array's `repr`."""
        from kernel_ext.views.arrays.array_view import Look

        shown = _show("array_look", value, self._name(value, "array"), (), Look(values_first=True))
        shown.text = repr(value)  # a terminal or a reader of the text sees the numbers
        return shown

    def _timeline(self, value: wb.Recorder) -> Shown:
        """Return the timeline view of a record, under its name in the notebook."""
        return _show("timeline", value, self._name(value, "record"), self._label)

    def _graph(self, value: wb.Graph) -> Shown | None:
        """Return the view of a graph; None if it has more than `LARGEST_GRAPH` nodes."""
        return _show("graph", value) if len(value) <= LARGEST_GRAPH else None

    def _tape(self, value: wb.Tape) -> Shown:
        """Return the view of a tape, with the gradients of the notebook's arrays."""
        return _show("tape", value, self._name(value, "tape"), self.shell.user_ns)

    def _kernel(self, value: Any) -> Shown:
        """Return the view of a kernel's source, with the headline of its last card."""
        cards = [v.view for v in session_views() if isinstance(v.view, StatusView) and value.name in v.view.kernels]
        heading = f"{cards[-1].cell} · {cards[-1].headline}" if cards else ""
        shown = _show("source", value, ("source",), heading)
        shown.text = repr(value)
        return shown


def _show(name: str, *args: Any) -> Shown:
    """Call the function `name` of `kernel_ext.show`, or else of `kernel_ext.launch_views`, and return its view.

    Both are imported at the first call.
    """
    from kernel_ext import launch_views, show

    return getattr(show if hasattr(show, name) else launch_views, name)(*args)
