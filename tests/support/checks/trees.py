"""Comparing what JAX returns: arrays, or trees of them."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


def assert_trees_close(got: Any, expected: Any, rtol: float = 1e-7, atol: float = 0.0) -> None:
    """Each leaf of `got` is within atol + rtol·|expected| of its counterpart, as float64."""
    jax.tree.map(
        lambda g, e: np.testing.assert_allclose(
            np.asarray(g, np.float64), np.asarray(e, np.float64), rtol=rtol, atol=atol
        ),
        got,
        expected,
    )
