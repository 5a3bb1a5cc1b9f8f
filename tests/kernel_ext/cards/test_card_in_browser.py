"""The card's ES module alone in a real browser: a page of forty lines plays notebook and kernel.

Pictures in light and dark are kept under build/screens for reviewers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kernel_ext.session import status
from kernel_ext.views.view_data import PANE_TITLES, StatusView, as_data
from tests.support.checks.host_page import host_page
from workbench import events

ROOT = Path(__file__).parents[3]
SCREENS = ROOT / "build" / "screens"
KEY = "5f2a0d32" + "0" * 56
PANES = ("source", "ir", "adjoint", "cuda", "llvm", "ptx", "key")
TEXTS = {
    "source": "def saxpy(a: float, x: array, y: array):\n    i = tid()\n    y[i] = a * x[i]  # <b>not bold</b>\n",
    "ir": "saxpy(%a: float32) tid 1\n  %i: int32 = tid[axis=0]   @ 3\n  %1: float32 = load %x, %i   @ 4\n"
    "  store %y, %i, %1   @ 4\n",
    "cuda": '// one thread an element\nextern "C" __global__ void saxpy(wb_dims dim) {\n    if (i >= 3) return;\n}\n',
}


def compiled(*kernels: str) -> StatusView:
    view = StatusView("cell [4]")
    stages = {"parse": 0.0004, "type": 0.0008, "optimise": 0.004, "emit": 0.003, "load": 0.0004}
    for kernel in kernels:
        for direction in ("forward", "adjoint"):
            view = status.advance(view, events.CompileStarted(kernel, direction, "cpu", "znver3"))
            view = status.advance(view, events.CompileDone(kernel, direction, KEY, 0.0086, stages))
    return status.finish(view, kernels)


class Card:
    """The card on its page."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.root = page.locator("[data-testid=wb-status]")

    def show(self, view: StatusView) -> None:
        self.page.evaluate("view => window.model.set('view', view)", as_data(view))

    def tab(self, pane: str) -> Any:
        return self.page.locator(f"[role=tab][data-pane={pane}]")

    def code(self, pane: str) -> Any:
        return self.page.locator(f".wb-code[data-pane={pane}]")


@pytest.fixture
def card(chromium: Any) -> Iterator[Callable[..., Card]]:
    """`card(view, width, dark)` puts the card on a page; any error of the page fails the test."""
    complaints: list[str] = []
    pages = []

    def put(view: StatusView, width: int = 1000, dark: bool = False) -> Card:
        page = chromium.new_page(viewport={"width": width, "height": 460})
        pages.append(page)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        traits = {"view": as_data(view), "panes": [[n, PANE_TITLES[n]] for n in PANES], "twin": "wb-twin-1a"}
        page.set_content(host_page("status_card", traits, TEXTS))
        page.wait_for_selector("html[data-ready]")
        if dark:
            page.evaluate("document.documentElement.classList.add('dark')")
        return Card(page)

    yield put
    for page in pages:
        page.close()
    assert complaints == []


@pytest.mark.browser
def test_one_line_then_everything_when_unfolded(card: Callable[..., Card]) -> None:
    shown = card(compiled("saxpy"))
    text = " ".join(shown.page.locator("summary").inner_text().split())
    assert text == "compiled saxpy 5f2a0d32 · 17 ms · forward 8.6 ms, adjoint 8.6 ms cell [4]"
    assert shown.root.get_attribute("data-state") == "compiled"
    assert not shown.page.locator(".wb-table").is_visible()
    shown.page.locator("summary").focus()
    shown.page.keyboard.press("Enter")
    assert shown.page.locator(".wb-table tbody tr").count() == 2
    assert shown.page.locator(".wb-bar").first.locator("span").count() == 5
    assert shown.page.evaluate("window.sent") == []


@pytest.mark.browser
def test_the_twin_is_hidden_as_long_as_the_card_is_there(card: Callable[..., Card]) -> None:
    shown = card(compiled("saxpy"))
    twin = shown.page.locator("#static")
    assert not twin.is_visible()
    shown.page.evaluate("document.querySelector('#static').innerHTML = '<p class=\"wb-twin-1a\">drawn anew</p>'")
    assert not twin.is_visible()
    shown.page.evaluate("window.cleanup(); document.querySelector('#live').replaceChildren()")
    assert twin.is_visible()
    assert shown.page.evaluate("window.listeners()") == 0


@pytest.mark.browser
def test_panes_are_asked_for_when_opened_and_lines_are_linked(card: Callable[..., Card]) -> None:
    shown = card(compiled("saxpy"))
    shown.page.locator("summary").click()
    shown.tab("ir").click()
    shown.code("ir").wait_for()
    assert shown.page.evaluate("window.sent.map((m) => m.pane).sort()") == ["ir", "source"]
    assert "<b>not bold</b>" in shown.code("source").inner_text()
    shown.code("source").locator(".wb-row").nth(2).hover()
    assert [text.strip() for text in shown.page.locator(".wb-lit code").all_inner_texts()] == [
        "y[i] = a * x[i]  # <b>not bold</b>",
        "%1: float32 = load %x, %i   @ 4",
        "store %y, %i, %1   @ 4",
    ]
    SCREENS.mkdir(parents=True, exist_ok=True)
    shown.page.screenshot(path=str(SCREENS / "status-card-light.png"))
    shown.tab("ir").click()
    assert shown.code("ir").count() == 0, "a second click closes the pane"
    shown.tab("ir").click()
    assert shown.code("ir").count() == 1 and len(shown.page.evaluate("window.sent")) == 2


@pytest.mark.slow
@pytest.mark.browser
def test_tabs_by_keyboard(card: Callable[..., Card]) -> None:
    shown = card(compiled("saxpy"))
    shown.page.locator("summary").click()
    shown.tab("source").focus()
    for key, pane in (("ArrowRight", "ir"), ("End", "key"), ("ArrowRight", "source"), ("Home", "source")):
        shown.page.keyboard.press(key)
        assert shown.page.evaluate("document.activeElement.dataset.pane") == pane
    shown.page.keyboard.press("Enter")
    assert shown.tab("source").get_attribute("aria-selected") == "true"
    assert shown.code("source").is_visible()


@pytest.mark.browser
def test_an_answer_that_does_not_come_is_waited_for(card: Callable[..., Card]) -> None:
    shown = card(compiled("saxpy"), width=500)
    shown.page.locator("summary").click()
    shown.tab("ptx").click()
    assert "asking the kernel" in shown.page.locator(".wb-panel").inner_text()


@pytest.mark.slow
@pytest.mark.browser
def test_several_kernels_are_chosen_from(card: Callable[..., Card]) -> None:
    shown = card(compiled("saxpy", "blur"), dark=True)
    shown.page.locator("summary").click()
    shown.tab("cuda").click()
    shown.page.locator("select.wb-kernels").select_option("blur")
    shown.code("cuda").wait_for()
    asked = shown.page.evaluate("window.sent.map((m) => `${m.kernel} ${m.pane}`)")
    assert {"saxpy cuda", "blur cuda"} <= set(asked)
    SCREENS.mkdir(parents=True, exist_ok=True)
    shown.page.screenshot(path=str(SCREENS / "status-card-dark.png"))


@pytest.mark.browser
def test_from_compiling_to_failed(card: Callable[..., Card]) -> None:
    started = status.advance(StatusView("cell [4]"), events.CompileStarted("saxpy", "forward", "cpu", "znver3"))
    shown = card(started)
    assert shown.root.get_attribute("data-state") == "compiling"
    shown.page.wait_for_function("() => / s$/.test(document.querySelector('.wb-line').textContent)")
    shown.show(status.fail(started, RuntimeError("<i>no</i>")))
    assert shown.root.get_attribute("data-state") == "failed"
    assert shown.page.locator(".wb-line").inner_text() == "1 error"
    shown.page.locator("summary").click()
    assert "<i>no</i>" in shown.page.locator(".wb-error").inner_text()
    assert not shown.page.locator(".wb-tabs").is_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_a_narrow_notebook_still_fits(card: Callable[..., Card]) -> None:
    shown = card(compiled("saxpy", "blur"), width=340)
    shown.page.locator("summary").click()
    shown.tab("cuda").click()
    shown.code("cuda").wait_for()
    assert shown.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    SCREENS.mkdir(parents=True, exist_ok=True)
    shown.page.screenshot(path=str(SCREENS / "status-card-narrow.png"))


def edited() -> StatusView:
    view = status.advance(compiled("saxpy"), events.Remark("use (cell [4]) now calls this helper"))
    return status.finish(status.advance(view, events.Outdated(("saxpy",), 3)), ("saxpy",))


@pytest.mark.sample(1)
@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_what_an_edit_changes_elsewhere_is_seen_without_unfolding(card: Callable[..., Card], dark: bool) -> None:
    shown = card(edited(), dark=dark)
    said = [" ".join(text.split()) for text in shown.page.locator(".wb-remarks > div").all_inner_texts()]
    assert said == [
        "use (cell [4]) now calls this helper",
        "3 compiled JAX functions hold the old saxpy jax.clear_caches()",
    ]
    assert shown.page.locator(".wb-remarks").is_visible() and not shown.page.locator(".wb-table").is_visible()
    SCREENS.mkdir(parents=True, exist_ok=True)
    shown.page.screenshot(path=str(SCREENS / f"status-card-edited-{'dark' if dark else 'light'}.png"))
    button = shown.page.locator(".wb-clear")
    button.focus()
    shown.page.keyboard.press("Enter")
    assert shown.page.evaluate("window.sent") == [{"ask": "clear"}] and button.is_disabled()
    shown.show(replace(edited(), outdated=""))
    assert button.count() == 0
