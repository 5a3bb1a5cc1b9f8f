"""The emulated device beside numba's CUDA simulator, which also runs a GPU's kernel on the CPU.

The results in the repository have a third column, a runner that compiled CUDA C++ by g++: they were measured before the
emulated device replaced it. Each kernel is timed in turns, as wall time and as processor time of all threads. The
simulator runs a Python thread per lane, so it gets fewer threads; all times are per million threads. It needs numba, in
this interpreter or the one that `WORKBENCH_NUMBA_PYTHON` names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from measure import Row, Table, take_turns, write

import workbench as wb

THREADS = 1 << 20
SIMULATED = 1 << 10
ROUNDS = 5
HEAD = 'extern "C" __global__ void {name}(const float* x, float* y, int n) {{\n'
CUDA = {
    "saxpy": "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) y[i] = 2.0f * x[i] + y[i];\n",
    "polynomial": """int i = blockIdx.x * blockDim.x + threadIdx.x;
if (i >= n) return;
float v = x[i], s = v;
#pragma unroll 1
for (int k = 0; k < 18; k++) s = s * v + 0.5f;
y[i] = s;
""",
    "tree": """__shared__ float s[256];
int t = threadIdx.x, i = blockIdx.x * 256 + t;
s[t] = x[i];
__syncthreads();
for (int k = 128; k; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
y[i] = s[0];
""",
}
SIMULATOR = r"""
import json, sys, time, numpy as np
from numba import cuda, float32
@cuda.jit
def saxpy(x, y, n):
    i = cuda.grid(1)
    if i < n: y[i] = 2 * x[i] + y[i]
@cuda.jit
def polynomial(x, y, n):
    i = cuda.grid(1)
    if i < n:
        v = x[i]; s = v
        for k in range(18): s = s * v + np.float32(0.5)
        y[i] = s
@cuda.jit
def tree(x, y, n):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x; i = cuda.grid(1)
    s[t] = x[i]; cuda.syncthreads()
    k = 128
    while k:
        if t < k: s[t] += s[t + k]
        cuda.syncthreads(); k >>= 1
    y[i] = s[0]
n = int(sys.argv[1])
x = np.random.default_rng(0).random(n).astype(np.float32); y = x.copy()
print("ready", flush=True)
for name in sys.stdin:
    wall, cpu = time.perf_counter(), time.process_time()
    globals()[name.strip()][n // 256, 256](x, y, n)
    print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]), flush=True)
"""


class Simulator:
    """numba's simulator in a process of its own, which needs `NUMBA_ENABLE_CUDASIM` from its start."""

    def __init__(self) -> None:
        python = os.environ.get("WORKBENCH_NUMBA_PYTHON", sys.executable)
        self.process = subprocess.Popen(
            [python, "-c", SIMULATOR, str(SIMULATED)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        )  # fmt: skip
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("numba is not installed: pip install numba, or set WORKBENCH_NUMBA_PYTHON")

    def __call__(self, name: str) -> tuple[float, float]:
        """Wall and processor seconds per million threads."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        wall, cpu = json.loads(self.process.stdout.readline())
        return wall * 1e6 / SIMULATED, cpu * 1e6 / SIMULATED


def ours(name: str, checks: bool = False) -> Callable[[], tuple[float, float]]:
    """A launch of 2²⁰ threads: wall and processor seconds per million."""
    kernel = wb.cuda_module(HEAD.format(name=name) + CUDA[name] + "}\n", run="emulated").kernels[name]
    x = wb.array(np.random.default_rng(0).random(THREADS).astype(np.float32), device="emulated")
    y = wb.array(np.ones(THREADS, np.float32), device="emulated")

    def once() -> tuple[float, float]:
        with wb.ScopedDevice("emulated"), wb.checks(checks):
            wall, cpu = time.perf_counter(), time.process_time()
            kernel[THREADS](x, y, THREADS, block_dim=256)
            wb.synchronize()
            return (time.perf_counter() - wall) * 1e6 / THREADS, (time.process_time() - cpu) * 1e6 / THREADS

    return once


def main() -> None:
    """Write both tables."""
    simulator = Simulator()
    walls = Table("emulated_wall", "A GPU's kernel on the CPU: wall time per million threads", ROUNDS)
    cpus = Table("emulated_cpu", "A GPU's kernel on the CPU: processor time per million threads", ROUNDS)
    for name in CUDA:
        cases = {
            "workbench": ours(name), "with checks": ours(name, True),
            "numba simulator": lambda name=name: simulator(name),
        }  # fmt: skip
        spent: dict[str, list[float]] = {case: [] for case in cases}

        def timed(case: str, run: Callable[[], tuple[float, float]]) -> Callable[[], float]:
            def once() -> float:
                wall, cpu = run()
                spent[case].append(cpu)  # noqa: B023 - used within this turn of the loop
                return wall

            return once

        load = f"load {os.getloadavg()[0]:.0f}"
        walls.rows.append(Row(name, take_turns({c: timed(c, run) for c, run in cases.items()}, ROUNDS), load))
        cpus.rows.append(Row(name, {case: float(np.median(found[1:])) for case, found in spent.items()}, load))
    for table in (walls, cpus):
        write(table)


if __name__ == "__main__":
    main()
