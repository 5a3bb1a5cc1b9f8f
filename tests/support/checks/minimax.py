"""The coefficients of `workbench/backends/cpu/maths/approximations.py`, computed again: Remez exchange in 60 digits.

Run it to print that file. Each polynomial has the least worst relative error on its interval (Remez, *Comptes Rendus*
198, 1934); its coefficients are then rounded to the type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
from mpmath import mpf

mpmath.mp.dps = 60

Real = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Wanted:
    """A polynomial to be found: `target` on [low, high], its error times `weight` levelled.

    Attributes:
        degrees: of the float32 and of the float64 polynomial.
        high: the interval's end for both, or for each.
    """

    target: Real
    weight: Real
    low: float
    high: tuple[float, float]
    degrees: tuple[int, int]


def _root(f: Callable[[mpf, mpf], mpf]) -> Real:
    """A function of the square of its argument, given the root too."""
    return lambda t: f(mpmath.sqrt(t), t)


def _series(first: mpf, f: Callable[[mpf, mpf], mpf]) -> Real:
    """As `_root`; near 0, where the formula cancels, its limit."""
    return lambda t: first if t < mpf(10) ** -24 else f(mpmath.sqrt(t), t)


QUARTER = 0.8  # π/4, and what a quotient that was rounded wrongly adds
TABLES = {
    "SIN": Wanted(_series(mpf(-1) / 6, lambda r, t: (mpmath.sin(r) - r) / (r * t)),
                  _series(mpf(0), lambda r, t: r * t / mpmath.sin(r)), 0, (QUARTER**2, QUARTER**2), (3, 6)),
    "COS": Wanted(_series(mpf(1) / 24, lambda r, t: (mpmath.cos(r) - 1 + t / 2) / (t * t)),
                  _root(lambda r, t: t * t / mpmath.cos(r)), 0, (QUARTER**2, QUARTER**2), (2, 6)),
    "EXP": Wanted(lambda r: mpf(1) / 2 if abs(r) < mpf(10) ** -24 else (mpmath.expm1(r) - r) / (r * r),
                  lambda r: mpf("0.12") / mpmath.exp(r), -0.348, (0.348, 0.348), (4, 10)),
    "LOG": Wanted(_series(mpf(2) / 5, lambda s, t: (2 * mpmath.atanh(s) - 2 * s - 2 * s * t / 3) / (s * t * t)),
                  lambda t: t * t, 0, (0.02945, 0.02945), (1, 7)),
    "TANH": Wanted(_series(mpf(-1) / 3, lambda x, t: (mpmath.tanh(x) - x) / (x * t)),
                   lambda t: t, 0, (0.25, 0.25), (4, 9)),
    "ERF": Wanted(_series(2 / mpmath.sqrt(mpmath.pi) - 1, lambda x, t: mpmath.erf(x) / x - 1),
                  _series(mpmath.sqrt(mpmath.pi) / 2, lambda x, t: x / mpmath.erf(x)), 0, (1.0, 1.0), (6, 12)),
    # Far out the weight falls to 10⁻¹⁷; held at 10⁻³, the coefficients stay tame.
    "ERFC": Wanted(lambda u: mpmath.log(mpmath.erfc(u + 1)),
                   lambda u: max(mpmath.erfc(u + 1), mpf("0.001")), 0, (3.0, 5.0), (8, 22)),
}  # fmt: skip


def minimax(wanted: Wanted, degree: int, low: float, high: float) -> list[mpf]:
    """The coefficients, lowest first."""
    low_, high_ = mpf(low), mpf(high)
    points = [(low_ + high_) / 2 - (high_ - low_) / 2 * mpmath.cos(mpmath.pi * k / (degree + 1))
              for k in range(degree + 2)]  # fmt: skip
    grid = [(low_ + high_) / 2 - (high_ - low_) / 2 * mpmath.cos(mpmath.pi * (k + mpf("0.5")) / 900)
            for k in range(900)]  # fmt: skip
    goals = [wanted.target(x) for x in grid]
    weights = [wanted.weight(x) for x in grid]
    answer: list[mpf] = []
    for _ in range(12):
        rows = [[x**n for n in range(degree + 1)] + [mpf(-1) ** k / max(wanted.weight(x), mpf(10) ** -30)]
                for k, x in enumerate(points)]  # fmt: skip
        solved = mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix([wanted.target(x) for x in points]))
        answer = [solved[n] for n in range(degree + 1)]
        errors = [(_value(answer, x) - goal) * weight for x, goal, weight in zip(grid, goals, weights, strict=True)]
        found = _peaks(grid, errors)
        if len(found) < degree + 2 or max(map(abs, errors)) < abs(solved[degree + 1]) * mpf("1.001"):
            break
        points = _choose(found, degree + 2)
    return answer


def _value(numbers: list[mpf], x: mpf) -> mpf:
    total = mpf(0)
    for c in reversed(numbers):
        total = total * x + c
    return total


def _peaks(grid: list[mpf], errors: list[mpf]) -> list[tuple[mpf, mpf]]:
    """The largest error between each two changes of sign."""
    found: list[tuple[mpf, mpf]] = []
    for x, error in zip(grid, errors, strict=True):
        if found and (found[-1][1] > 0) == (error > 0):
            if abs(error) > abs(found[-1][1]):
                found[-1] = (x, error)
        else:
            found.append((x, error))
    return found


def _choose(found: list[tuple[mpf, mpf]], count: int) -> list[mpf]:
    while len(found) > count:
        found = found[1:] if abs(found[0][1]) < abs(found[-1][1]) else found[:-1]
    return [x for x, _ in found]


def coefficients(name: str, bits: int) -> tuple[list[float], float]:
    """One table: rounded coefficients, lowest first, and the worst relative error that the polynomial adds."""
    wanted, which = TABLES[name], 0 if bits == 32 else 1
    high = wanted.high[which]
    kind = np.float32 if bits == 32 else np.float64
    rounded = [mpf(float(kind(float(c)))) for c in minimax(wanted, wanted.degrees[which], wanted.low, high)]
    points = [mpf(wanted.low) + (mpf(high) - mpf(wanted.low)) * k / 999 for k in range(1, 999)]
    worst = max(abs(_value(rounded, x) - wanted.target(x)) * abs(wanted.weight(x)) for x in points)
    return [float(c) for c in rounded], float(worst)


HEAD = '''"""Coefficients of the vectorised maths functions, lowest power first, by element width.

`tests/support/checks/minimax.py` makes them (least worst relative error, then rounded); a test compares. What each
stands for is said where it is used, in `approximations.py`.
"""

from __future__ import annotations

TABLES: dict[int, dict[str, tuple[float, ...]]] = {
'''


def text() -> str:
    """The file `workbench/backends/cpu/maths/approximations.py`."""
    rows = []
    for bits in (32, 64):
        rows.append(f"    {bits}: {{")
        for name in TABLES:
            numbers = "".join(f"            {c!r},\n" for c in coefficients(name, bits)[0])
            rows.append(f'        "{name}": (\n{numbers}        ),')
        rows.append("    },")
    return HEAD + "\n".join([*rows, "}\n"])


if __name__ == "__main__":
    print(text(), end="")
