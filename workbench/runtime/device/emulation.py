"""The driver of the emulated devices, started on first use (`design/emulated.md`)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.backends.cuda.architectures import LABELS, Architecture
from workbench.backends.cuda.toolkit import not_installed
from workbench.config import settings
from workbench.errors import DeviceError
from workbench.forks import fork_safe_lock
from workbench.runtime.device.driver import Driver, bindings

if TYPE_CHECKING:
    from workbench.runtime.emulated.code import Executable

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
    return Driver(emulated.core, emulated, EMULATED, LABELS)
