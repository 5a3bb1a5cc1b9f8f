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
    "%fault threads",
)

# Of the text of a mark that is above what it covers, on the page's own ground.
CONTRAST = """() => {
  const mark = [...document.querySelectorAll('.wb-stale')].find((m) => m.offsetHeight && m.textContent);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const page = numbers(getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor);
  const [r, g, b, share = 1] = numbers(getComputedStyle(mark).backgroundColor);
  const ground = [r, g, b].map((c, k) => share * c + (1 - share) * page[k]);
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (c) => c.slice(0, 3).map((v) => linear(v / 255))
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const [low, high] = [light(ground), light(numbers(getComputedStyle(mark).color))].sort((p, q) => p - q);
  return (high + 0.05) / (low + 0.05); }"""


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
    assert film.get_by_label("Frame").evaluate("slider => slider.value === slider.max"), "it shows the last frame"
    threads = page.notebook.get_by_test_id("wb-threads")
    expect(threads.locator(".wb-told").first).to_contain_text(
        "thread 63 (block 0, warp 1, lane 31): line 8 writes x[64]"
    )
    expect(threads.locator(".wb-now")).to_contain_text("warp 1 · line 8: x[i + n] = 1.0")
    page.page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", "JupyterLab Dark"
    )
    expect(page.page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    assert page.page.evaluate(CONTRAST) > 4.5, "a mark is as legible in the dark"
    expect(picture.locator(".wb-stale")).to_have_text("stale: G changed · run the cell again", use_inner_text=True)
    page.go_to(2)
    page.screenshot("lab-film")
    page.go_to(6)
    page.screenshot("lab-fault")
