"""erfinv against mpmath, over its whole range."""

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
