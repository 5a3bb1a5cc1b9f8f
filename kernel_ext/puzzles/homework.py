"""Homework: makes the students' notebook from an instructor's, and grades a folder of submissions into a table.

Answers stand between nbgrader's marks, `### BEGIN SOLUTION` and `### END SOLUTION`, and hidden tests between theirs;
the rest is an ordinary notebook. Each submission runs in a process of its own, with limits of time and memory, so
whatever it does ends as a row of the table.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kernel_ext.puzzles.course import SEEDS, Course
from kernel_ext.puzzles.trial import COUNTS, device, profile_of
from kernel_ext.refusal import Refusal
from workbench.errors import CellErrors, WorkbenchError

_MARK = re.compile(r"^(\s*)### (BEGIN|END) (SOLUTION|HIDDEN TESTS)\s*$")
LEFT_OPEN = "...  # your code here"
"""The placeholder for an answer: a kernel refuses it at its line."""
GRADES = ("not yet", "right", "solved")


@dataclass(frozen=True)
class Row:
    """Represents a puzzle of a submission in the table of grades.

    Attributes:
        submission, puzzle: the submission's path in its folder; the puzzle's name.
        grade: 0 not yet, 1 right, 2 solved.
        word: the grade in words.
        said: what failed, or the sentence of the check.
        costs: counts next to the solution's, by goal.
    """

    submission: str
    puzzle: str
    grade: int = 0
    word: str = GRADES[0]
    said: str = ""
    costs: dict[str, str] = field(default_factory=dict[str, str])


def stripped(text: str, cell: int = 0) -> str:
    """Return a cell's text without hidden tests, and with `LEFT_OPEN` in place of each answer.

    `cell` is its number in errors.

    Raises:
        Refusal: a mark has no partner.
    """
    lines: list[str] = []
    inside = ""
    for line in text.split("\n"):
        mark = _MARK.match(line)
        if mark is None:
            lines += [] if inside else [line]
            continue
        indent, which, what = mark.groups()
        if (which == "BEGIN") == bool(inside) or (inside and inside != what):
            raise Refusal(f"cell {cell}: ### {which} {what} has no partner")
        lines += [indent + LEFT_OPEN] if which == "BEGIN" and what == "SOLUTION" else []
        inside = what if which == "BEGIN" else ""
    if inside:
        raise Refusal(f"cell {cell}: ### BEGIN {inside} has no end")
    return "\n".join(lines).rstrip("\n")


def write_for_students(source: Path, target: Path) -> str:
    """Write the students' notebook without answers, hidden tests or outputs; return its path and the number of answers.

    Raises:
        Refusal: a mark has no partner, or the source is no notebook.
    """
    notebook = _notebook(source)
    count = 0
    for number, cell in enumerate(notebook["cells"], 1):
        if cell["cell_type"] == "code":
            before = "".join(cell["source"])
            cell["source"] = stripped(before, number)
            count += before.count("### BEGIN SOLUTION")
            cell["outputs"], cell["execution_count"] = [], None
    target.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return f"wrote {target} without {count} answers"


def _notebook(path: Path) -> dict[str, Any]:
    """Return the JSON of a notebook's file.

    Raises:
        Refusal: it cannot be read, or holds no list of cells.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        assert isinstance(content["cells"], list)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        raise Refusal(f"{path} is no notebook ({type(error).__name__})") from None
    return content


def courses_of(path: Path) -> dict[str, Course]:
    """Run a Python file and return the courses that it defines, by name; its folder is put on `sys.path`.

    Raises:
        Refusal: there is no such file, or it defines none.
    """
    sys.path.insert(0, str(path.resolve().parent))  # as for the notebooks next to it
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise Refusal(f"--course takes a Python file with a Course; there is no {path}")
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    courses = {name: value for name, value in vars(module).items() if isinstance(value, Course)}
    if not courses:
        raise Refusal(f"{path} defines no Course")
    return courses


def submissions(folder: Path) -> list[Path]:
    """Return the notebooks and Python files in a folder and those below it, sorted, without hidden ones and `__…`."""
    files = (p for p in sorted(folder.rglob("*")) if p.suffix in (".ipynb", ".py") and p.is_file())
    return [p for p in files if not any(part.startswith((".", "__")) for part in p.relative_to(folder).parts)]


def grade_folder(
    folder: Path,
    course: Path,
    table: Path,
    seconds: float = 300.0,
    megabytes: int = 4096,
    tell: Callable[[str], None] = print,
) -> list[Row]:
    """Grade each submission in a process of its own, and write the table; return its rows.

    Args:
        folder: of the submissions.
        course: the Python file with the puzzles.
        table: the CSV file to write.
        seconds: that each may take.
        megabytes: of memory that each may take beyond what a process takes that has done nothing yet.
        tell: called with a line for each.

    Raises:
        Refusal: there is no course, or no submission.
    """
    names = [name for graded in courses_of(course).values() for name in graded.puzzles]
    files = submissions(folder)
    if not files:
        raise Refusal(f"there is no .ipynb and no .py file in {folder}")
    rows: list[Row] = []
    for path in files:
        shown = str(path.relative_to(folder))
        graded, problem = _run(path, course, seconds, megabytes)
        known = {row["puzzle"]: row for row in graded}
        rows += [Row(**{**known[n], "submission": shown}) if n in known else Row(shown, n, said=problem) for n in names]
        solved = sum(row.grade > 0 for row in rows[-len(names) :])
        tell(f"{shown}: {solved} of {len(names)}{f', {problem}' if problem else ''}")
    _write(rows, table)
    return rows


def _write(rows: Sequence[Row], table: Path) -> None:
    """Write the rows to `table` as CSV, with a column for each goal that one of them has costs for."""
    goals = [goal for goal in COUNTS if any(goal in row.costs for row in rows)]
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["submission", "puzzle", "grade", "word", "said", *goals])
        for row in rows:
            writer.writerow(
                [row.submission, row.puzzle, row.grade, row.word, row.said, *(row.costs.get(g, "") for g in goals)]
            )


def _run(path: Path, course: Path, seconds: float, megabytes: int) -> tuple[list[dict[str, Any]], str]:
    """Grade a submission in a process; return the rows that it wrote, and what went wrong (empty if it ended well)."""
    with tempfile.TemporaryDirectory() as here:
        answer = Path(here) / "rows.jsonl"
        command = [sys.executable, "-m", "kernel_ext.puzzles", "one", str(path.resolve()), "--course",
                   str(course.resolve()), "-o", str(answer), "--memory", str(megabytes)]  # fmt: skip
        roots = os.pathsep.join(p or os.getcwd() for p in sys.path)
        process = subprocess.Popen(
            command, cwd=here, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, env={**os.environ, "PYTHONPATH": roots, "WORKBENCH_WIDGETS": "0"},
        )  # fmt: skip
        try:
            code = process.wait(seconds)
            problem = "" if code == 0 else f"it crashed ({_signal(-code)})" if code < 0 else "it ended its process"
        except subprocess.TimeoutExpired:
            problem = f"it took more than {seconds:g} s"
        finally:
            if hasattr(os, "killpg"):
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.kill()
            process.wait()
        lines = answer.read_text(encoding="utf-8").split("\n") if answer.is_file() else []
    return [json.loads(line) for line in lines[:-1]], problem


def _signal(number: int) -> str:
    """Return the name of a signal, such as `SIGKILL`; `signal N` for an unknown number."""
    return signal.Signals(number).name if number in {s.value for s in signal.Signals} else f"signal {number}"


def grade_one(path: Path, course: Path, answer: Path, megabytes: int) -> None:
    """Run a submission in this process, and grade its answers to all puzzles of the courses in a file.

    Args:
        path: the submission, a notebook or a Python file; if it is no notebook, every row says so.
        course: the Python file with the courses.
        answer: the file to write: a line of JSON for each puzzle, as soon as it is graded.
        megabytes: of memory that this process may take from now on, beyond what it has.
    """
    limit_memory(megabytes)
    courses = courses_of(course)
    try:
        names, failed = _ran(path)
    except Refusal as refusal:  # no notebook
        names, failed = {}, [("", str(refusal))]
    with answer.open("w", encoding="utf-8") as file:
        for each in courses.values():
            for name in each.puzzles:
                file.write(json.dumps(asdict(_row(each, name, names.get(name), failed))) + "\n")
                file.flush()


def limit_memory(megabytes: int) -> None:
    """Limit this process to so many megabytes of address space more than it has now; nothing happens on Windows."""
    try:
        import resource
    except ImportError:
        return
    pages = Path("/proc/self/statm")
    now = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.is_file() else 0
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = now + megabytes * 1_000_000
    resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))


def _ran(path: Path) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Run a submission's cells in a new shell; return its names, and the text and error of each cell that failed."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell: Any = InteractiveShell.instance(config=config)
    shell.user_ns["__name__"] = "__main__"
    shell.run_line_magic("load_ext", "kernel_ext")
    failed: list[tuple[str, str]] = []
    for number, text in enumerate(_cells(path), 1):
        result = shell.run_cell(text, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            failed.append((text, f"cell {number}{_why(error)}"))
    return shell.user_ns, failed


def _why(error: BaseException) -> str:
    """Return an error as the rest of a sentence: line and message of Workbench's errors, else class and first line."""
    if isinstance(error, CellErrors):
        return _why(error.errors[0])
    if isinstance(error, WorkbenchError):
        where = f", line {error.location.shown_line}" if error.location else ""
        return f"{where}: {error.message} {error.advice}".rstrip()
    return f": {type(error).__name__}: {str(error).strip().split(chr(10))[0]}".removesuffix(": ")


def _cells(path: Path) -> Iterator[str]:
    """Yield the text of each code cell of a notebook; of a `.py` file its whole text."""
    if path.suffix == ".py":
        yield path.read_text(encoding="utf-8")
        return
    for cell in _notebook(path)["cells"]:
        if cell.get("cell_type") == "code":
            yield "".join(cell.get("source", ()))


def _row(course: Course, name: str, answer: Any, failed: Sequence[tuple[str, str]]) -> Row:
    """Check an answer and return its row of the table, with an empty submission; errors become what the row says.

    Args:
        course: what the puzzle belongs to.
        name: of the puzzle.
        answer: the submission's kernel or function; None if there is none.
        failed: texts of the cells that failed, with their messages.
    """
    if answer is None:  # of errors its own cell's, else the first, which may have stopped the others
        own = [message for text, message in failed if re.search(rf"\bdef {re.escape(name)}\b", text)]
        return Row("", name, said="; ".join(["no answer", *[*own, *(message for _, message in failed)][:1]]))
    try:
        answered = course.check(answer)
    except (Exception, KeyboardInterrupt) as error:
        return Row("", name, said=f"{type(error).__name__}: {error}")
    costs = _costs(course, name, answer) if answered else {}
    return Row("", name, answered.grade, GRADES[answered.grade], " ".join(answered.text.split()), costs)


def _costs(course: Course, name: str, answer: Any) -> dict[str, str]:
    """Return counts of a right answer by goal, each with the solution's: `128 of 64`; none without goals or NVRTC."""
    puzzle = course.puzzles[name]
    if puzzle.case is None or not puzzle.goals or device() == "cpu":
        return {}
    case = puzzle.case(np.random.default_rng(SEEDS[-1]))
    mine, best = profile_of(answer, case), profile_of(puzzle.solved(), case)
    return {goal: f"{COUNTS[goal].of(mine)} of {COUNTS[goal].of(best)}" for goal in puzzle.goals}
