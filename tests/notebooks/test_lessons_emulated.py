"""The lessons with the emulated device as the default one: a laptop without a GPU runs their kernels as PTX.

The last cell of each asserts its numbers. What an emulated device cannot do is listed with its reason; what would take
minutes is done on a smaller scale.
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
REDUCED = {
    "05-record-and-replay": {  # a shorter simulation, and launches that are not timed a hundred thousand times
        "N, STEPS = 96, 240": "N, STEPS = 96, 60",
        "number=20, repeat=5)) / 20": "number=1, repeat=1))",
        "number=1000, repeat=5)": "number=100, repeat=1)",
    },
    "08-tiles": {'inspect.can_link() or ("" if': '"products are built in tests/products" or ("" if'},
    "09-inverse-problem": {  # a shorter simulation and four rounds of its optimisation: 36 are minutes
        "RIM = 40, 130,": "RIM = 40, 80,",
        "ROUNDS = 36": "ROUNDS = 4",
        "(1, 8, 18, ROUNDS)": "(1, 2, 3, ROUNDS)",
        "losses[0] / 300": "losses[0] / 2",
        "assert likeness > 0.98 and abs(found.min() - true.min()) < 0.1 and abs(found.max() - true.max()) < 0.1": (
            "assert likeness > 0.6"
        ),
    },
    "15-particles": {  # three rounds of its optimisation
        "ROUNDS = 60": "ROUNDS = 3",
        "run.history[-1] < run.history[0] / 4": "run.history[-1] < run.history[0]",
        "there < 0.6 * far": "there < far",
    },
    "16-newton-on-a-net": {"N = 183": "N = 12", "SMALL = 9": "SMALL = 3"},
}
"""What is changed in the cells of a lesson."""
LESSONS = sorted(FOLDER.glob("*.ipynb"))


def errors(path: Path) -> list[str]:
    """What went wrong in the cells that are not meant to show an error."""
    notebook = nbformat.read(path, as_version=4)
    for old, new in REDUCED.get(path.stem, {}).items():
        (cell,) = (c for c in notebook.cells if c.cell_type == "code" and old in c.source)
        cell.source = cell.source.replace(old, new)
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
@pytest.mark.share(9)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_lesson_s_kernels_run(path: Path, need) -> None:
    for tool in ("nbclient", "skimage", "jax", "nvrtc"):
        need(tool)
    strange = [error for error in errors(path) if not any(re.search(known, error) for known in CANNOT)]
    assert strange == []
