"""A profile in a real JupyterLab: the live card in two themes and widths, its fallback in an untrusted notebook."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.image
import nbformat
import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LESSON = Path(__file__).parents[2] / "notebooks" / "12-how-a-gpu-reads-memory.ipynb"
CELLS = (
    "%load_ext kernel_ext\nimport workbench as wb\nx, y = wb.ones(2048), wb.zeros(256)",
    "%%kernel\ndef spread(x: array[float], y: array[float], stride: int):\n    i = tid()\n    v = x[i * stride]\n"
    "    if i % 2 == 0:\n        y[i] = sin(v)\n    else:\n        y[i] = exp(v)",
    "%profile wb.launch(spread, 256, [x, y, 8])",
)
BEYOND = """(() => {
  const card = document.querySelector('.wb-profile').getBoundingClientRect();
  return [...document.querySelectorAll('.wb-profile *')].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width && (box.right > card.right + 1 || box.left < card.left - 1);
  }).map((e) => e.outerHTML.slice(0, 90)); })()"""


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "profile.ipynb"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, path)
    return path


def pixels(element: Any) -> np.ndarray:
    """What is seen of an element, as [rows, columns, red green blue] from 0 to 1."""
    return matplotlib.image.imread(io.BytesIO(element.screenshot()))[:, :, :3]


def test_the_card_in_both_themes_and_widths(lab: Callable[[Path], Any], notebook: Path) -> None:
    from playwright.sync_api import expect

    page = lab(notebook)
    page.run("notebook:run-all-cells")
    card = page.notebook.get_by_test_id("wb-profile")
    expect(card).to_be_visible()
    expect(page.notebook.locator("img[alt^=Roofline]")).to_be_hidden()  # the fallback is in the same cell
    page.run("application:toggle-left-area")
    for theme, width in (("Light", 1400), ("Dark", 1400), ("Dark", 700), ("Light", 700)):
        page.page.evaluate(
            "t => window.jupyterapp.commands.execute('apputils:change-theme', {theme: t})", f"JupyterLab {theme}"
        )
        page.page.set_viewport_size({"width": width, "height": 1100})
        expect(
            page.page.locator(f"body[data-jp-theme-light={'true' if theme == 'Light' else 'false'}]")
        ).to_be_attached()
        page.go_to(2)
        picture = card.locator(".wb-pictures svg").first
        picture.scroll_into_view_if_needed()
        page.page.wait_for_timeout(300)  # the theme's colours fade in
        seen = pixels(picture)
        page.screenshot(f"lab-profile-{theme.lower()}-{width}")
        assert page.page.evaluate(BEYOND) == []
        # The ground is the theme's; the roof is blue and the launch a red dot on both.
        assert (np.median(seen) > 0.9) == (theme == "Light") and (np.median(seen) < 0.2) == (theme == "Dark")
        red, blue = seen[:, :, 0], seen[:, :, 2]
        assert ((blue > red + 0.3) & (blue > 0.5)).sum() > 100
        assert ((red > blue + 0.3) & (red > 0.6)).sum() > 30
    card.get_by_role("slider", name="Step of the warp").press("Home")
    expect(card.get_by_role("status")).to_contain_text("step 1 of")
    assert page.errors() == [] and page.complaints == []


def test_an_untrusted_lesson_keeps_its_pictures(lab: Callable[[Path], Any]) -> None:
    from playwright.sync_api import expect

    page = lab(LESSON)
    images = page.notebook.locator("img[alt^=Roofline], img[alt^=Occupancy], img[alt^='A warp']")
    expect(images).to_have_count(3 * 4)
    page.go_to(6)
    expect(images.first).to_be_visible()
    drawn = images.evaluate_all("all => all.map((i) => [i.complete, i.naturalWidth, i.getBoundingClientRect().width])")
    assert all(complete and natural >= 400 and shown > 300 for complete, natural, shown in drawn)
    page.screenshot("lab-profile-untrusted")
    assert page.complaints == []
