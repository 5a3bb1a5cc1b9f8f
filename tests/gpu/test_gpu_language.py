"""The suite of the language on a device: every test that runs CUDA text on the host, run there (see `repeated`).

Without a device a part of it is walked on the mock driver, and its kernels compiled by NVRTC. No run of all
of it was finished on two cores; `WORKBENCH_REPEAT=emulated python -m pytest -p tests.gpu.repeated …` runs any of it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUITES = ["tests/frontend", "tests/backends/cuda", "tests/faults"]
PART = ["tests/frontend/test_search.py", "tests/frontend/test_structs.py"]


def repeat(mode: str, paths: list[str], *options: str) -> int:
    """Run these tests again in this mode; how many passed."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.gpu.repeated",
        *options,
        *paths,
    ]
    given = {
        **os.environ,
        "WORKBENCH_REPEAT": mode,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
    }
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=given)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = re.search(r"(\d+) passed", done.stdout)
    assert found is not None, done.stdout[-2000:]
    return int(found[1])


@pytest.mark.gpu
@pytest.mark.slow
def test_the_language_on_the_device(device: str) -> None:
    assert repeat("device", SUITES, "-m", "not slow") > 100


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["emulated", "nvrtc"])
def test_a_part_of_it_without_a_device(mode: str, need) -> None:
    need("g++")
    need("nvrtc")
    assert repeat(mode, PART, "-m", "not slow") >= 14
