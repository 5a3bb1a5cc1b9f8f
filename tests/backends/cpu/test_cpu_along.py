"""Rows of the threads' own, which groups turn over in strips: the bits that each thread gives by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from tests.backends.cpu.conftest import build, execute
from workbench.api.kernels.kernel import Kernel
from workbench.backends.base import Options
from workbench.backends.cpu.emit import emit_module
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cpu.jit import CpuCode

F1, F2, F3, D1, D2 = (
    wb.array(dtype=t, ndim=n) for t, n in ((float, 1), (float, 2), (float, 3), (wb.float64, 1), (wb.float64, 2))
)


@wb.kernel
def running(x: F2, w: F1, y: F2, o: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(x.shape[1]):
        s += x[i, k] * w[k]
        y[i, k] = s
    o[i] = s


@wb.kernel
def in_place(x: F2, w: F1, y: F2, o: F1):
    i = wb.tid()
    m = x[i, 0]
    for k in range(1, x.shape[1]):
        if x[i, k] > m:
            m = x[i, k]
    s = wb.float32(0.0)
    for k in range(x.shape[1]):
        y[i, k] = y[i, k] * 0.5 + wb.exp(x[i, k] - m)
        s += y[i, k]
    for k in range(x.shape[1]):
        y[i, k] = y[i, k] / s
    o[i] = s + m


@wb.kernel
def in_double(x: D2, w: D1, y: D2, o: D1):
    i = wb.tid()
    s = wb.float64(1.0)
    for k in range(2, x.shape[1] - 1):
        s = s * wb.float64(0.9) - x[i, k] * w[k - 1]
        if s > wb.float64(0.0):
            s = s - x[i, k]
        y[i, k] = y[i, k] + s
    o[i] = s


@wb.kernel
def rows_of_rows(x: F2, w: F1, y: F2, o: F1):
    i = wb.tid()
    m = wb.float32(0.0)
    for j in range(y.shape[1]):
        s = w[j]
        for k in range(x.shape[1]):
            s += x[i, k] * w[k] * s
        y[i, j] = s
        m = wb.max(m, s)
    o[i] = m


@wb.kernel
def two_dimensions(x: F2, w: F1, y: F2, o: F1):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(x.shape[1]):
        d = x[i, k] - x[j, k]
        s += d * d * w[k]
    o[i * x.shape[0] + j] = s


KERNELS = (running, in_place, in_double, rows_of_rows, two_dimensions)


def both(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> tuple[CpuCode, CpuCode]:
    function = kernel.specialise().function
    assert "@wb.transpose" in emit_llvm(function, Options())
    turned = build(function, Options())
    with monkeypatch.context() as here:
        here.setattr(emit_module, "abreast", lambda function, **_: function)
        return turned, build(function, Options())


def inside(rows: int, columns: int, kind: type, fill: Callable[[int], np.ndarray]) -> np.ndarray:
    """An array in the middle of a larger one, whose other elements are 7."""
    whole = np.full(rows * columns + 512, 7, kind)
    whole[256 : 256 + rows * columns] = fill(rows * columns)
    return whole


def compare(kernel: Kernel, codes: tuple[CpuCode, CpuCode], rows: int, columns: int) -> None:
    """Both give the same bits, whatever the range is cut into, and change nothing but what they are given."""
    kind, random = np.float64 if kernel is in_double else np.float32, np.random.default_rng(rows * 100 + columns)
    dims = (rows, rows) if kernel is two_dimensions else (rows,)
    shapes = ((rows, columns), (1, columns), (rows, columns), (1, rows * dims[-1] if dims[1:] else rows))
    data = [inside(*shape, kind, random.standard_normal) for shape in shapes]
    total = rows ** len(dims)
    results: list[list[bytes]] = []
    for code, cuts in ((codes[1], None), (codes[0], None), (codes[0], [total // 3, total - total // 4])):
        held = [d.copy() for d in data]
        args = [h[256 : h.size - 256].reshape(s) for h, s in zip(held, shapes, strict=True)]
        args[1], args[3] = args[1][0], args[3][0]
        execute(code, kernel.specialise().function, dims, args, cuts=cuts)
        results.append([h.tobytes() for h in held])
    assert results[0] == results[1] == results[2], (rows, columns)
    assert results[0] != [d.tobytes() for d in data] or columns < 2


def test_a_running_sum_has_the_bits_that_it_has_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = both(running, monkeypatch)
    for rows, columns in ((17, 25), (16, 16), (33, 7), (16, 0), (1, 40), (50, 24)):
        compare(running, codes, rows, columns)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_rows_have_the_bits_that_they_have_by_themselves(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = both(kernel, monkeypatch)
    for rows in (1, 15, 16, 17, 47):
        for columns in (1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 31, 40, 130):
            compare(kernel, codes, rows, columns)


@pytest.mark.slow
def test_arrays_that_overlap_are_left_to_each_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, function = both(running, monkeypatch), running.specialise().function
    for shift in (0, 1, 5, 40):
        found: list[np.ndarray] = []
        for code in codes:
            memory = np.random.default_rng(3).standard_normal(40 * 40 + 64).astype(np.float32)
            args = [
                memory[:1600].reshape(40, 40),
                np.ones(40, np.float32),
                memory[shift : shift + 1600].reshape(40, 40),
            ]
            execute(code, function, (40,), [*args, np.zeros(40, np.float32)])
            found.append(memory)
        np.testing.assert_array_equal(*found)


@wb.kernel
def not_in_every_turn(x: F2, m: F1, y: F2, o: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(100):
        if k < x.shape[1]:
            s += x[i, k] * m[k]
    o[i] = s


@wb.kernel
def also_elsewhere(x: F2, m: F1, y: F2, o: F1):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(1, x.shape[1]):
        s += y[i, k]
        y[i, k] = s + y[i, k - 1]
    o[i] = s


@wb.kernel
def whole_numbers(x: wb.array(dtype=int, ndim=2), m: F1, y: F2, o: wb.array(dtype=int)):
    i = wb.tid()
    s = 0
    for k in range(x.shape[1]):
        s += x[i, k]
    o[i] = s


@pytest.mark.parametrize("kernel", [not_in_every_turn, also_elsewhere, whole_numbers], ids=lambda k: k.name)
def test_what_is_not_read_ahead(kernel: Kernel) -> None:
    assert "@wb.transpose" not in emit_llvm(kernel.specialise().function, Options())


def test_strided_arrays_are_not_turned_over() -> None:
    assert "@wb.transpose" not in emit_llvm(running.specialise().function, Options(contiguous=False))


@wb.kernel
def tridiagonal(a: F2, b: F2, c: F2, d: F2):
    """Thomas' algorithm, a system per column: each thread sees the rows that it has changed."""
    j = wb.tid()
    n = a.shape[0]
    for k in range(1, n):
        m = a[k, j] / b[k - 1, j]
        b[k, j] = b[k, j] - m * c[k - 1, j]
        d[k, j] = d[k, j] - m * d[k - 1, j]
    d[n - 1, j] = d[n - 1, j] / b[n - 1, j]
    for q in range(1, n):
        k = n - 1 - q
        d[k, j] = (d[k, j] - c[k, j] * d[k + 1, j]) / b[k, j]


@pytest.mark.slow
def test_columns_of_the_threads_own_have_the_bits_that_they_have_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    function = tridiagonal.specialise().function
    assert "groups:" in emit_llvm(function, Options())
    grouped = build(function, Options())
    monkeypatch.setattr(emit_module, "abreast", lambda function, **_: function)
    alone = build(function, Options())
    for n, columns in ((1, 16), (2, 15), (40, 17), (19, 70)):
        random, found = np.random.default_rng(columns), []
        data = [random.random((n, columns)).astype(np.float32) + k % 2 * 3 for k in range(4)]
        for code, cuts in ((alone, None), (grouped, None), (grouped, [columns // 3])):
            args = [a.copy() for a in data]
            execute(code, function, (columns,), args, cuts=cuts)
            found.append([a.tobytes() for a in args])
        assert found[0] == found[1] == found[2]
        assert found[0] != [a.tobytes() for a in data]
