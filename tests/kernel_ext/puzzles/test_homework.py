"""Homework: what students get of an instructor's notebook, and a table of what became of each submission."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from kernel_ext.puzzles.homework import grade_folder, stripped, submissions, write_for_students
from kernel_ext.refusal import Refusal

DOUBLE = """%%kernel
def double(x: array[float], y: array[float]):
    i = tid()
    ### BEGIN SOLUTION
    y[i] = 2.0 * x[i]
    ### END SOLUTION
"""
TESTS = "check(double)\n### BEGIN HIDDEN TESTS\nassert double.name\n### END HIDDEN TESTS"
COURSE = """import numpy as np
from kernel_ext.puzzles import Case, Course, Puzzle


def case(rng):
    x = rng.random(70).astype(np.float32)
    return Case(70, {"x": x, "y": np.full(70, np.nan, np.float32)}, {"y": 2 * x})


course = Course(Puzzle("double", case), Puzzle("three", examine=lambda f: None))
"""


def notebook(path: Path, *cells: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    code = [
        {"cell_type": "code", "source": c, "outputs": [{"x": 1}], "metadata": {}, "execution_count": 7} for c in cells
    ]
    text = {"cell_type": "markdown", "source": "### BEGIN SOLUTION", "metadata": {}}
    path.write_text(json.dumps({"cells": [*code, text], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def test_students_get_the_tests_and_a_place_for_the_answer(tmp_path: Path) -> None:
    source, target = notebook(tmp_path / "teacher.ipynb", DOUBLE, TESTS), tmp_path / "student.ipynb"
    assert write_for_students(source, target) == f"wrote {target} without 1 answers"
    kernel, tests, text = json.loads(target.read_text())["cells"]
    assert kernel["source"].endswith("    i = tid()\n    ...  # your code here") and "2.0" not in kernel["source"]
    assert tests["source"] == "check(double)" and kernel["outputs"] == [] and kernel["execution_count"] is None
    assert text["source"] == "### BEGIN SOLUTION", "Markdown stays as it is"


@pytest.mark.parametrize("text", ["### BEGIN SOLUTION", "### END SOLUTION", "### BEGIN SOLUTION\n### BEGIN SOLUTION",
                                  "### BEGIN SOLUTION\n### END HIDDEN TESTS"])  # fmt: skip
def test_a_mark_without_its_partner_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="cell 3"):
        stripped(text, 3)


def test_submissions_are_notebooks_and_files_in_order(tmp_path: Path) -> None:
    for name in ("b/x.ipynb", "a.py", ".ipynb_checkpoints/y.ipynb", "__pycache__/z.py", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    assert [p.name for p in submissions(tmp_path)] == ["a.py", "x.ipynb"]


@pytest.mark.slow
def test_each_submission_is_a_row_whatever_it_does(tmp_path: Path) -> None:
    folder, table, course = tmp_path / "handed in", tmp_path / "grades.csv", tmp_path / "course.py"
    course.write_text(COURSE)
    right, told = DOUBLE.replace("    ### BEGIN SOLUTION\n", "").replace("    ### END SOLUTION\n", ""), []
    notebook(folder / "ann.ipynb", right, "def three():\n    return 3")
    notebook(folder / "bob.ipynb", right.replace("2.0", "3.0"), "1/0")
    notebook(folder / "crash.ipynb", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    notebook(folder / "large.ipynb", "a = bytearray(40_000_000_000)", right)
    (folder / "quits.py").write_text("import os; os._exit(3)")
    notebook(folder / "open.ipynb", "def f(:", right.replace("y[i] = 2.0 * x[i]", "...  # your code here"))
    (folder / "torn.ipynb").write_text("{")
    grade_folder(folder, course, table, seconds=600, megabytes=8000, tell=told.append)
    rows = {(r["submission"], r["puzzle"]): r for r in csv.DictReader(table.read_text().splitlines())}
    said = {key: row["said"] for key, row in rows.items()}
    grades = {key: int(row["grade"]) for key, row in rows.items()}
    assert len(rows) == 14 and grades["ann.ipynb", "double"] == grades["ann.ipynb", "three"] == 2
    assert "should be" in said["bob.ipynb", "double"] and "ZeroDivisionError" in said["bob.ipynb", "three"]
    assert said["crash.ipynb", "double"] == "it crashed (SIGSEGV)"
    assert grades["large.ipynb", "double"] == 2 and "MemoryError" in said["large.ipynb", "three"]
    assert said["quits.py", "double"] == "it ended its process" and len(told) == 7
    assert said["open.ipynb", "double"].startswith("no answer; cell 2, line 4: Something was left open here. Write")
    assert said["open.ipynb", "three"].startswith("no answer; cell 1: SyntaxError: ")
    assert said["torn.ipynb", "three"].endswith("torn.ipynb is no notebook (JSONDecodeError)")
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / "ever.py").write_text("while True:\n    pass")
    rows = grade_folder(tmp_path / "long", course, table, seconds=8, tell=told.append)
    assert [row.said for row in rows] == ["it took more than 8 s"] * 2
