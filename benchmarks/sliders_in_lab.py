"""Measure how often a picture of 256² is drawn again in JupyterLab while a slider that a kernel reads is dragged.

A move is made in each frame of the page; while one runs, later ones wait and only the last is sent. Counted are the
pictures that the page painted. The kernel's own processor time for each says what an idle machine could do.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from measure import OURS, Row, Table, write
from nbformat.v4 import new_code_cell, new_notebook

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.reruns_in_lab import need
from tests.browser.conftest import LabPage, _lab

SIDE, SECONDS = 256, 10
CELLS = (
    f"%load_ext kernel_ext\nimport time, workbench as wb\nfrom kernel_ext import show\nu = wb.zeros(({SIDE}, {SIDE}))",
    "beta = show.slider(0.0, 1.0, 0.5)",
    "%%kernel\ndef wave(u: array2d[float]):\n    i, j = tid()\n"
    "    u[i, j] = sin(beta * 0.2 * float(i)) * cos(0.05 * float(j))",
    "with wb.record() as rec:\n    wb.launch(wave, u.shape, [u])\nshow.array(u, 'wave')",
    "print('used', beta.view.runs, time.process_time())",
)
COUNT = """() => {
  const put = CanvasRenderingContext2D.prototype.putImageData;
  window.painted = 0;
  CanvasRenderingContext2D.prototype.putImageData = function (...args) {
    window.painted += 1;
    return put.apply(this, args);
  };
}"""
DRAG = """seconds => new Promise((done) => {
  const range = document.querySelector("[data-testid=wb-controls] input[type=range]");
  const begun = performance.now();
  let frames = 0;
  window.painted = 0;
  const move = () => {
    const now = performance.now() - begun;
    if (now > 1000 * seconds) return done([window.painted, frames, now / 1000]);
    frames += 1;
    range.value = String(0.5 + 0.5 * Math.sin(now / 700));
    range.dispatchEvent(new Event("input"));
    requestAnimationFrame(move);
  };
  move();
})"""


def used(lab: LabPage) -> tuple[int, float]:
    """The moves that were answered so far, and the kernel's processor time."""
    before = lab.page.evaluate("window.jupyterapp.shell.currentWidget.content.model.cells.get(4).executionCount")
    lab.go_to(4)
    lab.page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell')")
    lab.page.wait_for_function(
        "before => { const cell = window.jupyterapp.shell.currentWidget.content.model.cells.get(4);"
        " return cell.executionCount > before && cell.outputs.length; }", arg=before or 0, timeout=120_000,
    )  # fmt: skip
    said = re.search(r"used (\d+) ([\d.]+)", lab.notebook.locator(".jp-Cell").nth(4).inner_text())
    assert said is not None
    return int(said[1]), float(said[2])


def main() -> None:
    """Write the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sliders.ipynb"
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        cells = [new_code_cell(text) for text in CELLS]
        nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": spec}), path)
        with _lab(Path(folder), need) as opened:
            lab: Any = opened(path)
            lab.run("notebook:run-all-cells")
            lab.notebook.get_by_test_id("wb-array").wait_for(timeout=300_000)
            lab.page.evaluate(COUNT)
            lab.page.evaluate(DRAG, 2)
            runs, spent = used(lab)
            load = os.getloadavg()[0]
            painted, frames, seconds = lab.page.evaluate(DRAG, SECONDS)
            more, after = used(lab)
    answered = more - runs
    each = 1e3 * (after - spent) / answered
    note = (
        f"{painted / seconds:.1f} pictures a second, {frames / seconds:.0f} frames; {each:.1f} ms of the kernel's"
        f" processor for each of {answered} moves; load {load:.1f} on {os.cpu_count()} cores"
    )
    table = Table("sliders_in_lab", f"A slider dragged in JupyterLab, a picture of {SIDE}²", 1)
    table.rows.append(Row("a picture", {OURS: seconds / painted}, note))
    print(table.rows[-1], flush=True)
    write(table)


if __name__ == "__main__":
    main()
