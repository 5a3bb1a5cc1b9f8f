"""Tiles on one core of the CPU: `tile_matmul` against the measured peak of multiply-adds, tiled kernels against NumPy.

Run: python benchmarks/tiles.py. Ratios of one run; the best of several repeats, in
processor time of the thread, so that a busy machine disturbs them little.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("WORKBENCH_THREADS", "1")

import numpy as np

import workbench as wb
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.cpu.jit import load_symbols
from workbench.frontend.state.context import Tiling

ROUNDS = 4000
CHAINS = 16
N = wb.constant(64)
K = wb.constant(64)


@wb.kernel
def repeated(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float], rounds: int):
    """One product, again and again."""
    wb.tid()
    left = wb.tile_load(a, shape=(N, K))
    right = wb.tile_load(b, shape=(K, N))
    acc = wb.tile_zeros((N, N))
    for _ in range(rounds):
        wb.tile_matmul(left, right, acc)
    wb.tile_store(c, acc)


@wb.kernel
def gemm(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
    """c = a @ b, a tile of c a block."""
    i, j = wb.tid()
    acc = wb.tile_zeros((N, N))
    for k in range((a.shape[1] + K - 1) // K):
        left = wb.tile_load(a, shape=(N, K), offset=(i * N, k * K))
        right = wb.tile_load(b, shape=(K, N), offset=(k * K, j * N))
        wb.tile_matmul(left, right, acc)
    wb.tile_store(c, acc, offset=(i * N, j * N))


@wb.kernel
def row_sums(x: wb.array2d[float], y: wb.array[float]):
    """The denominator of a softmax, a row per block."""
    i = wb.tid()
    t = wb.tile_load(x[i], shape=1024)
    y[i] = wb.tile_sum(wb.exp(t - wb.tile_max(t)))


def best_of(run: Callable[[], object], repeats: int = 15) -> float:
    """Seconds of processor time of a run."""
    run()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return min(times)


def peak(lanes: int) -> float:
    """Float operations per second of `CHAINS` independent chains of multiply-adds on vectors of so many float32."""
    kind = f"<{lanes} x float>"
    rows = [f"declare {kind} @llvm.fma.v{lanes}f32({kind}, {kind}, {kind})"]
    rows += [f'define i32 @peak(ptr %out, i64 %n) nounwind "min-legal-vector-width"="{lanes * 32}" {{', "start:"]
    rows += [f"  %x = load {kind}, ptr %out, align 4", "  br label %loop", "loop:"]
    rows.append("  %i = phi i64 [ 0, %start ], [ %more, %loop ]")
    rows += [f"  %a{c} = phi {kind} [ %x, %start ], [ %b{c}, %loop ]" for c in range(CHAINS)]
    rows += [f"  %b{c} = call {kind} @llvm.fma.v{lanes}f32({kind} %x, {kind} %x, {kind} %a{c})" for c in range(CHAINS)]
    rows += [
        "  %more = add i64 %i, 1",
        "  %on = icmp slt i64 %more, %n",
        "  br i1 %on, label %loop, label %end",
        "end:",
    ]
    rows.append(f"  %s0 = fadd {kind} %b0, %b0")
    rows += [f"  %s{c} = fadd {kind} %s{c - 1}, %b{c}" for c in range(1, CHAINS)]
    rows += [f"  store {kind} %s{CHAINS - 1}, ptr %out, align 4", "  ret i32 0", "}"]
    code = load_symbols(compile_text("\n".join(rows), CpuBackend().target(), optimise=False), ["peak"])
    run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(code.addresses["peak"])
    out = np.zeros(64, np.float32)
    count = 2_000_000
    return 2 * lanes * CHAINS * count / best_of(lambda: run(out.ctypes.data, count))


def main() -> None:
    """Print the ratios."""
    rng = np.random.default_rng(0)
    best = max(peak(lanes) for lanes in (8, 16))
    a, b = (rng.standard_normal((64, 64)).astype(np.float32) for _ in range(2))
    c = np.zeros_like(a)
    arrays = [wb.from_numpy(v) for v in (a, b, c)]
    seconds = best_of(lambda: wb.launch_tiled(repeated, dim=[1], inputs=[*arrays, ROUNDS], block_dim=64))
    speed = 2 * 64**3 * ROUNDS / seconds
    print(f"multiply-adds, one core: {best / 1e9:.1f} GFLOP/s")
    print(f"tile_matmul 64x64x64 float32: {speed / 1e9:.1f} GFLOP/s, {speed / best:.0%} of that")
    for n in (256, 1000):
        a, b = (rng.standard_normal((n, n)).astype(np.float32) for _ in range(2))
        c = np.zeros_like(a)
        arrays = [wb.from_numpy(v) for v in (a, b, c)]
        blocks = [-(-n // 64)] * 2
        ours = best_of(lambda v=arrays, d=blocks: wb.launch_tiled(gemm, dim=d, inputs=v, block_dim=64))
        theirs = best_of(lambda x=a, y=b, z=c: np.matmul(x, y, out=z))
        print(f"tiled product of {n} x {n}, one core: {ours / theirs:.2f} times NumPy's time")
    x = rng.standard_normal((4096, 1024)).astype(np.float32)
    y = np.zeros(4096, np.float32)
    given = [wb.from_numpy(x), wb.from_numpy(y)]
    ours = best_of(lambda: wb.launch_tiled(row_sums, dim=[4096], inputs=given, block_dim=64))
    theirs = best_of(lambda: np.exp(x - x.max(1, keepdims=True)).sum(1))
    print(f"sums of exp(row - max) over 4096 x 1024, one core: {ours / theirs:.2f} times NumPy's time")
    backend = CpuBackend()
    for kernel, ndim in ((row_sums, 1), (gemm, 2)):
        function = kernel.specialise(None, Tiling(64, ndim)).function
        start = time.process_time()
        backend.compile(function, Options(), backend.target())
        print(f"compiling {kernel.name}: {1000 * (time.process_time() - start):.0f} ms of processor time")


if __name__ == "__main__":
    main()
