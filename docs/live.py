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


def deblur(page: str) -> Shown:
    """The tour: a step of the descent; sigma is what the descent believes."""
    from skimage import data

    own = kernels(page, "blur", "squared_error", "descend", RADIUS=3)
    photo = data.camera().reshape(128, 4, 128, 4).mean(axis=(1, 3)).astype(np.float32) / 255
    blurred = wb.zeros_like(wb.array(photo))
    wb.launch(own.blur, blurred.shape, [wb.array(photo), 2.0, blurred])
    observed = wb.array(np.round(blurred.numpy() * 255).astype(np.float32) / 255)
    guess, attempt = wb.array(observed.numpy(), requires_grad=True), wb.zeros_like(observed, requires_grad=True)
    speed, loss = wb.zeros_like(observed), wb.zeros(1, requires_grad=True)
    with wb.record(inputs=True) as run:
        loss.zero_()
        with wb.Tape() as tape:
            wb.launch(own.blur, guess.shape, [guess, 2.0, attempt])
            wb.launch(own.squared_error, guess.shape, [attempt, observed, loss])
        tape.backward(loss=loss)
        wb.launch(own.descend, guess.shape, [guess, guess.grad, speed, 0.4])
        tape.zero()
    look = {"colours": "gray", "range": (0, 1)}
    return show.controls(run, sigma=(0.5, 4.0), rate=(0.0, 0.8), watch=guess, look=look, rewind=False)


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


def wave(page: str) -> Shown:
    """The lesson's own page."""
    own = kernels(page, "wave")
    y, x = np.mgrid[:96, :96]
    start = np.exp(-((x - 30) ** 2 + (y - 40) ** 2) / 20).astype(np.float32)
    u, before = wb.array(start), wb.array(start)
    with wb.record(inputs=True) as run:
        wb.launch(own.wave, u.shape, [u, before, 0.5])
        wb.launch(own.wave, u.shape, [before, u, 0.5])
    return show.controls(run, speed=(0.1, 0.7), watch=u, rewind=False)


def spheres(page: str) -> Shown:
    """The ray-marched picture of the guide, and its camera."""
    own = kernels(page, "march")
    picture = wb.zeros((150, 220), dtype=wb.vec3)
    look = wb.launch(own.march, picture.shape, [picture, 0.6, 0.4, 4.0], record_cmd=True)
    look.launch()
    return show.controls(look, turn=(-3.14, 3.14), tilt=(0.05, 1.4), away=(2.5, 8.0), watch=picture)


LIVE: dict[str, tuple[str, int, Callable[[str], Shown]]] = {
    # By source: title, height of its frame in pixels, what makes the view.
    "notebooks/00-tour.ipynb": ("Deblurring by descent: press play, then change sigma", 660, deblur),
    "notebooks/03-gradients.ipynb": ("The slope of where pendulums end, by their first angle", 410, slopes),
    "notebooks/05-record-and-replay.ipynb": ("A drop falls on a membrane", 520, membrane),
    "notebooks/06-graphs.ipynb": ("Springs", 380, springs),
    "notebooks/09-inverse-problem.ipynb": ("Finding the hidden plate: press play", 420, plate),
    "notebooks/14-a-page-that-computes.ipynb": ("A wave", 510, wave),
    "docs/guide/pages.md": ("Three balls, seen through a camera", 700, spheres),
}


def write(folder: Path) -> dict[str, tuple[str, int]]:
    """Write all pages into `folder`; the file and the height of each, by the source that it belongs to."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for source, (title, height, make) in LIVE.items():
        files[source] = f"{Path(source).stem}.html", height
        show.page(str(folder / files[source][0]), make(source), title=title)
    return files


if __name__ == "__main__":
    write(Path(sys.argv[1]))
