"""Our extension, as the wheel installs it, in a real JupyterLab: C++ in `%%cuda` cells, views without a kernel's model,
the "stop" of a launch that goes on, and the "run" of a stale output.

The notebook is one that somebody saved: its widgets' models are gone. Untrusted, its views are drawn by our renderer;
trusted, nothing says "model not found".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from kernel_ext import show
from kernel_ext.output.renderable import MIME, WIDGET_MIME, Shown
from kernel_ext.views.programs.timeline import SpanRow, TimelineView
from tests.browser.conftest import KERNEL_IS_IDLE
from tests.browser.test_flows_in_lab import Cells
from tests.kernel_ext.widgets.test_pages_that_compute import diffusion

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CUDA = '%%cuda\nextern "C" __global__ void scale(float* x, int n) {\n    if (threadIdx.x < n) x[threadIdx.x] *= 2;\n}'
KERNEL = "%%kernel\ndef scale(x: array[float]):\n    i = tid()\n    x[i] *= 2.0"


def timeline() -> Shown:
    rows = tuple(SpanRow(k * 1e-3, 1e-3, "cpu", "forward", f"<b>step{k}", (8,), 32, "cell [1]:2") for k in range(5))
    view = TimelineView("rec", ("cpu",), rows, 5e-3)
    return Shown("timeline", view, "rec: 5 recorded", "<div>static rec: 5 recorded</div>")


def outputs(shown: Shown, number: int) -> list[Any]:
    """The twin and the widget, as `display` left them."""
    dead = {WIDGET_MIME: {"version_major": 2, "version_minor": 0, "model_id": f"{number:032x}"}}
    bundles = (shown.bundle(f"wb-twin-{number}"), {**dead, "text/plain": "", "text/html": "<span></span>"})
    return [nbformat.v4.new_output("display_data", data) for data in bundles]


def computes_without_a_kernel(page: Any) -> None:
    """The page in the last cell gives the record's numbers after the kernel has been shut down."""
    from playwright.sync_api import expect

    page.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.page.wait_for_function("!window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel")
    page.go_to(4)
    frame = page.notebook.frame_locator("iframe")
    frame.locator("input[type=range]").fill("0.1")
    expect(frame.locator(".wb-told").first).to_contain_text("1 replay, 0 compiled")
    inside = next(f for f in page.page.frames if f.parent_frame)
    rec, u = diffusion()
    rec.rewind()
    rec.replay(c=0.1)
    found = np.array(inside.evaluate("async () => Array.from(await workbench.read('watch'))"), np.float32)
    page.screenshot("lab-page")
    assert np.array_equal(found.reshape(u.shape), u.numpy())
    assert page.notebook.locator(f"[data-mime-type='{MIME}']").count() == 0


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    cells = [nbformat.v4.new_code_cell(text) for text in (CUDA, KERNEL, "rec", "x", "show.page(sliders)")]
    cells[2].outputs = outputs(timeline(), 1)
    cells[3].outputs = outputs(show.array([1.0, float("nan"), 3.0], "x"), 2)
    rec, u = diffusion()
    page = show.page(show.controls(rec, c=(0, 0.25), watch=u), show.array(np.eye(3), "eye"))
    cells[4].outputs = [nbformat.v4.new_output("display_data", page.bundle())]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "saved.ipynb")
    return tmp_path / "saved.ipynb"


LONG = (
    "%load_ext kernel_ext\nimport workbench as wb\nx = wb.zeros(4)",
    "%%kernel\ndef blur(x: array[float], n: int):\n    i = tid()\n    for k in range(n):\n        x[i] = sin(x[i])",
    "wb.launch(blur, 4, [x, 2**31 - 1])",
    "wb.launch(blur, 4, [x, 1])\nprint('goes', 'on')",
)


STALE = (
    "%load_ext kernel_ext\nimport workbench as wb\nfrom kernel_ext import show\nx = wb.zeros(4)",
    "%%kernel\nG = 2.0\ndef grow(x: array[float]):\n    i = tid()\n    x[i] = G",
    "wb.launch(grow, 4, [x])\nx",
    "beta = show.slider(0.0, 1.0, 0.5)",
    "print('twice', 2 * beta)",
    "G = 5.0",
    "print('last')",
)


def written(cells: tuple[str, ...], path: Path) -> Path:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)
    return path


MIME_TYPES = "[...window.jupyterapp.shell.currentWidget.content.model.cells].map((cell) => cell.mimeType)"


def test_cuda_cells_are_cpp_and_views_are_drawn_untrusted(lab_with_extension: Callable[..., Any], saved: Path) -> None:
    from playwright.sync_api import expect

    page = lab_with_extension(saved)
    bars = page.notebook.locator("[data-testid=wb-timeline] .wb-span")
    expect(bars).to_have_count(5)
    expect(page.notebook.get_by_test_id("wb-array").locator(".wb-bad")).to_have_count(1)
    page.page.wait_for_function(f"{MIME_TYPES}[0] === 'text/x-c++src'")
    assert page.page.evaluate(MIME_TYPES)[1] == "text/x-ipython"
    first = page.notebook.locator(".jp-Cell").first
    expect(first.locator(".cm-content")).to_have_attribute("data-language", "cpp")
    expect(first.locator(".cm-line span", has_text="extern")).to_have_count(1)
    bars.nth(3).click()
    expect(page.notebook.locator("[data-testid=wb-timeline] .wb-told")).to_contain_text("#3 forward <b>step3")
    page.screenshot("lab-extension")
    static = page.notebook.locator(".jp-Cell").last
    expect(static.locator("img").first).to_be_visible()
    assert static.locator("iframe").count() == 0, "an untrusted notebook runs no scripts"
    page.page.evaluate("window.jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.setSource('x = 1')")
    page.page.wait_for_function(f"{MIME_TYPES}[0] === 'text/x-ipython'")
    assert page.notebook.get_by_text("model not found").count() == 0


def test_trusted_and_without_models_no_output_says_so(lab_with_extension: Callable[..., Any], saved: Path) -> None:
    from playwright.sync_api import expect

    page = lab_with_extension(saved, trusted=True)
    dead = page.notebook.get_by_text("model not found")
    expect(dead).to_have_count(2, timeout=300_000)
    expect(dead.first).to_be_hidden()
    expect(dead.last).to_be_hidden()
    expect(page.notebook.locator("[data-testid=wb-timeline] .wb-span")).to_have_count(5)


def test_without_the_extension_the_static_twin_stands(lab: Callable[..., Any], saved: Path) -> None:
    from playwright.sync_api import expect

    page = lab(saved, trusted=True)
    dead = page.notebook.get_by_text("model not found")
    expect(dead).to_have_count(2, timeout=300_000)
    expect(dead.first).to_be_hidden()
    expect(page.notebook.get_by_text("static rec: 5 recorded")).to_be_visible()
    computes_without_a_kernel(page)


def test_stop_in_the_line_of_a_launch_stops_it(lab_with_extension: Callable[..., Any], tmp_path: Path) -> None:
    from playwright.sync_api import TimeoutError, expect

    page = lab_with_extension(written(LONG, tmp_path / "long.ipynb"))

    def run(cell: int) -> None:
        page.go_to(cell)
        page.page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell')")

    for cell in (0, 1, 2):
        run(cell)
    line = page.notebook.locator(".wb-progress")
    expect(line).to_have_text(re.compile(r"running · .* · blur · stop"))
    page.screenshot("lab-running")
    line.get_by_role("button", name="stop").click()
    expect(line).to_have_count(0)
    said = page.notebook.locator(".jp-Cell").nth(2).locator(".jp-OutputArea")
    expect(said).to_contain_text(re.compile(r"blur was stopped after .* s\. Half written: x\."))
    page.page.wait_for_function(KERNEL_IS_IDLE)
    after = page.notebook.get_by_text("goes on", exact=True)
    for _ in range(5):  # the kernel drops requests until it has answered for the stopped cell
        run(3)
        with suppress(TimeoutError):
            after.wait_for(timeout=20_000)
            break
    expect(after).to_be_visible()
    assert page.errors() == ["KeyboardInterrupt"]


def test_run_in_a_stale_mark_runs_its_cell(lab_with_extension: Callable[..., Any], tmp_path: Path) -> None:
    from playwright.sync_api import expect

    page = lab_with_extension(written(STALE, tmp_path / "stale.ipynb"))
    page.run("notebook:run-all-cells")
    cells = Cells(page)
    expect(cells.of(6).locator(".jp-OutputArea-output").first).to_contain_text("last")
    mark = cells.of(2).locator(".wb-stale:visible")  # our extension draws the hidden twin, too
    expect(mark).to_have_text("stale: G changed · run", use_inner_text=True)
    page.go_to(2)
    page.screenshot("lab-stale")
    mark.get_by_role("button", name="run").click()
    expect(mark).to_have_count(0)
    assert page.page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex") == 2
    expect(cells.of(2).locator(".jp-OutputPrompt, .jp-InputPrompt").first).to_contain_text("[8]")

    cells.of(3).locator("[data-testid=wb-controls]:visible").get_by_label("beta", exact=True).fill("0.75")
    printed = cells.of(4).locator(".wb-stale:visible")
    expect(printed).to_have_text("stale: beta changed · run", use_inner_text=True)
    page.page.evaluate("window.jupyterapp.shell.currentWidget.content.widgets[4].model.trusted = false")
    printed.get_by_role("button", name="run").click()
    page.page.wait_for_function(KERNEL_IS_IDLE)
    expect(printed).to_be_visible()
    page.page.evaluate("window.jupyterapp.shell.currentWidget.content.widgets[4].model.trusted = true")
    printed.get_by_role("button", name="run").press("Enter")
    expect(cells.of(4).locator(".jp-OutputArea-output").first).to_contain_text("twice 1.5")
    assert page.errors() == []
