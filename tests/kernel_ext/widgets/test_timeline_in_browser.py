"""The timeline's ES module alone in a real browser: bars, zoom, choosing, the trace file, many bars.

Pictures in light and dark are kept under build/screens for reviewers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kernel_ext.views.programs.timeline import SpanRow, TimelineView
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.programs import Timeline
from tests.support.checks.host_page import host_page

ROOT = Path(__file__).parents[3]
SCREENS = ROOT / "build" / "screens"
KINDS = ("forward", "adjoint", "copy", "jax")
BROWSE = pytest.mark.browser


def view(count: int) -> TimelineView:
    """Spans of 1 ms, each beginning when the one before ends; every fourth is a call of JAX."""
    rows = tuple(
        SpanRow(
            k * 1e-3, 1e-3, "jax" if k % 4 == 3 else "cpu", KINDS[k % 4], f"step{k % 3}", (100,), 400, f"cell [4]:{k}"
        )
        for k in range(count)
    )
    return TimelineView("rec", ("cpu", "jax"), rows, count * 1e-3)


@pytest.fixture
def put(chromium: Any) -> Iterator[Callable[..., Any]]:
    """`put(count, width, dark)` gives a page with so many spans; any error of the page fails the test."""
    complaints: list[str] = []
    pages = []

    def show(count: int | TimelineView, width: int = 900, dark: bool = False) -> Any:
        page = chromium.new_page(viewport={"width": width, "height": 260})
        pages.append(page)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        traits = {
            "view": as_data(view(count) if isinstance(count, int) else count),
            "selected": -1,
            "twin": "wb-twin-1a",
        }
        page.set_content(host_page("timeline", traits, {}))
        page.wait_for_selector("html[data-ready]")
        if dark:
            page.evaluate("document.documentElement.classList.add('dark')")
        return page

    yield show
    for page in pages:
        page.close()
    assert complaints == []


@BROWSE
def test_a_bar_for_each_span_in_its_lane(put: Callable[..., Any]) -> None:
    page = put(12)
    bars = page.evaluate("[...document.querySelectorAll('.wb-span')].map((b) => [b.dataset.kind, b.getAttribute('y')])")
    assert [kind for kind, _ in bars] == [KINDS[k % 4] for k in range(12)]
    assert {y for kind, y in bars if kind == "jax"}.isdisjoint({y for kind, y in bars if kind != "jax"})
    totals = page.locator(".wb-totals tbody tr").all_inner_texts()
    assert [row.split("\t")[0].strip() for row in totals[:3]] == ["copy", "jax", "step0"]
    assert {row.split("\t")[1] for row in totals[:2]} == {"3"} and len(totals) == 2 + 3 + 3
    colours = page.evaluate("[...document.querySelectorAll('.wb-span')].map((b) => b.getAttribute('fill'))")
    assert len({colours[k] for k in (0, 4, 8)}) == 3, "a colour for each kernel"
    assert page.locator(".wb-title").inner_text() == "rec · 12 recorded · 12 ms"
    assert not page.locator("#static").is_visible(), "the static fallback is hidden"


@pytest.mark.slow
@BROWSE
def test_a_click_and_the_arrow_keys_choose(put: Callable[..., Any]) -> None:
    page = put(12)
    page.locator(".wb-span").nth(5).click()
    assert page.evaluate("window.model.get('selected')") == 5
    assert page.locator(".wb-told").inner_text() == "#5 adjoint step2 · 100 · 1 ms · 400 B · cell [4]:5"
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / "timeline-light.png"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.model.get('selected')") == 7
    page.keyboard.press("Escape")
    assert page.evaluate("window.model.get('selected')") == -1


@BROWSE
def test_a_search_dims_the_others_and_enter_goes_on(put: Callable[..., Any]) -> None:
    page = put(12)
    page.get_by_role("searchbox").fill("step1")
    assert page.locator(".wb-span:not(.wb-faint)").count() == 4
    assert page.locator(".wb-told").inner_text() == "4 of 12 match; Enter goes to the next"
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("window.model.get('selected')") == 4
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="copy").click()
    assert page.locator(".wb-span:not(.wb-faint)").count() == 3


@BROWSE
def test_zoom_shows_less_time_and_all_again(put: Callable[..., Any]) -> None:
    page = put(12)
    width = float(page.locator(".wb-span").nth(6).get_attribute("width"))
    page.get_by_label("Show less time").click()
    assert page.locator(".wb-span").count() < 12
    assert float(page.locator(".wb-span[data-index='6']").get_attribute("width")) == pytest.approx(2 * width)
    page.locator(".wb-stage").focus()
    page.keyboard.press("End")
    assert page.locator(".wb-span[data-index='11']").count() == 1, "the chosen bar is brought into sight"
    page.get_by_label("Show all").click()
    assert page.locator(".wb-span").count() == 12


@pytest.mark.slow
@BROWSE
def test_the_trace_is_chrome_s_format(put: Callable[..., Any], tmp_path: Path) -> None:
    """What Perfetto asks of a file: a name, a place and times for each event, and events of a thread in each other."""
    named = [
        ("forward", "step", "step"),
        ("adjoint", "step", "adjoint step"),
        ("fill", "0", "fill 0"),
        ("copy", "", "copy"),
    ]
    host = [("compile", "step", "compile step"), ("Python", "", "Python")]
    spans = [
        [SpanRow(k * 1e-3, 1e-3, lane, kind, name, (4,), 16, "cell [1]:2") for k, (kind, name, _) in enumerate(kinds)]
        for lane, kinds in (("cpu", named), ("host", host))
    ]
    page = put(TimelineView("rec", ("cpu",), tuple(spans[0]), 4e-3, host=tuple(spans[1])))
    with page.expect_download() as real:
        page.locator(".wb-tools a").click()
    events = json.loads(Path(real.value.path()).read_text())["traceEvents"]
    assert [e["name"] for e in events if e["ph"] == "X"] == [name for _, _, name in (*named, *host)]
    for event in events:
        assert event["ph"] in "XM" and isinstance(event["pid"], int) and isinstance(event["tid"], int)
        assert event["ph"] == "M" or (event["ts"] >= 0 and event["dur"] >= 0)
    threads = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    assert {threads[e["tid"]] for e in events if e["cat" if e["ph"] == "X" else "name"] == "Python"} == {"host"}

    page = put(12)
    with page.expect_download() as coming:
        page.locator(".wb-tools a").click()
    coming.value.save_as(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [e["args"]["name"] for e in events if e["ph"] == "M"] == ["cpu", "jax"]
    spans = [e for e in events if e["ph"] == "X"]
    assert len(spans) == 12 and spans[3]["ts"] == pytest.approx(3000) and spans[3]["tid"] == 2
    page.locator(".wb-tools a").focus()
    with page.expect_download() as by_key:
        page.keyboard.press("Enter")
    assert by_key.value.suggested_filename == "timeline.json"


@BROWSE
def test_of_nothing_no_times_are_told(put: Callable[..., Any]) -> None:
    page = put(0)
    assert page.locator(".wb-told").inner_text() == "Nothing was recorded."
    assert page.locator(".wb-stage text").all_text_contents() == ["cpu", "jax"]


@pytest.mark.slow
@BROWSE
def test_twenty_thousand_spans_are_painted_and_chosen_from(put: Callable[..., Any]) -> None:
    page = put(20_000, dark=True)
    assert page.locator(".wb-stage canvas").count() == 1 and page.locator(".wb-span").count() == 0
    painted = (
        "(() => { const c = document.querySelector('canvas'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; "
        "return n })()"
    )
    assert page.evaluate(painted) > 5000
    page.locator(".wb-stage").focus()
    for _ in range(6):
        page.keyboard.press("+")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.model.get('selected')") == 1
    page.screenshot(path=str(SCREENS / "timeline-dark.png"))


@BROWSE
def test_it_fits_a_narrow_notebook_and_leaves_nothing_behind(put: Callable[..., Any]) -> None:
    page = put(12, width=340)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator(".wb-totals").evaluate("table => table.scrollWidth <= table.clientWidth"), "all columns"
    page.evaluate("window.cleanup()")
    assert page.evaluate("window.listeners()") == 0


def test_the_widget_holds_the_view_and_forgets_the_choice_with_a_new_one() -> None:
    shown = Timeline(view(3), "twin")
    assert shown.view == as_data(view(3)) and shown.twin == "twin"
    shown.selected = 2
    shown.show(view(4))
    assert shown.selected == -1 and len(shown.view["rows"]) == 4
    shown.close()
