"""Pieces of static HTML that survive an untrusted notebook, and numbers with units.

The pieces are tables, inline styles, pictures as data-URI images. Colours are a front end's variables with fallbacks
that read on light and on dark.

Times, sizes and ages are written as people read them: two significant digits and a unit. It is done in one place,
because the card, its static fallback and the one-line greeting must never round differently.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from itertools import zip_longest

import numpy as np

MONO = "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:var(--jp-code-font-size,13px)"
LINE = "var(--jp-border-color2,rgba(128,128,128,0.35))"
CELL = "text-align:left;padding:1px 12px 1px 0;vertical-align:top"


def table(titles: Iterable[str], rows: Iterable[Iterable[str]], colours: Sequence[str] = ()) -> str:
    """Format a table as HTML; cells are plain text, and a row may begin with a square of its colour."""
    head = "".join(f'<th style="{CELL};border-bottom:1px solid {LINE}">{escape(t)}</th>' for t in titles)
    body = ""
    for row, colour in zip_longest(rows, colours):
        mark = f'<span style="display:inline-block;width:10px;height:10px;background-color:{colour}"></span> '
        body += "<tr>" + "".join(
            f'<td style="{CELL}">{mark if colour and not k else ""}{escape(c)}</td>' for k, c in enumerate(row)
        )
        body += "</tr>"
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f'<table style="border-collapse:collapse;text-align:left">{top}<tbody>{body}</tbody></table>'


def folded(title: str, inner: str) -> str:
    """Format HTML that is folded away under a title, in a `details` element."""
    return f'<details><summary style="display:list-item">{escape(title)}</summary>{inner}</details>'


def box(*parts: str) -> str:
    """Format pieces of HTML below each other, in the code font."""
    return f'<div style="{MONO}">{"".join(parts)}</div>'


def line(text: str) -> str:
    """Format text as a `div`, escaped."""
    return f"<div>{escape(text)}</div>"


def pressed(word: str, title: str, before: str = "") -> str:
    """Return a clickable word that follows `before`, as HTML; it stays hidden unless an extension listens.

    Args:
        word: `stop` or `run`, as the extension's `watchButtons` knows them.
        title: what it does.
        before: a text that is hidden with it.
    """
    look = "all:revert;font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer"
    return (
        f'<span class="wb-pressed" hidden>{escape(before)}<button data-workbench-{word} title="{escape(title)}" '
        f'style="{look};text-decoration:underline">{escape(word)}</button></span>'
    )


def stale(text: str) -> str:
    """Format a mark above an output as HTML: why it is stale, and a button that runs its cell again."""
    style = f"padding:2px 8px;background:rgba(230,160,30,0.2);border-bottom:1px solid {LINE}"
    again = f'<span class="wb-by-hand">run the cell again</span>{pressed("run", "Run the cell again")}'
    return f'<div role="status" class="wb-stale" style="{MONO};{style}">{escape(text)} · {again}</div>'


def svg_image(svg: str, alt: str) -> str:
    """Format SVG as an HTML image."""
    return image("image/svg+xml", svg.encode(), alt)


def image(kind: str, data: bytes, alt: str, style: str = "") -> str:
    """Format an HTML image from data of the MIME type `kind`, no wider than the page."""
    encoded = base64.b64encode(data).decode()
    return f'<img alt="{escape(alt)}" style="max-width:100%;{style}" src="data:{kind};base64,{encoded}">'


def png(pixels: np.ndarray) -> bytes:
    """Return a PNG file of pixels `uint8[rows, columns, 3]`, or 4 with an alpha (PNG specification, third edition)."""
    rows, columns, parts = pixels.shape

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], axis=1)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 6 if parts == 4 else 2, 0, 0, 0)
    chunks = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(lines.tobytes())), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def text_table(rows: Iterable[Iterable[str]]) -> list[str]:
    """Return rows as lines with aligned columns."""
    listed = [tuple(row) for row in rows]
    widths = [max((len(r[k]) for r in listed), default=0) for k in range(max(map(len, listed), default=0))]
    return ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=False)).rstrip() for r in listed]


_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_AGES = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_ASCII = str.maketrans({"µ": "u", "·": "|", "→": "->", "…": "...", "–": "-", "×": "x", "−": "-", "’": "'", "█": "#"})


def two_digits(value: float) -> str:
    """Return a number as text without exponent, with one decimal below 10 and none from there on: 0.6, 1.1, 14, 130."""
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def seconds(value: float) -> str:
    """Return a duration in seconds as text: `12 µs`, `1.1 ms`, `0.6 s`; from 0.5 s on in seconds."""
    if value >= 0.5:
        return f"{two_digits(value)} s"
    for unit, name in _TIMES:
        if value >= unit:
            return f"{two_digits(value / unit)} {name}"
    return "0 µs"


def milliseconds(value: float) -> str:
    """Return a duration in seconds as a number of milliseconds without a unit: `1.1`, `14`."""
    return two_digits(value * 1e3)


def size(count: int) -> str:
    """Return a number of bytes as text: `84 kB`."""
    for unit, name in _SIZES:
        if count >= unit:
            return f"{two_digits(count / unit)} {name}"
    return f"{count} B"


def age(value: float) -> str:
    """Return a number of seconds in the past as text: `2 d ago`; below a minute `just now`."""
    for unit, name in _AGES:
        if value >= unit:
            return f"{int(value // unit)} {name} ago"
    return "just now"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 error`, `2 errors`, `2 copies`."""
    plural = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{number} {noun if number == 1 else plural}"


def ascii_only(text: str) -> str:
    """Return the text with signs such as `µ` and `·` replaced by ASCII, for a terminal or a log."""
    return text.translate(_ASCII)
