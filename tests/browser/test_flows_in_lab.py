"""What a reader does with cells, in a real JupyterLab: change a constant, run again, make an error, move a slider.

The six states of a status card are met on the way. Cells are edited and run as a reader would; nothing is asked of the
kernel but what a cell prints.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STEP = (
    "%%kernel -n step\n"
    "def step(x: array[float], v: array[float], dt: float):\n"
    "    i = tid()\n"
    "    v[i] -= DT * x[i]\n"
    "    x[i] += dt * v[i]"
)
CELLS = (
    "%load_ext kernel_ext\nimport numpy as np, workbench as wb\nfrom kernel_ext import show\nDT = 0.01",
    STEP,
    "%%record -q rec --inputs\nfor _ in range(20):\n    wb.launch(step, 400, [x, v, 0.1])",
    "show.controls(rec, watch=x, dt=(0, 1, 0.1))",
    "%%kernel\ndef waits(x: array, by: float):\n    i = tid()\n    x[i] += by",
    "show.array(np.add.outer(np.arange(30.0), np.arange(40.0)), 'field')",
    "%inspect step source,ir,cuda",
    "wb.step(step, 4, [np.ones(4, np.float32), np.zeros(4, np.float32), 0.1])",
    "%cache",
    "%%cuda\n__global__ void shift(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1.0f; }\n"
    "__global__ void shift_adjoint(const float* x, const float* y, float* adj_x, float* adj_y) {\n"
    "    adj_x[threadIdx.x] += adj_y[threadIdx.x];\n}",
)
TABS = {
    "Source": "void shift(const float* x", "Adjoint": "void shift_adjoint(const float* x", "CUDA": "shift_adjoint",
    "PTX": ".visible .entry", "SASS": "shift", "Key": "digest",
}  # fmt: skip
KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
ARRAYS = "x, v = wb.array(np.sin(np.linspace(0, 9, 400)).astype(np.float32)), wb.zeros(400)"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    texts = (*CELLS[:2], ARRAYS, *CELLS[2:])
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, tmp_path / "flows.ipynb")
    return tmp_path / "flows.ipynb"


class Cells:
    """The notebook's cells: `put` changes one's text, `run` runs one and waits for it."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def of(self, index: int) -> Any:
        return self.page.notebook.locator(
            ".jp-Notebook > .jp-WindowedPanel-outer .jp-Cell, .jp-Notebook > .jp-Cell"
        ).nth(index)

    def card(self, index: int) -> Any:
        return self.of(index).get_by_test_id("wb-status")

    def put(self, index: int, text: str) -> None:
        self.page.page.evaluate(
            "([k, text]) => window.jupyterapp.shell.currentWidget.content.widgets[k].model.sharedModel.setSource(text)",
            [index, text],
        )

    def run(self, *indices: int) -> None:
        for index in indices:
            self.page.go_to(index)
            self.page.page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell').then(() => 0)")


def test_a_reader_s_way(lab: Callable[[Path], Any], notebook: Path, need: Callable[[str], str]) -> None:
    need("nvrtc")
    page = lab(notebook)
    cells = Cells(page)
    states_of_a_card(cells)
    an_error_at_its_line(cells)
    a_slider(cells)
    pictures(cells)
    tabs_of_a_cuda_card(cells)
    assert page.errors() == [] and page.complaints == []
    widgets_that_begin_late(cells)


def states_of_a_card(cells: Cells) -> None:
    """Compiled, found in memory, recompiled for a constant, found on disk, ready; `failed` comes with the error."""
    from playwright.sync_api import expect

    card = cells.card(1)
    cells.run(0, 1)
    expect(card).to_have_attribute("data-state", "compiled")
    expect(card).to_contain_text(re.compile(r"compiled step [0-9a-f]{8} · "))
    cells.run(1)
    expect(card).to_have_attribute("data-state", "memory hit")
    expect(card).to_contain_text("cache hit memory")
    cells.put(0, "DT = 0.02")
    cells.run(0, 1)
    expect(card).to_have_attribute("data-state", "recompiled")
    expect(card).to_contain_text("recompiled: constant DT: 0.01 → 0.02".replace("recompiled: ", ""))
    cells.page.screenshot("flow-recompiled")
    cells.run(5)
    expect(cells.card(5)).to_have_attribute("data-state", "ready")
    cells.page.page.evaluate(f"{KERNEL}.restart().then(() => 0)")
    cells.page.page.wait_for_function(f"{KERNEL}.status === 'idle'")
    cells.put(0, CELLS[0].replace("0.01", "0.02"))
    cells.run(0, 1)
    expect(card).to_have_attribute("data-state", "disk hit")
    expect(card).to_contain_text(re.compile("disk .*, built "))


def an_error_at_its_line(cells: Cells) -> None:
    """The card says failed, the error stands at the cell's line with a caret, and running what is right mends it."""
    from playwright.sync_api import expect

    cells.put(1, STEP.replace("DT * x[i]", "DT * nowhere[i]"))
    cells.run(1)
    expect(cells.card(1)).to_have_attribute("data-state", "failed")
    error = cells.of(1).locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']")
    rows = error.inner_text().splitlines()
    at = next(k for k, row in enumerate(rows) if row.strip() == "v[i] -= DT * nowhere[i]")
    assert re.search(r"Cell In\[\d+\], line 4", rows[at - 1])
    assert rows[at + 1].index("^") == rows[at].index("nowhere"), "the caret stands below the name"
    cells.page.screenshot("flow-error")
    cells.put(1, STEP)
    cells.run(1)
    expect(error).to_have_count(0)


def a_slider(cells: Cells) -> None:
    """A move replays the record, draws its array again, and compiles nothing."""
    from playwright.sync_api import expect

    cells.run(2, 3, 4)
    controls = cells.of(4).get_by_test_id("wb-controls")
    before = controls.locator(".wb-curve").get_attribute("d")
    controls.locator("input[data-name=dt]").fill("0.8")
    expect(controls.locator(".wb-told")).to_contain_text("1 replay, 0 compiled")
    assert controls.locator(".wb-curve").get_attribute("d") != before
    cells.page.screenshot("flow-slider")


def pictures(cells: Cells) -> None:
    """The other pictures are alive, and each hides its twin."""
    from playwright.sync_api import expect

    cells.run(6, 7, 8, 9)
    expect(cells.of(6).get_by_test_id("wb-array").locator("canvas")).to_have_count(1)
    source = cells.of(7).get_by_test_id("wb-source")
    source.locator("figure[data-pane=source] .wb-row").nth(2).click()
    expect(source.locator("figure[data-pane=cuda] .wb-pinned")).to_have_count(1)
    source.get_by_role("button", name="LLVM").click()
    expect(source.locator("figure[data-pane=llvm] .wb-code")).to_contain_text("define")
    stepper = cells.of(8).get_by_test_id("wb-stepper")
    stepper.get_by_label("Step", exact=True).first.click()
    expect(stepper.locator(".wb-title")).to_contain_text("step 1 of")
    expect(cells.of(9).get_by_test_id("wb-cache").locator("tbody tr").first).to_be_visible()
    for index in (6, 7, 8, 9):
        expect(cells.of(index).locator("[class*=wb-twin]")).to_be_hidden()
        cells.page.go_to(index)
        cells.page.screenshot(f"flow-picture-{index}")


def tabs_of_a_cuda_card(cells: Cells) -> None:
    """A cell of CUDA C++ offers the texts that it has, each beside the cell's own lines, and a second click closes."""
    from playwright.sync_api import expect

    cells.run(10)
    card = cells.card(10)
    expect(card).to_have_attribute("data-state", "compiled")
    card.locator("summary").click()
    expect(card.get_by_role("tab")).to_have_text(list(TABS))
    panel = card.get_by_role("tabpanel")
    for name, text in TABS.items():
        card.get_by_role("tab", name=name, exact=True).click()
        expect(panel.locator(f"[data-pane={name.lower()}]")).to_contain_text(text)
        expect(card.locator("[aria-selected=true]")).to_have_text(name)
    cells.page.screenshot("flow-cuda-card")
    card.get_by_role("tab", name="Key", exact=True).click()
    expect(panel).to_have_count(0)


def widgets_that_begin_late(cells: Cells) -> None:
    """They hear their kernel. anywidget gives up on a model after two seconds: here at once, as on a busy page."""
    from playwright.sync_api import expect

    cells.page.page.evaluate(
        "() => { const plain = AbortSignal.timeout.bind(AbortSignal);"
        " AbortSignal.timeout = (ms) => plain(ms === 2000 ? 0 : ms); }"
    )
    cells.page.page.evaluate(f"{KERNEL}.restart().then(() => 0)")
    cells.page.page.wait_for_function(f"{KERNEL}.status === 'idle'")
    cells.run(0, 1, 2, 3, 4)
    expect(cells.card(1)).to_contain_text(re.compile("compiled|cache hit"))
    cells.of(4).get_by_label("dt").fill("0.5")
    expect(cells.of(4).get_by_test_id("wb-controls")).to_contain_text("1 replay, 0 compiled")
