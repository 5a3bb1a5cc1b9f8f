"""Plain functions that show things: in a notebook a live view, in a script text, in marimo `show.….widget`.

The magics show the same objects. Each function reads its argument once; what is shown does not follow later changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import workbench as wb
from kernel_ext.output.html_export import write_page
from kernel_ext.output.renderable import Shown
from kernel_ext.session.recording import Label, timeline_view
from kernel_ext.views import array_fallback, array_view, gradient_view, queries, renderers, units
from kernel_ext.views import controls as sliders
from kernel_ext.views import step_view as step_rows
from kernel_ext.views import timeline as timelines
from kernel_ext.views.views import InspectView, PaneView
from workbench import inspect


def array(value: Any, name: str = "array", at: tuple[int, ...] = ()) -> Shown:
    """An array of numbers as a plot or an image, with a histogram, its range, and marks where it is NaN or infinite.

    Args:
        value: a Workbench, NumPy, JAX or PyTorch array on the host or a device.
        name: what to call it.
        at: indices of the leading dimensions of an array of more than two; a live view has sliders for them.

    Raises:
        Refusal: it is not an array of numbers, or `at` does not fit.
    """
    view = array_view.array_view(value, name, at)
    return Shown(
        "array_view", view, array_fallback.array_text(view), array_fallback.array_html(view),
        slice_at=lambda other: array_view.array_view(value, name, other),
    )  # fmt: skip


def cache() -> Shown:
    """The cache: what is in it, how it served, why kernels were rebuilt. A live view can remove modules."""
    view = queries.cache_view()
    return Shown("cache_table", view, renderers.cache_text(view), renderers.cache_html(view))


def source(kernel: Any, panes: Iterable[str] = ("source", "ir")) -> Shown:
    """Texts about a kernel side by side, with linked lines; a live view offers all others.

    Args:
        kernel: the kernel.
        panes: of `workbench.inspect.PANES`.
    """
    return texts(queries.inspect_view(kernel, panes), lambda _, name: queries.pane_views(kernel, (name,))[0])


def texts(view: InspectView, make_pane: Callable[[str, str], PaneView] | None = None) -> Shown:
    """Texts side by side; `make_pane` makes those that are opened later."""
    return Shown("source_view", view, renderers.inspect_text(view), renderers.inspect_html(view), make_pane=make_pane)


def timeline(recorder: wb.Recorder, title: str = "record", label: Label = str) -> Shown:
    """A record as lanes of bars; `label` turns a file's name into what people call it."""
    view = timeline_view(recorder, title, label)
    return Shown("timeline", view, timelines.timeline_text(view), timelines.timeline_html(view))


def graph(graph: wb.Graph) -> Shown:
    """A captured graph as boxes and lines."""
    static = graph._repr_mimebundle_()
    return Shown("graph_view", graph.layout(), static["text/plain"], static["text/html"])


def steps(steps: inspect.Steps) -> Shown:
    """What `wb.step` gave: one thread through a kernel, statement by statement."""
    view = step_rows.steps_view(steps)
    return Shown("stepper", view, units.ascii_only(str(steps)), step_rows.steps_html(view))


def grad(verdict: wb.Verdict | None = None, tape: wb.Tape | None = None, **arrays: Any) -> Shown:
    """A gradcheck's verdict, arrays beside their adjoints, or both.

    Args:
        verdict: what `wb.gradcheck` gave.
        tape: whose gradients to show; the arrays' own `.grad` if not given.
        arrays: name=array, each beside its adjoint.

    Raises:
        Refusal: there is nothing to show, or an array has no gradient.
    """
    view = gradient_view.grads_view(verdict, tape, arrays)
    return Shown("grad_view", view, gradient_view.grads_text(view), gradient_view.grads_html(view))


def gradient_report(report: wb.GradientReport) -> Shown:
    """What `%grad` and `wb.gradients_of` return: each gradient drawn, and the checks if there were any."""
    return Shown("grad_view", gradient_view.report_view(report), units.ascii_only(str(report)), report._repr_html_())


def controls(
    subject: wb.Recorder | wb.Launch, *, watch: Any = None, rewind: bool | None = None, **ranges: Any
) -> Shown:
    """Sliders for the numbers of a record or a kept launch: a move replays, and compiles nothing.

    Args:
        subject: what `wb.record` gave, a part of it (`rec.only(…)`), or `wb.launch(…, record_cmd=True)`.
        watch: an array that is drawn after each replay.
        rewind: first restore what the arrays held; None: where the record kept it (`inputs=True`).
        ranges: number=(low, high) or (low, high, step); every number from 0 to twice its value if none is given.

    Raises:
        Refusal: a range or a name is wrong, there is no number to change, or nothing to rewind to.
    """
    bound = sliders.Bound(subject, ranges, watch, rewind)
    return Shown(
        "controls", bound.view, sliders.controls_text(bound.view), sliders.controls_html(bound.view), bound=bound
    )


def page(path: str, *shown: Shown, title: str = "Workbench") -> str:
    """Write views as one interactive page that needs no server and loads nothing; returns what was written.

    Raises:
        Refusal: there is nothing to show, or the file cannot be written.
    """
    return write_page(path, title, shown)
