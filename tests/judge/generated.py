"""Programs of the generator, as the judge takes them."""

from __future__ import annotations

from functools import cache

from tests.judge.generator import Draft, data, draft
from tests.judge.program import Argument, Array, Program, Scalar


@cache
def _draft(seed: int, profile: str) -> Draft:
    return draft(seed, profile)


def generated(seed: int, n: int, profile: str = "") -> Program:
    """The program of a seed, for n threads along the first dimension."""
    drawn = _draft(seed, profile)
    values = data.arrays(drawn, n, seed)
    arguments: dict[str, Argument] = {
        name: Array(values[name], a.kind.name, output=a.role in ("own", "sum")) for name, a in drawn.arrays.items()
    }
    arguments |= {name: Scalar(v, f"wb.{drawn.scalars[name]}") for name, v in data.scalars(drawn, seed).items()}
    return Program(
        f"generated {seed}, {n} threads", drawn.text, data.sizes(drawn.dim, n), arguments,
        smooth=drawn.profile == "smooth", seed=seed,
    )  # fmt: skip
