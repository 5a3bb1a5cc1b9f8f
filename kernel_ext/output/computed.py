"""Views that compute in a page: the program of what they run, and how their array is drawn again."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import workbench as wb
from kernel_ext.output.renderable import Shown
from kernel_ext.views.arrays.animation import Animation
from kernel_ext.views.arrays.array_view import MAPS
from kernel_ext.views.programs.controls import Bound
from workbench import inspect
from workbench.errors import RecordError

Subject = wb.Recorder | wb.Launch | wb.Graph


def computed(kind: str, parts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a view's program and how to draw it, as JSON values for `static/computing.js` in an exported page.

    None if the view computes nothing, or runs a Python function.

    Args:
        kind: the name of the view's widget.
        parts: what its widget takes besides the view, by name.

    Raises:
        RecordError: what it runs, or watches, cannot be in a page.
    """
    source = parts.get("source")
    if isinstance(source, Bound) and isinstance(source.subject, Subject):
        _check(source.watch)
        look = {"fixed": source.look.range is not None, "colours": source.look.colours}
        return _with(inspect.page_program(source.subject, source.watch), kind, source.rewinds, look)
    if isinstance(source, Animation) and isinstance(source.step, Subject):
        _check(source.watch)
        colour = source.options.get("color")
        look = {
            "fixed": source.fixed,
            "colours": source.colours,
            "grows": True,
            "boxed": source.options.get("box") is not None,
            "coloured": isinstance(colour, wb.array),
        }
        program = inspect.page_program(source.step, source.watch, from_start=False, colour=colour)
        return _with(program, kind, False, look)
    return None


def subject_of(parts: Mapping[str, Any]) -> Any:
    """Return the record, launch or graph that a view's sliders or frames run, from its widget's parts.

    None if they run anything else, which a page cannot, or nothing.
    """
    source = parts.get("source")
    candidate = source.subject if isinstance(source, Bound) else source.step if isinstance(source, Animation) else None
    return candidate if isinstance(candidate, Subject) else None


def measured(subject: Any, views: Sequence[Shown]) -> list[int]:
    """Return the numbers of the views that are timelines of the record `subject`, in which a page shows its own times.

    There is none if the subject is not a record, or a timeline has other rows than the record has entries.
    """
    return [
        k
        for k, shown in enumerate(views)
        if isinstance(subject, wb.Recorder)
        and shown.live_parts.get("recorder") is subject
        and len(shown.data()["rows"]) == len(subject.entries)
    ]


def _check(watch: Any) -> None:
    """Raise a RecordError unless `watch` is None or an array of numbers, which a page can draw."""
    if isinstance(watch, wb.array) and hasattr(watch.dtype, "fields"):
        raise RecordError("what is watched is an array of structs, and a page can draw numbers only; watch one field")
    if not isinstance(watch, wb.array | None):
        kind = type(watch).__name__
        raise RecordError(f"what is watched is of type {kind}, and a page can draw a wb.array only; show one view each")


def _with(program: Any, kind: str, rewind: bool, look: dict[str, Any]) -> dict[str, Any]:
    """Return a view's part of a page as JSON values: its program, that program's compressed payload, and how to draw.

    `kind` is the view's, `rewind` whether arrays are restored before each run, `look` replaces defaults of drawing.
    """
    return {
        "program": program.data(),
        "payload": base64.b64encode(program.compressed()).decode(),
        "subject": kind,
        "rewind": rewind,
        "look": {"grows": False, "maps": MAPS, **look},
    }
