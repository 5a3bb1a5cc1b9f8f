"""Measure how often pictures are drawn again in JupyterLab: under a slider that a kernel reads, and by films.

The slider is moved in each frame of the page. Counted are the frames in which the page painted a picture, and the
processor time of each process, so that a busy machine's figure says what an idle one could do. Chromium runs without a
GPU, and its driver sees each message of the page's socket, which an ordinary browser's has not to send on.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import psutil
from measure import OURS, Row, Table, write
from nbformat.v4 import new_code_cell, new_notebook

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.reruns_in_lab import need
from tests.browser.conftest import LabPage, _lab

SIDE, POINTS, SECONDS = 256, 100_000, 10
SLIDER, FILM, CLOUD = 1, 4, 5
CELLS = (
    f"%load_ext kernel_ext\nimport workbench as wb\nfrom kernel_ext import show\n"
    f"u, v = wb.zeros(({SIDE}, {SIDE})), wb.zeros(({SIDE}, {SIDE}))\nx = wb.zeros({POINTS}, dtype=wb.vec3)",
    "beta = show.slider(0.0, 1.0, 0.5)",
    "%%kernel\ndef wave(u: array2d[float], b: float):\n    i, j = tid()\n"
    "    u[i, j] = sin(b * 0.2 * float(i)) * cos(0.05 * float(j))\n\n"
    "def cloud(x: array[vec3], t: float):\n    i = tid()\n    a = 0.01 * float(i)\n"
    "    x[i] = vec3(cos(a), sin(a + t), 1e-5 * float(i))",
    "with wb.record() as rec:\n    wb.launch(wave, u.shape, [u, beta])\nshow.array(u, 'wave')",
    "show.animate(lambda k: wb.launch(wave, v.shape, [v, 0.01 * k]), watch=v, frames=10_000, fps=60)",
    f"show.animate(lambda k: wb.launch(cloud, {POINTS}, [x, 0.01 * k]), watch=lambda: show.points(x), frames=10_000,"
    " fps=60)",
)
COUNT = """() => {
  const put = CanvasRenderingContext2D.prototype.putImageData;
  let last = 0;
  window.painted = 0;
  CanvasRenderingContext2D.prototype.putImageData = function (...args) {
    const frame = document.timeline.currentTime; // that of the frame: two pictures in one are one that is seen
    if (frame !== last) window.painted += 1;
    last = frame;
    return put.apply(this, args);
  };
}"""
DRAG = """seconds => new Promise((done) => {
  const range = document.querySelector("[data-testid=wb-controls] input[type=range]");
  const begun = performance.now();
  window.painted = 0;
  const move = () => {
    const now = performance.now() - begun;
    if (now > 1000 * seconds) return done([window.painted, now / 1000]);
    range.value = String(0.5 + 0.5 * Math.sin(now / 700));
    range.dispatchEvent(new Event("input"));
    requestAnimationFrame(move);
  };
  move();
})"""
WAIT = """seconds => new Promise((done) => {
  const begun = performance.now();
  window.painted = 0;
  setTimeout(() => done([window.painted, (performance.now() - begun) / 1000]), 1000 * seconds);
})"""
PROCESSES = (
    ("kernel", "ipykernel_launcher"), ("server", "jupyterlab"), ("page", "--type=renderer"),
    ("compositor", "--type=gpu-process"), ("network", "--type=utility"), ("browser", "chrom"), ("driver", "playwright"),
)  # fmt: skip


def spent() -> dict[str, float]:
    """Processor seconds so far of the processes below this one, by what they are."""
    found = dict.fromkeys([name for name, _ in PROCESSES], 0.0)
    for process in psutil.Process().children(recursive=True):
        try:
            line, times = " ".join(process.cmdline()), process.cpu_times()
        except psutil.Error:
            continue
        name = next((name for name, sign in PROCESSES if sign in line), None)
        if name is not None:
            found[name] += times.user + times.system
    return found


def measured(lab: LabPage, what: str, script: str) -> Row:
    """A row: what was painted while the script ran, and what it took."""
    lab.page.evaluate(script, 2)
    before = spent()
    painted, seconds = lab.page.evaluate(script, SECONDS)
    after = spent()
    each = {name: 1e3 * (after[name] - before[name]) / max(1, painted) for name in before}
    shares = ", ".join(f"{name} {value:.1f}" for name, value in each.items())
    note = (
        f"{painted / seconds:.1f} a second seen at a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores;"
        f" ms of processor each: {shares}, all {sum(each.values()):.1f}"
    )
    print(what, note, flush=True)
    return Row(what, {OURS: seconds / max(1, painted)}, note)


def film(lab: LabPage, cell: int, what: str) -> Row:
    """The film of a cell, while it plays."""
    lab.go_to(cell)
    play = lab.notebook.locator(".jp-Cell").nth(cell).get_by_label(re.compile("Play|Pause"))
    play.click()
    row = measured(lab, what, WAIT)
    play.click()
    return row


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
            lab.notebook.locator(".jp-Cell").nth(CLOUD).get_by_test_id("wb-animation").wait_for(timeout=300_000)
            lab.page.evaluate(COUNT)
            lab.go_to(SLIDER)
            table = Table("sliders_in_lab", "Pictures drawn again in JupyterLab", 1)
            table.rows.append(measured(lab, f"a slider dragged, {SIDE}²", DRAG))
            table.rows.append(film(lab, FILM, f"a film of {SIDE}²"))
            table.rows.append(film(lab, CLOUD, f"a film of {POINTS:,} points"))
    write(table)


if __name__ == "__main__":
    main()
