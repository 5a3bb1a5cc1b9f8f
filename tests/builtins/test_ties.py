"""Gradients where two sides meet: those of JAX, run through JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.builtins.test_adjoints import rule_results
from workbench.builtins import TABLE
from workbench.types import float64

NAN, INF = float("nan"), float("inf")
PAIRS = [(1.0, 1.0), (0.0, -0.0), (1.0, 2.0), (2.0, 1.0), (INF, INF), (-INF, INF)]
SINGLE = [0.0, -0.0, 2.0, -2.0]
TRIPLES = [(1.0, 1.0, 3.0), (3.0, 1.0, 3.0), (2.0, 2.0, 2.0), (0.0, 1.0, 3.0), (4.0, 1.0, 3.0), (1.0, 3.0, 1.0)]


def ours(name: str, points: list[tuple[float, ...]]) -> np.ndarray:
    columns = len(TABLE[name].params)
    rows = [tuple(np.float64(v) for v in p) for p in points]
    return np.array(rule_results(TABLE[name], [float64] * columns, rows, [1.0] * len(rows))).T


def theirs(function: Callable[..., Any], points: list[tuple[float, ...]]) -> np.ndarray:
    jax = pytest.importorskip("jax")
    argnums = tuple(range(len(points[0])))
    return np.array([[float(g) for g in jax.grad(function, argnums)(*p)] for p in points])


@pytest.mark.parametrize(("name", "peer"), [("min", "minimum"), ("max", "maximum")])
def test_min_and_max_share_the_gradient_at_a_tie(name: str, peer: str) -> None:
    jnp = pytest.importorskip("jax.numpy")
    assert np.array_equal(ours(name, PAIRS), theirs(getattr(jnp, peer), PAIRS))
    assert ours(name, PAIRS)[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("name", "peer"), [("abs", "abs"), ("sign", "sign")])
def test_abs_and_sign_at_zero(name: str, peer: str) -> None:
    jnp = pytest.importorskip("jax.numpy")
    points = [(x,) for x in SINGLE]
    assert np.array_equal(ours(name, points), theirs(getattr(jnp, peer), points))
    assert ours(name, points)[0, 0] == (1 if name == "abs" else 0)


def test_clamp_is_min_of_max_at_its_ties() -> None:
    jnp = pytest.importorskip("jax.numpy")
    peer = theirs(lambda x, low, high: jnp.minimum(jnp.maximum(low, x), high), TRIPLES)
    assert np.array_equal(ours("clamp", TRIPLES), peer)


@pytest.mark.parametrize("name", ["min", "max"])
def test_nan_wins_on_either_side(name: str) -> None:
    for dtype in (np.float32, np.float64):
        one, nan = dtype(1), dtype(NAN)
        assert np.isnan(TABLE[name](one, nan)) and np.isnan(TABLE[name](nan, one))
        assert type(TABLE[name](one, nan)) is dtype


def test_sign_keeps_zero_and_nan() -> None:
    sign = TABLE["sign"]
    assert np.signbit(sign(np.float32(-0.0))) and sign(np.float32(-0.0)) == 0
    assert np.isnan(sign(np.float64(NAN)))
    assert sign(np.uint8(200)) == 1 and sign(np.int8(-128)) == -1
