"""The three kernels whose memory accesses are counted: `counted.py DEVICE` runs each once, for ncu to watch.

Annotations are evaluated here, so `from __future__ import annotations` must not stand in this file.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3]))

import workbench as wb

N, SIDE, BLOCK = 1 << 20, 256, 128
TILE, DEPTH = wb.constant(64), wb.constant(32)


@wb.kernel
def unit_stride(x: wb.array[float], y: wb.array[float]):
    """Neighbouring threads read neighbouring elements: 4 sectors per warp and access."""
    i = wb.tid()
    y[i] = x[i]


@wb.kernel
def stride_32(x: wb.array[float], y: wb.array[float]):
    """Each thread reads a sector of its own: 32 sectors per warp."""
    i = wb.tid()
    y[i] = x[i * 32 % x.shape[0]]


@wb.kernel
def product(A: wb.array2d[wb.Any], B: wb.array2d[wb.Any], C: wb.array2d[float]):
    """A tiled product, whose operands lie in shared memory."""
    i, j = wb.tid()
    acc = wb.tile_zeros(shape=(TILE, TILE), dtype=wb.float32)
    for k in range(A.shape[1] // DEPTH):
        a = wb.tile_load(A, shape=(TILE, DEPTH), offset=(i * TILE, k * DEPTH))
        b = wb.tile_load(B, shape=(DEPTH, TILE), offset=(k * DEPTH, j * TILE))
        wb.tile_matmul(a, b, acc)
    wb.tile_store(C, acc, offset=(i * TILE, j * TILE))


def cases(device: str) -> dict[str, tuple[Any, Any, list[Any], bool]]:
    """Name to kernel, dims, arguments, and whether it works on tiles."""
    x, y = wb.full(N, 1.0, float, device=device), wb.zeros(N, float, device=device)
    a, b = (wb.array(np.ones((SIDE, SIDE), np.float16), device=device) for _ in range(2))
    c = wb.zeros((SIDE, SIDE), float, device=device)
    return {
        "unit_stride": (unit_stride, N, [x, y], False),
        "stride_32": (stride_32, N, [x, y], False),
        "product": (product, [SIDE // 64, SIDE // 64], [a, b, c], True),
    }


def main(device: str) -> None:
    """Run each once."""
    for kernel, dim, arguments, tiled in cases(device).values():
        if tiled:
            wb.launch_tiled(kernel, dim=dim, inputs=arguments, block_dim=BLOCK)
        else:
            wb.launch(kernel, dim, arguments)
    wb.synchronize(device)


if __name__ == "__main__":
    main(sys.argv[1])
