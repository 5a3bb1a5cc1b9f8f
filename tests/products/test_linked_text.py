"""CUDA text that calls link-time products, run with warps in shuffled orders with a product of the test's own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.devices import on_gpu
from workbench.api.kernels.kernel import Tiling
from workbench.backends.base import Options
from workbench.backends.cuda.emit import EmittedKernel, emit_cuda, emit_kernel
from workbench.backends.cuda.products.spec import ProductSpec, arrangement
from workbench.backends.python.interpret import run as interpret
from workbench.ir.values import Function

C_TYPES = {"float16": "wb_float16", "float32": "float", "float64": "double"}
OPTIONS = Options()


@wb.kernel
def looped(A: wb.array2d[wb.float32], B: wb.array2d[wb.float32], C: wb.array2d[wb.float32]):
    i, j = wb.tid()
    acc = wb.tile_zeros(shape=(8, 4), dtype=wb.float32)
    for k in range((A.shape[1] + 15) // 16):
        a = wb.tile_load(A, shape=(8, 16), offset=(i * 8, k * 16))
        b = wb.tile_load(B, shape=(16, 4), offset=(k * 16, j * 4))
        wb.tile_matmul(a, b, acc)
    wb.tile_store(C, acc * 2.0, offset=(i * 8, j * 4))


@wb.kernel
def chained(A: wb.array2d[wb.float32], B: wb.array2d[wb.float32], C: wb.array2d[wb.float32]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(8, 16), offset=(i * 8, 0))
    b = wb.tile_load(B, shape=(16, 4), offset=(0, j * 4))
    first = wb.tile_matmul(a, b)
    second = wb.tile_matmul(wb.tile_transpose(first), first + 1.0)
    wb.tile_store(C, wb.tile_matmul(first, second), offset=(i * 8, j * 4))


@wb.kernel
def wide(A: wb.array2d[wb.float16], B: wb.array2d[wb.float16], C: wb.array2d[wb.float32]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(8, 16), offset=(i * 8, 0))
    b = wb.tile_load(B, shape=(16, 4), offset=(0, j * 4))
    acc = wb.tile_ones(shape=(8, 4), dtype=wb.float32)
    wb.tile_matmul(a, b, acc)
    wb.tile_store(C, acc, offset=(i * 8, j * 4))


@wb.kernel
def narrow(A: wb.array2d[wb.float16], B: wb.array2d[wb.float16], C: wb.array2d[wb.float16]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(8, 16), offset=(i * 8, 0))
    b = wb.tile_load(B, shape=(16, 4), offset=(0, j * 4))
    wb.tile_store(C, wb.tile_matmul(a, b), offset=(i * 8, j * 4))


@wb.kernel
def double(A: wb.array2d[wb.float64], B: wb.array2d[wb.float64], C: wb.array2d[wb.float64]):
    i, j = wb.tid()
    a = wb.tile_load(A, shape=(8, 16), offset=(i * 8, 0))
    b = wb.tile_load(B, shape=(16, 4), offset=(0, j * 4))
    wb.tile_store(C, wb.tile_matmul(a, b), offset=(i * 8, j * 4))


def function_of(kernel: Any, threads: int = 32) -> Function:
    return kernel.specialise(None, Tiling(threads)).function


def product(spec: ProductSpec) -> str:
    """The device function of a product, each thread its share of C's elements."""
    a, b, c = (C_TYPES[t] for t in (spec.a, spec.b, spec.c))
    wide = "wb_to_float32" if spec.a == "float16" else ""
    places = []
    for layout, row, (first, second) in zip(spec.layouts, spec.rows, ("ip", "pj", "ij"), strict=True):
        places.append(f"{first} * {row} + {second}" if layout == "row" else f"{first} + {second} * {row}")
    return f"""
extern "C" void {spec.symbol}(void* alpha, void* x, void* y, void* beta, void* z) {{
    {a}* A = ({a}*)x; {b}* B = ({b}*)y; {c}* C = ({c}*)z;
    for (int e = threadIdx.x; e < {spec.m * spec.n}; e += {spec.threads}) {{
        int i = e / {spec.n}, j = e % {spec.n};
        {c} sum = 0;
        for (int p = 0; p < {spec.k}; ++p) sum += {wide}(A[{places[0]}]) * {wide}(B[{places[1]}]);
        C[{places[2]}] = *({c}*)alpha * sum + (*({c}*)beta == 0 ? 0 : *({c}*)beta * C[{places[2]}]);
    }}
}}
"""


def run(
    function: Function, linked: EmittedKernel, blocks: list[int], args: list[np.ndarray], seed: int, monkeypatch: Any
) -> None:
    """Run the text with its products."""
    text = linked.text + "".join(map(product, linked.products))
    on_gpu.Library([function], OPTIONS, texts={function.name: text}).run(function.name, blocks, args, seed=seed)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("kernel", "dtypes", "count"),
    [
        (looped, ("float32", "float32"), 1),
        (chained, ("float32", "float32"), 3),
        (wide, ("float16", "float32"), 1),
        (double, ("float64", "float64"), 1),
    ],
)
def test_the_linked_text_means_what_the_interpreter_says(
    kernel: Any, dtypes: tuple[str, str], count: int, need: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("nvrtc")
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(s).astype(dtypes[0]) for s in ((16, 16), (16, 8)))
    function = function_of(kernel)
    linked = emit_kernel(function, OPTIONS, link="sm_90")
    assert len(linked.products) == count
    want = np.zeros((16, 8), dtypes[1])
    interpret(function, [2, 2], [a, b, want])
    for seed in (0, 1, 2):
        got = np.zeros((16, 8), dtypes[1])
        run(function, linked, [2, 2], [a, b, got], seed, monkeypatch)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_a_barrier_stands_on_each_side_of_a_product() -> None:
    rows = [row.strip() for row in emit_kernel(function_of(looped), OPTIONS, link="sm_90").text.splitlines()]
    turn = rows.index("for (int k = 0; k < t; ++k) {")
    call = next(n for n, row in enumerate(rows) if n > turn and row.startswith("wb_product_8x4x16(acc, a"))
    barrier, copy = rows.index("__syncthreads();", turn), next(n for n in range(turn, call) if "wb_copy_in" in rows[n])
    assert barrier < copy < call, "the copies that begin in a turn, and its product, wait for the product before it"
    assert "__syncthreads();" in rows[call:], "what is made of the result waits for the last product"


def test_transposed_tiles_are_column_major_products() -> None:
    found = emit_kernel(function_of(chained), OPTIONS, link="sm_80").products
    assert [(s.m, s.n, s.k, s.layouts[0], s.arch) for s in found] == [
        (8, 4, 16, "row", "sm_80"), (4, 4, 8, "column", "sm_80"), (8, 4, 4, "row", "sm_80"),
    ]  # fmt: skip


def test_results_of_16_bits_and_the_generated_text_stay_as_they_are() -> None:
    function = function_of(narrow)
    linked = emit_kernel(function, OPTIONS, link="sm_90")
    assert (linked.text, linked.products) == (emit_cuda(function, OPTIONS), ())
    assert "cuBLASDx" not in emit_cuda(function_of(looped), OPTIONS)


def test_block_dim_and_architecture_are_the_products() -> None:
    specs = {
        emit_kernel(function_of(looped, n), OPTIONS, link=t).products[0] for n in (32, 64) for t in ("sm_80", "sm_90")
    }
    assert {(s.threads, s.arch) for s in specs} == {(32, "sm_80"), (32, "sm_90"), (64, "sm_80"), (64, "sm_90")}
    assert len({s.symbol for s in specs}) == 4


def test_no_barrier_is_inside_a_branch_of_lanes() -> None:
    text = emit_kernel(function_of(chained), OPTIONS, link="sm_90").text
    assert not re.search(r"if \(lane[^}]*wb_product", text)


@pytest.mark.parametrize(
    ("steps", "shape", "want"),
    [
        ((16, 1), (8, 16), ("row", 0)), ((20, 1), (8, 16), ("row", 20)), ((1, 8), (8, 16), ("column", 0)),
        ((1, 12), (8, 16), ("column", 12)), ((0, 1), (8, 16), None), ((1, 0), (8, 16), None), ((32, 2), (8, 16), None),
        ((0, 1), (1, 16), ("row", 0)), ((16, 1), (8, 1), ("row", 16)),
    ],
)  # fmt: skip
def test_how_a_matrix_lies(steps: tuple[int, int], shape: tuple[int, int], want: tuple[str, int] | None) -> None:
    assert arrangement(steps, shape) == want
