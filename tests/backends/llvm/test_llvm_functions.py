"""Functions of LLVM with Python bodies, compiled, against what NumPy makes of the same lanes."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.cpu.jit import load_symbols
from workbench.backends.llvm.functions import (
    Int,
    Ints,
    LlvmFunction,
    Ptr,
    Variable,
    count,
    define,
    each_lane,
    leave,
    module,
    when,
)
from workbench.backends.llvm.values import Value, Writer, constant, masked_load, masked_store

MASKS = (0, 1, 0x80000000, 0xFFFFFFFF, 0x00F0F00F)


def run(function: LlvmFunction, *others: LlvmFunction, values: np.ndarray, mask: int) -> np.ndarray:
    """Return what `function(values, out, mask)` writes to `out`, which begins with -1."""
    out = np.full(32, -1, np.int32)
    code = load_symbols(compile_text(module([function, *others]), CpuBackend().target()), [function.name])
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)(code.address)
    entry(values.ctypes.data, out.ctypes.data, mask)
    return out


def on(mask: int) -> np.ndarray:
    return np.array([mask >> lane & 1 == 1 for lane in range(32)])


@define
def triangle(end: Int) -> Int:
    """Return the sum of the even numbers below a number, or 0 from 100 on."""
    with when(end.is_("uge", 100)):
        leave(end.w, end.like(0))
    total = Variable(end.like(0))
    with count(end) as n:
        n.loop.skip_if((n & 1).is_("ne", 0))
        total.add(n)
    return total.get()


@define
def wb_lanes(values: Ptr, out: Ptr, mask: Int) -> None:
    """Store, for each lane that is on, `triangle` of its value in its element."""
    with each_lane(mask, values.load("i32", 32, align=4)) as (lane, value):
        out.at(lane, "i32").store(triangle(value))


@define
def wb_masked(values: Ptr, out: Ptr, mask: Int) -> None:
    """Store 3 - 2 · value, of neighbours, in the lanes that are on."""
    loaded: Ints = masked_load(values, mask.flags, "i32", 4)
    masked_store(out, mask.flags, 3 - loaded * 2, 4)


@pytest.mark.parametrize("mask", MASKS)
def test_each_lane_that_is_on_runs_the_body(mask: int) -> None:
    values = np.arange(32, dtype=np.int32) * 4
    sums = np.array([sum(range(0, n, 2)) if n < 100 else 0 for n in values.tolist()])
    assert np.array_equal(run(wb_lanes, triangle, values=values, mask=mask), np.where(on(mask), sums, -1))


@pytest.mark.parametrize("mask", MASKS)
def test_lanes_that_are_off_are_not_accessed(mask: int) -> None:
    values = np.random.default_rng(0).integers(-(2**31), 2**31, 32, dtype=np.int32)
    with np.errstate(over="ignore"):
        expected = np.where(on(mask), np.int32(3) - values * np.int32(2), -1)
    assert np.array_equal(run(wb_masked, values=values, mask=mask), expected)


def test_a_call_refuses_other_types() -> None:
    with pytest.raises(AssertionError, match="triangle takes i32"):
        triangle(Value(Writer(), "%x", "i64"))


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (-1, "i8", "-1"),
        (255, "i8", "-1"),
        (1 << 63, "i64", str(-(1 << 63))),
        (1, "i1", "true"),
        (0.5, "float", "0x3FE0000000000000"),
    ],
)
def test_constants_wrap_to_their_type(number: float, kind: str, text: str) -> None:
    assert constant(number, kind) == text
