"""The lessons with the emulated device as the default one: a laptop without a GPU runs their kernels as PTX.

The last cell of each asserts its numbers. What an emulated device cannot do is listed with its reason.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
CANNOT = {
    r"emulated:0 has no times": "an emulated device counts; it measures no time",
}
"""What a cell's error may be, and why."""
LEFT_OUT = {
    "09-inverse-problem": "its optimisation is minutes of small launches",
    "10-cuda-cells": "its cells say --run host: CUDA C++ on the CPU",
}
"""Lessons of something else, and why."""
LESSONS = [path for path in sorted(FOLDER.glob("*.ipynb")) if path.stem not in LEFT_OUT]


def errors(path: Path) -> list[str]:
    """What went wrong in the cells that are not meant to show an error."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=900, startup_timeout=900, kernel_name="python3", allow_errors=True, store_widget_state=False,
        extra_arguments=["--log-level=ERROR"], resources={"metadata": {"path": path.parent}},
    )  # fmt: skip
    with client.setup_kernel(env={**os.environ, "WORKBENCH_DEVICE": "emulated", "WORKBENCH_WIDGETS": "0"}):
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
    plain = (c for c in notebook.cells if "raises-exception" not in c.metadata.get("tags", ()))
    outputs = (o for c in plain if c.cell_type == "code" for o in c.outputs)
    return [f"{o.ename}: {o.evalue}" for o in outputs if o.output_type == "error"]


@pytest.mark.slow
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_lesson_s_kernels_run(path: Path, need) -> None:
    for tool in ("nbclient", "skimage", "jax", "nvrtc"):
        need(tool)
    strange = [error for error in errors(path) if not any(re.search(known, error) for known in CANNOT)]
    assert strange == []
