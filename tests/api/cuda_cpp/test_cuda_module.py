"""CUDA C++ text as kernels: launched on the emulated device, taped, checked, recorded, captured, refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import events

TEXT = """
#define BLOCK 64
extern "C" __global__ void saxpy(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
__global__ void saxpy_adjoint(const float* x, float a, int n, float* adj_x, float* adj_y, float* adj_a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    adj_x[i] += a * adj_y[i];
    atomicAdd(adj_a, adj_y[i] * x[i]);
}
__global__ void total(const float* x, float* out, int n) {
    __shared__ float part[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
__global__ void total_adjoint(const float* x, int n, float* adj_x, const float* out, float* adj_out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) adj_x[i] += 2 * x[i] * adj_out[0];
}
__global__ void transpose(const float* x, float* y, int rows, int columns) {
    extern __shared__ float tile[];
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) tile[threadIdx.y * blockDim.x + threadIdx.x] = x[row * columns + column];
    __syncthreads();
    if (row < rows && column < columns) y[column * rows + row] = tile[threadIdx.y * blockDim.x + threadIdx.x];
}
__global__ void move(float3* p, const float3 v, uchar4 flags, double dt, bool on) {
    if (on && flags.w == 7) p[threadIdx.x].z += (float)(dt * v.z);
}
__global__ void wrong(const float* x, float* y) { y[0] = x[0] * x[0]; }
__global__ void wrong_adjoint(const float* x, float* adj_x, float* adj_y) { adj_x[0] += x[0] * adj_y[0]; adj_y[0] = 0; }
__global__ void stuck(float* y) {
    if (threadIdx.x == 1)
        __syncthreads();
}
#include <cuda_fp16.h>
__global__ void halves(const __half* x, half* y) {
    y[threadIdx.x] = x[threadIdx.x] * __float2half(0.5f) + half(1.0f);
}
__global__ void halves_adjoint(const __half* x, __half* adj_x, __half* adj_y) {
    int i = threadIdx.x;
    adj_x[i] += adj_y[i] * __float2half(0.5f);
    adj_y[i] = __float2half(0.0f);
}
__global__ void talk(int n) { if (threadIdx.x == 0) printf("n is %d\\n", n); }
"""


@pytest.fixture(autouse=True)
def emulated() -> Iterator[None]:
    with wb.ScopedDevice("emulated"):
        yield


@pytest.fixture(scope="module")
def module() -> wb.CudaModule:
    return wb.cuda_module(TEXT, name="cell [6]", run="emulated")


def floats(*values: float) -> wb.array:
    return wb.array(np.array(values, np.float32), requires_grad=True)


@pytest.mark.slow
def test_it_is_launched_like_any_kernel_and_in_brackets(module: wb.CudaModule) -> None:
    x, y = floats(1, 2, 3), floats(0, 0, 0)
    wb.launch(module["saxpy"], 3, inputs=[x, y, 2.0, 3], block_dim=2)
    module["saxpy"][3](x, y, 1.0, 3)
    assert y.numpy().tolist() == [3, 6, 9]
    host = np.zeros(3, np.float32)
    module["saxpy"][[3]](x.numpy(), host, 0.5, 3, block_dim=32)
    assert host.tolist() == [0.5, 1, 1.5]
    assert list(module) == list(module.kernels) and "saxpy" in repr(module)
    with pytest.raises(KeyError, match="no kernel blur; it has saxpy"):
        module["blur"]


def test_two_dimensions_go_as_an_array_does_and_shared_memory_is_given(module: wb.CudaModule) -> None:
    x = wb.array(np.arange(60, dtype=np.float32).reshape(6, 10))
    y = wb.zeros((10, 6))
    module["transpose"][[6, 10]](x, y, 6, 10, block_dim=(4, 8), shared=4 * 32)
    assert (y.numpy() == x.numpy().T).all()


def test_vectors_and_small_types_are_passed_by_value(module: wb.CudaModule) -> None:
    p = wb.zeros(2, dtype=wb.vec3)
    wb.launch(module["move"], 2, inputs=[p, (1, 2, 3), (0, 0, 0, 7), 0.5, True], block_dim=2)
    assert p.numpy().tolist() == [[0, 0, 1.5]] * 2
    rows = np.zeros((2, 3), np.float32)
    with pytest.raises(wb.LaunchError, match=r"move: p takes array\[vec3\]; .*ndarray\.  Make an array of it first"):
        wb.launch(module["move"], 2, inputs=[rows, (1, 2, 3), (0, 0, 0, 7), 0.5, True], block_dim=2)
    module["move"][2](rows, (1, 2, 3), (0, 0, 0, 7), 0.5, True, block_dim=2)
    assert rows.tolist() == [[0, 0, 1.5]] * 2


def test_halves_round_as_numpy_s(module: wb.CudaModule) -> None:
    x = np.array([1.0, 3.3333, -1e-6, 6e4, 65504, 1e-8], np.float16)
    y = np.zeros_like(x)
    module["halves"][6](x, y, block_dim=6)
    assert y.tolist() == (x * np.float16(0.5) + np.float16(1)).tolist()


def test_its_gradient_is_the_text_s_own(module: wb.CudaModule) -> None:
    x, y, loss = floats(1, 2, 3, 4), floats(1, 1, 1, 1), floats(0)
    with wb.Tape() as tape:
        module["saxpy"][4](x, y, 3.0, 4, block_dim=32)
        module["total"][4](y, loss, 4, block_dim=64)
    tape.backward(loss)
    assert loss.numpy()[0] == sum((1 + 3 * v) ** 2 for v in (1, 2, 3, 4))
    assert x.grad.numpy().tolist() == [6 * (1 + 3 * v) for v in (1, 2, 3, 4)]
    assert y.grad.numpy().tolist() == [2 * (1 + 3 * v) for v in (1, 2, 3, 4)]
    assert "1 copies kept" in repr(tape) or len(tape.snapshots) <= 1


def test_what_is_in_a_text_is_not_explained(module: wb.CudaModule) -> None:
    x, y = floats(1), floats(0)
    with wb.Tape() as tape:
        module["saxpy"][1](x, y, 0.0, 1, block_dim=1)
    tape.backward(grads={y: np.ones(1, np.float32)})
    with pytest.raises(wb.LaunchError, match="cannot look inside saxpy, which is CUDA C"):
        print(wb.explain_grad(tape, x))


def test_a_bare_adjoint_launch_and_a_pair(module: wb.CudaModule) -> None:
    x, out, sum_a = floats(1, 2), floats(0, 0), wb.zeros(1)
    out.grad.fill_(1.0)
    wb.launch(module["saxpy"], 2, inputs=[x, out, 3.0, 2], adjoint=True, adj_inputs=[None, None, sum_a], block_dim=32)
    assert x.grad.numpy().tolist() == [3, 3] and sum_a.numpy().tolist() == [3]
    kept = wb.launch(module["total"], 2, inputs=[x, floats(0), 2], block_dim=64, record_cmd=True)
    assert kept is not None
    kept.set_param_by_name("n", 1)
    kept.launch()
    assert kept.params["out"].numpy().tolist() == [1]


@pytest.mark.slow
def test_gradcheck_computes_in_double(module: wb.CudaModule) -> None:
    random = np.random.default_rng(0)
    x, y = (wb.array(random.normal(size=70).astype(np.float32)) for _ in "xy")
    found = wb.gradcheck(module["saxpy"], 70, [x, y, 1.5, 70], block_dim=32)
    assert found and found.compared > 40, found
    assert wb.gradcheck(module["total"], 70, [x, wb.zeros(1), 70], block_dim=64)
    halves = [wb.array(np.linspace(-1, 1, 8).astype(np.float16)) for _ in "xy"]
    assert wb.gradcheck(module["halves"], 8, halves, block_dim=8)
    bad = wb.gradcheck(module["wrong"], 1, [floats(3), floats(0)], block_dim=1)
    assert not bad and bad.worst[0].parameter == "x", bad
    with pytest.raises(
        wb.NotDifferentiable, match=r"Write move_adjoint in the same cell: __global__ void move_adjoint"
    ):
        wb.gradcheck(module["move"], 1, [wb.zeros(1, dtype=wb.vec3), (0, 0, 0), (0, 0, 0, 0), 0.0, True])


def test_records_replay_and_graphs_launch_it(module: wb.CudaModule) -> None:
    x, y, loss = floats(1, 2, 3), floats(0, 0, 0), floats(0)
    with wb.record(inputs=True) as rec:
        module["saxpy"][3](x, y, 1.0, 3, block_dim=32)
        module["total"][3](y, loss, 3, block_dim=64)
    assert [e.name for e in rec] == ["saxpy", "total"] and rec[0].record.writes == {"y"}
    assert rec[0].record.reads == {"x", "y"}
    y.fill_(0.0), loss.fill_(0.0)
    rec.replay(a=2.0)
    assert loss.numpy()[0] == 4 * 14
    with pytest.raises(wb.RecordError, match="saxpy is CUDA C\\+\\+, and a record of its launches cannot be saved"):
        rec.save("/tmp/never.wbr")
    with wb.capture() as graph:
        module["saxpy"][3](x, y, 1.0, 3, block_dim=32)
        module["total"][3](y, loss, 3, block_dim=64)
    y.fill_(0.0), loss.fill_(0.0)
    graph.launch()
    assert loss.numpy()[0] == 14 and y.numpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("how", ["launch", "replay"])
def test_a_barrier_that_not_all_reach_is_a_fault_at_its_line(module: wb.CudaModule, how: str) -> None:
    y = floats(0)
    with wb.checks(), wb.record() as rec, pytest.raises(wb.KernelFault) as caught:
        module["stuck"][32](y, block_dim=32)
        wb.synchronize()
    if how == "replay":
        with pytest.raises(wb.KernelFault) as caught:
            rec.replay()
            wb.synchronize()
    error = caught.value
    assert error.location is not None and error.location.source.line(error.location.line).strip() == "__syncthreads();"
    assert "has not reached the barrier here" in error.message and "block (0, 0, 0)" in error.message


def test_with_checks_what_is_written_outside_is_found_and_does_no_harm(module: wb.CudaModule) -> None:
    text = "__global__ void k(const int* x, int* y, int d) { int i = threadIdx.x + d; y[i] = x[threadIdx.x]; }\n"
    made = wb.cuda_module(text, run="emulated")
    x, y = wb.array(np.arange(8, dtype=np.int32)), wb.zeros(8, dtype=wb.int32)
    wb.launch(made["k"], 8, inputs=[x, y, 0], block_dim=8, checks=True)
    assert y.numpy().tolist() == list(range(8))
    wb.launch(made["k"], 8, inputs=[x, y, 2], block_dim=8, checks=True)
    with pytest.raises(wb.KernelFault, match=r"writes 4 bytes at y\[8\], beyond its 8 elements\.") as caught:
        wb.synchronize()
    assert caught.value.location.line == 1 and "threads past the end" in caught.value.advice
    host = np.zeros(8, np.int32)
    with wb.checks(), pytest.raises(wb.KernelFault, match=r"at y\[-1\], before its first element"):
        made["k"][1](np.arange(8, dtype=np.int32), host, -1, block_dim=1)
    assert (host == 0).all()


def test_what_it_prints_is_python_s_output(module: wb.CudaModule, capsys: pytest.CaptureFixture[str]) -> None:
    module["talk"][1](5, block_dim=8)
    with wb.record() as rec:
        module["talk"][1](6, block_dim=8)
        wb.synchronize()
    rec.replay()
    wb.synchronize()
    assert capsys.readouterr().out == "n is 5\nn is 6\nn is 6\n"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda k, x, y: k[3](x, y, 1.0), "saxpy takes 4 arguments; n is missing"),
        (lambda k, x, y: k[3](1.0, y, 1.0, 3), "saxpy: x takes an array of float32; the argument is a float"),
        (lambda k, x, y: k[3](wb.zeros(3, dtype=wb.float64), y, 1.0, 3), "another dtype"),
        (lambda k, x, y: k[3](x, y, "a", 3), "saxpy: a takes float32"),
        (lambda k, x, y: k[3](x, y, 1.0, 2**40), "does not fit n"),
        (lambda k, x, y: k[3](wb.zeros(6)[::2], y, 1.0, 3), "x is a view with gaps"),
        (lambda k, x, y: k[3](x, y, 1.0, 3, block_dim=2000), "a block of 2000 threads is more than 1024"),
        (lambda k, x, y: k[3](x, y, 1.0, 3, block_dim=(2, 2)), "block_dim has 2 sizes and dim has 1"),
        (lambda k, x, y: k[3](x, y, 1.0, 3, block_dim=2, shared=-1), "dynamic shared memory is 0 to 232448 bytes"),
        (lambda k, x, y: k[[1, 1, 1, 1]](x, y, 1.0, 3), "1 to 3 dimensions"),
        (lambda k, x, y: k(x, y), r"saxpy is a kernel.  Launch it"),
        (lambda k, x, y: wb.launch_tangent(k, 3, [x, y, 1.0, 3], tan_inputs=[x, y]), "CUDA C\\+\\+"),
        (lambda k, x, y: wb.launch_tiled(k, 3, inputs=[x, y, 1.0, 3], block_dim=32), "launch\\(\\) runs it in blocks"),
        (lambda k, x, y: wb.step(k, 3, [x, y, 1.0, 3]), "CUDA C\\+\\+, and this works on kernels written in Python"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(module: wb.CudaModule, call: Callable[..., Any], said: str) -> None:
    with pytest.raises(wb.WorkbenchError, match=said):
        call(module["saxpy"], wb.zeros(3), wb.zeros(3))


@pytest.mark.parametrize(
    ("where", "blocks", "threads"),
    [
        ((8, 256), "saxpy[8 * 256](…, block_dim=256)", "saxpy[8](…, block_dim=256)"),
        (((2, 3), (16, 8)), "saxpy[[3 * 8, 2 * 16]](…, block_dim=(8, 16))", "saxpy[[2, 3]](…, block_dim=(16, 8))"),
        ((8, 256, 64), "saxpy[8 * 256](…, block_dim=256, shared=64)", "saxpy[8](…, block_dim=256, shared=64)"),
    ],
)
def test_a_pair_in_brackets_is_refused_with_both_readings(
    module: wb.CudaModule, where: tuple[Any, ...], blocks: str, threads: str
) -> None:
    with pytest.raises(wb.LaunchError, match="as CUDA and Numba count") as caught:
        module["saxpy"][where]
    assert caught.value.advice == f"Write {blocks} for the first, or {threads} for the second."


def test_each_reading_has_its_spelling(module: wb.CudaModule) -> None:
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    module["saxpy"][2 * 16](x, y, 1.0, 64, block_dim=16)
    assert y.sum() == 2 * 16
    module["saxpy"][2](x, y, 1.0, 64, block_dim=16)
    assert y.sum() == 2 * 16 + 16


def test_without_a_device_it_is_compiled_and_says_what_to_do() -> None:
    with wb.ScopedDevice("cpu"):
        made = wb.cuda_module(TEXT)
        facts = made.entry().metadata["kernels"]["total"]
        assert facts["registers"] > 0 and facts["shared"] == 256
        assert ".visible .entry saxpy(" in made.ptx() and made.target == "sm_90"
        for x, y in ((wb.zeros(3), wb.zeros(3)), (np.zeros(3, np.float32), np.zeros(3, np.float32))):
            with pytest.raises(wb.LaunchError, match=r"compiled for sm_90.*x\.to\(\"emulated\"\).*--run emulated"):
                made["saxpy"][3](x, y, 1.0, 3)
        with pytest.raises(wb.LaunchError, match=r"compiled for emulated sm_90.*x\.to\(\"emulated:0\"\)"):
            wb.cuda_module(TEXT, run="emulated")["saxpy"][3](wb.zeros(3), wb.zeros(3), 1.0, 3)
        x = wb.ones(3, device="emulated")
        made["saxpy"][3](x, x, 1.0, 3)
        assert x.numpy().tolist() == [2, 2, 2]
        with pytest.raises(wb.DeviceError, match="sm_12345"):
            wb.cuda_module(TEXT, arch="sm_12345")


def test_where_the_current_device_is_emulated_it_is_compiled_for_it() -> None:
    made = wb.cuda_module(TEXT)
    assert made.target == "emulated sm_90" and made.device == wb.get_device()
    with wb.checks():
        assert made.target == "emulated with checks sm_90"
    assert wb.cuda_module(TEXT, arch="sm_80", compile=False).target == "sm_80"


def test_the_host_runner_is_refused_with_what_took_its_place() -> None:
    with pytest.raises(wb.DeviceError, match=r'run="host" was removed.*Write run="emulated" \(%%cuda --run emulated\)'):
        wb.cuda_module(TEXT, run="host")
    with pytest.raises(wb.DeviceError, match=r'run is "device" or "emulated", not \'moon\''):
        wb.cuda_module(TEXT, run="moon")


@pytest.mark.parametrize("run", ["device", "emulated"])
def test_errors_stand_at_the_cell_s_lines(run: str) -> None:
    text = "__global__ void k(float* x) {\n    x[0] = yy + 1;\n    if (x[0] > zz) {}\n}\n"
    with pytest.raises(wb.CellErrors) as caught:
        wb.cuda_module(text, name="cell [4]", line_offset=1, run=run)
    places = [(e.location.shown_line, e.location.excerpt().splitlines()[1].index("^")) for e in caught.value.errors]
    assert places == [(3, 11), (4, 15)] and "yy" in caught.value.errors[0].message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("__global__ void k(float& p) {}", "p is `float&`, a reference, which cannot be passed"),
        ("__global__ void k(float* x) {}\n__global__ void k(int* x) {}", "k is defined twice"),
        ('#include "no.h"\n', "There is no header no.h"),
        ("__global__ void k() { __shared__ float x; x = tex2D<float>(t, 1, 2); }", "Textures are not supported"),
        (
            "#include <thrust/sort.h>\n__global__ void k(int* x) { thrust::sort(thrust::seq, x, x + 2); }",
            "Thrust is for",
        ),
        ("__global__ void k(float* x) {}\n__global__ void k_adjoint(float* x, float* adj_x) {}", "is not const"),
        ("__global__ void k(float* x) {}\n__global__ void k_adjoint(const float* x) {}", "does not take adj_x"),
        ("__global__ void k(float* x) {}\n__global__ void k_adjoint(int q, float* adj_x) {}", "which k does not have"),
        ("__global__ void k(float* x) {}\n__global__ void k_adjoint(float* adj_x, const int* x) {}", "in k and"),
        ("__global__ void k(float* x) {}\n__global__ void k_adjoint(const float* adj_x) {}", "it is added to"),
    ],
)
def test_texts_that_cannot_be_called_are_refused_at_their_place(text: str, said: str) -> None:
    with pytest.raises(wb.WorkbenchError, match=said) as caught:
        wb.cuda_module(text, run="emulated")
    assert caught.value.location is not None


def test_headers_macros_and_folders(tmp_path: Path) -> None:
    (tmp_path / "twice.h").write_text("#pragma once\n__device__ float twice(float x) { return 2 * x; }\n")
    headers = {"more.h": '#include "twice.h"\n__device__ T more(T x) { return twice(x) + K; }\n'}
    text = '#include "twice.h"\n__global__ void k(T* x) { x[0] = more(x[0]); }\n'
    made = wb.cuda_module(
        text, run="emulated", defines={"T": "float", "K": 0.5}, headers=headers, use=["more.h"], include=[str(tmp_path)]
    )
    x = floats(3)
    made["k"][1](x, block_dim=1)
    assert x.numpy()[0] == 6.5
    with pytest.raises(wb.WorkbenchError, match="is undefined") as caught:
        wb.cuda_module(
            "__global__ void k() {}\n",
            run="emulated",
            headers={"bad.h": "\n__device__ int f() { return q; }\n"},
            use=["bad.h"],
        )
    assert caught.value.location is not None and str(caught.value.location) == "bad.h, line 2"


def test_what_is_not_compiled_and_how_kernels_may_be_declared(own_cache: Path) -> None:
    text = """
    // __global__ void comment(int* x) {}
    #if 0
    __global__ void off(int* x) {}
    #endif
    __global__ void later(int* x);
    extern "C" {
        __global__ void __launch_bounds__(64, 1) first(unsigned long long const* __restrict__ x, bool on, int y[]) {}
    }
    static __global__ void none() {}
    """
    made = wb.cuda_module(text.replace("\n    ", "\n"), arch="sm_80")
    assert list(made) == ["first", "none"] and made.entry("sm_80").metadata["kernels"]["first"]["symbol"] == "first"
    assert [(p.name, repr(p.type), p.pointer, p.const) for p in made["first"].signature.parameters] == [
        ("x", "uint64", True, True), ("on", "bool", False, False), ("y", "int32", True, False),
    ]  # fmt: skip
    told: list[str] = []
    unsubscribe = events.subscribe(lambda e: told.append(e.message), events.Notice)
    wb.cuda_module("__global__ void warned(float* x) {\n    int unused_;\n}\n", name="cell [9]")
    unsubscribe()
    assert told == ['cell [9], line 2: variable "unused_" was declared but never referenced']
    own = "#include <mma.h>\n__global__ void m(half* x) { x[0] = half(1); }\n"
    own += "__global__ void m_adjoint(half* adj_x) { adj_x[0] = half(0); }\n"
    made = wb.cuda_module(own)
    assert list(made) == ["m", "m_adjoint"]
    with pytest.raises(wb.DeviceError, match=r"in double precision, and cannot do so with mma\.h"):
        wb.gradcheck(made["m"], 1, [np.zeros(1, np.float16)])


def test_the_cache_says_what_it_did_and_why(own_cache: Path) -> None:
    text = "__global__ void cached(float* x) { x[0] = DT; }\n"
    told: list[Any] = []
    unsubscribe = events.subscribe(told.append, events.CacheHit, events.CacheMiss, events.CompileDone)
    for value in (0.25, 0.25, 0.5):
        wb.cuda_module(text, run="emulated", defines={"DT": value})
    unsubscribe()
    assert [type(e).__name__ for e in told] == ["CacheMiss", "CompileDone", "CacheHit", "CacheMiss", "CompileDone"]
    assert told[3].why[0] == "constant DT: 0.25 → 0.5"


@pytest.mark.parametrize("value", [float("inf"), -np.float32(np.inf), float("nan"), None, [1]])
def test_macros_that_cpp_has_no_literal_for_are_refused(value: Any) -> None:
    with pytest.raises(wb.LaunchError, match="BEST is"):
        wb.cuda_module("__global__ void k(float* x) { x[0] = BEST; }", run="emulated", defines={"BEST": value})


def test_a_launch_with_shared_restricted_memory_is_refused(module: wb.CudaModule) -> None:
    text = "__global__ void k(const float* __restrict__ x, float* y) { y[0] = x[0]; }\n"
    made, x = wb.cuda_module(text, run="emulated"), wb.zeros(4)
    made["k"][1](x[:2], x[2:], block_dim=1)
    with pytest.raises(wb.LaunchError, match=re.escape("x and y share memory, and one of them is __restrict__")):
        made["k"][1](x[:3], x[2:], block_dim=1)
