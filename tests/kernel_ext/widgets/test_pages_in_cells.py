"""A page as a cell's output: what a sanitizer leaves of it, and what runs where a front end lets frames run scripts."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bleach
import numpy as np
import pytest
from bleach.css_sanitizer import CSSSanitizer

import workbench as wb
from kernel_ext import show
from kernel_ext.output import output_area
from kernel_ext.output.renderable import Shown
from kernel_ext.refusal import Refusal
from tests.kernel_ext.widgets.test_pages_that_compute import SIZE, diffusion

STRICT = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src https: data:; "
    "connect-src https:; child-src https: data:"
)
"""About what VS Code allows the outputs of notebooks."""
KEPT = ["div", "img", "svg", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"]


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[wb.Recorder, Any, Shown]]:
    rec, u = diffusion()
    yield rec, u, show.page(show.controls(rec, c=(0, 0.25), watch=u), title="It's <heat>")


def test_without_frames_the_static_picture_stands(made: tuple[Any, Any, Shown]) -> None:
    bundle = made[2].bundle()
    assert sorted(bundle) == ["text/html", "text/plain"] and "sliders need a live notebook" in bundle["text/plain"]
    assert len(bundle["text/html"]) < 120_000
    left = bleach.clean(
        bundle["text/html"], tags=KEPT, attributes={"*": ["style"], "img": ["src", "alt"]}, protocols=["data"],
        css_sanitizer=CSSSanitizer(), strip=True,
    )  # fmt: skip
    assert "<iframe" not in left and "srcdoc" not in left and "script" not in left
    assert left.count("<img") == made[2].parts[0].html.count("<img") > 0 and "0.25" in left


def test_the_session_keeps_the_views_of_a_page(made: tuple[Any, Any, Shown], tmp_path: Path) -> None:
    output_area.forget_session()
    output_area.show_here(show.page(made[2], show.array(np.ones(3))))
    kept = output_area.session_views()
    output_area.forget_session()
    assert [shown.kind for shown in kept] == ["controls", "array_view"]
    assert "<img" in kept[0].html, "the picture that stands where it does not compute"
    assert "wrote 2 views (1 can compute)" in show.page(str(tmp_path / "all.html"), *kept)


def test_what_no_page_holds_is_refused() -> None:
    with pytest.raises(Refusal, match="takes views"):
        show.page()
    rec, u = diffusion()
    with pytest.raises(Refusal, match="what is watched is of type list"):
        show.page(show.controls(rec, c=(0, 0.25), watch=[u, u]))
    with pytest.raises(Refusal, match="a page is made of views; this is an ndarray"):
        show.page(np.ones(3))  # type: ignore[call-overload]


@pytest.mark.slow
@pytest.mark.browser
def test_it_computes_in_a_frame_without_rights(made: tuple[wb.Recorder, Any, Shown], chromium: Any) -> None:
    rec, u, shown = made
    page = chromium.new_page(viewport={"width": 700, "height": 900}, offline=True)
    heard: list[str] = []
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("console", lambda said: heard.append(said.text) if said.type == "error" else None)
    rule = f'<meta http-equiv="Content-Security-Policy" content="{html.escape(STRICT)}">'
    page.set_content(f"<html><head>{rule}</head><body>{shown.bundle()['text/html']}</body></html>")
    assert page.locator("iframe").get_attribute("title") == "It's <heat>"
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for()
    frame.locator("input[type=range]").fill("0.1")
    frame.locator(".wb-told", has_text="1 replay").wait_for()
    rec.rewind()
    rec.replay(c=0.1)
    found = page.frames[1].evaluate("async () => Array.from(await workbench.read('watch'))")
    assert np.array_equal(np.array(found, np.float32).reshape(SIZE, SIZE), u.numpy())
    assert frame.locator("header h1").inner_text() == "It's <heat>"
    tall = page.frames[1].evaluate("[document.documentElement.scrollHeight, innerHeight]")
    assert tall[0] <= tall[1] + 1, "nothing to scroll"
    page.close()
    assert heard == []


@pytest.mark.slow
@pytest.mark.browser
def test_where_no_worker_may_run_it_says_so(chromium: Any, made: tuple[wb.Recorder, Any, Shown]) -> None:
    page = chromium.new_page(offline=True)
    rule = html.escape(STRICT.replace("child-src https: data:", "child-src https:"))
    body = show.page(made[2], made[2]).bundle()["text/html"]
    page.set_content(
        f'<html><head><meta http-equiv="Content-Security-Policy" content="{rule}"></head><body>{body}</body></html>'
    )
    frame = page.frame_locator("iframe")
    frame.get_by_text("This place lets no worker run").nth(1).wait_for()
    assert frame.get_by_role("button", name="Play").count() == 0
    page.close()
