"""Running a record: tell the observers, count the changes, one native call."""

from __future__ import annotations

import ctypes
import functools

from workbench.backends.cpu import dispatch
from workbench.cache.native import native_image
from workbench.config import settings
from workbench.events import Launched, listening, publish
from workbench.runtime.driver import driver
from workbench.runtime.observers import OBSERVERS
from workbench.runtime.record import LaunchRecord

BLOCK_DIM = 256


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
    """
    for observer in OBSERVERS.get():
        observer.launching(record)
    for name in record.writes:
        record.arguments[name].memory.version += 1
    loaded, total = record.loaded, record.threads
    if total:
        if loaded.device.is_cuda:
            _execute_cuda(record, total)
        else:
            install_launcher()
            address = ctypes.addressof(record.buffer)
            dispatch.dispatch(loaded.address, address, total, cpu_threads(), loaded.threads_per_task)
    if listening(Launched):
        publish(Launched(record))


def _execute_cuda(record: LaunchRecord, total: int) -> None:
    found = driver()
    assert found is not None
    loaded = record.loaded
    start = ctypes.addressof(record.buffer)
    addresses = [start, *(start + slot.offset for slot in loaded.layout.slots)]
    grid = (total + BLOCK_DIM - 1) // BLOCK_DIM
    found.launch(loaded.device.index, loaded.handle, grid, BLOCK_DIM, addresses)
