"""The table of what programs are made of: one row per thing that the language guide lets a user write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.judge.generator.kinds import Kind
from tests.judge.generator.writer import Writer

Value = Callable[[Writer, Kind, int, bool], "str | None"]
Statement = Callable[[Writer, int], "list[str] | None"]


@dataclass(frozen=True)
class Row:
    """One thing that a program may contain.

    Attributes:
        name: what it is, in the guide's words.
        weight: how often it is drawn, relative to the others that fit.
        profiles: the profiles of programs that may contain it.
        emit: returns its text, or None where it does not fit.
    """

    name: str
    weight: int
    profiles: tuple[str, ...]
    emit: Value | Statement


ALL = ("exact", "maths", "smooth")
VALUES: list[Row] = []
"""Expressions of a scalar type."""
CONDITIONS: list[Row] = []
WHOLES: list[Row] = []
"""Expressions of a vector, matrix, quaternion, transform or struct."""
STATEMENTS: list[Row] = []
DEFINITIONS: list[Row] = []
"""Funcs, structs and constants above the kernel."""


def row(
    table: list[Row], name: str, weight: int, profiles: Sequence[str] = ALL
) -> Callable[[Value | Statement], Value | Statement]:
    """Enter the function in a table."""

    def enter(emit: Value | Statement) -> Value | Statement:
        table.append(Row(name, weight, tuple(profiles), emit))
        return emit

    return enter


def draw(w: Writer, table: Sequence[Row], *arguments: object) -> object:
    """What one row of the table emits, drawn by weight among those that fit.

    Raises:
        LookupError: none fits.
    """
    rows = [r for r in table if w.profile in r.profiles]
    while rows:
        drawn = w.random.choices(rows, [r.weight for r in rows])[0]
        text = drawn.emit(w, *arguments)  # type: ignore[arg-type]
        if text is not None:
            w.used.add(drawn.name)
            return text
        rows.remove(drawn)
    raise LookupError(f"No row fits {arguments}.")
