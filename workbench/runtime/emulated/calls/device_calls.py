"""Functions of the driver that are about devices, contexts and memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.runtime.emulated.arena import HOST, host_bytes
from workbench.runtime.emulated.state import Context, Pool, State, Table, function
from workbench.runtime.emulated.status_error import CudaStatusError, expect, invalid

TABLE: Table = {}
_PREFIX = "CU_DEVICE_ATTRIBUTE_"


@function(TABLE, context=False)
def _cuInit(state: State, flags: int) -> None:
    """Mark the driver as started; refuse flags other than 0."""
    expect(flags == 0, "cuInit takes 0")
    state.started = True


@function(TABLE, context=False)
def _cuDriverGetVersion(state: State) -> int:
    """Return the CUDA version that the emulated driver stands for."""
    return state.version


@function(TABLE, context=False)
def _cuDeviceGetCount(state: State) -> int:
    """Return the number of emulated devices."""
    return len(state.devices)


@function(TABLE, context=False)
def _cuDeviceGet(state: State, index: int) -> Any:
    """Return the handle of the device of this number; refuse a number without device."""
    return state.api.CUdevice(state.known(index))


@function(TABLE, context=False)
def _cuDeviceGetName(state: State, length: int, device: Any) -> bytes:
    """Return a device's name as `length` bytes, padded with zeros or cut."""
    return f"Emulated {state.devices[state.known(device)].name}".encode().ljust(length, b"\0")[:length]


@function(TABLE, context=False)
def _cuDeviceTotalMem(state: State, device: Any) -> int:
    """Return the bytes of a device's memory, the same for all."""
    state.known(device)
    return state.memory


@function(TABLE, context=False)
def _cuDeviceGetAttribute(state: State, attribute: Any, device: Any) -> int:
    """Return an attribute of the emulated GPU; refuse one that is not emulated."""
    name = attribute.name.removeprefix(_PREFIX)
    known = state.devices[state.known(device)].attributes()
    if name not in known:
        raise CudaStatusError("CUDA_ERROR_NOT_SUPPORTED", f"{attribute.name} is not emulated")
    return known[name]


@function(TABLE, context=False)
def _cuDeviceCanAccessPeer(state: State, device: Any, peer: Any) -> int:
    """Return 1 for any two different devices, else 0."""
    return int(state.known(device) != state.known(peer))


@function(TABLE, context=False)
def _cuDevicePrimaryCtxRetain(state: State, device: Any) -> Any:
    """Return the handle of a device's primary context."""
    return state.api.CUcontext(state.contexts[state.known(device)])


@function(TABLE, context=False)
def _cuDevicePrimaryCtxGetState(state: State, device: Any) -> tuple[int, int]:
    """Return flags, always 0, and whether the device's primary context was ever current (1) or not (0)."""
    return 0, int(state.known(device) in state.active)


@function(TABLE, context=False)
def _cuDeviceGetMemPool(state: State, device: Any) -> Any:
    """Return the handle of a device's memory pool."""
    return state.api.CUmemoryPool(state.pools[state.known(device)])


@function(TABLE, context=False)
def _cuMemPoolSetAccess(state: State, pool: Any, access: Any, count: int) -> None:
    """Let other devices access the memory of a pool's device, or no longer, as each description says."""
    owner = state.handles.get(pool, Pool, "cuMemPoolSetAccess").device
    expect(len(access) == count, f"{len(access)} descriptions of access were given, not {count}")
    for one in access:
        peer, flags = state.known(one.location.id), int(one.flags)
        expect(peer != owner or flags, "a device's access to its own memory cannot be taken away")
        (state.peers.add if flags else state.peers.discard)((owner, peer))


@function(TABLE, context=False)
def _cuMemPoolGetAccess(state: State, pool: Any, location: Any) -> int:
    """Return the access of a location's device to a pool: 3 for reading and writing, 0 for none."""
    owner = state.handles.get(pool, Pool, "cuMemPoolGetAccess").device
    return 3 if location.id == owner or (owner, location.id) in state.peers else 0


@function(TABLE, context=False)
def _cuMemPoolGetAttribute(state: State, pool: Any, attribute: Any) -> int:
    """Return the greatest number, of bytes that a pool keeps: nothing is given back to a system."""
    state.handles.get(pool, Pool, "cuMemPoolGetAttribute")
    return (1 << 64) - 1


@function(TABLE, context=False)
def _cuMemPoolTrimTo(state: State, pool: Any, keep: int) -> None:
    """Check the pool's handle; nothing is freed."""
    state.handles.get(pool, Pool, "cuMemPoolTrimTo")


@function(TABLE, context=False)
def _cuCtxGetCurrent(state: State) -> Any:
    """Return the context that is current in this thread; a null handle if none is."""
    device = state.current
    return state.api.CUcontext(state.contexts[device] if device is not None else 0)


@function(TABLE, context=False)
def _cuCtxSetCurrent(state: State, context: Any) -> None:
    """Make a context current in this thread, which counts as active from then on; a null handle makes none current."""
    device = state.handles.get(context, Context, "cuCtxSetCurrent").device if int(context) else None
    state.here.device = device
    state.active.update(() if device is None else (device,))


@function(TABLE)
def _cuCtxGetDevice(state: State) -> Any:
    """Return the device of the context that is current in this thread."""
    return state.api.CUdevice(state.device())


@function(TABLE)
def _cuMemGetInfo(state: State) -> tuple[int, int]:
    """Return the free and all bytes of the current device."""
    return state.memory - state.arena.used(state.device()), state.memory


@function(TABLE)
def _cuCtxSynchronize(state: State) -> None:
    """Run all queued work of the current device, and write what kernels printed; refuse while a stream is captured."""
    for stream in state.streams.of_device[state.device()]:
        state.must_not_capture(stream, "cuCtxSynchronize")
    state.streams.finish(state.streams.ends(state.streams.of_device[state.device()]))
    state.flush()


@function(TABLE)
def _cuMemAllocAsync(state: State, nbytes: int, stream: Any) -> Any:
    """Allocate memory of a stream's device and return its address; refuse while a stream in order is captured."""
    stream_object = state.stream(stream, "cuMemAllocAsync")
    state.not_captured_beside(stream_object, "cuMemAllocAsync")
    expect(nbytes > 0, "cuMemAllocAsync: no bytes are requested")
    return state.api.CUdeviceptr(state.alloc(nbytes, stream_object.device).start)


@function(TABLE)
def _cuMemFreeAsync(state: State, address: Any, stream: Any) -> None:
    """Free memory once the work that is queued in a stream is done."""
    stream_object = state.stream(stream, "cuMemFreeAsync")
    state.put(stream_object, lambda: state.free(int(address)), "a free")


@function(TABLE)
def _cuMemHostAlloc(state: State, nbytes: int, flags: int) -> int:
    """Allocate pinned host memory in the arena and return its address; `flags` is ignored."""
    expect(nbytes > 0, "cuMemHostAlloc: no bytes are requested")
    return state.alloc(nbytes, HOST).start


@function(TABLE)
def _cuMemFreeHost(state: State, address: int) -> None:
    """Free pinned memory after all queued work of all devices; refuse an address at which none begins."""
    allocation = state.arena.find(address)
    if allocation is None or allocation.start != address or allocation.owner != HOST:
        invalid(f"cuMemFreeHost: no pinned memory begins at {address:#x}")
    state.streams.finish(state.streams.ends(s for streams in state.streams.of_device for s in streams))
    state.arena.free(address)


@function(TABLE)
def _cuMemcpyHtoD(state: State, target: Any, source: Any, nbytes: int) -> None:
    """Copy from the host on the default stream, after what is queued there; it is done on return."""
    target, source = int(target), int(source)
    state.touch(target, nbytes, "cuMemcpyHtoD")

    def move() -> None:
        state.touch(target, nbytes, "a copy")
        state.arena.bytes_at(target, nbytes)[:] = host_bytes(source, nbytes)
        state.unwritten.wrote(target, nbytes)

    _at_once(state, move, "a copy to the device")
    state.flush()


@function(TABLE)
def _cuMemcpyDtoH(state: State, target: Any, source: Any, nbytes: int) -> None:
    """Copy to the host on the default stream, after what is queued there; it is done on return."""
    target, source = int(target), int(source)
    state.touch(source, nbytes, "cuMemcpyDtoH")

    def move() -> None:
        state.touch(source, nbytes, "a copy")
        host_bytes(target, nbytes)[:] = state.arena.bytes_at(source, nbytes)

    _at_once(state, move, "a copy from the device")
    state.flush()


def _at_once(state: State, do: Any, title: str) -> None:
    """Queue `do` on the current device's default stream and run it, with all that comes before it."""
    queued = state.put(state.streams.default[state.device()], do, title)
    state.streams.finish([queued] if queued is not None else [])


@function(TABLE)
def _cuMemcpyAsync(state: State, target: Any, source: Any, nbytes: int, stream: Any) -> None:
    """Queue a copy in a stream; both sides must be memory of the arena, pinned or of a device."""
    _copy(state, int(target), int(source), nbytes, stream, "cuMemcpyAsync")


@function(TABLE)
def _cuMemcpyDtoDAsync(state: State, target: Any, source: Any, nbytes: int, stream: Any) -> None:
    """Queue a copy between addresses of the arena in a stream, or capture it."""
    _copy(state, int(target), int(source), nbytes, stream, "cuMemcpyDtoDAsync")


def _copy(state: State, target: int, source: int, nbytes: int, stream: Any, where: str) -> None:
    """Queue a copy in a stream, or capture it; refuse bytes that are not all in one allocation."""
    stream_object = state.stream(stream, where)
    state.touch(target, nbytes, where)
    state.touch(source, nbytes, where)
    state.put(stream_object, lambda: state.move(target, source, nbytes), "a copy")


@function(TABLE)
def _cuMemsetD8Async(state: State, address: Any, value: int, count: int, stream: Any) -> None:
    """Queue a fill of `count` bytes in a stream, or capture it."""
    _set(state, int(address), value, count, stream, np.uint8)


@function(TABLE)
def _cuMemsetD16Async(state: State, address: Any, value: int, count: int, stream: Any) -> None:
    """Queue a fill of `count` values of 16 bits in a stream, or capture it."""
    _set(state, int(address), value, count, stream, np.uint16)


@function(TABLE)
def _cuMemsetD32Async(state: State, address: Any, value: int, count: int, stream: Any) -> None:
    """Queue a fill of `count` values of 32 bits in a stream, or capture it."""
    _set(state, int(address), value, count, stream, np.uint32)


@function(TABLE)
def _cuMemsetD2D32Async(
    state: State, address: Any, pitch: int, value: int, width: int, height: int, stream: Any
) -> None:
    """Queue a fill of rows of values of 32 bits, `pitch` bytes apart, in a stream, or capture it."""
    _set(state, int(address), value, width, stream, np.uint32, (height, pitch))


def _set(
    state: State, address: int, value: int, count: int, stream: Any, kind: Any, rows: tuple[int, int] = (1, 0)
) -> None:
    """Queue a fill in a stream, or capture it; refuse a wrong alignment, value or range of memory.

    Args:
        state: the driver's.
        address: of the first element.
        value: of each element, unsigned.
        count: elements of a row.
        stream: a handle.
        kind: a NumPy type of 1, 2 or 4 bytes.
        rows: how many rows there are, and bytes from one to the next.
    """
    size, (height, pitch) = np.dtype(kind).itemsize, rows
    where, nbytes = f"cuMemsetD{8 * size}Async", (height - 1) * pitch + count * size
    stream_object = state.stream(stream, where)
    expect(address % size == 0, f"{where}: {address:#x} is not aligned to {size} bytes")
    expect(0 <= value < 1 << 8 * size, f"{where}: {value} has more than {8 * size} bits")
    state.touch(address, nbytes, where)

    def fill() -> None:
        state.touch(address, nbytes, "a fill")
        held = state.arena.bytes_at(address, nbytes)
        np.ndarray((height, count), kind, held, 0, (pitch, size))[...] = value
        state.unwritten.wrote(address, nbytes)

    state.put(stream_object, fill, "a fill")
