"""Pictures of a graph, and the layered layout under them.

A picture is boxes, lines and labels with their positions, and from these SVG; text, Graphviz and JSON show the same
graph.

**Layout** of a directed graph without cycles: rows by longest path, few crossings, straight long edges. After Sugiyama,
Tagawa and Toda (1981): long edges get a bend in every row they pass; rows are ordered by the mean place of their
neighbours, down and up in turn; then everything moves towards its neighbours as far as the order allows.
"""

from __future__ import annotations

import base64
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import msgspec

from workbench.runtime.graphs.body import Edge
from workbench.runtime.work import Nodes

GAP_X, GAP_Y, BEND = 28.0, 46.0, 10.0
SWEEPS = 8

Position = tuple[float, float]


class Layout(msgspec.Struct, frozen=True):
    """The positions of a drawn graph, in pixels.

    Attributes:
        centres: of the nodes.
        lines: the points of each edge, from source to target.
        width, height: of the whole graph.
    """

    centres: tuple[Position, ...]
    lines: tuple[tuple[Position, ...], ...]
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


def layered(sizes: Sequence[tuple[float, float]], rows: Sequence[int], edges: Sequence[tuple[int, int]]) -> Layout:
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


LABEL_LETTER, TALL, AWAY = 5.6, 12.0, 5.0
"""Width of a letter and height of a label at a font size of 10 pixels, and its distance from the line."""
LONGEST = 22
"""Letters of a label; a longer text is cut, and is shown in full where an edge is pointed at."""
_ALONG = (0.5, 0.35, 0.65, 0.22, 0.78)
_CROSSED, _COVERED = 1.0, 10.0
_CROWD = 40  # edges between two rows, above which no label finds a clear place, and none is looked for

Point = Sequence[float]
_Box = tuple[float, float, float, float]


def shortened(name: str) -> str:
    """Return a name, cut to `LONGEST` letters with an ellipsis at its end if it is longer."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def label_places(lines: Sequence[Sequence[Point]], names: Sequence[str]) -> list[tuple[float, float]]:
    """Return the position of each line's label: the left end of its baseline, so that labels cover few lines.

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
    positions: list[tuple[float, float]] = []
    for k, (line, name) in enumerate(zip(lines, names, strict=True)):
        (x, y), end = line[-2:]
        width, row = LABEL_LETTER * len(name), round(y)
        candidates = [_beside(_on((x, y), end, t), width, side) for t in _ALONG for side in (1, -1)]
        others = [pieces[n] for n in near[row] if n != k]
        costs = [_cost(box, taken[row], others) for box in candidates] if len(others) < _CROWD else [0.0]
        best = candidates[costs.index(min(costs))]
        taken[row].append(best)
        positions.append((best[0], best[3] - 2.0))
    return positions


def _on(start: Point, end: Point, t: float) -> tuple[float, float]:
    """Return the point of the curve from `start` to `end` at the parameter t, from 0 to 1.

    The curve leaves and arrives vertically.
    """
    eased = 3 * t * t - 2 * t**3
    # A cubic whose inner control points stand half way down, above each other's ends.
    down = 1.5 * t * (1 - t) + t**3
    return start[0] + (end[0] - start[0]) * eased, start[1] + (end[1] - start[1]) * down


def _beside(point: tuple[float, float], width: float, side: int) -> _Box:
    """Return the box of a label of this width to the right (`side` > 0) or left of a point, centred vertically."""
    left = point[0] + AWAY if side > 0 else point[0] - AWAY - width
    return left, point[1] - TALL / 2, left + width, point[1] + TALL / 2


def _cost(box: _Box, labels: Sequence[_Box], others: Sequence[Sequence[_Box]]) -> float:
    """Return the penalty for a label in this box: for the labels and for the lines (as pieces) that it covers."""
    covered = sum(_COVERED for label in labels if _overlap(box, label))
    return covered + sum(_CROSSED for line in others if any(_overlap(box, piece) for piece in line))


def _overlap(a: _Box, b: _Box) -> bool:
    """Return whether two boxes have a common point."""
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


def _pieces(line: Sequence[Point]) -> list[_Box]:
    """Return boxes that together cover the curves along a line's points."""
    points = [_on(a, b, k / 8) for a, b in pairwise(line) for k in range(9)]
    return [(min(p[0], q[0]), min(p[1], q[1]), max(p[0], q[0]), max(p[1], q[1])) for p, q in pairwise(points)]


FILLS = {"forward": "#cfe3fa", "adjoint": "#fbdcbd", "if": "#e6d9f5", "while": "#e6d9f5", "graph": "#e6d9f5"}
LINES = {"forward": "#2f6fb3", "adjoint": "#c0691c", "if": "#7a4fb0", "while": "#7a4fb0", "graph": "#7a4fb0"}
PLAIN_FILL, PLAIN_LINE, CRITICAL, WIRE, ORDER, LABELS = (
    "#ececec", "#7d7d7d", "#d64545", "#8a8a8a", "#8a8a8a", "#7d7d7d",
)  # fmt: skip
LETTER, BOX_HEIGHT, MARGIN = 7.0, 38.0, 12.0
LARGEST_PICTURE = 300
"""Nodes of the largest graph that a notebook output draws by itself; `to_svg` draws any."""


def critical_path(body: Nodes) -> list[int]:
    """Return the indices of the nodes along the longest path: in milliseconds if all nodes have them, else in nodes."""
    timed = all(node.milliseconds is not None for node in body.nodes)
    cost = [node.milliseconds or 0.0 if timed else 1.0 for node in body.nodes]
    total, before = list(cost), [-1] * len(cost)
    for edge in body.edges:
        if total[edge.source] + cost[edge.target] > total[edge.target]:
            total[edge.target], before[edge.target] = total[edge.source] + cost[edge.target], edge.source
    at = max(range(len(total)), key=total.__getitem__, default=-1)
    path: list[int] = []
    while at >= 0:
        path.append(at)
        at = before[at]
    return path[::-1]


def graph_data(body: Nodes) -> dict[str, Any]:
    """Return the nodes and edges of a body as plain data, for JSON; graphs inside nodes included."""
    path = critical_path(body)
    on_path, along = set(path), set(pairwise(path))
    nodes = [
        {
            "index": k,
            "kind": node.kind,
            "name": node.title,
            "dims": [] if node.bodies else list(node.size),
            "milliseconds": node.milliseconds,
            "critical": k in on_path,
            "bodies": {name: graph_data(inner) for name, inner in node.bodies.items()},
        }
        for k, node in enumerate(body.nodes)
    ]
    edges = [{**edge_facts(e), "critical": (e.source, e.target) in along} for e in body.edges]
    return {"device": body.device.name, "nodes": nodes, "edges": edges}


def edge_facts(edge: Edge) -> dict[str, Any]:
    """Return an edge as plain data, marked as not on the critical path."""
    because = [list(reason) for reason in edge.because]
    return {"source": edge.source, "target": edge.target, "arrays": list(edge.arrays), "because": because,
            "data": edge.carries_data, "critical": False}  # fmt: skip


def to_json(body: Nodes) -> str:
    """Return the nodes and edges of a body as JSON."""
    return json.dumps(graph_data(body), indent=1)


def placed(body: Nodes) -> dict[str, Any]:
    """Return `graph_data` with positions: each node's box (x, y, width, height), each edge's points and label position.

    Nodes of the graphs inside a node follow those of the graph itself, `inside` its number, and lie in its box; in a
    picture of more than `LARGEST_PICTURE` nodes they are left out.
    """
    return _laid_out(body, graph_data(body), is_small(body))


def is_small(body: Nodes) -> bool:
    """Return whether a graph has at most `LARGEST_PICTURE` nodes, so that its picture shows graphs inside nodes."""
    return sum(1 for _ in body.walk()) <= LARGEST_PICTURE


def _laid_out(body: Nodes, picture: dict[str, Any], opened: bool) -> dict[str, Any]:
    """Return the picture with titles, details and positions added to its nodes and edges, in place.

    If `opened`, graphs inside nodes are drawn in the nodes' boxes. Nodes' bodies become counts of nodes.
    """
    for work, node in zip(body.nodes, picture["nodes"], strict=True):
        node.update(title=_title(node), detail=_detail(node))
        inside = node["bodies"]
        node["bodies"] = {name: len(nested["nodes"]) for name, nested in inside.items()}
        if opened:
            node["parts"] = [_laid_out(inner, inside[name], True) for name, inner in work.bodies.items()]
    return arranged(picture)


def arranged(picture: dict[str, Any]) -> dict[str, Any]:
    """Add positions to a picture whose nodes have a title and a detail, and whose edges have source, target and arrays.

    The picture is changed in place, and returned.
    """
    rows = [0] * len(picture["nodes"])
    pairs: list[tuple[int, int]] = [(edge["source"], edge["target"]) for edge in picture["edges"]]
    for source, target in sorted(pairs):  # an edge leads to a later node
        rows[target] = max(rows[target], rows[source] + 1)
    sizes = [_size(node) for node in picture["nodes"]]
    rows_ = layered(sizes, rows, pairs)
    for edge, line in zip(picture["edges"], rows_.lines, strict=True):
        edge["points"] = [[round(x + MARGIN, 1), round(y + MARGIN, 1)] for x, y in line]
        edge["name"] = shortened(", ".join(edge["arrays"]))
    lines, names = [edge["points"] for edge in picture["edges"]], [edge["name"] for edge in picture["edges"]]
    positions = label_places(lines, names)
    # Labels may stand further out than every box does.
    out = -min([0.0, *(x - MARGIN / 2 for x, _ in positions)])
    ends = (x + LABEL_LETTER * len(name) for (x, _), name in zip(positions, names, strict=True))
    right = max([0.0, *(x + MARGIN / 2 for x in ends)])
    for edge, (x, y) in zip(picture["edges"], positions, strict=True):
        edge["label"] = [round(x + out, 1), round(y, 1)]
        edge["points"] = [[round(u + out, 1), v] for u, v in edge["points"]]
    for node, (x, y), (width, height) in zip(picture["nodes"], rows_.centres, sizes, strict=True):
        box = {"x": x - width / 2 + MARGIN + out, "y": y - height / 2 + MARGIN, "width": width, "height": height}
        node.update({name: round(value, 1) for name, value in box.items()})
    picture["width"] = round(max(rows_.width + 2 * MARGIN, right) + out, 1)
    picture["height"] = round(rows_.height + 2 * MARGIN, 1)
    for index, node in enumerate(picture["nodes"][:]):
        _put_inside(picture, index, node.pop("parts", ()))
    return picture


def _size(node: dict[str, Any]) -> tuple[float, float]:
    """Return width and height of a node's box: room for its text, and below it for the graphs inside, side by side."""
    text, parts = max(len(node["title"]), len(node["detail"])) * LETTER + 18, node.get("parts", ())
    return max(text, sum(p["width"] for p in parts)), BOX_HEIGHT + max((p["height"] for p in parts), default=0.0)


def _put_inside(picture: dict[str, Any], index: int, parts: Sequence[dict[str, Any]]) -> None:
    """Move the nodes and edges of the graphs `parts` into the box of the node `index` of a picture."""
    node = picture["nodes"][index]
    left, top = node["x"] + (node["width"] - sum(p["width"] for p in parts)) / 2, node["y"] + BOX_HEIGHT - MARGIN / 2
    for part in parts:
        first = len(picture["nodes"])
        for one in part["nodes"]:
            inside = one["inside"] + first if "inside" in one else index
            x, y = round(one["x"] + left, 1), round(one["y"] + top, 1)
            picture["nodes"].append({**one, "index": one["index"] + first, "inside": inside, "x": x, "y": y})
        for edge in part["edges"]:
            (x, y), points = edge["label"], [[round(u + left, 1), round(v + top, 1)] for u, v in edge["points"]]
            ends = {end: edge[end] + first for end in ("source", "target")}
            label = [round(x + left, 1), round(y + top, 1)]
            picture["edges"].append({**edge, **ends, "points": points, "label": label})
        left += part["width"]


def _title(node: dict[str, Any]) -> str:
    """Return a node's name, with its kind if that is an adjoint's."""
    return f"{node['name']} ({node['kind']})" if "adjoint" in node["kind"] else node["name"]


def _detail(node: dict[str, Any]) -> str:
    """Return a node's second line: its dimensions, counts of nodes inside, and milliseconds if measured."""
    counts = {name: len(body["nodes"]) for name, body in node["bodies"].items()}
    inside = [f"{name}: {count} node{'s' * (count != 1)}" for name, count in counts.items()]
    dims = "×".join(map(str, node["dims"]))
    spent = f"{node['milliseconds']:.3g} ms" if node["milliseconds"] is not None else ""
    return "  ".join(part for part in (dims, *inside, spent) if part)


def svg(body: Nodes) -> str:
    """Return a picture of a graph as SVG: forward blue, adjoint orange, branches and loops violet, the rest grey.

    Edges carry the arrays' names; dashed ones are only an order.
    """
    return drawn(placed(body), _summary(body))


def drawn(picture: dict[str, Any], title: str) -> str:
    """Return a picture as SVG; it has no background, and its colours read on a light page and on a dark one.

    Args:
        picture: what `Graph.layout` or `tape_graph` returned.
        title: of the picture, for screen readers.

    Returns:
        SVG text.
    """
    width, height = picture["width"], picture["height"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
    ]
    # The box of a node that has others inside is the ground that they and their edges stand on.
    around = {node["inside"] for node in picture["nodes"] if "inside" in node}
    parts += [_box(node) for node in picture["nodes"] if node["index"] in around]
    parts += [_line(edge) for edge in picture["edges"]]
    parts += [_box(node) for node in picture["nodes"] if node["index"] not in around]
    return "\n".join([*parts, "</svg>"])


def _line(edge: dict[str, Any]) -> str:
    """Return the SVG of an edge: its curve with a tooltip of the reasons, its arrowhead and its label."""
    points = edge["points"]
    path = f"M{points[0][0]} {points[0][1]}"
    for (x, y), (u, v) in pairwise(points):
        middle = round((y + v) / 2, 1)
        path += f"C{x} {middle} {u} {middle} {u} {v}"
    color = CRITICAL if edge["critical"] else WIRE if edge["data"] else ORDER
    style = "" if edge["data"] else ' stroke-dasharray="4 3"'
    x, y = edge["label"]
    u, v = points[-1]
    reasons = escape("; ".join(f"{reason} {array}" for reason, array in edge["because"]))
    return (
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.3"{style}><title>{reasons}</title></path>'
        f'<polygon points="{u},{v} {u - 3.5},{v - 7} {u + 3.5},{v - 7}" fill="{color}"/>'
        f'<text x="{x}" y="{y}" font-size="10" fill="{LABELS}">{escape(edge["name"])}</text>'
    )


def _box(node: dict[str, Any]) -> str:
    """Return the SVG of a node: a box with title and detail, coloured by its kind."""
    x, y, width, height = (node[k] for k in ("x", "y", "width", "height"))
    fill, line = FILLS.get(node["kind"], PLAIN_FILL), LINES.get(node["kind"], PLAIN_LINE)
    middle = round(x + width / 2, 1)
    return (
        f'<g class="{node["kind"]}"><rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{fill}" '
        f'stroke="{line}"/><text x="{middle}" y="{round(y + 16, 1)}" text-anchor="middle" fill="#1a1a1a">'
        f'{escape(node["title"])}</text><text x="{middle}" y="{round(y + 30, 1)}" text-anchor="middle" '
        f'font-size="10" fill="#444444">{escape(node["detail"])}</text></g>'
    )


def dot(body: Nodes) -> str:
    """Return the graph in Graphviz's language."""
    rows = ["digraph graph_of_launches {", "  node [shape=box, style=filled];"]
    for node in graph_data(body)["nodes"]:
        label = "\\n".join(part for part in (_title(node), _detail(node)) if part).replace('"', "'")
        fill, line = FILLS.get(node["kind"], PLAIN_FILL), LINES.get(node["kind"], PLAIN_LINE)
        rows.append(f'  n{node["index"]} [label="{label}", fillcolor="{fill}", color="{line}"];')
    for edge in body.edges:
        style = "" if edge.carries_data else ", style=dashed"
        rows.append(f'  n{edge.source} -> n{edge.target} [label="{", ".join(edge.arrays)}"{style}];')
    return "\n".join([*rows, "}"]) + "\n"


def _summary(body: Nodes) -> str:
    """Return a sentence that counts a graph's nodes by kind."""
    counts = Counter(node.kind for node in body.nodes)
    inside = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    plural = "node" if len(body.nodes) == 1 else "nodes"
    return f"Graph of {len(body.nodes)} {plural} on {body.device}" + (f": {inside}" if inside else "")


def rows(body: Nodes) -> list[tuple[str, ...]]:
    """Return a row of texts per node: index, kind, name, size, time, and the nodes it comes after, with the arrays."""
    after: dict[int, list[str]] = {}
    for edge in body.edges:
        after.setdefault(edge.target, []).append(f"{edge.source} ({', '.join(edge.arrays)})")
    return [
        (
            str(k),
            node.kind,
            "" if node.title == node.kind else node.title,
            "" if node.bodies else "×".join(map(str, node.size)),
            f"{node.milliseconds:.3g} ms" if node.milliseconds is not None else "",
            ", ".join(after.get(k, ())),
        )
        for k, node in enumerate(body.nodes)
    ]


HEAD = ("#", "what", "name", "size", "time", "after")


def text(body: Nodes) -> str:
    """Return a graph as plain text: a summary, then a table with a line per node.

    Of a graph of more than 40 nodes it has the first 20 and the last 19 ones.
    """
    node_rows = rows(body)
    shown = node_rows if len(node_rows) <= 40 else [*node_rows[:20], ("…",) * len(HEAD), *node_rows[-19:]]
    table = [HEAD, *shown]
    widths = [max(len(r[k]) for r in table) for k in range(len(HEAD))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True) if w).rstrip() for r in table]
    return "\n".join([_summary(body), *lines]) if node_rows else _summary(body)


def html(body: Nodes) -> str:
    """Return HTML without scripts: the graph's picture, unless it is empty or large, and a table of the nodes."""
    node_rows = rows(body)
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    lines = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in node_rows)
    opened = "" if len(node_rows) <= LARGEST_PICTURE else " open"
    table = f"<details{opened}><summary>{escape(_summary(body))}</summary><table><thead><tr>{head}</tr></thead>"
    table += f"<tbody>{lines}</tbody></table></details>"
    if not 0 < len(node_rows) <= LARGEST_PICTURE:
        return table
    return image(svg(body), text(body)) + table


def image(picture: str, alt: str) -> str:
    """Return SVG text as an HTML image, which every front end keeps, in a box that scrolls; `alt` describes it."""
    data = base64.b64encode(picture.encode()).decode()
    shown = f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}" style="max-width:100%"/>'
    return f'<div style="overflow:auto;max-height:600px">{shown}</div>'
