"""A recorder as a timeline: lines of ASCII, and static HTML with a picture.

The picture is an SVG inside an `<img>`, which untrusted notebooks and nbconvert keep. Its colours read on light and on
dark, and the table under it says all that it shows.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

from kernel_ext.views import units
from kernel_ext.views.view_data import SpanRow, TimelineView

COLOURS = {
    "forward": "#2b7bba", "adjoint": "#d9793b", "tangent": "#7b5ea7", "copy": "#7a8794", "add": "#9a8f5a",
    "fill": "#a3adb8", "graph": "#3a9a6a", "jax": "#b8559a",
}  # fmt: skip
"""Each kind of span with its colour."""
ROWS_OF_TEXT, ROWS_OF_TABLE, SPANS_DRAWN = 40, 200, 4000
_WIDTH, _LANE, _LEFT, _AXIS, _BAR = 720, 26, 84, 20, 24
_MONO = "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:var(--jp-code-font-size,13px)"
_CELL = "text-align:left;padding:1px 12px 1px 0"


def timeline_text(view: TimelineView) -> str:
    """The timeline as lines of ASCII, each with a bar."""
    rows = [("#", "what", "name", "size", "time", "where", "")]
    shown = view.rows[:ROWS_OF_TEXT]
    rows += [(str(k), *_facts(row), _bar(row, view.seconds)) for k, row in enumerate(shown)]
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    more = [f"... {len(view.rows) - len(shown)} more"] if len(view.rows) > len(shown) else []
    return units.ascii_only("\n".join([headline(view), *(lines if shown else []), *more]))


def timeline_html(view: TimelineView) -> str:
    """The headline, the picture, and the table folded away."""
    if not view.rows:
        return f'<div style="{_MONO}">{escape(headline(view))}</div>'
    picture = base64.b64encode(timeline_svg(view).encode()).decode()
    image = f'<img alt="timeline" style="max-width:100%" src="data:image/svg+xml;base64,{picture}">'
    titles = "".join(f'<th style="{_CELL}">{t}</th>' for t in ("#", "what", "name", "size", "time", "where", "bytes"))
    shown = enumerate(view.rows[:ROWS_OF_TABLE])
    body = "".join(_table_row((str(k), *_facts(row), units.size(row.bytes))) for k, row in shown)
    rest = len(view.rows) - ROWS_OF_TABLE
    more = f"<div>… {rest} more</div>" if rest > 0 else ""
    table = f'<table style="border-collapse:collapse"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'
    return (
        f'<div style="{_MONO}"><div>{escape(headline(view))}</div>{image}'
        f"<details><summary>{units.count(len(view.rows), 'row')}</summary>{table}{more}</details></div>"
    )


def timeline_svg(view: TimelineView) -> str:
    """The picture: a lane for each device, a bar for each span, and a legend of the kinds."""
    height = _AXIS + _LANE * len(view.lanes) + 22
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="ui-monospace,monospace" font-size="11">'
    ]
    total = view.seconds or 1e-9
    scale = (_WIDTH - _LEFT - 8) / total
    for number, lane in enumerate(view.lanes):
        y = _AXIS + _LANE * number
        parts.append(f'<text x="4" y="{y + 16}" fill="#767676">{escape(lane[:12])}</text>')
        parts.append(f'<path d="M{_LEFT} {y + _LANE - 2}H{_WIDTH - 8}" stroke="#767676" stroke-opacity="0.3"/>')
        for row in [r for r in view.rows if r.lane == lane][:SPANS_DRAWN]:
            x, width = _LEFT + row.start * scale, max(1.0, (row.seconds or 0.0) * scale)
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{_LANE - 8}" rx="1.5" '
                f'fill="{COLOURS.get(row.kind, "#7a8794")}"/>'
            )
    for step in range(5):
        x = _LEFT + (_WIDTH - _LEFT - 8) * step / 4
        anchor = "end" if step == 4 else "middle" if step else "start"
        label = units.seconds(total * step / 4)
        parts.append(f'<text x="{x:.1f}" y="12" fill="#767676" text-anchor="{anchor}">{label}</text>')
    x = float(_LEFT)
    for kind in dict.fromkeys(r.kind for r in view.rows):
        colour = COLOURS.get(kind, "#7a8794")
        parts.append(f'<rect x="{x:.0f}" y="{height - 15}" width="10" height="10" rx="1.5" fill="{colour}"/>')
        parts.append(f'<text x="{x + 14:.0f}" y="{height - 6}" fill="#767676">{escape(kind)}</text>')
        x += 30 + 7 * len(kind)
    return "".join([*parts, "</svg>"])


def headline(view: TimelineView) -> str:
    """What was recorded, in one line."""
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
    """Where in the whole time it ran, in so many characters."""
    first = min(_BAR - 1, int(_BAR * row.start / total)) if total else 0
    last = min(_BAR, int(_BAR * (row.start + (row.seconds or 0.0)) / total)) if total else 0
    return "|" + (" " * first + "#" * max(1, last - first)).ljust(_BAR)[:_BAR] + "|"


def _table_row(cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f'<td style="{_CELL}">{escape(c)}</td>' for c in cells) + "</tr>"
