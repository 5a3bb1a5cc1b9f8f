"""CUDA programs to run on the emulated device: how they are compiled, launched and compared."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb

LANES = np.arange(32)


def module(text: str, **options: Any) -> wb.CudaModule:
    """The program for the emulated device."""
    return wb.cuda_module(text, run="emulated", **options)


def go(kernel: wb.CudaKernel, blocks: int, block: int, *arguments: Any, shared: int = 0) -> None:
    """`kernel<<<blocks, block, shared>>>(arguments…)`, to its end."""
    kernel[blocks * block](*arguments, block_dim=block, shared=shared)
    wb.synchronize()


def same(found: Any, right: Any) -> None:
    """Fail unless the numbers are these, but for rounding."""
    np.testing.assert_allclose(found.numpy() if isinstance(found, wb.array) else found, right, rtol=1e-5)


def floats(n: int) -> np.ndarray:
    """Numbers from 0 to 1."""
    return np.random.default_rng(n).random(n, dtype=np.float32)


def ints(n: int, most: int) -> np.ndarray:
    """Numbers from 0 up to one below `most`."""
    return np.random.default_rng(n).integers(0, most, n).astype(np.int32)
