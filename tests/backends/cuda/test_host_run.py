"""CUDA C++ on the CPU: barriers, shared memory, warps, atomics, and what is reported when a text is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.support.devices.host_runs import run_apart, run_text
from workbench.backends.cuda.host.code import HostCode
from workbench.backends.cuda.host.compile import compile_host
from workbench.backends.cuda.host.program import Entry, Unit, program
from workbench.backends.cuda.host.run import launch_host
from workbench.backends.cuda.prelude import prelude
from workbench.errors import BuildError, KernelFault

F, I = "float*", "int*"  # noqa: E741  (the types' letters)
SUM = """
extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    BARRIER
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        BARRIER
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
"""
TEXT = (
    SUM.replace("BARRIER", "__syncthreads();")
    + """
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
__global__ void unset(float* out) {
    __shared__ float s[4];
    out[threadIdx.x] = s[threadIdx.x];
    __syncthreads();
    s[0] = 1;
}
__global__ void order(int* out) { out[atomicAdd(out + 64, 1)] = threadIdx.x; __syncthreads(); }
__global__ void vectors(float4* v, uint3 add, double* d) {
    v[threadIdx.x] = make_float4(v[threadIdx.x].x + add.z, rsqrtf(4.0f), fmaxf(1.0f, 2.0f), __int_as_float(0x3f800000));
    d[threadIdx.x] = max(d[threadIdx.x], 1.5) + __popc(7u) + pow(2.0, 3.0);
}
__global__ void spin(int* lock, int* out) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    out[0] += 1;
    atomicExch(lock, 0);
    __syncthreads();
}
__global__ void talk(int n) { if (threadIdx.x == 0) printf("n is %d, half %.1f\\n", n, n / 2.0); }
__global__ void warped(float* out) { wb_reduce_add(out, (float)threadIdx.x); }
__global__ void some(float* out) {
    if (threadIdx.x < 3)
        __syncthreads();
    out[0] = 1;
}
__global__ void other(float* out) {
    if (threadIdx.x < 3)
        __syncthreads();
    else
        __syncthreads();
}
__global__ void crossed(float* out) {
    if (threadIdx.x < 3)
        __syncwarp();
    else
        __syncthreads();
}
__global__ void unnamed(float* out) { __shfl_sync(1u, threadIdx.x, 0); }
__global__ void asserts(float* out) { assert(threadIdx.x < 5); }
"""
)
TYPES = {
    "total": ("const float*", F, "int"), "warps": ("const double*", "double*"), "lanes": (I,), "votes": (I,),
    "transpose": ("const float*", F, "int"), "unset": (F,), "order": (I,), "vectors": ("float4*", "uint3", "double*"),
    "spin": (I, I), "talk": ("int",), "warped": (F,), **dict.fromkeys(("some", "other", "crossed", "unnamed"), (F,)),
    "asserts": (F,),
}  # fmt: skip


@pytest.fixture(scope="module")
def code() -> HostCode:
    text = prelude([("reduce",)], [], []) + "\n#line 1\n" + TEXT
    unit = Unit(text, tuple(Entry(name, types) for name, types in TYPES.items()))
    return HostCode(compile_host(program([unit])))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_block_reduces_in_shared_memory_in_any_order(code: HostCode, seed: int) -> None:
    x, out = np.arange(1000, dtype=np.float32), np.zeros(1, np.float32)
    launch_host(code, "total", [x, out, np.int32(1000)], (4,), (256,), seed=seed)
    assert out[0] == x.sum()


def test_warps_exchange_values(code: HostCode) -> None:
    x, out = np.arange(96, dtype=np.float64), np.zeros(3)
    launch_host(code, "warps", [x, out], (1,), (96,))
    assert out.tolist() == x.reshape(3, 32).sum(1).tolist()
    lanes, got = np.arange(32), np.zeros(192, np.int32)
    launch_host(code, "lanes", [got], (1,), (32,))
    rows = got.reshape(6, 32)
    assert (rows[0] == 5).all() and (rows[1] == np.where(lanes % 8 >= 3, lanes - 3, lanes)).all()
    assert (rows[2] == lanes ^ 7).all() and (rows[4] == 1).all()
    assert (rows[3].astype(np.uint32) == sum(1 << n for n in range(0, 32, 3))).all()
    assert (rows[5][:16] == 120).all()
    assert rows[5][16:].astype(np.uint32).tolist() == [0xF << 4 * (n // 4) for n in range(16, 32)]


def test_dynamic_shared_memory_and_blocks_of_two_dimensions(code: HostCode) -> None:
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    y = np.zeros_like(x)
    launch_host(code, "transpose", [x, y, np.int32(64)], (4, 4), (16, 16), shared=16 * 16 * 4, seed=3)
    assert (y == x.T).all()


def test_barriers_count_votes(code: HostCode) -> None:
    out = np.zeros(40, np.int32)
    launch_host(code, "votes", [out], (1,), (40,))
    assert (out == 1020).all()


def test_shared_memory_is_not_zero_at_first(code: HostCode) -> None:
    out = np.zeros(4, np.float32)
    launch_host(code, "unset", [out], (2,), (4,))
    assert np.isnan(out).all()


def test_a_seed_shuffles_the_threads(code: HostCode) -> None:
    def order(seed: int) -> list[int]:
        out = np.zeros(65, np.int32)
        launch_host(code, "order", [out], (1,), (64,), seed=seed)
        return out[:64].tolist()

    assert order(0) == list(range(64))
    assert order(1) != order(2) and order(1) == order(1) and sorted(order(1)) == order(0)


def test_vectors_and_maths(code: HostCode) -> None:
    v, d = np.ones((3, 4), np.float32), np.zeros(3)
    launch_host(code, "vectors", [v, np.array([1, 2, 3], np.uint32).tobytes(), d], (1,), (3,))
    assert v.tolist() == [[4, 0.5, 2, 1]] * 3 and d.tolist() == [12.5] * 3


def test_threads_that_spin_on_a_lock_let_others_go_on(code: HostCode) -> None:
    lock, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch_host(code, "spin", [lock, out], (1,), (64,), seed=5)
    assert out[0] == 64


def test_what_is_printed_is_python_s_output(code: HostCode, capsys: pytest.CaptureFixture[str]) -> None:
    launch_host(code, "talk", [np.int32(7)], (2,), (4,))
    assert capsys.readouterr().out == "n is 7, half 3.5\n" * 2


def test_the_prelude_s_warp_sum_on_whole_and_partial_warps(code: HostCode) -> None:
    for threads in (1, 31, 32, 64, 80):
        out = np.zeros(1, np.float32)
        launch_host(code, "warped", [out], (1,), (threads,), seed=threads)
        assert out[0] == threads * (threads - 1) / 2


@pytest.mark.parametrize(
    ("kernel", "said", "row"),
    [
        ("some", "not reached by all threads of the block: thread", "        __syncthreads();"),
        ("other", "some wait here, others at line", "        __syncthreads();"),
        ("crossed", "__syncwarp of the lanes 0xffffffff waits for lane 3", "        __syncwarp();"),
        ("unnamed", "which its mask 0x1 does not name", "__global__ void unnamed"),
        ("asserts", "assert(threadIdx.x < 5) failed", "__global__ void asserts"),
    ],
)
def test_what_would_hang_is_an_error_at_its_line(code: HostCode, kernel: str, said: str, row: str) -> None:
    with pytest.raises(KernelFault, match=re.escape(said)) as caught:
        launch_host(code, kernel, [np.zeros(1, np.float32)], (1,), (32,))
    assert TEXT.splitlines()[caught.value.line - 1].startswith(row)
    out = np.zeros(1, np.float32)
    launch_host(code, "warped", [out], (1,), (32,))
    assert out[0] == 496


def test_a_text_that_is_refused_says_where() -> None:
    with pytest.raises(BuildError, match=r"cell:2: .*y.* was not declared"):
        unit = Unit("__global__ void f(float* x) {\n    x[0] = y;\n}", (Entry("f", (F,)),), "cell")
        compile_host(program([unit]))


def test_a_missing_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(Exception, match=r"needs g\+\+.*set CXX"):
        run_text("", "f", (), [], (1,), (1,))


@pytest.mark.slow
def test_a_race_detector_sees_a_missing_barrier(need: Callable[[str], str]) -> None:
    need("g++")
    x, out = np.arange(64, dtype=np.float32), np.zeros(1, np.float32)
    arguments = [x, out, np.int32(64)]
    run_apart(SUM.replace("BARRIER", "__syncthreads();"), "total", TYPES["total"], arguments, (2,), (32,))
    assert out[0] == x.sum()
    with pytest.raises(KernelFault, match="data race"):
        run_apart(SUM.replace("BARRIER", ""), "total", TYPES["total"], arguments, (2,), (32,))
    with pytest.raises(KernelFault, match="heap-buffer-overflow"):
        run_apart("__global__ void f(float* x) { x[64] = 1; }", "f", (F,), [x], (1,), (1,), sanitize="address")
