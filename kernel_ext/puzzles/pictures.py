"""Pictures of a puzzle: arrays as rows of boxes with arrows between, and a map of where an output is wrong.

They are images, which an untrusted notebook keeps, in colours that read on light and on dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from kernel_ext.views import html

CELL = 34
LEFT, TOP = 70, 22
INK, BLUE, RED = "#7a7a7a", "#2b7bba", "#d6604d"
MAP_WIDTH, MAP_COLUMNS = 480, 64


@dataclass(frozen=True)
class Boxes:
    """Represents an array, or threads, as boxes in rows and columns.

    Attributes:
        name: the text next to them.
        cells: the text of each box, row by row; a flat sequence is one row.
        at: column and row of the first box, in boxes.
        marked: boxes (row, column) filled blue.
        warned: boxes filled red.
        round: draw circles: these are threads.
        above: write the name above them, not on their left.
    """

    name: str
    cells: Sequence[Sequence[object]] | Sequence[object]
    at: tuple[float, float] = (0, 0)
    marked: frozenset[tuple[int, int]] = frozenset()
    warned: frozenset[tuple[int, int]] = frozenset()
    round: bool = False
    above: bool = False

    @property
    def rows(self) -> list[list[str]]:
        """The texts of the boxes, as a list of rows; a flat sequence is one row."""
        nested = [row if isinstance(row, list | tuple) else None for row in self.cells]
        rows = [self.cells] if None in nested else nested
        return [[str(text) for text in row or ()] for row in rows]

    def centre(self, row: int, column: int) -> tuple[float, float]:
        """Return x and y of the middle of the box in this row and column, in pixels of the picture."""
        return LEFT + (self.at[0] + column + 0.5) * CELL, TOP + (self.at[1] + row + 0.5) * CELL


@dataclass(frozen=True)
class Arrow:
    """Represents an arrow from a box to a box, each given as (number of the `Boxes`, row, column)."""

    start: tuple[int, int, int]
    end: tuple[int, int, int]
    red: bool = False


@dataclass(frozen=True)
class Picture:
    """Represents a drawing of a puzzle's task.

    Attributes:
        title: what a screen reader says.
        boxes: arrays and threads.
        arrows: what goes where.
        notes: (column, row, text), in boxes.
    """

    title: str
    boxes: tuple[Boxes, ...]
    arrows: tuple[Arrow, ...] = ()
    notes: tuple[tuple[float, float, str], ...] = field(default=())

    def svg(self) -> str:
        """Return the picture as SVG."""
        corners = [b.centre(len(b.rows) - 1, max(map(len, b.rows)) - 1) for b in self.boxes]
        texts = [(LEFT + x * CELL + 7 * len(text), TOP + y * CELL) for x, y, text in self.notes]
        width = max(x for x, _ in corners + texts) + CELL
        height = max(y for _, y in corners + texts) + CELL
        parts = [part for boxes in self.boxes for part in _boxes(boxes)]
        parts += [_arrow(self.boxes, arrow) for arrow in self.arrows]
        parts += [_text(LEFT + x * CELL, TOP + y * CELL, note, "start") for x, y, note in self.notes]
        return _svg(width, height, self.title, parts)

    def __repr__(self) -> str:
        """Return the title."""
        return self.title

    def _repr_html_(self) -> str:
        """Return the drawing as an HTML image."""
        return html.svg_image(self.svg(), self.title)


def _svg(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """Return an SVG document of that size in pixels, with a title for screen readers and `parts` as its elements."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="ui-monospace,monospace" font-size="12" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    """Return an SVG text, vertically centred at (x, y) in pixels; `anchor`: `start`, `middle` or `end`."""
    return f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}" fill="{INK}">{escape(text)}</text>'


def _boxes(boxes: Boxes) -> Iterable[str]:
    """Yield the SVG elements of an array or of threads: the name, and a box or circle with a text per element."""
    x, y = boxes.centre(0, 0)
    if boxes.above:
        yield _text(x - CELL / 2, y - CELL / 2 - 10, boxes.name, "start")
    else:
        yield _text(x - CELL / 2 - 8, y, boxes.name, "end")
    for r, row in enumerate(boxes.rows):
        for c, text in enumerate(row):
            x, y = boxes.centre(r, c)
            colour = RED if (r, c) in boxes.warned else BLUE
            fill = f'fill="{colour}" fill-opacity="{0.35 if (r, c) in boxes.marked | boxes.warned else 0}"'
            look = f'{fill} stroke="{INK}" stroke-opacity="0.6"'
            if boxes.round:
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{CELL / 2 - 4}" {look}/>'
            else:
                half = CELL / 2 - 1
                yield f'<rect x="{x - half:.1f}" y="{y - half:.1f}" width="{2 * half}" height="{2 * half}" {look}/>'
            yield _text(x, y, text)


def _arrow(boxes: tuple[Boxes, ...], arrow: Arrow) -> str:
    """Return the SVG of an arrow between two elements of `boxes`, from edge to edge."""
    (x0, y0), (x1, y1) = (boxes[n].centre(r, c) for n, r, c in (arrow.start, arrow.end))
    length = math.hypot(x1 - x0, y1 - y0)
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    gap = CELL / 2 / max(abs(dx), abs(dy)) + 2  # leave and reach the edge of a box
    x0, y0, x1, y1 = x0 + gap * dx, y0 + gap * dy, x1 - gap * dx, y1 - gap * dy
    head = f"M{x1:.1f} {y1:.1f}l{-7 * dx - 3 * dy:.1f} {-7 * dy + 3 * dx:.1f}l{6 * dy:.1f} {-6 * dx:.1f}z"
    colour = RED if arrow.red else BLUE
    line = f'<path d="M{x0:.1f} {y0:.1f}L{x1 - 5 * dx:.1f} {y1 - 5 * dy:.1f}" stroke="{colour}" stroke-width="1.5"/>'
    return f'{line}<path d="{head}" fill="{colour}"/>'


def difference_map(wrong: np.ndarray, name: str) -> str:
    """Return an image of where an array is wrong: red there, grey elsewhere; a long row is folded.

    Args:
        wrong: a bool per element.
        name: the array's name.

    Returns:
        HTML, with a caption.
    """
    flat = wrong.reshape(-1, wrong.shape[-1]) if wrong.ndim > 1 else wrong.reshape(1, -1)
    if wrong.ndim < 2 and wrong.size > MAP_COLUMNS:
        flat = np.resize(np.pad(wrong.ravel(), (0, -wrong.size % MAP_COLUMNS)), (-(-wrong.size // MAP_COLUMNS), 64))
    side = min(14.0, MAP_WIDTH / flat.shape[1])
    rows, columns = flat.shape
    parts = []
    for row in range(rows):
        remaining = wrong.size - row * columns if wrong.ndim < 2 else columns
        parts.append(_run(row, 0, min(columns, remaining), side, INK, 0.25))
        edges = np.flatnonzero(np.diff(np.concatenate([[0], flat[row].astype(np.int8), [0]])))
        parts += [_run(row, a, b, side, RED, 0.9) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    count = int(wrong.sum())
    title = f"{name}: {count} of {wrong.size} elements differ"
    picture = html.svg_image(_svg(columns * side + 1, rows * side + 1, title, parts), title)
    caption = f"Where {name} differs" + (f", in rows of {columns}" if wrong.ndim < 2 and rows > 1 else "")
    return f'<div style="margin-top:4px;opacity:0.8">{escape(caption)}</div><div>{picture}</div>'


def _run(row: int, start: int, end: int, side: float, colour: str, opacity: float) -> str:
    """Return an SVG rectangle over the columns `start` to `end` (exclusive) of a row of squares of `side` pixels."""
    return (
        f'<rect x="{start * side:.1f}" y="{row * side + 0.5:.1f}" width="{(end - start) * side:.1f}" '
        f'height="{side - 1:.1f}" fill="{colour}" fill-opacity="{opacity}"/>'
    )
