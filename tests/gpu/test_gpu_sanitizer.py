"""compute-sanitizer over the kernels of this folder, where it is installed: no access out of bounds, no race."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "initcheck"])
def test_the_sanitizer_finds_nothing(tool: str, device: str) -> None:
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer is None:
        pytest.skip("compute-sanitizer is not installed")
    tests = [
        str(ROOT / "tests/gpu" / name) for name in ("test_gpu_kernels.py", "test_gpu_runtime.py", "test_gpu_tiles.py")
    ]
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", "--target-processes", "all", sys.executable, "-m",
               "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "not memory_is_given_back", *tests]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
