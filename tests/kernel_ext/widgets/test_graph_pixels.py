"""The graph's pixels: tips where lines arrive, the critical path in red, no white ground on a dark page."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb

pytestmark = [pytest.mark.browser, pytest.mark.slow]
RED = (214, 69, 69)


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
    """A chain of two beside a single launch, and one after both."""
    x, a, b, c, d = (wb.zeros(2) for _ in range(5))
    with wb.capture() as captured:
        wb.launch(scale, 2, [x], [a])
        wb.launch(scale, 2, [a], [b])
        wb.launch(scale, 2, [x], [c])
        wb.launch(add, 2, [b, c], [d])
    return captured


def pixels(page: Any, clip: dict[str, float] | None = None) -> np.ndarray:
    """What the page shows: int[rows, columns, 3]."""
    from PIL import Image

    taken = page.screenshot(**({"clip": clip} if clip else {}))
    return np.asarray(Image.open(io.BytesIO(taken)).convert("RGB")).astype(int)


def close_to(found: np.ndarray, colour: tuple[int, int, int], by: int = 40) -> np.ndarray:
    return (np.abs(found - colour) <= by).all(axis=-1)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_tips_are_drawn_also_where_the_page_holds_a_hidden_twin_of_the_view(
    widget_page: Callable[..., Any], graph: wb.Graph, dark: bool
) -> None:
    page = widget_page("graph_view", graph.layout(), dark=dark, selected=-1)
    # JupyterLab's renderer of saved views draws the same view in an output that is hidden.
    page.evaluate(
        """() => { const live = document.getElementById('live'), twin = live.cloneNode(true);
                   twin.id = 'twin'; twin.style.display = 'none'; live.before(twin); }"""
    )
    for edge in page.locator("#live .wb-edge").all():
        box = edge.locator(".wb-tip").bounding_box()
        found = pixels(page, box)
        ground = pixels(page, {**box, "x": box["x"] - 30})
        inked = np.abs(found - ground[0, 0]).max(axis=-1) > 60
        assert inked.mean() > 0.3, "the tip's triangle covers half of its box"
        widths = inked.sum(axis=1)
        assert widths[1] > widths[-3], "it is wide above and ends in a point"


def test_the_longest_way_is_red_and_nothing_else(widget_page: Callable[..., Any], graph: wb.Graph) -> None:
    page = widget_page("graph_view", graph.layout(), selected=-1)
    red = []
    for edge in page.locator("#live .wb-edge").all():
        x, y = edge.locator("path").first.evaluate(
            """(path) => { const third = path.getPointAtLength(path.getTotalLength() / 3);
                           const at = third.matrixTransform(path.getScreenCTM());
                           return [at.x, at.y]; }"""
        )
        if close_to(pixels(page, {"x": x - 2, "y": y - 2, "width": 4, "height": 4}), RED).any():
            red.append((int(edge.get_attribute("data-source")), int(edge.get_attribute("data-target"))))
    assert sorted(red) == [(0, 1), (1, 3)] and graph.critical_path == [0, 1, 3]


def test_the_saved_picture_has_no_ground_of_its_own(chromium: Any, graph: wb.Graph) -> None:
    for ground in ((17, 17, 17), (255, 255, 255)):
        page = chromium.new_page(viewport={"width": 700, "height": 500})
        style = f"margin:0;background:rgb{ground}"
        page.set_content(f'<body style="{style}">{graph._repr_mimebundle_()["text/html"]}')
        page.wait_for_function("document.images[0].complete && document.images[0].naturalWidth > 0")
        box = page.locator("img").bounding_box()
        found = pixels(page, box)
        assert close_to(found, ground, 4).mean() > 0.5, "the page's own colour shows between the boxes"
        assert (close_to(found, RED)).any()
        # Labels and boxes' titles read: something is far from the ground.
        assert (np.abs(found - ground).max(axis=-1) > 110).any()
        page.close()
