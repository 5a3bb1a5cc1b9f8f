"""NVRTC compiles the text of tiles for each kind of device; what does not fit is refused; places in shared memory."""

from __future__ import annotations

import pytest

from tests.support.kernels.tile_cases import CASES
from tests.support.kernels.tile_flows import FLOWS, gemm
from tests.support.kernels.tile_kernels import Case, float16, float32, through
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend, build
from workbench.backends.cuda.emit import emit_cuda, emit_kernel
from workbench.backends.cuda.tiles.placement.arena import STATIC_SHARED, arrange, shared_limit
from workbench.backends.cuda.tiles.placement.uses import Region
from workbench.errors import BuildError

KINDS = ["gemm_half", "effects", "scan_ints", "reduce_sum_float16"]
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_120")


def case(name: str) -> Case:
    return FLOWS.get(name) or CASES[name]


@pytest.mark.parametrize("target", TARGETS)
def test_nvrtc_compiles_it(target: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    for name in KINDS:
        text = emit_cuda(case(name).function, Options())
        assert build(text, Options(), target, "cubin", name).image[:4] == b"\x7fELF", name


def test_tensor_cores_where_there_are_some() -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    text = emit_cuda(case("gemm_half").function, Options())
    found = {t: build(text, Options(), t, "ptx").image.count(b"mma.sync") for t in ("sm_75", "sm_80", "sm_90")}
    assert found["sm_75"] == 0 and found["sm_80"] == found["sm_90"] > 0


def test_tf32_only_where_it_is_asked_for() -> None:
    assert "wb_mma_tf32" in emit_cuda(case("matmul_13_acc").function, Options(fast_math=True))
    assert "wb_mma" not in emit_cuda(FLOWS["gemm"].function, Options(fast_math=True))


def test_a_block_s_size_is_in_the_text() -> None:
    assert "__launch_bounds__(48, 1) gemm_odd(" in emit_cuda(FLOWS["gemm_odd"].function, Options())


def wide(count: int) -> Case:
    return through("wide", (count,), lambda b, t: b.math("add", t, t), 32, storage="shared")


def test_more_shared_memory_is_dynamic() -> None:
    small, large = (emit_kernel(wide(n).function, Options()) for n in (100, 16384))
    assert (small.shared, small.dynamic_shared) == (400, 0)
    assert (large.shared, large.dynamic_shared) == (65536, 65536)
    assert "extern __shared__ __align__(16) unsigned char wb_shared[];" in large.text
    assert STATIC_SHARED < 65536 <= shared_limit("sm_75")


def test_too_much_shared_memory_is_refused_by_name() -> None:
    big = wide(32768).function
    with pytest.raises(
        BuildError, match=r"wide needs 131,072 bytes .* sm_120 has 101,376.*the tile x \(32768 float32\)"
    ):
        CudaBackend().compile(big, Options(), "sm_120")
    assert shared_limit("sm_90a") == 227 * 1024 and shared_limit("sm_999") == 48 * 1024


def test_what_is_never_needed_at_once_shares_bytes() -> None:
    a, b, c = (Region(float32, n, "r", "r") for n in (100, 50, 60))
    assert arrange([(a, b), (b, c)]) == 400 + 208
    assert not a.overlaps(b) and not b.overlaps(c) and a.overlaps(c)


def test_the_operands_of_two_products_share_memory() -> None:
    one = emit_kernel(FLOWS["attention"].function, Options())
    assert one.shared == 3 * 16 * 20 * 4


def test_checks_keep_barriers_reachable() -> None:
    text = emit_cuda(gemm("gemm_checked", (16, 16, 8), 64, float16).function, Options(checks=True))
    assert "return" not in text.partition('extern "C"')[2]
