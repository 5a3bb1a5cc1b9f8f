"""A tiled product of matrices and its adjoint on a device, beside cuBLAS through PyTorch, CuPy or JAX if one is there.

Needs a CUDA device.
"""

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
TYPES = {"float32": np.float32, "tf32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


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


@wb.kernel
def gemm_tf32(A: wb.array2d[float], B: wb.array2d[float], C: wb.array2d[float]):
    """The same, of operands rounded to TF32."""
    i, j = wb.tid()
    acc = wb.tile_zeros(shape=(TM, TN), dtype=wb.float32)
    for k in range((A.shape[1] + TK - 1) // TK):
        a = wb.tile_load(A, shape=(TM, TK), offset=(i * TM, k * TK))
        b = wb.tile_load(B, shape=(TK, TN), offset=(k * TK, j * TN))
        wb.tile_matmul(a, b, acc, precision="tf32")
    wb.tile_store(C, acc, offset=(i * TM, j * TN))


def measured(gpu: Driver, side: int = SIDE, adjoint: bool = False) -> dict[str, float]:
    """Operations per second by type; the arguments are those of `rate`."""
    return {name: rate(gpu, name, side, adjoint) for name in TYPES}


def rate(gpu: Driver, name: str, side: int, adjoint: bool) -> float:
    """Operations per second of the product of two matrices of `side` × `side` and this type, or of its adjoint.

    The adjoint is two products: of the cotangent of C with B, and of A with it.
    """
    a, b, adj_a, adj_b = (wb.array(np.full((side, side), k, TYPES[name]), device=DEVICE) for k in (1, 1, 0, 0))
    c, adj_c = wb.zeros((side, side), float, device=DEVICE), wb.full((side, side), 1.0, float, device=DEVICE)
    kernel, dim = gemm_tf32 if name == "tf32" else gemm, [-(-side // ROWS), -(-side // COLUMNS)]
    if not adjoint:
        run = wb.launch_tiled(kernel, dim=dim, inputs=[a, b, c], block_dim=BLOCK, record_cmd=True)
        assert run is not None
        found = 2 * side**3 / device_seconds(gpu, run.launch)
        assert (c.numpy() == side).all(), f"the product of {name} is wrong"
        return found
    wb.launch_tiled(kernel, dim=dim, inputs=[a, b], outputs=[c], block_dim=BLOCK, adjoint=True,
                    adj_inputs=[adj_a, adj_b], adj_outputs=[adj_c])  # fmt: skip
    for adjoints in (adj_a, adj_b):
        assert (adjoints.numpy() == TYPES[name](side)).all(), f"the adjoint of the product of {name} is wrong"
    run = wb.launch_tiled(kernel, dim=dim, inputs=[a, b], outputs=[c], block_dim=BLOCK, adjoint=True,
                          adj_inputs=[adj_a, adj_b], adj_outputs=[adj_c], record_cmd=True)  # fmt: skip
    assert run is not None
    return 4 * side**3 / device_seconds(gpu, run.launch)


Product = Callable[[int, str], Callable[[], Any]]
"""Side and type to a product that is done when it returns; None for a type that the library does not have."""


def library_rates(side: int = SIDE) -> dict[str, float]:
    """Operations per second by cuBLAS, forward; empty if there is no PyTorch, CuPy or JAX with a GPU."""
    product = _torch() or _cupy() or _jax()
    if product is None:
        return {}
    found = {name: product(side, name) for name in TYPES}
    return {name: 2 * side**3 / _median(run) for name, run in found.items() if run is not None}


def _torch() -> Product | None:
    try:
        import torch  # type: ignore[import-not-found]
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None

    def product(side: int, name: str) -> Callable[[], Any]:
        a = torch.ones((side, side), dtype=getattr(torch, "float32" if name == "tf32" else name), device="cuda:0")

        def run() -> None:
            torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
            torch.matmul(a, a)
            torch.cuda.synchronize()

        return run

    return product


def _cupy() -> Product | None:
    try:
        import cupy  # type: ignore[import-not-found]
    except ImportError:
        return None

    def product(side: int, name: str) -> Callable[[], Any] | None:
        if name == "tf32":
            return None
        a = cupy.ones((side, side), cupy.dtype(TYPES[name]))
        return lambda: (a @ a, cupy.cuda.Device().synchronize())

    return product


def _jax() -> Product | None:
    try:
        import jax

        jax.devices("gpu")
    except (ImportError, RuntimeError):
        return None

    def product(side: int, name: str) -> Callable[[], Any]:
        a = jax.numpy.ones((side, side), TYPES[name])
        precision = "tensorfloat32" if name == "tf32" else "highest"
        run = jax.jit(lambda x: jax.numpy.matmul(x, x, precision=precision, preferred_element_type=jax.numpy.float32))
        return lambda: run(a).block_until_ready()

    return product


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
    back = measured(gpu, adjoint=True)
    print(f"{title(gpu)}, {SIDE}×{SIDE}×{SIDE}")
    for kind, rates in (("forward", ours), ("adjoint", back)):
        for name, value in rates.items():
            beside = f", cuBLAS {theirs[name] / 1e12:.1f}: {value / theirs[name]:.0%}" if name in theirs else ""
            print(f"{name:10} {kind} {value / 1e12:8.1f} TFLOP/s{beside}")


if __name__ == "__main__":
    main()
