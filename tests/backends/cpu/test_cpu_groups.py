"""Loops that groups of threads go through together give the bits that each thread gives by itself."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.backends.cpu.conftest import build, execute
from workbench.api.kernels.kernel import Kernel
from workbench.autodiff import adjoint, reverse_mode
from workbench.backends.base import Options
from workbench.backends.cpu.emit import emit_module
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cpu.emit.target import wide
from workbench.backends.cpu.jit import CpuCode
from workbench.ir.values import Function
from workbench.passes import pipeline
from workbench.passes.reductions import reductions
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
            if j + q < n:
                s += w[k, j + q]
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


@wb.kernel
def nest(x: A2, w: A2, b: A1, y: A2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(7):
        for m in range(6):
            s += w[k, j] * x[i, m]
            if j + m < b.shape[0]:
                s += b[j + m]
    y[i, j] = s


@wb.kernel
def windows(x: A2, w: A2, b: A1, y: A2):
    i, j = wb.tid()
    s = wb.float64(0.0)
    for k in range(24):
        s += x[i, wb.min(j + k, x.shape[1] - 1)] * b[k]
    y[i, j] = s


def arguments(kernel: Kernel, rows: int, size: int) -> tuple[tuple[int, ...], list[np.ndarray]]:
    random = np.random.default_rng(size)
    if kernel is attraction:
        return (size,), [random.random((size, 3)), np.zeros((size, 3))]
    if kernel is planes:
        return (rows, size, size), [random.standard_normal((rows, size, size)), np.zeros((rows, size, size))]
    shapes = ((rows, size), (size, size), (size,), (rows, size))
    return (rows, size), [random.standard_normal(s) for s in shapes]


def both_codes(monkeypatch: pytest.MonkeyPatch, function: Function, options: Options) -> tuple[CpuCode, CpuCode]:
    """The function with its threads in groups, and with each thread by itself."""
    grouped = build(function, options)
    with monkeypatch.context() as here:
        here.setattr(emit_module, "abreast", lambda function, **_: function)
        here.setattr(pipeline, "PASSES", {**pipeline.PASSES, "beside": lambda function: function})
        return grouped, build(function, options)


KERNELS = (product, loops_in_loops, backwards_and_branches, in_place, columns, attraction, planes, nest, windows)
MOST_SLOW = [in_place, *(pytest.param(k, marks=pytest.mark.slow) for k in KERNELS if k is not in_place)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_threads_go_in_groups(kernel: Kernel) -> None:
    assert "groups:" in emit_llvm(kernel.specialise().function, Options())


@pytest.mark.parametrize("kernel", MOST_SLOW, ids=lambda k: k.name)
def test_each_thread_has_the_bits_that_it_has_by_itself(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    function = kernel.specialise().function
    grouped, alone = both_codes(monkeypatch, function, Options())
    for size in (37, 64, 150):
        dims, given = arguments(kernel, 3, size)
        args = [a.copy() for a in given]
        execute(alone, function, dims, args)
        for cuts in (None, [1, size // 2, size - 2]):
            found = [a.copy() for a in given]
            execute(grouped, function, dims, found, cuts=cuts)
            for a, b in zip(args, found, strict=True):
                np.testing.assert_array_equal(a, b)


@wb.kernel
def window_of_integers(x: wb.array(dtype=int, ndim=2), w: wb.array(dtype=wb.int64), y: wb.array(dtype=wb.int64)):
    j = wb.tid()
    s = wb.int64(0)
    for k in range(x.shape[0]):
        s += wb.int64((x[k, j + 1] * k) // x[k, j]) // w[j]
    y[j] = s


@wb.kernel
def window_of_bytes(x: wb.array(dtype=wb.uint8, ndim=2), w: wb.array(dtype=bool), y: wb.array(dtype=wb.float16)):
    j = wb.tid()
    s = 0
    for k in range(x.shape[0]):
        if w[j]:
            s += int(x[k, j + 1])
    y[j] = wb.float16(s)


@pytest.mark.parametrize(
    "kernel", [window_of_integers, pytest.param(window_of_bytes, marks=pytest.mark.slow)], ids=lambda k: k.name
)
def test_what_threads_that_are_not_there_would_read_does_not_matter(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = kernel.specialise().function
    grouped, alone = both_codes(monkeypatch, function, Options())
    # A group that is not full, without masks.
    monkeypatch.setattr(wide, "MASKED", 1 << 20)
    unmasked = build(function, Options())
    random, types = np.random.default_rng(3), [element(p.type.dtype).numpy for p in function.params]
    for size in (1, 5, 63, 64, 65, 130):
        x, w = random.integers(1, 90, (21, size + 1)).astype(types[0]), random.integers(1, 4, size).astype(types[1])
        results = []
        for code in (alone, grouped, unmasked):
            # Elements behind the end belong to others: they stay as they are.
            y = np.full(size + 80, 7, types[2])
            execute(code, function, (size,), [x, w, y[:size]], cuts=[size // 3])
            results.append(y)
            assert np.all(y[size:] == 7)
        assert results[0].any() and all(np.array_equal(results[0], y) for y in results[1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "few"),
    [*((k, True) for k in KERNELS), (product, False), (attraction, False)],
    ids=lambda v: getattr(v, "name", str(v)),
)
def test_gradients_are_what_they_are_thread_by_thread(
    kernel: Kernel, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    function: Function = adjoint(kernel.specialise().function)
    dims, given = arguments(kernel, 3, 70)
    random = np.random.default_rng(1)
    given += [random.standard_normal(a.shape) for a in given]
    assert all(isinstance(p.type, ArrayType) and element(p.type.dtype).size == 8 for p in function.params)
    args, plain = ([a.copy() for a in given] for _ in range(2))
    for code, arrays in zip(both_codes(monkeypatch, function, Options(few_cores=few)), (args, plain), strict=True):
        execute(code, function, dims, arrays)
    for a, b in zip(args, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11 * np.abs(b).max())
    if kernel in (product, attraction):
        assert "shufflevector" in emit_llvm(function, Options(few_cores=few))


@wb.kernel
def paths(x: A1, v: V1, steps: int, o: A1, most: A1, sums: V1):
    i = wb.tid()
    s = x[i]
    for _ in range(steps):
        s = wb.sin(s) + wb.float64(0.125)
        o[1] += s * x[0]
    if s > wb.float64(0.5):
        wb.atomic_max(most, 1, s)
    sums[0] += v[i] * s


@pytest.mark.parametrize("size", [pytest.param(5, marks=pytest.mark.slow), 1100])
def test_changes_of_one_element_have_the_same_bits(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    function = reductions(paths.specialise().function)
    assert "groups:" in emit_llvm(function, Options())
    random = np.random.default_rng(size)
    given = [random.random(size), random.random((size, 3)), 21, np.zeros(2), np.zeros(2), np.ones((1, 3))]
    found, plain = ([a.copy() if isinstance(a, np.ndarray) else a for a in given] for _ in range(2))
    for code, args in zip(both_codes(monkeypatch, function, Options()), (found, plain), strict=True):
        execute(code, function, (size,), args)
    assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(found, plain, strict=True))
    assert found[3][0] == 0 and found[3][1] != 0 and found[4][1] > 0.5


@wb.kernel
def steps_of_its_own(x: A1, a: wb.float64, o: A1):
    i = wb.tid()
    s, t = x[i], a
    for _ in range(40):
        s, t = wb.sin(s) * t + wb.float64(0.3), s * wb.float64(0.7)
    o[0] += s * t


@pytest.mark.slow
def test_states_of_a_group_have_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reverse_mode, "UNROLL_LIMIT", 0)
    function = reductions(adjoint(steps_of_its_own.specialise().function))
    assert "groups:" in emit_llvm(function, Options())
    found, plain = ([np.linspace(0.1, 0.9, 77), 0.8, np.zeros(1), np.zeros(77), np.zeros(1), np.ones(1)] for _ in "ab")
    for code, args in zip(both_codes(monkeypatch, function, Options()), (found, plain), strict=True):
        execute(code, function, (77,), args)
    assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(found, plain, strict=True))
    assert np.all(found[3] != 0) and found[4][0] != 0


@wb.kernel
def own_bounds(row: wb.array(dtype=int), x: A1, y: A1):
    i = wb.tid()
    s = wb.float64(0.0)
    for k in range(row[i], row[i + 1]):
        s += x[k]
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


@pytest.mark.parametrize("kernel", [own_bounds, sees_others, asks_in_a_branch], ids=lambda k: k.name)
def test_other_loops_stay_each_threads_own(kernel: Kernel) -> None:
    assert "groups:" not in emit_llvm(kernel.specialise().function, Options())


def test_one_thread_and_two_arguments_that_are_one_array() -> None:
    @wb.kernel
    def serial(x: A1, y: A1, sums: A1, n: int):
        for k in range(n):
            y[k] = wb.float64(2.0)
            wb.atomic_add(sums, 0, x[k])
            y[n] = sums[0]

    n = 20
    x = wb.ones(n + 1, dtype=wb.float64)
    wb.launch(serial, 1, [x], [x, x[n:], n])
    assert x.numpy().tolist() == [2.0] * n + [1.0 + 2.0 * n]
