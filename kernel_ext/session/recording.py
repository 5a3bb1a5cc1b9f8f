"""Recording in a notebook: one cell, or cell after cell until it is turned off; and replay by name.

Plain functions and one class without IPython in them; the magics parse and call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import workbench as wb
from kernel_ext.refusal import Refusal
from kernel_ext.views import html
from kernel_ext.views.programs.timeline import SpanRow, TimelineView

Label = Callable[[str], str]
SHORTEST = 1e-3
"""The fraction of the whole time below which a gap is not shown."""


def place_label(filename: str) -> str:
    """Return a file's label: `cell [6]` for a cell of the running notebook, else its name."""
    if "IPython" not in sys.modules:  # a script may do without
        return filename
    from IPython.core.getipython import get_ipython

    from kernel_ext.session.tracebacks import cell_label

    shell = get_ipython()
    return filename if shell is None else cell_label(shell, filename).replace("Cell In", "cell ")


def timeline_view(recorder: wb.Recorder, title: str = "record", label: Label = str) -> TimelineView:
    """Return the view of a recorder's timeline; `label` turns a file's name into what people call it."""
    rows, builds = (tuple(_row(s, label) for s in part) for part in recorder.timeline())
    end = max((r.start + (r.seconds or 0.0) for r in (*rows, *builds)), default=0.0)
    host = (*builds, *_gaps((*rows, *builds), end)) if rows else ()
    return TimelineView(
        title, tuple(sorted({r.lane for r in rows})), rows, end, recorder.lost, host, tuple(recorder.notes())
    )


def _row(span: Any, label: Label) -> SpanRow:
    """Return a span of a record as a row of the timeline, with the label and line of its launch; empty without one."""
    line = f"{label(span.site.filename)}:{span.site.line}" if span.site is not None else ""
    return SpanRow(span.start, span.seconds, span.lane, span.kind, span.name, span.size, span.bytes, line)


def _gaps(rows: Sequence[SpanRow], end: float) -> list[SpanRow]:
    """Return rows for the visible gaps in which nothing ran and nothing was compiled, so that Python did something."""
    gaps: list[SpanRow] = []
    reached = 0.0
    for row in sorted(rows, key=lambda r: r.start):
        if row.start - reached > end * SHORTEST:
            gaps.append(SpanRow(reached, row.start - reached, "host", "Python", "", (), 0, "between launches"))
        reached = max(reached, row.start + (row.seconds or 0.0))
    return gaps


def find_recorder(name: str, namespace: Mapping[str, Any]) -> wb.Recorder:
    """Return the recorder that `name` is bound to in `namespace`.

    Raises:
        Refusal: there is none.
    """
    value = namespace.get(name)
    if isinstance(value, wb.Recorder):
        return value
    known = [n for n, v in namespace.items() if isinstance(v, wb.Recorder) and not n.startswith("_")]
    hint = f"there is {', '.join(known)}" if known else "%%record NAME makes one"
    raise Refusal(f"there is no record {name}; {hint}")


def parse_values(items: Sequence[str], namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Parse `NAME=VALUE` items; return the values by name.

    A value is a Python expression over the namespace (a number, or the name of an array), or a step, `+20`, which stays
    text.

    Raises:
        Refusal: an item is not of that form, or its expression fails.
    """
    values = {}
    for item in items:
        name, equals, expression = item.partition("=")
        if not (equals and name.isidentifier() and expression.strip()):
            raise Refusal(f"-p takes NAME=VALUE, such as -p dt=0.02; it got {item!r}")
        if expression.strip().startswith("+"):
            values[name] = expression.strip()
            continue
        try:
            values[name] = eval(expression, dict(namespace))
        except Exception as error:
            raise Refusal(f"-p {item}: the value does not evaluate ({type(error).__name__}: {error})") from None
    return values


def replay(
    recorder: wb.Recorder,
    values: Mapping[str, Any],
    only: str = "",
    kernel: str = "",
    rewind: bool = False,
    times: int = 1,
) -> str:
    """Run a record again, or a part of it; return a sentence on what ran.

    Raises:
        LaunchError: a value does not fit, or there is nothing to rewind to.
        KernelFault: as the launches.
        Refusal: the part is empty, or `times` is below 1.
    """
    if times < 1:
        raise Refusal(f"a record is replayed once or more; -n got {times}")
    part = recorder
    if only or kernel:
        part = recorder.only(adjoint={"adjoint": True, "forward": False}.get(only), kernel=kernel or None)
        if not len(part):
            raise Refusal(f"no launch of the record is {' '.join(p for p in (only, kernel) if p)}")
    for _ in range(times):
        if rewind:
            recorder.rewind()
        part.replay(**values)
    shown = ", ".join(f"{n}={v}" for n, v in values.items() if isinstance(v, (int, float, str)))
    often = f" {times} times" if times > 1 else ""
    return f"replayed {html.count(len(part), 'entry')}{often}{f' with {shown}' if shown else ''}"


class Recording:
    """Represents a recording that goes on from cell to cell, by the shell's events at their begin and end."""

    def __init__(self) -> None:
        """Make a recording that is off."""
        self.recorder: wb.Recorder | None = None

    def on(self, inputs: bool = False, counter: Sequence[str] = ()) -> wb.Recorder:
        """Begin to record, in the running cell; return the recorder.

        Raises:
            Refusal: it is on already.
        """
        if self.recorder is not None:
            raise Refusal("recording is already on; %record off ends it")
        self.recorder = wb.Recorder(inputs=inputs, counter=counter).start()
        return self.recorder

    def off(self) -> wb.Recorder:
        """End the recording; return the recorder with what was recorded.

        Raises:
            Refusal: it is not on.
        """
        if self.recorder is None:
            raise Refusal("recording is not on; %record on starts it")
        recorder, self.recorder = self.recorder, None
        recorder.stop()
        return recorder

    def cell_begins(self, *_: Any) -> None:
        """Start the recorder, if recording is on: a cell is about to run, in its own context."""
        if self.recorder is not None:
            self.recorder.start()

    def cell_ends(self, *_: Any) -> None:
        """Stop the recorder until the next cell, if recording is on."""
        if self.recorder is not None:
            self.recorder.stop()
