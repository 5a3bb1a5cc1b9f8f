"""What a mutant is run against: the judge's programs on some of its paths, each with the oracle's answer.

An answer is the oracle's, computed once; the unchanged product says only which paths run a program at all.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.judge.program import Program

SEEDS = 24
"""Programs of the generator."""
SMOOTH = 12
"""More of it, whose derivatives are taken."""
SIZES = (37, 5)


class Wrong(Exception):
    """A result that is not the oracle's."""


class Refused(Exception):
    """A program that is not run any more."""


@dataclass
class Case:
    """A program on a path, and the oracle's answer.

    Attributes:
        refused: whether the unchanged tree refuses the program there; then a right result is as good.
    """

    program: Program
    path: str
    answer: Any = None
    refused: bool = False

    def run(self) -> None:
        """Raise what is wrong with the result.

        Raises:
            Wrong: it is another than the oracle's.
            Refused: the program is refused.
        """
        from tests.judge.verdicts import against

        verdict = against(self.program, self.path, self.answer)
        if verdict.said == "wrong":
            raise Wrong(f"{self.path}: {verdict.detail}")
        if verdict.said == "refused" and self.refused:
            return
        if verdict.said == "refused":
            raise Refused(f"{self.path}: {verdict.detail}")
        if verdict.said != "right":
            raise RuntimeError(f"{self.path}: {verdict.said}, {verdict.detail}")


@dataclass
class Item:
    """Cases that a mutant runs together.

    Attributes:
        cost: the processor time of a run on the unchanged tree, traced.
    """

    name: str
    cases: list[Case]
    cost: float = field(default=0.0)

    def run(self) -> None:
        """Raise what is wrong with a case."""
        for case in self.cases:
            case.run()

    def learned(self, lines: Any) -> Item:
        """The same with the oracle's answers, without the cases that the oracle or the path does not know.

        Args:
            lines: entered while the product runs.
        """
        from tests.judge.verdicts import answer

        known: list[Case] = []
        cost = 0.0
        for case in self.cases:
            right = answer(case.program, case.path)
            begun = time.process_time()
            learned = replace(case, answer=right)
            refused = None if isinstance(right, Exception) else _refused(learned, lines)
            if refused is not None:
                known.append(replace(learned, refused=refused))
                cost += time.process_time() - begun
        return Item(self.name, known, cost)


def _refused(case: Case, lines: Any) -> bool | None:
    """Whether the unchanged tree refuses the case; None if the path does not run such programs."""
    try:
        with lines:
            case.run()
    except Refused:
        return True
    except RuntimeError as problem:
        if "not applicable" in str(problem) or "not judged" in str(problem):
            return None
        raise
    return False


OTHERS = ("cpu, checks", "cpu, strided", "cpu, in parts")
DERIVATIVES = (("tape",), ("tape",), ("tape", "tangent"))
JAX = ("jax, vmap of grad", "jax, jvp")
SHARE = 4
"""One of so many programs of the catalogue."""


def items() -> list[Item]:
    """All items, without answers."""
    return [*_collection(), *_drafts()]


def _collection() -> Iterator[Item]:
    """The programs that are written by hand, in the larger of their sizes."""
    from tests.judge.programs import CATALOGUE, PROGRAMS

    some = {p.name for p in CATALOGUE} - {p.name for p in CATALOGUE[::SHARE]}
    programs = [p for name, p in PROGRAMS.items() if name not in some and not name.endswith(", 37 threads")]
    for k, p in enumerate(programs):
        yield Item(p.name, _cases(p, ("cpu", *(DERIVATIVES[k % 3] if p.smooth else OTHERS[k % 3 : k % 3 + 1]))))
        if not p.smooth and OTHERS[k % 3] != "cpu, checks":  # the only path that judges a fault
            yield Item(f"{p.name}: checks", _cases(p, ("cpu, checks",)))
        if p.smooth and k % 15 == 0:
            yield Item(f"{p.name}: jax", _cases(p, JAX))


def _drafts() -> Iterator[Item]:
    """The generator's."""
    from tests.judge.generated import generated

    for seed in range(SEEDS):
        large, small = (generated(seed, n) for n in SIZES)
        yield Item(f"generated {seed}", [*_cases(large, ("cpu", OTHERS[seed % 3])), *_cases(small, ("cpu",))])
    for seed in range(5000, 5000 + SMOOTH):
        yield Item(f"generated {seed}", _cases(generated(seed, SIZES[0], "smooth"), ("cpu", *DERIVATIVES[seed % 3])))


def _cases(program: Program, paths: Sequence[str]) -> list[Case]:
    return [Case(program, path) for path in paths]


def saved(path: Path) -> list[Item]:
    """Items from a file."""
    return pickle.loads(path.read_bytes())
