"""Pictures of graphs: boxes do not lie on each other, lines go down, and every form shows the same nodes and edges."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.api.graphs.graph import Graph
from workbench.runtime.graphs.body import Use, edges, levels
from workbench.runtime.graphs.pictures import GAP_X, layered

N = 8


@wb.kernel
def scale(x: wb.array[float], y: wb.array[float], by: float):
    i = wb.tid()
    y[i] = by * x[i] * x[i]


@wb.kernel
def total(x: wb.array[float], out: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(out, 0, x[i])


@pytest.fixture(scope="module")
def graph() -> Graph:
    x = wb.array(np.arange(N, dtype=np.float32), device="cpu", requires_grad=True)
    loss, flag = wb.zeros(1, float, device="cpu"), wb.zeros(1, int, device="cpu")
    with wb.capture() as g:
        with wb.Tape() as tape:
            y = wb.zeros(N, float, device="cpu")
            wb.launch(scale, N, [x, y, 2.0])
            wb.launch(total, N, [y, loss])
        tape.backward(loss)
        wb.capture_if(flag, lambda: y.zero_())
    return g


def test_svg_is_well_formed_and_tells_forward_from_adjoint(graph: Graph) -> None:
    root = ElementTree.fromstring(graph.to_svg())
    space = {"s": "http://www.w3.org/2000/svg"}
    kinds = [g.get("class") for g in root.findall("s:g", space)]
    assert sorted(kinds) == sorted(n.kind for n in graph.walk()) and {"forward", "adjoint", "fill", "if"} <= set(kinds)
    fills = {g.get("class"): g.find("s:rect", space).get("fill") for g in root.findall("s:g", space)}
    assert fills["forward"] != fills["adjoint"] != fills["fill"]
    assert len(root.findall("s:path", space)) == len(graph.edges)
    names = [t.text for t in root.findall("s:text", space)]
    assert names == [", ".join(e.arrays) for e in graph.edges]


def test_every_form_has_all_nodes_and_edges(graph: Graph) -> None:
    data = json.loads(graph.to_json())
    arrows = {(e.source, e.target) for e in graph.edges}
    assert [(e["source"], e["target"]) for e in data["edges"]] == [(e.source, e.target) for e in graph.edges]
    assert [n["name"] for n in data["nodes"]] == [n.title for n in graph.nodes]
    found = {(int(a), int(b)) for a, b in re.findall(r"n(\d+) -> n(\d+)", graph.dot())}
    assert found == arrows and graph.dot().count("[label=") == len(graph.nodes) + len(arrows)
    rows = repr(graph).splitlines()
    assert rows[0].startswith(f"Graph of {len(graph)} nodes on cpu: ") and len(rows) == len(graph) + 2


def test_a_notebook_shows_an_image_without_scripts(graph: Graph) -> None:
    shown = graph._repr_mimebundle_()
    assert shown["text/plain"] == repr(graph)
    assert "data:image/svg+xml;base64," in shown["text/html"] and "<script" not in shown["text/html"]


def test_profiled_times_and_the_critical_path(graph: Graph) -> None:
    path = graph.critical_path
    assert all(any((e.source, e.target) == pair for e in graph.edges) for pair in pairwise(path))
    assert len(path) == len(graph.levels)
    graph.profile()
    assert all(n.milliseconds is not None and n.milliseconds >= 0 for n in graph.nodes)
    assert " ms" in repr(graph) and " ms" in graph.to_svg()


def boxes_apart(made: dict[str, Any]) -> bool:
    """Whether no boxes lie on each other, but on the one that they are inside of."""
    for a, b in combinations(made["nodes"], 2):
        if a.get("inside") != b.get("inside"):
            continue
        aside = a["x"] + a["width"] <= b["x"] + 0.2 or b["x"] + b["width"] <= a["x"] + 0.2
        if not aside and not (a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]):
            return False
    return True


def test_boxes_are_apart_and_inside_the_picture(graph: Graph) -> None:
    made = graph.layout()
    assert boxes_apart(made)
    for node in made["nodes"]:
        assert 0 <= node["x"] and node["x"] + node["width"] <= made["width"]
        assert 0 <= node["y"] and node["y"] + node["height"] <= made["height"]
    for edge in made["edges"]:
        heights = [y for _, y in edge["points"]]
        assert heights == sorted(heights)


def test_graphs_inside_a_node_are_drawn_in_its_box() -> None:
    y, n, f = wb.zeros(N), wb.zeros(1, int), wb.zeros(1, int)
    with wb.capture() as inner:
        wb.launch(scale, N, [y, y, 2.0])
        y.zero_()
    with wb.capture() as g:
        y.fill_(1.0)
        wb.capture_while(n, lambda: (inner.launch(), wb.capture_if(f, lambda: n.zero_(), lambda: y.fill_(2.0))))
    made = g.layout()
    names = ["fill 1", "while", "graph", "if", "scale", "fill 0", "fill 0", "fill 2"]
    assert [node["title"] for node in made["nodes"]] == names, "those of the graph itself, then those inside"
    assert [node.get("inside") for node in made["nodes"]] == [None, None, 1, 1, 2, 2, 3, 3]
    assert [(e["source"], e["target"]) for e in made["edges"]] == [(0, 1), (2, 3), (4, 5)] and boxes_apart(made)
    for node in made["nodes"]:
        if "inside" in node:
            box = made["nodes"][node["inside"]]
            assert box["x"] <= node["x"] and node["x"] + node["width"] <= box["x"] + box["width"]
            assert box["y"] + 30 <= node["y"] and node["y"] + node["height"] <= box["y"] + box["height"]
    root = ElementTree.fromstring(g.to_svg())
    drawn = [e.tag.split("}")[1] for e in root if e.tag.endswith(("}g", "}path"))]
    assert drawn == ["g"] * 3 + ["path"] * 3 + ["g"] * 5, "edges stand on the boxes around them"


@given(st.lists(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=3), max_size=20))
def test_any_graph_is_laid_out_without_overlaps(given_nodes: list) -> None:
    nodes = [[Use(k, k + 1, "a", True, writes) for k, writes in row] for row in given_nodes]
    found = edges(nodes)
    rows = [0] * len(nodes)
    for depth, level in enumerate(levels(len(nodes), found)):
        for k in level:
            rows[k] = depth
    sizes = [(20.0 + 7 * (k % 5), 30.0) for k in range(len(nodes))]
    made = layered(sizes, rows, [(e.source, e.target) for e in found])
    for (a, (x, _)), (b, (u, _)) in combinations(enumerate(made.centres), 2):
        if rows[a] == rows[b]:
            assert abs(x - u) >= (sizes[a][0] + sizes[b][0]) / 2 + GAP_X - 1e-6
    assert all(line[0][1] < line[-1][1] for line in made.lines)


def test_crossings_that_can_be_undone_are() -> None:
    made = layered([(30.0, 20.0)] * 6, [0, 0, 0, 1, 1, 1], [(0, 5), (1, 4), (2, 3)])
    upper, lower = (sorted(range(k, k + 3), key=lambda n: made.centres[n][0]) for k in (0, 3))
    partner = {0: 5, 1: 4, 2: 3}
    assert [partner[n] for n in upper] == lower


@pytest.mark.slow
def test_five_hundred_nodes_are_laid_out() -> None:
    rng = np.random.default_rng(5)
    nodes = [[Use(k, k + 1, "a", True, bool(rng.random() < 0.6)) for k in rng.integers(0, 40, 3)] for _ in range(500)]
    found = edges(nodes)
    rows = [0] * 500
    for depth, level in enumerate(levels(500, found)):
        for k in level:
            rows[k] = depth
    made = layered([(60.0, 30.0)] * 500, rows, [(e.source, e.target) for e in found])
    assert len(made.centres) == 500
