"""marimo in a real browser: values on a cell's last line are live, and a slider runs a record and draws again."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import CHROMIUM_FLAGS, QUIET, ROOT, SCREENS, _free_port, _wait_for
from tests.support.checks.environments import MARIMO, python_with

pytestmark = [pytest.mark.browser, pytest.mark.slow]

APP = ROOT / "tests" / "kernel_ext" / "front_ends" / "marimo_app.py"
KINDS = ("source", "controls", "array", "timeline", "animation")


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[str]:
    """The address of marimo's editor, which runs all cells when it is opened."""
    python, app, port = python_with("marimo", MARIMO, tmp_path), shutil.copy(APP, tmp_path / "app.py"), _free_port()
    settings = '[tool.marimo.runtime]\nauto_instantiate = true\n[tool.marimo.display]\ntheme = "system"\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    command = [str(python), "-m", "marimo", "edit", "--headless", "--no-token", "--skip-update-check", "-p", str(port)]
    log, own = tmp_path / "log", {"PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, app], env={**os.environ, **own}, cwd=tmp_path, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            _wait_for(process, f"http://127.0.0.1:{port}/health", log)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def test_values_are_live_and_a_slider_draws_again(notebook: str, need: Callable[[str], str]) -> None:
    need("playwright")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=300_000)  # a machine may be busy
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need("chromium"), args=CHROMIUM_FLAGS + QUIET)
        page = browser.new_page(viewport={"width": 1280, "height": 2600})
        page.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), lambda route: route.abort())
        page.goto(notebook)
        for kind, count in zip(KINDS, (2, 1, 3, 1, 1), strict=True):
            expect(page.get_by_test_id(f"wb-{kind}")).to_have_count(count)
        slider = page.get_by_test_id("wb-controls")
        expect(slider.get_by_label("beta", exact=True)).to_have_value("1")
        picture = page.get_by_test_id("wb-array").first
        expect(picture).to_contain_text("126")
        slider.get_by_label("beta", exact=True).fill("0.5")
        told = re.compile("1 record replayed, 2 views drawn in .* 0 compiled")
        expect(slider.locator(".wb-told")).to_contain_text(told)
        expect(picture).to_contain_text("63")
        film = page.get_by_test_id("wb-animation")
        film.get_by_label("Play").click()
        expect(film).to_contain_text("3 frames made")
        SCREENS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(SCREENS / "marimo.png"))
        page.emulate_media(color_scheme="dark")
        page.get_by_test_id("wb-array").last.scroll_into_view_if_needed()
        page.screenshot(path=str(SCREENS / "marimo-dark.png"))
        browser.close()
