"""JAX's arrays never change: an array of Workbench made of one is a copy."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")


def test_an_array_of_jaxs_numbers_is_a_copy() -> None:
    given = jax.numpy.ones(5)
    x = wb.array(given)
    x.fill_(3.0)
    assert np.asarray(given).tolist() == [1] * 5
    with pytest.raises(wb.LaunchError, match="read-only"):
        wb.array(given, copy=False)
    with pytest.raises(wb.LaunchError, match="read-only"):
        wb.from_numpy(np.asarray(given))
