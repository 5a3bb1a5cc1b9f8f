"""A recorder as a timeline: lines of ASCII, and static HTML with a picture.

The picture is an SVG inside an `<img>`, which untrusted notebooks and nbconvert keep. Its colours read on light and on
dark, and the table under it says all that it shows.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import workbench as wb
from kernel_ext.views import html, units
from kernel_ext.views.view_data import SpanRow, TimelineView, TotalRow, total_key
from workbench.inspect import Access, Drawing, Step

ROWS_OF_TEXT, ROWS_OF_TABLE, SPANS_DRAWN, ROWS_OF_TOTALS = 40, 200, 4000, 12
_HEADS = ("kernel", "calls", "total", "mean", "share")
_WIDTH, _LANE, _LEFT, _AXIS, _BAR = 720, 26, 84, 20, 24
_MONO = "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:var(--jp-code-font-size,13px)"
_CELL = "text-align:left;padding:1px 12px 1px 0"


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
        return f'<div style="{_MONO}">{escape(headline(view))}</div>'
    picture = base64.b64encode(timeline_svg(view).encode()).decode()
    image = f'<img alt="timeline" style="max-width:100%" src="data:image/svg+xml;base64,{picture}">'
    titles = "".join(f'<th style="{_CELL}">{t}</th>' for t in ("#", "what", "name", "size", "time", "where", "bytes"))
    shown = enumerate(view.rows[:ROWS_OF_TABLE])
    body = "".join(_table_row((str(k), *_facts(row), units.size(row.bytes))) for k, row in shown)
    rest = len(view.rows) - ROWS_OF_TABLE
    more = f"<div>… {rest} more</div>" if rest > 0 else ""
    table = f'<table style="border-collapse:collapse"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'
    notes = "".join(f"<div>{escape(note)}</div>" for note in view.notes)
    return (
        f'<div style="{_MONO}"><div>{escape(headline(view))}</div>{notes}{image}{_totals_html(view)}'
        f"<details><summary>{units.count(len(view.rows), 'row')}</summary>{table}{more}</details></div>"
    )


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
    number = "text-align:right;padding:1px 0 1px 16px"
    heads = "".join(
        f'<th style="{number if k else _CELL};font-weight:normal;opacity:0.7">{t}</th>' for k, t in enumerate(_HEADS)
    )
    body = ""
    for row in view.totals[:ROWS_OF_TOTALS]:
        mark = f'<span style="display:inline-block;width:10px;height:10px;background-color:{row.colour}"></span> '
        name, *numbers = map(escape, _total(row))
        body += (
            f'<tr><td style="{_CELL}">{mark}{name}</td>'
            + "".join(f'<td style="{number}">{n}</td>' for n in numbers)
            + "</tr>"
        )
    rest = len(view.totals) - ROWS_OF_TOTALS
    more = f"<div>… {rest} more</div>" if rest > 0 else ""
    return f'<table style="border-collapse:collapse"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}'


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


def _table_row(cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f'<td style="{_CELL}">{escape(c)}</td>' for c in cells) + "</tr>"


@dataclass(frozen=True)
class LineRow:
    """A line of source code; `share` is from 0 to 1 of what the bars show, `cells` are its counts as text."""

    number: int
    text: str
    share: float
    cells: tuple[str, ...]
    executed: bool


@dataclass(frozen=True)
class AdviceRow:
    """A finding: the index of its row, where, and a sentence."""

    row: int
    where: str
    text: str


@dataclass(frozen=True)
class AccessView:
    """An access of the warp: a phrase, "global" or "shared", bytes per lane, where each lane begins (-1: nowhere)."""

    said: str
    space: str
    size: int
    at: tuple[int, ...]
    wasteful: bool


@dataclass(frozen=True)
class WarpStep:
    """A step of the warp at a line: the index of its row, a mask of the active lanes, and its accesses."""

    row: int
    mask: int
    accesses: tuple[AccessView, ...]


@dataclass(frozen=True)
class ProfileView:
    """A profile; `start` is the step that is shown first, `ends` whether these are all,
    `bars` what the bars are shares of."""

    title: str
    notes: tuple[str, ...]
    bars: str
    heads: tuple[str, ...]
    rows: tuple[LineRow, ...]
    total: tuple[str, ...]
    advice: tuple[AdviceRow, ...]
    pictures: tuple[Drawing, ...]
    steps: tuple[WarpStep, ...]
    start: int
    ends: bool


def profile_view(profile: wb.Profile) -> ProfileView:
    """Return the view of a profile."""
    heads, table, total = profile.table()
    rows = {(line.number, line.where): index for index, (line, _) in enumerate(table)}
    lines = tuple(
        LineRow(line.number, line.shown, line.share, tuple(cells), line.instructions > 0) for line, cells in table
    )
    advice = tuple(AdviceRow(rows[line.number, line.where], where, text) for line, where, text in profile.advice)
    steps = tuple(_step(step, rows.get((step.number, step.where), -1)) for step in profile.warp)
    worst = profile.worst_access
    start = profile.warp.index(worst[0]) if worst else 0
    return ProfileView(
        profile.title, tuple(profile.notes), profile.bars, tuple(heads), lines, tuple(total), advice,
        profile.drawings(), steps, start, profile.warp_ends,
    )  # fmt: skip


def _step(step: Step, row: int) -> WarpStep:
    return WarpStep(row, step.mask, tuple(map(_access, step.accesses)))


def _access(access: Access) -> AccessView:
    return AccessView(access.summary, access.space, access.size, access.at, access.cost > access.least)
