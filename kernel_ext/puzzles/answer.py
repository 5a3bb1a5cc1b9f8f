"""The result of a check: an `Answer` that shows itself and stores its grade in the metadata of the output."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from kernel_ext.session.cells import notebook_file
from kernel_ext.views import html

OPEN, RIGHT, BEST = 0, 1, 2
"""Grades: not right yet; right; right and at no more than the solution's cost."""
_BADGES = {OPEN: ("not yet", "#b2182b"), RIGHT: ("right", "#2166ac"), BEST: ("solved", "#1b7837")}
_KEY = "workbench_puzzle"
_SESSION: dict[str, int] = {}


@dataclass(frozen=True)
class Answer:
    """Represents the result of checking an answer; it is true if the answer is right.

    Attributes:
        name: of the puzzle.
        grade: 0 not right yet, 1 right, 2 right at the least cost.
        text: a sentence or more on the result.
        excerpt: lines of the kernel that the text is about.
        picture: HTML of where an output is wrong.
        help: HTML with hints and the solution, each behind a click.
        tally: how many puzzles are solved.
        word: in place of "not yet", "right" or "solved".
    """

    name: str
    grade: int
    text: str
    excerpt: tuple[str, ...] = ()
    picture: str = ""
    help: str = ""
    tally: str = ""
    word: str = ""

    def __bool__(self) -> bool:
        """Return whether the answer is right, at whatever cost."""
        return self.grade > OPEN

    def __repr__(self) -> str:
        """Return the result as text: name, word and sentence, then the excerpt and the tally."""
        word = self.word or _BADGES[self.grade][0]
        joint = "; " if self and not self.text[:1].isupper() else ". "
        first = f"{self.name}{'' if self.name.endswith('?') else ':'} {word}" + (
            f"{joint}{self.text}" if self.text else ""
        )
        rows = (first, *self.excerpt, self.tally)
        return "\n".join(row for row in rows if row)

    def _repr_html_(self) -> str:
        """Return the result as HTML: a badge with the grade, text, excerpt, picture, help and tally."""
        word, colour = self.word or _BADGES[self.grade][0], _BADGES[self.grade][1]
        badge = f'<span style="background:{colour};color:#fff;border-radius:3px;padding:1px 7px">{word}</span>'
        mono = "font-family:var(--jp-code-font-family,ui-monospace,monospace);white-space:pre-wrap;margin:4px 0 0 8px"
        parts = [f"<div>{badge} <b>{escape(self.name)}</b> &nbsp;{escape(self.text)}</div>"]
        parts += [f'<div style="{mono}">{escape(chr(10).join(self.excerpt))}</div>'] if self.excerpt else []
        parts += [self.picture, self.help]
        parts += [f'<div style="opacity:0.7;margin-top:4px">{escape(self.tally)}</div>'] if self.tally else []
        return f'<div style="line-height:1.5;padding:2px 8px">{"".join(parts)}</div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the outputs by MIME type, and metadata that store the name and grade in the notebook."""
        data = {"text/plain": html.ascii_only(repr(self)), "text/html": self._repr_html_()}
        return data, {_KEY: {"name": self.name, "grade": self.grade}}


def keep(name: str, grade: int) -> None:
    """Store a grade of a puzzle for this session, unless it has a better one."""
    _SESSION[name] = max(grade, _SESSION.get(name, OPEN))


def grades() -> Mapping[str, int]:
    """Return the best grade of each puzzle, in this session or in the notebook's file as it was last saved."""
    saved = saved_grades(notebook_file())
    return {name: max(_SESSION.get(name, OPEN), saved.get(name, OPEN)) for name in {*_SESSION, *saved}}


def saved_grades(path: Path | None) -> dict[str, int]:
    """Return the grades among the outputs of a notebook's file; none if it cannot be read."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path else []
    except (OSError, ValueError, KeyError):
        return {}
    saved: dict[str, int] = {}
    for cell in cells:
        for output in cell.get("outputs", ()):
            stored = output.get("metadata", {}).get(_KEY)
            if isinstance(stored, dict):
                saved[stored["name"]] = max(int(stored["grade"]), saved.get(stored["name"], OPEN))
    return saved


def tally(names: tuple[str, ...]) -> str:
    """Return a line with a box for each puzzle (empty, half full if right, full if solved), and how many are right."""
    have = grades()
    boxes = "".join("□◧■"[have.get(name, OPEN)] for name in names)
    right = sum(have.get(name, OPEN) > OPEN for name in names)
    best = sum(have.get(name, OPEN) == BEST for name in names)
    return f"{boxes}  {right} of {len(names)} right" + (f", {best} of them solved" if best < right else "")


@dataclass(frozen=True)
class Question:
    """Represents a question that is not answered yet; it shows itself."""

    text: str

    def __repr__(self) -> str:
        """Return the question in ASCII, with a note on how to answer it."""
        return html.ascii_only(f"{self.text}\nPut your prediction in place of the `...` and run the cell.")

    def _repr_html_(self) -> str:
        """Return the question as HTML, with a note on how to answer it."""
        note = "Put your prediction in place of the <code>...</code> and run the cell."
        return f'<div style="padding:2px 8px"><b>{escape(self.text)}</b><div style="opacity:0.7">{note}</div></div>'


def predict(question: str, guess: Any, truth: Callable[[], Any], why: str = "") -> Answer | Question:
    """Ask for a prediction, then run: the truth is computed only after a guess.

        predict("Which thread writes y[5]?", ..., lambda: written_by(5), "Each thread writes its own element.")

    Args:
        question: a sentence.
        guess: the prediction, or `...` as long as there is none. A number, a word, or a list of numbers.
        truth: computes what is so.
        why: a sentence that is shown with the truth.

    Returns:
        The question, or whether the guess was right, with the truth and the reason. Both show themselves.
    """
    if guess is ...:
        return Question(question)
    so = truth()
    if isinstance(so, str):
        right = isinstance(guess, str) and guess.strip().lower() == so.lower()
    else:
        had, wanted = np.asarray(guess), np.asarray(so)
        right = had.dtype.kind in "biuf" and had.shape == wanted.shape and bool(np.allclose(had, wanted, rtol=1e-3))
    grade = RIGHT if right else OPEN
    keep(question, grade)
    shown = so if not isinstance(so, np.generic | np.ndarray) else so.tolist()
    result = f"It is {shown}." if right else f"You said {guess}; it is {shown}."
    return Answer(question, grade, f"{result} {why}".strip(), word="right" if right else "not so")
