"""Pages as a reader without network opens them: the site, and each notebook converted to HTML.

nbconvert's own template asks for its formula and module loaders on the net. Ours is the page without them; in the plain
one those are all that may be asked for, and nothing that a reader came for may depend on them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import ismodule
from pathlib import Path
from typing import Any

import nbformat
import pytest
import run_notebook
from nbconvert import HTMLExporter

import workbench
from tests.browser.conftest import CHROMIUM_FLAGS, QUIET, SCREENS

ROOT = Path(__file__).parents[2]
LIVE = re.compile(r'<iframe src="([./]+live/[^"]+)"')
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OF_THE_TEMPLATE = ("require.js", "mathjax", "mermaid")
PICTURES = "() => [...document.images].map(i => [i.complete && i.naturalWidth > 0, (i.src || '').slice(0, 60)])"
pytestmark = [pytest.mark.slow, pytest.mark.browser]


@dataclass(frozen=True)
class Seen:
    """What a browser made of a page: pictures in it, those not drawn, addresses it asked for elsewhere, errors."""

    pictures: int
    missing: list[str]
    asked: list[str]
    errors: list[str]


@pytest.fixture(scope="module")
def offline() -> Iterator[Callable[..., Seen]]:
    """`offline(path)` opens a file in a browser that reaches nothing else."""
    from shutil import which

    from playwright.sync_api import sync_playwright

    chromium = which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS + QUIET)

        def see(path: Path, screen: str = "") -> Seen:
            asked: list[str] = []
            errors: list[str] = []
            page = browser.new_page(viewport={"width": 1100, "height": 1400})

            def refuse(route: Any) -> None:
                asked.append(route.request.url)
                route.abort()

            page.route(lambda url: url.startswith(("http:", "https:", "ws:", "wss:")), refuse)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(path.as_uri(), wait_until="load")
            # Pictures below the fold are decoded when they come into view.
            page.evaluate("async () => { for (const i of document.images) { i.loading = 'eager'; "
                          "try { await i.decode() } catch {} } }")  # fmt: skip
            drawn = page.evaluate(PICTURES)
            if screen:
                SCREENS.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=str(SCREENS / f"{screen}.png"))
            page.close()
            return Seen(len(drawn), [source for good, source in drawn if not good], asked, errors)

        yield see
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from this tree."""
    folder = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, ROOT / "docs" / "build.py", folder]
    result = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    places = (f'id="workbench.{name}"' if not ismodule(getattr(workbench, name)) else f"<h3>workbench.{name}<"
              for name in workbench.__all__)  # fmt: skip
    assert [place for place in places if place not in page] == []
    builtins = (site / "reference" / "builtins.html").read_text(encoding="utf-8")
    assert "quat_rotate" in builtins and "atomic_add" in builtins
    assert "%%kernel" in (site / "reference" / "magics.html").read_text(encoding="utf-8")


def test_the_site_needs_no_network(site: Path, offline: Callable[..., Seen]) -> None:
    pages = [
        "index.html",
        "docs/guide/kernels.html",
        "reference/api.html",
        *(f"notebooks/{p.stem}.html" for p in NOTEBOOKS),
    ]
    for name in pages:
        seen = offline(site / name, "site-" + name.replace("/", "-").removesuffix(".html"))
        assert (seen.asked, seen.errors, seen.missing) == ([], [], []), name
    assert offline(site / "index.html").pictures >= 1, "the README's picture"


def test_lessons_of_the_site_compute(site: Path, offline: Callable[..., Seen]) -> None:
    frames = {page: LIVE.findall(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}
    found = {page.parent / name for page, names in frames.items() for name in names}
    outputs = [site / "notebooks" / f"{name}.html" for name in ("00-tour", "14-a-page-that-computes")]
    assert len(found) + len(outputs) >= 6
    assert all("WebAssembly" in page.read_text(encoding="utf-8") for page in outputs), "in a cell's output"
    for page in sorted(found):
        assert "WebAssembly" in page.read_text(encoding="utf-8")
        seen = offline(page)
        assert (seen.asked, seen.errors, seen.missing) == ([], [], []), page.name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_converted_notebook_is_whole_without_network(
    path: Path, tmp_path: Path, offline: Callable[..., Seen]
) -> None:
    ours = tmp_path / "ours.html"
    ours.write_text(run_notebook.page(nbformat.read(path, as_version=4)), encoding="utf-8")
    seen = offline(ours, f"page-{path.stem}")
    assert (seen.asked, seen.errors, seen.missing) == ([], [], [])
    assert seen.pictures > 0, "a lesson has pictures"

    text, _ = HTMLExporter().from_filename(str(path))  # what `jupyter nbconvert --to html` writes
    (tmp_path / "plain.html").write_text(text, encoding="utf-8")
    plain = offline(tmp_path / "plain.html")
    assert plain.missing == [] and plain.pictures >= seen.pictures
    assert [url for url in plain.asked if not any(name in url for name in OF_THE_TEMPLATE)] == []
