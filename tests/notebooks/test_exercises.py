"""The exercises: open holes are errors at their lines, the solutions run clean, and wrong answers are found wrong."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import run_notebook
from nbformat import NotebookNode

import workbench as wb
from kernel_ext.puzzles import Course

FOLDER = Path(__file__).parents[2] / "notebooks" / "exercises"
COURSES = {"01-kernels": "kernels", "02-gradients": "gradients", "03-memory": "memory"}
CHECK = re.compile(r"check\((\w+)\)")


@pytest.fixture(scope="module")
def courses() -> Iterator[dict[str, Course]]:
    """The exercises of each notebook."""
    spec = importlib.util.spec_from_file_location("exercises_of_notebooks", FOLDER / "exercises.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    yield {name: getattr(made, course) for name, course in COURSES.items()}


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def filled(name: str, course: Course) -> NotebookNode:
    """The notebook with a solution in place of each cell with holes."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    open_cell = None
    for cell in code_cells(notebook):
        if "..." in cell.source:
            open_cell = cell
        elif open_cell is not None and (found := CHECK.search(cell.source)):
            magic, _, _ = open_cell.source.partition("\n")
            solution = course.puzzles[found[1]].solution.strip()
            open_cell.source = f"{magic}\n{solution}" if magic.startswith("%%") else solution
            open_cell = None
    assert not any("..." in cell.source for cell in code_cells(notebook))
    return notebook


@pytest.mark.slow
@pytest.mark.parametrize("name", COURSES)
def test_the_solutions_are_right(name: str, courses: dict[str, Course], need: Any, tmp_path: Path) -> None:
    need("nbclient")
    need("nvrtc")
    (tmp_path / "exercises.py").write_text((FOLDER / "exercises.py").read_text())
    path = tmp_path / f"{name}.ipynb"
    nbformat.write(filled(name, courses[name]), path)
    cells = code_cells(run_notebook.run(path).notebook)
    count = len(courses[name].puzzles)
    assert sum(bool(CHECK.search(cell.source)) for cell in cells) == count >= 4
    score = "".join(output.text for output in cells[-1].outputs)
    assert score.strip() == f"{'■' * count}  {count} of {count} right"


@pytest.mark.parametrize("name", COURSES)
def test_the_committed_exercise_has_open_holes_and_no_outputs(name: str, courses: dict[str, Course]) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    checked = [found[1] for cell in code_cells(notebook) if (found := CHECK.search(cell.source))]
    assert checked == list(courses[name].puzzles)
    assert sum("..." in cell.source for cell in code_cells(notebook)) == len(checked)
    assert all(not cell.outputs and cell.execution_count is None for cell in code_cells(notebook))


@pytest.mark.parametrize("name", COURSES)
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


def kernel(name: str, text: str) -> Any:
    return wb.build_cell(text.replace("def k(", f"def {name}("), {}).kernels[name]


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


def checked(courses: dict[str, Course], name: str, answer: Any) -> Any:
    """What the check of an exercise says."""
    return next(course for course in courses.values() if name in course.puzzles).check(answer)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_told_with_a_hint(courses: dict[str, Course], name: str, need: Any) -> None:
    need("nvrtc")
    answer = checked(courses, name, kernel(name, WRONG[name]))
    assert answer.grade < 2 and "Hint 1 of 1" in answer._repr_html_()
    if name in ("four_each", "half_and_half", "added"):
        assert answer.grade == 1 and re.search(r"Can you (get to 1×|do without)\?", answer.text), answer
    else:
        assert "not yet" in repr(answer)


def test_wrong_slopes_and_steps_are_told(courses: dict[str, Course]) -> None:
    def by_hand(x: np.ndarray) -> np.ndarray:
        return np.exp(-x * x)

    assert "the adjoint has" in checked(courses, "by_hand", by_hand).text
    by_hand.__code__ = (lambda x: ...).__code__
    assert "a number for each x" in checked(courses, "by_hand", by_hand).text

    def step(by: list[float]) -> str:
        def descend(line: wb.array, slope: wb.array) -> None:
            line.add_(wb.array(by))

        return checked(courses, "descend", descend).text

    assert "uphill" in step([1.0, -1.0]) and "did not move" in step([0.0, 0.0]) and "along" in step([-1.0, 1.0])
