"""The cache's table: real modules in it, one removed by a message; sorting and searching in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.views.kernels import renderers
from kernel_ext.views.view_data import CacheView, EntryRow, as_data
from workbench.errors import CacheError

SCREENS = Path(__file__).parents[3] / "build" / "screens"


@wb.kernel
def cached_once(x: wb.array[float]):
    i = wb.tid()
    x[i] = x[i] + 1.25


def mine(view: dict[str, Any]) -> list[str]:
    """The modules of this kernel; what its lowering came to is an entry of its own."""
    return [e["digest"] for e in view["entries"] if (e["name"], e["backend"]) == ("cached_once", "cpu")]


def test_a_module_is_listed_and_can_be_removed() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    wb.launch(cached_once, 2, [wb.zeros(2)])
    shown = show.cache()
    digest = mine(shown.data())[0]  # the folder may hold that of an older Workbench, too
    widget = shown.widget
    widget._handle_msg(
        {"content": {"data": {"method": "custom", "content": {"ask": "evict", "digest": digest}}}, "buffers": []}
    )
    assert widget.said == f"removed {digest[:8]}" and digest not in mine(widget.view)
    widget._handle_msg(
        {"content": {"data": {"method": "custom", "content": {"ask": "evict", "digest": "../x"}}}, "buffers": []}
    )
    assert "hex" in widget.said
    wb.launch(cached_once, 2, [wb.zeros(2)])


def test_removing_says_whether_there_was_one() -> None:
    assert wb.cache.remove("0" * 64) is False
    with pytest.raises(CacheError):
        wb.cache.remove("nothing")


def table() -> dict[str, Any]:
    rows = (
        EntryRow("ab" * 32, "step", "cpu", "znver3", 7000, 200_000.0, 50.0, "disk", ("constant DT: 0.01 → 0.02",)),
        EntryRow("cd" * 32, "blur", "cpu", "znver3", 9000, 99.0, 5000.0),
        EntryRow("ef" * 32, "<b>step", "cuda", "sm_90", 200, 99.0, 1.0, "memory"),
    )
    return as_data(CacheView(3, 16_200, 30, 2, 3, "/home/x/.cache/workbench", "", rows))


def many(count: int) -> CacheView:
    rows = (EntryRow(f"{k:064x}", f"step_{k}", "cpu", "znver3", 7000, 9.0, float(k)) for k in range(count))
    return CacheView(count, 7000 * count, 0, 0, count, "/c", "", tuple(rows))


def test_a_static_view_lists_the_hundred_used_last() -> None:
    for written in (renderers.cache_text(many(10_000)), renderers.cache_html(many(10_000))):
        assert "step_0" in written and "step_99" in written and "step_100" not in written
        assert "and 9900 more modules, which were used longer ago" in written
    assert "longer ago" not in renderers.cache_text(many(100))
    assert "  00000000  step_0 " in renderers.cache_text(many(1))


@pytest.mark.slow
@pytest.mark.browser
def test_of_ten_thousand_modules_those_in_sight_are_drawn(widget_page: Callable[..., Any]) -> None:
    page = widget_page("cache_table", as_data(many(10_000)), said="")
    rows = page.locator("tbody tr")
    assert rows.count() == 100 and page.locator(".wb-told").inner_text() == "10000 of 10000"
    page.locator(".wb-wide").evaluate("(box) => box.scrollTo(0, box.scrollHeight)")
    page.locator("tbody tr:nth-child(101)").wait_for()
    page.get_by_label("Search").fill("step_9999")
    assert rows.count() == 1 and rows.first.inner_text().startswith(f"{9999:064x}"[:8])


@pytest.mark.slow
@pytest.mark.browser
def test_columns_sort_and_a_field_searches(widget_page: Callable[..., Any]) -> None:
    page = widget_page("cache_table", table(), said="")
    names = lambda: page.locator("tbody tr[data-digest] td:nth-child(2)").all_inner_texts()  # noqa: E731
    assert names() == ["<b>step", "step", "blur"], "the one used last comes first"
    page.get_by_label("Sort by size").click()
    assert names() == ["<b>step", "step", "blur"]
    page.get_by_label("Sort by size").click()
    assert names() == ["blur", "step", "<b>step"]
    assert page.locator(".wb-why").inner_text().strip() == "rebuilt: constant DT: 0.01 → 0.02"
    page.get_by_label("Search").fill("sm_90")
    assert names() == ["<b>step"] and page.locator(".wb-told").inner_text() == "1 of 3"
    page.get_by_label("Remove <b>step efefefef").click()
    assert page.evaluate("window.sent") == [{"ask": "evict", "digest": "ef" * 32}]


@pytest.mark.sample(1)
@pytest.mark.browser
@pytest.mark.parametrize(("width", "dark"), [(900, False), (360, True)])
def test_it_fits_where_it_stands(widget_page: Callable[..., Any], width: int, dark: bool) -> None:
    page = widget_page("cache_table", table(), width, dark, said="")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / f"cache-{width}.png"))
    page.evaluate("window.cleanup()")
    assert page.evaluate("window.listeners()") == 0
