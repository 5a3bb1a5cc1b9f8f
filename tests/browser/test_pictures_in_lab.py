"""Record, graph and slider in a real JupyterLab: what is drawn can be chosen from, and a slider compiles nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "%load_ext kernel_ext\nimport workbench as wb, numpy as np, jax, jax.numpy as jnp",
    "%%kernel\ndef step(x: array[float], v: array[float], dt: float):\n    i = tid()\n"
    "    v[i] -= dt * x[i]\n    x[i] += dt * v[i]\n\ndef twice(x: array[float], y: array[float]):\n"
    "    i = tid()\n    y[i] = 2.0 * x[i]",
    "x, v, y, z = wb.ones(100), wb.zeros(100), wb.zeros(100), wb.zeros(100)\ndouble = wb.jax_kernel(twice)",
    "%%record run\nfor _ in range(3):\n    wb.launch(step, 100, [x, v, 0.1])\n"
    "jax.jit(double)(jnp.ones(8)).block_until_ready();",
    "%%graph -n g --replay 2\nwb.launch(step, 100, [x, v, 0.1])\n"
    "wb.launch(twice, 100, [x], [y])\nwb.launch(twice, 100, [v], [z])",
    "import ipywidgets\nfrom workbench import events\nbuilt = []\n"
    "stop = events.subscribe(built.append, events.CompileStarted)\n"
    "slider = ipywidgets.FloatSlider(0.1, min=0.0, max=0.5, step=0.1, description='dt')\n"
    "said = ipywidgets.HTML()\ndef again(change):\n    run.only(kernel=step).replay(dt=change['new'])\n"
    "    said.value = f\"replayed with dt {change['new']:.1f}, {len(built)} compiled\"\n"
    "slider.observe(again, 'value')\nipywidgets.VBox([slider, said])",
)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "pictures.ipynb"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, path)
    return path


def test_a_record_a_graph_and_a_slider(lab: Callable[[Path], Any], notebook: Path) -> None:
    from playwright.sync_api import expect

    page = lab(notebook)
    page.run("notebook:run-all-cells")
    timeline, graph = page.notebook.get_by_test_id("wb-timeline"), page.notebook.get_by_test_id("wb-graph")
    expect(graph).to_be_visible(timeout=120_000)
    expect(timeline).to_be_visible()
    # What ran; compiling and Python between launches have bars of their own, one for each gap that there is.
    ran = timeline.locator(".wb-span:not([data-kind=compile]):not([data-kind=Python])")
    expect(ran).to_have_count(4)
    expect(timeline.locator(".wb-span[data-kind=jax]")).to_have_count(1)
    page.go_to(3)
    timeline.locator(".wb-span[data-kind=jax]").click()
    expect(timeline.locator(".wb-told")).to_contain_text("twice")
    page.screenshot("lab-timeline")

    page.go_to(4)
    expect(graph.locator(".wb-node")).to_have_count(3)
    edges = graph.locator(".wb-edge")
    pairs = [(e.get_attribute("data-source"), e.get_attribute("data-target")) for e in edges.all()]
    assert sorted(pairs) == [("0", "1"), ("0", "2")], "the two launches after the first stand side by side"
    graph.locator(".wb-node[data-index='2']").click()
    expect(graph.locator(".wb-told")).to_contain_text("forward twice")
    page.screenshot("lab-graph")

    page.go_to(5)
    handle = page.notebook.locator(".widget-slider .noUi-handle")
    handle.focus()
    handle.press("ArrowRight")
    expect(page.notebook.locator(".widget-html-content")).to_contain_text("replayed with dt 0.2, 0 compiled")
    page.screenshot("lab-slider")
    assert page.errors() == [] and page.complaints == []
