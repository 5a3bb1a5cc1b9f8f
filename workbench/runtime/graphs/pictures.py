"""Pictures of a graph: placed boxes and lines as plain data, and from these SVG; text, Graphviz and JSON as well."""

from __future__ import annotations

import base64
import json
from collections import Counter
from html import escape
from itertools import pairwise
from typing import Any

from workbench.runtime.graphs.layout import layered
from workbench.runtime.graphs.nodes import Subgraph

FILLS = {"forward": "#cfe3fa", "adjoint": "#fbdcbd", "if": "#e6d9f5", "while": "#e6d9f5", "graph": "#e6d9f5"}
LINES = {"forward": "#2f6fb3", "adjoint": "#c0691c", "if": "#7a4fb0", "while": "#7a4fb0", "graph": "#7a4fb0"}
PLAIN_FILL, PLAIN_LINE, CRITICAL, WIRE, ORDER = "#ececec", "#7d7d7d", "#d02f2f", "#8a8a8a", "#b5b5b5"
LETTER, BOX_HEIGHT, MARGIN = 7.0, 38.0, 12.0
LARGEST_PICTURE = 300
"""Nodes of the largest graph that a notebook output draws by itself; `to_svg` draws any."""


def critical_path(body: Subgraph) -> list[int]:
    """Indices along the longest chain: by milliseconds where all nodes have them, else by the number of nodes."""
    timed = all(node.milliseconds is not None for node in body.nodes)
    cost = [node.milliseconds or 0.0 if timed else 1.0 for node in body.nodes]
    total, before = list(cost), [-1] * len(cost)
    for edge in body.edges:
        if total[edge.source] + cost[edge.target] > total[edge.target]:
            total[edge.target], before[edge.target] = total[edge.source] + cost[edge.target], edge.source
    at = max(range(len(total)), key=total.__getitem__, default=-1)
    path = []
    while at >= 0:
        path.append(at)
        at = before[at]
    return path[::-1]


def facts(body: Subgraph) -> dict[str, Any]:
    """Nodes and edges as plain data."""
    on_path = set(critical_path(body))
    nodes = [
        {
            "index": k,
            "kind": node.kind,
            "name": node.name,
            "dims": list(node.dims),
            "milliseconds": node.milliseconds,
            "critical": k in on_path,
            "bodies": {name: facts(inner) for name, inner in node.bodies.items()},
        }
        for k, node in enumerate(body.nodes)
    ]
    edges = [
        {
            "source": e.source,
            "target": e.target,
            "arrays": list(e.arrays),
            "because": [list(reason) for reason in e.because],
            "data": e.carries_data,
        }
        for e in body.edges
    ]
    return {"device": body.device.name, "nodes": nodes, "edges": edges}


def to_json(body: Subgraph) -> str:
    """Nodes and edges as JSON."""
    return json.dumps(facts(body), indent=1)


def placed(body: Subgraph) -> dict[str, Any]:
    """`facts` with places: each node's box (x, y, width, height), each edge's points and where its label stands."""
    made = facts(body)
    titles = [(_title(node), _detail(node)) for node in made["nodes"]]
    sizes = [(max(map(len, title)) * LETTER + 18, BOX_HEIGHT) for title in titles]
    rows = [0] * len(sizes)
    for depth, level in enumerate(body.levels):
        for k in level:
            rows[k] = depth
    found = layered(sizes, rows, [(e["source"], e["target"]) for e in made["edges"]])
    for node, (x, y), (width, height), (title, detail) in zip(made["nodes"], found.centres, sizes, titles, strict=True):
        box = {"x": x - width / 2 + MARGIN, "y": y - height / 2 + MARGIN, "width": width, "height": height}
        node.update({name: round(value, 1) for name, value in box.items()}, title=title, detail=detail)
    for edge, line in zip(made["edges"], found.lines, strict=True):
        edge["points"] = [[round(x + MARGIN, 1), round(y + MARGIN, 1)] for x, y in line]
        (x, y), (u, v) = edge["points"][-2:]
        edge["label"] = [round((x + u) / 2, 1), round((y + v) / 2, 1)]
    made["width"], made["height"] = round(found.width + 2 * MARGIN, 1), round(found.height + 2 * MARGIN, 1)
    return made


def _title(node: dict[str, Any]) -> str:
    return f"{node['name']} ({node['kind']})" if node["kind"] == "adjoint" else node["name"]


def _detail(node: dict[str, Any]) -> str:
    inside = [f"{name}: {len(body['nodes'])} nodes" for name, body in node["bodies"].items()]
    dims = "×".join(map(str, node["dims"]))
    spent = f"{node['milliseconds']:.3g} ms" if node["milliseconds"] is not None else ""
    return "  ".join(part for part in (dims, *inside, spent) if part)


def svg(body: Subgraph) -> str:
    """The picture: forward blue, adjoint orange, the rest grey; edges carry an array's name, dashed ones only order."""
    made = placed(body)
    width, height = made["width"], made["height"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(_summary(body))}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{WIRE}"/></marker></defs>',
        f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
    ]
    path = {n["index"] for n in made["nodes"] if n["critical"]} if len(made["nodes"]) > 1 else set()
    parts += [_line(edge, edge["source"] in path and edge["target"] in path) for edge in made["edges"]]
    parts += [_box(node) for node in made["nodes"]]
    return "\n".join([*parts, "</svg>"])


def _line(edge: dict[str, Any], critical: bool) -> str:
    points = edge["points"]
    path = f"M{points[0][0]} {points[0][1]}"
    for (x, y), (u, v) in pairwise(points):
        middle = round((y + v) / 2, 1)
        path += f"C{x} {middle} {u} {middle} {u} {v}"
    color = CRITICAL if critical else WIRE if edge["data"] else ORDER
    style = "" if edge["data"] else ' stroke-dasharray="4 3"'
    x, y = edge["label"]
    name = escape(", ".join(edge["arrays"]))
    reasons = escape("; ".join(f"{reason} {array}" for reason, array in edge["because"]))
    halo = 'paint-order="stroke" stroke="#ffffff" stroke-width="3"'
    return (
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.3"{style} marker-end="url(#tip)">'
        f"<title>{reasons}</title></path>"
        f'<text x="{x}" y="{y}" text-anchor="middle" font-size="10" fill="#555555" {halo}>{name}</text>'
    )


def _box(node: dict[str, Any]) -> str:
    x, y, width, height = (node[k] for k in ("x", "y", "width", "height"))
    fill, line = FILLS.get(node["kind"], PLAIN_FILL), LINES.get(node["kind"], PLAIN_LINE)
    middle = round(x + width / 2, 1)
    return (
        f'<g class="{node["kind"]}"><rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{fill}" '
        f'stroke="{line}"/><text x="{middle}" y="{round(y + 16, 1)}" text-anchor="middle" fill="#1a1a1a">'
        f'{escape(node["title"])}</text><text x="{middle}" y="{round(y + 30, 1)}" text-anchor="middle" '
        f'font-size="10" fill="#444444">{escape(node["detail"])}</text></g>'
    )


def dot(body: Subgraph) -> str:
    """The graph in Graphviz's language."""
    rows = ["digraph graph_of_launches {", "  node [shape=box, style=filled];"]
    for node in facts(body)["nodes"]:
        label = "\\n".join(part for part in (_title(node), _detail(node)) if part).replace('"', "'")
        fill, line = FILLS.get(node["kind"], PLAIN_FILL), LINES.get(node["kind"], PLAIN_LINE)
        rows.append(f'  n{node["index"]} [label="{label}", fillcolor="{fill}", color="{line}"];')
    for edge in body.edges:
        style = "" if edge.carries_data else ", style=dashed"
        rows.append(f'  n{edge.source} -> n{edge.target} [label="{", ".join(edge.arrays)}"{style}];')
    return "\n".join([*rows, "}"]) + "\n"


def _summary(body: Subgraph) -> str:
    counts = Counter(node.kind for node in body.nodes)
    inside = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    plural = "node" if len(body.nodes) == 1 else "nodes"
    return f"Graph of {len(body.nodes)} {plural} on {body.device}" + (f": {inside}" if inside else "")


def rows(body: Subgraph) -> list[tuple[str, ...]]:
    """A row a node: index, kind, name, size, time, what it comes after and why."""
    after: dict[int, list[str]] = {}
    for edge in body.edges:
        after.setdefault(edge.target, []).append(f"{edge.source} ({', '.join(edge.arrays)})")
    return [
        (
            str(k), node.kind, "" if node.name == node.kind else node.name, "×".join(map(str, node.dims)),
            f"{node.milliseconds:.3g} ms" if node.milliseconds is not None else "", ", ".join(after.get(k, ())),
        )
        for k, node in enumerate(body.nodes)
    ]  # fmt: skip


HEAD = ("#", "what", "name", "size", "time", "after")


def text(body: Subgraph) -> str:
    """A line a node, as plain text; of a long graph the first and last nodes."""
    found = rows(body)
    shown = found if len(found) <= 40 else [*found[:20], ("…",) * len(HEAD), *found[-19:]]
    table = [HEAD, *shown]
    widths = [max(len(r[k]) for r in table) for k in range(len(HEAD))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True) if w).rstrip() for r in table]
    return "\n".join([_summary(body), *lines]) if found else _summary(body)


def html(body: Subgraph) -> str:
    """The picture as an image, and the table below it, without scripts."""
    found = rows(body)
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    lines = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in found)
    opened = "" if len(found) <= LARGEST_PICTURE else " open"
    table = f"<details{opened}><summary>{escape(_summary(body))}</summary><table><thead><tr>{head}</tr></thead>"
    table += f"<tbody>{lines}</tbody></table></details>"
    if not 0 < len(found) <= LARGEST_PICTURE:
        return table
    data = base64.b64encode(svg(body).encode()).decode()
    image = f'<img alt="{escape(text(body))}" src="data:image/svg+xml;base64,{data}" style="max-width:100%"/>'
    return f'<div style="overflow:auto;max-height:600px">{image}</div>{table}'
