"""Programs that are right, of kinds that a sanitizer easily takes for wrong: fences, tickets, groups, barriers."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

pytest.importorskip("cuda.bindings.driver")

TEXT = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define T (int)threadIdx.x
__global__ void last_block(const float* x, float* y, int* count) {
    __shared__ float s[64];
    __shared__ bool last;
    s[T] = x[blockIdx.x * 64 + T];
    __syncthreads();
    for (int h = 32; h; h /= 2) { if (T < h) s[T] += s[T + h]; __syncthreads(); }
    if (T == 0) {
        y[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || T) return;
    __threadfence();
    for (int b = 1; b < gridDim.x; b++) y[0] += y[b];
}
__global__ void chained(const float* x, float* y, int* ready) {
    if (T) return;
    int b = blockIdx.x;
    float before = 0;
    if (b) { while (!atomicAdd(ready + b - 1, 0)) {} __threadfence(); before = y[b - 1]; }
    y[b] = before + x[b];
    __threadfence();
    atomicExch(ready + b, 1);
}
__global__ void tickets(float* y, int* lock) {
    if (T % 32) return;
    int mine = atomicAdd(lock, 1);
    while (atomicAdd(lock + 1, 0) != mine) {}
    __threadfence();
    y[0] += 1;
    __threadfence();
    atomicAdd(lock + 1, 1);
}
__global__ void named(const float* x, float* y) {
    __shared__ float s[32];
    for (int k = 0; k < 3; k++)
        if (T < 32) {
            s[T] = x[k * 32 + T];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            y[k * 32 + T - 32] = s[63 - T];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
}
__global__ void groups(const float* x, float* y) {
    __shared__ float s[64];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    s[T] = x[T];
    tile.sync();
    y[T] = cg::reduce(tile, s[T / 16 * 16 + 15 - T % 16], cg::plus<float>());
    if ((int)x[T] % 3 == 0) {
        auto some = cg::coalesced_threads();
        int first = 0;
        if (some.thread_rank() == 0) first = atomicAdd((int*)y + 64, some.size());
        ((int*)y)[65 + some.shfl(first, 0) + some.thread_rank()] = T;
    }
}
__global__ void aside(float* y) {
    __shared__ float s[80];
    s[T] = T;
    __syncthreads();
    float2 v = *(float2*)(s + 1 + (T & ~1));
    y[T] = v.x + v.y;
}
"""


@pytest.mark.slow
def test_programs_without_a_race_are_left_alone() -> None:
    module = wb.cuda_module(TEXT, run="emulated", name="cell")
    x = np.arange(256, dtype=np.float32)

    def ran(name: str, blocks: int, *more: np.ndarray, reads: bool = True) -> np.ndarray:
        y = np.zeros(256, np.float32)
        module[name][64 * blocks](*([x] if reads else []), y, *more, block_dim=64)
        return y

    with wb.ScopedDevice("emulated"), wb.checks():
        assert ran("last_block", 4, np.zeros(1, np.int32))[0] == x.sum()
        assert (ran("chained", 4, np.zeros(4, np.int32))[:4] == x[:4].cumsum()).all()
        assert ran("tickets", 3, np.zeros(2, np.int32), reads=False)[0] == 6
        assert (ran("named", 1)[:96] == x[:96].reshape(3, 32)[:, ::-1].reshape(-1)).all()
        found = ran("groups", 1)
        assert (found[:64] == np.repeat(x[:64].reshape(4, 16).sum(1), 16)).all()
        assert sorted(found.view(np.int32)[65:87]) == list(range(0, 64, 3))
        with pytest.raises(wb.KernelFault, match="at byte 4 of shared memory, which is not a multiple of 8 bytes"):
            ran("aside", 1, reads=False)
