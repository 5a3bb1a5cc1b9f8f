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
        module.kernels["k"][64 * blocks, 64](x)
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
        module.kernels["k"][64, 64](x)
        wb.synchronize()
    return x.numpy()


def test_threads_wait_at_an_mbarrier() -> None:
    """Its phases; what is written before an arrival may be read after the wait, and is a race before it."""
    found = barrier("unsigned long long token = __mbarrier_arrive(&b);", "token")
    assert found.tolist() == [65 - t for t in range(64)]
    with pytest.raises(wb.KernelFault, match="waits in the loop here"):
        barrier("unsigned long long token = t < 63 ? __mbarrier_arrive(&b) : 0;", "token")


@pytest.mark.parametrize("checks", [False, True])
def test_what_is_not_there_is_refused_with_the_cells_line(checks: bool) -> None:
    """Warpgroup products, bulk copies (TMA), clusters and words of 128 bits, at compile time."""
    for instruction, what in (
        ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned cannot be executed: warpgroup matrix products are not"),
        ("cp.async.bulk.commit_group;", "cp.async.bulk.commit_group cannot be executed"),
        ("barrier.cluster.arrive.aligned;", "barrier.cluster.arrive.aligned cannot be executed"),
        ("{ .reg .b128 a; ld.global.b128 a, [%0]; }", "ld.global.b128 cannot be executed"),
        ("{ .reg .b128 a, b; atom.global.exch.b128 b, [%0], a; }", "atom.global.exch.b128 cannot be executed"),
    ):
        with pytest.raises(wb.BuildError, match=what) as met:
            run(f'x[t] = 1;\nasm volatile("{instruction}" :: "l"(x));\n', checks=checks)
        assert met.value.location is not None
        assert met.value.location.line == 5


def test_what_a_header_of_cuda_needs_is_refused_at_the_line_that_calls_it() -> None:
    text = """#include <cuda_fp8.h>
__global__ void k(float* x) {
    float v = x[threadIdx.x];
    x[threadIdx.x] = (float)__nv_fp8_e4m3(v);
}
"""
    with pytest.raises(wb.BuildError, match=r"cvt\.rn\.satfinite\.e4m3x2\.f32 cannot be executed") as met:
        wb.cuda_module(text, run="emulated")["k"][1, 1](np.ones(1, np.float32))
    assert met.value.location is not None
    assert met.value.location.line == 4


def test_a_loop_that_waits_for_nobody_may_be_long() -> None:
    """Each turn changes memory, though no lane leaves the loop for longer than a lock is waited for."""
    assert run("for (int n = 0; n < 300000; n++) if (t == 0) atomicAdd((int*)x, 1);\n").view(np.int32)[0] == 300000
