"""The exercises: open holes are errors at their lines, the solutions run clean, and wrong answers are found wrong."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import pytest
import run_notebook
from nbformat import NotebookNode

import workbench as wb

FOLDER = Path(__file__).parents[2] / "notebooks" / "exercises"
NAMES = ("01-kernels", "02-gradients", "03-memory")


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"exercises_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def check() -> Iterator[Any]:
    import sys

    made = importlib.util.module_from_spec(
        spec := importlib.util.spec_from_file_location("check_of_exercises", FOLDER / "check.py")
    )
    sys.modules["check_of_exercises"] = made  # dataclasses look their module up
    spec.loader.exec_module(made)
    yield made
    del sys.modules["check_of_exercises"]


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def filled(name: str) -> NotebookNode:
    """The notebook with its solutions in the holes."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    answers = list(module("solutions").SOLUTIONS[name])
    for cell in code_cells(notebook):
        while "..." in cell.source:
            cell.source = cell.source.replace("...", answers.pop(0), 1)
    assert not answers, "more solutions than holes"
    return notebook


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_solutions_are_right(name: str, need: Any, tmp_path: Path) -> None:
    need("nbclient")
    (tmp_path / "check.py").write_text((FOLDER / "check.py").read_text())
    path = tmp_path / f"{name}.ipynb"
    nbformat.write(filled(name), path)
    cells = code_cells(run_notebook.run(path).notebook)
    checks = [cell for cell in cells if "check." in cell.source and "score" not in cell.source]
    assert len(checks) >= 4
    for cell in checks:
        assert cell.outputs[-1].data["text/plain"].endswith(": right"), cell.source
    score = next(o.text for o in cells[-1].outputs)
    assert "still open" not in score and "□" not in score


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_exercise_has_open_holes_and_no_outputs(name: str) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    holes = sum(cell.source.count("...") for cell in code_cells(notebook))
    assert holes == len(module("solutions").SOLUTIONS[name])
    assert all(not cell.outputs and cell.execution_count is None for cell in code_cells(notebook))


@pytest.mark.parametrize("name", NAMES)
def test_an_open_hole_is_an_error_at_its_line(name: str) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    kernels = [c.source.partition("\n")[2] for c in code_cells(notebook) if c.source.startswith("%%kernel")]
    for text in (k for k in kernels if "..." in k):
        with pytest.raises(wb.KernelSyntaxError) as error:
            wb.build_cell(text, {})
        assert "left open" in str(error.value)
        found = getattr(error.value, "errors", (error.value,))
        lines = [k for k, line in enumerate(text.splitlines(), 1) if "..." in line]
        assert sorted({e.location.line for e in found}) == lines


def kernel(text: str) -> Any:
    (made,) = wb.build_cell(text, {}).kernels.values()
    return made


WRONG = {
    "brighten": "def k(p: array2d[float], gain: float):\n    i, j = tid()\n    p[i, j] = gain + p[i, j]",
    "mirror": "def k(p: array2d[float], m: array2d[float]):\n    i, j = tid()\n    m[i, j] = p[i, j]",
    "smooth": "def k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0",
    "inside": "def k(p: array[vec2], count: array[int]):\n    i = tid()\n    atomic_add(count, 0, 1)",
    "fall": "def k(h: array[float], dt: float, times: array[float]):\n    i = tid()\n    times[i] = h[i]",
    "loss": "def k(line: array[float], x: array[float], y: array[float], total: array[float]):\n    i = tid()\n"
            "    total[0] += line[0] * x[i] + line[1] - y[i]",
    "columns": "def k(a: array2d[float], sums: array[float]):\n    i = tid()\n    s = 0.0\n"
               "    for k in range(a.shape[0]):\n        s += a[i, k]\n    sums[i] = s",
    "four_each": "def k(x: array[float], threads: int):\n    i = tid()\n    for k in range(4):\n"
                 "        x[4 * i + k] *= 2.0",
    "half_and_half": "def k(x: array[float], y: array[float]):\n    i = tid()\n    if i % 2 == 0:\n"
                     "        y[i] = sin(x[i])\n    else:\n        y[i] = exp(x[i])",
    "added": "def k(x: array[float], total: array[float], threads: int):\n    i = tid()\n    s = 0.0\n"
             "    for k in range(32):\n        s += x[32 * i + k]\n    atomic_add(total, 0, s)",
    "stable": "def k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = sqrt(abs(x[i]))",
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_told_with_a_hint(check: Any, name: str) -> None:
    answer = getattr(check, name)(kernel(WRONG[name]))
    assert not answer and "not yet" in repr(answer) and answer.hint and "not yet" in answer._repr_html_()
    assert "still open: " + name in check.score(name)


def test_a_launch_that_is_refused_is_a_problem_like_any_other(check: Any) -> None:
    answer = check.brighten(kernel("def k(x: array[float]):\n    x[tid()] = 1.0"))
    assert not answer and answer.problem.startswith("LaunchError")


def test_wrong_slopes_and_steps_are_told(check: Any) -> None:
    bell = kernel("def k(x: array[float64], y: array[float64]):\n    i = tid()\n    y[i] = exp(-x[i] * x[i])")
    assert not check.slope(bell, lambda x: np.exp(-x * x))
    assert check.slope(bell, lambda x: -2 * x * np.exp(-x * x))
    assert "uphill" in check.fit(lambda line, slope: line.add_(slope)).problem
    assert "did not move" in check.fit(lambda line, slope: None).problem
    assert "along" in check.fit(lambda line, slope: line.add_(wb.array([-1.0, 1.0]))).problem
