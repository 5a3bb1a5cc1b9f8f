"""Indices beside a thread's own are computed in 64 bits, where they cannot come around."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.ir.values import Function, array_of, walk
from workbench.passes.loops.beside import beside
from workbench.types import int64

FLOATS = wb.array(dtype=wb.float32)
IMAGE = wb.array(dtype=wb.float32, ndim=2)


@wb.kernel
def near(x: IMAGE, y: IMAGE):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(3):
        s += x[i, j + k + 1]
    y[i, j] = s + x[i, j]


@wb.kernel
def elsewhere(x: IMAGE, at: wb.array(dtype=int), y: IMAGE):
    i, j = wb.tid()
    y[i, at[j]] = x[j, i] + x[i, 2 * j]


def last_indices(function: Function) -> dict[str, list[bool]]:
    """Whether the last index of each access is one of 64 bits, by array."""
    found: dict[str, list[bool]] = {}
    for op in walk(function.body):
        if op.name in ("load", "store"):
            array = op.operands[0]
            found.setdefault(array.name, []).append(op.operands[array_of(array).ndim].type == int64)
    return found


def test_neighbours_are_seen_in_64_bits() -> None:
    before = near.specialise().function
    assert last_indices(before) == {"x": [False, False], "y": [False]}
    assert last_indices(beside(before)) == {"x": [True, True], "y": [True]}


def test_other_indices_stay() -> None:
    function = elsewhere.specialise().function
    assert last_indices(beside(function)) == {"x": [False, False], "at": [True], "y": [False]}


def added(kernel: wb.Kernel, name: str) -> bool:
    return last_indices(beside(kernel.specialise().function))[name][0]


def test_what_could_come_around_stays() -> None:
    @wb.kernel
    def far(x: FLOATS, y: FLOATS):
        i = wb.tid()
        for k in range(2_000_000_000):
            y[i] += x[i + k + 2_000_000_000]

    @wb.kernel
    def one_step(x: FLOATS, y: FLOATS):
        i = wb.tid()
        y[i] = x[i + 2_000_000_000]

    # i + k + 2·10⁹ may be 2³² more than an index; i + 2·10⁹ is below 0 where it wraps.
    assert not added(far, "x")
    assert added(one_step, "x")


@pytest.mark.parametrize("width", [0, 1, 17, pytest.param(100, marks=pytest.mark.slow)])
def test_results_are_what_they_were(width: int) -> None:
    x = np.random.default_rng(width).random((3, width + 3)).astype(np.float32)
    y = wb.zeros((3, width), dtype=wb.float32)
    wb.launch(near, (3, width), [wb.array(x)], [y])
    want = x[:, 1 : width + 1] + x[:, 2 : width + 2] + x[:, 3 : width + 3] + x[:, :width]
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-6)
