"""What a notebook answers in a real JupyterLab: a loop's film, stale pictures, the thread that failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "%load_ext kernel_ext\nimport workbench as wb, numpy as np\nfrom kernel_ext import show",
    "%%kernel\nG = 2.0\ndef grow(x: array[float]):\n    i = tid()\n    x[i] = x[i] * 0.9 + G * float(i)\n"
    "def put(x: array[float], n: int):\n    i = tid()\n    x[i + n] = 1.0",
    "x = wb.zeros(64)\nfor step in wb.optim.progress(30, watch=[x, lambda: show.points(np.eye(3)), 'loss']):\n"
    "    grow[64](x)\n    step.report(float(x.numpy().mean()))",
    "grow[64](x)\nx",
    "G = 5.0",
    "put[64](x, 1)",
    "%fault",
)


def test_a_loop_s_film_stale_pictures_and_the_thread_that_failed(lab: Callable[[Path], Any], tmp_path: Path) -> None:
    from playwright.sync_api import expect

    path = tmp_path / "answers.ipynb"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    made.cells[5].metadata["tags"] = ["raises-exception"]
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, path)
    page = lab(path)
    page.run("notebook:run-all-cells")
    stepper = page.notebook.get_by_test_id("wb-stepper")
    expect(stepper).to_be_visible(timeout=120_000)
    expect(stepper).to_contain_text("is out of range")
    film, picture = page.notebook.get_by_test_id("wb-animation"), page.notebook.get_by_test_id("wb-array")
    expect(film.locator(".wb-title")).to_contain_text("30 of 30 steps, loss")
    expect(film.locator(".wb-stage")).to_have_count(3)
    expect(picture.locator(".wb-stale")).to_have_text("stale: G changed · run the cell again", use_inner_text=True)
    page.go_to(2)
    page.screenshot("lab-film")
    page.go_to(6)
    page.screenshot("lab-fault")
