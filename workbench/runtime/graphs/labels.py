"""Where the labels of a graph's edges stand: beside their line, clear of other labels, and of other lines where it can.

After the layout, so that a label never moves a box: each label takes the best of a few places along the last piece of
its edge, right or left of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

LETTER, TALL, AWAY = 5.6, 12.0, 5.0
"""Width of a letter and height of a label at 10 pixels, and the distance from the line."""
LONGEST = 22
"""Letters of a label; the rest is an ellipsis, and stands in full where an edge is pointed at."""
_ALONG = (0.5, 0.35, 0.65, 0.22, 0.78)
_CROSSED, _COVERED = 1.0, 10.0
_CROWD = 40  # edges between two rows, above which no label finds a clear place, and none is looked for

Point = Sequence[float]
_Box = tuple[float, float, float, float]


def shortened(name: str) -> str:
    """Return the name, with an ellipsis in place of what is too long."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def label_places(lines: Sequence[Sequence[Point]], names: Sequence[str]) -> list[tuple[float, float]]:
    """For each line (its points from source to target) the left end of its label's base line.

    Args:
        lines: points of each edge, pixels; between two of them runs the curve that pictures draw.
        names: the labels.
    """
    near: dict[int, list[int]] = defaultdict(list)  # by the height at which a piece begins
    for k, line in enumerate(lines):
        for (_, y), _ in pairwise(line):
            near[round(y)].append(k)
    pieces = [_pieces(line) for line in lines]
    taken: dict[int, list[_Box]] = defaultdict(list)
    found = []
    for k, (line, name) in enumerate(zip(lines, names, strict=True)):
        (x, y), end = line[-2:]
        width, row = LETTER * len(name), round(y)
        places = [_beside(_on((x, y), end, t), width, side) for t in _ALONG for side in (1, -1)]
        others = [pieces[n] for n in near[row] if n != k]
        costs = [_cost(box, taken[row], others) for box in places] if len(others) < _CROWD else [0.0]
        best = places[costs.index(min(costs))]
        taken[row].append(best)
        found.append((best[0], best[3] - 2.0))
    return found


def _on(start: Point, end: Point, t: float) -> tuple[float, float]:
    """The point of the curve from `start` to `end` at the parameter t, from 0 to 1: it leaves and arrives upright."""
    eased = 3 * t * t - 2 * t**3
    # A cubic whose inner control points stand half way down, above each other's ends.
    down = 1.5 * t * (1 - t) + t**3
    return start[0] + (end[0] - start[0]) * eased, start[1] + (end[1] - start[1]) * down


def _beside(point: tuple[float, float], width: float, side: int) -> _Box:
    left = point[0] + AWAY if side > 0 else point[0] - AWAY - width
    return left, point[1] - TALL / 2, left + width, point[1] + TALL / 2


def _cost(box: _Box, labels: Sequence[_Box], others: Sequence[Sequence[_Box]]) -> float:
    covered = sum(_COVERED for label in labels if _overlap(box, label))
    return covered + sum(_CROSSED for line in others if any(_overlap(box, piece) for piece in line))


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


def _pieces(line: Sequence[Point]) -> list[_Box]:
    """Boxes that together cover the line."""
    points = [_on(a, b, k / 8) for a, b in pairwise(line) for k in range(9)]
    return [(min(p[0], q[0]), min(p[1], q[1]), max(p[0], q[0]), max(p[1], q[1])) for p, q in pairwise(points)]
