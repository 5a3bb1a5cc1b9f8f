"""Kernels with known traps: each gradient is right, but for a few that are refused, and those are listed.

The derivative along random directions through all inputs is compared with a difference quotient in float64
(Richardson's, of two steps that must agree).
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from tests.catalogue.calls import CALLS, HEAD
from tests.catalogue.decompositions import DECOMPOSITIONS
from tests.catalogue.loops import LOOPS
from tests.catalogue.memory import MEMORY, REFUSED
from tests.catalogue.states import STATES
from tests.support.checks.meaning import define
from tests.support.checks.numeric import gradients
from workbench.autodiff import adjoint
from workbench.backends.python.interpret import run
from workbench.errors import NotDifferentiable
from workbench.ir.values import Function

RIGHT: dict[str, tuple[str, str]] = {
    **{f"loops: {name}": ("", body) for name, body in LOOPS.items()},
    **{f"states: {name}": ("", body) for name, body in STATES.items()},
    **{f"memory: {name}": ("", body) for name, body in MEMORY.items()},
    **{f"calls: {name}": text for name, text in CALLS.items()},
}
HERE = RIGHT | {f"decompositions: {name}": ("", body) for name, body in DECOMPOSITIONS.items()}
"""Those of this file; other backends and JAX leave the decompositions out: long to compile, and no NumPy names."""
THREADS = 3


def _function(funcs: str, body: str) -> Function:
    return define(f"{funcs}{HEAD}{textwrap.indent(body, '    ')}\n")["k"].specialise().function


def _arguments() -> dict[str, Any]:
    random = np.random.default_rng(5)
    return {
        "x": np.array([0.83, 1.21, 0.57, 1.09, 0.71, 1.33]),
        "y": random.uniform(0.4, 1.4, 6),
        "w": random.uniform(0.4, 1.4, (3, 8)),
        "p": random.uniform(-0.8, 0.9, (4, 3)),
        "at": np.array([2, 0, 1], np.int32),
        "count": np.zeros(2, np.int32),
        "a": 0.7,
        "n": 6,
    }


def _moved(given: dict[str, Any], directions: dict[str, Any], step: float) -> list[Any]:
    return [np.array(v) + step * directions[k] if k in directions else np.array(v)[()] for k, v in given.items()]


def _slope(function: Function, given: dict[str, Any], directions: dict[str, Any], seeds: dict[str, Any]) -> float:
    """The difference quotient along the directions."""

    def objective(step: float) -> float:
        values = [v if isinstance(v, np.ndarray) else v.item() for v in _moved(given, directions, step)]
        values = [v.copy() if isinstance(v, np.ndarray) and v.ndim else v for v in values]
        values = [float(v) if isinstance(v, np.ndarray) and not v.ndim else v for v in values]
        run(function, THREADS, values)
        return float(sum(np.sum(seeds[k] * v) for k, v in zip(given, values, strict=True) if k in seeds))

    coarse, fine = ((objective(h) - objective(-h)) / (2 * h) for h in (2e-4, 1e-4))
    assert abs(coarse - fine) <= 1e-5 * max(1.0, abs(fine)), f"the program jumps here: {coarse}, {fine}"
    return (4 * fine - coarse) / 3


@pytest.mark.sample(40)
@pytest.mark.parametrize("name", HERE)
def test_right(name: str) -> None:
    function = _function(*HERE[name])
    given = _arguments()
    random = np.random.default_rng(len(name))
    floats = {k: v for k, v in given.items() if k in ("x", "y", "w", "p")}
    seeds = {k: random.uniform(0.5, 1.5, v.shape) for k, v in floats.items()}
    found = gradients(function, THREADS, list(given.values()), seeds)
    directions = {k: random.uniform(-1, 1, v.shape) for k, v in floats.items()} | {"a": random.uniform(-1, 1)}
    expected = _slope(function, given, directions, seeds)
    got = float(sum(np.sum(found[k] * d) for k, d in directions.items()))
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    body, message = REFUSED[name]
    with pytest.raises(NotDifferentiable, match=message) as caught:
        adjoint(_function("", body))
    assert caught.value.location is not None


def test_enough_of_them_and_few_refused() -> None:
    assert len(RIGHT) + len(REFUSED) >= 120 and len(REFUSED) <= 5
