"""An array's static fallback: a plot or an image as a data-URI picture, a histogram, a table; all in ASCII too."""

from __future__ import annotations

from html import escape

import numpy as np

from kernel_ext.views import html
from kernel_ext.views.arrays.array_view import ArrayView, HistogramView, PartView, blend, unpacked

_WIDTH, _HEIGHT, _LEFT = 560, 150, 8
_INK, _SHADES = "#2b7bba", " .:-=+*#%@"
_BAD = (255, 0, 200)


def array_text(view: ArrayView) -> str:
    """Format an array in ASCII: its facts, and a plot in characters; an array of structs as its table."""
    if view.fields:
        return html.ascii_only(f"{headline(view)}\n{view.values}")
    rows = [headline(view), "  ".join(f"{name} {value}" for name, value in view.facts)]
    for part in view.parts:
        rows += [part.name] if part.name else []
        rows += _characters(part, view)
    return html.ascii_only("\n".join(rows))


def array_html(view: ArrayView) -> str:
    """Format an array as static HTML: headline, pictures, and numbers folded away; few values come first."""
    pictures = []
    for part in view.parts:
        alt = f"{view.name} {part.name}".strip()
        label = html.line(part.name) if part.name else ""
        pictures.append(label + (_plot(part, view, alt) if part.kind == "line" else _image(part, view, alt)))
    spread = html.svg_image(_bars(view.histogram), f"histogram of {view.name}") if view.histogram else ""
    look = "margin:0;background:transparent;white-space:pre;overflow-x:auto"
    values = f'<pre tabindex="0" style="{look}">{escape(view.values)}</pre>'
    if view.few:
        pictures = [
            values,
            html.folded(f"picture {view.field and f'of {view.field}'}".strip(), "".join(pictures) + _scale(view)),
        ]
    else:
        pictures.append(_scale(view))
    listed = "" if view.few else values
    details = html.folded("numbers, values and histogram", html.table((), view.facts) + listed + spread)
    return html.box(html.line(headline(view)), *pictures, details)


def headline(view: ArrayView) -> str:
    """Return a line on the array: name, index, dtype and shape, and the counts of NaN and infinities."""
    index = f" at [{', '.join(map(str, view.at))}]" if view.at else ""
    wrong = [f"{value.split(',')[0]} {name}" for name, value in view.facts if name in ("NaN", "infinite")]
    return " · ".join([f"{view.name}{index}: {view.kind}", *wrong])


def pixels(part: PartView, view: ArrayView) -> np.ndarray:
    """Return the picture of a part as `uint8[rows, columns, 3]`; points that are not finite have their own colour."""
    if part.kind == "rgb":
        pixels = np.frombuffer(part.low, np.uint8).reshape(part.rows, part.columns, 3).copy()
    else:
        pixels = blend(unpacked(part.low).reshape(part.rows, part.columns).astype(float), view.stops, view.span)
    pixels.reshape(-1, 3)[list(part.bad)] = _BAD
    return pixels


def _image(part: PartView, view: ArrayView, alt: str) -> str:
    """Return a part's image as HTML: a PNG as data URI, enlarged to at most `_WIDTH` pixels."""
    wide = f"image-rendering:pixelated;width:{min(_WIDTH, max(160, part.columns * 2))}px"
    return f"<div>{html.image('image/png', html.png(pixels(part, view)), alt, wide)}</div>"


def _scale(view: ArrayView) -> str:
    """Format the meaning of images' colours as HTML; empty if no part is coloured by its value."""
    if view.histogram is None or all(part.kind != "image" for part in view.parts):
        return ""
    ramp = html.png(blend(np.linspace(view.low, view.high, 60)[None, :], view.stops, view.span))
    bar = html.image("image/png", ramp, "colours from the smallest to the largest", "width:120px;height:10px")
    return f"<div>{view.low:.4g} {bar} {view.high:.4g}</div>"


def _plot(part: PartView, view: ArrayView, alt: str) -> str:
    """Return a line part as an HTML image: a plot with gaps and marks at values that are not finite."""
    low, high = unpacked(part.low).astype(float), unpacked(part.high).astype(float)
    across = (_WIDTH - 2 * _LEFT) / max(1, part.columns - 1)
    span = (view.high - view.low) or 1.0

    def y(value: float) -> float:
        return 6 + (_HEIGHT - 26) * (1 - (value - view.low) / span)

    parts, steps, pen = [], [], "M"
    for k, (a, b) in enumerate(zip(low, high, strict=True)):
        if np.isnan(a):
            pen = "M"
            continue
        x = _LEFT + k * across
        steps.append(f"{pen}{x:.1f} {y(a):.1f}" + (f"V{y(b):.1f}" if b > a else ""))
        pen = "L"
    parts.append(f'<path d="{"".join(steps)}" fill="none" stroke="{_INK}" stroke-width="1.5" stroke-linecap="round"/>')
    none = np.isnan(np.pad(low, 1, constant_values=np.nan))
    for k in np.flatnonzero(~none[1:-1] & none[:-2] & none[2:]):
        parts.append(f'<circle cx="{_LEFT + k * across:.1f}" cy="{y(low[k]):.1f}" r="3" fill="{_INK}"/>')
    for k in part.bad:
        parts.append(f'<path d="M{_LEFT + k * across:.1f} 4v{_HEIGHT - 22}" stroke="#ff00c8" stroke-width="1.5"/>')
    labels = (
        (f"{view.low:.4g} … {view.high:.4g}", "start", _LEFT),
        (f"{view.shape[-1]} elements", "end", _WIDTH - _LEFT),
    )
    parts += [
        f'<text x="{x}" y="{_HEIGHT - 4}" fill="#767676" text-anchor="{anchor}">{text}</text>'
        for text, anchor, x in labels
    ]
    return html.svg_image(_svg(parts, _HEIGHT), alt)


def _bars(histogram: HistogramView) -> str:
    """Return a histogram as an SVG: a bar for each bin, the ends of the range, and the largest count."""
    most, count = max(histogram.counts), len(histogram.counts)
    step = (_WIDTH - 2 * _LEFT) / count
    parts = []
    for k, number in enumerate(histogram.counts):
        tall = (_HEIGHT - 30) * number / most
        corner = f'x="{_LEFT + k * step:.1f}" y="{_HEIGHT - 20 - tall:.1f}"'
        parts.append(f'<rect {corner} width="{max(1, step - 1):.1f}" height="{tall:.1f}" fill="{_INK}"/>')
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 4}" fill="#767676">{histogram.low:.4g}</text>')
    end = f'x="{_WIDTH - _LEFT}" y="{_HEIGHT - 4}" fill="#767676" text-anchor="end"'
    parts.append(f"<text {end}>{histogram.high:.4g}, most {most}</text>")
    return _svg(parts, _HEIGHT)


def _svg(parts: list[str], height: int) -> str:
    """Return an SVG document of the width `_WIDTH` and this height in pixels, with `parts` as its elements."""
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    font = 'font-family="ui-monospace,monospace" font-size="11"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{"".join(parts)}</svg>'


def _light(part: PartView, view: ArrayView) -> np.ndarray:
    """Return the lightness of each point of a coloured picture, scaled to the view's range."""
    shares = pixels(part, view).astype(float) @ (0.299 / 255, 0.587 / 255, 0.114 / 255)
    return view.low + shares * (view.high - view.low)


def _characters(part: PartView, view: ArrayView) -> list[str]:
    """Return a part as lines of characters: a line in eight rows, an image as shades; `!` marks points not finite."""
    span = (view.high - view.low) or 1.0
    if part.kind != "line":
        values = unpacked(part.low).reshape(part.rows, part.columns) if part.kind == "image" else _light(part, view)
        bad = np.isin(np.arange(values.size), part.bad).reshape(values.shape)
        down, across = max(1, -(-part.rows // 24)), max(1, -(-part.columns // 64))
        level = np.clip(np.nan_to_num((values - view.low) / span), 0.0, 1.0)[::down, ::across]
        shades = (level * (len(_SHADES) - 1)).round().astype(int)
        marks = bad[::down, ::across]
        return [
            "".join("!" if m else _SHADES[s] for s, m in zip(*row, strict=True))
            for row in zip(shades, marks, strict=True)
        ]
    step = max(1, -(-part.columns // 64))
    values = (unpacked(part.high) / 2 + unpacked(part.low) / 2)[::step]
    bad = {k // step for k in part.bad}
    rows = np.clip(np.nan_to_num((values - view.low) / span * 7), 0, 7).round().astype(int)
    return [
        "".join("!" if k in bad else "*" if r == height else " " for k, r in enumerate(rows)).rstrip()
        for height in range(7, -1, -1)
    ]
