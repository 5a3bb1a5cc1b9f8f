"""Products of tiles that read and add in arrays: what copies would give, whatever the arrays share."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.on_all import same_on_all, wide
from tests.support.kernels.gemm import gemm_kernel
from workbench.autodiff import adjoint
from workbench.frontend.state.context import Tiling
from workbench.ir.values import Function, walk
from workbench.passes.analysis.cost import mostly_adds
from workbench.passes.lower_tiles.lower import lower_tiles

RNG = np.random.default_rng(9)
gemm = gemm_kernel(16, 24, 8, dtype=wb.float32)


def names(function: Function, **how: bool) -> Counter[str]:
    return Counter(op.name for op in walk(lower_tiles(function, **how).body))


def function_of(kernel: Any) -> Function:
    return kernel.specialise(None, Tiling(32, 2)).function


def test_tiles_that_are_only_multiplied_are_read_in_their_arrays() -> None:
    function = function_of(gemm)
    assert names(function)["window"] == 2
    assert names(function, dense=False)["window"] == 0
    back = adjoint(function)
    assert names(back, plain=True)["add_product"] == 2
    assert names(back)["add_product"] == names(back, plain=True, dense=False)["add_product"] == 0


@wb.kernel
def otherwise(A: wb.array2d[float], B: wb.array2d[float], C: wb.array2d[float]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(8, 8), offset=(i * 8, j * 8))
    b = wb.tile_load(B, shape=(8, 8))
    wb.tile_store(B, a @ b)
    c = wb.tile_load(C, shape=(8, 8))
    wb.tile_store(C, c @ c + c)
    wb.tile_store(A, c @ b)


def test_a_tile_that_is_needed_otherwise_or_behind_a_change_of_its_array_is_copied() -> None:
    # a is read in its array; b's array is changed before its second product, and c is added too.
    assert names(function_of(otherwise))["window"] == 1
    given = [RNG.standard_normal((8, 8)).astype(np.float32) for _ in range(3)]
    a, b, c = (wide(v) for v in given)
    for got, want in zip(same_on_all(otherwise, [1, 1], given, rtol=1e-4, atol=1e-4), (c @ b, a @ b, c @ c + c),
                         strict=True):  # fmt: skip
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@wb.kernel
def added(A: wb.array2d[float], B: wb.array2d[float], C: wb.array2d[float]):
    wb.tid()
    a = wb.tile_load(A, shape=(16, 16))
    b = wb.tile_load(B, shape=(16, 16))
    wb.tile_atomic_add(C, wb.tile_full((16, 16), wb.float32(1.0)))
    wb.tile_atomic_add(C, a @ b, offset=(0, 0))


@pytest.mark.parametrize("cores", [1, 64])
@pytest.mark.parametrize("starts", [(0, 16, 32), (0, 16, 8), (0, 16, 24), (4, 0, 0), (0, 0, 0)])
def test_arrays_that_overlap_are_read_before_they_change(
    monkeypatch: pytest.MonkeyPatch, starts: tuple[int, int, int], cores: int
) -> None:
    monkeypatch.setenv("WORKBENCH_THREADS", str(cores))
    memory = RNG.standard_normal((48, 16)).astype(np.float32)
    a, b, want = *(memory[s : s + 16].astype(np.float64) for s in starts[:2]), memory.copy()
    want[starts[2] : starts[2] + 16] += (a @ b + 1.0).astype(np.float32)
    held = wb.array(memory, device="cpu")
    wb.launch_tiled(added, dim=[1], inputs=[held[s : s + 16] for s in starts], block_dim=32, device="cpu")
    np.testing.assert_allclose(held.numpy(), want, rtol=1e-4, atol=1e-4)


def gradients(kernel: Any, dim: list[int], arrays: list[Any], seed: np.ndarray) -> list[np.ndarray]:
    with wb.Tape() as tape:
        wb.launch_tiled(kernel, dim=dim, inputs=arrays[:-1], outputs=arrays[-1:], block_dim=32, device="cpu")
    tape.backward(grads={arrays[-1]: wb.array(seed, device="cpu")})
    return [arrays[-1].numpy(), *(tape.gradients[a].numpy() for a in arrays[:-1])]


@pytest.mark.slow
def test_rows_with_gaps_give_the_same_bits() -> None:
    a, b = (RNG.standard_normal(shape).astype(np.float32) for shape in ((33, 20), (20, 50)))
    a[7, 3], b[5, 11] = np.nan, np.inf
    seed, found = RNG.standard_normal((33, 50)).astype(np.float32), []
    for gap in (0, 3):
        made = [np.zeros((n, m + gap), np.float32) for n, m in (a.shape, b.shape, seed.shape)]
        made[0][:, : a.shape[1]], made[1][:, : b.shape[1]] = a, b
        arrays = [wb.array(v, device="cpu") for v in made]
        views = [v[:, : v.shape[1] - gap] for v in arrays] if gap else arrays
        found.append(gradients(gemm, [3, 3], views, seed))
    for dense, apart in zip(*found, strict=True):
        np.testing.assert_array_equal(dense, apart)


@wb.kernel
def each_way(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array3d[wb.Any]):
    wb.tid()
    a = wb.tile_load(A, shape=(13, 13))
    b = wb.tile_load(B, shape=(13, 13))
    wb.tile_store(C[0], a.T @ b)
    wb.tile_store(C[1], a @ b.T)
    wb.tile_store(C[2], a.T @ b.T)
    wb.tile_store(C[3], (a @ b).T)
    kept = (a @ b.T).T
    wb.tile_store(C[4], kept @ a)
    wb.tile_store(C[5], kept)


@pytest.mark.parametrize(
    "dtype", ["float32", *(pytest.param(t, marks=pytest.mark.slow) for t in ("float16", "float64"))]
)
def test_transposed_products(dtype: str) -> None:
    given = [RNG.standard_normal((13, 13)).astype(dtype) for _ in range(2)]
    error = {"float16": 0.05, "float32": 1e-4, "float64": 1e-12}[dtype]
    *_, c = same_on_all(each_way, [1], [*given, np.zeros((6, 13, 13), dtype)], rtol=error, atol=error)
    a, b = (wide(v) for v in given)
    want = [a.T @ b, a @ b.T, a.T @ b.T, (a @ b).T, b @ a.T @ a, b @ a.T]
    np.testing.assert_allclose(wide(c), want, rtol=error, atol=4 * error)
    assert names(each_way.used.function)["slot_transpose"] > 0
    assert not any(op.name == "tile_transpose" for op in walk(lower_tiles(each_way.used.function).body))


@wb.kernel
def halves(x: wb.array2d[wb.float16], y: wb.array2d[wb.float16]):
    wb.tid()
    t = wb.tile_load(x, shape=(5, 7))
    wb.tile_atomic_add(y, t, offset=(-1, 2))
    wb.tile_store(x, wb.tile_atomic_add(y, t))


@pytest.mark.slow
def test_additions_of_16_bits_round_each_time() -> None:
    x, y = (RNG.standard_normal((5, 7)).astype(np.float16) for _ in range(2))
    before, after = same_on_all(halves, [1], [x, y])
    want = y.copy()
    want[:4, 2:] += x[1:, :5]
    np.testing.assert_array_equal(wide(before), wide(want))
    np.testing.assert_array_equal(wide(after), wide(want + x))


@pytest.mark.parametrize("sizes", [(64, 64, 64), (64, 128, 16), (128, 64, 32), (16, 16, 16)])
def test_the_adjoint_of_a_product_adds_on_one_core(sizes: tuple[int, int, int]) -> None:
    assert mostly_adds(adjoint(function_of(gemm_kernel(*sizes, dtype=wb.float32))))


def random_layer(tm: int, tn: int, tk: int, turned: tuple[bool, bool]) -> Any:
    """C = relu(A·B), with A or B as it lies transposed in memory."""
    TM, TN, TK = (wb.constant(n) for n in (tm, tn, tk))
    A0, A1 = (TK, TM) if turned[0] else (TM, TK)
    B0, B1 = (TN, TK) if turned[1] else (TK, TN)
    left, right = turned

    @wb.kernel
    def layer(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[wb.Any]):
        i, j = wb.tid()
        acc = wb.tile_zeros(shape=(TM, TN), dtype=C.dtype)
        count = B.shape[1] if wb.static(right) else B.shape[0]
        for k in range((count + TK - 1) // TK):
            p = wb.tile_load(A, shape=(A0, A1), offset=(k * TK, i * TM) if wb.static(left) else (i * TM, k * TK))
            q = wb.tile_load(B, shape=(B0, B1), offset=(j * TN, k * TK) if wb.static(right) else (k * TK, j * TN))
            acc += (p.T if wb.static(left) else p) @ (q.T if wb.static(right) else q)
        wb.tile_store(C, wb.max(acc, wb.tile_zeros((TM, TN), dtype=C.dtype)), offset=(i * TM, j * TN))

    return layer


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_layers_of_any_size(number: int) -> None:
    random = np.random.default_rng(number)
    tm, tn, tk = (int(n) for n in random.integers(1, 40, 3))
    m, n, k = (int(v) for v in random.integers(1, 70, 3))
    left, right = turned = bool(number % 2), bool(number // 2 % 2)
    dtype = ("float32", "float64", "float16")[number % 3]
    a, b = random.standard_normal((m, k)).astype(dtype), random.standard_normal((k, n)).astype(dtype)
    result = np.zeros((m, n), "float64" if dtype == "float64" else "float32")
    # None where rounding decides on which side of 0 an element is.
    seed = np.where(np.abs(wide(a) @ wide(b)) > 1e-3, random.standard_normal((m, n)), 0.0).astype(result.dtype)
    stored = [np.ascontiguousarray(v.T) if t else v for v, t in ((a, left), (b, right))]
    arrays = [wb.array(v, device="cpu") for v in (*stored, result)]
    y, da, db = gradients(random_layer(tm, tn, tk, turned), [-(-m // tm), -(-n // tn)], arrays, seed)
    a, b = wide(a), wide(b)
    rate = np.where(a @ b > 0.0, wide(seed), 0.0)
    wanted = (np.maximum(a @ b, 0.0), transposed_if(rate @ b.T, left), transposed_if(a.T @ rate, right))
    error = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-11}[dtype]
    for got, want in zip((y, da, db), wanted, strict=True):
        np.testing.assert_allclose(wide(got), want, rtol=error, atol=4 * error * max(1.0, float(np.abs(want).max())))


def transposed_if(matrix: np.ndarray, turned: bool) -> np.ndarray:
    return matrix.T if turned else matrix
