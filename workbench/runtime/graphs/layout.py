"""A layered layout of a directed graph without cycles: rows by longest path, few crossings, straight long edges.

After Sugiyama, Tagawa and Toda (1981): long edges get a bend in every row they pass; rows are ordered by the mean place
of their neighbours, down and up in turn; then everything moves towards its neighbours as far as the order allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

GAP_X, GAP_Y, BEND = 28.0, 46.0, 10.0
SWEEPS = 8

Point = tuple[float, float]


class Layout(msgspec.Struct, frozen=True):
    """The positions of a drawn graph, in pixels.

    Attributes:
        centres: of the nodes.
        lines: the points of each edge, from source to target.
        width, height: of the whole graph.
    """

    centres: tuple[Point, ...]
    lines: tuple[tuple[Point, ...], ...]
    width: float
    height: float


class _Spot(msgspec.Struct):
    """A node, or a bend of an edge.

    Attributes:
        width: in pixels.
        row: its number, 0 at the top.
        above, below: its neighbours in the rows above and below, by index.
        x: of its centre, in pixels.
        rank: its position in the order of its row.
    """

    width: float
    row: int
    above: list[int] = msgspec.field(default_factory=list[int])
    below: list[int] = msgspec.field(default_factory=list[int])
    x: float = 0.0
    rank: float = 0.0


def layered(sizes: Sequence[Point], rows: Sequence[int], edges: Sequence[tuple[int, int]]) -> Layout:
    """Return a layout of nodes of these sizes.

    Args:
        sizes: width and height of each node, in pixels.
        rows: the row of each node, 0 at the top; an edge leads to a later row.
        edges: (source, target) by index.
    """
    spots = [_Spot(width, row) for (width, _), row in zip(sizes, rows, strict=True)]
    chains = [_chain(spots, source, target) for source, target in edges]
    grid: list[list[int]] = [[] for _ in range(max(rows, default=-1) + 1)]
    for n, spot in enumerate(spots):
        grid[spot.row].append(n)
    _order(spots, grid)
    _place(spots, grid)
    left = min((s.x - s.width / 2 for s in spots), default=0.0)
    heights = [max((sizes[n][1] for n in row if n < len(sizes)), default=0.0) for row in grid]
    middles = [sum(heights[:k]) + GAP_Y * k + h / 2 for k, h in enumerate(heights)]
    at = [(spot.x - left, middles[spot.row]) for spot in spots]
    lines: list[tuple[tuple[float, float], ...]] = []
    for chain in chains:
        first, *bends, last = chain
        start = (at[first][0], at[first][1] + sizes[first][1] / 2)
        end = (at[last][0], at[last][1] - sizes[last][1] / 2)
        lines.append((start, *(at[b] for b in bends), end))
    width = max((s.x + s.width / 2 - left for s in spots), default=0.0)
    height = sum(heights) + GAP_Y * max(0, len(grid) - 1)
    return Layout(tuple(at[: len(sizes)]), tuple(lines), width, height)


def _chain(spots: list[_Spot], source: int, target: int) -> list[int]:
    """Add a bend in each row between the ends of an edge; return the indices of the spots that the edge passes.

    Neighbours on the way are added to the spots' `above` and `below`.
    """
    chain = [source]
    for row in range(spots[source].row + 1, spots[target].row):
        spots.append(_Spot(BEND, row))
        chain.append(len(spots) - 1)
    chain.append(target)
    for upper, lower in pairwise(chain):
        spots[upper].below.append(lower)
        spots[lower].above.append(upper)
    return chain


def _order(spots: list[_Spot], grid: list[list[int]]) -> None:
    """Sort each row of the grid so that few edges cross: the order with the fewest crossings of several sweeps."""
    for row in grid:
        _rank(spots, row)
    best, fewest = [list(row) for row in grid], _crossings(spots, grid)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for row in grid if down else reversed(grid):
            row.sort(key=lambda n: _mean(spots, spots[n].above if down else spots[n].below, spots[n].rank))
            _rank(spots, row)
        now = _crossings(spots, grid)
        if now < fewest:
            best, fewest = [list(row) for row in grid], now
    for row, order in zip(grid, best, strict=True):
        row[:] = order
        _rank(spots, row)


def _rank(spots: list[_Spot], row: list[int]) -> None:
    """Set each spot's rank to its position in the row."""
    for position, n in enumerate(row):
        spots[n].rank = position


def _mean(spots: list[_Spot], neighbours: list[int], otherwise: float) -> float:
    """Return the mean rank of the neighbours; `otherwise` if there are none."""
    return sum(spots[m].rank for m in neighbours) / len(neighbours) if neighbours else otherwise


def _crossings(spots: list[_Spot], grid: list[list[int]]) -> int:
    """Count the pairs of edges between neighbouring rows that cross: inversions, counted with a tree of sums."""
    total = 0
    for upper, lower in pairwise(grid):
        tree = [0] * (len(lower) + 1)
        seen = 0
        for n in upper:
            ends = sorted(int(spots[m].rank) for m in spots[n].below)
            for end in ends:
                total += seen - _count(tree, end + 1)
            for end in ends:
                seen += 1
                at = end + 1
                while at < len(tree):
                    tree[at] += 1
                    at += at & -at
    return total


def _count(tree: list[int], at: int) -> int:
    """Return the sum of the first `at` entries of a Fenwick tree (one-based)."""
    total = 0
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


def _place(spots: list[_Spot], grid: list[list[int]]) -> None:
    """Set the position of each spot along its row, as near to its neighbours as the order and the gaps allow."""
    for row in grid:
        _spread(spots, row, [0.0] * len(row))
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in grid if down else reversed(grid):
            wanted: list[float] = []
            for n in row:
                near = spots[n].above if down else spots[n].below
                wanted.append(sum(spots[m].x for m in near) / len(near) if near else spots[n].x)
            _spread(spots, row, wanted)


def _spread(spots: list[_Spot], row: list[int], wanted: list[float]) -> None:
    """Set positions in a row to those nearest to the wanted ones (least squares) that keep the order and the gaps.

    Spots that touch move as one group.
    """
    groups: list[tuple[float, int, int]] = []  # sum of wanted places less offsets, first member, members
    offsets, reach = list[float](), 0.0
    for k, n in enumerate(row):
        half = spots[n].width / 2
        reach += (half + GAP_X) if k else 0.0
        offsets.append(reach)
        reach += half
        groups.append((wanted[k] - offsets[k], k, 1))
        while len(groups) > 1 and groups[-2][0] / groups[-2][2] > groups[-1][0] / groups[-1][2]:
            total, _, size = groups.pop()
            before, first, others = groups.pop()
            groups.append((before + total, first, others + size))
    for total, first, size in groups:
        for k in range(first, first + size):
            spots[row[k]].x = total / size + offsets[k]
