"""Running a record, on the CPU at once or queued on a device.

On the CPU: notify the observers, count the changes, one native call. On a device a launch is queued in order with other
devices, and with what it leaves to be reported.
"""

from __future__ import annotations

import ctypes
import functools
import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from workbench.backends.cpu.native import dispatch
from workbench.backends.layout import DECLINED, FAULT_SIZE
from workbench.config import settings
from workbench.errors import KernelFault, LaunchError
from workbench.events import SUBSCRIBERS, Launched, listening, publish
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.device.device import Device, is_peer_access_enabled, let_wait
from workbench.runtime.device.memory import Memory
from workbench.runtime.device.streams import Stream, mark
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.geometry import Block
from workbench.runtime.launching.pending_faults import fault_of, settling
from workbench.runtime.launching.prints import printing
from workbench.runtime.launching.record import BLOCK_DIM, LaunchRecord
from workbench.runtime.native.launcher import Native, explain, install_launcher, runs, sorted_names

IN_ORDER: list[Callable[[], Any]] = []
"""Holds a function that returns the module which runs launches in the order of their threads.

That module has kernels, and so belongs to a package that this one may not import.
"""


def ordered_runner() -> Any:
    """Return the module that runs launches in the order of their threads, imported on first use."""
    return IN_ORDER[-1]()


def queue(
    executable: Executable, dims: tuple[int, ...], arguments: Sequence[Any], block_dim: int | Block, stream: Any
) -> None:
    """Queue a launch on its device.

    Raises:
        DeviceError: the device refused it.
        LaunchError: an array lies on another device that this one may no longer reach.
        KernelFault: so many launches with checks are queued that they had to be waited for, and one met a fault.
    """
    if 0 in dims:  # no threads, no work; CUDA would refuse a grid without blocks
        return
    if executable.in_order is not None:
        ordered_runner().run(executable, dims, arguments, block_dim, stream)
        return
    own = executable.device
    other_devices = [a.device for a in executable.arrays_of(arguments) if a.device != own]
    # A stream of another library's may be in no order with the default one, in which its arrays are filled and freed.
    if stream is not None and not isinstance(stream, Stream):
        other_devices.append(own)
    # Each line up to here, and of what is called, costs every launch of a loop.
    params, shape = executable.packer.pack(dims, arguments), executable.shape(dims, block_dim)
    if not (other_devices or executable.reports):
        executable.driver.launch(executable.queue, params, shape, stream, 0, executable.title)
        return
    with (
        _reported(executable, dims, params) as fault,
        _in_order(executable, stream, list(dict.fromkeys(other_devices))),
    ):
        executable.driver.launch(executable.queue, params, shape, stream, fault, executable.title)


def _reported(executable: Executable, dims: tuple[int, ...], params: bytes) -> Any:
    """Return a context manager for queueing a launch: it yields the address of a fault record, 0 without checks.

    What the launch prints, and its faults, will be reported when something waits for the device.
    """
    reports, index = settling(executable.driver), executable.device.index
    if executable.prints:
        reports.prints(index)
    if executable.sanitized:
        reports.watch(index, executable)
    return reports.record(index, executable, dims, params) if executable.checked else nullcontext(0)


@contextmanager
def _in_order(executable: Executable, stream: Any, others: Sequence[Device]) -> Generator[None]:
    """Make the launch inside the `with` wait for what other devices have queued, and their later work for the launch.

    Raises:
        LaunchError: this device may no longer reach the memory of another one.
    """
    own = executable.device
    for other in others:
        if other != own and not is_peer_access_enabled(other, own):
            raise LaunchError(f"{executable.name}: {own} may no longer reach arrays on {other}.")
    for other in others:
        let_wait(executable.driver, (own.index, stream), (other.index, None))
    yield
    for other in others:
        let_wait(executable.driver, (other.index, None), (own.index, stream))


_FaultWords = ctypes.c_int64 * (FAULT_SIZE // 8)


@functools.cache
def native_launch() -> Callable[..., int]:
    """Return the native function that launches from packed parameters."""
    return install_launcher().functions.launch


@functools.cache
def cpu_threads() -> int:
    """Return how many CPU threads a large launch runs on: `WORKBENCH_THREADS`, else the cores this process may use."""
    return settings().threads


@functools.cache
def in_order(deterministic: bool | None = None) -> bool:
    """Return whether a launch or a tape adds floats in a fixed order, so that results repeat to the bit.

    `deterministic` is its argument; None: `WORKBENCH_DETERMINISTIC` decides.

    Raises:
        LaunchError: it is neither True, False nor None.
    """
    if deterministic is None:
        return settings().deterministic
    if deterministic not in (True, False):
        raise LaunchError(f"deterministic is True, False or None, not {deterministic!r}.", parameter="deterministic")
    return bool(deterministic)


def cores(executable: Executable) -> int:
    """Return how many CPU threads a large CPU launch of this code runs on: one if its threads have to run in order."""
    return 1 if executable.ordered else cpu_threads()


def execute(record: LaunchRecord) -> None:
    """Run one launch, unless an observer takes it; on the CPU it is then done, on CUDA it is queued.

    Raises:
        DeviceError: the device refused it.
        KernelFault: code with checks met a fault; the launch is over, and all that did not fault is done.
        KeyboardInterrupt: or what else a signal's handler raises: it was stopped, and what it writes is half written.
    """
    observers = OBSERVERS.get()
    if record.executable.build_later is not None and not any(observer.takes for observer in observers):
        record = record.ready()
    # Before anything changes: a capture takes the launch instead, and a tape copies what is about to be overwritten.
    # `notify` would do it, for another tenth of what a tape adds to a small launch.
    runs_as = record
    for observer in reversed(observers):
        runs_as = observer.launching(record) or runs_as
        if observer.takes:
            return
    executable = record.executable
    # The host's clock would measure queueing, so a device's launches are timed by events around them.
    on_device = not executable.one_call and bool(observers) and executable.device.is_cuda and record.threads > 0
    before = mark(executable.device, record.stream) if on_device else None
    started = time.perf_counter()
    try:
        fault = None
        if executable.one_call:
            run_unseen(runs_as.executable, runs_as.dim, runs_as.values)
        else:
            # Counted before the run: if it is interrupted, the memory has changed all the same.
            for memory in record.changes:
                memory.version += 1
            fault = _run_record(record)
    except BaseException:
        for observer in observers:
            observer.stopped(record)
        raise
    seconds = time.perf_counter() - started
    after = mark(executable.device, record.stream) if on_device else None
    for observer in observers:
        if on_device:
            observer.measured(record, before, after)
        observer.done(record, started, seconds)
    # Raised last, so that observers and subscribers hear of the launch that met the fault, too.
    if SUBSCRIBERS and listening(Launched):
        publish(Launched(record))
    if fault is not None:
        raise fault


def _native_of(executable: Executable, dims: Sequence[int]) -> Native:
    """Return a launch's description for messages about interrupts: title, number of threads, written arrays."""
    return Native(executable.title, math.prod(dims), sorted_names(executable.writes))


@runs(lambda frame: _native_of(frame["record"].executable, frame["record"].dim))
def execute_again(record: LaunchRecord) -> None:
    """Run a record once more, on the arrays' current contents.

    Raises:
        DeviceError: the device refused it.
        KernelFault: code with checks met a fault; the launch is over, and all that did not fault is done.
    """
    if record.executable.build_later is not None or OBSERVERS.get() or (SUBSCRIBERS and listening(Launched)):
        execute(record.again())
        return
    # Without observers, all that is left is to raise versions and to call.
    for memory in record.changes:
        memory.version += 1
    # In `__dict__`, as `cached_property` does it, since the record is frozen; the row must live as long as the function
    # that reads it.
    run = record.__dict__.get("_native") or _native(record)
    if run is not None:
        try:
            run()
        except BaseException as error:
            explain(error, _native_of(record.executable, record.dim))
            raise
        return
    fault = _run_record(record)
    if fault is not None:
        raise fault


def _native(record: LaunchRecord) -> Callable[[], int] | None:
    """Return a native function that repeats the launch, stored with the record; None if it takes several calls."""
    executable = record.executable
    if not executable.one_call:
        return None
    row = (ctypes.c_int64 * (dispatch.ENTRY_SIZE // 8))(*table_row(record))
    run = install_launcher().functions.row(ctypes.addressof(row))
    vars(record).update(_native=run, _row=row)
    return run


def table_row(record: LaunchRecord) -> tuple[int, ...]:
    """Return a CPU launch, without a fault record, as a row of the native launcher's table."""
    executable = record.executable.ready().complete
    start, mask = ctypes.addressof(record.buffer), executable.mask(record.values)
    return executable.address, start, record.threads, cores(executable), executable.strip, 0, mask, executable.sums


@runs(lambda frame: _native_of(frame["executable"], frame["dims"]))
def run_unseen(
    executable: Executable,
    dims: tuple[int, ...],
    arguments: Sequence[Any],
    block_dim: int | Block = BLOCK_DIM,
    stream: Any = None,
) -> None:
    """Run a launch that no observer needs to know of, without a record of it; on CUDA it is queued.

    Args:
        executable: the code.
        dims: the launch's dimensions.
        arguments: in the order of the code's parameters.
        block_dim: threads of a CUDA block.
        stream: a CUDA stream; None: the device's current one.

    Raises:
        DeviceError: the device refused it.
        KernelFault: code with checks met a fault; the launch is over, and all that did not fault is done.
    """
    # The hot path: no record, no dictionary, one native call. Each line here costs every launch of a loop.
    for position in executable.written:
        arguments[position].memory.version += 1
    if executable.one_call:
        params = executable.packer.pack(dims, arguments)
        total = dims[0] if len(dims) == 1 else math.prod(dims)
        mask = executable.mask(arguments) if executable.shared else 0
        try:
            threads = 1 if executable.ordered else cpu_threads()
            native_launch()(executable.address, params, total, threads, executable.strip, 0, mask, executable.sums)
        except BaseException as error:
            explain(error, _native_of(executable, dims))
            raise
        return
    if executable.on_device:
        queue(executable, dims, arguments, block_dim, stream)
        return
    mask = executable.mask(arguments) if executable.shared else 0
    fault = _run(executable, dims, executable.packer.pack(dims, arguments), mask)
    if fault is not None:
        raise fault


@runs(lambda frame: _native_of(frame["executable"], frame["dims"]))
def run_packed(
    executable: Executable,
    dims: tuple[int, ...],
    params: bytes,
    mask: int,
    written: Sequence[Memory],
    arguments: Sequence[Any],
) -> None:
    """Run a CPU launch that no observer needs to know of from packed parameters.

    Args:
        executable: the code.
        dims: the launch's dimensions.
        params: dimensions and arguments as the bytes that the code reads.
        mask: the lock bits of the memory that the code reads and changes.
        written: the memory that it may change.
        arguments: what the parameters point to, so that it stays alive.

    Raises:
        KernelFault: code with checks met a fault; the launch is over, and all that did not fault is done.
    """
    for memory in written:
        memory.version += 1
    if executable.one_call:
        total = dims[0] if len(dims) == 1 else math.prod(dims)
        try:
            threads = 1 if executable.ordered else cpu_threads()
            native_launch()(executable.address, params, total, threads, executable.strip, 0, mask, executable.sums)
        except BaseException as error:
            explain(error, _native_of(executable, dims))
            raise
        return
    fault = _run(executable, dims, params, mask)
    if fault is not None:
        raise fault


def _run_record(record: LaunchRecord) -> KernelFault | None:
    """Run a record's launch on the CPU or queue it on its device; return the fault that was met, or None."""
    executable, options = record.executable, record.launch_options
    if executable.on_device:
        return queue(executable, record.dim, record.values, options.block_dim, options.stream)
    return _run(
        executable, record.dim, executable.packer.pack(record.dim, record.values), executable.mask(record.values)
    )


@runs(lambda frame: _native_of(frame["executable"], frame["dims"]))
def _run(executable: Executable, dims: tuple[int, ...], params: bytes, mask: int) -> KernelFault | None:
    """Run a launch on the CPU from packed parameters; return the fault that code with checks met, or None.

    Code that has declined one launch is not asked again.
    """
    total = math.prod(dims)
    if not total:
        return None
    if "complete" in vars(executable):
        executable = executable.complete
    record = _FaultWords() if executable.checked else None
    fault_address = ctypes.addressof(record) if record is not None else 0
    with printing(executable) if executable.prints else _QUIET:
        try:
            native_launch()(
                executable.address,
                params,
                total,
                cores(executable),
                executable.strip,
                fault_address,
                mask,
                executable.sums,
            )
        except BaseException as error:
            explain(error, _native_of(executable, dims))
            raise
    if record is None or not record[0]:
        return None
    if record[1] == DECLINED:
        return _run(executable.complete, dims, params, mask)
    return fault_of(executable, dims, params, bytes(record))


_QUIET = nullcontext()
