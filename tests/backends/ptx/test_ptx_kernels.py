"""CUDA C++ through NVRTC, executed on the CPU from its PTX, against numpy."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from tests.support.kernels.ptx_runs import Run
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import build

TEXT = r"""
extern "C" __global__ void block_sum(const float* x, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int k = 128; k; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
  if (!t) out[blockIdx.x] = s[0];
}
extern "C" __global__ void warp_sum(const int* x, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] : 0;
  for (int k = 16; k; k >>= 1) v += __shfl_down_sync(~0u, v, k);
  if (!(threadIdx.x & 31)) atomicAdd(out, v);
}
extern "C" __global__ void collatz(const int* x, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long v = x[i];
  int c = 0;
  while (v > 1) { c++; if (v % 2 == 0) v /= 2; else v = 3 * v + 1; }
  out[i] = c;
}
extern "C" __global__ void spin(int* lock, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool done = false;
  while (!done)
    if (!atomicCAS(lock, 0, 1)) { ++*(volatile int*)count; __threadfence(); atomicExch(lock, 0); done = true; }
}
extern "C" __global__ void histogram(const unsigned char* x, unsigned* out, int n) {
  extern __shared__ unsigned h[];
  for (int j = threadIdx.x; j < 256; j += blockDim.x) h[j] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&h[x[i]], 1);
  __syncthreads();
  for (int j = threadIdx.x; j < 256; j += blockDim.x) if (h[j]) atomicAdd(&out[j], h[j]);
}
extern "C" __global__ void maths(const float* x, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  o += i * 6;
  o[0] = sinf(v); o[1] = expf(v); o[2] = logf(fabsf(v)); o[3] = powf(fabsf(v), 1.5f); o[4] = tanhf(v); o[5] = erff(v);
}
extern "C" __global__ void maths64(const double* x, double* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i];
  o += i * 6;
  o[0] = sin(v); o[1] = exp(v); o[2] = log(fabs(v)); o[3] = pow(fabs(v), 1.5); o[4] = tanh(v); o[5] = erf(v);
}
extern "C" __global__ void hello(int n) { printf("hi %d %f\n", (int)threadIdx.x + n, 1.5 * threadIdx.x); }
extern "C" __global__ void transpose(const float* x, float* o, int n) {
  __shared__ float t[16][17];
  int c = blockIdx.x % (n / 16) * 16, r = blockIdx.x / (n / 16) * 16, i = threadIdx.x % 16, j = threadIdx.x / 16;
  t[j][i] = x[(r + j) * n + c + i];
  __syncthreads();
  o[(c + j) * n + r + i] = t[i][j];
}
"""
RNG = np.random.default_rng(4)


@pytest.fixture(scope="module")
def text() -> str:
    return build(TEXT, Options(), "sm_90", "ptx").image.decode()


def test_a_tree_of_sums(text: str) -> None:
    run = Run(text, "block_sum")
    x = RNG.normal(size=1 << 15).astype(np.float32)
    at, to = run.memory.put(x), run.memory.put(np.zeros(128, np.float32))
    assert run(128, 256, at, to, len(x)) is None
    tree, step = x.reshape(-1, 256).copy(), 128
    while step:
        tree[:, :step] += tree[:, step : 2 * step]
        step //= 2
    assert np.array_equal(run.memory.get(to, np.zeros(128, np.float32)), tree[:, 0])


def test_sums_by_shuffles(text: str) -> None:
    run = Run(text, "warp_sum")
    x = RNG.integers(-1000, 1000, 10_001).astype(np.int32)
    at, to = run.memory.put(x), run.memory.put(np.zeros(1, np.int32))
    assert run(40, 256, at, to, len(x)) is None
    assert run.memory.get(to, np.zeros(1, np.int32))[0] == x.sum()


def test_divergent_loops(text: str) -> None:
    run = Run(text, "collatz")
    x = RNG.integers(1, 5000, 3000).astype(np.int32)
    at, to = run.memory.put(x), run.memory.put(np.zeros_like(x))
    assert run(12, 256, at, to, len(x)) is None
    v, count = x.astype(np.int64), np.zeros_like(x)
    while (v > 1).any():
        more = v > 1
        count += more
        v = np.where(more, np.where(v % 2 == 0, v // 2, 3 * v + 1), v)
    assert np.array_equal(run.memory.get(to, x), count)


def test_a_lock_taken_in_a_loop(text: str) -> None:
    run = Run(text, "spin")
    at = run.memory.put(np.zeros(2, np.int32))
    assert run(6, 128, at, at + 4, 700) is None
    assert list(run.memory.get(at, np.zeros(2, np.int32))) == [0, 700]


def test_a_histogram_in_dynamic_shared_memory(text: str) -> None:
    run = Run(text, "histogram")
    x = RNG.integers(0, 256, 1 << 16).astype(np.uint8)
    at, to = run.memory.put(x), run.memory.put(np.zeros(256, np.uint32))
    assert run(8, 192, at, to, len(x), dynamic_shared=1024) is None
    assert np.array_equal(run.memory.get(to, np.zeros(256, np.uint32)), np.bincount(x, minlength=256))


def test_a_transpose_through_shared_memory(text: str) -> None:
    run = Run(text, "transpose")
    x = RNG.normal(size=(64, 64)).astype(np.float32)
    at, to = run.memory.put(x), run.memory.put(np.zeros_like(x))
    assert run(16, 256, at, to, 64) is None
    assert np.array_equal(run.memory.get(to, x), x.T)


@pytest.mark.parametrize(("name", "dtype"), [("maths", np.float32), ("maths64", np.float64)])
def test_mathematical_functions_have_cudas_accuracy(text: str, name: str, dtype: type) -> None:
    run = Run(text, name)
    x = (RNG.normal(size=1024) * 8).astype(dtype)
    x[:50] *= 1e5
    out = np.zeros((1024, 6), dtype)
    at, to = run.memory.put(x), run.memory.put(out)
    assert run(4, 256, at, to, 1024) is None
    got, v = run.memory.get(to, out), x.astype(np.float64)
    with np.errstate(all="ignore"):
        size = abs(v)
        erf = np.array([math.erf(t) for t in v])
        want = np.stack([np.sin(v), np.exp(v), np.log(size), size**1.5, np.tanh(v), erf], 1)
        near = want.astype(dtype)
        fine = np.isfinite(near)
        ulp = abs(got.astype(np.float64) - want)[fine] / np.spacing(abs(near[fine]))
    assert ulp.max() < 3 and np.array_equal(np.isinf(got), np.isinf(near))


def test_printf_calls_back_with_its_values(text: str) -> None:
    run = Run(text, "hello")
    heard = []

    def prints(form: int, values: int) -> int:
        heard.append((ctypes.string_at(form), ctypes.c_int32.from_address(values).value))
        heard.append(ctypes.c_double.from_address(values + 8).value)
        return 2

    assert run(1, 40, 5, prints=prints) is None
    assert heard == [v for t in range(40) for v in ((b"hi %d %f\n", t + 5), 1.5 * t)]
