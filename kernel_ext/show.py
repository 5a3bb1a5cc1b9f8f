"""Plain functions that show things: in a notebook a live view, in a script text, in marimo `show.….widget`.

The magics show the same objects. Each function reads its argument once; what is shown does not follow later changes.
"""

from __future__ import annotations

from typing import Any

import workbench as wb
from kernel_ext import array_twin, arrays, formats, queries
from kernel_ext import timeline as timelines
from kernel_ext.recording import Label, timeline_view
from kernel_ext.shown import Shown


def array(value: Any, name: str = "array", at: tuple[int, ...] = ()) -> Shown:
    """An array of numbers as a plot or an image, with a histogram, its range, and marks where it is NaN or infinite.

    Args:
        value: a Workbench, NumPy, JAX or PyTorch array on the host or a device.
        name: what to call it.
        at: indices of the leading dimensions of an array of more than two; a live view has sliders for them.

    Raises:
        Refusal: it is no array of numbers, or `at` does not fit.
    """
    view = arrays.array_view(value, name, at)
    return Shown(
        "array_view", view, array_twin.array_text(view), array_twin.array_html(view),
        slice_at=lambda other: arrays.array_view(value, name, other),
    )  # fmt: skip


def cache() -> Shown:
    """The cache: what is in it, how it served, why kernels were built anew. A live view can remove modules."""
    view = queries.cache_view()
    return Shown("cache_table", view, formats.cache_text(view), formats.cache_html(view))


def timeline(recorder: wb.Recorder, title: str = "record", label: Label = str) -> Shown:
    """A record as lanes of bars; `label` turns a file's name into what people call it."""
    view = timeline_view(recorder, title, label)
    return Shown("timeline", view, timelines.timeline_text(view), timelines.timeline_html(view))


def graph(graph: wb.Graph) -> Shown:
    """A captured graph as boxes and lines."""
    static = graph._repr_mimebundle_()
    return Shown("graph_view", graph.layout(), static["text/plain"], static["text/html"])
