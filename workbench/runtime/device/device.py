"""Devices: `"cpu"`, `"cuda:0"`, `"emulated"`, …

The default is what `WORKBENCH_DEVICE` names, else CUDA where there is a device, else the CPU.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from workbench.backends.cuda.architectures import LABELS
from workbench.errors import DeviceError, its_type
from workbench.runtime.device.driver import Driver, driver, why_no_cuda
from workbench.runtime.device.emulation import EMULATED, emulated_driver, started


class Device(msgspec.Struct, frozen=True):
    """A device on which kernels run.

    Attributes:
        name: "cpu", "cuda:0", "emulated:0".
        kind: "cpu", "cuda" or "emulated"; also the name of the backend that compiles for it.
        index: its number in its driver; 0 for the CPU.
    """

    name: str
    kind: str
    index: int = 0

    @property
    def is_cuda(self) -> bool:
        """Return whether the device runs CUDA code: a GPU, or an emulated one."""
        return self.kind != "cpu"

    @property
    def is_cpu(self) -> bool:
        """Return whether the device is the CPU."""
        return self.kind == "cpu"

    @property
    def is_emulated(self) -> bool:
        """Return whether the device is an emulated GPU, whose code the CPU runs."""
        return self.kind == "emulated"

    def __str__(self) -> str:
        return self.name


CPU = Device("cpu", "cpu")
_current: ContextVar[Device | None] = ContextVar("workbench device", default=None)


def get_devices() -> list[Device]:
    """Return all devices of this machine, the CPU first; emulated ones, which exist everywhere, are not listed.

    Returns:
        Devices; `get_devices()[0]` is the CPU.
    """
    cuda = driver()
    return [CPU] + [Device(f"cuda:{i}", "cuda", i) for i in range(cuda.count() if cuda else 0)]


def get_device(device: Device | str | None = None) -> Device:
    """Return the device of this name ("cuda" is "cuda:0", "emulated" is "emulated:0"), or the current one.

    `emulated:0` and `emulated:1` are devices of `sm_90` on every machine for which there is an NVRTC: the CPU runs the
    PTX. `emulated:sm_80` is one of another architecture.

    Returns:
        The device; it compares equal to every other of its name.

    Raises:
        DeviceError: there is no such device; the message says why.
    """
    if isinstance(device, Device):
        return device
    if device is None:
        return _current.get() or _default()
    if not isinstance(device, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DeviceError(f"A device is given by its name; this is {its_type(device)}.")
    if device == "cpu":
        return CPU
    if device.partition(":")[0] == EMULATED:
        return _emulated(device)
    name = "cuda:0" if device == "cuda" else device
    for known in get_devices():
        if known.name == name:
            return known
    reason = f" ({why_no_cuda().removesuffix('.')})" if str(name).startswith("cuda") and driver() is None else ""
    names = ", ".join([*(d.name for d in get_devices()), EMULATED])
    raise DeviceError(f"There is no device {device!r}{reason}. Devices here: {names}.")


def _emulated(name: str) -> Device:
    """Return the emulated device of a name, "emulated" or "emulated:LABEL"; start its driver if none has started.

    Raises:
        DeviceError: there is no such device.
    """
    label = name.partition(":")[2] or "0"
    if label not in LABELS or name.endswith(":"):
        listed = ", ".join(f"{EMULATED}:{known}" for known in LABELS)
        raise DeviceError(f"There is no device {name!r}; emulated are {listed}.")
    emulated_driver()
    return Device(f"{EMULATED}:{label}", EMULATED, LABELS.index(label))


def driver_of(device: Device) -> Driver:
    """Return the driver of a GPU or an emulated device.

    Raises:
        DeviceError: the device is the CPU, or its driver is missing.
    """
    result = emulated_driver() if device.is_emulated else driver() if device.is_cuda else None
    if result is None:
        raise DeviceError(f"There is no CUDA driver for {device}. {why_no_cuda()}".rstrip())
    return result


def reset_device(device: Device | str | None = None) -> None:
    """Make an emulated device usable again after a fault has broken it; arrays keep what they hold.

        wb.reset_device("emulated")

    Args:
        device: which; None is the current one.

    Raises:
        DeviceError: it is a GPU, where memory and code would be lost: restart the process.
    """
    chosen = get_device(device)
    if chosen.is_cuda:
        driver_of(chosen).reset(chosen.index)


def drivers_in_use() -> list[Driver]:
    """Return the CUDA driver, if there is one, and the emulated one, if it was started."""
    return [each for each in (driver(), started()) if each is not None]


def pinning_driver() -> tuple[Driver, int] | None:
    """Return the driver and the device through which `pinned=True` locks pages; None if no driver is there.

    The current device is preferred if it was used, then others that were.
    """
    chosen = driver() or started()
    if chosen is None:
        return None
    here, used = get_device(), chosen.used()
    current = [here.index] if here.kind == chosen.kind else []
    return chosen, next((index for index in (*current, *used) if index in used), (current or [0])[0])


def _default() -> Device:
    """Return the device that `WORKBENCH_DEVICE` names, else the first GPU, else the CPU."""
    named = os.environ.get("WORKBENCH_DEVICE")
    if named:
        return get_device(named)
    return Device("cuda:0", "cuda", 0) if driver() is not None else CPU


@contextmanager
def ScopedDevice(device: Device | str) -> Generator[Device]:
    """Make `device` the current one inside a `with`.

    Args:
        device: a `Device` or its name.

    Yields:
        The device.

    Raises:
        DeviceError: there is no such device.
    """
    token = _current.set(get_device(device))
    try:
        yield get_device()
    finally:
        _current.reset(token)
