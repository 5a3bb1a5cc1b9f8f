"""NVIDIA's compilers for CUDA 12 and 13: which of the installed wheels is used, its version, and where its files are.

Wheels of both majors can be installed side by side, since other packages bring theirs. A driver loads no code of a
major above its own, and the system's search would open the newest library: so each is opened by its path.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from workbench.errors import DeviceError

NVRTC, NVJITLINK, MATHDX = "nvidia-cuda-nvrtc", "nvidia-nvjitlink", "nvidia-libmathdx"
LEAST_DRIVER = 12_000
"""The version (`cuDriverGetVersion`) of the oldest driver that loads the code of CUDA 12.9."""
DEFAULT = 12
"""The major that is recommended: its code runs with each driver from `LEAST_DRIVER` on."""
_MAJORS = (13, 12)
_LEAST = (12, 9)
"""The first version of NVRTC that takes our options."""
_ARCHITECTURES_12 = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121)
"""The architectures of CUDA 12.9, the last of its major."""
_OLDEST_13, _RENAMED = 75, 101
"""The oldest architecture of CUDA 13, and the older name of sm_110."""
_BUNDLING = (13, 3)
"""The first version of NVRTC that contains CUDA's headers."""
_HEADERS = {
    12: {
        "nvidia-cuda-runtime-cu12": "cuda_runtime/include",
        "nvidia-cuda-cccl-cu12": "cuda_cccl/include",
        "nvidia-cuda-nvcc-cu12": "cuda_nvcc/include",
    },
    13: {
        "nvidia-cuda-runtime": "cu13/include",
        "nvidia-cuda-crt": "cu13/include",
        "nvidia-cuda-cccl": "cu13/include/cccl",
    },
}
"""The wheels that hold CUDA's headers, and their folders, by the major of NVRTC; for versions that contain none."""
_FILES = {
    NVRTC: re.compile(r"libnvrtc\.so\.\d+|nvrtc64_\d+_\d+\.dll"),
    NVJITLINK: re.compile(r"libnvJitLink\.so\.\d+|nvJitLink_\d+_\d+\.dll"),
    MATHDX: re.compile(r"libmathdx\.so\.\d+"),
}


class Library(msgspec.Struct, frozen=True):
    """A compiler's shared library, from a wheel.

    Attributes:
        wheel, version: what it was installed from.
        path: the file.
        major: of CUDA: 12 or 13.
    """

    wheel: str
    version: str
    path: str
    major: int

    def __str__(self) -> str:
        """Return the wheel's name and version."""
        return f"{self.wheel} {self.version}"

    @property
    def release(self) -> tuple[int, ...]:
        """The first two numbers of the version, such as (12, 9)."""
        return tuple(int(n) for n in self.version.split(".")[:2])


def compiler(target: str = "") -> Library:
    """Return the NVRTC of the newest installed CUDA major that knows the architecture and that the driver loads.

    If none of these knows the architecture, it is the newest that the driver loads. If the driver loads none, it is
    the oldest installed, whose PTX can still be read and emulated.

    Args:
        target: `sm_90`; empty for any.

    Raises:
        DeviceError: none of CUDA 12.9 or later is installed.
    """
    installed = [library for major in _MAJORS if (library := _library(NVRTC, major)) and library.release >= _LEAST]
    if not installed:
        raise not_installed("CUDA kernels need NVRTC of CUDA 12.9 or later, which is not installed.", target)
    loading = [library for library in installed if _loads(library.major)] or installed[-1:]
    return next((library for library in loading if _knows(library.major, target)), loading[0])


def matching_library(wheel: str, target: str = "") -> Library:
    """Return nvJitLink (`NVJITLINK`) or libmathdx (`MATHDX`) of the same major as the compiler for this target.

    Raises:
        DeviceError: the wheel, or NVRTC, is not installed.
    """
    major = compiler(target).major
    library = _library(wheel, major)
    if library is None:
        extra = f"mathdx-cu{major}" if wheel == MATHDX else f"cu{major}"
        raise DeviceError(f"{_wheel(wheel, major)} is not installed.", advice=advice(extra))
    return library


def check_loads(library: Library) -> None:
    """Check that the driver of this machine loads the code of a compiler.

    Raises:
        DeviceError: the compiler's major is above the driver's.
    """
    if not _loads(library.major):
        raise DeviceError(
            f"{library} makes code for drivers of CUDA {library.major} or later; the driver of this machine is one for "
            f"CUDA {shown(driver_version())}.",
            advice=advice(f"cu{DEFAULT}"),
        )


def header_options(library: Library, folder: Path) -> tuple[str, ...]:
    """Return the options by which an NVRTC finds CUDA's own headers.

    Args:
        library: the NVRTC.
        folder: receives the headers that NVRTC contains, if it contains them; created if needed.

    Raises:
        DeviceError: it contains none, and their wheels are not installed.
    """
    if library.release >= _BUNDLING:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return (f"--use-bundled-headers={folder.absolute()}",)
    installed = _headers(library)
    if not installed:
        major, minor = library.release
        needed = " ".join(f"'{name}=={major}.{minor}.*'" for name in _HEADERS[major])
        raise DeviceError(
            f"CUDA's headers are not installed, and {library} contains none.",
            advice=f"Install them: pip install {needed}",
        )
    return tuple(f"-I{path}" for path in dict.fromkeys(installed.values()))


def header_version(library: Library) -> str:
    """Return the wheels of CUDA's headers with their versions; empty if NVRTC contains the headers."""
    return "" if library.release >= _BUNDLING else ", ".join(_headers(library))


def advice(extra: str) -> str:
    """Return the sentence that says how to install an extra of this package; on macOS, that there is none."""
    if sys.platform == "darwin":
        return "There is none for macOS."
    return f"Install it: pip install 'kernel-workbench[{extra}]'"


def extra_for(target: str = "") -> str:
    """Return the extra whose compiler knows this architecture: `cu12` if it does, since most drivers run its code."""
    return f"cu{next((major for major in (DEFAULT, *_MAJORS) if _knows(major, target)), DEFAULT)}"


def instead(library: Library, target: str) -> str:
    """Return the sentence that says how to install another major's compiler that knows `target`; empty if none does."""
    others = (major for major in _MAJORS if major != library.major and _knows(major, target))
    return next((advice(f"cu{major}") for major in others), "")


def not_installed(problem: str, target: str = "") -> DeviceError:
    """Return the error that there is no compiler for CUDA, with advice on how to install one for `target`."""
    return DeviceError(problem, advice=advice(extra_for(target)))


@cache
def load(path: str, name: str) -> Any:
    """Load a compiler's library from the file at this path; it is loaded once.

    Raises:
        DeviceError: it cannot be loaded; the message calls it `name`.
    """
    try:
        if sys.platform == "win32":
            os.add_dll_directory(os.path.dirname(path))  # of the libraries that it opens itself
        return ctypes.CDLL(path)
    except OSError as problem:
        raise DeviceError(f"{name} could not be loaded: {problem}.", advice="Install its wheel again.") from problem


@cache
def driver_version() -> int:
    """Return the CUDA version of the driver, 12040 for CUDA 12.4; 0 if there is no driver. Starts no CUDA."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return 0
    version = ctypes.c_int()
    return 0 if driver.cuDriverGetVersion(ctypes.byref(version)) else version.value


def shown(version: int) -> str:
    """Return a version of CUDA as people write it: 12040 is "12.4"."""
    return f"{version // 1000}.{version % 1000 // 10}"


def _loads(major: int) -> bool:
    """Return whether the driver loads code of this major; True if there is no driver or it is too old for any."""
    version = driver_version()
    return version < LEAST_DRIVER or major <= version // 1000


def _knows(major: int, target: str) -> bool:
    """Return whether the compiler of a CUDA major compiles for the target; True for an empty one."""
    digits = re.sub(r"\D", "", target)
    if not digits:
        return True
    return int(digits) in _ARCHITECTURES_12 if major == 12 else int(digits) >= _OLDEST_13 and int(digits) != _RENAMED


def _wheel(wheel: str, major: int) -> str:
    """Return a wheel's full name: those of the toolkit end in the major up to 12, libmathdx's always."""
    return f"{wheel}-cu{major}" if major <= 12 or wheel == MATHDX else wheel


_libraries: dict[tuple[str, int], Library] = {}
"""The libraries that are installed; missing ones are searched again, since they may be installed meanwhile."""


def _library(wheel: str, major: int) -> Library | None:
    """Return the installed library of a wheel for a CUDA major, remembered once seen; None if there is none."""
    if (wheel, major) not in _libraries and (library := _look(wheel, major)) is not None:
        _libraries[wheel, major] = library
    return _libraries.get((wheel, major))


def _look(wheel: str, major: int) -> Library | None:
    """Search the installed distributions for a wheel's library; return None if it is missing or of another major."""
    from importlib import metadata  # 20 ms, which most processes need not pay

    name = _wheel(wheel, major)
    try:
        installed = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in installed.files or () if _FILES[wheel].fullmatch(file.name))
    path = next((path for path in paths if path.exists()), None)
    if path is None or (wheel != MATHDX and not installed.version.startswith(f"{major}.")):
        return None
    return Library(name, installed.version, str(path), major)


def _headers(library: Library) -> dict[str, Path]:
    """Return the folders of the installed wheels of headers, by name and version of the wheel."""
    from importlib import metadata

    return {
        f"{name} {wheel.version}": Path(str(wheel.locate_file(f"nvidia/{folder}")))
        for name, folder in _HEADERS[library.major].items()
        for wheel in itertools.islice(metadata.distributions(name=name), 1)
    }
