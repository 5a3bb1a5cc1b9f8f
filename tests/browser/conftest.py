"""A private JupyterLab and a page that shows it: own folders, loopback only, nothing that pops up over the page."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from tests.support.checks.environments import python_with

ROOT = Path(__file__).parents[2]
SCREENS = ROOT / "build" / "screens"
CHROMIUM_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
QUIET = ["--disable-background-networking", "--disable-component-update", "--hide-scrollbars"]
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosaveInterval": 3600},
}
OLDER = ("jupyterlab==4.4.0", "notebook==7.4.0")
KERNEL_IS_IDLE = """() => {
  const widget = window.jupyterapp && window.jupyterapp.shell.currentWidget;
  const session = widget && widget.sessionContext && widget.sessionContext.session;
  const kernel = session && session.kernel;
  return kernel && kernel.status === 'idle' && kernel.connectionStatus === 'connected'; }"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass(frozen=True)
class FrontEnd:
    """The Jupyter that serves a page: its Python, and where it finds what its own environment lacks."""

    python: str = sys.executable
    variables: Mapping[str, str] = field(default_factory=dict)


def _environment(private: Path) -> dict[str, str]:
    for plugin, body in SETTINGS.items():
        path = private / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(body))
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    # Ours comes before what the environment may have installed.
    own = {"JUPYTER_PREFER_ENV_PATH": "0"}
    return {**os.environ, **own, **{name: str(private / folder) for name, folder in folders.items()}}


@contextmanager
def _server(root: Path, private: Path, front: FrontEnd) -> Iterator[tuple[str, str]]:
    """A JupyterLab that serves `root`, and Notebook where it has it: its address and token."""
    port, token = _free_port(), secrets.token_hex(16)
    command = [front.python, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"]
    command += ["--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly", "--LabApp.news_url=None"]
    command += ["--JupyterNotebookApp.expose_app_in_browser=True"]
    log, environment = private / "lab.log", {**_environment(private), **front.variables}
    with log.open("w") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(process, f"{address}/api/status?token={token}", log)
            yield address, token
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)


def _wait_for(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


class LabPage:
    """A notebook open in JupyterLab, in a browser. `page` is Playwright's; `complaints` what the console said."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.notebook = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), lambda route: route.abort())

    def open(self, address: str, token: str, name: str, at: str = "lab/tree") -> None:
        """Open the notebook `name` and wait for its kernel; `at` is "notebooks" for Notebook 7."""
        self.page.goto(f"{address}/{at}/{name}?token={token}&reset", wait_until="domcontentloaded")
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=900_000)

    def run(self, command: str) -> None:
        """Run one of JupyterLab's commands."""
        self.page.evaluate("command => window.jupyterapp.commands.execute(command)", command)

    def go_to(self, cell: int) -> None:
        """Make `cell` the active one and bring it into view."""
        self.page.evaluate(
            """index => { const content = window.jupyterapp.shell.currentWidget.content;
                          content.activeCellIndex = index; content.deselectAll(); }""",
            cell,
        )
        self.notebook.locator(".jp-Notebook .jp-Cell").nth(cell).scroll_into_view_if_needed()

    def errors(self) -> list[str]:
        """The errors among the cells' outputs."""
        return self.page.evaluate(
            """[...window.jupyterapp.shell.currentWidget.content.model.cells]
               .flatMap((cell) => cell.outputs?.toJSON() ?? [])
               .filter((output) => output.output_type === 'error').map((output) => output.ename)"""
        )

    def screenshot(self, name: str) -> Path:
        """Keep a picture of the page under build/screens."""
        SCREENS.mkdir(parents=True, exist_ok=True)
        path = SCREENS / f"{name}.png"
        self.page.screenshot(path=str(path))
        return path


@pytest.fixture
def lab(tmp_path: Path, need: Callable[[str], str]) -> Iterator[Callable[..., LabPage]]:
    """`lab(notebook)` opens a copy of a notebook in a real JupyterLab in a real browser."""
    with _lab(tmp_path, need) as opened:
        yield opened


@pytest.fixture
def lab_with_extension(
    tmp_path: Path, need: Callable[[str], str], labextension: Path
) -> Iterator[Callable[..., LabPage]]:
    """The same with our extension, as the wheel installs it."""
    with _lab(tmp_path, need, labextension) as opened:
        yield opened


@pytest.fixture
def older_front_ends(
    tmp_path: Path, need: Callable[[str], str], labextension: Path
) -> Iterator[Callable[..., LabPage]]:
    """The same in the oldest JupyterLab that we name, and at="notebooks" in the Notebook of its time.

    The kernel named "ours" is of the environment that the tests run in.
    """
    python = python_with("front-ends", OLDER, tmp_path, inherits=True)
    kernel = tmp_path / "ours" / "kernels" / "ours"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel_json = {"argv": command, "display_name": "ours", "language": "python", "env": {"PYTHONPATH": str(ROOT)}}
    (kernel / "kernel.json").write_text(json.dumps(kernel_json))
    widgets = Path(sys.prefix) / "share" / "jupyter"  # where anywidget and ipywidgets have their extensions
    front = FrontEnd(str(python), {"JUPYTER_PATH": f"{tmp_path / 'ours'}{os.pathsep}{widgets}"})
    with _lab(tmp_path, need, labextension, front) as opened:
        yield opened


@pytest.fixture(scope="session")
def labextension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a wheel built from this tree puts under share/jupyter/labextensions."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=900)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "unpacked")
    (found,) = (folder / "unpacked").glob("*.data/data/share/jupyter/labextensions")
    return found


@contextmanager
def _lab(
    tmp_path: Path, need: Callable[[str], str], labextension: Path | None = None, front: FrontEnd | None = None
) -> Iterator[Callable[..., LabPage]]:
    for tool in ("jupyter", "playwright"):
        need(tool)
    chromium = need("chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=300_000)  # a machine may be busy
    root, private = tmp_path / "root", tmp_path / "private"
    root.mkdir()
    private.mkdir()
    if labextension is not None:
        shutil.copytree(labextension, private / "data" / "labextensions")
    else:  # an environment may have it installed
        (private / "config" / "labconfig").mkdir(parents=True)
        off = json.dumps({"disabledExtensions": {"workbench": True}})
        (private / "config" / "labconfig" / "page_config.json").write_text(off)
    with _server(root, private, front or FrontEnd()) as (address, token), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS + QUIET)

        def open_notebook(path: Path, trusted: bool = False, at: str = "lab/tree") -> LabPage:
            """A copy of it; `trusted`: its outputs are taken for the user's own; `at`: which front end."""
            (root / path.name).write_bytes(path.read_bytes())
            if trusted:
                notary = NotebookNotary(data_dir=str(private / "data"))
                notary.sign(nbformat.read(root / path.name, as_version=4))
                notary.store.close()
            page = LabPage(browser.new_page(viewport={"width": 1280, "height": 1100}))
            page.open(address, token, path.name, at)
            return page

        yield open_notebook
        browser.close()
