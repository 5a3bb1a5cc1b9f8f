"""erfinv and erfcinv against mpmath, over their whole ranges."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.kernels.builtin_cases import distance
from workbench.builtins import TABLE
from workbench.builtins.declaration.meaning import apply
from workbench.types import SCALARS


@pytest.mark.parametrize(("name", "bound"), [("float32", 1), ("float64", 4)])
def test_erfinv_is_the_inverse_of_erf(name: str, bound: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    scalar = SCALARS[name]
    near = 1 - 2.0 ** -np.arange(2, 24 if name == "float32" else 53)
    x = np.concatenate([np.linspace(-0.999, 0.999, 201), near, -near, 10.0 ** -np.arange(1, 37)]).astype(scalar.numpy)
    with np.errstate(all="ignore"), mpmath.workprec(200):
        got = np.array([apply(TABLE["erfinv"], [v], scalar) for v in x])
        want = np.array([float(mpmath.erfinv(mpmath.mpf(float(v)))) for v in x]).astype(scalar.numpy)
    assert distance(got, want).max() <= bound


def test_erfinv_at_its_ends() -> None:
    values = [float(TABLE["erfinv"](np.float64(v))) for v in (1.0, -1.0, 0.0, 1.5, np.nan)]
    assert values[:3] == [np.inf, -np.inf, 0.0] and np.isnan(values[3:]).all()


@pytest.mark.parametrize(("name", "bound"), [("float32", 1), ("float64", 8)])
def test_erfcinv_keeps_its_digits_near_0(name: str, bound: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    scalar = SCALARS[name]
    x = np.concatenate([np.linspace(0.01, 1.99, 101), 10.0 ** -np.arange(1.0, 37.0)]).astype(scalar.numpy)
    with np.errstate(all="ignore"), mpmath.workprec(400):
        got = np.array([apply(TABLE["erfcinv"], [v], scalar) for v in x])
        want = [float(mpmath.erfinv(1 - mpmath.mpf(float(v)))) for v in x]
    assert distance(got, np.array(want).astype(scalar.numpy)).max() <= bound
    ends = [float(TABLE["erfcinv"](np.float64(v))) for v in (0.0, 2.0, 1.0, 2.5, np.nan)]
    assert ends[:3] == [np.inf, -np.inf, 0.0] and np.isnan(ends[3:]).all()
