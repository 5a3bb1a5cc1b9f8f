"""The graph's ES module alone in a real browser: what it draws is the graph's, and a node can be chosen.

Pictures in light and dark are kept under build/screens for reviewers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.widgets.programs import GraphView
from tests.support.checks.host_page import host_page

ROOT = Path(__file__).parents[3]
SCREENS = ROOT / "build" / "screens"
BROWSE = pytest.mark.browser


@wb.kernel
def scale(x: wb.array(dtype=float), y: wb.array(dtype=float)):
    i = wb.tid()
    y[i] = 2.0 * x[i]


@wb.kernel
def add(x: wb.array(dtype=float), y: wb.array(dtype=float), z: wb.array(dtype=float)):
    i = wb.tid()
    z[i] = x[i] + y[i]


@pytest.fixture(scope="module")
def graph() -> wb.Graph:
    """Two launches side by side, one after both, and their adjoints."""
    x = wb.array([1.0, 2.0], requires_grad=True)
    y, z, w = (wb.zeros(2, requires_grad=True) for _ in range(3))
    with wb.capture() as captured:
        with wb.Tape() as tape:
            wb.launch(scale, 2, [x], [y])
            wb.launch(scale, 2, [x], [z])
            wb.launch(add, 2, [y, z], [w])
        tape.backward(grads={w: wb.ones(2)})
    return captured


@pytest.fixture
def put(chromium: Any) -> Iterator[Callable[..., Any]]:
    """`put(view, width, dark)` gives a page with the graph; any error of the page fails the test."""
    complaints: list[str] = []
    pages = []

    def show(view: dict[str, Any], width: int = 900, dark: bool = False) -> Any:
        page = chromium.new_page(viewport={"width": width, "height": 700})
        pages.append(page)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.set_content(host_page("graph_view", {"view": view, "selected": -1, "twin": "wb-twin-1a"}, {}))
        page.wait_for_selector("html[data-ready]")
        if dark:
            page.evaluate("document.documentElement.classList.add('dark')")
        return page

    yield show
    for page in pages:
        page.close()
    assert complaints == []


@BROWSE
def test_nodes_and_edges_drawn_are_the_graph_s(put: Callable[..., Any], graph: wb.Graph) -> None:
    page = put(graph.layout())
    drawn = page.evaluate(
        "[...document.querySelectorAll('.wb-edge')].map((e) => [Number(e.dataset.source), Number(e.dataset.target)])"
    )
    assert sorted(map(tuple, drawn)) == sorted((e.source, e.target) for e in graph.edges)
    names = page.evaluate("[...document.querySelectorAll('.wb-node text:first-of-type')].map((t) => t.textContent)")
    assert names == [node["title"] for node in graph.layout()["nodes"]]
    assert not page.locator("#static").is_visible(), "the static fallback is hidden"
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / "graph-light.png"))


@BROWSE
def test_a_click_chooses_a_node_and_tells_of_it(put: Callable[..., Any], graph: wb.Graph) -> None:
    page = put(graph.layout(), dark=True)
    page.locator(".wb-node[data-index='2']").click()
    assert page.evaluate("window.model.get('selected')") == 2
    told = page.locator(".wb-told").inner_text()
    assert "forward add" in told and "scale #0" in told and "scale #1" in told
    lit = page.locator(".wb-edge.wb-lit").count()
    assert lit == sum(2 in (e.source, e.target) for e in graph.edges)
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / "graph-dark.png"))
    page.locator(".wb-node[data-index='2']").click()
    assert page.evaluate("window.model.get('selected')") == -1


@BROWSE
def test_keys_walk_along_the_edges(put: Callable[..., Any], graph: wb.Graph) -> None:
    page = put(graph.layout())
    page.locator(".wb-node[data-index='0']").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("window.model.get('selected')") == next(e.target for e in graph.edges if e.source == 0)
    page.keyboard.press("ArrowUp")
    assert page.evaluate("window.model.get('selected')") == 0
    page.keyboard.press("Escape")
    assert page.evaluate("window.model.get('selected')") == -1


@pytest.mark.slow
@BROWSE
def test_it_fits_a_narrow_notebook_and_leaves_nothing_behind(put: Callable[..., Any], graph: wb.Graph) -> None:
    page = put(graph.layout(), width=340)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    before = page.locator(".wb-graph svg").bounding_box()["width"]
    page.get_by_label("Larger").click()
    assert page.locator(".wb-graph svg").bounding_box()["width"] > before
    page.get_by_label("Fit the width").click()
    assert page.locator(".wb-graph svg").bounding_box()["width"] == before
    page.evaluate("window.cleanup()")
    assert page.evaluate("window.listeners()") == 0


@BROWSE
@pytest.mark.slow
def test_five_hundred_nodes_are_drawn_and_chosen_from(put: Callable[..., Any]) -> None:
    x = wb.zeros(2)
    with wb.capture() as chain:
        for k in range(500):
            wb.launch(scale, 2, [x], [wb.zeros(2)]) if k % 5 else wb.copy(x, wb.zeros(2))
    page = put(chain.layout())
    assert page.locator(".wb-node").count() == len(chain) >= 500
    page.locator(".wb-node[data-index='0']").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("window.model.get('selected')") == 0


def test_the_widget_holds_the_layout_and_forgets_the_choice_with_a_new_graph(graph: wb.Graph) -> None:
    shown = GraphView(graph.layout(), "twin")
    assert shown.view == graph.layout() and shown.twin == "twin"
    shown.selected = 1
    shown.show(graph.layout())
    assert shown.selected == -1
    shown.close()


@BROWSE
def test_choosing_among_500_nodes_touches_only_what_changes(put: Callable[..., Any]) -> None:
    x, y = wb.zeros(2), wb.zeros(2)
    with wb.capture() as captured:
        for _ in range(250):
            wb.launch(scale, 2, [x], [y])
            wb.launch(scale, 2, [y], [x])
    page = put(captured.layout())
    assert page.locator(".wb-node").count() == 500
    assert 0 < page.locator(".wb-edge").count() < 100, "edges a page away and more are not drawn"
    page.locator(".wb-scroll").evaluate("(box) => box.scrollTo(0, box.scrollHeight)")
    page.locator(".wb-edge[data-target='499']").first.wait_for(state="attached")
    page.locator(".wb-scroll").evaluate("(box) => box.scrollTo(0, 0)")
    changed = page.evaluate(
        """async () => {
          const seen = [], watcher = new MutationObserver((list) => seen.push(...list.map((m) => m.target)));
          watcher.observe(document.querySelector('.wb-graph svg'), { subtree: true, attributes: true });
          for (const index of [100, 101]) window.model.set('selected', index);
          await new Promise(requestAnimationFrame);
          return new Set(seen).size;
        }"""
    )
    assert 0 < changed < 20


@wb.kernel
def less(n: wb.array(dtype=int)):
    n[0] = n[0] - 1


@BROWSE
def test_steps_go_through_a_loop_and_say_what_each_wrote(put: Callable[..., Any]) -> None:
    x, n = wb.ones(2), wb.array([2], dtype=int)
    with wb.capture() as captured:
        wb.capture_while(n, lambda: (wb.launch(scale, 2, [x], [x]), wb.launch(less, 1, [n])))
    page = put(show.steps(captured).view)
    assert page.locator(".wb-node").count() == 3
    outer, inner = (page.locator(f".wb-node[data-index='{k}'] rect").bounding_box() for k in (0, 1))
    assert outer["x"] < inner["x"] and inner["y"] + inner["height"] < outer["y"] + outer["height"]
    told = page.locator(".wb-told")
    assert "condition\n2" in told.inner_text() and "next\nthe graph “body”" in told.inner_text()
    seen = []
    for _ in range(6):
        page.get_by_label("Step", exact=True).click()
        seen.append((page.evaluate("window.model.get('selected')"), told.inner_text()))
    assert [index for index, _ in seen] == [1, 2, 0, 1, 2, 0]
    assert "wrote y\n4 4" in seen[3][1] and "turn\n2" in seen[3][1] and "it is over" in seen[5][1]
    page.locator(".wb-node[data-index='1']").click()
    assert "wrote" not in told.inner_text(), "chosen by hand, it tells of no step"
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / "graph-steps.png"))
