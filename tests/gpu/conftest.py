"""Tests that need a CUDA device. Without one they skip themselves; either way gpu-report.json says what happened."""

from __future__ import annotations

import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from workbench.runtime.device.driver import devices, why_no_cuda

HERE = Path(__file__).parent
PACKAGES = ("kernel-workbench", "cuda-bindings", "cuda-core", "nvidia-cuda-nvrtc", "numpy")
OUTCOMES: dict[str, str] = {}


@pytest.fixture(scope="session")
def device() -> str:
    """The first CUDA device's name; skips where there is none."""
    if not devices():
        pytest.skip(f"no CUDA device: {why_no_cuda()}")
    return "cuda:0"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keeps each test's outcome: the worst of its phases."""
    if "tests/gpu/" in report.nodeid.replace("\\", "/"):
        name = report.nodeid.rsplit("/", 1)[-1]
        if report.when == "call" or not report.passed:
            OUTCOMES[name] = report.outcome


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes gpu-report.json into the working directory, in the process that has all outcomes."""
    if OUTCOMES and not hasattr(session.config, "workerinput"):
        Path("gpu-report.json").write_text(json.dumps(_report(), indent=1) + "\n", encoding="utf-8")


def _report() -> dict[str, Any]:
    found = devices()
    return {
        "device": {name: getattr(found[0], name) for name in ("name", "arch", "memory", "multiprocessors")}
        if found
        else None,
        "reason": why_no_cuda(),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "packages": {name: _version(name) for name in PACKAGES},
        "counts": {kind: sum(o == kind for o in OUTCOMES.values()) for kind in ("passed", "failed", "skipped")},
        "tests": OUTCOMES,
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
