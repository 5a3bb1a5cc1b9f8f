"""Races that `checks("races")` finds in launches on the CPU, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.slow
N = 100


@wb.kernel
def last_one(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[0] = x[i]


@wb.kernel
def running(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i + 1] = y[i] + x[i]


@wb.kernel
def summed(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[0] += x[i]


@wb.kernel
def doubled(x: wb.array[float], by: float, y: wb.array[float]):
    i = wb.tid()
    y[i] = by * x[i]


@pytest.fixture
def arrays(need: Any) -> tuple[wb.array, wb.array]:
    need("nvrtc")
    return wb.array(np.arange(N, dtype=np.float32), device="cpu"), wb.zeros(N + 1, device="cpu")


@pytest.mark.parametrize("kernel", [last_one, running])
def test_a_race_is_found_and_nothing_has_run(kernel: Any, arrays: tuple[wb.array, wb.array]) -> None:
    x, y = arrays
    with pytest.raises(wb.KernelFault, match="nothing orders the two") as caught, wb.checks("races"):
        wb.launch(kernel, N, [x, y])
    assert caught.value.kind == "race" and not y.numpy().any()
    with wb.checks():
        wb.launch(kernel, N, [x, y])
    assert y.numpy().any(), "which checks of bounds let through"


def test_launches_without_a_race_run_once(arrays: tuple[wb.array, wb.array]) -> None:
    x, y = arrays
    with wb.checks("races"):
        wb.launch(summed, N, [x, y])
        assert y.numpy()[0] == N * (N - 1) / 2
        with wb.record() as rec:
            wb.launch(doubled, N, [x, 3.0, y])
    np.testing.assert_array_equal(y.numpy()[:N], 3.0 * x.numpy())
    assert len(rec) == 1, "the trial is not in it"


def test_other_words_are_refused() -> None:
    with pytest.raises(wb.LaunchError, match="checks is True, False or 'races', not 'race'"), wb.checks("race"):  # pyright: ignore[reportArgumentType]
        pass
    x = wb.zeros(1)
    with pytest.raises(wb.LaunchError, match=r'with wb\.checks\("races"\)'):
        wb.launch(doubled, 1, [x, 1.0, x], checks="races")  # pyright: ignore[reportArgumentType]
