"""Two notebooks on one server: neither meets the other's views, and what a reload or a restart leaves can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.conftest import KERNEL_IS_IDLE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "%load_ext kernel_ext\nimport numpy as np, workbench as wb\nfrom kernel_ext import show\nu = wb.zeros((64, 64))",
    "%%kernel\ndef wave(u: array2d[float], beta: float):\n    i, j = tid()\n    u[i, j] = sin(beta * float(i))",
    "with wb.record() as rec: wb.launch(wave, (64, 64), [u, 0.5])\nshow.controls(rec, watch=u)",
    "show.array(np.zeros((3, 4, 5)), 'deep')",
    "print('done')",
)
LIVE = ("wb-status", "wb-controls", "wb-array")


def opened(lab: Callable[[Path], Any], path: Path) -> Any:
    """The notebook with all cells run."""
    from playwright.sync_api import expect

    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, path)
    page = lab(path)
    page.run("notebook:run-all-cells")
    expect(page.notebook.locator(".jp-OutputArea-output", has_text="done")).to_be_visible()
    expect(page.notebook.get_by_test_id("wb-array")).to_be_visible()
    return page


def test_what_a_reload_and_a_restart_leave(lab: Callable[[Path], Any], tmp_path: Path) -> None:
    from playwright.sync_api import expect

    first, second = (opened(lab, tmp_path / f"{name}.ipynb") for name in ("first", "second"))
    page = first.page
    for moved, other in ((first, second), (second, first)):
        told = other.notebook.locator(".wb-controls .wb-told").inner_text()
        moved.notebook.get_by_label("beta", exact=True).fill("0.9")
        expect(moved.notebook.locator(".wb-controls .wb-told")).to_contain_text("1 replay, 0 compiled")
        assert other.notebook.locator(".wb-controls .wb-told").inner_text() == told
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save').then(() => 0)")

    page.reload(wait_until="domcontentloaded")
    page.wait_for_function(KERNEL_IS_IDLE)
    for name in LIVE:
        expect(first.notebook.get_by_test_id(name)).to_be_visible()
    first.notebook.get_by_label("beta", exact=True).fill("0.3")
    expect(first.notebook.locator(".wb-controls .wb-told")).to_contain_text("2 replays, 0 compiled")

    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart().then(() => 0)")
    for name in LIVE:
        expect(first.notebook.get_by_test_id(name)).to_be_visible()
        expect(first.notebook.get_by_test_id(name).locator(".wb-stale")).to_have_text(
            "its kernel is gone · run the cell again", use_inner_text=True
        )
    first.screenshot("lab-restarted")
    assert second.notebook.locator(".wb-stale:visible").count() == 0

    page.evaluate("window.jupyterapp.commands.execute('docmanager:save').then(() => 0)")
    page.reload(wait_until="domcontentloaded")
    page.wait_for_function(KERNEL_IS_IDLE)
    still = first.notebook.locator("[class*=wb-twin]")
    expect(still).to_have_count(len(LIVE))
    expect(still.nth(1)).to_contain_text("moving a slider replays; it needs the notebook's kernel")
    expect(first.notebook.get_by_text("not found").locator("visible=true")).to_have_count(0)
    first.screenshot("lab-dead")
    assert first.complaints == second.complaints == []
