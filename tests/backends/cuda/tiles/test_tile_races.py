"""Kernels of tiles with a system thread for each CUDA thread, under ThreadSanitizer; a barrier taken away is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hostshim import unit
from tile_flows import FLOWS
from tile_kernels import Case

from workbench.backends.base import Options
from workbench.backends.cuda.host.program import Unit
from workbench.backends.cuda.host.run import run_apart
from workbench.backends.python.interpret import run as interpret
from workbench.errors import KernelFault

pytestmark = pytest.mark.slow
BARRIER = "__syncthreads();"


def arguments(case: Case, arrays: list[Any]) -> list[Any]:
    """The launch's size, and each array with its shape and strides."""
    rows = [(a, np.array([*a.shape, *a.strides], np.int64).tobytes()) for a in arrays]
    return [np.array([case.blocks, 1, 1, 1], np.int64).tobytes(), *rows]


def run(case: Case, text: Unit, arrays: list[Any]) -> None:
    entry = text.entries[0]
    grid, block = (case.blocks,), (case.function.block_dim,)
    run_apart(text.text, entry.name, entry.types, arguments(case, arrays), grid, block)


@pytest.mark.parametrize("name", ["gemm", "gemm_half", "softmax", "effects", "halving", "turning_shared"])
def test_no_race_under_real_threads(name: str) -> None:
    case = FLOWS[name]
    want, got = ([a.copy() for a in case.arguments] for _ in range(2))
    interpret(case.function, case.blocks, want)
    run(case, unit(case.function, Options()), got)
    for w, g in zip(want, got, strict=True):
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize(("name", "number"), [("gemm", 0), ("gemm", 1), ("halving", 0), ("softmax", 1)])
def test_a_barrier_taken_away_is_a_race(name: str, number: int) -> None:
    case = FLOWS[name]
    whole = unit(case.function, Options())
    parts = whole.text.split(BARRIER)
    text = BARRIER.join(parts[: number + 1]) + BARRIER.join(parts[number + 1 :])
    with pytest.raises(KernelFault, match="data race"):
        run(case, Unit(text, whole.entries), [a.copy() for a in case.arguments])
