"""A kernel's texts side by side: rows of one line of the cell are linked, also in CUDA and PTX."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.views.kernels import queries
from workbench import inspect
from workbench.backends.cuda.lines import marked_cuda, marked_ptx

SCREENS = Path(__file__).parents[3] / "build" / "screens"
CELL = """def step(x: array[float], v: array[float], dt: float):
    i = tid()
    if x[i] > 0.0:
        v[i] -= dt * x[i]
    x[i] += dt * v[i]
"""


@pytest.fixture(scope="module")
def step() -> wb.Kernel:
    """The kernel as a cell defines it, its magic's line above."""
    return wb.build_cell(CELL, {}, name="cell [2]", filename="<cell>", line_offset=1).kernels["step"]


def test_cuda_tells_the_cell_s_lines(step: wb.Kernel) -> None:
    rows = inspect.cuda(step, lines=True).splitlines()
    assert [r for r in rows if r.endswith("// @ 5")] == ["        v.data[i] = v.data[i] + -(dt * x.data[i]);  // @ 5"]
    assert not any(row.startswith("#line") for row in rows)
    assert [re.sub(r"  // @ \d+$", "", row) for row in rows] == inspect.cuda(step).splitlines(), "nothing else differs"


def test_ptx_tells_the_cell_s_lines(step: wb.Kernel, need: Callable[[str], str]) -> None:
    need("nvrtc")
    text = inspect.ptx(step, lines=True)
    assert re.search(r"st\.global\.f32 .*// @ 5$", text, re.MULTILINE) and ".loc" not in text and "/cell/" not in text
    other = queries.pane_views(step, ("ptx",), "sm_80")[0].text
    assert ".target sm_90" in text and ".target sm_80" in other, "a cell's --arch is what its panes show"


def test_lines_of_another_source_are_not_ours() -> None:
    text = '#line 3 "/cell/aa"\n    a;\n#line 4 "/cell/bb"\n    b;\n}'
    assert marked_cuda(text, "aa", 1) == "    a;  // @ 4\n    b;\n}"
    ptx = '\t.loc 2 3 0\n\tadd;\n\t.loc 1 9 0\n\tmul;\n$L:\n\t.file 1 "/x/kernel.cu"\n\t.file 2 "/cell/aa"'
    assert marked_ptx(ptx, "aa", 0) == "\tadd;  // @ 3\n\tmul;\n$L:"


def test_the_live_view_answers_for_the_others(step: wb.Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    widget = show.source(step, ("source", "ir")).widget
    assert [name for name, _ in widget.panes][:3] == ["source", "ir", "adjoint"]
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(widget, "send", sent.append)
    ask = {"ask": "pane", "kernel": "step", "pane": "cuda"}
    widget._handle_msg({"content": {"data": {"method": "custom", "content": ask}}, "buffers": []})
    assert sent[0]["pane"] == "cuda" and "// @ 5" in sent[0]["text"]


@pytest.mark.slow
@pytest.mark.browser
def test_a_line_is_lit_in_every_pane(widget_page: Callable[..., Any], step: wb.Kernel) -> None:
    shown = show.source(step, ("source", "ir", "cuda"))
    panes = [["source", "Source"], ["ir", "IR"], ["cuda", "CUDA"], ["llvm", "LLVM"]]
    page = widget_page("source_view", shown.data(), 1100, panes=panes, selected=0)
    page.locator("figure[data-pane=source] .wb-row").nth(3).click()
    assert page.evaluate("window.model.get('selected')") == 5
    lit = page.locator(".wb-pinned").all_inner_texts()
    assert len(lit) == 6 and sum("v.data[i]" in row for row in lit) == 1
    assert page.locator(".wb-told").inner_text() == "line 5: 5 rows of the other texts"
    page.keyboard.press("ArrowDown")
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / "source.png"))
    page.get_by_role("button", name="LLVM").click()
    assert page.evaluate("window.sent") == [{"ask": "pane", "kernel": "step", "pane": "llvm"}]
    page.get_by_role("button", name="IR").click()
    assert page.locator("figure").count() == 3


@pytest.mark.slow
@pytest.mark.browser
def test_narrow_and_dark_the_texts_stand_below_each_other(widget_page: Callable[..., Any], step: wb.Kernel) -> None:
    page = widget_page("source_view", show.source(step).data(), 380, True, selected=6)
    boxes = [f.bounding_box() for f in page.locator("figure").all()]
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.evaluate("window.cleanup()")
    assert page.evaluate("window.listeners()") == 0


def test_a_difference_is_live_too(step: wb.Kernel) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    widget = show.texts(queries.diff_view(step, step, "ir")).widget
    assert widget.panes == [["ir against step", "ir against step"]]
    assert widget.view["panes"][0]["text"] == "step and step are alike"
