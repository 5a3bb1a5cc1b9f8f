"""A program on a path, held against the oracle."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np

import workbench as wb
from tests.judge import oracle
from tests.judge.oracle.launches import TooLong
from tests.judge.paths import PATHS, NotApplicable, Values
from tests.judge.program import Program

ROUNDING = {2: 2e-2, 4: 3e-5, 8: 1e-9}
"""How far a gradient may be off, as a share of what is added up in it, by bytes of its type."""
REMEMBERED = 64


@dataclass(frozen=True)
class Verdict:
    """What a path did with a program.

    Attributes:
        said: "right", "wrong", "refused", "not applicable" (the path does not run such programs), "not judged" (the
            oracle does not know) or "broken" (an error that is no refusal).
        detail: the first wrong element with both values, or the message.
        judged: how many numbers were compared.
        left_out: how many were not: races, inexact integers, threads that go another way in float64.
        raced: of those left out, how many depend on the order of threads.
        threads: of a gradient, the threads of the launch.
        diverged: of those, how many go another way in float64.
    """

    said: str
    detail: str = ""
    judged: int = 0
    left_out: int = 0
    raced: int = 0
    threads: int = 0
    diverged: int = 0

    @property
    def bad(self) -> bool:
        """Whether it is a fault of the product."""
        return self.said in ("wrong", "broken")


_ANSWERS: OrderedDict[tuple[int, str], tuple[Program, Any]] = OrderedDict()
ORACLES = {"values": oracle.run, "gradient": oracle.gradient, "tangent": oracle.tangent}
"""What the oracle says of a program, by what a path returns."""


def answer(program: Program, path: str) -> Any:
    """The oracle's answer for a path; an exception if it has none."""
    kind = PATHS[path].returns
    if kind != "values" and not (program.smooth and program.inputs and program.cotangents()):
        return NotApplicable("nothing to differentiate")
    try:
        return ORACLES[kind](program)
    except (oracle.Unsupported, TooLong) as problem:
        return problem


def _right(program: Program, path: str) -> Any:
    """The oracle's answer, kept for the next paths of the same program."""
    key = (id(program), PATHS[path].returns)
    if key not in _ANSWERS:
        _ANSWERS[key] = (program, answer(program, path))
        while len(_ANSWERS) > REMEMBERED:
            _ANSWERS.popitem(last=False)
    return _ANSWERS[key][1]


def judge(program: Program, path: str) -> Verdict:
    """Run a program on a path, and compare."""
    return against(program, path, _right(program, path))


def against(program: Program, path: str, right: Any) -> Verdict:
    """Run a program on a path, and compare with the oracle's answer."""
    way = PATHS[path]
    derivative = way.returns != "values"
    if isinstance(right, NotApplicable):
        return Verdict("not applicable", str(right))
    if isinstance(right, Exception):
        return Verdict("not judged", f"{type(right).__name__}: {right}")
    if not derivative and right.fault and not way.checks:
        return Verdict("not judged", "undefined without checks")
    try:
        values = way.run(program)
    except NotApplicable as problem:
        return Verdict("not applicable", str(problem))
    except wb.KernelFault as fault:
        faulty = derivative or right.fault or (way.checks and right.suspect)
        return Verdict("right" if faulty else "wrong", f"a fault: {fault}", 1)
    except wb.BuildError as problem:
        return Verdict("broken", f"a compiler refused our text: {problem}")
    except wb.WorkbenchError as problem:
        return Verdict("refused", str(problem))
    except Exception as problem:
        return Verdict("broken", f"{type(problem).__name__}: {problem}")
    if derivative:
        return _derivatives(program, right, values)
    if right.fault:
        return Verdict("wrong", f"no fault was reported; the kernel has one: {right.fault}", 1)
    return _values(program, right, values)


def _columns(values: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The fields of structured elements, and plain elements as they are."""
    if values.dtype.names:
        return [c for name in values.dtype.names for c in _columns(values[name])]
    return [values]


def _numbers(values: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """All numbers, element by element: integers, or floats as Python's."""
    count = math.prod(shape)
    if not values.size:
        return np.zeros(0, object)
    columns = [c.reshape(count, -1) for c in _columns(values.reshape(shape) if values.dtype.names else values)]
    known = [(c if c.dtype.kind in "biu" else c.astype(np.float64)).astype(object) for c in columns]
    return np.concatenate(known, 1).reshape(-1)


def _values(program: Program, right: oracle.Outcome, values: Values) -> Verdict:
    said, detail = "right", ""
    for name in program.outputs:
        cells, bounds, judged = right.cells[name], right.bounds[name], right.judged[name]
        mine = _numbers(np.asarray(values[name]), program.arrays[name].values.shape)
        if len(mine) != len(cells):
            return Verdict("wrong", f"{name} has {len(mine)} numbers, not {len(cells)}")
        wrong = next((k for k in np.flatnonzero(judged) if not _agree(cells[k], mine[k], bounds[k])), None)
        if wrong is not None and said == "right":
            bound = f" within {bounds[wrong]:.3g}" if bounds[wrong] else ""
            said, detail = "wrong", f"{name}, number {wrong}: {mine[wrong]!r}; right is {cells[wrong]!r}{bound}"
    every = np.concatenate([right.judged[name] for name in program.outputs] or [np.zeros(0, bool)])
    return Verdict(said, detail, int(every.sum()), int((~every).sum()), raced=right.raced)


def _agree(right: Any, mine: Any, bound: float) -> bool:
    if isinstance(right, (bool, int)):
        return int(right) == int(mine)
    a, b = float(right), float(mine)
    if a != a or b != b:
        return a != a and b != b
    if bound:
        return abs(a - b) <= bound
    return a == b and np.signbit(a) == np.signbit(b)


def _derivatives(program: Program, right: oracle.Gradient, values: Values) -> Verdict:
    said, detail, total, out = "right", "", 0, 0
    share = ROUNDING[_narrowest(program)]
    for name in right.values:
        mine = np.asarray(values[name], np.float64).reshape(-1)
        exact, scale = right.values[name], right.scales[name]
        judged = right.judged[name] & np.isfinite(exact) & np.isfinite(scale)
        total += int(judged.sum())
        out += int((~judged).sum())
        bound = share * scale + 1e-30
        wrong = np.flatnonzero(judged & ~(np.abs(mine - exact) <= bound))
        if wrong.size and said == "right":
            k = int(wrong[0])
            said, detail = (
                "wrong",
                f"derivative {name}, number {k}: {mine[k]!r}; right is {exact[k]!r} within {bound[k]:.3g}",
            )
    return Verdict(said, detail, total, out, threads=right.threads, diverged=right.left_out)


def _narrowest(program: Program) -> int:
    """The bytes of the narrowest float that the program's text or arguments name."""
    if re.search(r"float16|\b(vec|mat|quat|transform)\d*h\b", program.text):
        return 2
    wide = re.sub(r"float64|\b(vec|mat|quat|transform)\d*d\b|struct", "", program.text)
    return 4 if re.search(r"float|\b(vec|mat|quat|transform)\d*\b|randf", wide) else 8
