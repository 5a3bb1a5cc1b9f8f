"""The CUDA driver of this machine, if it has one, and that of the emulated devices (`design/emulated.md`).

The driver is looked for once, on first use. Nothing of CUDA is imported or touched until `driver()` is asked, and then
only after a probe that is safe without a driver.

The emulated devices' driver is started on first use, too.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import msgspec

from workbench.backends.cuda.architectures import LABELS, Architecture
from workbench.backends.cuda.toolkit import LEAST_DRIVER, not_installed, shown
from workbench.config import settings
from workbench.errors import DeviceError
from workbench.forks import fork_safe_lock
from workbench.runtime.device.driver_calls import CudaDevice, Driver

if TYPE_CHECKING:
    from workbench.runtime.emulated.code import Executable


class _Probe(msgspec.Struct, frozen=True):
    """The result of looking for CUDA: the driver, or None and a sentence on why there is none."""

    driver: Driver | None
    reason: str


def driver() -> Driver | None:
    """Return the driver if there is at least one CUDA device, else None (`why_no_cuda()` says why)."""
    return _probe().driver


def why_no_cuda() -> str:
    """Return a sentence on why there is no CUDA device; empty if there is one."""
    return _probe().reason


def devices() -> tuple[CudaDevice, ...]:
    """Return the properties of the CUDA devices; empty if there are none."""
    cuda = driver()
    return cuda.properties if cuda else ()


@cache
def _probe() -> _Probe:
    """Look for CUDA on this machine, once per process, and return the result."""
    return probe(_find_library, bindings)


def probe(find_library: Callable[[], None], module: Callable[[], Any]) -> _Probe:
    """Look for CUDA step by step, each safe where the one before succeeded; return the driver, or why there is none.

    Args:
        find_library: raises an exception if the driver's library is missing.
        module: returns the module `cuda.bindings.driver`.
    """
    try:
        find_library()
    except Exception as problem:
        first = (str(problem) or type(problem).__name__).splitlines()[0]
        return _Probe(None, f"No CUDA driver was found on this machine ({first}).")
    try:
        api = module()
        status, *_ = api.cuInit(0)
        if status != api.CUresult.CUDA_SUCCESS:
            return _Probe(None, f"The CUDA driver does not start: {getattr(status, 'name', status)}.")
        if why := _too_old(int(api.cuDriverGetVersion()[1])):
            return _Probe(None, why)
        cuda = Driver(api)
    except ImportError:
        return _Probe(None, "The CUDA packages are not installed (pip install cuda-bindings).")
    except Exception as problem:
        first = (str(problem) or type(problem).__name__).splitlines()[0]
        return _Probe(None, f"CUDA could not be used: {first}")
    if cuda.count() == 0:
        return _Probe(None, "The CUDA driver is installed, but it finds no device.")
    return _Probe(cuda, "")


def _too_old(version: int) -> str:
    """Return why a driver of this version cannot be used; empty if it can."""
    if version >= LEAST_DRIVER:
        return ""
    return (
        f"The CUDA driver here is one for CUDA {shown(version)}; Workbench's code needs CUDA {shown(LEAST_DRIVER)} or "
        "later: NVIDIA's driver 525 or later."
    )


def _find_library() -> None:
    """Load the driver's library; raise an OSError if the system has none."""
    # `cuda.pathfinder` looks where the system does, too, but importing it takes 20 ms, also where there is no driver.
    ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


def bindings() -> Any:
    """Return the module `cuda.bindings.driver`, which can be imported without a driver: its structures and constants.

    Raises:
        ImportError: it is not installed.
    """
    from cuda.bindings import driver as api  # type: ignore[attr-defined]  (an extension without stubs)

    return cast("Any", api)


EMULATED = "emulated"
_started: list[Driver] = []
_lock = fork_safe_lock(__name__, "_lock", threading.Lock)


def started() -> Driver | None:
    """Return the driver of the emulated devices if it was started already, else None."""
    return _started[0] if _started else None


def emulated_driver() -> Driver:
    """Return the driver of the emulated devices.

    Raises:
        DeviceError: the packages that it needs are not installed, or the system has no memory for it.
    """
    with _lock:
        if not _started:
            _started.append(new_driver())
        return _started[0]


def new_driver(load: Callable[[bytes, Architecture], Executable] | None = None) -> Driver:
    """Start a driver of emulated devices, with memory of its own; tests start several.

    Args:
        load: makes PTX executable for an architecture; None: `load` of `runtime/emulated/execution.py`.

    Raises:
        DeviceError: the packages that it needs are not installed, or the system has no memory for it.
    """
    # Here, not at the top: the reader, verifier and compiler of PTX are a fifth of the time of `import workbench`.
    from workbench.runtime.emulated.api import EmulatedDriver
    from workbench.runtime.emulated.execution import load as compiled
    from workbench.runtime.emulated.status_error import CudaStatusError

    try:
        api = bindings()
    except ImportError:
        raise not_installed("Emulated devices need the package cuda-bindings, which is not installed here.") from None
    now = settings()
    try:
        emulated = EmulatedDriver(api, load or compiled, now.emulated_memory, now.emulated_seed)
    except CudaStatusError as refusal:
        raise DeviceError(f"Emulated devices cannot be started: {refusal.why}.") from None
    emulated.cuInit(0)
    return Driver(emulated, EMULATED, LABELS)
