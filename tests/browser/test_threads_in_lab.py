"""Threads and both sweeps of a warp in a real JupyterLab: two themes and widths, the pointer and the keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "%load_ext kernel_ext\nimport workbench as wb\nfrom kernel_ext import show\n"
    "x, y = wb.ones(200), wb.zeros(200)\na, b = (wb.zeros(64, device='emulated') for _ in range(2))",
    "%%kernel\ndef blur(x: array[float], y: array[float]):\n    i = tid()\n"
    "    if i > 0 and i < x.shape[0] - 1:\n        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0",
    "%%cuda --run emulated\n__global__ void swap(const float* x, float* y) {\n    __shared__ float s[64];\n"
    "    s[threadIdx.x] = x[threadIdx.x];\n    __syncthreads();\n    y[threadIdx.x] = s[63 - threadIdx.x];\n}",
    "show.threads(blur, 200, [x], [y], block_dim=64)",
    "show.threads(swap, 64, [a, b], block_dim=64)",
    "show.backward(blur, 200, [x], [y])",
    "wb.launch(blur, 200, [x], [y])\nshow.array(y, 'y')",
)
BEYOND = """(selector) => {
  const box = document.querySelector(selector).getBoundingClientRect();
  return [...document.querySelectorAll(`${selector} *`)].filter((e) => {
    const own = e.getBoundingClientRect();
    return own.width && !e.closest('.wb-board, .wb-code') && (own.right > box.right + 1 || own.left < box.left - 1);
  }).map((e) => e.outerHTML.slice(0, 90)); }"""


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "threads.ipynb"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, path)
    return path


def test_threads_and_sweeps(lab: Callable[[Path], Any], notebook: Path) -> None:
    from playwright.sync_api import expect

    page = lab(notebook)
    page.run("notebook:run-all-cells")
    threads, sweeps = page.notebook.get_by_test_id("wb-threads"), page.notebook.get_by_test_id("wb-sweeps")
    expect(sweeps).to_be_visible()
    expect(threads).to_have_count(2)
    expect(page.notebook.locator("img[alt^='The grid']").first).to_be_hidden()  # the fallback is in the same cell
    page.run("application:toggle-left-area")

    blur, swap = threads.nth(0), threads.nth(1)
    told, moving = (blur.get_by_role("status").nth(k) for k in (0, 1))
    blur.get_by_label("Elements of x").focus()
    for _ in range(3):
        page.page.keyboard.press("ArrowRight")
    expect(told).to_contain_text("x[3]: read by thread")
    for thread in (2, 3, 4):  # in the order of the kernel's loads, which the compiler chooses
        expect(told).to_contain_text(f"read by thread {thread} at line 5")
    blur.get_by_label("Elements of y").hover(position={"x": 5, "y": 5})
    expect(told).to_contain_text("y[0]: touched by no thread")
    blur.get_by_label("Threads: arrow keys").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.page.keyboard.press(key)
    expect(told).to_contain_text("thread 97 (block 1, warp 1, lane 1): line 5 reads x[")
    expect(told).to_contain_text("line 5 reads x[97]")
    expect(blur).to_contain_text("Block 1, step by step")
    expect(moving).to_contain_text("warp 1 · line 5")

    waits = swap.get_by_role("status").nth(1)
    slider = swap.get_by_role("slider", name="Step of the block")
    slider.press("Home")
    for _ in range(40):
        if "1 warp waits at the barrier" in waits.inner_text():
            break
        swap.get_by_role("button", name="Step", exact=True).click()
    expect(waits).to_contain_text("1 warp waits at the barrier")

    steps = sweeps.get_by_role("slider", name="Step of both sweeps")
    steps.press("End")
    expect(sweeps.get_by_role("status")).to_contain_text("x.grad[0] = 0.333333")
    expect(sweeps.locator(".wb-drained").first).to_be_attached()
    steps.press("Home")
    expect(sweeps.locator(".wb-drained")).to_have_count(0)
    steps.press("End")

    look_at_array(page, page.notebook.get_by_test_id("wb-array"))
    for theme, width in (("Light", 1400), ("Dark", 1400), ("Dark", 700), ("Light", 700)):
        page.page.evaluate(
            "t => window.jupyterapp.commands.execute('apputils:change-theme', {theme: t})", f"JupyterLab {theme}"
        )
        page.page.set_viewport_size({"width": width, "height": 1100})
        for cell, selector in ((3, ".wb-threads"), (5, ".wb-sweeps")):
            page.go_to(cell)
            page.page.wait_for_timeout(300)  # the theme's colours fade in
            page.screenshot(f"lab{selector[3:]}-{theme.lower()}-{width}")
            assert page.page.evaluate(BEYOND, selector) == []
    assert page.errors() == [] and page.complaints == []


def look_at_array(page: Any, array: Any) -> None:
    """An element of the array of a launch names the thread and the line that wrote it."""
    from playwright.sync_api import expect

    array.get_by_role("button", name=re.compile("^Who wrote")).click()
    expect(array.get_by_role("status")).to_contain_text("y[0] = 0 · blur: no thread touched it")
    array.get_by_role("application").focus()
    for _ in range(3):
        page.page.keyboard.press("ArrowRight")
    expect(array.get_by_role("status")).to_contain_text("y[3] = 1 · blur: written by thread 3 at line 5")
    page.go_to(6)
    page.screenshot("lab-array-threads")
