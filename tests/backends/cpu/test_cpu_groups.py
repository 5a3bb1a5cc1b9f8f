"""Loops that groups of threads go through together give the bits that each thread gives by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from workbench.api.kernels.kernel import Kernel
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.ir.values import Function
from workbench.passes import pipeline
from workbench.types import ArrayType, element

A1, A2, A3 = (wb.array(dtype=wb.float64, ndim=n) for n in (1, 2, 3))
V1 = wb.array(dtype=wb.vec3d)


@wb.kernel
def product(x: A2, w: A2, b: A1, y: A2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, j]
    y[i, j] = wb.tanh(s + b[j])


@wb.kernel
def attraction(x: V1, a: V1):
    i = wb.tid()
    p = x[i]
    s = wb.vec3d()
    for j in range(x.shape[0]):
        d = x[j] - p
        s += d / (wb.dot(d, d) + wb.float64(0.5))
    a[i] = s * x[i][1]


@wb.kernel
def loops_in_loops(x: A2, w: A2, b: A1, y: A2):
    i, j = wb.tid()
    s, t = b[j], wb.float64(1.0)
    for k in range(w.shape[0]):
        r = wb.float64(0.0)
        for m in range(w.shape[0]):
            r += x[i, m] * w[k, j] + t * wb.float64(0.01)
        s, t = wb.sin(t) + r * b[k], s
    y[i, j] = s * b[j] + t


@wb.kernel
def backwards_and_branches(x: A2, w: A2, b: A1, y: A2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    n = w.shape[0]
    if j % 3 != 1:
        s = b[j]
    for k in range(n - 1, -1, -1):
        v = w[k, j] * x[i, k]
        if v > wb.float64(0.0):
            s += v
        for q in range(3):
            s = s * wb.float64(0.9) + b[k] * wb.float64(q)
    if s > wb.float64(0.0):
        y[i, j] = s


@wb.kernel
def in_place(x: A2, w: A2, b: A1, y: A2):
    i, j = wb.tid()
    for k in range(w.shape[0]):
        y[i, j] = y[i, j] * wb.float64(0.5) + x[i, k] * w[k, j]


@wb.kernel
def columns(x: A2, w: A2, b: A1, y: A2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, wb.max(j - 1, 0)]
    y[i, j] = s


@wb.kernel
def planes(x: A3, y: A3):
    h, i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(x.shape[1]):
        s += x[h, k, j] * x[h, i, k]
    y[h, i, j] = s


MATRICES = (product, loops_in_loops, backwards_and_branches, in_place, columns)


def arguments(kernel: Kernel, rows: int, size: int) -> tuple[tuple[int, ...], list[np.ndarray]]:
    random = np.random.default_rng(size)
    if kernel is attraction:
        return (size,), [random.random((size, 3)), np.zeros((size, 3))]
    if kernel is planes:
        return (rows, size, size), [random.standard_normal((rows, size, size)), np.zeros((rows, size, size))]
    shapes = ((rows, size), (size, size), (size,), (rows, size))
    return (rows, size), [random.standard_normal(s) for s in shapes]


def one_by_one(monkeypatch: pytest.MonkeyPatch, run: Callable[[], None]) -> None:
    with monkeypatch.context() as here:
        here.setattr(pipeline, "PASSES", {**pipeline.PASSES, "abreast": lambda function: function})
        run()


KERNELS = [product, *(pytest.param(k, marks=pytest.mark.slow) for k in (*MATRICES[1:], attraction, planes))]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.parametrize("size", [pytest.param(150, marks=pytest.mark.slow), 37])
def test_each_thread_has_the_bits_that_it_has_by_itself(
    kernel: Kernel, size: int, launch: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    function = kernel.specialise().function
    assert "groups:" in emit_llvm(function, Options())
    dims, given = arguments(kernel, 3, size)
    found = []
    for cuts in (None, [1, size // 2, size - 2]):
        args = [a.copy() for a in given]
        launch(function, dims, args, cuts=cuts)
        found.append(args)
    args = [a.copy() for a in given]
    one_by_one(monkeypatch, lambda: launch(function, dims, args))
    for other in found:
        for a, b in zip(args, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.parametrize("few", [True, False])
def test_gradients_are_what_they_are_thread_by_thread(
    kernel: Kernel, few: bool, launch: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    function: Function = adjoint(kernel.specialise().function)
    dims, given = arguments(kernel, 3, 70)
    random = np.random.default_rng(1)
    given += [random.standard_normal(a.shape) for a in given]
    assert all(isinstance(p.type, ArrayType) and element(p.type.dtype).size == 8 for p in function.params)
    args, plain = ([a.copy() for a in given] for _ in range(2))
    launch(function, dims, args, Options(few_cores=few))
    one_by_one(monkeypatch, lambda: launch(function, dims, plain, Options(few_cores=few)))
    for a, b in zip(args, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11 * np.abs(b).max())
    if kernel in (product, attraction):
        assert "llvm.vector.reduce.fadd" in emit_llvm(function, Options(few_cores=few))


@wb.kernel
def own_bounds(row: wb.array(dtype=int), x: A1, y: A1):
    i = wb.tid()
    s = wb.float64(0.0)
    for k in range(row[i], row[i + 1]):
        s += x[k]
    y[i] = s


@wb.kernel
def along_rows(x: A2, y: A1):
    i = wb.tid()
    s = wb.float64(0.0)
    for k in range(x.shape[1]):
        s += x[i, k]
    y[i] = s


@wb.kernel
def sees_others(x: A2, y: A2):
    i, j = wb.tid()
    for k in range(x.shape[0]):
        y[k, j] = y[k, 0] + x[i, j]


@wb.kernel
def asks_in_a_branch(x: A1, y: A1):
    s = wb.float64(0.0)
    for k in range(x.shape[0]):
        s += x[k]
    if s > wb.float64(0.0):
        y[wb.tid()] = s


@pytest.mark.parametrize("kernel", [own_bounds, along_rows, sees_others, asks_in_a_branch], ids=lambda k: k.name)
def test_other_loops_stay_each_threads_own(kernel: Kernel) -> None:
    assert "groups:" not in emit_llvm(kernel.specialise().function, Options())
