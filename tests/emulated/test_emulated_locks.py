"""Lanes of a warp that wait for each other on the emulated device: locks make progress, or are reported."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

pytest.importorskip("cuda.bindings.driver")

HEAD = """__device__ int lock;
__global__ void k(float* x) {
    int t = threadIdx.x;
"""
TAKE = "while (atomicCAS(&lock, 0, 1)) {}\n"
GIVE = "__threadfence(); atomicExch(&lock, 0);\n"
ADD = TAKE + "x[0] = x[0] + 1;\n" + GIVE


def run(body: str, blocks: int = 1, checks: bool = True) -> np.ndarray:
    module = wb.cuda_module(HEAD + body + "}\n", run="emulated", name="cell")
    x = wb.zeros(256, dtype=wb.float32, device="emulated")
    with wb.ScopedDevice("emulated"), wb.checks(checks):
        module.kernels["k"][64 * blocks](x, block_dim=64)
        wb.synchronize()
    return x.numpy()


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize(
    "after",
    [
        "",
        "__syncwarp(); x[1 + t] = 7;\n",
        "__syncthreads(); x[1 + t] = 7;\n",
        "x[1 + t] = 4 + __shfl_sync(~0u, (float)(t % 32), 3);\n",
        "if (__any_sync(~0u, t % 32 == 31)) x[1 + t] = 7;\n",
    ],
)
def test_each_lane_gets_the_lock(after: str, checks: bool) -> None:
    """Also if the lanes that had it wait for the others of their warp, or block, behind it."""
    found = run(ADD + after, blocks=2, checks=checks)
    assert found[0] == 128
    assert not after or (found[1:65] == 7).all()


@pytest.mark.parametrize(
    "body",
    [
        TAKE + "__syncthreads();\n" + GIVE,
        TAKE + "__syncwarp();\n" + GIVE,
        "while (((volatile float*)x)[0] == 0) {}\n",
    ],
)
def test_a_lock_that_nobody_gives_back_is_a_deadlock_at_its_line(body: str) -> None:
    with pytest.raises(wb.KernelFault, match="waits in the loop here for something that no thread") as met:
        run(body)
    assert met.value.kind == "deadlock"
    assert met.value.location is not None
    assert met.value.location.line == 4


BARRIER = """#include <cuda_awbarrier_primitives.h>
__global__ void k(float* x) {
    __shared__ float s[64];
    __shared__ __align__(8) unsigned long long b;
    int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&b, 64);
    __syncthreads();
    for (int n = 0; n < 3; n++) {
        s[t] = t + n;
        BEFORE while (!__mbarrier_test_wait(&b, WAIT)) {}
        x[t] = s[63 - t];
        unsigned long long after = __mbarrier_arrive(&b);
        while (!__mbarrier_test_wait(&b, after)) {}
    }
}
"""


def barrier(before: str, wait: str) -> np.ndarray:
    text = BARRIER.replace("BEFORE", before).replace("WAIT", wait)
    module = wb.cuda_module(text, run="emulated", name="cell")
    x = wb.zeros(64, dtype=wb.float32, device="emulated")
    with wb.ScopedDevice("emulated"), wb.checks():
        module.kernels["k"][64](x, block_dim=64)
        wb.synchronize()
    return x.numpy()


def test_threads_wait_at_an_mbarrier() -> None:
    """Its phases; what is written before an arrival may be read after the wait, and is a race before it."""
    found = barrier("unsigned long long token = __mbarrier_arrive(&b);", "token")
    assert found.tolist() == [65 - t for t in range(64)]
    with pytest.raises(wb.KernelFault, match="waits in the loop here"):
        barrier("unsigned long long token = t < 63 ? __mbarrier_arrive(&b) : 0;", "token")


COPIES = """#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>
__global__ void k(float* x) {
    __shared__ __align__(16) float s[64];
    __shared__ __align__(8) unsigned long long b;
    int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&b, 64);
    __syncthreads();
    if (t < 16) __pipeline_memcpy_async(s + 4 * t, x + 4 * t, 16);
    ARRIVE
    while (!__mbarrier_test_wait_parity(&b, false)) {}
    x[t] = s[63 - t];
}
"""


@pytest.mark.parametrize("arrive", [
    # The first form counts an arrival more and takes it away; the second takes one of those that were counted.
    "__pipeline_arrive_on(&b); __mbarrier_arrive(&b);",
    ('asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"((int)__cvta_generic_to_shared(&b)));'),
])  # fmt: skip
def test_an_mbarrier_hears_of_copies(arrive: str) -> None:
    text = COPIES.replace("ARRIVE", arrive)
    module = wb.cuda_module(text, run="emulated", name="cell")
    x = wb.array(np.arange(64, dtype=np.float32), device="emulated")
    with wb.ScopedDevice("emulated"), wb.checks():
        module.kernels["k"][64](x, block_dim=64)
        wb.synchronize()
    assert x.numpy().tolist() == [63 - t for t in range(64)]


LIBRARY = """#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
__global__ void barrier(const float* x, float* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(16) float s[64];
    auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    block.sync();
    for (int k = 0; k < 3; ++k) {
        cuda::memcpy_async(block, s, x + k * 64, cuda::aligned_size_t<16>(sizeof(s)), bar);
        bar.arrive_and_wait();
        y[k * 64 + threadIdx.x] = s[63 - threadIdx.x];
        bar.wait(bar.arrive());
    }
}
__global__ void roles(const float* x, float* y) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ float s[2][64];
    bool copies = threadIdx.x < 32;
    auto role = copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state, role);
    for (int k = 0; k < 3; ++k) {
        float* now = s[k % 2];
        if (copies) {
            pipe.producer_acquire();
            for (int at = threadIdx.x; at < 64; at += 32) cuda::memcpy_async(now + at, x + k * 64 + at, 4, pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            for (int at = threadIdx.x - 32; at < 64; at += 32) y[k * 64 + at] = now[63 - at];
            pipe.consumer_release();
        }
    }
}
"""


@pytest.mark.slow
def test_barriers_and_pipelines_of_cudas_library() -> None:
    """`cuda::barrier` with copies, and a `cuda::pipeline` between a warp that copies and one that reads."""
    x = np.arange(192, dtype=np.float32)
    with wb.ScopedDevice("emulated:sm_80"), wb.checks():
        module = wb.cuda_module(LIBRARY, run="emulated")
        for name in ("barrier", "roles"):
            y = np.zeros(192, np.float32)
            module[name][64](x, y, block_dim=64)
            assert (y.reshape(3, 64) == x.reshape(3, 64)[:, ::-1]).all(), name


@pytest.mark.parametrize("checks", [False, True])
def test_what_is_not_there_is_refused_with_the_cells_line(checks: bool) -> None:
    """Warpgroup products, bulk copies (TMA), multicast and words of 128 bits, at compile time."""
    for instruction, what in (
        ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned cannot be executed: warpgroup matrix products are not"),
        ("cp.async.bulk.commit_group;", "cp.async.bulk.commit_group cannot be executed"),
        ("multimem.red.global.add.f32 [%0], 0f00000000;", "multicast memory"),
        ("{ .reg .b128 a; ld.global.b128 a, [%0]; }", "ld.global.b128 cannot be executed"),
        ("{ .reg .b128 a, b; atom.global.exch.b128 b, [%0], a; }", "atom.global.exch.b128 cannot be executed"),
    ):
        with pytest.raises(wb.BuildError, match=what) as met:
            run(f'x[t] = 1;\nasm volatile("{instruction}" :: "l"(x));\n', checks=checks)
        assert met.value.location is not None
        assert met.value.location.line == 5


def test_what_a_header_of_cuda_needs_is_refused_at_the_line_that_calls_it() -> None:
    text = """#include <cuda/ptx>
__global__ void k(float* x) {
    x[threadIdx.x] = 1;
    cuda::ptx::cp_async_bulk_commit_group();
}
"""
    with pytest.raises(wb.BuildError, match=r"cp\.async\.bulk\.commit_group\S* cannot be executed") as met:
        wb.cuda_module(text, run="emulated")["k"][1](np.ones(1, np.float32), block_dim=1)
    assert met.value.location is not None
    assert met.value.location.line == 4


def test_a_loop_that_waits_for_nobody_may_be_long() -> None:
    """Each turn changes memory, though no lane leaves the loop for longer than a lock is waited for."""
    assert run("for (int n = 0; n < 300000; n++) if (t == 0) atomicAdd((int*)x, 1);\n").view(np.int32)[0] == 300000
