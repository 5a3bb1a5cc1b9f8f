"""Groups of several rows give the bits that each row gives by itself, however a launch is cut."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.backends.cpu.conftest import build, execute
from workbench.api.kernels.kernel import Kernel
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu.emit import emit_module
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.cpu.emit.target import wide
from workbench.backends.cpu.jit import CpuCode
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.ir.values import Function
from workbench.passes.loops import abreast

F1, F2, F3 = (wb.array(dtype=wb.float32, ndim=n) for n in (1, 2, 3))
D2 = wb.array(dtype=wb.float64, ndim=2)
H2 = wb.array(dtype=wb.float16, ndim=2)
I2 = wb.array(dtype=wb.int32, ndim=2)
V2 = wb.array(dtype=wb.vec3, ndim=2)
SIZES = ((1, 1), (3, 64), (4, 63), (5, 65), (9, 130), (8, 192))


@wb.kernel
def product(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, j]
    y[i, j] = s


@wb.kernel
def doubles(x: D2, w: D2, y: D2):
    i, j = wb.tid()
    s = w[-1, j]
    for k in range(w.shape[0] - 1, -1, -1):
        s = s * wb.float64(0.5) + x[i, k] * w[k, j]
    y[i, j] = wb.sin(s) + s


@wb.kernel
def halves(x: H2, w: H2, y: H2):
    i, j = wb.tid()
    s = wb.float16(0.0)
    for k in range(w.shape[0]):
        s += x[i, k] * w[k, j]
    y[i, j] = s


@wb.kernel
def whole(x: I2, w: I2, y: I2):
    i, j = wb.tid()
    s, most = wb.int32(0), wb.int32(-1000)
    for k in range(w.shape[0]):
        v = x[i, k] - w[k, j]
        if v * v > most and k != j:
            most = v * v
        s += x[i, k] * w[k, j]
    if s % 3 != 1:
        y[i, j] = s + most


@wb.kernel
def vectors(x: V2, w: V2, y: V2):
    i, j = wb.tid()
    s = wb.vec3()
    for k in range(w.shape[0]):
        s += wb.cross(x[i, k], w[k, j]) + w[k, j] * x[i, k][1]
    y[i, j] = s


@wb.kernel
def in_place(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    for k in range(w.shape[0]):
        y[i, j] = y[i, j] * wb.float32(0.5) + x[i, k] * w[k, j]


@wb.kernel
def stopped(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(w.shape[0]):
        if w[k, j] > wb.float32(2.0):
            break
        for q in range(3):
            s += x[i, k] * w[k, j] + wb.float32(q)
    if s > wb.float32(1.0):
        return
    y[i, j] = s


@wb.kernel
def two_loops(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    n = w.shape[0]
    most = wb.float32(-1.0e30)
    for k in range(n):
        most = wb.max(most, x[i, k] * w[k, j])
    s = wb.float32(0.0)
    for k in range(n):
        s += wb.exp(x[i, k] * w[k, j] - most)
    y[i, j] = wb.log(s) + most


@wb.kernel
def planes(x: F3, w: F3, y: F3):
    h, i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(w.shape[1]):
        s += w[h, k, j] * x[h, i, k]
    y[h, i, j] = s


@wb.kernel
def triangle(x: F2, w: F2, y: F2):
    i, j = wb.tid()
    s = wb.float32(0.0)
    for k in range(j % 19 + 2):
        s += x[i, k] * w[k, j]
    y[i, j] = s


KERNELS = (product, doubles, halves, whole, vectors, in_place, stopped, two_loops, planes)
GROUPED = (product, doubles, halves, whole, vectors, in_place, two_loops, planes)


@pytest.fixture(autouse=True)
def _any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide, "NARROW", 0)


def arrays(function: Function, rows: int, size: int, seed: int = 0) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """Arguments: x with `rows` rows, w with 21, and as many columns as y has."""
    random, found = np.random.default_rng(rows + size + seed), []
    for p in function.params:
        kind = p.name.removeprefix("adj_")
        shape = {"x": (rows, 21), "w": (21, size), "y": (rows, size)}[kind]
        if p.type.ndim == 3:  # type: ignore[union-attr]
            shape = (3, *shape)
        inner = (3,) if p.type.dtype == wb.vec3 else ()  # type: ignore[union-attr]
        dtype = np.int32 if function.name == "whole" else np.float32
        dtype = {"doubles": np.float64, "halves": np.float16}.get(function.name.partition("_")[0], dtype)
        values = random.standard_normal((*shape, *inner)) * (9 if dtype is np.int32 else 1)
        found.append(values.astype(dtype))
    return ((3,) if function.params[0].type.ndim == 3 else ()) + (rows, size), found  # type: ignore[union-attr]


def codes(monkeypatch: pytest.MonkeyPatch, function: Function, options: Options) -> list[CpuCode]:
    """In groups of several rows, of one row, and thread by thread."""
    made = [build(function, options)]
    with monkeypatch.context() as here:
        here.setattr(abreast, "MOST_ROWS", 1)
        made.append(build(function, options))
        here.setattr(emit_module, "abreast", lambda function, **_: function)
        made.append(build(function, options))
    return made


def cuts(total: int, random: np.random.Generator) -> list[int]:
    return sorted(random.integers(0, total + 1, 5).tolist())


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_rows_go_in_groups(kernel: Kernel) -> None:
    text = emit_llvm(kernel.specialise().function, Options())
    assert ("rows.left:" in text) == (kernel in GROUPED)
    assert "rows.left:" not in emit_llvm(kernel.specialise().function, Options(contiguous=False))


def test_loops_of_turns_of_their_own_go_row_by_row() -> None:
    """The threads of a column make the same turns, those of a row do not."""
    text = emit_module.emit_module(triangle.specialise().function, Options(), Maths(True, 512), False).text
    assert "groups:" in text and "rows.left:" not in text


@pytest.mark.parametrize(
    "kernel", [product, *(pytest.param(k, marks=pytest.mark.slow) for k in GROUPED[1:])], ids=lambda k: k.name
)
def test_each_row_has_the_bits_that_it_has_by_itself(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    function, random = kernel.specialise().function, np.random.default_rng(3)
    made = codes(monkeypatch, function, Options())
    for rows, size in SIZES:
        dims, given = arrays(function, rows, size)
        given[0].flat[0], given[1].flat[-1] = (7, 5) if kernel is whole else (np.nan, np.inf)
        expected = [a.copy() for a in given]
        execute(made[2], function, dims, expected)
        for code in made[:2]:
            for ends in (None, cuts(int(np.prod(dims)), random), cuts(int(np.prod(dims)), random)):
                found = [a.copy() for a in given]
                execute(code, function, dims, found, cuts=ends)
                for a, b in zip(expected, found, strict=True):
                    np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [product, doubles, in_place, planes], ids=lambda k: k.name)
@pytest.mark.parametrize("few", [True, False])
def test_gradients(kernel: Kernel, few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    function = adjoint(kernel.specialise().function)
    grouped, by_row, alone = codes(monkeypatch, function, Options(few_cores=few))
    for rows, size in SIZES:
        dims, given = arrays(function, rows, size)
        results = []
        for code in (grouped, by_row, alone):
            found = [a.copy() for a in given]
            execute(code, function, dims, found)
            results.append(found)
        for a, b, c in zip(*results, strict=True):
            if few and kernel in (product, planes):
                # One addition per element and row, in the order of the rows.
                np.testing.assert_array_equal(a, b)
            np.testing.assert_allclose(a, c, rtol=1e-4, atol=1e-4 * np.abs(c).max())


@pytest.mark.slow
def test_arguments_that_share_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 128
    for function in (product.specialise().function, adjoint(product.specialise().function)):
        options = Options(few_cores=True)
        grouped, by_row, _ = codes(monkeypatch, function, options)
        memory = np.random.default_rng(5).standard_normal(n * n + 40).astype(np.float32)
        for begin in (0, 1, 40):
            results = []
            for code in (grouped, by_row):
                own = memory.copy()
                x = own[:-40].reshape(n, n)
                last = own[begin : begin + n * n].reshape(n, n)
                w, *others = (own[:-40].reshape(n, n).copy() for _ in range(5))
                args = [x, w, last] if len(function.params) == 3 else [x, w, others[0], others[1], others[2], last]
                execute(code, function, (n, n), args)
                results.append((own, *others))
            for a, b in zip(*results, strict=True):
                np.testing.assert_array_equal(a, b)
