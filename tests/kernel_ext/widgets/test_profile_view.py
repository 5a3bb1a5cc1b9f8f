"""A profile as a card: what the view holds, and what is drawn of it in a browser at two widths, light and dark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from kernel_ext import show

SCREENS = Path(__file__).parents[3] / "build" / "screens"
CELL = """
def spread(x: array[float], y: array[float], stride: int):
    i = tid()
    v = x[i * stride]
    if i % 2 == 0:
        y[i] = sin(v)
    else:
        y[i] = exp(v)
"""


@pytest.fixture(scope="module")
def profile() -> wb.Profile:
    kernel = wb.build_cell(CELL, {}, name="cell").kernels["spread"]
    return wb.profile(kernel, 256, [wb.zeros(8 * 256), wb.zeros(256), 8])


def test_the_view_points_from_findings_and_steps_to_lines(profile: wb.Profile) -> None:
    view = show.profile(profile).view
    lines = {row.number: row for row in view.rows}
    assert lines[4].text.strip() == "v = x[i * stride]" and lines[4].share == max(row.share for row in view.rows)
    assert view.rows[view.advice[0].row].number == 4 and view.advice[0].text.startswith("stride 8: 8.0×")
    worst = view.steps[view.start]
    assert view.rows[worst.row].number == 4 and worst.accesses[0].wasteful
    assert all(len(row.cells) == len(view.heads) == len(view.total) for row in view.rows)
    assert [picture.title.split()[0] for picture in view.pictures] == ["Roofline", "Occupancy"]


def test_the_fallback_is_text_and_html_without_scripts(profile: wb.Profile) -> None:
    shown = show.profile(profile)
    assert shown.text.isascii() and "stride 8" in shown.text
    assert "<script" not in shown.html and "<svg" not in shown.html
    assert shown.html.count('src="data:image/svg+xml;base64,') == 3
    assert shown.html.count('alt="') == 3 and 'alt=""' not in shown.html


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (1400, True), (700, False), (700, True)])
def test_the_card_in_a_browser(widget_page: Callable[..., Any], profile: wb.Profile, width: int, dark: bool) -> None:
    page = widget_page("profile_view", show.profile(profile).data(), width, dark)
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / f"profile-{width}-{'dark' if dark else 'light'}.png"), full_page=True)
    card = page.get_by_test_id("wb-profile")
    # Nothing is cut: no element ends beyond the page or the card.
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate(BEYOND) == []
    assert page.evaluate(CUT) == []
    # The worst line has the longest bar, in the colour of the worst, and is the one whose access is drawn first.
    bars = card.locator("rect.wb-worst, rect.wb-heat")
    widths = {bar.evaluate("b => b.closest('tr').dataset.row"): bar.bounding_box()["width"] for bar in bars.all() if
              bar.evaluate("b => Boolean(b.closest('tr'))")}  # fmt: skip
    worst = show.profile(profile).view.advice[0].row
    assert max(widths, key=lambda row: widths[row]) == str(worst)
    assert card.locator("tr.wb-here").first.get_attribute("data-row") == str(worst)
    # 32 lanes above 32 sectors of one element each.
    assert card.locator(".wb-lanes rect.wb-free").count() == 32
    assert card.locator(".wb-lanes .wb-ray").count() == 32
    # Text stands out from the ground.
    assert page.evaluate(CONTRAST) > 4.5


@pytest.mark.browser
@pytest.mark.slow
def test_steps_by_keyboard_and_by_line(widget_page: Callable[..., Any], profile: wb.Profile) -> None:
    page = widget_page("profile_view", show.profile(profile).data(), 1000, False)
    card, told = page.get_by_test_id("wb-profile"), page.locator(".wb-profile .wb-told")
    assert card.get_attribute("aria-label").startswith("Profile of spread")
    slider = page.get_by_role("slider", name="Step of the warp")
    slider.focus()
    slider.press("Home")
    assert "step 1 of" in told.inner_text() and slider.get_attribute("aria-valuetext") == told.inner_text()
    page.get_by_role("button", name="Step", exact=True).click()
    assert "step 2 of" in told.inner_text()
    # The lanes of the other branch go dark.
    page.get_by_role("button", name="Line 8 in the first warp").press("Enter")
    assert "16 of 32 lanes active" in told.inner_text() and "y[i] = exp(v)" in told.inner_text()
    assert page.locator(".wb-lanes figure").first.locator("rect[y='6'].wb-free").count() == 16
    page.get_by_role("list", name="Findings").get_by_role("button").first.click()
    assert "x[i * stride]" in told.inner_text()
    for picture in page.locator(".wb-pictures svg, .wb-lanes svg").all():
        assert picture.locator("title").first.text_content()
    before = page.evaluate("listeners()")
    page.evaluate("cleanup()")
    assert page.evaluate("listeners()") < before


BEYOND = """(() => {
  const card = document.querySelector('.wb-profile').getBoundingClientRect();
  return [...document.querySelectorAll('.wb-profile *')].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width && (box.right > card.right + 1 || box.left < card.left - 1);
  }).map((e) => e.outerHTML.slice(0, 90)); })()"""
CUT = """[...document.querySelectorAll('.wb-profile :is(td, th, li, .wb-told, .wb-wide)')]
  .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML.slice(0, 90))"""
CONTRAST = """(() => {
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((v) => linear(Number(v) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const text = light(getComputedStyle(document.querySelector('.wb-pictures text')).fill);
  const ground = light(getComputedStyle(document.body).backgroundColor);
  return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05); })()"""
