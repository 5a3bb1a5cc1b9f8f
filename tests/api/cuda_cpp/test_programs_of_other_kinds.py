"""CUDA programs on the emulated device: classes, macros that write kernels, locks, gradients and records of structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.cuda_programs import floats, go, module, same

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
def a_product_of_matrices_with_its_host() -> None:
    m = module("""
    #include <stdio.h>
    #include <string.h>
    #define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
    inline void gpuAssert(cudaError_t code, const char* file, int line, bool abort = true) {
        if (code != cudaSuccess) { fprintf(stderr, "%s %s %d", cudaGetErrorString(code), file, line); exit(code); }
    }
    typedef struct { int width; int height; float* elements; } Matrix;
    __global__ void MatMul(const Matrix, const Matrix, Matrix);
    void multiply(const Matrix A, const Matrix B, Matrix C) {
        Matrix d; d.width = A.width; cudaMalloc(&d.elements, 4 * A.width * A.height);
        MatMul<<<dim3(B.width / 16, A.height / 16), dim3(16, 16)>>>(A, B, C);
    }
    __global__ void MatMul(Matrix A, Matrix B, Matrix C) {
        float sum = 0;
        int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
        for (int e = 0; e < A.width; ++e) sum += A.elements[row * A.width + e] * B.elements[e * B.width + col];
        C.elements[row * C.width + col] = sum;
    }
    int main(void) { return 0; }""")
    a, b, c = floats(512)[:512].reshape(16, 32), floats(513)[:512].reshape(32, 16), wb.zeros(256)
    m["MatMul"][[16, 16]](
        (32, 16, wb.array(a.reshape(-1))), (16, 32, wb.array(b.reshape(-1))), (16, 16, c), block_dim=(16, 16)
    )
    np.testing.assert_allclose(c.numpy().reshape(16, 16), a @ b, rtol=1e-4)


@program
def random_numbers_counted() -> None:
    m = module("""
    #include <random>
    #include "curand_kernel.h"
    __device__ unsigned step(unsigned& s) { s = s * 1664525u + 1013904223u; return s; }
    template <typename T> __device__ T unit(unsigned& s) { return T(step(s) >> 8) / T(1 << 24); }
    __global__ void pi(unsigned long long* hits, int n) {
        unsigned s = threadIdx.x + blockIdx.x * blockDim.x, c = 0;
        for (int i = 0; i < n; i++) { float x = unit<float>(s), y = unit<float>(s); c += x * x + y * y < 1; }
        atomicAdd(hits, (unsigned long long)c);
    }
    int main() { std::mt19937 g(1); }""")
    hits, s, right = wb.zeros(1, dtype=wb.uint64), np.arange(64, dtype=np.uint32), 0
    for _ in range(50):
        first = s * np.uint32(1664525) + np.uint32(1013904223)
        s = first * np.uint32(1664525) + np.uint32(1013904223)
        right += (((first >> 8) / 2**24) ** 2 + ((s >> 8) / 2**24) ** 2 < 1).sum()
    go(m["pi"], 2, 32, hits, 50)
    assert hits.numpy().tolist() == [right]


@program
def classes_enumerations_and_unions() -> None:
    m = module("""
    enum class Op : unsigned char { Add, Mul };
    class Sum {
        float v;
    public:
        __device__ explicit Sum(float x) : v(x) {}
        __device__ Sum& operator+=(float o) { v += o; return *this; }
        __device__ float get() const { return v; }
        static constexpr int K = 4;
    };
    struct Base { int n; __device__ int size() const { return n; } };
    struct Derived : Base { float w; };
    union Bits { float f; unsigned u; };
    struct Flags { unsigned a : 4, b : 12; unsigned c; };
    __global__ void k(float* y, Op op, Derived d) {
        Sum a(1.f);
        for (int i = 0; i < Sum::K; i++) a += i;
        y[threadIdx.x] = op == Op::Mul ? a.get() * d.w * d.size() : a.get();
    }
    __global__ void bits(const Bits* x, unsigned* y, Flags b) { y[threadIdx.x] = x[threadIdx.x].u + b.b + b.c; }
    __global__ void hidden(Sum s, float* y) { y[0] = s.get(); }
    __global__ void small(const char* s, char* o, long n, unsigned long m, short h, size_t z, bool b, wchar_t w) {
        if (threadIdx.x < n) o[threadIdx.x] = s[threadIdx.x] + h + m + z + b + w;
    }""")
    y = wb.zeros(4)
    go(m["k"], 1, 4, y, 1, (2, 0.5))
    same(y, 7)
    x, z = np.arange(4, dtype=np.float32), wb.zeros(4, dtype=wb.uint32)
    go(m["bits"], 1, 4, wb.array(x.view(np.uint8)), z, np.array([0x35, 7], np.uint32).tobytes())
    same(z, x.view(np.uint32) + 3 + 7)
    go(m["hidden"], 1, 1, np.float32(2.5).tobytes(), y)
    assert y.numpy()[0] == 2.5
    with pytest.raises(wb.LaunchError, match="not all of its members are seen"):
        go(m["hidden"], 1, 1, (2.5,), y)
    s, o = np.frombuffer(b"abcd", np.int8), wb.zeros(4, dtype=wb.int8)
    go(m["small"], 1, 4, wb.array(s), o, 4, 1, -1, 0, True, 1)
    same(o, s + 2)


@program
def flags_and_locks() -> None:
    m = module("""
    __device__ volatile int flag = 0; __device__ int lock = 0;
    __global__ void handed(int* y) {
        if (blockIdx.x == 0) { if (threadIdx.x == 0) { y[0] = 42; __threadfence(); flag = 1; } }
        else if (threadIdx.x == 0) { while (!flag); y[1] = y[0] + 1; }
    }
    __global__ void locked(int* c) {
        bool done = false;
        while (!done) if (atomicCAS(&lock, 0, 1) == 0) { *c += 1; __threadfence(); atomicExch(&lock, 0); done = true; }
    }""")
    y, c = wb.zeros(2, dtype=wb.int32), wb.zeros(1, dtype=wb.int32)
    go(m["handed"], 2, 32, y)
    assert y.numpy().tolist() == [42, 43]
    go(m["locked"], 2, 64, c)
    assert c.numpy().tolist() == [128]


@program
def kernels_that_a_macro_writes() -> None:
    m = module("""
    #define MAKE(T) extern "C" __global__ void k_##T(const T* x, T* a) { a[threadIdx.x] = x[0] + threadIdx.x; }
    MAKE(float)
    MAKE(int)""")
    y = wb.zeros(4, requires_grad=False)
    go(m["k_float"], 1, 4, wb.array(np.ones(1, np.float32)), y)
    same(y, 1 + np.arange(4))
    with pytest.raises(wb.LaunchError, match="NVRTC knows no kernel k_double"):
        _ = m["k_double"]


@program
def things_of_c_plus_plus_17() -> None:
    m = module("""
    template <int N> struct Fact { enum { value = N * Fact<N - 1>::value }; };
    template <> struct Fact<0> { enum { value = 1 }; };
    template <typename... A> __device__ int total(A... a) { return (a + ... + 0); }
    __global__ void k(int* y) {
        static const int t[3] = {1, 2, 3};
        __shared__ int s; if (!threadIdx.x) s = 5; __syncthreads();
        auto square = [](int v) { return v * v; };
        int sum = Fact<5>::value + total(1, 2, 3) + t[threadIdx.x % 3] + s + square(2);
        if constexpr (sizeof(int) == 4) y[threadIdx.x] = sum;
    }""")
    y = wb.zeros(3, dtype=wb.int32)
    go(m["k"], 1, 3, y)
    same(y, 120 + 6 + np.array([1, 2, 3]) + 5 + 4)


@program
def headers_of_one_s_own_with_host_code_and_kernels() -> None:
    header = """
    #pragma once
    #include <cmath>
    #include <vector>
    void only_for_the_host(std::vector<int>& v);
    static __forceinline__ __device__ float mine(float x) { return std::floor(x / 2); }
    __global__ void in_header(float* y) { y[0] = 9; }
    """
    m = module(
        """
    #include "helper_math.h"
    #include "mine.cuh"
    __global__ void k(float* y) { y[threadIdx.x] = mine(threadIdx.x); }""",
        headers={"mine.cuh": header},
    )
    y = wb.zeros(4)
    go(m["k"], 1, 4, y)
    same(y, [0, 0, 1, 1])
    go(m["in_header"], 1, 1, y)
    assert y.numpy()[0] == 9 and m["in_header"].place.source.name == "mine.cuh"


@program
def gradients_in_a_namespace_with_a_typedef() -> None:
    m = module("""
    namespace n { typedef float real;
        __global__ void sq(const real* x, real* y) { y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }
        __global__ void sq_adjoint(const real* x, real* adj_x, real* adj_y) {
            int i = threadIdx.x; adj_x[i] += 2 * x[i] * adj_y[i]; adj_y[i] = 0;
        }
    }""")
    x, y = wb.array(np.arange(4, dtype=np.float32), requires_grad=True), wb.zeros(4, requires_grad=True)
    with wb.Tape() as tape:
        m["sq"][4](x, y, block_dim=4)
    tape.backward(grads={y: np.ones(4, np.float32)})
    same(x.grad, 2 * np.arange(4))
    assert wb.gradcheck(m["n::sq"], 4, [x, y], block_dim=4)


@program
def structs_in_graphs_and_on_tapes() -> None:
    @wb.struct
    class P:
        a: float
        b: int

    m = module("""struct P { float a; int b; };
    __global__ void k(P* p, P q, float* y) { p[threadIdx.x].a += q.a; y[threadIdx.x] = p[threadIdx.x].a; }""")
    p, y, value = wb.zeros(4, dtype=P), wb.zeros(4), P(1.5, 2)
    with wb.capture() as g:
        m["k"][4](p, value, y, block_dim=4)
    for _ in range(3):
        g.launch()
    same(y, 4.5)
    same(p["a"], 4.5)
    grown = wb.zeros(4, dtype=P, requires_grad=True)
    with wb.Tape(), pytest.raises(wb.LaunchError, match="the array requires a gradient"):
        m["k"][4](grown, value, y, block_dim=4)


@pytest.mark.sample(3)
@program
def rows_as_softmax_without_an_include() -> None:
    m = module("""
    #define FULL 0xffffffffu
    __inline__ __device__ float most(float v) {
        for (int o = warpSize / 2; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(FULL, v, o));
        return v;
    }
    __inline__ __device__ float total(float v) {
        for (int o = warpSize >> 1; o; o >>= 1) v += __shfl_down_sync(FULL, v, o);
        return __shfl_sync(FULL, v, 0);
    }
    __global__ void softmax(float* x, const int32_t cols, uint64_t* turns) {
        float* row = x + (size_t)blockIdx.x * cols;
        float m = -INFINITY, z = 0;
        for (int c = threadIdx.x; c < cols; c += warpSize) m = max(m, row[c]);
        m = most(m);
        for (int c = threadIdx.x; c < cols; c += warpSize) z += (row[c] = expf(row[c] - m));
        z = total(z);
        for (int c = threadIdx.x; c < cols; c += warpSize) row[c] = z > FLT_MIN ? row[c] / z : NAN;
        if (threadIdx.x == 0) atomicAdd((unsigned long long*)turns, (unsigned long long)UINT_MAX + 1);
    }""")
    x, turns = floats(6 * 70).reshape(6, 70), wb.zeros(1, np.uint64)
    y = wb.array(x)
    go(m["softmax"], 6, 32, y, 70, turns)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y.numpy(), e / e.sum(1, keepdims=True), rtol=1e-4)
    assert turns.numpy().tolist() == [6 << 32]


@program
def names_of_c_that_the_text_has_itself() -> None:
    m = module("""
    #define NAN -1.0f
    constexpr double M_PI = 3.0;
    typedef unsigned short uint32_t;
    using uint8_t = unsigned char;
    __global__ void k(float* y) {
        uint32_t a = 65537;
        uint8_t b = 258;
        y[threadIdx.x] = threadIdx.x == 0 ? NAN : threadIdx.x == 1 ? M_PI : threadIdx.x == 2 ? a : b;
    }""")
    y = wb.zeros(4)
    go(m["k"], 1, 4, y)
    assert y.numpy().tolist() == [-1, 3, 1, 2]


@program
def algorithms_of_the_library() -> None:
    m = module("""
    #include <algorithm>
    #include <numbers>
    #include <numeric>
    __global__ void ranked(const int* x, int* y, int n) {
        int v[8];
        std::copy(x, x + n, v);
        std::swap(v[0], v[n - 1]);
        y[0] = *std::max_element(v, v + n);
        y[1] = std::min(v[0], std::max(v[1], 3));
        y[2] = std::lower_bound(y + 3, y + 6, 4) - y;
        y[6] = std::accumulate(v, v + n, 0);
    }""")
    x = np.array([5, 1, 7, 2, 9, 4, 6, 8], np.int32)
    y = wb.array(np.array([0, 0, 0, 1, 3, 5, 0], np.int32))
    go(m["ranked"], 1, 1, wb.array(x), y, 8)
    assert y.numpy().tolist() == [9, 3, 5, 1, 3, 5, 42]


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda p: p.__name__)
def test_a_program_runs(run: Program) -> None:
    run()


def test_a_kernel_that_cannot_be_executed_does_not_keep_the_others_from_it() -> None:
    m = module("""
    __global__ void fine(float* y) { y[threadIdx.x] = 1; }
    __global__ void bulk(float* y) { asm volatile("cp.async.bulk.commit_group;"); y[0] = 1; }""")
    y = wb.zeros(4)
    go(m["fine"], 1, 4, y)
    same(y, 1)
    with pytest.raises(wb.BuildError, match=r"cp\.async\.bulk\.commit_group cannot be executed") as caught:
        go(m["bulk"], 1, 4, y)
    assert caught.value.location is not None and caught.value.location.line == 3
