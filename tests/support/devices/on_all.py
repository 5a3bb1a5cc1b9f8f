"""One kernel of tiles on the interpreter and the CPU, checked or not; in the slow tier as CUDA text too: all agree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import workbench as wb
from workbench.backends.base import Options
from workbench.backends.python import run

AS_CUDA = "WORKBENCH_TEST_TILES_AS_CUDA"
"""Set in the slow tier: a kernel runs on the emulated device too (tests/backends/cuda/tiles/test_tile_programs.py)."""


def arrays_of(args: Sequence[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def on_cpu(kernel: Any, dim: Sequence[int], args: Sequence[Any], block_dim: int = 32, **options: Any) -> list[Any]:
    """What the arguments are after a launch over blocks."""
    given = arrays_of(args)
    wb.launch_tiled(kernel, dim=dim, inputs=given, block_dim=block_dim, device="cpu", **options)
    return given


def interpreted(kernel: Any, dim: Sequence[int], args: Sequence[Any]) -> list[Any]:
    """What the arguments are after the interpreter ran the function that was launched last."""
    given = arrays_of(args)
    run(kernel.used.function, dim, given)
    return given


def as_cuda_text(kernel: Any, dim: Sequence[int], args: Sequence[Any]) -> list[Any]:
    """What the arguments are after that function ran on the emulated device, its warps in a shuffled order."""
    from tests.support.devices import on_gpu

    given = arrays_of(args)
    function = kernel.used.function
    on_gpu.Library([function], Options()).run(function.name, dim, given, seed=1)
    return given


def same_on_all(
    kernel: Any, dim: Sequence[int], args: Sequence[Any], block_dim: int = 32, rtol: float = 0.0, atol: float = 0.0
) -> list[Any]:
    """What the arguments are after the kernel; CPU, checked code and CUDA text mean what the interpreter means."""
    plain = on_cpu(kernel, dim, args, block_dim)
    others = [on_cpu(kernel, dim, args, block_dim, checks=True), interpreted(kernel, dim, args)]
    if os.environ.get(AS_CUDA):
        others.append(as_cuda_text(kernel, dim, args))
    for other in others:
        for a, b in zip(plain, other, strict=True):
            if isinstance(a, np.ndarray):
                np.testing.assert_allclose(wide(a), wide(b), rtol=rtol, atol=atol)
    return plain


def wide(a: Any) -> Any:
    """The same numbers in a type that NumPy's testing knows."""
    return a.astype(np.float64) if a.dtype.kind in "fV" else a
