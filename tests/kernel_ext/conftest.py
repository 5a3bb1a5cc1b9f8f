"""A small library that plays Workbench for the notebook's side, and a shell that leaves nothing behind.

The magics' own behaviour (options, stale kernels, outputs, errors) is tested against it, event by event; the real
library is behind the same magics in `test_kernel_messages.py`.
"""

from __future__ import annotations

import ast
import atexit
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import workbench as wb
from workbench import events
from workbench.errors import CellErrors, KernelTypeError, LaunchError, NotDifferentiable
from workbench.source import Location, Source

KEY = "5f2a0d32" + "0" * 56


class FakeKernel:
    """A kernel that knows its text and whether it is stale; calling it launches it."""

    def __init__(self, name: str, text: str, node: ast.FunctionDef) -> None:
        self.name = name
        self.text = text
        self.stale = ""
        self.definition = SimpleNamespace(node=node, source=SimpleNamespace(line_offset=1))

    def mark_stale(self, reason: str) -> None:
        self.stale = reason

    def launch(self) -> str:
        if self.stale:
            raise LaunchError(self.stale)
        return f"launched {self.name}"


class FakeLibrary:
    """`workbench` and `workbench.inspect` as far as kernel_ext uses them; `calls` keeps what was asked."""

    __version__ = "0.1.7"
    Kernel = FakeKernel
    PANES = ("source", "ir", "adjoint", "cuda", "llvm", "ptx", "sass", "asm", "key")

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.built: set[str] = set()
        self.modules = 12
        self.reasons: tuple[str, ...] = ("constant DT: 0.01 → 0.02",)
        self.refused: Exception | None = None
        self.Work, self.wait = wb.Work, wb.wait
        self.cache = SimpleNamespace(clear=self._clear, prune=self._prune, export=self._export, import_=self._import)

    def build_cell(self, text: str, namespace: dict[str, Any], **options: Any) -> SimpleNamespace:
        self.calls.append(("build_cell", {"text": text, **options}))
        self._check(Source(text, options["name"], options["filename"], options["line_offset"]))
        kernels = {
            node.name: FakeKernel(node.name, ast.get_source_segment(text, node) or "", node)
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef)
        }
        for name in kernels:
            self._publish(name, text)
        return SimpleNamespace(
            kernels=kernels, funcs={}, names=dict(kernels), compile=self.compile, bind=lambda n: n.update(kernels)
        )

    def compile(self) -> None:
        self.calls.append(("compile", None))
        events.publish(events.CompileStarted("saxpy", "forward", "cpu", "znver3"))
        if self.refused:
            raise self.refused

    def _check(self, source: Source) -> None:
        wrong = [(i, line.index("nope")) for i, line in enumerate(source.lines, 1) if "nope" in line]
        errors = [
            KernelTypeError("unknown name nope.", Location(source, i, at, i, at + 4), "Did you mean note?", "f")
            for i, at in wrong
        ]
        if errors:
            raise CellErrors.of(errors)

    def _publish(self, name: str, text: str) -> None:
        if text in self.built:
            events.publish(events.CacheHit(name, "forward", KEY, "memory", 12e-6))
            return
        self.built.add(text)
        events.publish(events.CompileStarted(name, "forward", "cpu", "znver3"))
        events.publish(events.CacheMiss(name, "forward", KEY))
        events.publish(events.StageDone(name, "forward", "parse", 0.001))
        events.publish(events.CompileDone(name, "forward", KEY, 0.009, {"parse": 0.001, "emit": 0.008}))

    def panes(self, kernel: FakeKernel, names: tuple[str, ...]) -> dict[str, str]:
        self.calls.append(("panes", (kernel.name, tuple(names))))
        return {name: kernel.text if name == "source" else f"{name} of {kernel.name} <&>" for name in names}

    def ir(self, kernel: FakeKernel, lines: bool = False) -> str:
        self.calls.append(("panes", (kernel.name, ("ir",))))
        return f"ir of {kernel.name} <&>   @ 3"

    def ptx(self, kernel: FakeKernel, lines: bool = False) -> str:
        self.calls.append(("panes", (kernel.name, ("ptx",))))
        return f"ptx of {kernel.name} <&>"

    def adjoint(self, kernel: FakeKernel, lines: bool = False) -> str:
        raise NotDifferentiable(f"{kernel.name} overwrites y.")

    def warm(self) -> None:
        self.calls.append(("warm", None))

    def note_launches(self, on: bool) -> None:
        self.calls.append(("note_launches", on))

    def devices(self) -> str:
        return "cpu (no CUDA device)"

    def why(self, kernel: FakeKernel) -> tuple[str, ...]:
        return self.reasons

    def cache_info(self) -> SimpleNamespace:
        return SimpleNamespace(
            modules=self.modules, bytes=7000 * self.modules, hits_memory=3, hits_disk=2, misses=1, path="/c", problem=""
        )

    def cache_entries(self) -> list[SimpleNamespace]:
        now = time.time()
        facts = {"backend": "cpu", "target": "x86-64", "bytes": 7000, "where": "disk", "metadata": {}}
        return [
            SimpleNamespace(digest="ab" * 32, name="old", built=now - 2e5, used=now - 1e5, **facts),
            SimpleNamespace(digest="cd" * 32, name="<young>", built=now - 99, used=now, **facts),
        ]

    def _clear(self) -> int:
        return self.modules

    def _prune(self) -> int:
        self.modules -= 2
        return 2

    def _export(self, path: str) -> int:
        return self.modules

    def _import(self, path: str, trust: bool) -> SimpleNamespace:
        return SimpleNamespace(taken=3 if trust else 0, message="" if trust else "Nothing was taken: add --trust.")


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    """The fake, in the place of the real one."""
    from kernel_ext import extension
    from kernel_ext.session import cells
    from kernel_ext.views.kernels import queries

    fake = FakeLibrary()
    for module in (cells, queries):
        monkeypatch.setattr(module, "wb", fake)
    for module in (queries, extension):
        monkeypatch.setattr(module, "inspect", fake)
    return fake


class Session:
    """A shell in this process; `run` gives what a cell showed and raised."""

    def __init__(self, shell: Any, capture: pytest.CaptureFixture[str]) -> None:
        self.shell = shell
        self._capture = capture
        self.errors: list[str] = []
        self.raised: BaseException | None = None

    def run(self, cell: str) -> str:
        """Run the cell; what it printed and displayed as text. `errors` and `raised` tell how it failed."""
        self._capture.readouterr()
        self.errors = []
        result = self.shell.run_cell(cell, store_history=True)
        self.raised = result.error_before_exec or result.error_in_exec
        return self._capture.readouterr().out


@pytest.fixture
def session(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """An IPython shell of its own that keeps no history on disk; the root conftest takes it away."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell.instance(config=config)
    shell.user_ns["__name__"] = "__main__"
    here = Session(shell, capsys)
    show = shell._showtraceback

    def keep(kind: type, error: BaseException, rows: list[str]) -> None:
        here.errors = "\n".join(rows).splitlines()
        show(kind, error, rows)

    monkeypatch.setattr(shell, "_showtraceback", keep)
    yield here
    if "kernel_ext" in shell.magics_manager.registry:
        shell.run_line_magic("unload_ext", "kernel_ext")
    atexit.unregister(shell.atexit_operations)
    shell.history_manager.end_session()
    shell.history_manager.db.close()


@pytest.fixture
def loaded(session: Session, library: FakeLibrary) -> Session:
    """The same shell with the extension loaded."""
    session.run("%load_ext kernel_ext")
    return session


LONGEST = 300_000  # milliseconds; a machine may be busy, and no test is about time
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
QUIET = ["--disable-background-networking", "--disable-component-update", "--hide-scrollbars"]


@pytest.fixture(scope="module")
def chromium(need: Callable[[str], str]) -> Iterator[Any]:
    need("playwright")
    path = need("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS + QUIET, timeout=LONGEST)
        new_page = browser.new_page

        def patient(**options: Any) -> Any:
            page = new_page(**options)
            page.set_default_timeout(LONGEST)
            return page

        browser.new_page = patient
        yield browser
        browser.close()


@pytest.fixture
def widget_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """`widget_page(name, view, width, dark)` puts one widget alone on a page; any error of the page fails the test."""
    from tests.support.checks.host_page import host_page

    complaints: list[str] = []
    pages = []

    def put(name: str, view: dict[str, Any], width: int = 900, dark: bool = False, **traits: Any) -> Any:
        page = chromium.new_page(viewport={"width": width, "height": 600})
        pages.append(page)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.set_content(host_page(name, {"view": view, "twin": "wb-twin-1a", **traits}, {}))
        page.wait_for_selector("html[data-ready]")
        if dark:
            page.evaluate("document.documentElement.classList.add('dark')")
        return page

    yield put
    for page in pages:
        page.close()
    assert complaints == []
