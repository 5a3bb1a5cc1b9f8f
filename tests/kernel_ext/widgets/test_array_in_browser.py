"""The array's ES module alone in a real browser: what it draws, what it reads out, that it leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.views.view_data import as_json

SCREENS = Path(__file__).parents[3] / "build" / "screens"
pytestmark = pytest.mark.browser


def wave() -> dict[str, Any]:
    values = np.sin(np.linspace(0.0, 9.0, 3000))
    values[1500] = np.nan
    return show.array(values, "wave").data()


@pytest.mark.slow
def test_a_line_its_nan_and_the_point_under_the_keys(widget_page: Callable[..., Any]) -> None:
    page = widget_page("array_view", wave())
    assert page.locator(".wb-bad").count() == 1
    assert page.locator(".wb-curve").get_attribute("d").count("M") == 1, "one bin has other values than its NaN"
    assert page.locator(".wb-plot circle").count() == 0 and not page.locator(".wb-scale").count()
    page.locator(".wb-stage").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".wb-told").inner_text().startswith("wave[2:5] = ")
    page.get_by_role("tab", name="histogram").click()
    assert page.locator(".wb-count").count() == 40
    page.get_by_role("tab", name="numbers").click()
    assert "1, the first at [1500]" in page.locator("table").inner_text()
    assert not page.locator("#static").is_visible(), "the static fallback is hidden"


def test_an_image_s_pixels_are_the_values(widget_page: Callable[..., Any]) -> None:
    page = widget_page("array_view", show.array(np.array([[-1.0, 0.0], [1.0, np.inf]]), "f").data(), dark=True)
    pixels = page.evaluate(
        "[...document.querySelector('canvas').getContext('2d').getImageData(0, 0, 2, 2).data]"
        ".filter((_, k) => k % 4 < 3)"
    )
    assert pixels == [33, 102, 172, 247, 247, 247, 178, 24, 43, 255, 0, 200]
    page.locator("canvas").hover(position={"x": 150, "y": 150})
    assert page.locator(".wb-told").inner_text() == "f[1, 1] = nan (has NaN or inf)"
    assert page.locator(".wb-scale").inner_text().split() == ["-1", "1", "NaN", "or", "infinite"]
    ramp = page.locator(".wb-ramp").first.evaluate("bar => bar.style.background")
    assert ramp.index("rgb(33, 102, 172)") < ramp.index("rgb(247, 247, 247)") < ramp.index("rgb(178, 24, 43)")
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / "array-dark.png"))


def test_an_image_drawn_again_keeps_its_canvas_and_takes_bytes_as_a_kernel_sends_them(
    widget_page: Callable[..., Any],
) -> None:
    first, later = (show.array(np.array(v), "f").data() for v in ([[0.0, 1.0, 2.0]], [[2.0, 0.0, np.nan]]))
    page = widget_page("array_view", first)
    page.evaluate("document.querySelector('canvas').mark = 1")
    seen = page.evaluate(
        """(view) => {
          const letters = Uint8Array.from(`*${atob(view.parts[0].low)}`, (c) => c.charCodeAt(0));
          view.parts[0].low = new DataView(letters.buffer, 1); // it begins where no float does
          view.parts[0].high = new DataView(letters.buffer, 0, 0);
          window.model.set("view", view);
          const [canvas, ...more] = document.querySelectorAll("canvas");
          return [canvas.mark, more.length, ...canvas.getContext("2d").getImageData(0, 0, 3, 1).data]; }""",
        later,
    )
    yellow, purple, bad = [253, 231, 37, 255], [68, 1, 84, 255], [255, 0, 200, 255]
    assert seen == [1, 0, *yellow, *purple, *bad]
    page.locator(".wb-stage").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".wb-told").inner_text() == "f[0, 0] = 2"
    assert page.locator(".wb-scale").inner_text().split() == ["0", "2", "NaN", "or", "infinite"]


def test_a_field_of_structs_is_chosen_and_drawn(widget_page: Callable[..., Any]) -> None:
    structs = np.zeros(4, [("a", "f4"), ("b", "f4", 2)])
    structs["b"] = np.arange(8).reshape(4, 2)
    shown = show.array(structs, "s")
    page = widget_page("array_view", shown.data())
    assert page.locator(".wb-values").inner_text().splitlines()[2].split() == ["[1]", "0.", "[2.,", "3.]"]
    page.get_by_label("Field to draw").select_option("b")
    assert page.evaluate("window.sent") == [{"ask": "slice", "at": [], "field": "b"}]
    page.evaluate("window.heard = []; document.addEventListener('keydown', (e) => heard.push(e.key))")
    for key, of in (("ArrowUp", "a"), ("ArrowDown", "b")):
        page.get_by_label("Field to draw").press(key)
        assert page.evaluate("[window.sent.at(-1).field, window.heard]") == [of, []], (
            "a notebook has its own arrow keys"
        )
    page.evaluate("view => window.model.set('view', view)", as_json(shown.live_parts["slice_at"]((), "b")))
    assert page.locator(".wb-plot").count() == 2, "two components"
    page.locator(".wb-stage").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".wb-told").inner_text() == "s[1].b.x = 2"


def test_complex_numbers_are_told_and_stay_visible_beside_a_pole(widget_page: Callable[..., Any]) -> None:
    numbers = np.full((20, 20), -2j)
    numbers[0, 0] = 1e9
    page = widget_page("array_view", show.array(numbers, "z").data())
    pixel = "k => [...document.querySelector('canvas').getContext('2d').getImageData(k, 0, 1, 1).data].slice(0, 3)"
    assert page.evaluate(pixel, 0) == [255, 0, 0] and page.evaluate(pixel, 1) == [128, 0, 255]
    page.locator(".wb-stage").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".wb-told").inner_text() == "z[0, 1] = 0 − 2j"
    assert page.locator(".wb-scale").inner_text().split() == ["phase", "−π", *"π · full brightness from 2".split()]


def test_a_point_between_two_that_are_no_numbers_is_a_dot(widget_page: Callable[..., Any]) -> None:
    page = widget_page("array_view", show.array(np.array([1.0, np.nan, 2.0, np.inf, 3.0, 4.0]), "u").data())
    across = [
        float(x) for x in page.evaluate("[...document.querySelectorAll('circle')].map((c) => c.getAttribute('cx'))")
    ]
    width = float(page.locator(".wb-plot").get_attribute("width"))
    assert across == pytest.approx([8.0, 8 + (width - 16) * 2 / 5])


def test_the_components_of_a_small_field_stand_side_by_side(widget_page: Callable[..., Any]) -> None:
    page = widget_page("array_view", show.array(np.zeros((6, 6)), "v").data())
    assert page.locator("figure").count() == 1
    page.evaluate(
        "view => window.model.set('view', view)", show.array(wb.zeros((6, 6), dtype=wb.vec3), "p", rgb=False).data()
    )
    boxes = page.evaluate("[...document.querySelectorAll('figure')].map((f) => f.getBoundingClientRect().top)")
    assert len(boxes) == 3 and len(set(boxes)) == 1
    page.evaluate("view => window.model.set('view', view)", show.array(wb.zeros(6, dtype=wb.vec3), "q").data())
    assert page.locator(".wb-plot").count() == 3
    assert page.locator(".wb-stage").evaluate("stage => stage.scrollHeight <= stage.clientHeight")


def test_a_slider_asks_for_another_slice(widget_page: Callable[..., Any]) -> None:
    page = widget_page("array_view", show.array(np.zeros((5, 3, 4)), "v").data())
    page.get_by_label("Index of dimension 0").fill("3")
    assert page.evaluate("window.sent") == [{"ask": "slice", "at": [3], "field": ""}]


def test_at_no_width_it_draws_all_the_same_and_cleans_up(widget_page: Callable[..., Any]) -> None:
    page = widget_page("array_view", wave(), width=260)
    page.evaluate("document.getElementById('live').style.width = '0px'")
    page.evaluate("view => window.model.set('view', view)", show.array(np.arange(4.0), "u").data())
    page.evaluate("document.getElementById('live').style.width = ''")
    assert page.locator(".wb-title").inner_text() == "u · float64[4]"
    page.evaluate("window.cleanup()")
    assert page.evaluate("window.listeners()") == 0


def test_three_components_from_0_to_1_are_one_picture_in_colours(widget_page: Callable[..., Any]) -> None:
    image = np.zeros((2, 2, 3), np.float32)
    image[0, 0], image[1, 1] = (1.0, 0.0, 0.0), (0.2, 0.4, 0.6)
    page = widget_page("array_view", show.array(wb.array(image, dtype=wb.vec3), "img").data())
    pixels = page.evaluate("[...document.querySelector('canvas').getContext('2d').getImageData(0, 0, 2, 2).data]")
    assert pixels == [255, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 51, 102, 153, 255]
    box = page.locator("canvas").bounding_box()
    page.locator("canvas").hover(position={"x": box["width"] * 0.75, "y": box["height"] * 0.75})
    assert page.locator(".wb-told").inner_text() == "img[1, 1] ≈ (0.2, 0.4, 0.6)"
    page.get_by_role("tab", name="values").click()
    assert "0.6" in page.locator(".wb-values").inner_text()
