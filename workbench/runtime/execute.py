"""Running a record: tell the observers, count the changes, one native call."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any

from workbench.backends.cpu import dispatch
from workbench.cache.native import native_image
from workbench.config import settings
from workbench.events import Launched, listening, publish
from workbench.runtime.driver import driver
from workbench.runtime.loaded import Loaded
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
    _run(record.loaded, record.threads, record.buffer)
    if listening(Launched):
        publish(Launched(record))


def execute_again(record: LaunchRecord) -> None:
    """Run a record once more, on the arrays' contents of now.

    Raises:
        DeviceError: the device refused it.
    """
    if OBSERVERS.get() or listening(Launched):
        execute(record.again())
        return
    arguments = record.arguments
    for name in record.writes:
        arguments[name].memory.version += 1
    _run(record.loaded, record.threads, record.buffer)


def run_unseen(loaded: Loaded, dims: tuple[int, ...], arguments: Sequence[Any]) -> None:
    """Run one launch that nobody watches: no record is made.

    Raises:
        DeviceError: the device refused it.
    """
    for position in loaded.written:
        arguments[position].memory.version += 1
    packer = loaded.packer
    buffer = packer.new()
    packer.write(buffer, dims, arguments)
    _run(loaded, math.prod(dims), buffer)


def _run(loaded: Loaded, total: int, buffer: ctypes.Array[ctypes.c_char]) -> None:
    if not total:
        return
    if loaded.device.is_cuda:
        _run_cuda(loaded, total, buffer)
        return
    install_launcher()
    dispatch.dispatch(loaded.address, ctypes.addressof(buffer), total, cpu_threads(), loaded.threads_per_task)


def _run_cuda(loaded: Loaded, total: int, buffer: ctypes.Array[ctypes.c_char]) -> None:
    found = driver()
    assert found is not None
    start = ctypes.addressof(buffer)
    addresses = [start, *(start + slot.offset for slot in loaded.layout.slots)]
    grid = (total + BLOCK_DIM - 1) // BLOCK_DIM
    found.launch(loaded.device.index, loaded.handle, grid, BLOCK_DIM, addresses)
