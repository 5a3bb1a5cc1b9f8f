"""Halves on a CPU without an instruction for them: LLVM calls functions that a process may not have."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cuda.bindings.driver")

SCRIPT = """
import numpy as np
import workbench as wb

text = '''
#include <cuda_fp16.h>
__global__ void k(const __half* x, const float* f, __half* y, float* z) {
    int i = threadIdx.x;
    y[i] = __hadd(x[i], __float2half(f[i]));
    z[i] = __half2float(x[i]);
}
'''
chance = np.random.default_rng(0)
x, f = chance.normal(size=64).astype("f2"), (chance.normal(size=64) * 1e-4).astype("f4")
x[:3] = np.inf, 6e-8, -0.0
y, z = np.zeros(64, "f2"), np.zeros(64, "f4")
wb.cuda_module(text, run="emulated")["k"][64](x, f, y, z, block_dim=64)
assert (y == x + f.astype("f2")).all() and (z == x.astype("f4")).all()
print("equal")
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="levels of x86-64")
def test_halves_convert_on_the_second_level_of_x86(tmp_path: Path) -> None:
    around = {**os.environ, "WORKBENCH_CPU": "x86-64-v2", "WORKBENCH_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], env=around, capture_output=True, text=True, timeout=600)
    assert ran.stdout == "equal\n", ran.stderr
