"""CUDA programs that use its library (wmma, cooperative groups, CUB, libcu++, Thrust's complex) on the emulated device.

The library's text alone takes seconds to compile, so most of these tests are slow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.cuda_programs import LANES, floats, go, ints, module, same
from workbench.backends.cuda import toolkit

Program = Callable[[], None]
PROGRAMS: list[Program] = []


@pytest.fixture(autouse=True)
def emulated() -> Iterator[None]:
    with wb.ScopedDevice("emulated"), wb.checks(False):
        yield


def program(run: Program) -> Program:
    PROGRAMS.append(run)
    return run


WMMA = """
#include <mma.h>
using namespace nvcuda;
__global__ void k(const @A@* a, const @A@* b, @C@* c) {
    wmma::fragment<wmma::matrix_a, @S@, @T@, wmma::@LA@_major> A;
    wmma::fragment<wmma::matrix_b, @S@, @T@, wmma::@LB@_major> B;
    wmma::fragment<wmma::accumulator, @S@, @C@> C;
    wmma::fill_fragment(C, (@C@)1);
    wmma::load_matrix_sync(A, a, @LDA@); wmma::load_matrix_sync(B, b, @LDB@);
    wmma::mma_sync(C, A, B, C);
    for (int i = 0; i < C.num_elements; ++i) C.x[i] *= (@C@)2;
    wmma::store_matrix_sync(c, C, @N@, wmma::mem_row_major);
}"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("shape", "kind", "sums", "layouts"),
    [
        ((16, 16, 16), "half", "float", "row col"), ((16, 16, 16), "half", "half", "col row"),
        ((32, 8, 16), "half", "float", "row row"), ((8, 32, 16), "signed char", "int", "row col"),
        ((16, 16, 16), "unsigned char", "int", "col col"), ((8, 8, 4), "double", "double", "row col"),
        ((16, 16, 8), "wmma::precision::tf32", "float", "row col"),
    ],
)  # fmt: skip
def test_wmma(shape: tuple[int, int, int], kind: str, sums: str, layouts: str) -> None:
    m, n, k = shape
    la, lb = layouts.split()
    types = {
        "half": np.float16,
        "float": np.float32,
        "signed char": np.int8,
        "unsigned char": np.uint8,
        "int": np.int32,
    }
    types |= {"double": np.float64, "wmma::precision::tf32": np.float32}
    words = {"S": f"{m}, {n}, {k}", "A": "float" if "tf32" in kind else kind, "C": sums, "T": kind, "LA": la, "LB": lb}
    words |= {"LDA": k if la == "row" else m, "LDB": n if lb == "row" else k, "N": n}
    text = WMMA
    for word, value in words.items():
        text = text.replace(f"@{word}@", str(value))
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 4, s).astype(types[kind]) for s in ((m, k), (k, n)))
    c = np.zeros((m, n), types[sums])
    flat = [np.ascontiguousarray(x if layout == "row" else x.T).reshape(-1) for x, layout in ((a, la), (b, lb))]
    go(module(text)["k"], 1, 32, *flat, c)
    same(c, (a.astype(float) @ b.astype(float) + 1) * 2)


@program
def a_grid_waits_for_itself() -> None:
    m = module("""
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(int* x, int* y) {
        auto g = cg::this_grid(); x[g.thread_rank()] = g.thread_rank(); g.sync();
        y[g.thread_rank()] = x[g.size() - 1 - g.thread_rank()];
    }
    __global__ void smooth(float* a, float* b, int n, int rounds) {
        cg::grid_group g = cg::this_grid(); int i = g.thread_rank();
        for (int r = 0; r < rounds; ++r) {
            if (i > 0 && i < n - 1) b[i] = (a[i - 1] + a[i + 1]) / 2;
            cg::sync(g); float* t = a; a = b; b = t;
        }
    }
    __global__ void part(int* x) { if (blockIdx.x) cg::this_grid().sync(); }""")
    x, y = wb.zeros(256, dtype=wb.int32), wb.zeros(256, dtype=wb.int32)
    go(m["k"], 4, 64, x, y)
    same(y, np.arange(256)[::-1])
    right = np.eye(1, 6400, dtype=np.float32)[0]
    a, b = wb.array(right.copy()), wb.array(right.copy())
    go(m["smooth"], 200, 32, a, b, 6400, 7)
    for _ in range(7):
        right[1:-1] = (right[:-2] + right[2:]) / 2
    same(b, right)
    with wb.capture() as graph:
        m["k"][256](x, y, block_dim=64)
    with pytest.raises(wb.LaunchError, match="k may wait for all blocks of its grid"):
        graph.launch()
    with pytest.raises(wb.DeviceError, match="waits"):
        go(m["part"], 3, 32, x)
    wb.reset_device()
    go(m["k"], 4, 64, x, y)


@program
def blocks_of_a_cluster_read_each_other_s_memory() -> None:
    m = module("""
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int* y) {
        __shared__ int s[32]; auto c = cg::this_cluster();
        s[threadIdx.x] = blockIdx.x * 100 + threadIdx.x; c.sync();
        int* o = c.map_shared_rank(s, c.block_rank() ^ 1); y[blockIdx.x * 32 + threadIdx.x] = o[threadIdx.x]; c.sync();
    }
    __global__ __cluster_dims__(2, 2) void square(int* y) {
        __shared__ int sum; auto c = cg::this_cluster();
        if (threadIdx.x == 0) sum = 0;
        c.sync();
        for (int r = 0; r < c.num_blocks(); ++r) atomicAdd(c.map_shared_rank(&sum, r),
            (int)(blockIdx.y * 10 + blockIdx.x));
        c.sync();
        if (threadIdx.x == 0) y[blockIdx.y * gridDim.x + blockIdx.x] = sum * 100 + c.block_rank();
    }
    __global__ void alone(int* y) { auto c = cg::this_cluster(); c.sync(); y[threadIdx.x] = c.num_blocks(); }""")
    y = wb.zeros(64, dtype=wb.int32)
    go(m["k"], 2, 32, y)
    same(y, np.concatenate([100 + LANES, LANES]))
    z = wb.zeros(16, dtype=wb.int32)
    m["square"][[4, 4 * 32]](z, block_dim=(1, 32))
    row, column = np.divmod(np.arange(16), 4)
    around = sum(((row & ~1) + r) * 10 + (column & ~1) + c for r in (0, 1) for c in (0, 1))
    same(z, 32 * around * 100 + (row & 1) * 2 + (column & 1))
    go(m["alone"], 1, 64, y)
    same(y, 1)
    with pytest.raises(wb.DeviceError, match="in clusters of"):
        go(m["k"], 3, 32, y)
    wb.reset_device()


@program
def groups_of_lanes() -> None:
    m = module("""
    #include <cooperative_groups.h>
    #include <cooperative_groups/scan.h>
    #include <cooperative_groups/memcpy_async.h>
    #include <cuda/pipeline>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(int* c, int* y) {
        if (threadIdx.x % 3 == 0) {
            auto a = cg::coalesced_threads(); int b;
            if (a.thread_rank() == 0) b = atomicAdd(c, a.size());
            b = a.shfl(b, 0); y[threadIdx.x] = b + a.thread_rank();
        }
        auto t = cg::tiled_partition<8>(cg::this_thread_block()); y[32 + threadIdx.x] = cg::exclusive_scan(t,
            (int)threadIdx.x);
    }
    extern "C" __global__ void copied(const float* x, float* y) {
        __shared__ float s[128]; auto b = cg::this_thread_block();
        cg::memcpy_async(b, s, x, sizeof(float) * 128); cg::wait(b); y[threadIdx.x] = s[127 - threadIdx.x];
    }""")
    c, y = wb.zeros(1, dtype=wb.int32), wb.zeros(64, dtype=wb.int32)
    go(m["k"], 1, 32, c, y)
    assert c.numpy()[0] == 11 and y.numpy()[33:35].tolist() == [0, 1]
    x, z = floats(128), wb.zeros(128)
    go(m["copied"], 1, 128, wb.array(x), z)
    same(z, x[::-1])


@program
def collectives_of_cub() -> None:
    m = module("""
    #include <cub/cub.cuh>
    extern "C" __global__ void k(const int* x, int* y) {
        typedef cub::BlockScan<int, 64> S; typedef cub::BlockRadixSort<int, 64, 1> R;
        __shared__ union { typename S::TempStorage a; typename R::TempStorage b; } t;
        int v[1] = {x[threadIdx.x]}; R(t.b).Sort(v); __syncthreads(); int o; S(t.a).InclusiveSum(v[0], o);
            y[threadIdx.x] = o;
    }""")
    x, y = ints(64, 50), wb.zeros(64, dtype=wb.int32)
    go(m["k"], 1, 64, wb.array(x), y)
    same(y, np.cumsum(np.sort(x)))


@program
def spans_limits_and_complex_numbers_of_the_library() -> None:
    # CUDA 12's thrust/complex.h includes headers of the C++ library for the host, which NVRTC does not have.
    with_thrust = toolkit.compiler().release >= (13, 0)
    thrust = ("#include <thrust/complex.h>", "thrust") if with_thrust else ("", "cuda::std")
    m = module(
        """
    #include <cuda/std/span>
    #include <cuda/std/optional>
    #include <cuda/std/cmath>
    #include <limits>
    #include <complex>
    HEADER
    extern "C" __global__ void k(float* y, int n) {
        cuda::std::span<float> s(y, n); cuda::std::optional<int> o; if (threadIdx.x & 1) o = 3;
        s[threadIdx.x] = o.value_or(1) + cuda::std::sqrt(4.f) + (std::numeric_limits<int>::max() == 2147483647);
    }
    __global__ void z(cuda::std::complex<float>* a, SPACE::complex<float>* b) { a[threadIdx.x] *= a[threadIdx.x];
        b[threadIdx.x] = conj(b[threadIdx.x]); }
    """.replace("HEADER", thrust[0]).replace("SPACE", thrust[1])
    )
    y = wb.zeros(32)
    go(m["k"], 1, 32, y, 32)
    same(y, np.where(LANES & 1, 6, 4))
    a = (floats(8) + 1j).astype(np.complex64)
    b, before = a * 2, a.copy()
    go(m["z"], 1, 8, a, b)
    same(a, before**2)
    same(b, np.conj(2 * before))


@pytest.mark.slow
@pytest.mark.parametrize("run", PROGRAMS, ids=lambda p: p.__name__)
def test_a_program_with_cuda_s_library_runs(run: Program) -> None:
    run()
