"""A recorder as a timeline: lines of ASCII, and static HTML with a picture.

The picture is an SVG inside an `<img>`, which untrusted notebooks and nbconvert keep. Its colours read on light and on
dark, and the table under it says all that it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import msgspec
from msgspec.structs import force_setattr

from kernel_ext.views import html

ROWS_OF_TEXT, ROWS_OF_TABLE, SPANS_DRAWN, ROWS_OF_TOTALS = 40, 200, 4000, 12
_HEADS = ("kernel", "calls", "total", "mean", "share")
_WIDTH, _LANE, _LEFT, _AXIS, _BAR = 720, 26, 84, 20, 24


class SpanRow(msgspec.Struct, frozen=True):
    """Represents something that ran, or a gap in which Python did something, as a bar of a timeline.

    Attributes:
        start, seconds: its beginning and its duration in seconds; None: not known.
        lane: the device it ran on, or "host".
        kind: the direction of a launch ("forward", "adjoint", …), else "copy", "fill", "graph", "compile", ….
        name: the kernel, or what else it is about; may be empty.
        size: dimensions of the launch, or the shape of what was copied.
        bytes: of all elements of the arrays that it touches.
        place: the file and line that began it; may be empty.
    """

    start: float
    seconds: float | None
    lane: str
    kind: str
    name: str
    size: tuple[int, ...]
    bytes: int
    place: str


SHADES = ("#2b7bba", "#d9793b", "#3a9a6a", "#7b5ea7", "#c0a02e", "#c2477f", "#2f9fa8", "#8c6d4f")
"""Colours of kernels, of the one that takes most time first."""
KINDS = {
    "copy": "#7a8794", "add": "#9a8f5a", "fill": "#a3adb8", "graph": "#4c7a5d", "jax": "#b8559a",
    "compile": "#b5523b", "Python": "#c3c8ce",
}  # fmt: skip
"""Colours of spans that are no launches."""


class TotalRow(msgspec.Struct, frozen=True):
    """Represents all spans of one kind and name: how many, their seconds, fraction of the whole time, and colour."""

    kind: str
    name: str
    calls: int
    seconds: float
    share: float
    colour: str


class TimelineView(msgspec.Struct, frozen=True):
    """Represents the contents of a recorder.

    Attributes:
        title: the record's name.
        lanes: devices, sorted by name.
        rows: one per span, in order.
        seconds: from the beginning to the last end.
        lost: calls that could not be recorded.
        host: what the host did meanwhile: compile kernels, and Python where nothing else ran.
        notes: what a reader must know of replays.
        totals: of each kernel and direction, and of each other kind, the longest first.
    """

    title: str
    lanes: tuple[str, ...]
    rows: tuple[SpanRow, ...]
    seconds: float
    lost: int = 0
    host: tuple[SpanRow, ...] = ()
    notes: tuple[str, ...] = ()
    totals: tuple[TotalRow, ...] = ()

    def __post_init__(self) -> None:
        """Compute the totals of all rows."""
        force_setattr(self, "totals", _totals((*self.rows, *self.host), self.seconds))


def _totals(rows: Iterable[SpanRow], seconds: float) -> tuple[TotalRow, ...]:
    """Return the sums over spans of one kind and name, the longest first; `seconds`: the whole time."""
    sums: dict[tuple[str, str], tuple[int, float]] = {}
    for row in rows:
        key = total_key(row)
        calls, spent = sums.get(key, (0, 0.0))
        sums[key] = calls + 1, spent + (row.seconds or 0.0)
    ordered = sorted(sums.items(), key=lambda item: -item[1][1])
    kernels = dict.fromkeys(name for (kind, name), _ in ordered if kind not in KINDS)
    order = {name: k for k, name in enumerate(kernels)}
    return tuple(
        TotalRow(kind, name, calls, spent, spent / seconds if seconds else 0.0, _colour(kind, order.get(name, 0)))
        for (kind, name), (calls, spent) in ordered
    )


def total_key(row: SpanRow) -> tuple[str, str]:
    """Return the key of the total that a span is added to: a launch's kind and name, else the kind alone."""
    return row.kind, "" if row.kind in KINDS else row.name


def _colour(kind: str, number: int) -> str:
    """Return a kernel's colour by its number, paler if not forward, grey beyond the last; of other kinds their own."""
    if kind in KINDS:
        return KINDS[kind]
    if number >= len(SHADES):
        return "#98a1aa"
    parts = [int(SHADES[number][k : k + 2], 16) for k in (1, 3, 5)]
    pale = 0.0 if kind == "forward" else 0.45
    return "#" + "".join(f"{round(p + (255 - p) * pale):02x}" for p in parts)


def timeline_text(view: TimelineView) -> str:
    """Format the timeline as lines of ASCII, each with a bar."""
    rows = [("#", "what", "name", "size", "time", "where", "")]
    shown = view.rows[:ROWS_OF_TEXT]
    rows += [(str(k), *_facts(row), _bar(row, view.seconds)) for k, row in enumerate(shown)]
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    more = [f"... {len(view.rows) - len(shown)} more"] if len(view.rows) > len(shown) else []
    totals = html.text_table([_HEADS, *map(_total, view.totals[:ROWS_OF_TOTALS])]) if shown else []
    return html.ascii_only("\n".join([headline(view), *view.notes, *totals, *(lines if shown else []), *more]))


def timeline_html(view: TimelineView) -> str:
    """Format a timeline as static HTML: the headline, the picture, and the table folded away."""
    if not view.rows:
        return html.box(html.line(headline(view)))
    shown = enumerate(view.rows[:ROWS_OF_TABLE])
    cells = [(str(k), *_facts(row), html.size(row.bytes)) for k, row in shown]
    table = html.table(("#", "what", "name", "size", "time", "where", "bytes"), cells)
    folded = html.folded(html.count(len(view.rows), "row"), table + _more(view.rows, ROWS_OF_TABLE))
    picture = html.svg_image(timeline_svg(view), "timeline")
    return html.box(html.line(headline(view)), *map(html.line, view.notes), picture, _totals_html(view), folded)


def _more(rows: Sequence[object], shown: int) -> str:
    """Return HTML that counts the rows beyond the first `shown`; empty if there are none."""
    return html.line(f"… {len(rows) - shown} more") if len(rows) > shown else ""


def _total(row: TotalRow) -> tuple[str, ...]:
    """Return the texts of a total: name, calls, time, mean time and percentage."""
    mean = html.seconds(row.seconds / row.calls)
    return total_name(row), str(row.calls), html.seconds(row.seconds), mean, f"{100 * row.share:.1f} %"


def total_name(row: TotalRow) -> str:
    """Return the name of a total: `step`, `step adjoint`, `copy`, `compile or load`."""
    if row.kind == "Python":
        return "Python between launches"
    if row.kind == "compile":
        return "compile or load"
    return f"{row.name}{'' if row.kind == 'forward' else f' {row.kind}'}".strip()


def _totals_html(view: TimelineView) -> str:
    """Format the totals as an HTML table, each with its colour."""
    totals = view.totals[:ROWS_OF_TOTALS]
    return html.table(_HEADS, map(_total, totals), [row.colour for row in totals]) + _more(view.totals, ROWS_OF_TOTALS)


def timeline_svg(view: TimelineView) -> str:
    """Draw a timeline as SVG: a lane for each device and for the host, a bar for each span in its kernel's colour."""
    lanes = (*view.lanes, *dict.fromkeys(row.lane for row in view.host))
    height = _AXIS + _LANE * len(lanes) + 4
    colours = {(total.kind, total.name): total.colour for total in view.totals}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="ui-monospace,monospace" font-size="11">'
    ]
    total = view.seconds or 1e-9
    scale = (_WIDTH - _LEFT - 8) / total
    for number, lane in enumerate(lanes):
        y = _AXIS + _LANE * number
        parts.append(f'<text x="4" y="{y + 16}" fill="#767676">{escape(lane[:12])}</text>')
        parts.append(f'<path d="M{_LEFT} {y + _LANE - 2}H{_WIDTH - 8}" stroke="#767676" stroke-opacity="0.3"/>')
        for row in [r for r in (*view.rows, *view.host) if r.lane == lane][:SPANS_DRAWN]:
            x, width = _LEFT + row.start * scale, max(1.0, (row.seconds or 0.0) * scale)
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{_LANE - 8}" rx="1.5" '
                f'fill="{colours[total_key(row)]}"/>'
            )
    unit, name = next(((u, n) for u, n in ((1.0, "s"), (1e-3, "ms")) if total >= u), (1e-6, "µs"))
    for step in range(5):
        x = _LEFT + (_WIDTH - _LEFT - 8) * step / 4
        anchor = "end" if step == 4 else "middle" if step else "start"
        label = f"{total * step / 4 / unit:.3g} {name}"
        parts.append(f'<text x="{x:.1f}" y="12" fill="#767676" text-anchor="{anchor}">{label}</text>')
    return "".join([*parts, "</svg>"])


def headline(view: TimelineView) -> str:
    """Return a line on what was recorded: how many spans of each kind, and the time."""
    kinds: dict[str, int] = {}
    for row in view.rows:
        kinds[row.kind] = kinds.get(row.kind, 0) + 1
    parts = [f"{view.title}: {len(view.rows)} recorded"]
    parts += [", ".join(f"{n} {kind}" for kind, n in kinds.items())] if kinds else []
    parts += [html.seconds(view.seconds)] if view.rows else []
    parts += [f"{view.lost} more could not be recorded"] if view.lost else []
    return " · ".join(parts)


def _facts(row: SpanRow) -> tuple[str, ...]:
    """Return the texts of a span: kind, name, size, time (empty if unknown) and line."""
    time = "" if row.seconds is None else html.seconds(row.seconds)
    return row.kind, row.name, "×".join(map(str, row.size)), time, row.place


def _bar(row: SpanRow, total: float) -> str:
    """Return a bar of characters that shows a row's part of the whole time."""
    first = min(_BAR - 1, int(_BAR * row.start / total)) if total else 0
    last = min(_BAR, int(_BAR * (row.start + (row.seconds or 0.0)) / total)) if total else 0
    return "|" + (" " * first + "#" * max(1, last - first)).ljust(_BAR)[:_BAR] + "|"
