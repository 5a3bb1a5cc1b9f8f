"""Several GPUs: which may reach into another's memory, and work of one that waits for work of another.

Arrays lie in a device's memory pool. What another device may reach is set for the whole pool, both for arrays that are
there and for later ones. Source: CUDA driver API, "Stream Ordered Memory Allocator", `cuMemPoolSetAccess`.
"""

from __future__ import annotations

from typing import Any

from workbench.errors import DeviceError
from workbench.runtime.device.device import Device, driver_of, get_device
from workbench.runtime.device.driver import Driver

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


def wait_for_device(driver: Driver, index: int, stream: Any, other: int) -> None:
    """Make later work in a stream of one device wait for all work that another device has queued.

    Args:
        driver: of both devices.
        index: the device that is to wait.
        stream: its stream; None: its current one.
        other: the device that is waited for, in its current stream.
    """
    with driver.keeping_current():
        driver.use(other)
        event = driver.call("cuEventCreate", _NO_TIMING)
        driver.call("cuEventRecord", event, driver.stream_handle(other))
        handle = driver.stream_handle(index, stream)
        driver.call("cuStreamWaitEvent", handle, event, 0)
        driver.call("cuEventDestroy", event)


def let_device_wait(driver: Driver, index: int, stream: Any, other: int) -> None:
    """Make what another device queues from now on wait for all work in a stream.

    Args:
        driver: of both devices.
        index: the device of the stream.
        stream: the stream that is waited for; None: the device's current one.
        other: the device that is to wait, in its current stream.
    """
    with driver.keeping_current():
        handle = driver.stream_handle(index, stream)
        event = driver.call("cuEventCreate", _NO_TIMING)
        driver.call("cuEventRecord", event, handle)
        handle = driver.stream_handle(other)
        driver.call("cuStreamWaitEvent", handle, event, 0)
        driver.call("cuEventDestroy", event)
