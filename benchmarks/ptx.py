"""PTX executed on the CPU: what a launch costs per instruction, and what a kernel costs until it can run.

The second table's peer is the CPU backend on the same kernel, whose time is the measure for a cold cell.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from measure import Row, Table, clock, take_turns, write

import workbench as wb
from tests.support.kernels.ptx_runs import Memory
from workbench.api.builds.build import function_of
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import warm
from workbench.backends.cpu.jit import load as load_object
from workbench.backends.cuda.compile.nvrtc import CudaBackend, build
from workbench.backends.ptx.compile import Options as Emulated
from workbench.backends.ptx.compile import compile_kernel
from workbench.backends.ptx.counters import empty_table
from workbench.backends.ptx.kernel import Launch, load
from workbench.backends.ptx.syntax.parse import parse

THREADS = 1 << 20
ROUNDS = 7
TEXT = r"""
extern "C" __global__ void saxpy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i] + y[i];
}
extern "C" __global__ void polynomial(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], s = v;
#pragma unroll 1
  for (int k = 0; k < 18; k++) s = s * v + 0.5f;
  y[i] = s;
}
extern "C" __global__ void divergent(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
#pragma unroll 1
  for (int k = 0; k < 7; k++) { float v = x[(i + k * 7) % n]; if (v > 0.5f) s += v * v; else s -= v; }
  y[i] = s;
}
extern "C" __global__ void tree(const float* x, float* y, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int k = 128; k; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
  y[i] = s[0];
}
"""
KERNELS = {
    "saxpy": "def k(a: float, x: array[float], y: array[float]):\n    i = tid()\n    y[i] = a * x[i] + y[i]\n",
    "blur": """def k(image: array2d[float], out: array2d[float], radius: int):
    i, j = tid()
    total = 0.0
    for di in range(-radius, radius + 1):
        for dj in range(-radius, radius + 1):
            y = clamp(i + di, 0, image.shape[0] - 1)
            x = clamp(j + dj, 0, image.shape[1] - 1)
            total += image[y, x]
    out[i, j] = total
""",
    "n-body": """def k(p: array[vec3], f: array[vec3]):
    i = tid()
    total = vec3(0.0, 0.0, 0.0)
    for j in range(p.shape[0]):
        d = p[j] - p[i]
        r = dot(d, d) + 0.01
        total += d / (r * sqrt(r))
    f[i] = total
""",
}


def launches() -> None:
    """Seconds of a launch of 2²⁰ threads, plain and counting."""
    program = parse(build(TEXT, Options(), "sm_90", "ptx").image.decode())
    memory = Memory()
    x = np.random.default_rng(0).random(THREADS).astype(np.float32)
    at, to = memory.put(x), memory.put(x)
    parameters = struct.pack("<QQi", at, to, THREADS)
    table = Table("ptx_launches", "PTX on the CPU: a launch of 2²⁰ threads", ROUNDS)
    for name in program.entries:
        cases: dict[str, Callable[[], float]] = {}
        note = ""
        for case, counting in (("workbench", False), ("counting", True)):
            kernel = load(compile_kernel(program, name, Emulated(counting)))
            facts = kernel.facts
            empty = empty_table(len(facts.blocks), len(facts.code))
            counters = (ctypes.c_int64 * len(empty))(*empty)
            grid, how = (THREADS // 256,), Launch(counters=counters if counting else None)
            run = partial(kernel.launch, grid, (256,), parameters, memory.arena, how)
            if counting:
                run()
                ends = sorted({*facts.blocks, len(facts.code)})
                sizes = {a: b - a for a, b in pairwise(ends)}
                total = sum(counters[2 * n + 1] * sizes.get(at, 0) for n, at in enumerate(facts.blocks))
                note = f"{total / THREADS:.0f} instructions per thread"
            cases[case] = clock(run)
        table.rows.append(Row(name, take_turns(cases, ROUNDS), note))
    write(table)


def cold() -> None:
    """Seconds from PTX, and from the same kernel's IR, to code that can be called."""
    warm()
    table = Table("ptx_cold", "PTX to a runnable kernel, beside the CPU backend", ROUNDS)
    for name, text in KERNELS.items():
        cell = wb.build_cell(text, {}, backend="cpu", compile=False)
        function = function_of(cell.kernels["k"].specialise(), "forward")
        ptx = CudaBackend().ptx(function, Options(), "sm_90")
        cases = {"workbench": clock(partial(_emulated, ptx)), "CPU backend": clock(partial(_cpu, function))}
        table.rows.append(Row(name, take_turns(cases, ROUNDS)))
    write(table)


def _emulated(text: str) -> None:
    load(compile_kernel(parse(text), "k"))


def _cpu(function: Any) -> None:
    backend = CpuBackend()
    made = backend.compile(function, Options(), backend.target())
    load_object(made.image, made.metadata["entry"])


if __name__ == "__main__":
    launches()
    cold()
