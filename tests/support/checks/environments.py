"""Environments of their own, for versions of others' packages that we promise to work with.

One is made with `python -m venv` and pip, in the test's folder, or once and for all in the folder that
`WORKBENCH_ENVIRONMENTS` names. Where the packages cannot be had, the test says so and skips.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

LIBRARY = ("numpy<2.4", "llvmlite==0.50.*", "msgspec", "platformdirs")
"""What Workbench itself needs, without CUDA."""
MARIMO = (*LIBRARY, "marimo>=0.14", "anywidget", "ipython")
_UNREACHABLE = ("No matching distribution", "connection", "Connection")


def python_with(
    name: str,
    packages: Sequence[str],
    folder: Path,
    kept: str = "WORKBENCH_ENVIRONMENTS",
    inherits: bool = False,
) -> Path:
    """The Python of an environment that holds `packages`; made where it is not there.

    Args:
        name: of the environment.
        packages: as pip takes them.
        folder: where to make it, unless the variable named `kept` says where such environments are kept.
        kept: the variable.
        inherits: what it does not hold itself it takes from the environment that the tests run in.
    """
    place = (Path(os.environ[kept]) if os.environ.get(kept) else folder) / name
    python, ready = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python"), place / ".ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        if inherits:
            (own,) = (p for p in (*place.glob("lib/python*/site-packages"), *place.glob("Lib/site-packages")))
            (own / "inherited.pth").write_text(sysconfig.get_path("purelib") + "\n")
        install = [str(python), "-m", "pip", "install", "-q", *packages]
        done = subprocess.run(install, capture_output=True, text=True)
        if any(word in done.stderr for word in _UNREACHABLE):
            pytest.skip(f"{name} cannot be had here: {done.stderr.splitlines()[-1]}")
        assert done.returncode == 0, done.stderr[-2000:]
        ready.touch()
    return python
