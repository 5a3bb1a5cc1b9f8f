"""The install shows a line that moves; what pip says is shown where it fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from install import Progress

INSTALL = Path(__file__).parents[2] / "install.py"


def test_the_line_says_what_pip_is_at() -> None:
    progress = Progress()
    assert "  0 packages  starting pip" in progress.say()
    for line in (
        "WARNING: Location 'file:///index/numpy/' is ignored: it is neither a file nor a directory.",
        "Requirement already satisfied: numpy>=2.0 in /site-packages",
        "Collecting llvmlite>=0.46 (from kernel-workbench==0.1.0)",
        "  Downloading llvmlite-0.50.0-cp311-cp311-manylinux2014_x86_64.whl (59.7 MB)",
    ):
        progress.take(line)
    assert "  2 packages  llvmlite, 59.7 MB" in progress.say()
    progress.take("Installing collected packages: llvmlite, numpy, kernel-workbench")
    assert "  3 packages  unpacking" in progress.say() and progress.count == 3


def test_a_failure_shows_what_pip_said(tmp_path: Path) -> None:
    missing = str(tmp_path / "no-such-folder")
    done = subprocess.run([sys.executable, INSTALL, missing], capture_output=True, text=True, timeout=900)
    assert done.returncode != 0 and "no-such-folder" in done.stderr
