"""Warp's product of matrices, tile by tile, for tiles of any size.

Annotations are evaluated here, so `from __future__ import annotations` must not stand in this file.
"""

from typing import Any

import workbench as wb


def gemm_kernel(tm: int, tn: int, tk: int, accumulate: Any = wb.float32, dtype: Any = wb.Any) -> Any:
    """A kernel C = A·B: a block makes a tile of `tm` × `tn`, in steps of `tk`, and adds up in `accumulate`."""
    TM, TN, TK = (wb.constant(int(n)) for n in (tm, tn, tk))

    @wb.kernel
    def gemm(A: wb.array2d[dtype], B: wb.array2d[dtype], C: wb.array2d[dtype]):
        i, j = wb.tid()
        acc = wb.tile_zeros(shape=(TM, TN), dtype=accumulate)
        for k in range((A.shape[1] + TK - 1) // TK):
            a = wb.tile_load(A, shape=(TM, TK), offset=(i * TM, k * TK))
            b = wb.tile_load(B, shape=(TK, TN), offset=(k * TK, j * TN))
            wb.tile_matmul(a, b, acc)
        wb.tile_store(C, acc, offset=(i * TM, j * TN))

    return gemm
