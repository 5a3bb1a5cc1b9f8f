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
    """The driver of both devices, if there is one, and the devices."""
    owner, other = get_device(target), get_device(peer)
    return driver_of(owner) if owner.is_cuda and owner.kind == other.kind else None, owner, other


def is_peer_access_supported(target: Device | str, peer: Device | str) -> bool:
    """Whether kernels on `peer` can be allowed to reach arrays on `target`.

    Args:
        target: whose memory it is; of the CPU the answer is False, of `peer` itself True.
        peer: who would reach it.

    Returns:
        True if `set_peer_access_enabled` can allow it.

    Raises:
        DeviceError: there is no such device.
    """
    found, owner, other = _two(target, peer)
    if found is None:
        return False
    if owner == other:
        return True
    handles = [found.call("cuDeviceGet", d.index) for d in (other, owner)]
    return bool(found.call("cuDeviceCanAccessPeer", *handles))


def is_peer_access_enabled(target: Device | str, peer: Device | str) -> bool:
    """Whether kernels on `peer` may reach arrays on `target` now.

    Returns:
        True if launches on `peer` take arrays of `target`.

    Raises:
        DeviceError: there is no such device.
    """
    found, owner, other = _two(target, peer)
    if found is None:
        return False
    if owner == other:
        return True
    place = found.api.CUmemLocation()
    place.type, place.id = found.api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, other.index
    given = found.call("cuMemPoolGetAccess", _pool(found, owner), place)
    return int(given) == int(found.api.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE)


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
    found, owner, other = _two(target, peer)
    if found is None:
        raise DeviceError(f"Peer access is between two GPUs, or two emulated devices; these are {owner} and {other}.")
    if owner == other:
        return
    if enable and not is_peer_access_supported(owner, other):
        raise DeviceError(
            f"{other} cannot reach memory of {owner}.", advice=f"Copy what it needs: x.to({other.name!r})."
        )
    flags = found.api.CUmemAccess_flags
    wanted = found.api.CUmemAccessDesc()
    wanted.location.type = found.api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    wanted.location.id = other.index
    wanted.flags = flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE if enable else flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    found.call("cuMemPoolSetAccess", _pool(found, owner), [wanted], 1)


def _pool(found: Driver, owner: Device) -> Any:
    with found.keeping_current():
        found.use(owner.index)
        return found.call("cuDeviceGetMemPool", found.call("cuDeviceGet", owner.index))


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
    place = get_device(device)
    if place.is_cuda:
        found = driver_of(place)
        found.synchronize(place.index)
        found.call("cuMemPoolTrimTo", _pool(found, place), 0)


def wait_for_device(found: Driver, index: int, stream: Any, other: int) -> None:
    """Let what is queued in a stream of one device from now on wait for all that another device's default one has."""
    with found.keeping_current():
        found.use(other)
        event = found.call("cuEventCreate", _NO_TIMING)
        found.call("cuEventRecord", event, found.stream_handle(other))
        handle = found.stream_handle(index, stream)
        found.call("cuStreamWaitEvent", handle, event, 0)
        found.call("cuEventDestroy", event)


def let_device_wait(found: Driver, index: int, stream: Any, other: int) -> None:
    """Let what another device queues from now on wait for all that this stream has."""
    with found.keeping_current():
        handle = found.stream_handle(index, stream)
        event = found.call("cuEventCreate", _NO_TIMING)
        found.call("cuEventRecord", event, handle)
        handle = found.stream_handle(other)
        found.call("cuStreamWaitEvent", handle, event, 0)
        found.call("cuEventDestroy", event)
