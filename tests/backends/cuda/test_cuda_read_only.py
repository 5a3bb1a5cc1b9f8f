"""Loads by the read-only path in loops that NVRTC unrolls: the compiler of CUDA 12.9 reads from the wrong element."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.backends.cuda import toolkit

TEXT = """
extern "C" __global__ void runs(const int* x, int n, int* y, int* ends, int room, int size) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * size, last = min(first + size, n - 1);
    int r = first, start = first;
    for (int i = first; i < last; ++i) {
        int next = i + 1;
        if (__ldg(&x[next]) != __ldg(&x[i])) {
            y[r < 0 ? r + room : r] = __ldg(&x[i]);
            ends[r < 0 ? r + room : r] = next - start;
            r++;
            start = next;
        }
    }
}
"""


@wb.kernel
def runs(x: wb.array[int], y: wb.array[int], ends: wb.array[int], size: int):
    first = max(wb.tid() * size, 0)
    last = min(first + size, len(x) - 1)
    r = first
    start = first
    for i in range(first, last):
        if x[i + 1] != x[i]:
            y[r] = x[i]
            ends[r] = i + 1 - start
            r += 1
            start = i + 1


def reference(x: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    y, ends = np.zeros_like(x), np.zeros_like(x)
    for first in range(0, len(x), size):
        r = start = first
        for i in range(first, min(first + size, len(x) - 1)):
            if x[i + 1] != x[i]:
                y[r], ends[r] = x[i], i + 1 - start
                r, start = r + 1, i + 1
    return y, ends


@pytest.mark.parametrize("size", [1, 5, 32])
def test_a_loop_that_compares_neighbours(size: int) -> None:
    x = np.random.default_rng(size).integers(0, 3, 640).astype(np.int32)
    y, ends = wb.zeros(640, int, device="emulated"), wb.zeros(640, int, device="emulated")
    wb.launch(runs, 640 // size, [wb.array(x, device="emulated"), y, ends, size], device="emulated")
    for found, wanted in zip((y, ends), reference(x, size), strict=True):
        np.testing.assert_array_equal(found.numpy(), wanted)


def test_the_fault_is_still_there() -> None:
    """Of NVRTC 12; once its text is right as it stands, `("ldg",)` of the prelude can go."""
    x = np.random.default_rng(1).integers(0, 3, 640).astype(np.int32)
    y, ends = wb.zeros(640, int, device="emulated"), wb.zeros(640, int, device="emulated")
    kernel = wb.cuda_module(TEXT, run="emulated")["runs"]
    wb.launch(kernel, 20, [wb.array(x, device="emulated"), 640, y, ends, 640, 32], device="emulated")
    is_right = np.array_equal(y.numpy(), reference(x, 32)[0])
    assert is_right == (toolkit.compiler().major >= 13)
