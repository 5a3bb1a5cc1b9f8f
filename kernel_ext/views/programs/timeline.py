"""A recorder as a timeline: lines of ASCII, and static HTML with a picture.

The picture is an SVG inside an `<img>`, which untrusted notebooks and nbconvert keep. Its colours read on light and on
dark, and the table under it says all that it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from kernel_ext.views import html, units
from kernel_ext.views.view_data import SpanRow, TimelineView, TotalRow, total_key

ROWS_OF_TEXT, ROWS_OF_TABLE, SPANS_DRAWN, ROWS_OF_TOTALS = 40, 200, 4000, 12
_HEADS = ("kernel", "calls", "total", "mean", "share")
_WIDTH, _LANE, _LEFT, _AXIS, _BAR = 720, 26, 84, 20, 24


def timeline_text(view: TimelineView) -> str:
    """Format the timeline as lines of ASCII, each with a bar."""
    rows = [("#", "what", "name", "size", "time", "where", "")]
    shown = view.rows[:ROWS_OF_TEXT]
    rows += [(str(k), *_facts(row), _bar(row, view.seconds)) for k, row in enumerate(shown)]
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    more = [f"... {len(view.rows) - len(shown)} more"] if len(view.rows) > len(shown) else []
    totals = html.text_table([_HEADS, *map(_total, view.totals[:ROWS_OF_TOTALS])]) if shown else []
    return units.ascii_only("\n".join([headline(view), *view.notes, *totals, *(lines if shown else []), *more]))


def timeline_html(view: TimelineView) -> str:
    """Format the headline, the picture, and the table folded away."""
    if not view.rows:
        return html.box(html.line(headline(view)))
    shown = enumerate(view.rows[:ROWS_OF_TABLE])
    cells = [(str(k), *_facts(row), units.size(row.bytes)) for k, row in shown]
    table = html.table(("#", "what", "name", "size", "time", "where", "bytes"), cells)
    folded = html.folded(units.count(len(view.rows), "row"), table + _more(view.rows, ROWS_OF_TABLE))
    picture = html.svg_image(timeline_svg(view), "timeline")
    return html.box(html.line(headline(view)), *map(html.line, view.notes), picture, _totals_html(view), folded)


def _more(rows: Sequence[object], shown: int) -> str:
    return html.line(f"… {len(rows) - shown} more") if len(rows) > shown else ""


def _total(row: TotalRow) -> tuple[str, ...]:
    mean = units.seconds(row.seconds / row.calls)
    return total_name(row), str(row.calls), units.seconds(row.seconds), mean, f"{100 * row.share:.1f} %"


def total_name(row: TotalRow) -> str:
    """Return the name of a total: `step`, `step adjoint`, `copy`, `compile or load`."""
    if row.kind == "Python":
        return "Python between launches"
    if row.kind == "compile":
        return "compile or load"
    return f"{row.name}{'' if row.kind == 'forward' else f' {row.kind}'}".strip()


def _totals_html(view: TimelineView) -> str:
    """Format the totals as a table, each with its colour."""
    totals = view.totals[:ROWS_OF_TOTALS]
    return html.table(_HEADS, map(_total, totals), [row.colour for row in totals]) + _more(view.totals, ROWS_OF_TOTALS)


def timeline_svg(view: TimelineView) -> str:
    """Format the picture: a lane for each device and for the host, and a bar for each span in its kernel's colour."""
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
    """Describe what was recorded in one line."""
    kinds: dict[str, int] = {}
    for row in view.rows:
        kinds[row.kind] = kinds.get(row.kind, 0) + 1
    parts = [f"{view.title}: {len(view.rows)} recorded"]
    parts += [", ".join(f"{n} {kind}" for kind, n in kinds.items())] if kinds else []
    parts += [units.seconds(view.seconds)] if view.rows else []
    parts += [f"{view.lost} more could not be recorded"] if view.lost else []
    return " · ".join(parts)


def _facts(row: SpanRow) -> tuple[str, ...]:
    time = "" if row.seconds is None else units.seconds(row.seconds)
    return row.kind, row.name, "×".join(map(str, row.size)), time, row.place


def _bar(row: SpanRow, total: float) -> str:
    """Draw a row's part of the whole time as a bar of characters."""
    first = min(_BAR - 1, int(_BAR * row.start / total)) if total else 0
    last = min(_BAR, int(_BAR * (row.start + (row.seconds or 0.0)) / total)) if total else 0
    return "|" + (" " * first + "#" * max(1, last - first)).ljust(_BAR)[:_BAR] + "|"
