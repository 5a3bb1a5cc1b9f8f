"""The cache's table: real modules in it, one removed by a message; sorting and searching in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.views.view_data import CacheView, EntryRow, as_data
from workbench.errors import CacheError

SCREENS = Path(__file__).parents[3] / "build" / "screens"


@wb.kernel
def cached_once(x: wb.array[float]):
    i = wb.tid()
    x[i] = x[i] + 1.25


def mine(view: dict[str, Any]) -> list[str]:
    return [e["digest"] for e in view["entries"] if e["name"] == "cached_once"]


def test_a_module_is_listed_and_can_be_removed() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    wb.launch(cached_once, 2, [wb.zeros(2)])
    shown = show.cache()
    (digest,) = mine(shown.data())
    assert f"  {digest[:8]}  cached_once" in shown.text
    widget = shown.widget
    widget._handle_msg(
        {"content": {"data": {"method": "custom", "content": {"ask": "evict", "digest": digest}}}, "buffers": []}
    )
    assert widget.said == f"removed {digest[:8]}" and mine(widget.view) == []
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
    assert names() == ["<b>step"] and page.locator(".wb-told").inner_text() == "1 shown"
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
