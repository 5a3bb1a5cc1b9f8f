"""The notebook's side in JupyterLab 4.4 and Notebook 7.4: cards, pictures, an error and our extension are alive there.

One server has both, in an environment that takes all but these two from ours: one test, so that it is made once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from kernel_ext.output.renderable import Shown
from kernel_ext.views.programs.timeline import SpanRow, TimelineView

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STEP = "%%kernel\ndef step(x: array[float], v: array[float], dt: float):\n    i = tid()\n    x[i] += dt * v[i]"
CELLS = (
    "%load_ext kernel_ext\nimport numpy as np, workbench as wb\nfrom kernel_ext import show\n"
    "t = np.linspace(0, 9, 200, dtype=np.float32)\nx, v = wb.array(np.cos(t)), wb.array(np.sin(2 * t))",
    STEP,
    "%%record rec --inputs\nfor _ in range(3):\n    wb.launch(step, 200, [x, v, 0.1])",
    "%%graph -n g\nwb.launch(step, 200, [x, v, 0.1])\nwb.launch(step, 200, [v, x, 0.1])",
    "show.array(np.add.outer(np.arange(30.0), np.arange(40.0)), 'field')",
    "%inspect step source,ir,cuda",
    "show.controls(rec, watch=x, dt=(0, 1, 0.1))",
    '%%cuda\nextern "C" __global__ void scale(float* x, int n) {\n    if (threadIdx.x < n) x[threadIdx.x] *= 2;\n}',
    STEP.replace("v[i]", "nowhere[i]"),
)
LOADED, CARD, RECORD, GRAPH, ARRAY, SOURCE, CONTROLS, CUDA, WRONG, SAVED = range(10)
OWN_COMPLAINT = re.compile("Command '.*' not registered")  # Notebook 7.4 has not all that the Lab's plugins call
MIME_TYPES = "[...window.jupyterapp.shell.currentWidget.content.model.cells].map((cell) => cell.mimeType)"


def a_notebook(path: Path) -> Path:
    """The cells, none of them run, and an output that somebody saved."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (*CELLS, "saved")])
    rows = tuple(SpanRow(k * 1e-3, 1e-3, "cpu", "forward", f"step{k}", (8,), 32, "cell [1]:2") for k in range(5))
    shown = Shown("timeline", TimelineView("saved", ("cpu",), rows, 5e-3), "saved", "<div>the static twin</div>")
    made.cells[SAVED].outputs = [nbformat.v4.new_output("display_data", shown.bundle("wb-twin-1"))]
    made.metadata["kernelspec"] = {"name": "ours", "display_name": "ours", "language": "python"}
    nbformat.write(made, path)
    return path


def test_a_session_in_the_lab_and_the_notebook_of_then(
    older_front_ends: Callable[..., Any], need: Callable[[str], str], tmp_path: Path
) -> None:
    need("nvrtc")
    for at, name in (("lab/tree", "JupyterLab 4.4.0"), ("notebooks", "Jupyter Notebook 7.4.0")):
        kept = name.rpartition(".")[0].lower().replace(" ", "-")
        page = older_front_ends(a_notebook(tmp_path / f"{kept}.ipynb"), at=at)
        assert page.page.evaluate("`${window.jupyterapp.name} ${window.jupyterapp.version}`") == name
        what_was_saved(page)
        cells = page.notebook.locator(".jp-Notebook .jp-Cell")
        for index in range(SAVED):
            page.go_to(index)
            page.page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell').then(() => 0)")
        a_card(cells)
        page.go_to(CARD)
        page.screenshot(f"{kept}-card")
        pictures(cells)
        page.go_to(ARRAY)
        page.screenshot(f"{kept}-pictures")
        a_slider(cells.nth(CONTROLS))
        a_cuda_card(cells.nth(CUDA))
        an_error_at_its_line(cells.nth(WRONG))
        page.go_to(WRONG)
        page.screenshot(f"{kept}-error")
        assert page.errors() == ["KernelSyntaxError"]
        assert [text for text in page.complaints if not OWN_COMPLAINT.match(text)] == []
        page.page.close()


def live(cell: Any, name: str) -> Any:
    """The widget that the cell shows; the twin that it hides is drawn by our extension and looks alike."""
    return cell.locator(f"[data-testid=wb-{name}]:visible")


def what_was_saved(page: Any) -> None:
    """Our extension draws a view that no kernel made, in a notebook that is not trusted, and colours CUDA C++."""
    from playwright.sync_api import expect

    saved = page.notebook.get_by_test_id("wb-timeline")
    expect(saved.locator(".wb-span")).to_have_count(5)
    saved.locator(".wb-span").nth(3).click()
    expect(saved.locator(".wb-told")).to_contain_text("#3 forward step3")
    expect(page.notebook.get_by_text("the static twin")).to_have_count(0)
    page.page.wait_for_function(f"{MIME_TYPES}[{CUDA}] === 'text/x-c++src'")
    assert page.page.evaluate(MIME_TYPES)[CARD] == "text/x-ipython"


def a_card(cells: Any) -> None:
    """The live card hides its twin, unfolds, and asks the kernel for the text of a tab."""
    from playwright.sync_api import expect

    card = live(cells.nth(CARD), "status")
    expect(card).to_have_attribute("data-state", re.compile("compiled|disk hit"))
    expect(cells.nth(CARD).locator("[class*=wb-twin]")).to_be_hidden()
    card.locator("summary").click()
    expect(card.locator("table")).to_contain_text("forward")
    card.get_by_role("tab", name="LLVM").click()
    expect(card.locator(".wb-panel")).to_contain_text("define")


def pictures(cells: Any) -> None:
    """Each is alive and hides its twin."""
    from playwright.sync_api import expect

    timeline, graph = live(cells.nth(RECORD), "timeline"), live(cells.nth(GRAPH), "graph")
    timeline.locator(".wb-span").first.click(force=True)  # short bars may lie on each other: any of them will do
    expect(timeline.locator(".wb-told")).to_contain_text(re.compile(r"#\d forward step"))
    graph.locator(".wb-node").nth(1).click()
    expect(graph.locator(".wb-told")).to_contain_text("after")
    expect(live(cells.nth(ARRAY), "array").locator("canvas")).to_have_count(1)
    source = live(cells.nth(SOURCE), "source")
    source.locator("figure[data-pane=source] .wb-row").nth(2).click()
    expect(source.locator("figure[data-pane=cuda] .wb-pinned")).to_have_count(1)
    for index in (RECORD, GRAPH, ARRAY, SOURCE, CONTROLS):
        expect(cells.nth(index).locator("[class*=wb-twin]")).to_be_hidden()


def a_slider(cell: Any) -> None:
    """A move replays the record, draws its array again, and compiles nothing."""
    from playwright.sync_api import expect

    controls = live(cell, "controls")
    before = controls.locator(".wb-curve").get_attribute("d")
    controls.locator("input[data-name=dt]").fill("0.8")
    expect(controls.locator(".wb-told")).to_contain_text("1 replay, 0 compiled")
    assert controls.locator(".wb-curve").get_attribute("d") != before


def a_cuda_card(cell: Any) -> None:
    """A cell of CUDA C++ has its card, and its PTX a tab."""
    from playwright.sync_api import expect

    expect(cell.locator(".cm-content")).to_have_attribute("data-language", "cpp")
    card = live(cell, "status")
    card.locator("summary").click()
    card.get_by_role("tab", name="PTX").click()
    expect(card.locator(".wb-panel")).to_contain_text(".visible .entry")


def an_error_at_its_line(cell: Any) -> None:
    """The card says failed; the error stands at the cell's line, its caret below the name."""
    from playwright.sync_api import expect

    expect(live(cell, "status")).to_have_attribute("data-state", "failed")
    error = cell.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']")
    expect(error).to_have_count(1)
    rows = error.inner_text().splitlines()
    at = next(k for k, row in enumerate(rows) if row.strip() == "x[i] += dt * nowhere[i]")
    assert re.search(r"Cell In\[\d+\], line 4", rows[at - 1])
    assert rows[at + 1].index("^") == rows[at].index("nowhere")
