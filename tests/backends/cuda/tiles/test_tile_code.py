"""What the emulated device counts of products of tiles: no bank conflicts, tensor cores in both directions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import workbench as wb
from tests.support.devices.interpreted import load_interpreted
from tests.support.kernels.gemm import gemm_kernel
from tests.support.ptx_interpreter.copies import Copies
from workbench.api.builds import build
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.runtime.device import driver

TYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
TM, TN, TK = (wb.constant(n) for n in (64, 64, 32))

gemm = gemm_kernel(64, 64, 32)


@wb.kernel
def gemm_tf32(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[float]):
    i, j = wb.tid()
    acc = wb.tile_zeros((TM, TN))
    for k in range(A.shape[1] // TK):
        a = wb.tile_load(A, shape=(TM, TK), offset=(i * TM, k * TK))
        b = wb.tile_load(B, shape=(TK, TN), offset=(k * TK, j * TN))
        wb.tile_matmul(a, b, acc, precision="tf32")
    wb.tile_store(C, acc, offset=(i * TM, j * TN))


def arguments(type: Any) -> list[wb.array]:
    rng = np.random.default_rng(0)
    a, b = (wb.array(rng.uniform(-1, 1, shape).astype(type)) for shape in ((64, 96), (96, 64)))
    return [a, b, wb.zeros((64, 64))]


SLOW = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "backwards"),
    [("float16", False), *(pytest.param(*c, marks=SLOW) for c in (("float16", True), ("tf32", False), ("tf32", True)))],
)
def test_no_bank_is_met_twice(name: str, backwards: bool) -> None:
    given = arguments(TYPES.get(name, np.float32))
    kernel = gemm_tf32 if name == "tf32" else gemm
    total = wb.profile(kernel, [1, 1], given, adjoint=backwards, block_dim=128, tiled=True).total
    assert total.shared_wavefronts == total.shared_wavefronts_least > 0


@pytest.mark.parametrize("name", ["float16", pytest.param("bfloat16", marks=SLOW)])
def test_gradients_of_16_bits_use_tensor_cores_and_no_loops(name: str) -> None:
    wb.launch_tiled(gemm, [1, 1], inputs=arguments(TYPES[name]), block_dim=128)
    text = CudaBackend().ptx(adjoint(gemm.used.function), Options(), "sm_90")
    assert "mma.sync" in text and "red.global.add.noftz" in text
    assert ".cas." not in text


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_gradients_of_16_bits_keep_the_range_of_the_cotangent(size: float) -> None:
    rng = np.random.default_rng(1)
    a = rng.uniform(1, 2, (64, 96)).astype(np.float16)
    b = (rng.uniform(1, 2, (96, 64)) / size**0.5).astype(np.float16)
    seed = (rng.uniform(1, 2, (64, 64)) * size**0.5 / 100).astype(np.float32)
    A, B = (wb.array(v, device="emulated:0", requires_grad=True) for v in (a, b))
    C = wb.zeros((64, 64), device="emulated:0")
    with wb.Tape() as tape:
        wb.launch_tiled(gemm, [1, 1], inputs=[A, B, C], block_dim=128)
    tape.backward(grads={C: wb.array(seed, device="emulated:0")})
    want = seed.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(A.grad.numpy().astype(np.float64), want, rtol=2**-10)


@pytest.mark.parametrize(("size", "block_dim"), [(64, 64), pytest.param(128, 256, marks=SLOW)])
def test_copies_of_two_turns_are_under_way_at_each_wait(size: int, block_dim: int, monkeypatch: Any) -> None:
    """In the interpreter a copy lands when it is waited for: the product is right only if each wait is."""
    monkeypatch.setattr(driver, "_started", [driver.new_driver(load_interpreted)])
    monkeypatch.setattr(build, "_DEVICE_CODE", {})
    kernel = gemm_kernel(size, size, 32)
    rng = np.random.default_rng(2)
    for turns in (0, 1, 2, 7):
        monkeypatch.setattr(Copies, "under_way", [])
        shapes = ((size, 32 * turns), (32 * turns, size))
        a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in shapes)
        given = [wb.array(v, device="emulated:0") for v in (a, b, np.ones((size, size), np.float32))]
        wb.launch_tiled(kernel, [1, 1], inputs=given, block_dim=block_dim)
        np.testing.assert_array_equal(given[2].numpy(), a.astype(np.float32) @ b.astype(np.float32))
        assert len(Copies.under_way) == turns
        assert all((found == 2).all() for found in Copies.under_way)


def test_each_turn_has_one_barrier() -> None:
    total = wb.profile(gemm, [1, 1], arguments(np.float16), block_dim=128, tiled=True).total
    assert total.barriers == 4 * 3  # warps × turns
