"""CUDA text through NVRTC: PTX and cubin for every architecture, errors, and what ptxas says."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.support.kernels.cuda_kernels import KERNELS
from workbench.backends.base import Options
from workbench.backends.cuda.compile import nvrtc
from workbench.backends.cuda.compile.nvrtc import CudaBackend, build, resources
from workbench.errors import BuildError, DeviceError

TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")


@pytest.fixture(autouse=True)
def _nvrtc(need: Callable[[str], str]) -> None:
    need("nvrtc")


@pytest.mark.sample(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compile_to_ptx_and_cubin(name: str, target: str) -> None:
    backend, function = CudaBackend(), KERNELS[name]()
    artifact = backend.compile(function, Options(), target)
    assert artifact.image.startswith(b"\x7fELF")
    assert artifact.metadata["entry"] == name
    assert artifact.metadata["target"] == target
    assert artifact.metadata["registers"] > 0
    assert artifact.metadata["spill_loads"] == 0
    assert set(artifact.metadata["stages"]) == {"spell", "nvrtc"}
    ptx = backend.ptx(function, Options(), target)
    assert f".visible .entry {name}(" in ptx
    assert f".target {target}" in ptx


@pytest.mark.parametrize("options", [Options(contiguous=False), Options(fast_math=True)])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compile_with_every_option(name: str, options: Options) -> None:
    assert CudaBackend().compile(KERNELS[name](), options).image


def test_the_same_text_gives_the_same_bytes() -> None:
    images = {CudaBackend().compile(KERNELS["particles"](), Options()).image for _ in range(3)}
    assert len(images) == 1


def test_products_and_sums_are_contracted_only_with_fast_math() -> None:
    function = KERNELS["saxpy"]()
    assert "fma.rn" not in CudaBackend().ptx(function, Options())
    assert "fma.rn" in CudaBackend().ptx(function, Options(fast_math=True))


def test_parameters_lie_where_the_layout_says() -> None:
    ptx = CudaBackend().ptx(KERNELS["saxpy"](), Options())
    assert ".param .align 8 .b8 saxpy_param_0[32]" in ptx
    assert ".param .align 8 .b8 saxpy_param_1[24]" in ptx
    assert ".param .f32 saxpy_param_3" in ptx


def test_an_unknown_target_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DeviceError, match=r"cannot compile for 'sm_42'.*It knows sm_\d\d, "):
        CudaBackend().compile(KERNELS["saxpy"](), Options(), "sm_42")
    with pytest.raises(DeviceError, match="cannot compile for 'compute_90'"):
        CudaBackend("compute_90").compile(KERNELS["saxpy"](), Options())


def test_text_that_nvrtc_refuses_is_a_build_error_with_its_log() -> None:
    with pytest.raises(BuildError, match='line 2: identifier "b" is undefined in `a = b;`') as caught:
        build('extern "C" __global__ void k(int a) {\n    a = b;\n}\n', Options(), "sm_90", "cubin", "k")
    assert "1 error detected" in caught.value.log
    assert "\0" not in caught.value.log


def test_the_version_names_the_wheel() -> None:
    assert re.fullmatch(r"nvidia-cuda-nvrtc(-cu12 12\.9| 13\.\d+)\.\d+", CudaBackend().version())
    assert CudaBackend().target() == "sm_90"
    assert 90 in nvrtc.architectures()


def test_the_log_of_ptxas_is_read() -> None:
    log = (
        "ptxas info    : 0 bytes gmem\n"
        "ptxas         .     48 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 1 barriers, 1024 bytes smem, 400 bytes cmem[0]\n"
    )
    found = {"registers": 32, "shared": 1024, "stack": 48, "spill_stores": 16, "spill_loads": 20}
    assert resources(log) == found
    assert resources("") == {}
