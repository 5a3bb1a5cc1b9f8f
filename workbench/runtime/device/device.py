"""Devices, `"cpu"`, `"cuda:0"`, `"emulated"`, …, and what several of them may do with each other.

The default is what `WORKBENCH_DEVICE` names, else CUDA where there is a device, else the CPU.

Of several GPUs one may reach into another's memory, and its work may wait for another's. Arrays lie in a device's
memory pool. What another device may reach is set for the whole pool, both for arrays that are there and for later ones.
Source: CUDA driver API, "Stream Ordered Memory Allocator", `cuMemPoolSetAccess`.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import msgspec

from workbench.backends.cuda.architectures import LABELS
from workbench.errors import DeviceError, its_type
from workbench.runtime.device.driver import EMULATED, Driver, driver, emulated_driver, started, why_no_cuda


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


_NO_TIMING = 2
"""CU_EVENT_DISABLE_TIMING."""


def _two(target: Device | str, peer: Device | str) -> tuple[Driver | None, Device, Device]:
    """Return the driver of two devices, and the devices; it is None if one is the CPU, or they are of two kinds."""
    owner, other = get_device(target), get_device(peer)
    return driver_of(owner) if owner.is_cuda and owner.kind == other.kind else None, owner, other


def is_peer_access_supported(target: Device | str, peer: Device | str) -> bool:
    """Return whether kernels on `peer` can be allowed to reach arrays on `target`.

    Args:
        target: whose memory it is; of the CPU the answer is False, of `peer` itself True.
        peer: who would reach it.

    Returns:
        True if `set_peer_access_enabled` can allow it.

    Raises:
        DeviceError: there is no such device.
    """
    driver, owner, other = _two(target, peer)
    if driver is None:
        return False
    if owner == other:
        return True
    handles = [driver.call("cuDeviceGet", d.index) for d in (other, owner)]
    return bool(driver.call("cuDeviceCanAccessPeer", *handles))


def is_peer_access_enabled(target: Device | str, peer: Device | str) -> bool:
    """Return whether kernels on `peer` may reach arrays on `target` now.

    Returns:
        True if launches on `peer` take arrays of `target`.

    Raises:
        DeviceError: there is no such device.
    """
    driver, owner, other = _two(target, peer)
    if driver is None:
        return False
    if owner == other:
        return True
    location = driver.api.CUmemLocation()
    location.type, location.id = driver.api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, other.index
    access = driver.call("cuMemPoolGetAccess", _pool(driver, owner), location)
    return int(access) == int(driver.api.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE)


def set_peer_access_enabled(target: Device | str, peer: Device | str, enable: bool = True) -> None:
    """Allow kernels on `peer` to read and write arrays on `target`, or forbid it again.

    A launch on `peer` then takes such arrays, and waits for what `target` has queued; what `target` queues afterwards
    waits for the launch. Copies between devices need no permission.

    Args:
        target: whose memory it is.
        peer: whose kernels reach it.
        enable: False forbids it again.

    Raises:
        DeviceError: one of them is no GPU, or the two cannot reach each other.
    """
    driver, owner, other = _two(target, peer)
    if driver is None:
        raise DeviceError(f"Peer access is between two GPUs, or two emulated devices; these are {owner} and {other}.")
    if owner == other:
        return
    if enable and not is_peer_access_supported(owner, other):
        raise DeviceError(
            f"{other} cannot reach memory of {owner}.", advice=f"Copy what it needs: x.to({other.name!r})."
        )
    flags = driver.api.CUmemAccess_flags
    wanted = driver.api.CUmemAccessDesc()
    wanted.location.type = driver.api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    wanted.location.id = other.index
    wanted.flags = flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE if enable else flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    driver.call("cuMemPoolSetAccess", _pool(driver, owner), [wanted], 1)


def _pool(driver: Driver, owner: Device) -> Any:
    """Return the handle of a device's memory pool."""
    with driver.keeping_current():
        driver.use(owner.index)
        return driver.call("cuDeviceGetMemPool", driver.call("cuDeviceGet", owner.index))


def trim(device: Device | str | None = None) -> None:
    """Give memory that no array holds any more back to the device, for other libraries and processes.

    Freed memory stays with Workbench, which takes its next arrays from it. Waits for the device. On the CPU there is
    nothing to give back.

    Args:
        device: "cuda:0", …; the current one if none is given.

    Raises:
        DeviceError: there is no such device, or CUDA refused it.
        KernelFault: a launch with checks met a fault.

    Example:
        >>> del x
        >>> wb.trim()
        >>> y = torch.empty(1 << 30, device="cuda")
    """
    where = get_device(device)
    if where.is_cuda:
        driver = driver_of(where)
        driver.synchronize(where.index)
        driver.call("cuMemPoolTrimTo", _pool(driver, where), 0)


def let_wait(driver: Driver, waiting: tuple[int, Any], first: tuple[int, Any]) -> None:
    """Make later work in a stream of one device wait for all work that is queued in a stream of another one.

    Args:
        driver: of both devices.
        waiting: the device that is to wait, and its stream; None: its current one.
        first: the device that is waited for, and its stream; None: its current one.
    """
    with driver.keeping_current():
        handle = driver.stream_handle(*first)
        event = driver.call("cuEventCreate", _NO_TIMING)
        driver.call("cuEventRecord", event, handle)
        driver.call("cuStreamWaitEvent", driver.stream_handle(*waiting), event, 0)
        driver.call("cuEventDestroy", event)
