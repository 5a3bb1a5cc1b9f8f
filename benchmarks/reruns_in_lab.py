"""What a page of JupyterLab keeps when one kernel cell is run 500 times: memory after garbage was collected.

Every other run changes the cell's constant. Beside it stand the same cell without a card, and a cell of plain HTML.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from measure import OURS, Row, Table, write
from nbformat.v4 import new_code_cell, new_notebook

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.browser.conftest import LabPage, _lab

RERUNS, WARM = 500, 100
KERNEL = """%%kernel
def reruns(x: array[float], y: array[float]):
    i = tid()
    y[i] = {number}.0 * x[i]"""
CELLS = "window.jupyterapp.shell.currentWidget.content.model.cells"
SET = f"([index, text]) => {CELLS}.get(index).sharedModel.setSource(text)"
COUNT = f"index => {CELLS}.get(index).executionCount"
CELLS_RUN = {
    "a kernel cell with its card": KERNEL,
    "the same without a card (-q)": KERNEL.replace("%%kernel", "%%kernel -q"),
    "plain HTML, 25 kB": 'from IPython.display import HTML\nHTML("<p>{number}</p>" + "abcdefghij" * 2500)',
}


def need(tool: str) -> str:
    """Where a program is; modules are imported anyway."""
    return shutil.which(tool) or tool


def megabytes(lab: LabPage) -> float:
    """What JavaScript holds after garbage was collected, in MB."""
    session: Any = lab.page.context.new_cdp_session(lab.page)
    for _ in range(3):  # code that has not run for a while goes only after several
        session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used / 1e6


def rerun(lab: LabPage, text: str, number: int) -> None:
    """Run the second cell once and wait for its number."""
    lab.page.evaluate(SET, [1, text.format(number=number % 2)])
    before = lab.page.evaluate(COUNT, 1)
    lab.go_to(1)
    lab.run("notebook:run-cell")
    lab.page.wait_for_function(f"before => ({COUNT})(1) > before", arg=before or 0, timeout=30_000)


def measured(text: str) -> Row:
    """One kind of cell, run `RERUNS` times in a JupyterLab of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reruns.ipynb"
        cells = [new_code_cell("%load_ext kernel_ext"), new_code_cell(text.format(number=0))]
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": spec}), path)
        with _lab(Path(folder), need) as opened:
            lab, told = opened(path), {}
            lab.go_to(0)
            lab.run("notebook:run-cell")
            seconds = []
            for number in range(1, RERUNS + 1):
                begun = time.monotonic()
                rerun(lab, text, number)
                seconds.append(time.monotonic() - begun)
                if number in (WARM, RERUNS):
                    told[number] = megabytes(lab)
    grown = (told[RERUNS] - told[WARM]) / (RERUNS - WARM) * 1e3
    note = f"the page: {told[WARM]:.1f} MB after {WARM}, {told[RERUNS]:.1f} after {RERUNS}: {grown:.0f} kB per run"
    return Row("", {OURS: statistics.median(seconds)}, note)


def main() -> None:
    """Write the table."""
    table = Table("reruns_in_lab", "One cell run again and again in JupyterLab", RERUNS)
    for what, text in CELLS_RUN.items():
        row = measured(text)
        table.rows.append(Row(what, row.seconds, row.note))
        print(table.rows[-1], flush=True)
    write(table)


if __name__ == "__main__":
    main()
