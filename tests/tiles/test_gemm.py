"""Matrix multiplication in Warp's style, for every float type and for sizes that no tile divides."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import workbench as wb
from tests.support.devices.on_all import same_on_all, wide
from tests.support.kernels.gemm import gemm_kernel
from workbench.autodiff import adjoint
from workbench.ir.values import walk

TM, TN, TK = wb.constant(8), wb.constant(4), wb.constant(16)


gemm = gemm_kernel(TM, TN, TK)


@wb.kernel
def product(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[wb.Any]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(TM, 32), offset=(i * TM, 0))
    b = wb.tile_load(B, shape=(32, TN), offset=(0, j * TN), storage="shared")
    wb.tile_store(C, a @ b, offset=(i * TM, j * TN))


SIZES = [(19, 7, 21), *(pytest.param(s, marks=pytest.mark.slow) for s in ((16, 8, 32), (1, 1, 1), (8, 5, 17)))]
TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-5, "float64": 1e-12}


def operands(m: int, n: int, k: int, dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(m + n + k)
    type = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    return [rng.standard_normal(shape).astype(type) for shape in ((m, k), (k, n))]


@pytest.mark.sample(1)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_gemm_with_an_accumulator(dtype: str, size: tuple[int, int, int]) -> None:
    a, b = operands(*size, dtype)
    want = wide(a) @ wide(b)
    result = np.zeros(want.shape, np.float32)
    blocks = [-(-size[0] // 8), -(-size[1] // 4)]
    _, _, c = same_on_all(gemm, blocks, [a, b, result], rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(c, want, atol=1e-4)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_product_of_one_type(dtype: str) -> None:
    a, b = operands(11, 6, 29, dtype)
    want = wide(a) @ wide(b)
    _, _, c = same_on_all(product, [2, 2], [a, b, np.zeros(want.shape, a.dtype)], rtol=1e-2, atol=TOLERANCE[dtype])
    np.testing.assert_allclose(wide(c), want, atol=8 * TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@wb.kernel
def product_of_two_types(A: wb.array2d[wb.float16], B: wb.array2d[float], C: wb.array2d[wb.float64]):
    a, b = wb.tile_load(A, shape=(TM, 32)), wb.tile_load(B, shape=(32, TN))
    total = wb.tile_zeros((TM, TN), dtype=wb.float64)
    wb.tile_matmul(a, b, total)
    wb.tile_store(C, total)


def test_factors_of_two_types_are_multiplied_in_the_type_of_the_sum() -> None:
    a, b = operands(8, 4, 32, "float16")[0], operands(8, 4, 32, "float32")[1]
    arrays = [wb.array(x, requires_grad=True) for x in (a, b, np.zeros((8, 4)))]
    with wb.Tape() as tape:
        wb.launch_tiled(product_of_two_types, 1, inputs=arrays, block_dim=32)
    np.testing.assert_allclose(arrays[2].numpy(), wide(a) @ wide(b), rtol=1e-13)
    tape.backward(grads={arrays[2]: np.ones((8, 4))})
    np.testing.assert_allclose(arrays[1].grad.numpy(), wide(a).T @ np.ones((8, 4)), rtol=1e-6)


def test_block_dim_is_a_part_of_the_key() -> None:
    a, b = operands(8, 4, 16, "float32")
    c = np.zeros((8, 4), np.float32)
    wb.launch_tiled(gemm, dim=[1, 1], inputs=[a, b, c], block_dim=64)
    first = gemm.used.function
    wb.launch_tiled(gemm, dim=[1, 1], inputs=[a, b, c], block_dim=128)
    assert (first.block_dim, gemm.used.function.block_dim) == (64, 128)


@wb.kernel
def rounded(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[wb.Any]):
    a = wb.tile_load(A, shape=(16, 8))
    b = wb.tile_load(B, shape=(8, 8))
    wb.tile_store(C, wb.tile_matmul(a, b, precision="tf32"))


def test_tf32_is_asked_for_and_its_gradients_are_too() -> None:
    a, b = operands(16, 8, 8, "float32")
    _, _, c = same_on_all(rounded, [1], [a, b, np.zeros((16, 8), np.float32)], rtol=2e-3, atol=4e-3)
    np.testing.assert_allclose(c, a @ b, atol=4e-3)
    function = rounded.used.function
    found = [
        op.attrs.get("precision")
        for f in (function, adjoint(function))
        for op in walk(f.body)
        if op.name == "tile_matmul"
    ]
    assert found == ["tf32"] * 3
    with pytest.raises(wb.KernelTypeError, match='takes precision="tf32", for tiles of float32'):
        wb.launch_tiled(rounded, dim=[1], inputs=[a.astype("d"), b.astype("d"), c.astype("d")])
