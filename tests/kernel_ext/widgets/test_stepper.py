"""A thread's steps as a view: names with what changed, memory, faults; walked along in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.views.programs.step_view import steps_view

SCREENS = Path(__file__).parents[3] / "build" / "screens"


@wb.func
def half(a: float):
    b = a * 0.5
    return b


@wb.kernel
def stepped(x: wb.array[float], v: wb.array[float]):
    i = wb.tid()
    v[i] = v[i] - half(x[i])
    x[i + 1] = v[i]


def steps() -> Any:
    arrays = [np.array([1.0, 2.0, 3.0], np.float32), np.zeros(3, np.float32)]
    return wb.step(stepped, 3, arrays, thread=1)


def test_the_view_has_lines_names_and_memory() -> None:
    view = steps_view(steps())
    texts = [text.strip() for name, _, text in view.lines if name == "stepped"]
    assert texts[0].startswith("def stepped") and texts[-1] == "x[i + 1] = v[i]"
    assert [text.strip() for name, _, text in view.lines if name == "half"] == ["b = a * 0.5", "return b"]
    second = view.rows[1]
    assert [(n.name, n.value) for n in second.names if n.changed] == [("i", "1")]
    assert second.memory == ("load v[1] 0.0", "load x[1] 2.0", "store v[1] -1.0")
    assert [row.depth for row in view.rows] == [1, 1, 2, 2, 1, 1]


def test_the_twin_says_what_the_library_says() -> None:
    shown = show.steps(steps())
    assert "x[i + 1] = v[i]" in shown.text and "<td" in shown.html and "store x[2] -1.0" in shown.html


def test_a_fault_is_the_last_step() -> None:
    arrays = [np.ones(2, np.float32), np.zeros(2, np.float32)]
    view = steps_view(wb.step(stepped, 2, arrays, thread=1))
    assert view.rows[-1].fault and all(not row.fault for row in view.rows[:-1])
    assert view.rows[-1].fault in show.steps(wb.step(stepped, 2, arrays, thread=1)).html


@pytest.mark.slow
@pytest.mark.browser
def test_keys_and_buttons_step(widget_page: Callable[..., Any]) -> None:
    page = widget_page("stepper", show.steps(steps()).data(), selected=0)
    here = lambda: page.locator(".wb-here code").inner_text().strip()  # noqa: E731
    assert here() == "i = wb.tid()"
    page.locator(".wb-two-sides").focus()
    page.keyboard.press("ArrowRight")
    assert here() == "v[i] = v[i] - half(x[i])"
    assert page.locator(".wb-facts b").all_inner_texts() == ["1"]
    assert page.locator(".wb-told").inner_text() == "load v[1] 0.0 · load x[1] 2.0 · store v[1] -1.0"
    page.get_by_label("Step over a call").click()
    assert here() == "x[i + 1] = v[i]", "the call's own steps are passed over"
    page.get_by_label("Step back").click()
    assert here() == "return b" and "in half" in page.locator(".wb-facts").inner_text()
    page.keyboard.press("End")
    assert page.evaluate("window.model.get('selected')") == 5
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / "stepper.png"))
    assert page.locator(".wb-stale").is_hidden()
    page.evaluate("window.model.set('stale', 'stale: G changed')")
    assert page.locator(".wb-stale").inner_text() == "stale: G changed · run the cell again"
    page.screenshot(path=str(SCREENS / "stepper-stale.png"))
    page.evaluate("window.cleanup()")
    assert page.evaluate("window.listeners()") == 0
