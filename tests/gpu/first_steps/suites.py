"""Steps that are tests of this folder: pytest in the step's process."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.gpu.first_steps.harness import ROOT, Given, NotAvailable

NAMED, TEXT = 10, 1500
"""How many tests that failed are named, and how much of the first one's report is kept."""


def tests(*arguments: str, workers: bool = False) -> Callable[[Given], None]:
    """A step that runs tests of this folder.

    Args:
        arguments: files of `tests/gpu`, and pytest's options.
        workers: share them among processes, if pytest-xdist is installed.
    """

    def run(given: Given) -> None:
        pytest = given.need("pytest")
        given.need("hypothesis")
        files = [str(ROOT / "tests/gpu" / a) if a.endswith(".py") else a for a in arguments]
        count = min(8, os.cpu_count() or 1) if workers and importlib.util.find_spec("xdist") else 0
        shared = ["-n", str(count)] if count > 1 else []
        seen = Outcomes(given)
        os.chdir(tempfile.mkdtemp(prefix="workbench-suite-"))  # gpu-report.json is written where the tests run
        # A warning of another version of a package is no failure here.
        options = ["-q", "-p", "no:cacheprovider", "-W", "default", "-c", str(ROOT / "pyproject.toml")]
        status = pytest.main([*options, "--rootdir", str(ROOT), *shared, *files], plugins=[seen])
        seen.judge(int(status))

    run.__doc__ = f"pytest {' '.join(arguments)}"
    return run


class Outcomes:
    """A plugin of pytest that keeps what happened, and which test runs now."""

    def __init__(self, given: Given) -> None:
        """For a step."""
        self._given = given
        self._counts: Counter[str] = Counter()
        self._failed: list[str] = []
        self._first = ""
        self._reasons: Counter[str] = Counter()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Notes the test: if the step is ended, this is where it hung."""
        self._given.saw(running=_short(nodeid))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Counts a test once: by its call, or by what came of it before or after."""
        if report.when == "call" or not report.passed:
            self._count(report)

    def pytest_collectreport(self, report: Any) -> None:
        """Counts a file that could not be read, or skips as a whole."""
        if not report.passed:
            self._count(report)

    def _count(self, report: Any) -> None:
        self._counts[report.outcome] += 1
        if report.failed:
            self._failed.append(_short(report.nodeid))
            self._first = self._first or str(report.longrepr)[-TEXT:]
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._reasons[reason.removeprefix("Skipped: ")] += 1
        self._given.saw(**self._counts)

    def judge(self, status: int) -> None:
        """End the step.

        Raises:
            AssertionError: a test failed, or pytest did.
            NotAvailable: none ran.
        """
        self._given.seen.pop("running", None)
        if self._reasons:
            self._given.saw(skips=dict(self._reasons))
        if self._failed:
            named = ", ".join(self._failed[:NAMED])
            raise AssertionError(f"{self._first}\n{len(self._failed)} failed: {named}")
        if not self._counts["passed"] and self._reasons:
            raise NotAvailable("; ".join(self._reasons))
        if status != 0 or not self._counts["passed"]:
            raise AssertionError(f"pytest ended with status {status}, after {self._counts['passed']} tests")


def _short(nodeid: str) -> str:
    return Path(nodeid.partition("::")[0]).name + "::" + nodeid.partition("::")[2]
