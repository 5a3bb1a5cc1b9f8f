"""CUDA programs as people write them, whole files too, on the emulated device; NumPy says what is right."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.cuda_programs import LANES, floats, go, ints, module, same
from workbench import events

Program = Callable[[], None]
PROGRAMS: list[Program] = []


@pytest.fixture(autouse=True)
def emulated() -> Iterator[None]:
    with wb.ScopedDevice("emulated"), wb.checks(False):
        yield


def program(run: Program) -> Program:
    PROGRAMS.append(run)
    return run


@program
def a_sum_whose_last_warp_is_volatile() -> None:
    m = module("""
    extern "C" __global__ void r(const float* x, float* o, int n) {
        extern __shared__ float s[];
        unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
        s[t] = (i < n ? x[i] : 0) + (i + blockDim.x < n ? x[i + blockDim.x] : 0);
        __syncthreads();
        for (unsigned k = blockDim.x / 2; k > 32; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
        if (t < 32) {
            volatile float* v = s;
            float a = v[t];
            for (int k = 32; k; k >>= 1) { a += v[t + k]; __syncwarp(); v[t] = a; __syncwarp(); }
            if (!t) o[blockIdx.x] = s[0];
        }
    }""")
    x, o = floats(4096), wb.zeros(8)
    go(m["r"], 8, 256, wb.array(x), o, 4096, shared=1024)
    same(o.numpy().sum(), x.sum())


@program
def the_last_block_adds_up() -> None:
    m = module("""
    __device__ unsigned done = 0;
    extern "C" __global__ void r(const float* x, float* part, float* o, int n) {
        __shared__ float s[128]; __shared__ bool last;
        int t = threadIdx.x; float a = 0;
        for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) a += x[i];
        s[t] = a; __syncthreads();
        for (int k = 64; k; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
        if (!t) { part[blockIdx.x] = s[0]; __threadfence(); last = atomicInc(&done, gridDim.x) == gridDim.x - 1; }
        __syncthreads();
        if (last && !t) { float z = 0; for (int b = 0; b < gridDim.x; ++b) z += ((volatile float*)part)[b]; *o = z;
            done = 0; }
    }""")
    x, o = floats(5000), wb.zeros(1)
    go(m["r"], 16, 128, wb.array(x), wb.zeros(16), o, 5000)
    same(o, [x.sum()])


@program
def blelloch_s_scan() -> None:
    m = module("""
    #define N 256
    extern "C" __global__ void sc(const int* x, int* y) {
        __shared__ int s[N];
        int t = threadIdx.x, o = 1;
        s[2*t] = x[2*t]; s[2*t+1] = x[2*t+1];
        for (int d = N >> 1; d; d >>= 1) { __syncthreads(); if (t < d) s[o*(2*t+2)-1] += s[o*(2*t+1)-1]; o *= 2; }
        if (!t) s[N-1] = 0;
        for (int d = 1; d < N; d *= 2) {
            o >>= 1; __syncthreads();
            if (t < d) { int a = o*(2*t+1)-1, b = o*(2*t+2)-1, q = s[a]; s[a] = s[b]; s[b] += q; }
        }
        __syncthreads(); y[2*t] = s[2*t]; y[2*t+1] = s[2*t+1];
    }""")
    x, y = ints(256, 9), wb.zeros(256, dtype=wb.int32)
    go(m["sc"], 1, 128, wb.array(x), y)
    same(y, np.cumsum(x) - x)


@program
def constants_are_set_from_python() -> None:
    m = module("""
    __constant__ float w[5];
    extern "C" __global__ void c(const float* x, float* y, int n) {
        int i = threadIdx.x; float s = 0;
        for (int k = 0; k < 5; ++k) { int j = i + k - 2; if (j >= 0 && j < n) s += w[k] * x[j]; }
        y[i] = s;
    }""")
    weights, x, y = np.array([1, 2, 3, 2, 1], np.float32), floats(64), wb.zeros(64)
    m.symbol("w")[:] = weights
    go(m["c"], 1, 64, wb.array(x), y, 64)
    same(y, np.convolve(x, weights, "same"))
    same(m.symbol("w"), weights)


@program
def formats_of_printf() -> None:
    m = module(r"""extern "C" __global__ void k() { if (threadIdx.x < 2)
        printf("[%d] %5.2f %-4s| %llu %#x %c %e %% %hd %hu %hhd %c\n", threadIdx.x, 3.14159f, "ab", 1234567890123ull,
            255, 'z', 1e-3, 70000, -1, 200, 'A' - 256); }""")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        go(m["k"], 1, 32)
    rest = " 3.14 ab  | 1234567890123 0xff z 1.000000e-03 % 4464 65535 -56 A"
    assert printed.getvalue().splitlines() == [f"[{n}] {rest}" for n in range(2)]


@program
def headers_of_c() -> None:
    m = module("""
    #include <assert.h>
    #include <cassert>
    #include <stdio.h>
    #include <math.h>
    #include <stdint.h>
    #include <float.h>
    #include <limits.h>
    #include <cuda_runtime.h>
    #include <device_launch_parameters.h>
    #include <iostream>
    #include <vector>
    extern "C" __global__ void k(float* y, uint8_t* bytes, int64_t* wide) {
        uint32_t a = threadIdx.x;
        assert(a < 32);
        if (a == 99) printf("no");
        y[a] = sqrtf(a) + (FLT_MAX > 1e38f) + M_PI; bytes[a] = 200 + a; wide[a] = (int64_t)INT_MAX + a;
    }""")
    y, b, w = wb.zeros(32), wb.zeros(32, dtype=wb.uint8), wb.zeros(32, dtype=wb.int64)
    go(m["k"], 1, 32, y, b, w)
    same(y, np.sqrt(LANES) + 1 + np.pi)
    same(b, 200 + LANES)
    same(w, 2**31 - 1 + LANES)


@program
def names_of_std() -> None:
    m = module(
        """
    #include <cmath>
    #include <cstdint>
    #include <climits>
    #include <cstdlib>
    #include <cstdio>
    #include <algorithm_of_ours.h>
    using namespace std;
    __global__ void k(float* y, std::uint16_t* z) {
        int i = threadIdx.x;
        y[i] = std::sqrt((float)i) + sin(0.5f * i) + abs(-i) + max(i, 3) + std::fabs(-1.0f) + isnan(y[i]);
        z[i] = UINT16_MAX - i + (INT_MAX == 2147483647);
    }""",
        headers={"algorithm_of_ours.h": "#pragma once\n"},
    )
    y, z = wb.zeros(32), wb.zeros(32, dtype=wb.uint16)
    go(m["k"], 1, 32, y, z)
    same(y, np.sqrt(LANES) + np.sin(0.5 * LANES) + LANES + np.maximum(LANES, 3) + 1)
    same(z, (65536 - LANES) % 65536)


WHOLE = """
#include <cstdio>
#include <iostream>
#include <vector>
#include <chrono>
#include <cuda_runtime.h>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { \\
    std::cerr << cudaGetErrorString(e) << std::endl; exit(1); } } while (0)

constexpr int square(int a) { return a * a; }
static int threads = 256;
std::vector<float> kept;

struct Timer {
    cudaEvent_t start, stop;
    Timer() { cudaEventCreate(&start); }
    float stopped() { float t; cudaEventElapsedTime(&t, start, stop); return t; }
};

__device__ float twice(float x) { return 2 * x; }

/* kernels<<<1, 2>>>(x) are not launched in comments */
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = twice(a[i]) + square(3) * b[i];
}
__global__ void turn(const float* a, float* b, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) b[x * rows + y] = a[y * columns + x];
}

void fill(std::vector<float>& v) { for (auto& x : v) x = rand() / (float)RAND_MAX; }
template <typename T> void report(const char* name, T value) { std::cout << name << value << "\\n"; }

int main(int argc, char** argv) {
    int n = 1 << 10;
    std::vector<float> h(n);
    fill(h);
    float *a, *b, *c;
    CHECK(cudaMalloc(&a, n * sizeof(float)));
    dim3 block(16, 8), grid((32 + 15) / 16, 4);
    add<<<(n + threads - 1) / threads, threads>>>(a, b, c, n);
    turn<<<grid, block, 0, 0>>>(a, c, 32, 32);
    CHECK(cudaDeviceSynchronize());
    printf("%s\\n", "done; not a launch<<<1,1>>>(x)");
    return 0;
}
"""


@program
def a_whole_file_with_main() -> None:
    said: list[str] = []
    unsubscribe = events.subscribe(lambda e: said.append(str(getattr(e, "message", ""))), events.Notice)
    m = module(WHOLE, name="add.cu")
    unsubscribe()
    assert list(m) == ["add", "turn"]
    (note,) = [message for message in said if "host" in message]
    assert "add.cu: code of the host is left out" in note and "main" in note and "fill" in note
    assert "add[((n + threads - 1) / threads) * threads](a, b, c, n, block_dim=threads)" in note
    assert "turn[[4 * 8, ((32 + 15) / 16) * 16]](a, c, 32, 32, block_dim=(8, 16))" in note
    assert "not a launch" not in note and "kernels" not in note
    a, b, c = floats(1024), floats(1000)[:1], wb.zeros(1024)
    b = np.full(1024, b[0], np.float32)
    m["add"][1024](a, b, c, 1024, block_dim=256)
    same(c, 2 * a + 9 * b)
    m["turn"][[32, 32]](a, c, 32, 32, block_dim=(8, 16))
    same(c, a.reshape(32, 32).T.reshape(-1))


@program
def memory_of_malloc_and_new() -> None:
    m = module("""
    struct Node { int value; Node* next; };
    extern "C" __global__ void k(int* y, int rounds) {
        int t = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
        for (int r = 0; r < rounds; ++r) {
            int* p = (int*)malloc(16 * sizeof(int));
            for (int i = 0; i < 16; ++i) p[i] = i * t;
            for (int i = 0; i < 16; ++i) s += p[i];
            free(p);
        }
        Node* head = nullptr;
        for (int i = 0; i < 5; ++i) head = new Node{i + t, head};
        while (head) { Node* next = head->next; s += head->value; delete head; head = next; }
        y[t] = s;
    }
    __global__ void full(int* y) { y[threadIdx.x] = malloc(9000000) == nullptr; }""")
    y, t = wb.zeros(256, dtype=wb.int32), np.arange(256)
    go(m["k"], 4, 64, y, 3)
    same(y, 3 * 120 * t + 10 + 5 * t)
    go(m["full"], 1, 256, y)
    same(y, 1)


@program
def virtual_functions() -> None:
    m = module("""
    struct S { __device__ virtual float f(float x) = 0; };
    struct P : S { __device__ float f(float x) override { return x + 1; } };
    struct Q : S { __device__ float f(float x) override { return x * 2; } };
    extern "C" __global__ void k(float* y) {
        P p; Q q; S* s = threadIdx.x & 1 ? (S*)&p : (S*)&q;
        y[threadIdx.x] = s->f(threadIdx.x);
    }""")
    y = wb.zeros(32)
    go(m["k"], 1, 32, y)
    same(y, np.where(LANES & 1, LANES + 1, LANES * 2))


@program
def tables_of_functions() -> None:
    m = module("""
    typedef float (*op)(float, float);
    __device__ float plus(float a, float b) { return a + b; }
    __device__ float minus(float a, float b) { return a - b; }
    __device__ float larger(float a, float b) { return fmaxf(a, b); }
    __device__ op table[3] = {plus, minus, larger};
    __global__ void k(const int* which, float* y) { int i = threadIdx.x; y[i] = table[which[i]](i, 7); }""")
    y = wb.zeros(32)
    go(m["k"], 1, 32, wb.array((LANES % 3).astype(np.int32)), y)
    same(y, np.choose(LANES % 3, [LANES + 7, LANES - 7, np.maximum(LANES, 7)]))


@program
def templates_by_name() -> None:
    m = module("""
    namespace maths { struct Twice { __device__ float operator()(float x) const { return 2 * x; } }; }
    template <typename T, int N> __global__ void k(T* y) { y[threadIdx.x] = N * threadIdx.x; }
    namespace maths { template <class F> __global__ void apply(float* y, F f) { y[threadIdx.x] = f(y[threadIdx.x]); } }
    template <typename T> struct Pair { T a, b; };
    template <typename T> __global__ void sums(const Pair<T>* p, T* y) {
        y[threadIdx.x] = p[threadIdx.x].a + p[threadIdx.x].b; }
    __global__ void plain(float* y) { y[threadIdx.x] = 1; }""")
    y, z = wb.zeros(32), wb.zeros(32, dtype=wb.float64)
    go(m["k<float,3>"], 1, 32, y)
    go(m["k<double, 4>"], 1, 32, z)
    same(y, 3 * LANES)
    same(z, 4 * LANES)
    go(m["maths::apply<maths::Twice>"], 1, 32, y, ())
    same(y, 6 * LANES)
    pairs = np.zeros(32, [("a", "i4"), ("b", "i4")])
    pairs["a"], pairs["b"] = LANES, 5
    out = np.zeros(32, np.int32)
    go(m["sums<int>"], 1, 32, pairs, out)
    same(out, LANES + 5)
    go(m["plain"], 1, 32, y)
    same(y, 1)
    scope: dict[str, Any] = {}
    m.bind(scope)
    assert scope["plain"] is m["plain"] and scope["k"]["float,3"] is m["k<float,3>"] and "apply" in scope
    with pytest.raises(KeyError, match=r"no kernel absent<int>; it has plain.*k<…>"):
        _ = m["absent<int>"]
    with pytest.raises(wb.WorkbenchError, match="nonsense"):
        _ = m["k<nonsense, 3>"]
    assert "k<nonsense, 3>" not in m.kernels


@program
def clocks_and_numbers_of_lanes() -> None:
    m = module("""extern "C" __global__ void k(long long* y, unsigned* z) {
        long long a = clock64(); unsigned sm, w, l;
        asm("mov.u32 %0,%%smid;" : "=r"(sm)); asm("mov.u32 %0,%%warpid;" : "=r"(w));
            asm("mov.u32 %0,%%laneid;" : "=r"(l));
        __nanosleep(10); unsigned long long g; asm volatile("mov.u64 %0,%%globaltimer;" : "=l"(g));
        y[threadIdx.x] = clock64() - a; z[threadIdx.x] = l;
    }""")
    y, z = wb.zeros(32, dtype=wb.int64), wb.zeros(32, dtype=wb.uint32)
    go(m["k"], 1, 32, y, z)
    same(z, LANES)
    assert (y.numpy() > 0).all()


@program
def inline_ptx() -> None:
    m = module("""extern "C" __global__ void k(unsigned* y) {
        unsigned a = threadIdx.x, r;
        asm("{ .reg .u32 t; mul.lo.u32 t,%1,3; lop3.b32 %0,t,%1,7,0x96; }" : "=r"(r) : "r"(a));
        asm volatile("bfe.u32 %0,%0,1,4;" : "+r"(r)); y[a] = r;
    }""")
    y = wb.zeros(32, dtype=wb.uint32)
    go(m["k"], 1, 32, y)
    same(y, ((LANES * 3) ^ LANES ^ 7) >> 1 & 15)


@program
def atomics() -> None:
    m = module("""extern "C" __global__ void k(int* y, unsigned* u, float* f) {
        int t = threadIdx.x;
        atomicAdd(y, 1); atomicSub(y + 1, 2); atomicMax(y + 2, t); atomicMin(y + 3, -t); atomicAnd(y + 4, ~(1 << t));
        atomicOr(y + 5, 1 << t); atomicXor(y + 6, t); atomicInc(u, 10); atomicDec(u + 1, 7); atomicExch(f, 1.f);
        atomicAdd_block(f + 1, .5f); atomicAdd_system(f + 2, 1.f);
    }""")
    y = wb.array(np.array([0, 0, 0, 0, -1, 0, 0], np.int32))
    u, f = wb.zeros(2, dtype=wb.uint32), wb.zeros(3)
    go(m["k"], 1, 32, y, u, f)
    same(y, [32, -64, 31, -31, 0, -1, 0])
    same(f, [1, 16, 32])
    same(u, [32 % 11, 0])


@program
def bfloats_and_floats_of_eight_bits() -> None:
    m = module("""
    #include <cuda_bf16.h>
    #include <cuda_fp8.h>
    extern "C" __global__ void k(float* y) {
        __nv_bfloat16 a = __float2bfloat16(threadIdx.x * .5f); __nv_fp8_e4m3 q(threadIdx.x * .5f);
        y[threadIdx.x] = __bfloat162float(a * a) + float(q);
    }""")
    y, half = wb.zeros(16), np.arange(16) * 0.5
    go(m["k"], 1, 16, y)
    same(y, half * half + half)


@program
def functions_of_doubles() -> None:
    m = module("""extern "C" __global__ void k(double* y) {
        double x = threadIdx.x * .3 + .1;
        y[threadIdx.x] = sin(x) + pow(x, 1.7) + erf(x) + cbrt(x) + atan2(x, 2.0) + fmod(x,
            .7) + exp2(x) + log1p(x) + hypot(x, 1.0);
    }""")
    from math import erf

    y, x = wb.zeros(32, dtype=wb.float64), LANES * 0.3 + 0.1
    go(m["k"], 1, 32, y)
    right = np.sin(x) + x**1.7 + [erf(v) for v in x] + np.cbrt(x) + np.arctan2(x, 2) + np.fmod(x, 0.7)
    np.testing.assert_allclose(y.numpy(), right + np.exp2(x) + np.log1p(x) + np.hypot(x, 1), rtol=1e-12)


@program
def matrices_by_ptx() -> None:
    m = module("""extern "C" __global__ void k(float* y) {
        __shared__ __align__(16) unsigned short s[16 * 16];
        for (int i = threadIdx.x; i < 256; i += 32) s[i] = 0x3c00;
        __syncthreads();
        unsigned a = (unsigned)__cvta_generic_to_shared(s + (threadIdx.x % 16) * 16 + (threadIdx.x / 16) * 8), r[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
        float c[4] = {0, 0, 0, 0};
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]),
                "r"(r[0]), "r"(r[1]));
        y[threadIdx.x] = c[0];
    }""")
    y = wb.zeros(32)
    go(m["k"], 1, 32, y)
    same(y, 16)


@program
def votes_and_shuffles() -> None:
    m = module("""extern "C" __global__ void k(int* y) {
        int t = threadIdx.x, a = __all_sync(~0u, t < 32), b = __any_sync(~0u, t == 3);
            unsigned c = __ballot_sync(~0u, t & 1);
        int d = __shfl_up_sync(~0u, t, 1), e = __shfl_xor_sync(~0u, t, 5, 8);
        long long f = __shfl_sync(~0u, (long long)t << 40, 7) >> 40; double g = __shfl_down_sync(~0u, (double)t, 2);
        y[t] = a + b + (c == 0xaaaaaaaa) + d + e + (int)f + (int)g;
    }""")
    y = wb.zeros(32, dtype=wb.int32)
    go(m["k"], 1, 32, y)
    down = np.where(LANES < 30, LANES + 2, LANES)
    same(y, 3 + np.maximum(LANES - 1, 0) * (LANES > 0) + (LANES ^ 5) + 7 + down)


@program
def variables_are_shared_by_kernels_and_python() -> None:
    m = module("""
    namespace state { __device__ int count; __constant__ double table[2][3]; }
    __managed__ int shown;
    struct Plan { int n; float scale; };
    __constant__ Plan plan;
    static __device__ unsigned seen[4] = {1, 2, 3, 4};
    __global__ void up(int by) { atomicAdd(&state::count, by); atomicAdd(&shown, 1);
        atomicAdd(&seen[threadIdx.x % 4], 1); }
    __global__ void read(double* y) {
        y[threadIdx.x] = state::count + state::table[1][threadIdx.x % 3] + plan.n * plan.scale; }
    """)
    m.symbol("state::table")[:] = np.arange(6, dtype=np.float64)
    plan = m.symbol("plan")
    plan[:] = np.array([(3, 0.5)], [("n", "i4"), ("scale", "f4")]).view(np.uint8)
    go(m["up"], 1, 32, 2)
    y = wb.zeros(6, dtype=wb.float64)
    go(m["read"], 1, 6, y)
    same(y, 64 + np.array([3, 4, 5, 3, 4, 5]) + 1.5)
    assert m.symbol("shown").numpy().tolist() == [32] and m.symbol("count").numpy().tolist() == [64]
    same(m.symbol("seen"), [9, 10, 11, 12])
    m.symbol("shown")[:] = 0
    assert m.symbol("shown").numpy().tolist() == [0]
    with pytest.raises(KeyError, match="no variable w; it has state::count, state::table, shown, plan, seen"):
        m.symbol("w")


@program
def attributes_wherever_they_stand() -> None:
    m = module("""
    extern "C" __global__ void __launch_bounds__(256, 2) a(const float* __restrict__ x, float* __restrict__ y) {
        int i = threadIdx.x; y[i] = __ldg(x + i) + __ldcs(x + i); __stcs(y + i, y[i]); __builtin_assume(i < 256);
    }
    __launch_bounds__(128) __global__ void b(float* y) { y[threadIdx.x] += 1; }
    __global__ void __launch_bounds__((32 * 4), 1) c(float* y) { y[threadIdx.x] += 2; }
    static __global__ __launch_bounds__(64) void d(float* y) { y[threadIdx.x] += 3; }
    [[maybe_unused]] __global__ void e(float* y, [[maybe_unused]] int unused) { y[threadIdx.x] += 4; }
    #define BOUNDED(n) __launch_bounds__(n)
    #define KERNEL extern "C" __global__ void
    KERNEL f(float* y) { y[threadIdx.x] += 5; }
    __global__ void BOUNDED(32) g(float y[]) { y[threadIdx.x] += 6; }""")
    x, y = wb.array(np.ones(32, np.float32)), wb.zeros(32)
    go(m["a"], 1, 32, x, y)
    for name in "bcdfg":
        go(m[name], 1, 32, y)
    go(m["e"], 1, 32, y, 0)
    same(y, 2 + 21)


@program
def types_under_other_names() -> None:
    m = module(
        """
    typedef float real; using count = unsigned long long; #define number double
    enum Mode { OFF, ON = 7 }; enum class Wide : long long { A = 1 };
    typedef real* reals; using Row = float[4]; template <class T> using ptr = T*;
    __global__ void k(const real* a, reals b, count n, number scale, Mode mode, Wide wide, decltype(1.0f) more,
                      ptr<int> c, const Row* rows, void* raw, unsigned char flag = 3) {
        int i = threadIdx.x;
        if (i < n) { b[i] = a[i] * scale + mode + (int)wide + more + rows[0][i % 4]; c[i] = flag;
            ((float*)raw)[i] = i; }
    }""".replace("; #define", ";\n    #define").replace("double\n", "double\n")
    )
    a, b, c, raw = floats(16), wb.zeros(16), wb.zeros(16, dtype=wb.int32), wb.zeros(16)
    rows = np.arange(4, dtype=np.float32)
    go(m["k"], 1, 32, wb.array(a), b, 16, 3.0, 7, 1, 0.5, c, wb.array(rows), raw, 3)
    same(b, a * 3 + 8.5 + np.tile(rows, 4))
    same(c, 3)
    same(raw, np.arange(16))


@program
def structs_in_arrays() -> None:
    @wb.struct
    class Particle:
        pos: wb.vec3
        mass: float
        id: int

    m = module("""
    struct Particle { float3 pos; float mass; int id; };
    __global__ void move(Particle* p, const Particle* q, float dt) {
        int i = threadIdx.x; p[i].pos.x += dt * q[i].mass; p[i].id = 10 * q[i].id;
    }""")
    host: Any = np.zeros(8, Particle.__wb_struct__.numpy)
    host["mass"], host["id"], host["pos"] = np.arange(8), np.arange(8) + 1, 1
    p, q = wb.array(host, dtype=Particle), wb.array(host, dtype=Particle)
    go(m["move"], 1, 8, p, q, 0.5)
    same(p["pos"].numpy()[:, 0], 1 + 0.5 * np.arange(8))
    same(p["id"].numpy(), 10 * (np.arange(8) + 1))
    go(m["move"], 1, 8, host, host.copy(), 2.0)  # NumPy's arrays are copied there and back
    same(host["pos"][:, 0], 1 + 2 * np.arange(8))
    other = np.zeros(8, [("pos", "3f4"), ("id", "i4"), ("mass", "f4")])
    with pytest.raises(wb.LaunchError, match="p is `Particle\\*`; the array has mass at byte 16 in 4, not at 12 in 4"):
        go(m["move"], 1, 8, other, host, 1.0)
    with pytest.raises(wb.LaunchError, match="has elements of 4 bytes, not 20"):
        go(m["move"], 1, 8, wb.zeros(8), q, 1.0)


@program
def structs_by_value() -> None:
    m = module("""
    struct Par { float a; int n; double d; };
    struct Deep { float3 g; short s[3]; bool on; };
    extern "C" __global__ void k(const float4* x, float4* y, Par p) {
        int i = threadIdx.x; if (i < p.n) { float4 v = x[i]; v.x *= p.a; v.w += p.d; y[i] = v; }
    }
    __global__ void deep(float* y, const Deep d, float2 v) { y[0] = d.g.y + d.s[2] + d.on + v.y; }""")
    x, y = floats(64).reshape(16, 4), wb.zeros(16, dtype=wb.vec4)
    right = x * [2, 1, 1, 1] + [0, 0, 0, 1]
    for value in (
        (2.0, 16, 1.0),
        {"d": 1.0, "a": 2.0, "n": 16},
        np.array((2, 16, 1), np.dtype([("a", "f4"), ("n", "i4"), ("d", "f8")], align=True))[()],
    ):
        y.fill_(0)
        go(m["k"], 1, 16, wb.array(x, dtype=wb.vec4), y, value)
        same(y, right)
    z = wb.zeros(1)
    go(m["deep"], 1, 1, z, ((1, 2, 3), (4, 5, 6), True), (0.5, 0.25))
    same(z, [2 + 6 + 1 + 0.25])
    for wrong, said in (
        ((2.0, 16), "has other fields"),
        ((2.0, 1.5, 1.0), "1.5 is a float"),
        (3, "the value is an int"),
        ({"a": 1, "n": 2, "e": 3}, "other fields"),
    ):
        with pytest.raises(wb.LaunchError, match=said):
            go(m["k"], 1, 16, wb.array(x, dtype=wb.vec4), y, wrong)


@program
def structs_with_pointers_and_tables_of_arrays() -> None:
    m = module("""
    struct View { const float* data; int n; };
    __global__ void total(View v, float* y) { float s = 0; for (int i = 0; i < v.n; ++i) s += v.data[i];
        y[threadIdx.x] = s; }
    __global__ void rows(float** p, const float* const* q, int n) { int i = threadIdx.x; for (int k = 0; k < n;
        ++k) p[k][i] = q[k][i] + k; }
    """)
    x, y = floats(20), wb.zeros(1)
    go(m["total"], 1, 1, (wb.array(x), 20), y)
    same(y, [x.sum()])
    p, q = [wb.zeros(8) for _ in range(3)], [floats(8 + k)[:8] for k in range(3)]
    go(m["rows"], 1, 8, p, [wb.array(a) for a in q], 3)
    for k in range(3):
        same(p[k], q[k] + k)
    with wb.Tape(), pytest.raises(wb.LaunchError, match="p reaches arrays through addresses in memory"):
        go(m["rows"], 1, 8, p, p, 3)


@program
def pairs_of_halves_and_complex_numbers() -> None:
    m = module("""
    #include <cuda_fp16.h>
    #include <cuComplex.h>
    __global__ void twice(const half2* x, __half2* y) { y[threadIdx.x] = __hadd2(x[threadIdx.x], x[threadIdx.x]); }
    __global__ void product(const cuFloatComplex* a, cuFloatComplex* b, cuDoubleComplex s) {
        int i = threadIdx.x; b[i] = cuCmulf(a[i], make_cuFloatComplex(s.x, s.y));
    }""")
    x = np.arange(16, dtype=np.float16).reshape(8, 2)
    y = wb.zeros(8, dtype=wb.types.vector(2, wb.float16))
    go(m["twice"], 1, 8, wb.array(x, dtype=wb.types.vector(2, wb.float16)), y)
    same(y, 2 * x)
    a, b = (floats(8) + 1j * floats(9)[:8]).astype(np.complex64), np.zeros(8, np.complex64)
    go(m["product"], 1, 8, a, b, 1 - 2j)
    same(b, a * (1 - 2j))


@program
def namespaces() -> None:
    m = module("""
    namespace a { namespace b { struct V { int x; int k; }; __global__ void deep(V v, int* y) { y[0] = v.x + v.k; } } }
    namespace a::c { __global__ void same(int* y) { y[0] = 1; } }
    namespace d { __global__ void same(int* y) { y[0] = 2; } }
    namespace { __global__ void hidden(int* y) { y[0] = 3; } }
    extern "C" { __global__ void plain(int* y) { y[0] = 4; } }
    inline namespace v1 { __global__ void inlined(int* y) { y[0] = 5; } }""")
    y = wb.zeros(1, dtype=wb.int32)
    for name, right in {"a::c::same": 1, "d::same": 2, "hidden": 3, "plain": 4, "inlined": 5}.items():
        go(m[name], 1, 1, y)
        assert y.numpy().tolist() == [right]
    go(m["deep"], 1, 1, (20, 3), y)
    assert y.numpy().tolist() == [23]
    with pytest.raises(KeyError, match="no kernel same"):
        _ = m["same"]


@program
def lambdas_and_functors() -> None:
    m = module("""
    #define HD __host__ __device__
    template <class F> __device__ void each(int n, F f) { for (int i = threadIdx.x; i < n; i += blockDim.x) f(i); }
    struct Line {
        float a, b;
        HD Line(float a, float b) : a(a), b{b} {}
        HD float operator()(float x) const { return a * x + b; }
        void print() { printf("%f", a); }
        static Line parse(const char* text);
    };
    HD inline float clamp01(float x) { return fminf(fmaxf(x, 0.f), 1.f); }
    __global__ void k(float* y, int n, float s) {
        Line line(2.f, 1.f);
        each(n, [=] __device__ (int i) { y[i] = line(i) * s; });
        each(n, [y] __host__ __device__ (int i) mutable { y[i] += clamp01(0.1f * i); });
        each(n, [=](int i) { y[i] += 1; });
    }""")
    y = wb.zeros(40)
    go(m["k"], 1, 32, y, 40, 3.0)
    i = np.arange(40)
    same(y, (2 * i + 1) * 3 + np.clip(0.1 * i, 0, 1) + 1)


@program
def parts_under_conditions() -> None:
    m = module(
        """
    #ifdef USE_DOUBLE
    typedef double real;
    __global__ void only_double(double* x) {}
    #else
    typedef float real;
    #endif
    #if defined(FAST)
    __global__ void k(real* y, int n) { y[threadIdx.x] = 2 * n; }
    #else
    __global__ void k(real* y, int n) { y[threadIdx.x] = n; }
    #endif""",
        defines={"FAST": 1},
    )
    y = wb.zeros(4)
    go(m["k"], 1, 4, y, 3)
    same(y, 6)
    with pytest.raises(wb.LaunchError, match="NVRTC knows no kernel only_double: an #if leaves it out"):
        go(m["only_double"], 1, 1, wb.zeros(1, dtype=wb.float64))


@program
def shared_memory_of_templates() -> None:
    m = module("""
    template <typename T> struct Shared { __device__ operator T*() { extern __shared__ int raw[]; return (T*)raw; } };
    template <class T, unsigned N> __global__ void turned(const T* x, T* y) {
        T* s = Shared<T>(); s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); y[threadIdx.x] = s[N - 1 - threadIdx.x];
    }""")
    x = floats(64)
    for type in (np.float32, np.float64):
        y = np.zeros(64, type)
        name = {np.float32: "float", np.float64: "double"}[type]
        go(m[f"turned<{name}, 64u>"], 1, 64, x.astype(type), y, shared=512)
        same(y, x.astype(type)[::-1])


@pytest.mark.sample(8)
@pytest.mark.parametrize("run", PROGRAMS, ids=lambda p: p.__name__)
def test_a_program_runs(run: Program) -> None:
    run()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "__global__ void k(cudaTextureObject_t t, float* y) { y[0] = tex2D<float>(t, 1, 2); }",
            "Textures are not supp",
        ),
        ("__global__ void k(cudaSurfaceObject_t s) { }", "Surfaces are not supported"),
        (
            "#include <thrust/sequence.h>\n__global__ void k(int* y) { thrust::sequence(thrust::seq, y, y + 3); }",
            "Thrust",
        ),
        ("#include <curand_kernel.h>\n__global__ void k(curandState* s) { }", "cuRAND is not supported"),
        ("__global__ void a() {}\n__global__ void k() { a<<<1, 2>>>(); }", "cannot launch a kernel here"),
        ("int n = 5;\n__global__ void k(int* y) { y[0] = n; }", "n is taken for code of the host"),
        (
            "float f(float x) { return x; }\n__global__ void k(float* y) { y[0] = f(1); }",
            "f is taken for code of the host",
        ),
    ],
)
def test_what_cannot_run_is_refused_by_its_name(text: str, said: str) -> None:
    with pytest.raises(wb.WorkbenchError, match=said) as caught:
        module(text)
    assert caught.value.location is not None and caught.value.advice
