"""Asynchronous copies (`cp.async`) with checks: a read before its wait is reported, a sound pipeline is not."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

pytest.importorskip("cuda.bindings.driver")

TEXT = """#include <cuda_pipeline_primitives.h>
__global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float s[3][64];
    int t = threadIdx.x;
    float total = 0;
    for (int n = 0; n < 2; n++) {
        __pipeline_memcpy_async(&s[n][t], x + 64 * n + t, 4);
        __pipeline_commit();
    }
    for (int n = 0; n < 200; n++) {
        WAIT
        __syncthreads();
        total += s[n % 3][63 - t];
        if (n < 198) __pipeline_memcpy_async(&s[(n + 2) % 3][t], x + 64 * ((n + 2) % 4) + t, 4);
        __pipeline_commit();
    }
    y[t] = total;
}
"""


def run(wait: str, checks: bool) -> np.ndarray:
    x, y = np.arange(256, dtype=np.float32), np.zeros(64, np.float32)
    with wb.ScopedDevice("emulated"), wb.checks(checks):
        wb.cuda_module(TEXT.replace("WAIT", wait), run="emulated", name="cell")["k"][64](x, y, block_dim=64)
    return y


@pytest.mark.parametrize("checks", [False, True])
def test_three_stages_of_copies(checks: bool) -> None:
    """NVRTC makes addresses of shared memory whose register is below zero: with the offset they wrap."""
    rows = np.arange(256, dtype=np.float32).reshape(4, 64)[:, ::-1]
    assert (run("__pipeline_wait_prior(1);", checks) == 50 * rows.sum(0)).all()


@pytest.mark.parametrize("wait", ["", "__pipeline_wait_prior(2);"])
def test_a_copy_that_is_read_before_the_wait_is_a_race(wait: str) -> None:
    """Not waited for at all, or for one group too few."""
    with pytest.raises(wb.KernelFault, match=r"of shared memory, where a cp\.async may not have arrived yet") as met:
        run(wait, checks=True)
    assert (met.value.kind, met.value.location and met.value.location.line) == ("race", 13)
