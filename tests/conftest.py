"""What every test stands on: its own cache and Jupyter folders, golden files, and tools that may be missing.

A test that skips for lack of a tool says so in one line at the end of the run; with `WORKBENCH_CI=1` it fails instead,
so that a tier cannot disappear quietly. `tests/gpu` alone may skip: no test machine promises a device.
"""

from __future__ import annotations

import builtins
import contextlib
import difflib
import gc
import importlib.util
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.support.checks.left_behind import changes, look
from workbench.backends.cuda import toolkit
from workbench.errors import DeviceError
from workbench.work import Work

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"
ABSENT = str(TESTS / "support" / "absent")
"""Modules that say they are not installed: packages that cost much at each start of a process, for nothing here."""
CASES = 3
"""How many cases of a test the default tests run, drawn by its name; the slow tests run the rest."""
WHOLE = ("tests/unit_types/", "tests/architecture/", "tests/builtins/test_table_is_complete.py")
"""Tests that compile nothing, of which all cases run by default."""
STRICT = os.environ.get("WORKBENCH_CI") == "1"

FOLDERS = ("WORKBENCH_CACHE", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
UNSET = ("WORKBENCH_CACHE_READONLY", "WORKBENCH_CACHE_LIMIT")

MODULES = {
    "axe": "axe_playwright_python",
    "cuda_occupancy.h": "nvidia.cuda_runtime",
    "jax": "jax",
    "jupyter": "jupyterlab",
    "nbclient": "nbclient",
    "playwright": "playwright",
    "skimage": "skimage",
    "torch": "torch",
}
# PyTorch's only wheel for Linux brings all of CUDA, gigabytes: its test runs where PyTorch is, and is never required.
collect_ignore = [] if importlib.util.find_spec("torch") else ["runtime/arrays/test_torch.py"]
PROGRAMS = {"g++": ("g++",), "clang-19": ("clang-19",), "chromium": ("chromium", "chromium-browser", "google-chrome")}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update-golden` and `--shuffle`."""
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files instead of comparing with them"
    )
    parser.addoption("--shuffle", metavar="SEED", help="run the tests in an order drawn from SEED")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Leaves of each `sample` what its number says, and under `--shuffle` mixes tests of all files.

    The same seed gives every worker the same sample and the same order.
    """
    seed = config.getoption("--shuffle")
    for item in _left_out_of_samples(items, seed or ""):
        item.add_marker(pytest.mark.slow)
    for item in _left_out_of_shares(items):
        item.add_marker(pytest.mark.rare)
    yield
    if seed is not None:
        random.Random(seed).shuffle(items)


def _left_out_of_samples(items: list[pytest.Item], seed: str) -> Iterator[pytest.Item]:
    """Yield the quick cases of each test but for `sample(n)` or `CASES` of them, drawn from the seed and its name."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not item.get_closest_marker("slow"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, found in cases.items():
        marker = found[0].get_closest_marker("sample")
        if marker is None and name.startswith(WHOLE):
            continue
        most = marker.args[0] if marker else CASES
        drawn = random.Random(seed + name).sample(range(len(found)), min(most, len(found)))
        yield from (item for n, item in enumerate(found) if n not in drawn)


def _left_out_of_shares(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the cases of slow tests that are beyond their `share(n)`, drawn from the test's name."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("share") and item.get_closest_marker("slow"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, tests in cases.items():
        most = tests[0].get_closest_marker("share").args[0]  # type: ignore[union-attr]
        drawn = random.Random(name).sample(range(len(tests)), min(most, len(tests)))
        yield from (item for n, item in enumerate(tests) if n not in drawn)


def pytest_report_header() -> list[str]:
    """Tells of what is not even collected."""
    return [f"not collected, since PyTorch is not installed: tests/{path}" for path in collect_ignore]


def pytest_configure(config: pytest.Config) -> None:
    """Gives this process folders of its own, before any test module is imported."""
    private = Path(tempfile.mkdtemp(prefix="workbench-tests-"))
    config.stash[_private] = private
    for name in FOLDERS:
        folder = private / name.lower()
        folder.mkdir(mode=0o700)
        os.environ[name] = str(folder)
    if kept := os.environ.get("WORKBENCH_VERIFY_LOWERING"):  # each lowering against the one that an earlier run kept
        os.environ["WORKBENCH_CACHE"] = kept
    for name in UNSET:
        os.environ.pop(name, None)
    sys.path.insert(0, ABSENT)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (ABSENT, os.environ.get("PYTHONPATH"))))
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    os.environ["WORKBENCH_MATMUL"] = "generated"  # nothing is being built in the background unasked
    patient = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.register_profile("patient", patient)
    # The same drawn examples in every CI run: what they find is found when the change is made, not on a later day.
    hypothesis.settings.register_profile("ci", patient, derandomize=True, database=None)
    hypothesis.settings.load_profile("ci" if STRICT else "patient")


def pytest_collection_finish() -> None:
    """Keeps what was collected, half a million objects, out of every later garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 50)  # JAX and hypothesis have hooks in each collection


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes them."""
    shutil.rmtree(config.stash[_private], ignore_errors=True)


_private = pytest.StashKey[Path]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under `WORKBENCH_CI=1`, a skip outside tests/gpu is a failure."""
    report = yield
    if STRICT and report.skipped and not hasattr(report, "wasxfail") and not _needs_device(item):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a file that skips as a whole."""
    report = yield
    if STRICT and report.outcome == "skipped" and not _needs_device(collector):
        _fail(report)
    return report


def _needs_device(node: pytest.Item | pytest.Collector) -> bool:
    return (TESTS / "gpu") in node.path.parents or node.get_closest_marker("gpu") is not None


def _fail(report: Any) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"skipped, which WORKBENCH_CI=1 forbids: {reason}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line for each reason why tests did not run."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"not run: {count} test{'s' * (count > 1)}: {reason}")


def find_tool(tool: str) -> str | None:
    """The path of a program, or the file or folder of a module, that a test may ask for; None where it is missing.

    Raises:
        KeyError: the tool is not in `PROGRAMS` or `MODULES`.
    """
    if tool in PROGRAMS:
        named = os.environ.get(tool.upper()) if tool.isalpha() else None
        return named or next((path for name in PROGRAMS[tool] if (path := shutil.which(name))), None)
    if tool == "nvrtc":
        with contextlib.suppress(DeviceError):
            return toolkit.compiler().path
        return None
    try:
        spec = importlib.util.find_spec(MODULES[tool])
    except ModuleNotFoundError:
        return None
    return spec and (spec.origin or next(iter(spec.submodule_search_locations or ())))


@pytest.fixture(scope="session")
def need() -> Callable[[str], str]:
    """`need("g++")` gives the tool's path, or skips the test saying what is missing."""

    def need(tool: str) -> str:
        found = find_tool(tool)
        if found is None:
            pytest.skip(f"{tool} is not installed")
        return found

    return need


@pytest.fixture
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder: for a test that asserts what is compiled, and what is found."""
    folder = tmp_path_factory.mktemp("cache")  # no other test writes to it
    monkeypatch.setenv("WORKBENCH_CACHE", str(folder))
    return folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden("cuda/saxpy.cu", text)` compares `text` with tests/golden/cuda/saxpy.cu; `--update-golden` writes it."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        text = text.rstrip("\n") + "\n"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"there is no tests/golden/{name}; write it with --update-golden and read it", pytrace=False)
        kept = path.read_text(encoding="utf-8")
        if kept != text:
            rows = difflib.unified_diff(kept.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm="")
            pytest.fail("\n".join(rows) + "\nIf this is meant, run again with --update-golden.", pytrace=False)

    return compare


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """A test leaves the process as it found it; IPython's global shell goes with the test that made it."""
    shell, before, main = _shell(), look(), sys.modules["__main__"]
    yield
    after = _shell()
    if after is not None and after is not shell:
        type(after).clear_instance()
        sys.modules["__main__"] = main  # a shell puts a module of its own there; `multiprocessing` reads it
        for name in ("__IPYTHON__", "display"):
            vars(builtins).pop(name, None)
    for work in Work.running():  # a build that was dropped ends at its next stage
        work.wait(300)
    left = changes(before, look())
    assert not left, "this test changed the process for those after it: " + "; ".join(left)


def _shell() -> Any:
    module = sys.modules.get("IPython.core.interactiveshell")
    return module.InteractiveShell._instance if module is not None else None
