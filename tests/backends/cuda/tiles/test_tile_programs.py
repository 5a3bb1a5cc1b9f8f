"""Every kernel of `tests/tiles`, which run on the interpreter and the CPU, as CUDA text too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.devices.on_all import AS_CUDA

ROOT = Path(__file__).parents[4]


@pytest.mark.slow
def test_programs_of_tiles_as_cuda_text() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "tests/tiles"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, AS_CUDA: "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
