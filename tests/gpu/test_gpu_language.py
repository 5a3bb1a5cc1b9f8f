"""The suites of the language on a GPU: every file whose tests run CUDA C++ through `tests/support/devices/on_gpu.py`.

Without a GPU they run on the emulated device, as part of the suite: no list of kernels for the GPU can fall behind.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def suites() -> list[str]:
    """The files, but those that look at the emulated device itself."""
    found = (path for path in sorted((ROOT / "tests").rglob("test_*.py")) if "on_gpu" in path.read_text("utf-8"))
    return [str(path.relative_to(ROOT)) for path in found if path != Path(__file__) and "tiles" not in path.parts]


def test_there_are_suites() -> None:
    assert len(suites()) >= 30


@pytest.mark.gpu
@pytest.mark.slow
def test_the_language_on_the_device(device: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *suites()]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "WORKBENCH_GPU": "cuda"}
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = re.search(r"(\d+) passed", done.stdout)
    assert found is not None and int(found[1]) > 100, done.stdout[-2000:]
