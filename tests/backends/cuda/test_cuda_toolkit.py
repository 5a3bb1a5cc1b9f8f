"""Which compiler is used where wheels of CUDA 12, of CUDA 13, of both or of none are installed, for each driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.backends.base import Options
from workbench.backends.cuda import toolkit
from workbench.backends.cuda.compile import nvrtc
from workbench.errors import DeviceError

TWELVE, THIRTEEN = ("nvidia-cuda-nvrtc-cu12", "12.9.86"), ("nvidia-cuda-nvrtc", "13.5.37")
OLD = ("nvidia-cuda-nvrtc-cu12", "12.8.93")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets the machine have a driver of this version, and these wheels and no others."""

    def has(driver: int, *wheels: tuple[str, str]) -> None:
        for name, version in wheels:
            folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            library = f"nvidia/cu{version[:2]}/lib/libnvrtc.so.{version[:2]}"
            builtins = f"nvidia/cu{version[:2]}/lib/libnvrtc-builtins.so.{version[:4]}"
            (folder / "RECORD").write_text("".join(f"{file},,\n" for file in (builtins, library)))
            for file in (builtins, library):
                (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / file).touch()
        standard = [path for path in sys.path if not path.endswith("-packages")]
        monkeypatch.setattr(sys, "path", [str(tmp_path), *standard])
        monkeypatch.setattr(toolkit, "_libraries", {})
        monkeypatch.setattr(toolkit, "driver_version", lambda: driver)

    return has


@pytest.mark.parametrize(
    ("driver", "wheels", "target", "major"),
    [
        (12_040, (THIRTEEN, TWELVE), "sm_90", 12),
        (13_000, (THIRTEEN, TWELVE), "sm_90", 13),
        (14_010, (THIRTEEN, TWELVE), "", 13),
        (0, (THIRTEEN, TWELVE), "sm_90", 13),
        (11_080, (THIRTEEN, TWELVE), "sm_90", 13),  # too old to be used at all
        (13_000, (THIRTEEN, TWELVE), "sm_70", 12),
        (0, (THIRTEEN, TWELVE), "sm_101", 12),
        (0, (THIRTEEN, TWELVE), "sm_110", 13),
        (13_000, (TWELVE,), "sm_90", 12),
        (12_000, (TWELVE,), "sm_90a", 12),
        (0, (THIRTEEN,), "sm_70", 13),
        (13_000, (THIRTEEN, OLD), "sm_70", 13),
    ],
)
def test_the_newest_compiler_that_fits_driver_and_architecture_is_used(
    machine: Callable[..., None], driver: int, wheels: Any, target: str, major: int
) -> None:
    machine(driver, *wheels)
    library = toolkit.compiler(target)
    assert (library.wheel, library.version) == (TWELVE if major == 12 else THIRTEEN)
    assert library.path.endswith(f"libnvrtc.so.{major}") and Path(library.path).exists()
    assert nvrtc.CudaBackend(target or "sm_90").version() == f"{library.wheel} {library.version}", "the key has it"
    toolkit.check_loads(library)


def test_code_that_the_driver_does_not_load_is_refused_and_its_ptx_is_not(machine: Callable[..., None]) -> None:
    machine(12_040, THIRTEEN)
    assert toolkit.compiler().major == 13
    with pytest.raises(
        DeviceError, match=r"nvidia-cuda-nvrtc 13.5.37 makes code .* CUDA 13 .* is one for CUDA 12\.4"
    ) as no:
        nvrtc.build("", Options(), "sm_90", "cubin")
    assert "pip install 'kernel-workbench[cu12]'" in no.value.advice


@pytest.mark.parametrize(("target", "extra"), [("", "cu12"), ("sm_90", "cu12"), ("sm_70", "cu12"), ("sm_110", "cu13")])
@pytest.mark.parametrize("wheels", [(), (OLD,)])
def test_without_a_compiler_the_error_names_the_extra_that_fits(
    machine: Callable[..., None], wheels: Any, target: str, extra: str
) -> None:
    machine(13_000, *wheels)
    with pytest.raises(DeviceError, match=r"NVRTC of CUDA 12\.9 or later, which is not installed") as refused:
        toolkit.compiler(target)
    assert refused.value.advice == f"Install it: pip install 'kernel-workbench[{extra}]'"
    with pytest.raises(DeviceError, match="not installed"):
        nvrtc.CudaBackend(target or "sm_90").version()


def test_what_belongs_to_a_compiler_is_of_its_major(machine: Callable[..., None]) -> None:
    machine(12_040, TWELVE, ("nvidia-nvjitlink", "13.5.37"))
    with pytest.raises(DeviceError, match="nvidia-nvjitlink-cu12 is not installed") as refused:
        toolkit.matching_library(toolkit.NVJITLINK)
    assert "[cu12]" in refused.value.advice
    with pytest.raises(DeviceError, match="nvidia-libmathdx-cu12 is not installed") as refused:
        toolkit.matching_library(toolkit.MATHDX)
    assert "[mathdx-cu12]" in refused.value.advice
    with pytest.raises(
        DeviceError, match=r"headers are not installed, and nvidia-cuda-nvrtc-cu12 12\.9\.86 contains none"
    ):
        toolkit.header_options(toolkit.compiler(), Path("headers"))


def test_the_compiler_here_knows_what_the_table_says(need: Callable[[str], str]) -> None:
    need("nvrtc")
    major, known = toolkit.compiler().major, set(nvrtc.architectures())
    assert known == {n for n in range(200) if toolkit._knows(major, f"sm_{n}") and (major == 12 or n in known)}
    assert major == 12 or min(known) == toolkit._OLDEST_13


BOTH = """
import json, sys
from workbench.backends.cuda import toolkit
version = int(sys.argv[1])
toolkit.driver_version = lambda: version
from cuda.bindings import driver
import workbench as wb
from workbench.backends.base import Options
from workbench.backends.cuda.compile import nvrtc
from workbench.backends.cuda.compile.lto import link_kernel

TEXT = 'extern "C" __global__ void k(int* y) { y[threadIdx.x] = threadIdx.x; }'
cubin, ptx, lto = (nvrtc.build(TEXT, Options(), "sm_90", kind).image for kind in ("cubin", "ptx", "ltoir"))
linked = link_kernel(lto, [], Options(), "sm_90").image
scope = wb.ScopedDevice("emulated")
scope.__enter__()

@wb.kernel
def count(left: wb.array[int], turns: wb.array[int]):
    left[0] -= 1
    turns[0] += 1

INCLUDES = ("cuda_fp16.h", "cooperative_groups.h", "cub/warp/warp_reduce.cuh", "cuda/std/span", "mma.h")
headers = wb.cuda_module("".join(f"#include <{name}>\\n" for name in INCLUDES) +
    'extern "C" __global__ void h(int* y) { y[0] = __half2int_rn(__float2half(7.0f)); }')
left, turns, flag = wb.full(1, 3, dtype=int), wb.zeros(1, dtype=int), wb.zeros(1, dtype=int)
with wb.capture() as g:
    wb.capture_while(left, lambda: wb.launch(count, 1, [left, turns]))
    wb.capture_if(flag, lambda: turns.zero_(), lambda: wb.launch(headers["h"], 1, [flag], block_dim=1))
g.launch()
print(json.dumps({
    "bindings": driver.CUDA_VERSION // 1000, "compiler": nvrtc.CudaBackend().version(),
    "linker": nvrtc.toolkit.matching_library(
    toolkit.NVJITLINK).major, "release": ptx.decode().partition("release ")[2][:4], "elf": cubin[:4] == linked[:4] ==
    b"\\x7fELF", "turns": turns.numpy().tolist(), "flag": flag.numpy().tolist()}))
"""


@pytest.fixture(scope="module")
def other_major(need: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """The major of CUDA that is not installed here, and a folder with its compilers and bindings."""
    need("nvrtc")
    major = 25 - toolkit.compiler().major
    end, version = ("-cu12", "==12.9.*") if major == 12 else ("", ">=13.4,<14")
    parts = ("cuda-runtime", "cuda-cccl", "cuda-nvcc") if major == 12 else ()
    wheels = [f"nvidia-{part}{end}{version}" for part in ("cuda-nvrtc", "nvjitlink", *parts)]
    folder = tmp_path_factory.mktemp("other")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    subprocess.run([*command, f"cuda-bindings{version}", *wheels], check=True, timeout=900)
    return major, folder


@pytest.mark.slow
@pytest.mark.parametrize(("driver", "expected"), [(12_040, 12), (12_080, 12), (13_000, 13)])
@pytest.mark.parametrize("bindings", ["here", "other"])
def test_with_wheels_of_both_majors_the_driver_decides(
    other_major: tuple[int, Path], driver: int, expected: int, bindings: str, tmp_path: Path
) -> None:
    other, folder = other_major
    paths = [str(ROOT), *([str(folder)] if bindings == "other" else [])]
    script = tmp_path / "both.py"
    # Behind what is installed here, its compilers are found, too, but not its bindings.
    script.write_text(f"import sys\nsys.path.append({str(folder)!r})\n" + BOTH)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "WORKBENCH_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, script, str(driver)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["bindings"] == (other if bindings == "other" else 25 - other)
    assert found["compiler"].startswith("nvidia-cuda-nvrtc-cu12 12.9." if expected == 12 else "nvidia-cuda-nvrtc 13.")
    assert (found["release"][:2], found["linker"]) == (str(expected), expected)
    assert found["elf"] and (found["turns"], found["flag"]) == ([3], [7])
