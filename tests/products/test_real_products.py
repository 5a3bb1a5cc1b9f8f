"""cuBLASDx and nvJitLink themselves, without a GPU: products are built, counted and linked into a cubin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import workbench as wb
from workbench import events
from workbench.api.builds.build import compile_for
from workbench.api.kernels.kernel import Tiling
from workbench.backends.base import Options
from workbench.backends.cuda import toolkit
from workbench.backends.cuda.compile.lto import link_kernel
from workbench.backends.cuda.compile.nvrtc import build as compile_text
from workbench.backends.cuda.compile.nvrtc import resources
from workbench.backends.cuda.products import mathdx
from workbench.backends.cuda.products.spec import Product, ProductSpec
from workbench.cache.products import products
from workbench.errors import BuildError

pytestmark = pytest.mark.slow
SPEC = ProductSpec(16, 16, 16, "float32", "float32", "float32", 64, "sm_90")
OTHERS = {
    "sm_80": replace(SPEC, arch="sm_80", a="float16", b="float16", m=24, n=40, k=8),
    "sm_120": replace(SPEC, arch="sm_120", a="float64", b="float64", c="float64"),
}
C_TYPES = {"float16": "unsigned short", "float32": "float", "float64": "double"}


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One store for the file: a product takes ten seconds."""
    folder = tmp_path_factory.getbasetemp() / "real-products"
    folder.mkdir(mode=0o700, exist_ok=True)
    monkeypatch.setenv("WORKBENCH_CACHE", str(folder))
    if reason := mathdx.missing():
        pytest.skip(reason)


@pytest.fixture
def built() -> Iterator[list[events.ProductBuilt]]:
    found: list[events.ProductBuilt] = []
    end = events.subscribe(found.append, events.ProductBuilt)
    yield found
    end()


def caller(spec: ProductSpec) -> str:
    """A kernel that multiplies two matrices once."""
    a, b, c = (C_TYPES[t] for t in (spec.a, spec.b, spec.c))
    m, n, k = spec.m, spec.n, spec.k
    return f"""{spec.declaration}
extern "C" __global__ void gemm(const {a}* x, const {b}* y, {c}* z, float* w) {{
    __shared__ __align__(16) {a} A[{m * k}];
    __shared__ __align__(16) {b} B[{k * n}];
    __shared__ __align__(16) {c} C[{m * n}];
    for (int i = threadIdx.x; i < {m * k}; i += blockDim.x) A[i] = x[i];
    for (int i = threadIdx.x; i < {k * n}; i += blockDim.x) B[i] = y[i];
    __syncthreads();
    {c} one = 1, none = 0;
    {spec.symbol}(&one, A, B, &none, C);
    __syncthreads();
    for (int i = threadIdx.x; i < {m * n}; i += blockDim.x) z[i] = C[i];
    w[threadIdx.x] = w[threadIdx.x] * w[threadIdx.x + 1] + w[threadIdx.x + 2];
}}
"""


def linked(spec: ProductSpec, product: Product, kind: str, options: Options = Options()) -> tuple[bytes, str]:
    kernel = compile_text(caller(spec), options, spec.arch, "ltoir").image
    result = link_kernel(kernel, [product], options, spec.arch, kind, function="gemm")
    return result.image, result.log


@wb.kernel(matmul="cublasdx")
def product_of(A: wb.array2d[wb.float32], B: wb.array2d[wb.float32], C: wb.array2d[wb.float32]):
    i, j = wb.tid()
    acc = wb.tile_zeros(shape=(16, 16), dtype=wb.float32)
    for k in range(A.shape[1] // 16):
        a = wb.tile_load(A, shape=(16, 16), offset=(i * 16, k * 16))
        b = wb.tile_load(B, shape=(16, 16), offset=(k * 16, j * 16))
        wb.tile_matmul(a, b, acc)
    wb.tile_store(C, acc, offset=(i * 16, j * 16))


def test_one_product_forward_two_more_for_the_adjoint_none_again(built: list[events.ProductBuilt]) -> None:
    specialisation = product_of.specialise(None, Tiling(SPEC.threads))
    counts = []
    for direction in ("forward", "adjoint", "forward", "adjoint"):
        entry = compile_for(specialisation, direction, Options(), "sm_120")  # for which no other test here builds it
        assert entry.image[:4] == b"\x7fELF"
        counts.append(len(built))
    assert counts == [1, 3, 3, 3]
    assert [e.role for e in built[:1]] + sorted(e.role for e in built[1:]) == ["forward", "adj_a", "adj_b"]


@pytest.mark.parametrize("arch", ["sm_90", *OTHERS])
def test_a_kernel_with_its_product_becomes_one_small_cubin(arch: str) -> None:
    spec = OTHERS.get(arch, SPEC)
    (product,) = products([spec])
    image, log = linked(spec, product, "cubin")
    assert image[:4] == b"\x7fELF"
    assert b"gemm" in image
    assert len(image) < 100_000, "what no code reads has gone"
    assert resources(log)["shared"] >= spec.operand_bytes


def test_the_product_is_inlined_with_its_fma_and_the_kernel_is_not_contracted() -> None:
    (product,) = products([SPEC])
    text = linked(SPEC, product, "ptx")[0].decode()
    assert "call" not in text
    assert SPEC.symbol not in text
    assert "ld.shared" in text
    steps, joined = (
        16 * 16 * 16 // SPEC.threads,
        toolkit.compiler().major >= 13,
    )  # 12's linker takes the product's apart
    assert text.count("fma.rn.f32") >= steps if joined else text.count("add.rn.f32") >= steps
    assert text.count("mul.rn.f32") == 1 + (0 if joined else steps), "the caller's a * b + c keeps the CPU's bits"
    fast = linked(SPEC, product, "ptx", Options(fast_math=True))[0].decode()
    assert "mul.rn.f32" not in fast and "mul.ftz" not in fast


def test_what_a_linked_kernel_says_of_itself(built: list[events.ProductBuilt]) -> None:
    products([SPEC])
    built.clear()
    entry = compile_for(product_of.specialise(None, Tiling(SPEC.threads)), "forward", Options(checks=True), SPEC.arch)
    assert (entry.metadata["matmul"], entry.metadata["products"]) == ("cuBLASDx", ["forward 16×16×16 f32"])
    assert list(entry.metadata["stages"])[-3:] == ["spell", "nvrtc", "link"]
    # The operands are fetched two turns ahead, so there are three of each.
    assert entry.metadata["shared"] == SPEC.operand_bytes + 2 * (16 * 16 + 16 * 16) * 4
    assert not built, "the product was there"


def test_a_kernel_without_its_product_is_refused_with_the_symbol() -> None:
    kernel = compile_text(caller(SPEC), Options(), "sm_90", "ltoir").image
    with pytest.raises(BuildError) as caught:
        link_kernel(kernel, [], Options(), "sm_90")
    assert SPEC.symbol in caught.value.log


def test_what_cublasdx_has_no_code_for_is_one_error_with_its_reason() -> None:
    with pytest.raises(BuildError, match=r"refused the 16×16×16 f32 product for sm_60: .*invalid"):
        products([replace(SPEC, arch="sm_60")])
