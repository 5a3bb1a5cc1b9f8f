"""Tests that need a CUDA device. Without one they skip themselves; either way gpu-report.json says what happened.

With `WORKBENCH_GPU=emulated` they run on the emulated device instead, but for those in `LEFT_OUT`, which says why; with
`WORKBENCH_GPU=standin` too, but below the real cuda-bindings: `cuda:0` is a device of the stand-in for
libcuda (`tests/support/cuda_driver`).
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.runtime.device.device import driver_of
from workbench.runtime.device.driver import devices, why_no_cuda

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes three quarters of the memory

HERE = Path(__file__).parent
PACKAGES = ("kernel-workbench", "cuda-bindings", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc", "numpy")
OUTCOMES: dict[str, str] = {}
IS_EMULATED = os.environ.get("WORKBENCH_GPU") == "emulated"
HAS_STAND_IN = os.environ.get("WORKBENCH_GPU") == "standin"
if HAS_STAND_IN:
    from tests.support.cuda_driver.executor import serve

    serve()
LEFT_OUT = {
    "test_gpu_jax.py": "XLA runs kernels on real GPUs only",
    "test_gpu_exchange.py": "torch and CuPy see real GPUs only",
    "test_gpu_report.py": "what is written where there is no device",
    "test_gpu_sanitizer.py": "compute-sanitizer watches real GPUs only",
    "test_the_language_on_the_device": "whole suites, which run on the emulated device by themselves",
}
"""What an emulated device does not run, by file or test, and why."""


@pytest.fixture(scope="session")
def device() -> str:
    """The first CUDA device's name; skips where there is none."""
    if IS_EMULATED:
        return "emulated:0"
    if not devices():
        pytest.skip(f"no CUDA device: {why_no_cuda()}")
    return "cuda:0"


@pytest.fixture(autouse=True)
def _on_it(request: pytest.FixtureRequest) -> Iterator[None]:
    """On an emulated device, it is the one that is used where none is named, as a real one would be."""
    if not IS_EMULATED or "device" not in request.fixturenames:
        yield
        return
    with wb.ScopedDevice("emulated:0"):
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out what an emulated device does not run."""
    for item in items if IS_EMULATED or HAS_STAND_IN else ():
        reason = LEFT_OUT.get(item.path.name) or LEFT_OUT.get(item.name)
        if reason and item.path.parent == HERE:
            item.add_marker(pytest.mark.skip(reason=f"not emulated: {reason}"))


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
    found = driver_of(wb.get_device("emulated")).properties if IS_EMULATED else devices()
    return {
        "device": {name: getattr(found[0], name) for name in ("name", "arch", "memory", "multiprocessors")}
        if found
        else None,
        "reason": "" if IS_EMULATED else why_no_cuda(),
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
