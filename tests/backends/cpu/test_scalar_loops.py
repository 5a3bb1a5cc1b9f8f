"""Loops that load by index, scalar and as LLVM vectorises them: the same bits."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

import workbench as wb
from tests.backends.cpu.conftest import build, execute
from workbench.api.kernels.kernel import Kernel
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu_compile
from workbench.backends.cpu.emit.emit_module import emit_module
from workbench.backends.cpu.emit.target.scalar_loops import scalar_loops
from workbench.backends.cpu.jit import CpuCode
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.ir.attributes import SCALAR
from workbench.ir.values import Function, walk
from workbench.passes.pipeline import RUNNABLE, run
from workbench.types import ArrayType, element

F, D, INTS, LONGS, V = (wb.array(dtype=t) for t in (wb.float32, wb.float64, wb.int32, wb.int64, wb.vec3))
F2 = wb.array(dtype=wb.float32, ndim=2)


@wb.kernel
def product(row: INTS, column: INTS, value: F, x: F, y: F):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[column[k]]
    y[i] = s


@wb.kernel
def wide(row: LONGS, column: LONGS, value: D, x: D, y: D):
    i = wb.tid()
    for k in range(row[i], row[i + 1]):
        y[i] += value[k] * (x[column[k]] - x[-1])


@wb.kernel
def vectors(row: INTS, column: INTS, value: F, x: V, y: V):
    i = wb.tid()
    s = wb.vec3(0.0, 0.0, 0.0)
    last = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        v = x[column[k]]
        last = v.y
        s += value[k] * v
    y[i] = s - last


@wb.kernel
def extremes(row: INTS, column: INTS, value: F, x: F, y: F):
    i = wb.tid()
    s = wb.float32(-3.0)
    for k in range(row[i], row[i + 1]):
        s = wb.max(s, x[column[k]] - value[k])
        value[k] = x[column[-1 - k]]
    y[i] = s


@wb.kernel
def rows_of_one_size(row: INTS, column: INTS, value: F, x: F, y: F):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[1]):
        s += value[k] * x[column[k] - i]
    y[i] = s


@wb.kernel
def integers(row: INTS, column: INTS, value: INTS, x: INTS, y: INTS):
    i = wb.tid()
    s = 0
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[column[k]]
    y[i] = s


@wb.kernel
def roots(row: INTS, column: INTS, value: F, x: F, y: F):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        s += value[k] / wb.sqrt(x[column[k]])
    y[i] = s


@wb.kernel
def beside(row: INTS, column: INTS, value: F, x: F, y: F):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(row[i], row[i + 1]):
        s += value[k] * x[k]
    y[i] = s


def arguments(kernel: Kernel, lengths: list[int], first: int, size: int = 37) -> list[Any]:
    """Rows of these lengths from `first` on, with columns from both ends, an infinity and a NaN among the elements."""
    random = np.random.default_rng(3)
    row = first + np.concatenate([[0], np.cumsum(lengths)])
    count = max(int(row[-1]), 1) + 1
    x = random.standard_normal((size, 3))
    x[5, 0], x[7, 1], x[11] = np.inf, np.nan, -0.0
    columns, values = random.integers(-size, size, count), random.standard_normal(count)
    found: list[Any] = []
    given = (row, columns, values, x, np.zeros((len(lengths), 3)))
    for param, array in zip(kernel.specialise().function.params, given, strict=True):
        assert isinstance(param.type, ArrayType)
        flat = array if array.ndim == 1 or param.type.dtype == wb.vec3 else array[:, 0]
        found.append(np.ascontiguousarray(flat, element(param.type.dtype).numpy))
    return found


@cache
def both(kernel: Kernel) -> tuple[Function, list[CpuCode]]:
    """The kernel as it is launched, compiled for a CPU with quick gathers and for one without."""
    function, maths, codes = run(RUNNABLE, kernel.specialise().function), cpu_compile._maths, list[CpuCode]()
    for gathers in (True, False):
        with pytest.MonkeyPatch.context() as here:
            here.setattr(cpu_compile, "_maths", lambda t, g=gathers: msgspec.structs.replace(maths(t), gathers=g))
            codes.append(build(function, Options()))
    return function, codes


def bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bits of what is a number: a NaN has several."""
    return np.where(np.isnan(array), 0, array).view(np.uint8)


OTHERS = [pytest.param(kernel, marks=pytest.mark.slow) for kernel in (vectors, extremes)]


@pytest.mark.parametrize("kernel", [product, wide, *OTHERS], ids=lambda k: k.name)
def test_the_bits_are_those_of_vectors(kernel: Kernel) -> None:
    # None, one, an odd and an even number, more than a vector, more than a strip.
    lengths = [0, 1, 2, 3, 10, 17, 0, 33, 9000, 1, 64]
    function, codes = both(kernel)
    for first in (0, -5):
        found = []
        for code in codes:
            args = arguments(kernel, lengths, first)
            execute(code, function, (len(lengths),), args, cuts=(3, 5))
            found.append(args)
        for a, b in zip(*found, strict=True):
            np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
            np.testing.assert_array_equal(bits(a), bits(b))
        result = found[0][4]
        assert np.isfinite(result[[1, 2, 3]]).any() and not np.isfinite(result[8]).all()


def test_an_array_that_is_read_and_written() -> None:
    function, codes = both(wide)
    found = []
    for code in codes:
        args, y = arguments(wide, [3, 0, 5, 36, 2], 0), np.arange(37.0)
        execute(code, function, (5,), [*args[:3], y, y])
        found.append(y)
    np.testing.assert_array_equal(*found)
    assert (found[0] != np.arange(37.0)).any()


def test_sums_against_numpy() -> None:
    function, codes = both(product)
    args = arguments(product, [4, 0, 11, 2, 7], 0)
    args[3] = np.arange(37, dtype=np.float32)
    row, column, value, x = args[:4]
    exact = [sum(float(value[k]) * float(x[column[k]]) for k in range(row[i], row[i + 1])) for i in range(5)]
    for code in codes:
        execute(code, function, (5,), args)
        np.testing.assert_allclose(args[4], exact, rtol=1e-5, atol=1e-5)


def test_which_loops_are_scalar() -> None:
    for kernel in (product, wide, vectors, extremes, rows_of_one_size, integers, roots, beside):
        after = scalar_loops(run(RUNNABLE, kernel.specialise().function))
        marked = [op for op in walk(after.body) if op.name == "for" and op.attrs.get(SCALAR)]
        assert len(marked) == (kernel not in (integers, roots, beside)), kernel.name


def test_which_targets_gather() -> None:
    assert [cpu_compile._maths(t).gathers for t in ("x86-64", "x86-64-v3", "x86-64-v4", "wasm32")] == [
        *(False, False, True, False)
    ]


@wb.kernel
def bare_sums(x: F2, y: F):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(i % 23):
        s += x[i, k]
    y[i] = s


@wb.kernel
def sums_along(x: F2, y: F):
    i = wb.tid()
    s, t = wb.float32(0.0), wb.float32(0.0)
    for k in range(i % 23):
        s += x[i, k] * wb.sqrt(x[i, k])
        t -= x[i, k]
    y[i] = s - t


@wb.kernel
def sums_across(x: F2, y: F):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(i % 23):
        s += x[k, i] * wb.sqrt(x[k, i])
    y[i] = s


@wb.kernel
def no_sums(x: F2, y: F):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(i % 23):
        s = s * s + x[i, k]
    y[i] = s


def test_sums_along_a_row_are_made_thread_by_thread() -> None:
    for kernel in (bare_sums, sums_along, sums_across, no_sums):
        module = emit_module(kernel.specialise().function, Options(), Maths(formulas=True, bits=512), False)
        assert ("groups:" in module.text) == (kernel is not sums_along), kernel.name
