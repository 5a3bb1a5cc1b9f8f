"""Two small pictures as SVG: a line over one axis, a map of colours over two.

They read on light and on dark, need no library, and are shown inside an `<img>`, which every front end keeps.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from html import escape

Show = Callable[[float], str]
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 560, 270, 100, 30, 40
PRE = "margin:0;background:transparent;white-space:pre-wrap;word-break:normal;overflow-wrap:break-word"
"""Style of text that breaks between words: JupyterLab breaks within them."""
WIDE = 8.0
"""From this ratio of the largest to the smallest x on, the axis is logarithmic."""
_INK, _LINE, _BEST = "#8a8a8a", "#2b7bba", "#d9793b"
_COLD, _HOT = (240, 246, 252), (8, 64, 129)


def line_chart(
    title: str,
    xs: Sequence[float],
    labels: Sequence[str],
    ys: Sequence[float],
    show: Show,
    ceiling: float | None = None,
) -> str:
    """Draw a line of `ys` over `xs` as SVG text; the y axis begins at 0, and the x axis is logarithmic for wide ranges.

    Args:
        title: of the picture.
        xs: the x of each point.
        labels: the text below each point.
        ys: the y of each point.
        show: formats a y as text.
        ceiling: draw a dashed line at this y; None: none.
    """
    positions = _positions(xs)
    top = 1.08 * max((*ys, ceiling or 0.0), default=1.0) or 1.0

    def at(k: int, y: float) -> tuple[float, float]:
        return _LEFT + positions[k] * (_WIDTH - _LEFT - 24), _HEIGHT - _BOTTOM - y / top * (_HEIGHT - _TOP - _BOTTOM)

    parts = [_open(title, _WIDTH, _HEIGHT)]
    for step in range(5):
        x, y = at(0, top * step / 4)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - 24}" stroke="{_INK}" stroke-opacity="0.25"/>')
        parts.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" fill="{_INK}" text-anchor="end">{show(top * step / 4)}</text>'
        )
    if ceiling is not None:
        _, y = at(0, ceiling)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - 24}" stroke="{_BEST}" stroke-dasharray="5 4"/>')
        parts.append(
            f'<text x="{_WIDTH - 26}" y="{y - 4:.1f}" fill="{_BEST}" text-anchor="end">measured ceiling</text>'
        )
    points = [at(k, y) for k, y in enumerate(ys)]
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts.append(f'<polyline points="{drawn}" fill="none" stroke="{_LINE}" stroke-width="2"/>')
    every = max(1, len(xs) // 9)
    for k, (x, y) in enumerate(points):
        tip = f"<title>{escape(labels[k])}: {escape(show(ys[k]))}</title>"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{_LINE}">{tip}</circle>')
        if k % every == 0:
            below = f'x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16}" fill="{_INK}" text-anchor="middle"'
            parts.append(f"<text {below}>{escape(labels[k])}</text>")
    return "".join([*parts, "</svg>"])


def heat_map(
    title: str, rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], show: Show
) -> str:
    """Draw a map of `values` as SVG, dark where they are small; the smallest has a frame.

    Args:
        title: of the picture.
        rows: the text before each row.
        columns: the text below each column.
        values: a sequence for each row.
        show: formats a value as text.
    """
    wide = max(44, min(96, (_WIDTH - _LEFT) // max(1, len(columns))))
    width, height = max(_WIDTH, _LEFT + wide * len(columns) + 8), _TOP + 26 * len(rows) + 26
    every = [v for row in values for v in row]
    low, high = math.log(max(min(every), 1e-300)), math.log(max(*every, 1e-300))
    parts = [_open(title, width, height)]
    for r, (name, row) in enumerate(zip(rows, values, strict=True)):
        y = _TOP + 26 * r
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 17}" fill="{_INK}" text-anchor="end">{escape(name)}</text>')
        for c, value in enumerate(row):
            heat = 1.0 - (math.log(max(value, 1e-300)) - low) / ((high - low) or 1.0)
            red, green, blue = (round(a + (b - a) * heat) for a, b in zip(_COLD, _HOT, strict=True))
            frame = f' stroke="{_BEST}" stroke-width="2.5"' if value == min(every) else ""
            x = _LEFT + wide * c
            colour = f'fill="rgb({red},{green},{blue})"'
            parts.append(
                f'<rect x="{x + 1}" y="{y + 1}" width="{wide - 2}" height="24" {colour}{frame}/>'
                f'<text x="{x + wide / 2}" y="{y + 17}" fill="{"#fff" if heat > 0.5 else "#222"}" '
                f'text-anchor="middle">{escape(show(value))}</text>'
            )
    for c, name in enumerate(columns):
        x = _LEFT + wide * (c + 0.5)
        parts.append(f'<text x="{x}" y="{height - 9}" fill="{_INK}" text-anchor="middle">{escape(name)}</text>')
    return "".join([*parts, "</svg>"])


def image(svg: str, alt: str) -> str:
    """Return an SVG picture as an HTML `<img>`, which untrusted notebooks show too."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(alt)}" style="max-width:100%;vertical-align:top" src="data:image/svg+xml;base64,{data}">'


def bar(share: float, width: int = 24) -> str:
    """Return a bar of `#` for a terminal, `share` from 0 to 1."""
    return "#" * round(width * min(1.0, max(0.0, share)))


def _positions(xs: Sequence[float]) -> list[float]:
    """Map values to 0 … 1, by the logarithm if all are positive and far apart."""
    wide = min(xs, default=0.0) > 0 and max(xs) >= WIDE * min(xs)
    scaled = [math.log(x) if wide else x for x in xs]
    low, high = min(scaled, default=0.0), max(scaled, default=1.0)
    return [(s - low) / (high - low) if high > low else 0.5 for s in scaled]


def _open(title: str, width: int, height: int) -> str:
    """Return the opening tag of an SVG with its title, which the reader sees at the top left."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="ui-monospace,monospace" font-size="13" role="img"><title>{escape(title)}</title>'
        f'<text x="8" y="15" fill="{_INK}">{escape(title)}</text>'
    )
