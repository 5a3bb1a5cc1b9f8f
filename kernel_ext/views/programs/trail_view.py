"""A run of a graph, record or tape, node by node: its picture, and at each step what ran and what it wrote."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from kernel_ext.views import html, units
from workbench import inspect

MOST_STEPS, MOST_VALUES = 500, 6


def trail_view(graph: wb.Graph) -> dict[str, Any]:
    """Run a graph to its end, and return its picture (`GraphView` draws it) with the first `MOST_STEPS` steps."""
    view: dict[str, Any] = graph.layout()
    opened = any("inside" in node for node in view["nodes"])
    steps: list[dict[str, Any]] = []
    count = 0
    for count, stop in enumerate(inspect.trail(graph), 1):
        if count <= MOST_STEPS:
            steps.append({"index": stop.index if opened else stop.outermost, "said": _said(stop)})
    plural = "node" if len(graph) == 1 else "nodes"
    more = f" · the first {MOST_STEPS} are shown" if count > MOST_STEPS else ""
    title = f"{len(graph)} {plural} on {graph.device} · {units.count(count, 'step')}{more}"
    return {**view, "title": title, "steps": steps}


def _said(stop: inspect.Stop) -> list[tuple[str, str]]:
    node = stop.node
    turn = [("turn", ", in ".join(map(str, reversed(stop.turns))))] if stop.turns else []
    if node.bodies:
        condition = getattr(node, "condition", None)
        read = [("condition", _few(condition))] if condition is not None else []
        return [*turn, *read, ("next", f"the graph “{stop.chosen}”" if stop.chosen else "it is over")]
    written = {access.name: access.array for access in node.accesses if access.writes}
    return [*turn, *((f"wrote {name}", _few(value)) for name, value in written.items())]


def _few(value: wb.array) -> str:
    """Format the first `MOST_VALUES` values of an array, and say how many there are if there are more."""
    flat = np.asarray(value.numpy()).reshape(-1)
    values = " ".join(f"{v:.6g}" if isinstance(v, float | np.floating) else str(v) for v in flat[:MOST_VALUES])
    return values if len(flat) <= MOST_VALUES else f"{values} … ({units.count(len(flat), 'value')})"


def trail_text(view: dict[str, Any]) -> str:
    """Format the title and a line for each step, in ASCII."""
    rows = [f"{k}: {title}  {'; '.join(parts)}".rstrip() for k, title, parts in _rows(view)]
    return units.ascii_only("\n".join([view["title"], *rows]))


def trail_html(view: dict[str, Any], picture: str) -> str:
    """Format the steps as a folded table below `picture`, the HTML of the graph."""
    table = html.table(("step", "what", "then"), [(str(k), title, "; ".join(parts)) for k, title, parts in _rows(view)])
    return picture + html.box(html.line(view["title"]), html.folded("steps", table))


def _rows(view: dict[str, Any]) -> list[tuple[int, str, list[str]]]:
    nodes = view["nodes"]
    return [
        (k, nodes[step["index"]]["title"], [f"{term} {text}" for term, text in step["said"]])
        for k, step in enumerate(view["steps"])
    ]
