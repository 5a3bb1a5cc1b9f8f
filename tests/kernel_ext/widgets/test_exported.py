"""A session's page: one file that loads nothing, opened offline in a real browser, where its pictures can be used."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.output.html_export import page, write_page
from kernel_ext.output.renderable import Shown
from kernel_ext.refusal import Refusal
from kernel_ext.views.kernels import renderers
from kernel_ext.views.view_data import KernelRow, PaneView, StatusView

SCREENS = Path(__file__).parents[3] / "build" / "screens"
EVIL = "</script><script>document.title='caught'</script>"


@wb.kernel
def doubled(x: wb.array[float], y: wb.array[float], by: float):
    i = wb.tid()
    y[i] = by * x[i]


def session() -> list[Shown]:
    x, y, z = wb.array(np.linspace(-1, 1, 50).astype(np.float32)), wb.zeros(50), wb.zeros(50)
    with wb.record(inputs=True) as rec:
        wb.launch(doubled, 50, [x], [y, 2.0])
        wb.launch(doubled, 50, [y], [z, 2.0])
    with wb.capture() as graph:
        wb.launch(doubled, 50, [x], [y, 2.0])
        wb.launch(doubled, 50, [y], [z, 2.0])
    row = KernelRow("doubled", "forward", "compiled")
    card = StatusView("cell [2]", "compiled", f"compiled {EVIL}", (row,), ("doubled",))
    return [
        Shown("status_card", card, renderers.status_text(card), renderers.status_html(card)),
        show.source(doubled), show.timeline(rec, "rec"), show.graph(graph), show.array(z, "z"), show.controls(rec),
        show.cache(), show.steps(wb.step(doubled, 2, [np.ones(2, np.float32)], [np.ones(2, np.float32), 2.0])),
        show.grad(wb.gradcheck(doubled, 2, [np.ones(2)], [np.ones(2), 2.0])),
    ]  # fmt: skip


def texts(shown: Shown) -> list[PaneView]:
    """A card's two tabs."""
    panes = [PaneView("doubled", "source", "i = tid()", 3), PaneView("doubled", "cuda", EVIL)]
    return panes if shown.kind == "status_card" else []


def test_nothing_of_the_page_is_elsewhere() -> None:
    text = page(EVIL, session(), texts)
    assert not re.search(r"(https?:)?//\w+\.", text.replace("http://www.w3.org/2000/svg", "")), "no address of any kind"
    assert text.count("<script") == 2 and EVIL not in text
    alive = page("sliders", [shown for shown in session() if shown.kind == "controls"], programs=[(0, {})])
    assert alive.count("<script") == 4


def test_an_empty_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="takes views"):
        show.page(str(tmp_path / "a.html"))
    assert "1 view" in show.page(str(tmp_path / "a.html"), show.array(np.ones(3)))


@pytest.mark.slow
@pytest.mark.browser
def test_offline_every_picture_is_drawn_and_can_be_used(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "session.html"
    write_page(str(path), "Session <1>", session(), texts)
    context = chromium.new_context(offline=True, viewport={"width": 1000, "height": 900}, color_scheme="light")
    asked: list[str] = []
    complaints: list[str] = []
    opened = context.new_page()
    opened.set_default_timeout(900_000)
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    opened.goto(path.as_uri())
    opened.wait_for_selector("html[data-ready]")
    roots = ("status", "source", "timeline", "graph", "array", "controls", "cache", "stepper", "grad")
    assert [opened.get_by_test_id(f"wb-{name}").count() for name in roots] == [1] * len(roots)

    opened.locator(".wb-span").nth(1).click()
    assert "#1 forward doubled" in opened.locator(".wb-timeline .wb-told").inner_text()
    opened.locator(".wb-node").nth(1).click()
    assert "after" in opened.locator(".wb-graph .wb-told").inner_text()
    opened.locator("#part-0 summary").click()
    assert opened.get_by_test_id("wb-status").locator("table").is_visible()
    opened.get_by_test_id("wb-status").get_by_role("tab", name="CUDA").click()
    panel = opened.get_by_test_id("wb-status").get_by_role("tabpanel")
    panel.get_by_text("document.title").wait_for()
    assert [code.inner_text() for code in panel.locator(".wb-row").all()] == ["3\ni = tid()", f"1\n{EVIL}"]
    opened.get_by_label("Last step").click()
    assert "the kernel ends here" in opened.locator(".wb-stepper .wb-told").inner_text()
    slider = opened.locator(".wb-controls input").first
    slider.fill("1")
    opened.locator(".wb-controls .wb-told", has_text="1 replay").wait_for()
    SCREENS.mkdir(parents=True, exist_ok=True)
    opened.screenshot(path=str(SCREENS / "export-light.png"), full_page=True)
    opened.get_by_text("light / dark").click()
    opened.screenshot(path=str(SCREENS / "export-dark.png"), full_page=True)
    opened.set_viewport_size({"width": 360, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    opened.screenshot(path=str(SCREENS / "export-narrow.png"), full_page=True)
    assert (
        [url for url in asked if not url.startswith("blob:")] == [path.as_uri()]
        and complaints == []
        and opened.title() == "Session <1>"
    )
    context.close()
