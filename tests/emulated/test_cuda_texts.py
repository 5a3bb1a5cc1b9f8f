"""What CUDA C++ means on the emulated device: barriers, shared memory, warps, vectors and maths, in any order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import workbench as wb
from workbench import events
from workbench.backends.cuda.prelude import prelude
from workbench.runtime.device import driver

pytest.importorskip("cuda.bindings.driver")

TEXT = """
__global__ void total(const float* x, float* out, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
template <typename T> __device__ T warp_sum(T v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffU, v, step);
    return v;
}
__global__ void warps(const double* x, double* out) {
    double sum = warp_sum(x[threadIdx.x]);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}
__global__ void lanes(int* out) {
    int lane = threadIdx.x;
    out[lane] = __shfl_sync(0xffffffffU, lane, 5);
    out[32 + lane] = __shfl_up_sync(0xffffffffU, lane, 3, 8);
    out[64 + lane] = __shfl_xor_sync(0xffffffffU, lane, 7);
    out[96 + lane] = (int)__ballot_sync(0xffffffffU, lane % 3 == 0);
    out[128 + lane] = __any_sync(0xffffffffU, lane == 9) + 2 * __all_sync(0xffffffffU, lane < 31);
    if (lane < 16) out[160 + lane] = (int)__reduce_add_sync(0xffffU, lane);
    else out[160 + lane] = (int)__match_any_sync(0xffff0000U, lane / 4);
}
__global__ void transpose(const float* x, float* y, int n) {
    extern __shared__ __align__(16) float tile[];
    int w = blockDim.x;
    tile[threadIdx.y * w + threadIdx.x] = x[(blockIdx.y * w + threadIdx.y) * n + blockIdx.x * w + threadIdx.x];
    __syncthreads();
    y[(blockIdx.x * w + threadIdx.y) * n + blockIdx.y * w + threadIdx.x] = tile[threadIdx.x * w + threadIdx.y];
}
__global__ void votes(int* out) {
    int some = __syncthreads_count(threadIdx.x % 2);
    out[threadIdx.x] = some + 1000 * __syncthreads_or(threadIdx.x == 7) + 2000 * __syncthreads_and(threadIdx.x < 7);
}
__global__ void order(int* out) { if (threadIdx.x % 32 == 0) out[atomicAdd(out + 8, 1)] = threadIdx.x / 32; }
__global__ void vectors(float4* v, uint3 add, double* d) {
    v[threadIdx.x] = make_float4(v[threadIdx.x].x + add.z, rsqrtf(4.0f), fmaxf(1.0f, 2.0f), __int_as_float(0x3f800000));
    d[threadIdx.x] = max(d[threadIdx.x], 1.5) + __popc(7u) + pow(2.0, 3.0);
}
__global__ void warped(float* out) { wb_reduce_add(out, (float)threadIdx.x); }
"""

VECTORS = """
__global__ void mixed(const float4* p, float3 d, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = powf(p[i].x, 2.0f) + p[i].y * d.z + __expf(p[i].z) + fminf(p[i].w, 1e2f) + __fmul_rn(p[i].x, .5f);
}
__global__ void mixed_adjoint(const float4* p, float3 d, int n, float4* adj_p, float* adj_y) {
    int i = threadIdx.x;
    if (i >= n) return;
    float a = adj_y[i];
    adj_p[i] = make_float4(adj_p[i].x + a * (2 * p[i].x + .5f), adj_p[i].y + a * d.z, adj_p[i].z + a * expf(p[i].z),
                           adj_p[i].w + a);
    adj_y[i] = 0.0f;
}
"""


@pytest.fixture(scope="module")
def module() -> wb.CudaModule:
    return wb.cuda_module(prelude([("reduce",)], [], []) + TEXT, run="emulated")


@pytest.fixture(params=["", "1", "2"])
def seed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A device of its own, whose warps go in an order of their own."""
    if request.param:
        monkeypatch.setenv("WORKBENCH_EMULATED_SEED", request.param)
    monkeypatch.setattr(driver, "_started", [driver.new_driver()])
    with wb.ScopedDevice("emulated"):
        yield request.param


def test_a_block_reduces_in_shared_memory_in_any_order(seed: str) -> None:
    module = wb.cuda_module(prelude([("reduce",)], [], []) + TEXT, run="emulated")
    x, out = np.arange(1000, dtype=np.float32), np.zeros(1, np.float32)
    module["total"][1000](x, out, 1000, block_dim=256)
    assert out[0] == x.sum()
    met = np.zeros(9, np.int32)
    module["order"][256](met, block_dim=256)
    assert sorted(met[:8]) == list(range(8)) and met[8] == 8
    assert seed or met[:8].tolist() == list(range(8))


def test_warps_exchange_values(module: wb.CudaModule) -> None:
    x, out = np.arange(96, dtype=np.float64), np.zeros(3)
    module["warps"][96](x, out, block_dim=96)
    assert out.tolist() == x.reshape(3, 32).sum(1).tolist()
    lanes, got = np.arange(32), np.zeros(192, np.int32)
    module["lanes"][32](got, block_dim=32)
    rows = got.reshape(6, 32)
    assert (rows[0] == 5).all() and (rows[1] == np.where(lanes % 8 >= 3, lanes - 3, lanes)).all()
    assert (rows[2] == lanes ^ 7).all() and (rows[4] == 1).all()
    assert (rows[3].astype(np.uint32) == sum(1 << n for n in range(0, 32, 3))).all()
    assert (rows[5][:16] == 120).all()
    assert rows[5][16:].astype(np.uint32).tolist() == [0xF << 4 * (n // 4) for n in range(16, 32)]


def test_dynamic_shared_memory_and_blocks_of_two_dimensions(module: wb.CudaModule) -> None:
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    y = np.zeros_like(x)
    module["transpose"][[64, 64]](x, y, 64, block_dim=(16, 16), shared=16 * 16 * 4)
    assert (y == x.T).all()


def test_barriers_count_votes(module: wb.CudaModule) -> None:
    out = np.zeros(40, np.int32)
    module["votes"][40](out, block_dim=40)
    assert (out == 1020).all()


def test_vectors_and_maths(module: wb.CudaModule) -> None:
    v, d = np.ones((3, 4), np.float32), np.zeros(3)
    module["vectors"][3](v, (1, 2, 3), d, block_dim=3)
    assert v.tolist() == [[4, 0.5, 2, 1]] * 3 and d.tolist() == [12.5] * 3


@pytest.mark.parametrize("threads", [1, 31, 32, 64, 80])
def test_the_prelude_s_warp_sum_on_whole_and_partial_warps(module: wb.CudaModule, threads: int) -> None:
    out = np.zeros(1, np.float32)
    module["warped"][threads](out, block_dim=threads)
    assert out[0] == threads * (threads - 1) / 2


def test_gradcheck_makes_vectors_literals_and_functions_double_without_warnings() -> None:
    told: list[str] = []
    unsubscribe = events.subscribe(lambda e: told.append(e.message), events.Notice)
    p = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    kernel = wb.cuda_module(VECTORS, run="emulated")["mixed"]
    found = wb.gradcheck(kernel, 5, [p, (1, 2, 3), np.zeros(5, np.float32), 5], block_dim=32)
    unsubscribe()
    assert found and found.compared > 20 and not told


@pytest.mark.parametrize("current", ["cpu", "emulated", "emulated:sm_75"])
def test_an_architecture_names_the_emulated_device(current: str) -> None:
    text, own = "__global__ void k(int* x) { x[0] = __CUDA_ARCH__ / 10; }", np.zeros(1, np.int32)
    with wb.ScopedDevice(current):
        kernel = wb.cuda_module(text, run="emulated", arch="sm_80")["k"]
        kernel[1](own, block_dim=1)
        assert own[0] == 80
        x = wb.zeros(1, dtype=int, device="emulated:sm_75")
        with pytest.raises(wb.LaunchError, match="k is for sm_80, and emulated:sm_75 is of sm_75"):
            kernel[1](x, block_dim=1)
        with pytest.raises(wb.DeviceError, match="no device 'emulated:sm_70'; emulated are"):
            wb.cuda_module(text, run="emulated", arch="sm_70")
