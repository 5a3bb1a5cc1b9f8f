"""Makes the README's moving picture: `python docs/moving_picture.py`, with the extra `test` and Chromium.

A notebook is typed and run in a real JupyterLab, and its page photographed: the card of a kernel says that it was
compiled, a slider replays a deblurring with other widths, the kernel's cell gets a comment and runs again, and its card
says that the kernel was in memory. The pauses between the pictures are ours; what they show is not touched.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.browser.conftest import KERNEL_IS_IDLE, ROOT, LabPage, _lab

PICTURE = ROOT / "notebooks" / "pictures" / "deblur.gif"
WIDTH, HEIGHT, COLOURS = 800, 590, 96
SIGMAS = [0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0]

PREPARED = """\
%load_ext kernel_ext
import numpy as np
from skimage import data

import workbench as wb
from kernel_ext import show

half = data.astronaut().reshape(256, 2, 256, 2, 3).mean((1, 3))[0:160, 32:192]
photo = wb.array(half.astype(np.float32) / 255, dtype=wb.vec3)
guess = wb.zeros(photo.shape, dtype=wb.vec3, requires_grad=True)
blurred, attempt, apart, speed = (wb.zeros_like(photo) for _ in range(4))"""
HELPERS = """\
%%kernel
def difference(a: array2d[vec3], b: array2d[vec3], result: array2d[vec3]):
    i, j = tid()
    result[i, j] = a[i, j] - b[i, j]


def descend(guess: array2d[vec3], slope: array2d[vec3], speed: array2d[vec3]):
    i, j = tid()
    speed[i, j] = 0.9 * speed[i, j] - 0.8 * slope[i, j]
    moved = guess[i, j] + speed[i, j]
    guess[i, j] = vec3(clamp(moved[0], 0.0, 1.0), clamp(moved[1], 0.0, 1.0), clamp(moved[2], 0.0, 1.0))"""
BLUR = """\
%%kernel
def blur(image: array2d[vec3], sigma: float, result: array2d[vec3]):
    i, j = tid()
    total, weights = vec3(), 0.0
    for dy in range(-4, 5):
        for dx in range(-4, 5):
            w = exp(-float(dx * dx + dy * dy) / (2.0 * sigma * sigma))
            total += w * image[clamp(i + dy, 0, 159), clamp(j + dx, 0, 159)]
            weights += w
    result[i, j] = total / weights"""
DEBLUR = """\
wb.launch(blur, photo.shape, [photo, 2.0], [blurred])

with wb.record() as deblur:
    wb.copy(guess, blurred)
    speed.zero_()
    for _ in range(20):
        with wb.Tape() as tape:
            wb.launch(blur, photo.shape, [guess, 0.4], [attempt])
        wb.launch(difference, photo.shape, [attempt, blurred], [apart])
        tape.backward(grads={attempt: apart})
        wb.launch(descend, photo.shape, [guess, guess.grad, speed])
        tape.zero()"""
SLIDER = """\
show.controls(deblur, watch=guess, sigma=(0.4, 2.4, 0.1))"""
COMMENT = "  # a window of 9 rows"
READY, KERNELS, BLURS, RECORDS, SLIDES = range(5)
SET = """([index, text]) => window.jupyterapp.shell.currentWidget.content.model.cells.get(index)
                          .sharedModel.setSource(text)"""
TIDY = """.jp-Toolbar, .jp-NotebookFooter, .jp-SideBar, .jp-cell-toolbar, #jp-bottom-panel { display: none !important }
          * { caret-color: transparent !important }"""


class Film:
    """Pictures of one notebook, and for how many milliseconds each is seen."""

    def __init__(self, lab: LabPage) -> None:
        self.lab = lab
        self.frames: list[tuple[Image.Image, int]] = []

    def take(self, milliseconds: int) -> None:
        """Photograph the notebook as it is."""
        box = self.lab.notebook.locator(".jp-Notebook").first.bounding_box()
        assert box is not None
        clip = {"x": box["x"], "y": box["y"], "width": WIDTH, "height": HEIGHT}
        self.frames.append((Image.open(io.BytesIO(self.lab.page.screenshot(clip=clip))).convert("RGB"), milliseconds))

    def write(self, path: Path) -> None:
        """One GIF of all, with one palette: a frame then keeps only what changed."""
        whole = Image.new("RGB", (WIDTH, HEIGHT * len(self.frames)))
        for k, (frame, _) in enumerate(self.frames):
            whole.paste(frame, (0, k * HEIGHT))
        palette = whole.quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
        drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame, _ in self.frames]
        shown = [milliseconds for _, milliseconds in self.frames]
        drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=shown, loop=0, optimize=False)


def run(lab: LabPage, cell: int) -> None:
    """Run one cell; its result may take a while."""
    lab.go_to(cell)
    lab.run("notebook:run-cell")


def to_top(lab: LabPage, cell: int) -> None:
    """Scroll until `cell` is the first that is seen."""
    lab.notebook.locator(".jp-Notebook .jp-Cell").nth(cell).evaluate("cell => cell.scrollIntoView({block: 'start'})")
    lab.page.wait_for_timeout(300)


def the_card(film: Film) -> Any:
    """The kernel is run: its card says compiled."""
    from playwright.sync_api import expect

    lab, cells = film.lab, film.lab.notebook.locator(".jp-Notebook .jp-Cell")
    run(lab, READY)
    run(lab, KERNELS)
    expect(cells.nth(KERNELS).get_by_test_id("wb-status")).to_be_visible()
    lab.go_to(BLURS)
    to_top(lab, BLURS)
    film.take(1500)
    run(lab, BLURS)
    card = cells.nth(BLURS).get_by_test_id("wb-status").first
    expect(card).to_be_visible()
    to_top(lab, BLURS)
    film.take(1200)
    return card


def the_slider(film: Film) -> None:
    """Each place of the slider is a replay; the picture under it follows."""
    from playwright.sync_api import expect

    lab = film.lab
    run(lab, RECORDS)
    film.take(1200)
    run(lab, SLIDES)
    controls = lab.notebook.locator("[data-testid=wb-controls]:visible")
    expect(controls).to_have_count(1)
    to_top(lab, SLIDES)
    film.take(1500)
    for sigma in (*SIGMAS, 2.2, 2.4, 2.2, 2.0):
        controls.locator("input[data-name=sigma]").fill(str(sigma))
        expect(controls.locator(".wb-told")).to_contain_text(re.compile("replay"))
        lab.page.wait_for_timeout(300)
        lab.page.wait_for_function(KERNEL_IS_IDLE)
        lab.page.wait_for_timeout(900)  # the message that it sent last is drawn
        film.take(250 if sigma != 2.0 else 2000)


def the_card_again(film: Film) -> None:
    """A comment changes nothing that a kernel means: the card says so."""
    from playwright.sync_api import expect

    lab = film.lab
    to_top(lab, BLURS)
    film.take(1200)
    run(lab, BLURS)
    card = lab.notebook.locator(".jp-Notebook .jp-Cell").nth(BLURS).get_by_test_id("wb-status").first
    expect(card).to_have_attribute("data-state", "memory hit")
    to_top(lab, BLURS)
    film.take(2500)


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as place:
        os.environ["WORKBENCH_CACHE"] = f"{place}/cache"  # nothing is compiled yet
        cells = [new_code_cell(text) for text in (PREPARED, HELPERS, BLUR, DEBLUR, SLIDER)]
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        path = Path(place) / "deblur.ipynb"
        nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": spec}), path)
        with _lab(Path(place), lambda tool: shutil.which(tool) or tool) as opened:
            lab = opened(path)
            lab.page.set_viewport_size({"width": WIDTH + 84, "height": HEIGHT + 120})
            lab.run("application:toggle-left-area")
            lab.page.add_style_tag(content=TIDY)
            film = Film(lab)
            the_card(film)
            the_slider(film)
            lab.page.evaluate(SET, [BLURS, BLUR.replace("range(-4, 5):", "range(-4, 5):" + COMMENT, 1)])
            the_card_again(film)
            print("errors:", lab.errors(), lab.complaints)
            film.write(PICTURE)
    print(f"{PICTURE}: {len(film.frames)} frames, {PICTURE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
