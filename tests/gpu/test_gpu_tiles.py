"""Kernels of tiles on a device against NumPy: products of all types, reductions, much shared memory, graphs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.gemm import gemm_kernel

pytestmark = pytest.mark.gpu
TM, TN, TK = wb.constant(32), wb.constant(16), wb.constant(16)
WIDE = wb.constant(20000)
TYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}


gemm = gemm_kernel(TM, TN, TK)
gemm_double = gemm_kernel(TM, TN, TK, wb.float64)


@wb.kernel
def product(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[wb.Any]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(TM, 40), offset=(i * TM, 0))
    b = wb.tile_load(B, shape=(40, TN), offset=(0, j * TN))
    wb.tile_store(C, a @ b, offset=(i * TM, j * TN))


@wb.kernel
def rounded(A: wb.array2d[float], B: wb.array2d[float], C: wb.array2d[float]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(TM, 40), offset=(i * TM, 0))
    b = wb.tile_load(B, shape=(40, TN), offset=(0, j * TN))
    wb.tile_store(C, wb.tile_matmul(a, b, precision="tf32"), offset=(i * TM, j * TN))


@wb.kernel
def total(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    t = wb.tile_load(x, shape=1000, offset=i * 1000)
    y[i] = wb.tile_sum(t)


@wb.kernel
def wide(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    t = wb.tile_load(x, shape=WIDE, offset=i * WIDE, storage="shared")
    wb.tile_store(y, t + t, offset=i * WIDE)


@wb.kernel
def each(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    v = x[i]
    y[i] = v / wb.tile_sum(wb.tile(v))


def numbers(shape: Any, type: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(type)


def floats(shape: Any, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def on(device: str, *arrays: np.ndarray) -> list[wb.array]:
    return [wb.array(a, device=device) for a in arrays]


@pytest.mark.parametrize("name", TYPES)
def test_product_of_matrices(device: str, name: str) -> None:
    a, b = numbers((70, 37), TYPES[name]), numbers((37, 45), TYPES[name], 1)
    want = a.astype(np.float64) @ b.astype(np.float64)
    kernels = {product: TYPES[name]} if name == "float64" else {gemm: np.float32, product: TYPES[name]}
    for kernel, type in kernels.items():
        given = on(device, a, b, np.zeros((70, 45), type))
        wb.launch_tiled(kernel, dim=[3, 3], inputs=given, block_dim=64)
        np.testing.assert_array_equal(given[2].numpy().astype(np.float64), want.astype(type).astype(np.float64))


def test_a_sum_of_each_block(device: str) -> None:
    x = numbers(2500)
    given = on(device, x, np.zeros(3, np.float32))
    wb.launch_tiled(total, dim=[3], inputs=given, block_dim=128)
    np.testing.assert_array_equal(given[1].numpy(), [x[:1000].sum(), x[1000:2000].sum(), x[2000:].sum()])


def test_more_shared_memory_than_a_kernel_may_declare(device: str) -> None:
    x = numbers(40000)
    given = on(device, x, np.zeros(40000, np.float32))
    wb.launch_tiled(wide, dim=[2], inputs=given, block_dim=512)
    np.testing.assert_array_equal(given[1].numpy(), 2 * x)


def test_dim_in_threads(device: str) -> None:
    x = np.abs(numbers(256)) + 1
    given = on(device, x, np.zeros(256, np.float32))
    wb.launch(each, dim=256, inputs=given, block_dim=64)
    sums = x.reshape(4, 64).sum(1, keepdims=True)
    np.testing.assert_allclose(given[1].numpy(), (x.reshape(4, 64) / sums).reshape(-1), rtol=1e-6)


def test_a_graph_keeps_blocks_and_shared_memory(device: str) -> None:
    x = numbers(40000)
    first, second = on(device, x, np.zeros(40000, np.float32))
    wb.launch_tiled(wide, dim=[2], inputs=[first, second], block_dim=512)
    with wb.capture() as graph:
        wb.launch_tiled(wide, dim=[2], inputs=[first, second], block_dim=512)
        wb.launch_tiled(wide, dim=[2], inputs=[second, first], block_dim=512)
    graph.launch()
    graph.launch()
    np.testing.assert_array_equal(first.numpy(), 16 * x)


def test_a_recorded_launch_runs_again(device: str) -> None:
    x = numbers(3000)
    given = on(device, x, np.zeros(3, np.float32))
    with wb.record() as recorder:
        wb.launch_tiled(total, dim=[3], inputs=given, block_dim=96)
    given[0].fill_(1.0)
    recorder.replay()
    np.testing.assert_array_equal(given[1].numpy(), [1000.0] * 3)


def test_a_product_in_tf32(device: str) -> None:
    """Small integers are exact; other numbers are rounded to 11 bits."""
    whole, other = (numbers((70, 37)), numbers((37, 45), seed=1)), (floats((70, 37)), floats((37, 45), seed=1))
    for (a, b), error in ((whole, 0), (other, 37 * 2**-9)):
        given = on(device, a, b, np.zeros((70, 45), np.float32))
        wb.launch_tiled(rounded, dim=[3, 3], inputs=given, block_dim=64)
        np.testing.assert_allclose(given[2].numpy(), a @ b, rtol=0, atol=error)


@pytest.mark.parametrize("name", TYPES)
def test_gradients_of_a_product(device: str, name: str) -> None:
    type = TYPES[name]
    wide = np.float64 if name == "float64" else np.float32
    a, b, seed = numbers((70, 37), type), numbers((37, 45), type, 1), numbers((70, 45), wide, 2)
    A, B = (wb.array(v, device=device, requires_grad=True) for v in (a, b))
    C = wb.array(np.zeros((70, 45), wide), device=device)
    with wb.Tape() as tape:
        wb.launch_tiled(gemm_double if name == "float64" else gemm, dim=[3, 3], inputs=[A, B, C], block_dim=64)
    tape.backward(grads={C: wb.array(seed, device=device)})
    a, b, seed = (v.astype(np.float64) for v in (a, b, seed))
    # Blocks add up in the matrices' type, and bfloat16 has 8 bits: sums of hundreds are rounded.
    error = 5 * 2**-8 if name == "bfloat16" else 0
    np.testing.assert_allclose(A.grad.numpy().astype(np.float64), seed @ b.T, rtol=error, atol=5 * error)
    np.testing.assert_allclose(B.grad.numpy().astype(np.float64), a.T @ seed, rtol=error, atol=5 * error)
