"""Devices: `"cpu"`, `"cuda:0"`, …; the default is CUDA where there is a device, else the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from workbench.errors import DeviceError
from workbench.runtime.device.driver import driver, why_no_cuda


@dataclass(frozen=True)
class Device:
    """One device.

    Attributes:
        name: "cpu" or "cuda:0".
        kind: "cpu" or "cuda"; also the name of the backend that compiles for it.
        index: the CUDA ordinal; 0 for the CPU.
    """

    name: str
    kind: str
    index: int = 0

    @property
    def is_cuda(self) -> bool:
        """Whether it is a GPU."""
        return self.kind == "cuda"

    def __str__(self) -> str:
        return self.name


CPU = Device("cpu", "cpu")
_current: ContextVar[Device | None] = ContextVar("workbench device", default=None)


def get_devices() -> list[Device]:
    """All devices, the CPU first."""
    found = driver()
    return [CPU] + [Device(f"cuda:{i}", "cuda", i) for i in range(found.count() if found else 0)]


def get_device(device: Device | str | None = None) -> Device:
    """The device of this name; the current one if none is given ("cuda" is "cuda:0").

    Raises:
        DeviceError: there is no such device; the message says why.
    """
    if isinstance(device, Device):
        return device
    if device is None:
        return _current.get() or _default()
    if device == "cpu":
        return CPU
    name = "cuda:0" if device == "cuda" else device
    for known in get_devices():
        if known.name == name:
            return known
    reason = f" ({why_no_cuda()})" if str(name).startswith("cuda") and driver() is None else ""
    names = ", ".join(d.name for d in get_devices())
    raise DeviceError(f"There is no device {device!r}{reason}; there is {names}.")


def _default() -> Device:
    return Device("cuda:0", "cuda", 0) if driver() is not None else CPU


@contextmanager
def ScopedDevice(device: Device | str) -> Iterator[Device]:
    """Make `device` the current one inside a `with`."""
    token = _current.set(get_device(device))
    try:
        yield get_device()
    finally:
        _current.reset(token)
