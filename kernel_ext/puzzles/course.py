"""A course: some puzzles, the check that grades answers to them, hints, and the score."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import numpy as np

import workbench as wb
from kernel_ext.puzzles.answer import BEST, OPEN, RIGHT, Answer, keep, tally
from kernel_ext.puzzles.trial import Mistake, Puzzle, Wrong, device, explained, graded, mistake_in, profile_of
from kernel_ext.views import html

SEEDS = (1, 2, 3)
"""Seeds of the cases that an answer is tested with; the cases' sizes differ."""


class Course:
    """Represents a course: puzzles by name, with what was solved.

    check, hint, score, show = Course(first, second).tools
    """

    def __init__(self, *puzzles: Puzzle) -> None:
        """Take puzzles in their order.

        Args:
            puzzles: the puzzles; their names differ.
        """
        self.puzzles = {puzzle.name: puzzle for puzzle in puzzles}
        self._latest = ""
        self._shown: dict[str, int] = {}

    @property
    def tools(self) -> tuple[Any, Any, Any, Any]:
        """The methods `check`, `hint`, `score` and `show`, for a notebook to import as functions."""
        return self.check, self.hint, self.score, self.show

    def show(self, name: str) -> Any:
        """Show the picture of a puzzle.

        Args:
            name: of the puzzle.

        Returns:
            A picture that shows itself; None if the puzzle has none.

        Raises:
            LookupError: there is no such puzzle.
        """
        return self._puzzle(name).picture

    def check(self, answer: Any, seconds: float = 60.0) -> Answer:
        """Test an answer: its numbers on cases of different sizes, races and accesses out of bounds, then its counts.

        Args:
            answer: the kernel, or the function, that has the puzzle's name.
            seconds: it is stopped after so many.

        Returns:
            What was found; it shows itself, with a grade, and is false where the answer is not right yet.

        Raises:
            LookupError: no puzzle has the answer's name.
        """
        puzzle = self._puzzle(getattr(answer, "name", None) or getattr(answer, "__name__", repr(answer)))
        self._latest = puzzle.name
        grade, text, mistake = OPEN, "", Mistake("")
        try:
            with time_limit(seconds):
                mistake = self._mistake(puzzle, answer) or mistake
                if not mistake.text:
                    grade, text = _graded(puzzle, answer)
        except TimeLimitError:
            mistake = Mistake(f"It was still running after {seconds:g} s, so it was stopped. Does each loop end?")
        except Wrong as wrong:
            mistake = Mistake(str(wrong))
        except wb.WorkbenchError as error:
            mistake = explained(error)
        keep(puzzle.name, grade)
        open_help = _help(puzzle) if grade < BEST else ""
        line = tally(tuple(self.puzzles))
        return Answer(puzzle.name, grade, mistake.text or text, mistake.excerpt, mistake.picture, open_help, line)

    def hint(self, name: Any = "") -> str:
        """Return the next hint for a puzzle; after the last one the first.

        Args:
            name: of the puzzle, or its kernel; without it, that of the latest check, else the first puzzle.

        Raises:
            LookupError: there is no such puzzle.
        """
        puzzle = self._puzzle(getattr(name, "name", name) or self._latest or next(iter(self.puzzles)))
        if not puzzle.hints:
            return f"{puzzle.name} has no hints."
        shown = self._shown.get(puzzle.name, 0)
        self._shown[puzzle.name] = shown + 1
        count = len(puzzle.hints)
        return f"{puzzle.name}, hint {shown % count + 1} of {count}: {puzzle.hints[shown % count]}"

    def score(self) -> str:
        """Return a box per puzzle, empty, half full (right) or full (at the least cost); and how many are right."""
        return tally(tuple(self.puzzles))

    def _puzzle(self, name: str) -> Puzzle:
        """Return the puzzle `name`.

        Raises:
            LookupError: the course has none of that name.
        """
        if name not in self.puzzles:
            raise LookupError(
                f"There is no puzzle {name!r}; give the kernel one of these names: {', '.join(self.puzzles)}."
            )
        return self.puzzles[name]

    def _mistake(self, puzzle: Puzzle, answer: Any) -> Mistake | None:
        """Return the answer's first mistake over all cases of the puzzle, of one seed each; None if there is none.

        Raises:
            Wrong: the puzzle's own examination says so.
            WorkbenchError: the answer does not compile or run.
        """
        if puzzle.examine is not None:
            puzzle.examine(answer)
        if puzzle.case is None:
            return None
        for seed in SEEDS:
            if mistake := mistake_in(answer, puzzle.case(np.random.default_rng(seed))):
                return mistake
        return None


def _graded(puzzle: Puzzle, answer: Any) -> tuple[int, str]:
    """Return the grade of an answer that is right, with a sentence on its counts (empty if the puzzle has no goals)."""
    if puzzle.case is None or not puzzle.goals:
        return BEST, ""
    if device() == "cpu":
        return RIGHT, "its counts need NVRTC, which is not installed."
    case = puzzle.case(np.random.default_rng(SEEDS[-1]))
    good, sentence = graded(profile_of(answer, case), profile_of(puzzle.solved(), case), puzzle.goals)
    return (BEST if good else RIGHT), sentence


def _help(puzzle: Puzzle) -> str:
    """Return HTML with hints, each inside the one before, and the solution, each behind a click; empty without any."""
    code = f'<pre style="margin:4px 0 0 8px">{escape(puzzle.solution.strip())}</pre>'
    inner = html.folded("Solution", code) if puzzle.solution else ""
    for number, text in reversed(list(enumerate(puzzle.hints, 1))):
        inner = html.folded(
            f"Hint {number} of {len(puzzle.hints)}", f'<div style="margin-left:8px">{escape(text)}{inner}</div>'
        )
    return inner


class TimeLimitError(Exception):
    """Raised by `time_limit` in a block that ran longer than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt a `with` block after some seconds; there is no limit off the main thread and on Windows.

    Raises:
        TimeLimitError: the time was over.
        KeyboardInterrupt: the user interrupted it.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_kill"):
        yield
        return
    state = {"running": True, "expired": False}
    lock = threading.Lock()

    def stop() -> None:
        with lock:
            if state["running"]:
                state["expired"] = True
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        try:
            yield
        finally:
            timer.cancel()
            with lock:
                state["running"] = False
    except KeyboardInterrupt:
        if state["expired"]:
            raise TimeLimitError from None
        raise
