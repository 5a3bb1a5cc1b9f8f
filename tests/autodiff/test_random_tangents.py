"""Programs made by chance: forward and reverse mode are two ways to one number, and so are two ways to the next one.

⟨ct, J t⟩ = ⟨Jᵀ ct, t⟩ for random ct and t: no difference quotients, so jumps and kinks of a program are no matter.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.autodiff.test_random_programs import SIGNATURE, SIZE, programs
from tests.autodiff.test_tangents import adjoint_arguments, ran
from tests.support.checks.numeric import gradients, kernel
from workbench.autodiff import tangent
from workbench.errors import NotDifferentiable
from workbench.ir.values import Function
from workbench.types import ArrayType, is_float

NAMES = "xyzwv"


def pushed(function: Function, args: list[Any], along: list[Any]) -> list[np.ndarray]:
    """The tangents of the float arrays after a run, in order."""
    after = ran(tangent(function), SIZE, [*args, *along])[len(args) :]
    floats = [p for p in function.params if is_float(p.type)]
    return [t for p, t in zip(floats, after, strict=True) if isinstance(p.type, ArrayType)]


def verdict(body: str) -> str:
    text = "def k(x, y, z, w, v, a, n):\n    i = tid()\n" + textwrap.indent(body, "    ")
    function = kernel(text, SIGNATURE)
    random = np.random.default_rng(len(body))
    args = [*(random.uniform(0.2, 1.2, SIZE) for _ in NAMES), 0.9, 4]
    seeds = {name: random.uniform(-1.0, 1.0, SIZE) for name in NAMES}
    along = [*(random.uniform(-1.0, 1.0, SIZE) for _ in NAMES), 0.6]
    try:
        moved = pushed(function, args, along)
        found = gradients(function, SIZE, args, seeds)
    except NotDifferentiable:
        return "refused"
    forward = sum(float(np.sum(seeds[n] * t)) for n, t in zip(NAMES, moved, strict=True))
    parts = [float(np.sum(found[n] * t)) for n, t in zip((*NAMES, "a"), along, strict=True)]
    if not np.isfinite([forward, *parts]).all():
        return "no number"
    scale = max(1.0, *(abs(p) for p in parts))
    assert abs(forward - sum(parts)) <= 1e-9 * scale, f"forward {forward}, reverse {sum(parts)}\n{text}"
    return second(function, args, random) if len(text) < 900 else "first order"


def second(function: Function, args: list[Any], random: np.random.Generator) -> str:
    """The Hessian of a weighted sum of the outputs is symmetric: tangents of the adjoint along two directions."""
    reverse, given = adjoint_arguments(function, SIZE, args)
    count = len(function.params)
    rows = []
    directions = [[*(random.uniform(-1.0, 1.0, SIZE) for _ in NAMES), float(random.uniform())] for _ in range(2)]
    for along in directions:
        blank = [np.zeros_like(a) for a in given[count:]]
        rows.append(pushed(reverse, given, [*along, *blank])[len(NAMES) :])
    one = sum(float(np.sum(h * d)) for h, d in zip(rows[0], directions[1], strict=True))
    two = sum(float(np.sum(h * d)) for h, d in zip(rows[1], directions[0], strict=True))
    if not np.isfinite([one, two]).all():
        return "no number"
    scale = max(1.0, *(float(np.max(np.abs(h))) for row in rows for h in row))
    assert abs(one - two) <= 1e-8 * scale, f"H is not symmetric: {one}, {two}"
    return "second order"


def verdicts(examples: int) -> Counter[str]:
    counts: Counter[str] = Counter()

    @settings(
        max_examples=examples, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow],
        phases=[Phase.explicit, Phase.generate],
    )  # fmt: skip
    @given(programs())
    def each(body: str) -> None:
        counts[verdict(body)] += 1

    each()
    return counts


@pytest.mark.slow
def test_forward_meets_reverse() -> None:
    counts = verdicts(30)
    assert counts["second order"] + counts["first order"] > 8, counts


@pytest.mark.slow
def test_forward_meets_reverse_at_length() -> None:
    counts = verdicts(400)
    assert counts["second order"] > 60, counts
