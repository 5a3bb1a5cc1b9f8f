"""A profile as HTML that an untrusted notebook keeps: tables and inline styles, in the front end's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from workbench.api.measurement.chart import image
from workbench.api.profiling.drawing import Drawing
from workbench.backends.ptx.counters import Counts

_MONO = "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:var(--jp-code-font-size,13px)"
_LINE = "var(--jp-border-color2,rgba(128,128,128,0.35))"
_NUMBER = "text-align:right;padding:1px 10px 1px 0;white-space:nowrap"
_SOURCE = "text-align:left;padding:1px 8px 1px 0;white-space:pre-wrap;overflow-wrap:anywhere;min-width:14em"
_BAR = "display:inline-block;height:9px;background-color:"
_HEAT = "#4393c3"
_WORST = "#d6604d"
_FULL = 64
"""Pixels of a bar of the whole."""


def card_html(
    title: str, notes: Sequence[str], advice: Sequence[tuple[str, str]], heads: Sequence[str],
    rows: Sequence[tuple[Counts, str, str, float, Sequence[str]]], bars: str, pictures: Sequence[Drawing] = (),
) -> str:  # fmt: skip
    """Return the card of a profile.

    Args:
        title: the launch.
        notes: sentences on the whole; the first one says what the numbers are.
        advice: where and what, the worst first.
        heads: headings of the numbers.
        rows: of each line its counts, number, text, share of the bar from 0 to 1, and numbers; the last is the total.
        bars: what the bars are shares of.
        pictures: below the table.
    """
    listed = "".join(
        f'<div style="padding:1px 0"><b>{escape(where)}</b> {escape(text)}</div>' for where, text in advice
    )
    worst = max((share for _, _, _, share, _ in rows[:-1]), default=0.0)
    body = "".join(_row(row, worst, last=row is rows[-1]) for row in rows)
    head = "".join(f'<th style="{_NUMBER};font-weight:normal;opacity:0.7">{escape(h)}</th>' for h in heads)
    table = (
        f'<div style="overflow-x:auto;max-width:100%"><table style="border-collapse:collapse;{_MONO}"><thead><tr>'
        f'<th style="{_NUMBER};font-weight:normal;opacity:0.7">line</th>'
        f'<th style="text-align:left;font-weight:normal;opacity:0.7;padding-right:8px">{escape(bars)}</th>'
        f'{head}<td style="{_SOURCE}"></td></tr></thead><tbody>{body}</tbody></table></div>'
    )
    box = '<span style="display:inline-block;vertical-align:top;max-width:100%;margin-right:4px">'
    drawn = "".join(f"{box}{image(picture.svg(), picture.title)}</span>" for picture in pictures)
    about = "".join(f'<div style="opacity:0.75">{escape(note)}</div>' for note in notes)
    return f'<div style="padding:2px 0"><div style="padding-bottom:2px"><b>{escape(title)}</b></div>{about}' + (
        f'<div style="padding:6px 0">{listed}</div>{table}<div style="padding-top:6px">{drawn}</div></div>'
    )


def _row(row: tuple[Counts, str, str, float, Sequence[str]], worst: float, last: bool) -> str:
    counts, number, text, share, numbers = row
    colour = _WORST if share and share == worst and not last else _HEAT
    width = round(_FULL * share)
    bar = f'<span style="{_BAR}{colour};width:{max(width, 1)}px"></span>' if share and not last else ""
    faint = "" if counts.instructions else ";opacity:0.55"
    above = f";border-top:1px solid {_LINE}" if last else ""
    cells = "".join(f'<td style="{_NUMBER}{above}">{escape(n)}</td>' for n in numbers)
    return (
        f'<tr><td style="{_NUMBER}{above};opacity:0.7">{escape(number)}</td>'
        f'<td style="text-align:left;min-width:{_FULL + 8}px{above}">{bar}</td>'
        f'{cells}<td style="{_SOURCE}{above}{faint}">{escape(text)}</td></tr>'
    )
