"""The same kernels in forward mode: the derivative along a direction is the one that reverse mode gives.

Second order: the tangent of the adjoint, along two directions, is a symmetric form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.autodiff.test_tangents import adjoint_arguments, ran
from tests.catalogue.test_catalogue import RIGHT, THREADS, _arguments, _function
from tests.support.checks.numeric import gradients
from workbench.autodiff import tangent
from workbench.ir.values import Function
from workbench.types import ArrayType, is_float

FLOATS = ("x", "y", "w", "p", "a")


def moved(function: Function, args: list[Any], along: list[Any]) -> list[np.ndarray]:
    """The tangents of float arrays after a run, in order."""
    after = ran(tangent(function), THREADS, [*args, *along])[len(args) :]
    floats = [p for p in function.params if is_float(p.type)]
    return [t for p, t in zip(floats, after, strict=True) if isinstance(p.type, ArrayType)]


def directions(random: np.random.Generator, given: dict[str, Any]) -> dict[str, Any]:
    return {k: random.uniform(-1, 1, np.shape(given[k]) or None) for k in FLOATS}


EACH = [n if k % 4 == 0 else pytest.param(n, marks=pytest.mark.slow) for k, n in enumerate(RIGHT)]


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", EACH)
def test_forward_meets_reverse(name: str) -> None:
    function, given, random = _function(*RIGHT[name]), _arguments(), np.random.default_rng(len(name))
    seeds = {k: random.uniform(0.5, 1.5, given[k].shape) for k in FLOATS[:-1]}
    along = directions(random, given)
    found = gradients(function, THREADS, list(given.values()), seeds)
    order = [p.name for p in function.params if is_float(p.type)]
    pushed = moved(function, list(given.values()), [along[k] for k in order])
    forward = sum(float(np.sum(seeds[k] * t)) for k, t in zip((k for k in order if k != "a"), pushed, strict=True))
    assert forward == pytest.approx(float(sum(np.sum(found[k] * along[k]) for k in order)), rel=1e-9, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_second_derivatives_are_symmetric(name: str) -> None:
    function, given, random = _function(*RIGHT[name]), _arguments(), np.random.default_rng(len(name))
    reverse, args = adjoint_arguments(function, THREADS, list(given.values()))
    order = [p.name for p in function.params if is_float(p.type)]
    arrays = [k for k in order if k != "a"]
    both = [directions(random, given) for _ in range(2)]
    for d in both:
        d["a"] = 0.0  # its row is summed by all threads; the arrays' rows suffice
    rows = []
    for d in both:
        blank = [np.zeros_like(v) for v in args[len(given) :]]
        tangents = moved(reverse, args, [*(d[k] for k in order), *blank])[len(arrays) :]
        rows.append(dict(zip(order, tangents, strict=True)))
    one, two = (sum(float(np.sum(rows[k][n] * both[1 - k][n])) for n in arrays) for k in (0, 1))
    scale = max(1.0, *(float(np.max(np.abs(rows[0][n]))) for n in arrays))
    assert one == pytest.approx(two, rel=1e-8, abs=1e-8 * scale)
