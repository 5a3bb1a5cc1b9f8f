"""Loops whose counter may begin below 0: split, right at both sides of 0, and contiguous above."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.ir.values import Function, walk
from workbench.limits import SPLIT_LOOP_OPERATIONS
from workbench.passes.loops.forms import split_counters

FLOATS = wb.array(dtype=wb.float32)
INTS = wb.array(dtype=int)


@wb.kernel
def between(ends: wb.array(dtype=int, ndim=2), x: FLOATS, y: FLOATS, last: INTS):
    i = wb.tid()
    total = 0.0
    at = -100
    for k in range(ends[i, 0], ends[i, 1]):
        if k < 41:
            total += x[k] - 0.5 * x[k + 1]
            at = k
    y[i] = total
    last[i] = at


@wb.kernel
def from_zero(x: FLOATS, y: FLOATS):
    i = wb.tid()
    for k in range(x.shape[0]):
        y[i] += x[k]


@wb.kernel
def down(ends: INTS, x: FLOATS, y: FLOATS):
    i = wb.tid()
    for k in range(ends[i], -3, -1):
        y[i] += x[k]


@wb.kernel
def outer(ends: INTS, x: FLOATS, y: FLOATS):
    i = wb.tid()
    for k in range(ends[i], 9):
        for _ in range(ends[i]):
            y[i] += x[k]


def count(function: Function, name: str) -> int:
    return sum(op.name == name for op in walk(function.body))


def test_the_turns_above_0_wrap_nothing() -> None:
    before = between.specialise().function
    after = split_counters(before)
    assert count(after, "for") == 2 * count(before, "for")
    above = next(op for op in walk(after.body) if op.name == "for")
    assert not any(op.name == "wrap_index" for op in walk(above.blocks[0]))


@pytest.mark.parametrize("kernel", [from_zero, down, outer], ids=lambda kernel: kernel.name)
def test_other_loops_stay(kernel: wb.Kernel) -> None:
    function = kernel.specialise().function
    assert count(split_counters(function), "for") == count(function, "for")
    assert SPLIT_LOOP_OPERATIONS > len(list(walk(function.body)))


def test_indices_below_0_count_from_the_end() -> None:
    n = 50
    x = np.random.default_rng(0).random(n).astype(np.float32)
    ends = [(-9, -2), (-9, 0), (-5, 30), (0, 49), (3, 3), (7, 2), (20, 49), (-1, 1), (-2, -7), (-(2**31), -(2**31))]
    want, last = [], []
    for start, stop in ends:
        total, at = np.float32(0), -100
        for k in range(start, min(stop, 41)):
            total += x[k] - np.float32(0.5) * x[k + 1]
            at = k
        want.append(total)
        last.append(at)
    y, at = wb.zeros(len(ends)), wb.zeros(len(ends), dtype=int)
    wb.launch(between, len(ends), [wb.array(np.array(ends, np.int32)), wb.array(x)], [y, at])
    assert y.numpy().tolist() == [float(v) for v in want]
    assert at.numpy().tolist() == last
