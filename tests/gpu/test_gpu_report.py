"""The report is written whether or not there is a device."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.runtime.device.driver import devices

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.gpu
def test_a_skipped_run_writes_its_reason(tmp_path: Path) -> None:
    if devices():
        pytest.skip("this machine has a CUDA device")
    command = [sys.executable, "-m", "pytest", str(ROOT / "tests/gpu/test_gpu_kernels.py"), "-q", "-k", "zero_threads",
               "-p", "no:cacheprovider", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=None)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    report = json.loads((tmp_path / "gpu-report.json").read_text())
    assert report["device"] is None and report["reason"]
    assert report["counts"] == {"passed": 0, "failed": 0, "skipped": 1}
