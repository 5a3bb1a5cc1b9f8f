"""The wheel is pure Python and whole: what it leaves out would be missing only on other people's machines."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_wheel_is_pure_and_has_every_file(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith("kernel_workbench-") and wheel.name.endswith("-py3-none-any.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        path.relative_to(ROOT).as_posix()
        for package in ("workbench", "kernel_ext")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert sources - packed == set()
    tops = {name.split("/")[0] for name in packed if ".dist-info" not in name}
    (data,) = (name for name in tops if name.endswith(".data"))
    assert tops == {"workbench", "kernel_ext", data}
    lab = f"{data}/data/share/jupyter/labextensions/workbench"
    expected = {f"{lab}/package.json", f"{lab}/static/remoteEntry.js", f"{lab}/static/widgets/timeline.js"}
    assert expected <= packed
