"""Kernels of tiles on a device against NumPy: products of all types, reductions, much shared memory, graphs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.gpu
TM, TN, TK = wb.constant(32), wb.constant(16), wb.constant(16)
WIDE = wb.constant(20000)
TYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}


@wb.kernel
def gemm(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[wb.Any]):
    i, j = wb.tid()
    acc = wb.tile_zeros(shape=(TM, TN), dtype=wb.float32)
    for k in range((A.shape[1] + TK - 1) // TK):
        a = wb.tile_load(A, shape=(TM, TK), offset=(i * TM, k * TK))
        b = wb.tile_load(B, shape=(TK, TN), offset=(k * TK, j * TN))
        wb.tile_matmul(a, b, acc)
    wb.tile_store(C, acc, offset=(i * TM, j * TN))


@wb.kernel
def product(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[wb.Any]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(TM, 40), offset=(i * TM, 0))
    b = wb.tile_load(B, shape=(40, TN), offset=(0, j * TN))
    wb.tile_store(C, a @ b, offset=(i * TM, j * TN))


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
    wb.launch_tiled(wide, dim=[2], inputs=given, block_dim=256)
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
    wb.launch_tiled(wide, dim=[2], inputs=[first, second], block_dim=128)
    with wb.capture() as graph:
        wb.launch_tiled(wide, dim=[2], inputs=[first, second], block_dim=128)
        wb.launch_tiled(wide, dim=[2], inputs=[second, first], block_dim=128)
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


def test_gradients_of_a_product(device: str) -> None:
    a, b, seed = numbers((70, 37)), numbers((37, 45), seed=1), numbers((70, 45), seed=2)
    A, B = (wb.array(v, device=device, requires_grad=True) for v in (a, b))
    C = wb.zeros((70, 45), wb.float32, device=device)
    with wb.Tape() as tape:
        wb.launch_tiled(gemm, dim=[3, 3], inputs=[A, B, C], block_dim=64)
    tape.backward(grads={C: wb.array(seed, device=device)})
    np.testing.assert_array_equal(A.grad.numpy(), seed @ b.T)
    np.testing.assert_array_equal(B.grad.numpy(), a.T @ seed)
