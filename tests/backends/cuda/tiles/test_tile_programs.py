"""The kernels of `tests/tiles` that run on the interpreter and the CPU, as CUDA text too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.devices.on_all import AS_CUDA

ROOT = Path(__file__).parents[4]
FILES = sorted(p.name for p in (ROOT / "tests/tiles").glob("test_*.py") if "devices.on_all import" in p.read_text())
"""Those that ask for every device; the others would only run again as they are."""


def test_there_are_such_files() -> None:
    assert {"test_operations.py", "test_gemm.py", "test_tile_faults.py"} <= set(FILES)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_programs_of_tiles_as_cuda_text(file: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/tiles/{file}"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, AS_CUDA: "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
