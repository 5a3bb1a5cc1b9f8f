"""The puzzles: each solution is solved, typical wrong answers are told in the right words, a costly one is graded."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import run_notebook
from nbformat import NotebookNode

import workbench as wb
from kernel_ext.puzzles import Case, Course, Puzzle, Wrong, predict
from kernel_ext.puzzles.answer import saved_grades
from kernel_ext.puzzles.pictures import difference_map

FOLDER = Path(__file__).parents[2] / "notebooks" / "puzzles"
NOTEBOOKS = {"1-threads": "threads", "2-blocks": "blocks", "3-gradients": "gradients"}


@cache
def course(module: str) -> Course:
    """The puzzles of a notebook."""
    spec = importlib.util.spec_from_file_location(f"puzzles_{module}", FOLDER / f"{module}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made  # dataclasses look their module up
    spec.loader.exec_module(made)
    return made.course


PUZZLES = {name: (module, puzzle) for module in NOTEBOOKS.values() for name, puzzle in course(module).puzzles.items()}


def built(name: str, text: str) -> Any:
    """A kernel from a cell's text."""
    if "__global__" in text:
        return wb.cuda_module(text, run="emulated")[name]
    return wb.build_cell(text, {}).kernels[name]


def changed(name: str, *pairs: tuple[str, str]) -> Any:
    """The solution of a puzzle with some of its text replaced."""
    text = PUZZLES[name][1].solution.strip() + "\n"
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return built(name, text)


def checked(name: str, kernel: Any) -> Any:
    """What the check of a puzzle says of a kernel."""
    return course(PUZZLES[name][0]).check(kernel)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUZZLES)
def test_the_solution_is_solved(name: str, need: Callable[[str], str]) -> None:
    need("nvrtc")
    answer = checked(name, PUZZLES[name][1].solved())
    assert answer.grade == 2, answer
    assert repr(answer).startswith(f"{name}: solved; no more ")
    assert "<details>" not in answer._repr_html_()


BARRIER = ("__syncthreads();", "")
WRONG: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "fahrenheit": ((("+ 32.0", ""),), r"result\[0\] is .*; it should be .* \(\d+ of \d+ .*Thread 0 wrote it in line 3"),
    "mix": ((("(1.0 - share)", "share"),), r"result\[0\] is .*Thread 0 wrote it"),
    "guarded": ((("if i < len(x):", "if i <= len(x):"),), r"Line 4: x has \d+ elements along axis 0; thread \(\d+,\)"),
    "table": ((("columns[j]", "columns[i]"),), r"products\[0, 1\] is .*Thread \(0, 1\) wrote it"),
    "flip": ((("    if i < j:\n        left = x[i]\n        x[i] = x[j]\n        x[j] = left", "    x[i] = x[j]"),),
             r"Line 4: Thread .* x\[\d+\], which thread .* (reads|writes) in line 4; nothing orders the two"),
    "curvature": ((("    if i > 0:\n        total", "    total"),), r"bend\[0, \d+\] is .*Thread \(0, \d+\) wrote it"),
    "chunks": ((("range(8)", "range(7)"),), r"roots\[\d+\] was not written, nor were \d+ others of \d+"),
    "lookup": ((("if k >= 0:", "if k >= -1:"),), r"colour\[\d+\] is .*; it should be 0 .*Thread \d+ wrote it"),
    "histogram": ((("atomic_add(counts, index[i], 1)", "old = counts[index[i]]\n    counts[index[i]] = old + 1"),),
                  r"Line 4: Thread .* writes 4 bytes at counts\[\d+\], which thread .* in line \d; nothing orders"),
    "window": ((BARRIER,), r"Line \d+: Thread .*(no barrier is between|no thread has written)"),
    "tree": ((("        __syncthreads();\n    }", "    }"),), r"Line 7: Thread .* in line 7; no barrier is between"),
    "warp_sum": ((("k = 16", "k = 8"),), r"sums\[0\] is .*Thread 0 wrote it in line 4"),
    "scan": ((("s[t - step] : 0.0f;\n        __syncthreads();", "s[t - step] : 0.0f;"),),
             r"Thread .* in line \d+; no barrier is between"),
    "transpose": ((("s[tx][ty]", "s[ty][tx]"),), r"turned\[0, 1\] is .*Thread \(0, 1\) wrote it in line 6"),
    "bins": ((("if (t < 16) mine[t] = 0;", ""),), r"Line 6: Thread .* of shared memory, which no thread has written"),
    "product": ((("right[j][tx];\n        __syncthreads();", "right[j][tx];"),),
                r"Thread .* of shared memory.* in line \d+; no barrier is between"),
    "softmax": ((("row - tile_max(row)[0]", "row"), ("e / tile_sum(e)[0]", "e")), r"y\[0, 0\] is .*it should be"),
    "square": ((("2.0f * a[i]", "a[i]"),), r"x\.grad\[0\] is .*it should be"),
    "steps": ((("g -= adj_y[i]", "g += adj_y[i]"),), r"x\.grad\[0\] is .*it should be"),
    "roots": ((("(2.0 * root(a))", "root(a)"),), r"a\.grad\[0\] is .*it should be"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_told_in_the_right_words(name: str, need: Callable[[str], str]) -> None:
    need("nvrtc")
    pairs, words = WRONG[name]
    answer = checked(name, changed(name, *pairs))
    assert not answer and re.search(words, answer.text), answer
    assert "Hint 1 of 3" in answer._repr_html_() and "Solution" in answer._repr_html_()


COSTLY: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "chunks": ((("i + k * threads", "8 * i + k"),), r"[3-9]\.\d× the sectors needed \([\d,]+ for [\d,]+\)"),
    "histogram": ((("atomic_add(counts, index[i], 1)",
                    "if i == 0:\n        for k in range(len(index)):\n            counts[index[k]] += 1"),),
                  r"1\d\.\d× the sectors needed"),
    "scan": ((("for (int step = 1; step < 64; step *= 2) {\n        float before = t >= step ? s[t - step] : 0.0f;\n"
               "        __syncthreads();\n        s[t] += before;\n        __syncthreads();\n    }",
               "if (t == 0) for (int k = 1; k < 64; k++) s[k] += s[k - 1];\n    __syncthreads();"),),
             r"[2-9]\.\d× the passes over shared memory needed"),
    "transpose": ((("[33]", "[32]"),), r"16\.5× the passes over shared memory needed"),
    "window": ((("s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4]",
                 "(i > 1 ? x[i - 2] : 0) + (i > 0 ? x[i - 1] : 0) + x[i] + (i + 1 < n ? x[i + 1] : 0)"
                 " + (i + 2 < n ? x[i + 2] : 0)"),), r"[2-9]\.\d× the sectors needed"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", COSTLY)
def test_a_right_answer_that_costs_more_is_right_but_not_solved(name: str, need: Callable[[str], str]) -> None:
    need("nvrtc")
    pairs, words = COSTLY[name]
    answer = checked(name, changed(name, *pairs))
    assert answer and answer.grade == 1
    assert re.match(words, answer.text), answer
    assert answer.text.endswith("Can you get to 1×?") and f"{name}: right; " in repr(answer)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_committed_notebook_has_each_puzzle_unsolved(name: str) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell.source for cell in code_cells(notebook)]
    for puzzle in course(NOTEBOOKS[name]).puzzles.values():
        at = cells.index(f'show("{puzzle.name}")')
        assert cells[at + 1].startswith("%%cuda --run emulated" if puzzle.cuda else "%%kernel")
        assert cells[at + 2] == f"check({puzzle.name})"
        assert puzzle.picture is not None and len(puzzle.hints) == 3 and puzzle.solution and puzzle.goals
    grades = saved_grades(FOLDER / f"{name}.ipynb")
    assert set(grades) == set(course(NOTEBOOKS[name]).puzzles) and max(grades.values()) < 2
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1)), "run it with --save before committing"
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_solved_in_the_notebook_and_kept_in_its_file(
    name: str, need: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("nbclient")
    need("nvrtc")
    module = NOTEBOOKS[name]
    (tmp_path / f"{module}.py").write_text((FOLDER / f"{module}.py").read_text())
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    cells = code_cells(notebook)
    puzzles = course(module).puzzles
    for cell, check in pairwise(cells):
        if found := re.fullmatch(r"check\((\w+)\)", check.source):
            cell.source = cell.source.partition("\n")[0] + puzzles[found[1]].solution.rstrip()
    path = tmp_path / f"{name}.ipynb"
    nbformat.write(notebook, path)
    solved = run_notebook.run(path).notebook
    score = "".join(output.text for output in code_cells(solved)[-1].outputs)
    assert score.strip() == f"{'■' * len(puzzles)}  {len(puzzles)} of {len(puzzles)} right"

    nbformat.write(solved, path)  # a new session that only asks for the score finds it in the saved outputs
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))
    later = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"from {module} import score; print(score())")])
    nbformat.write(later, tmp_path / "later.ipynb")
    (cell,) = run_notebook.run(tmp_path / "later.ipynb").notebook.cells
    assert cell.outputs[0].text == score


def ones(_: np.random.Generator) -> Case:
    """A case that asks for ones."""
    return Case(64, {"x": np.zeros(64, np.float32)}, {"x": np.ones(64, np.float32)})


@pytest.mark.slow
def test_a_kernel_that_does_not_end_is_stopped_and_the_session_goes_on(need: Callable[[str], str]) -> None:
    need("nvrtc")
    mine = Course(Puzzle("fill", ones))
    endless = "def fill(x: array[float]):\n    i = tid()\n    while x[i] >= 0.0:\n        x[i] += 1.0"
    answer = mine.check(built("fill", endless), seconds=4)
    assert not answer and "still running after 4 s" in answer.text and "loop" in answer.text
    assert mine.check(built("fill", "def fill(x: array[float]):\n    x[tid()] = 1.0"))


def test_a_launch_that_is_refused_is_told(need: Callable[[str], str]) -> None:
    need("nvrtc")
    answer = Course(Puzzle("fill", ones)).check(built("fill", "def fill(x: array[int]):\n    x[tid()] = 1"))
    assert not answer and answer.text.startswith("fill: x is array[int32]; it got array[float32]")


def test_adding_to_what_is_nan_is_not_called_unwritten(need: Callable[[str], str]) -> None:
    need("nvrtc")
    nan = np.full(64, np.nan, np.float32)
    puzzle = Puzzle("fill", lambda random: Case(64, {"x": nan}, {"x": np.ones(64, np.float32)}))
    answer = Course(puzzle).check(built("fill", "def fill(x: array[float]):\n    x[tid()] += 1.0"))
    assert not answer and answer.text.startswith("x is NaN everywhere. It was before the launch")


def test_an_answer_of_another_name_is_refused_with_the_names_there_are() -> None:
    mine = Course(Puzzle("fill", ones))
    with pytest.raises(LookupError, match="no puzzle 'full'; give the kernel one of these names: fill"):
        mine.check(built("full", "def full(x: array[float]):\n    x[tid()] = 1.0"))


def test_functions_are_examined_and_the_best_grade_is_kept() -> None:
    def examine(found: Callable[[], int]) -> None:
        if found() != 3:
            raise Wrong(f"It is {found()}.")

    mine = Course(Puzzle("three_of_test", examine=examine, hints=("One more than two.", "3")))

    def three_of_test() -> int:
        return 2

    first = mine.check(three_of_test)
    assert not first and "not yet. It is 2." in repr(first) and mine.score().startswith("□  0 of 1")
    assert mine.hint().endswith("hint 1 of 2: One more than two.") and mine.hint().endswith("2 of 2: 3")
    assert Course(Puzzle("bare", examine=examine)).hint("bare") == "bare has no hints."
    three_of_test.__code__ = (lambda: 3).__code__
    assert mine.check(three_of_test).grade == 2
    three_of_test.__code__ = (lambda: 2).__code__
    assert not mine.check(three_of_test) and mine.score() == "■  1 of 1 right"


def test_a_prediction_is_compared_only_once_there_is_one() -> None:
    asked: list[int] = []

    def truth() -> int:
        asked.append(1)
        return 4

    question = predict("How many?", ..., truth, "Two and two.")
    assert asked == [] and "Put your prediction" in repr(question) and "How many?" in question._repr_html_()
    right, wrong = predict("How many?", 4, truth, "Two and two."), predict("How many?", 5, truth)
    assert right and repr(right) == "How many? right. It is 4. Two and two."
    assert not wrong and "not so. You said 5; it is 4." in repr(wrong)
    assert predict("Which?", "Hit ", lambda: "hit") and not predict("Which?", 1, lambda: "hit")
    assert predict("What?", [1, 2], lambda: np.array([1.0, 2.0])) and not predict("What?", "two", lambda: 2)


def test_grades_are_read_from_a_file_and_a_damaged_one_has_none(tmp_path: Path) -> None:
    def output(name: str, grade: int) -> dict[str, Any]:
        return {"metadata": {"workbench_puzzle": {"name": name, "grade": grade}}}

    path = tmp_path / "kept.ipynb"
    path.write_text(
        json.dumps({"cells": [{"outputs": [output("a", 1), output("b", 2)]}, {"outputs": [output("a", 2)]}]})
    )
    assert saved_grades(path) == {"a": 2, "b": 2}
    path.write_text("{")
    assert saved_grades(path) == {} == saved_grades(tmp_path / "none.ipynb") == saved_grades(None)


def test_a_map_marks_what_is_wrong() -> None:
    wrong = np.zeros(100, bool)
    wrong[[3, 4, 70]] = True
    assert "in rows of 64" in difference_map(wrong, "y") and "y: 3 of 100 elements differ" in difference_map(wrong, "y")
    assert "in rows" not in difference_map(np.ones((3, 5), bool), "y")


def test_without_nvrtc_numbers_are_checked_on_the_cpu_and_nothing_is_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("trial", "course"):
        monkeypatch.setattr(f"kernel_ext.puzzles.{module}.device", lambda: "cpu")
    threads = course("threads")
    right = threads.check(PUZZLES["fahrenheit"][1].solved())
    assert right.grade == 1 and "counts need NVRTC" in right.text
    beyond = threads.check(changed("guarded", ("if i < len(x):", "if i >= 0:")))
    assert not beyond and beyond.text.startswith("Line 4: x has")


def test_a_kernel_whose_cell_no_longer_compiles_is_not_checked() -> None:
    old = built("fill", "def fill(x: array[float]):\n    x[tid()] = 1.0")
    old.mark_stale("fill is out of date: cell [1], which defines fill, no longer compiles.")
    answer = Course(Puzzle("fill", ones)).check(old)
    assert not answer and "cell [1], which defines fill, no longer compiles" in answer.text
