"""A tiled product of matrices on a device, beside cuBLAS through CuPy or JAX where it is there. Needs a CUDA device."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from on_device import DEVICE, device_seconds, median, the_driver, title

import workbench as wb
from workbench.runtime.device.driver import Driver

SIDE = 4096
ROWS, COLUMNS = 128, 64
TM, TN, TK = wb.constant(ROWS), wb.constant(COLUMNS), wb.constant(32)
BLOCK = 128
TYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@wb.kernel
def gemm(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[float]):
    """`C = A · B`, a tile of C a block, added up in float32."""
    i, j = wb.tid()
    acc = wb.tile_zeros(shape=(TM, TN), dtype=wb.float32)
    for k in range((A.shape[1] + TK - 1) // TK):
        a = wb.tile_load(A, shape=(TM, TK), offset=(i * TM, k * TK))
        b = wb.tile_load(B, shape=(TK, TN), offset=(k * TK, j * TN))
        wb.tile_matmul(a, b, acc)
    wb.tile_store(C, acc, offset=(i * TM, j * TN))


def measured(gpu: Driver, side: int = SIDE) -> dict[str, float]:
    """Operations a second of the product of two matrices of `side` × `side`, by type."""
    rates = {}
    for name, type in TYPES.items():
        a, b = (wb.array(np.ones((side, side), type), device=DEVICE) for _ in range(2))
        c = wb.zeros((side, side), float, device=DEVICE)
        dim = [-(-side // ROWS), -(-side // COLUMNS)]
        run = wb.launch_tiled(gemm, dim=dim, inputs=[a, b, c], block_dim=BLOCK, record_cmd=True)
        assert run is not None
        rates[name] = 2 * side**3 / device_seconds(gpu, run.launch)
        assert (c.numpy() == side).all(), f"the product of {name} is wrong"
    return rates


def library_rates(side: int = SIDE) -> dict[str, float]:
    """The same by cuBLAS; nothing where neither CuPy nor JAX with a GPU is installed."""
    product = _cupy() or _jax()
    return {name: 2 * side**3 / product(side, name) for name in TYPES} if product else {}


def _cupy() -> Callable[[int, str], float] | None:
    try:
        import cupy  # type: ignore[import-not-found]
    except ImportError:
        return None

    def seconds(side: int, name: str) -> float:
        a = cupy.ones((side, side), cupy.dtype(TYPES[name]))
        return _median(lambda: (a @ a, cupy.cuda.Device().synchronize()))

    return seconds


def _jax() -> Callable[[int, str], float] | None:
    try:
        import jax

        jax.devices("gpu")
    except (ImportError, RuntimeError):
        return None
    jax.config.update("jax_default_matmul_precision", "highest")

    def seconds(side: int, name: str) -> float:
        a = jax.numpy.ones((side, side), TYPES[name])
        product = jax.jit(lambda x: jax.numpy.matmul(x, x, preferred_element_type=jax.numpy.float32))
        return _median(lambda: product(a).block_until_ready())

    return seconds


def _median(run: Callable[[], Any]) -> float:
    def once() -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return median(once)


def main() -> None:
    """Measure and print a table."""
    gpu = the_driver()
    ours, theirs = measured(gpu), library_rates()
    print(f"{title(gpu)}, {SIDE}×{SIDE}×{SIDE}")
    for name, rate in ours.items():
        beside = f", cuBLAS {theirs[name] / 1e12:.1f}: {rate / theirs[name]:.0%}" if name in theirs else ""
        print(f"{name:10} {rate / 1e12:8.1f} TFLOP/s{beside}")


if __name__ == "__main__":
    main()
