"""A notebook of puzzles in a real JupyterLab: run, solved, saved; a new session finds the score in the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FOLDER = Path(__file__).parents[2] / "notebooks" / "puzzles"
NOTEBOOK = FOLDER / "1-threads.ipynb"
SOLUTION = """%%kernel
def fahrenheit(celsius: array[float], result: array[float]):
    i = tid()
    result[i] = 1.8 * celsius[i] + 32.0"""
WRITE = """([index, text]) => {
  window.jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel.setSource(text); }"""
RESTART = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
WIDER = """[...document.querySelectorAll('.jp-OutputArea-output')].filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.innerText.slice(0, 80))"""


def cell_with(marker: str) -> int:
    """The number of the first cell whose text begins with `marker`."""
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    return next(i for i, cell in enumerate(cells) if cell.source.startswith(marker))


def run_cells(page: Any, *numbers: int) -> None:
    for number in numbers:
        page.go_to(number)
        page.run("notebook:run-cell")


def test_a_puzzle_is_solved_and_its_score_survives_a_restart(lab: Callable[[Path], Any], tmp_path: Path) -> None:
    from playwright.sync_api import expect

    (tmp_path / "root" / "threads.py").write_text((FOLDER / "threads.py").read_text())
    page = lab(NOTEBOOK)
    page.run("notebook:run-all-cells")
    cells = page.notebook.locator(".jp-Notebook .jp-Cell")
    count = len(nbformat.read(NOTEBOOK, as_version=4).cells)
    score = cells.nth(count - 1).locator(".jp-OutputArea-output")
    expect(score).to_contain_text("□□□□□□□□□ 0 of 9 right")
    check, kernel = cell_with("check(fahrenheit)"), cell_with("%%kernel")
    # Once the kernel is written again, a line above the answer says that it was compiled again.
    answer = cells.nth(check).locator(".jp-OutputArea-output").last
    expect(answer).to_contain_text("result was not written")
    expect(cells.nth(cell_with("show(")).locator("img")).to_be_visible()
    answer.get_by_text("Hint 1 of 3").click()
    expect(answer.get_by_text("the one element that this thread")).to_be_visible()
    expect(answer.get_by_text("Read celsius[i], compute")).to_be_hidden()
    page.run("application:toggle-left-area")
    for theme, width in (("Light", 1400), ("Dark", 1400), ("Dark", 700), ("Light", 700)):
        page.page.evaluate(
            "t => window.jupyterapp.commands.execute('apputils:change-theme', {theme: t})", f"JupyterLab {theme}"
        )
        page.page.set_viewport_size({"width": width, "height": 1100})
        expect(page.page.locator(f"body[data-jp-theme-name='JupyterLab {theme}']")).to_have_count(1)
        page.go_to(check)
        page.screenshot(f"puzzle-{theme.lower()}-{width}")
        assert page.page.evaluate(WIDER) == []

    page.page.evaluate(WRITE, [kernel, SOLUTION])
    run_cells(page, kernel, check, count - 1)
    expect(answer).to_contain_text("solved")
    expect(score).to_contain_text("■□□□□□□□□ 1 of 9 right")
    page.run("docmanager:save")
    page.page.evaluate(RESTART)
    run_cells(page, cell_with("%load_ext"), cell_with("from threads"), count - 1)
    expect(cells.nth(count - 1).locator(".jp-InputPrompt")).to_have_text("[3]:")
    expect(score).to_contain_text("■□□□□□□□□ 1 of 9 right")
    assert page.errors() == [] and page.complaints == []
