"""Counts of an answer against those of a puzzle's solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import workbench as wb

ENOUGH = 1.1
"""Times the solution's count that an answer may have."""


@dataclass(frozen=True)
class Count:
    """Represents a count that answers are graded by: how to read it from a profile, and its name in sentences."""

    of: Callable[[wb.Profile], int]
    words: str


COUNTS = {
    "sectors": Count(lambda p: p.total.global_sectors, "sectors"),
    "wavefronts": Count(lambda p: p.total.shared_wavefronts, "passes over shared memory"),
    "atomics": Count(lambda p: p.total.atomics, "atomic operations"),
    "hottest": Count(lambda p: p.hottest, "atomic operations on one element"),
    "instructions": Count(lambda p: p.total.instructions, "instructions"),
    "barriers": Count(lambda p: p.total.barriers, "waits at barriers"),
    "lanes": Count(lambda p: 32 * p.total.instructions - p.total.threads, "idle lanes"),
}


def graded(mine: wb.Profile, solution: wb.Profile, goals: Sequence[str]) -> tuple[bool, str]:
    """Return whether an answer's counts are at most `ENOUGH` times the solution's, and a sentence on that.

    If they are not, the sentence is on the count that is the furthest off.

    Args:
        mine: the profile of the answer.
        solution: that of the solution, of the same launch.
        goals: names of counts.
    """
    sentences: list[tuple[float, str]] = []
    for goal in goals:
        count = COUNTS[goal]
        had, best = count.of(mine), count.of(solution)
        if best:
            ratio = had / best
            sentences.append(
                (ratio, f"{ratio:.1f}× the {count.words} needed ({had:,} for {best:,}). Can you get to 1×?")
            )
        elif had:
            sentences.append((float("inf"), f"{had:,} {count.words}, where none is needed. Can you do without?"))
    worst, sentence = max(sentences, default=(1.0, ""))
    if worst > ENOUGH:
        return False, sentence
    *words, last = (COUNTS[goal].words for goal in goals)
    return True, f"no more {', '.join(words)}{' or ' * bool(words)}{last} than needed."
