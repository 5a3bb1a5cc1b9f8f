"""Running a record: tell the observers, count the changes, one native call."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.backends.cpu import dispatch
from workbench.backends.faults import FaultRecord, raised_by
from workbench.backends.layout import FAULT_SIZE, shape_in
from workbench.cache.native import native_image
from workbench.config import settings
from workbench.errors import KernelFault
from workbench.events import Launched, listening, publish
from workbench.runtime.driver import driver
from workbench.runtime.loaded import Loaded
from workbench.runtime.observers import OBSERVERS
from workbench.runtime.record import BLOCK_DIM, LaunchRecord
from workbench.types import ArrayType


@functools.cache
def install_launcher() -> None:
    """Load the native launcher, from the cache where it is there; once a process."""
    dispatch.install(native_image("wb_launcher", dispatch.text(), optimise=False))


@functools.cache
def cpu_threads() -> int:
    """Threads of a large CPU launch: `WORKBENCH_THREADS`, else the cores this process may use."""
    return settings().threads


def execute(record: LaunchRecord) -> None:
    """Run one launch; on the CPU it is done when this returns, on CUDA it is queued.

    Raises:
        DeviceError: the device refused it.
        KernelFault: code with checks met a fault; the launch is over, and all that did not fault is done.
    """
    for observer in OBSERVERS.get():
        observer.launching(record)
    for name in record.writes:
        record.arguments[name].memory.version += 1
    fault = _run(record.loaded, record.dim, record.buffer, record.block_dim, record.stream)
    if listening(Launched):
        publish(Launched(record))
    if fault is not None:
        raise fault


def execute_again(record: LaunchRecord) -> None:
    """Run a record once more, on the arrays' contents of now.

    Raises:
        DeviceError: the device refused it.
        KernelFault: code with checks met a fault; the launch is over, and all that did not fault is done.
    """
    if OBSERVERS.get() or listening(Launched):
        execute(record.again())
        return
    arguments = record.arguments
    for name in record.writes:
        arguments[name].memory.version += 1
    fault = _run(record.loaded, record.dim, record.buffer, record.block_dim, record.stream)
    if fault is not None:
        raise fault


def run_unseen(loaded: Loaded, dims: tuple[int, ...], arguments: Sequence[Any]) -> None:
    """Run one launch that nobody watches: no record is made.

    Raises:
        DeviceError: the device refused it.
        KernelFault: code with checks met a fault; the launch is over, and all that did not fault is done.
    """
    for position in loaded.written:
        arguments[position].memory.version += 1
    packer = loaded.packer
    buffer = packer.new()
    packer.write(buffer, dims, arguments)
    fault = _run(loaded, dims, buffer, BLOCK_DIM, None)
    if fault is not None:
        raise fault


def _run(
    loaded: Loaded, dims: Sequence[int], buffer: ctypes.Array[ctypes.c_char], block_dim: int, stream: Any
) -> KernelFault | None:
    """Run; what code with checks reported is given back, to be raised when all else is done."""
    total = math.prod(dims)
    if not total:
        return None
    if loaded.device.is_cuda:
        if loaded.checked:
            return _checked_cuda(loaded, dims, buffer, block_dim, stream)
        _run_cuda(loaded, total, buffer, block_dim, stream)
        return None
    install_launcher()
    start, grain = ctypes.addressof(buffer), loaded.threads_per_task
    if not loaded.checked:
        dispatch.dispatch(loaded.address, start, total, cpu_threads(), grain)
        return None
    record = ctypes.create_string_buffer(FAULT_SIZE)
    dispatch.dispatch(loaded.address, start, total, cpu_threads(), grain, ctypes.addressof(record))
    return _fault(loaded, dims, buffer, record.raw)


def _fault(
    loaded: Loaded, dims: Sequence[int], buffer: ctypes.Array[ctypes.c_char], record: bytes
) -> KernelFault | None:
    found = FaultRecord.read(record)
    if found is None:
        return None
    shapes = {s.name: shape_in(buffer, s) for s in loaded.layout.slots if isinstance(s.type, ArrayType)}
    return raised_by(loaded.function, found, dims, shapes)


def _checked_cuda(
    loaded: Loaded, dims: Sequence[int], buffer: ctypes.Array[ctypes.c_char], block_dim: int, stream: Any
) -> KernelFault | None:
    """With a fault record on the device: reading it waits for the launch."""
    found = driver()
    assert found is not None
    index = loaded.device.index
    record = np.zeros(FAULT_SIZE, np.uint8)
    place = found.alloc(index, FAULT_SIZE)
    try:
        found.copy_to_device(place.handle, record, index)
        address = ctypes.c_void_p(place.handle)
        _run_cuda(loaded, math.prod(dims), buffer, block_dim, stream, (ctypes.addressof(address),))
        found.copy_to_host(record, place.handle, index)
    finally:
        place.free()
    return _fault(loaded, dims, buffer, record.tobytes())


def _run_cuda(
    loaded: Loaded, total: int, buffer: ctypes.Array[ctypes.c_char], block_dim: int, stream: Any,
    extra: tuple[int, ...] = (),
) -> None:  # fmt: skip
    found = driver()
    assert found is not None
    start = ctypes.addressof(buffer)
    addresses = [start, *(start + slot.offset for slot in loaded.layout.slots), *extra]
    grid = (total + block_dim - 1) // block_dim
    found.launch(loaded.device.index, loaded.handle, grid, block_dim, addresses, stream)
