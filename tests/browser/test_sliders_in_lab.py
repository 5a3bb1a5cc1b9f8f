"""Sliders that are values, in a real JupyterLab: a drag runs records again, draws pictures again and marks cells."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.test_flows_in_lab import Cells

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "%load_ext kernel_ext\nimport numpy as np, workbench as wb\nfrom kernel_ext import show\n"
    "u = wb.zeros((256, 256)); n = wb.zeros((64, 64))",
    "beta = show.slider(0.0, 1.0, 0.5)",
    "light = show.slider(-1, 1, wb.vec3(0.0, 0.0, 1.0))",
    "%%kernel\ndef wave(u: array2d[float]):\n    i, j = tid()\n"
    "    u[i, j] = sin(beta * 0.2 * float(i)) * cos(0.05 * float(j))\n\n"
    "def lit(n: array2d[float]):\n    i, j = tid()\n"
    "    n[i, j] = dot(normalize(vec3(float(i) - 32.0, float(j) - 32.0, 32.0)), light)",
    "with wb.record() as rec:\n    wb.launch(wave, (256, 256), [u])\n    wb.launch(lit, (64, 64), [n])\n"
    "show.array(u, 'wave')",
    "show.array(n, 'lit')",
    "print('twice', 2 * beta)",
    "wb.launch(wave, (256, 256), [u])\nshow.array(u, 'by hand')",
    "print('free')",
)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, tmp_path / "sliders.ipynb")
    return tmp_path / "sliders.ipynb"


def until_drawn_again(canvas: Any, before: str) -> None:
    """Wait for another picture; the view may have made a new element for it."""
    for _ in range(3000):
        if canvas.evaluate("canvas => canvas.toDataURL()") != before:
            return
        canvas.page.wait_for_timeout(100)
    raise AssertionError("the picture stays as it was")


def test_a_drag(lab: Callable[[Path], Any], notebook: Path) -> None:
    from playwright.sync_api import expect

    page = lab(notebook)
    cells = Cells(page)
    cells.run(*range(len(CELLS)))
    expect(cells.of(8).locator(".jp-OutputArea-output").first).to_contain_text("free")
    slider = cells.of(1).get_by_test_id("wb-controls")
    expect(slider.get_by_label("beta", exact=True)).to_have_value("0.5")
    picture = cells.of(4).get_by_test_id("wb-array").locator("canvas").first
    before = picture.evaluate("canvas => canvas.toDataURL()")
    slider.get_by_label("beta", exact=True).fill("0.9")
    expect(slider.locator(".wb-told")).to_contain_text(re.compile("1 record replayed, . views? drawn in .* 0 compiled"))
    expect(cells.of(6).locator(".wb-stale")).to_contain_text("stale: beta changed · run the cell again")
    expect(cells.of(7).locator(".wb-stale")).to_contain_text("stale: beta changed")
    for fresh in (1, 2, 4, 5, 8):
        assert cells.of(fresh).locator(".wb-stale:visible").count() == 0
    page.screenshot("sliders-moved")
    until_drawn_again(picture, before)

    lit = cells.of(5).get_by_test_id("wb-array").locator("canvas").first
    dark = lit.evaluate("canvas => canvas.toDataURL()")
    expect(cells.of(2).locator("input[type=range]")).to_have_count(3)
    cells.of(2).get_by_label("light.x", exact=True).fill("1")
    expect(cells.of(2).locator(".wb-told")).to_contain_text("0 compiled")
    until_drawn_again(lit, dark)
    cells.of(2).locator(".wb-pad").press("ArrowUp")
    expect(cells.of(2).get_by_label("light.y", exact=True)).to_have_value("0.01")
    page.go_to(2)
    page.screenshot("sliders-pad")

    cells.run(6, 7)
    expect(cells.of(6).locator(".wb-stale")).to_have_count(0)
    assert page.errors() == [] and page.complaints == []
