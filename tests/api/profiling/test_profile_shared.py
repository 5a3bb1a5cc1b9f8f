"""`wb.profile` on shared memory, in CUDA C++: wavefronts over banks that are known by hand."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb

SHARED = r"""
#define N 256
__global__ void naive(const float* x, float* y) {
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        y[i * N + j + k] = x[(j + k) * N + i];
}
template <int W> __device__ void transpose(const float* x, float* y, float (*t)[W]) {
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        t[k][threadIdx.x] = x[(j + k) * N + i];
    __syncthreads();
    int a = blockIdx.y * 32 + threadIdx.x, b = blockIdx.x * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        y[(b + k) * N + a] = t[threadIdx.x][k];
}
__global__ void tiled(const float* x, float* y) { __shared__ float t[32][32]; transpose<32>(x, y, t); }
__global__ void padded(const float* x, float* y) { __shared__ float t[32][33]; transpose<33>(x, y, t); }
__global__ void tree(const float* x, float* y) {
    __shared__ float a[256];
    int t = threadIdx.x;
    a[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            a[t] += a[t + s];
        __syncthreads();
    }
    if (t == 0)
        y[blockIdx.x] = a[0];
}
template <typename T, int STEP> __device__ void spaced(T* y, T* a) {
    int t = threadIdx.x;
    a[t * STEP] = T(t);
    __syncthreads();
    y[t] = a[t * STEP];
}
__global__ void words(float* y) { __shared__ float a[64]; spaced<float, 1>(y, a); }
__global__ void every_second(float* y) { __shared__ float a[64]; spaced<float, 2>(y, a); }
__global__ void shared_doubles(double* y) { __shared__ double a[64]; spaced<double, 1>(y, a); }
__global__ void shared_bytes(unsigned char* y) {
    __shared__ unsigned char a[64];
    spaced<unsigned char, 1>(y, a);
}
__global__ void fours(float* y) {
    __shared__ float4 a[32];
    int t = threadIdx.x;
    a[t] = make_float4(t, t, t, t);
    __syncthreads();
    float4 v = a[t];
    y[t] = v.x + v.y + v.z + v.w;
}
__global__ void every_third(float* y) { __shared__ float a[96]; spaced<float, 3>(y, a); }
__global__ void every_fourth(float* y) { __shared__ float a[128]; spaced<float, 4>(y, a); }
__global__ void every_sixteenth(float* y) { __shared__ float a[512]; spaced<float, 16>(y, a); }
__global__ void a_column(float* y) { __shared__ float a[1024]; spaced<float, 32>(y, a); }
__global__ void a_padded_column(float* y) { __shared__ float a[1056]; spaced<float, 33>(y, a); }
__global__ void one_word(const float* x, float* y) {
    __shared__ float a[1];
    if (threadIdx.x == 0) a[0] = x[0];
    __syncthreads();
    y[threadIdx.x] = a[0];
}
__global__ void __launch_bounds__(1024) spilling(const float* x, float* y) {
    int t = threadIdx.x;
    float a[96];
    #pragma unroll
    for (int k = 0; k < 96; ++k) a[k] = x[k * 1024 + t];
    #pragma unroll
    for (int k = 0; k < 96; ++k) a[k] = a[k] * a[(k * 37 + 11) % 96] + a[(k + 1) % 96];
    #pragma unroll
    for (int k = 0; k < 96; ++k) y[k * 1024 + t] = a[k];
}
__global__ void local_array(const float* x, const int* at, float* y) {
    float a[16];
    int t = threadIdx.x;
    for (int k = 0; k < 16; ++k) a[k] = x[k * 32 + t];
    y[t] = a[at[t]];
}
__global__ void same(float* y) {
    __shared__ int a[1];
    if (threadIdx.x == 0) a[0] = 0;
    __syncthreads();
    atomicAdd(a, 1);
    __syncthreads();
    y[threadIdx.x] = a[0];
}
"""


def sectors(found: Any) -> tuple[int, int]:
    return found.global_sectors, found.global_sectors_least


@pytest.fixture(scope="module")
def texts() -> Any:
    return wb.cuda_module(SHARED, run="emulated")


def emulated(shape: Any, dtype: Any = wb.types.float32) -> wb.array:
    return wb.zeros(shape, dtype, device="emulated")


def waves(found: Any) -> tuple[int, int]:
    return found.shared_wavefronts, found.shared_wavefronts_least


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "moved", "read"),
    # 64 blocks of 8 warps, 4 rows each: 2048 accesses. Naive: 4 + 32 sectors; else 4 + 4, and 2048 writes of shared
    # memory without conflicts. A column of 32 words per row is one bank, of 33 words per row 32 banks.
    [("naive", 36, None), ("tiled", 8, 32), ("padded", 8, 1)],
)
def test_transposes_through_shared_memory(texts, name, moved, read):
    x, y = emulated((256, 256)), emulated((256, 256))
    p = wb.profile(texts[name], (64, 256), [x, y], block_dim=(8, 32))
    assert p.grid == (8, 8, 1) and p.block == (32, 8, 1)
    assert sectors(p.total) == (moved * 2048, 8 * 2048)
    assert waves(p.total) == ((0, 0) if read is None else ((1 + read) * 2048, 2 * 2048))
    assert p.total.barriers == (0 if read is None else 64 * 8)
    assert p.shared_bytes == {"naive": 0, "tiled": 32 * 32 * 4, "padded": 32 * 33 * 4}[name]
    if name == "tiled":
        assert "bank conflicts, 128 bytes between lanes: 32.0× the wavefronts needed" in str(p)


def test_a_reduction_tree(texts):
    # 8 warps write; then 4 + 2 + 1 × 6 = 12 active warps read twice and write once; one reads the sum.
    p = wb.profile(texts["tree"], 512, [emulated(512), emulated(2)], block_dim=256)
    assert waves(p.total) == (2 * (8 + 3 * 12 + 1), 2 * (8 + 3 * 12 + 1))
    assert p.total.barriers == 2 * 8 * (1 + 8)
    assert p.total.flops == 2 * 255


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("name", "dtype", "each", "least"),
    # 8 bytes per lane go by halves of the warp, 16 by quarters; four bytes of one word are one access to its bank.
    [
        ("words", wb.types.float32, 1, 1),
        ("every_second", wb.types.float32, 2, 1),
        ("shared_doubles", wb.types.float64, 2, 2),
        ("shared_bytes", wb.types.uint8, 1, 1),
        ("fours", wb.types.float32, 4, 4),
    ],
)
def test_wavefronts_by_width(texts, name, dtype, each, least):
    p = wb.profile(texts[name], 32, [emulated(32, dtype)], block_dim=32)
    assert waves(p.total) == (2 * each, 2 * least)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "each"),
    [("every_third", 1), ("every_fourth", 4), ("every_sixteenth", 16), ("a_column", 32), ("a_padded_column", 1)],
)
def test_bank_conflicts_by_step(texts, name, each):
    # Lane l is on bank (step × l) mod 32: gcd(step, 32) lanes share one, and each of them is on a word of its own.
    p = wb.profile(texts[name], 32, [emulated(32)], block_dim=32)
    assert waves(p.total) == (2 * each, 2)
    assert any("bank conflicts" in f.text for _, f in p.findings) == (each > 1)


def test_one_word_of_shared_memory_for_all(texts):
    # One lane writes, all lanes read the same word: one wavefront each.
    p = wb.profile(texts["one_word"], 32, [emulated(1), emulated(32)], block_dim=32)
    assert waves(p.total) == (2, 2)


def test_registers_that_spill(texts):
    # 1024 threads can have 65536 / 1024 = 64 registers each; 96 elements are held at once. A spill is made after the
    # PTX, so it is no access that is counted: 96 reads and writes of 32 warps, 4 sectors each. 96 `fma` are
    # 192 operations.
    p = wb.profile(texts["spilling"], 1024, [emulated(96 * 1024), emulated(96 * 1024)], block_dim=1024)
    assert p.registers == 64 and p.spills > 0 and p.limited_by == "registers" and p.occupancy == 0.5
    assert sectors(p.total) == (2 * 96 * 32 * 4, 2 * 96 * 32 * 4)
    assert p.total.flops == 192 * 1024
    assert p.local_bytes > 0
    assert f"{p.local_bytes:,} bytes of local memory, {p.spills} bytes spilled" in str(p)


def test_an_array_in_local_memory(texts):
    # 16 reads of 4 sectors, one of `at`, one write; what goes to local memory and back is not global memory.
    p = wb.profile(texts["local_array"], 32, [emulated(512), emulated(32, wb.types.int32), emulated(32)], block_dim=32)
    assert sectors(p.total) == (18 * 4, 18 * 4)
    assert waves(p.total) == (0, 0) and p.shared_bytes == 0


def test_atomics_in_shared_memory(texts):
    p = wb.profile(texts["same"], 32, [emulated(32)], block_dim=32)
    assert (p.total.atomics, p.total.atomic_conflicts) == (32, 31)
    assert p.total.global_sectors == 4
