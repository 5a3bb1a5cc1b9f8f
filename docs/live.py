"""The pages of the site that compute: for each lesson named here, its kernels with sliders, in the reader's browser.

Kernels are those of the lesson's own cells; here stands only what is recorded. `build.py` writes the pages beside the
site and puts each at the head of its lesson.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import numpy as np

import workbench as wb
from kernel_ext import show
from kernel_ext.output.html_export import frame_height
from kernel_ext.output.renderable import Shown

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def kernels(page: str, *names: str, **given: Any) -> SimpleNamespace:
    """What the lesson `page` defines under these names, each by the last text that does; `given` stands before it."""
    found: dict[str, Any] = {"wb": wb, "np": np, **given}
    texts = _texts(page)
    for text in dict.fromkeys(next(t for t in reversed(texts) if f"def {name}(" in t) for name in names):
        if text.startswith("%%kernel"):
            found |= wb.build_cell(text.partition("\n")[2], found).names
        else:
            linecache.cache[f"<{page}>"] = (len(text), None, text.splitlines(True), f"<{page}>")
            exec(compile(text, f"<{page}>", "exec"), found)
    return SimpleNamespace(**{name: found[name] for name in names})


def _texts(page: str) -> list[str]:
    path = ROOT / page
    if path.suffix == ".md":
        return BLOCK.findall(path.read_text(encoding="utf-8"))
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def slopes(page: str) -> Shown:
    """Where pendulums end by their first angle, and the slope of that: a launch and its adjoint."""
    own = kernels(page, "swing")
    start, end = wb.array(np.linspace(0.1, 3.0, 120), requires_grad=True), wb.zeros(120, wb.float64, requires_grad=True)
    with wb.record(inputs=True) as run:
        with wb.Tape() as tape:
            wb.launch(own.swing, 120, [start, 1000, end])
        tape.backward(grads={end: np.ones(120)})
    return show.controls(run, steps=(100, 2000, 100), watch=start.grad)


def membrane(page: str) -> Shown:
    """Four steps of the wave after a drop."""
    own = kernels(page, "pull", "move")
    y, x = np.mgrid[0:96, 0:96].astype(np.float32)
    drop = 2.0 * np.exp(-((x - 30) ** 2 + (y - 40) ** 2) / 18).astype(np.float32)
    u, v = wb.array(drop), wb.zeros((96, 96))
    with wb.record(inputs=True) as run:
        for _ in range(4):
            wb.launch(own.pull, u.shape, [u, v, 0.35, 0.02])
            wb.launch(own.move, u.shape, [u, v, 0.35])
    return show.controls(run, dt=(0.05, 0.65, 0.05), damping=(0.0, 0.2), watch=u, rewind=False)


def springs(page: str) -> Shown:
    """A graph of springs, each a little behind the one before: a wave runs along them."""
    own = kernels(page, "push")
    n = 400
    phase = np.linspace(0, 4 * np.pi, n, dtype=np.float32)
    x, v = wb.array(np.cos(phase)), wb.array(np.sin(phase))
    with wb.capture() as graph:
        wb.launch(own.push, n, [x, v, 0.1])
    return show.controls(graph, dt=(0.0, 0.5), watch=x)


def plate(page: str) -> Shown:
    """The inverse problem: a round of the descent towards the hidden plate, through all waves and back."""
    own = kernels(page, "pull", "move", "knock", "listen", "misfit")
    size, steps, rim = 40, 130, 6
    far = size - 1 - rim
    row = range(rim, far + 1, 3)
    ring = [(a, b) for k in row for a, b in ((rim, k), (far, k), (k, rim), (k, far))]
    sensors = wb.array(np.array(ring, np.int32), wb.vec2i)
    knocks = wb.array(np.array([(rim, 13), (rim, 26), (far, 20), (20, rim), (13, far), (26, far)], np.int32), wb.vec2i)
    phase = (0.16 * np.pi * (np.arange(steps) * 0.5 - 9.0)) ** 2
    strength = (1 - 2 * phase) * np.exp(-phase)
    i, j = np.mgrid[:size, :size]
    soft, stiff = np.exp(-((i - 16) ** 2 + (j - 23) ** 2) / 14), np.exp(-((i - 25) ** 2 + (j - 15) ** 2) / 10)

    def simulate(stiffness: Any) -> Any:
        u, v = (wb.zeros((6, size, size), requires_grad=True) for _ in range(2))
        heard = wb.zeros((steps, 6, len(ring)), requires_grad=True)
        for step in range(steps):
            wb.launch(own.knock, 6, [v, knocks, float(strength[step])])
            wb.launch(own.pull, u.shape, [u, stiffness, v, 0.5])
            wb.launch(own.move, u.shape, [u, v, 0.5])
            wb.launch(own.listen, (6, len(ring)), [u, sensors, step, heard])
        return heard

    wanted = simulate(wb.array((1 - 0.45 * soft + 0.35 * stiff).astype(np.float32)))
    guess, loss = wb.ones((size, size), requires_grad=True), wb.zeros(1, requires_grad=True)
    optimizer = wb.optim.Adam(guess, lr=0.02, betas=(0.8, 0.95))
    with wb.record(inputs=True) as run:
        loss.zero_()
        optimizer.zero_grad()
        with wb.Tape() as tape:
            wb.launch(own.misfit, wanted.shape, [simulate(guess), wanted, loss])
        tape.backward(loss)
        optimizer.step()
    look = {"colours": "viridis", "range": (0.5, 1.5)}
    return show.controls(run, rate=(0.0, 0.05), watch=guess, look=look, rewind=False)


def spheres(page: str) -> Shown:
    """The ray-marched picture of the guide, and its camera."""
    own = kernels(page, "march")
    picture = wb.zeros((150, 220), dtype=wb.vec3)
    look = wb.launch(own.march, picture.shape, [picture, 0.6, 0.4, 4.0], record_cmd=True)
    look.launch()
    return show.controls(look, turn=(-3.14, 3.14), tilt=(0.05, 1.4), away=(2.5, 8.0), watch=picture)


LIVE: dict[str, tuple[str, Callable[[str], Shown]]] = {
    # By source: title, what makes the view. The tour and the lesson of pages have theirs in a cell's output.
    "notebooks/03-gradients.ipynb": ("The slope of where pendulums end, by their first angle", slopes),
    "notebooks/05-record-and-replay.ipynb": ("A drop falls on a membrane", membrane),
    "notebooks/06-graphs.ipynb": ("Springs", springs),
    "notebooks/09-inverse-problem.ipynb": ("Finding the hidden plate: press play", plate),
    "docs/guide/pages.md": ("Three balls, seen through a camera", spheres),
}


def write(folder: Path) -> dict[str, tuple[str, int]]:
    """Write all pages into `folder`; the file and the height of each, by the source that it belongs to."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for source, (title, make) in LIVE.items():
        view = make(source)
        files[source] = f"{Path(source).stem}.html", frame_height([view])
        show.page(str(folder / files[source][0]), view, title=title)
    return files


if __name__ == "__main__":
    write(Path(sys.argv[1]))
