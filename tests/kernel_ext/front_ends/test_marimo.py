"""Values and views in marimo, which has no magics: in an environment of its own, exported to a page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.checks.environments import MARIMO, python_with

APP = Path(__file__).with_name("marimo_app.py")
ROOT = Path(__file__).parents[3]
OUTPUT = re.compile(r'"outputs": \[\{"data": \{"text/html": "((?:[^"\\]|\\.)*)"')


@pytest.mark.slow
def test_values_and_views_in_marimo(tmp_path: Path) -> None:
    python = python_with("marimo", MARIMO, tmp_path)
    app, page = shutil.copy(APP, tmp_path / "app.py"), tmp_path / "page.html"  # it keeps its session beside it
    done = subprocess.run(
        [python, "-m", "marimo", "export", "html", app, "-o", page],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=tmp_path, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-2000:]
    text = page.read_text(encoding="utf-8")
    shown = [json.loads(f'"{html}"') for html in OUTPUT.findall(text)]
    assert '"type": "error"' not in text and "sum 4032.0" in text
    assert len(shown) == 8
    assert all("<marimo-anywidget" in html for html in shown), "the kernel to the array of structs"
