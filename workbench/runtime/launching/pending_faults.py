"""Pending reports of CUDA devices: faults of launches with checks, and what kernels printed.

A launch is queued and says nothing. Reading its fault record at once would make every launch with checks wait, so the
records stay on the device until something waits for it anyway: `synchronize`, an event or a stream waited for, an array
read, the end of a notebook's cell. Then what kernels printed is shown, and the first fault is raised. The driver writes
printed text earlier, too, where a launch, code to load or a copy from the host comes after: that is shown at once.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from workbench.backends.faults import FaultRecord, raised_by
from workbench.backends.layout import FAULT_SIZE, shape_in
from workbench.errors import KernelFault
from workbench.forks import fork_safe_lock
from workbench.runtime.deferred_errors import raise_late
from workbench.runtime.device.device import drivers_in_use
from workbench.runtime.device.driver import EMULATED, Driver
from workbench.runtime.device.driver_calls import Buffer
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.sanitizer import explained
from workbench.types import ArrayType

SLOTS = 1024
"""The number of launches with checks that may be queued before the next one waits for them."""


def fault_of(executable: Executable, dims: Sequence[int], buffer: Any, record: bytes) -> KernelFault | None:
    """Return the error that a launch's fault record describes; None if it describes none.

    Args:
        executable: the code.
        dims: the launch's dimensions.
        buffer: the packed parameters.
        record: the record's bytes.
    """
    fault = FaultRecord.read(record)
    if fault is None:
        return None
    shapes = {s.name: shape_in(buffer, s) for s in executable.layout.slots if isinstance(s.type, ArrayType)}
    return raised_by(executable.function, fault, dims, shapes)


class _Checked(NamedTuple):
    """A queued launch with checks: its code, dimensions and packed parameters, from which a fault is explained."""

    executable: Executable
    dims: tuple[int, ...]
    buffer: bytes


class _Slots:
    """The fault records of one device's launches, in the order in which they were queued."""

    def __init__(self, driver: Driver, index: int) -> None:
        """Begin without launches; the memory for their fault records is allocated for the first one."""
        self._driver, self._index = driver, index
        self._buffer: Buffer | None = None
        self.waiting: list[_Checked] = []

    def take(self, launch: _Checked) -> int:
        """Reserve a zeroed fault record on the device for a launch, and return its address."""
        # On first use: most programs never launch with checks on a device.
        if self._buffer is None:
            self._buffer = self._driver.alloc(self._index, SLOTS * FAULT_SIZE)
            self._clear(SLOTS)
        self.waiting.append(launch)
        return self._buffer.handle + FAULT_SIZE * (len(self.waiting) - 1)

    def collect(self) -> list[KernelFault]:
        """Return the faults of all waiting launches, which must have finished, in the order of the launches.

        Their fault records are free for others then.
        """
        launches, self.waiting = self.waiting, []
        if not launches or self._buffer is None:
            return []
        records = read_records(self._driver, self._buffer.handle, len(launches))
        # All launches that had a record have been waited for, so none is cleared under a running kernel.
        self._clear(len(launches))
        faults = (fault_of(*launch, record) for launch, record in zip(launches, records, strict=True))
        return [fault for fault in faults if fault is not None]

    def _clear(self, count: int) -> None:
        """Zero the first `count` fault records on the device."""
        assert self._buffer is not None
        self._driver.fill(self._buffer.handle, 0, count * FAULT_SIZE, self._index)


def read_records(driver: Driver, address: int, count: int) -> list[bytes]:
    """Copy `count` fault records from a device address; the launches that write them must be over."""
    host = np.empty((count, FAULT_SIZE), np.uint8)
    # Blocks until the copy is done; the device was waited for already, so this does not wait for kernels.
    driver.call("cuMemcpyDtoH", host.ctypes.data, address, host.nbytes)
    return [row.tobytes() for row in host]


class Settling:
    """The pending reports of one driver's devices: faults, findings of the sanitizer, and printed text."""

    def __init__(self, driver: Driver) -> None:
        """Begin without reports; from now on the driver calls `settle` whenever it waits."""
        self.driver = driver
        self._slots: dict[int, _Slots] = {}
        self._sources: dict[int, dict[Any, Callable[[], list[KernelFault]]]] = {}
        self._watched: WeakValueDictionary[int, Executable] = WeakValueDictionary()
        self._watching: set[int] = set()
        self._lock = fork_safe_lock(self, "_lock", threading.RLock)
        # The driver cannot import this room, which lies above it; so it is handed the functions.
        driver.settle, driver.shown = self.settle, shown

    @contextmanager
    def record(self, index: int, executable: Executable, dims: Sequence[int], params: bytes) -> Generator[int]:
        """Yield the address of a fault record on the device for a launch that is queued inside the `with`.

        The record is read, and a fault raised, when something waits for the device.

        Raises:
            KernelFault: so many launches were queued that they had to be waited for, and one met a fault.
        """
        while True:
            # Until the launch is queued, no other thread collects: what it reads and clears was waited for.
            with self._lock:
                slots = self._slots.setdefault(index, _Slots(self.driver, index))
                if len(slots.waiting) < SLOTS:
                    self._sources.setdefault(index, {})[slots] = slots.collect
                    yield slots.take(_Checked(executable, tuple(dims), params))
                    return
            # Outside of the lock, which `settle` takes in whatever thread waits.
            self.driver.synchronize(index)

    def add_pending(self, index: int, owner: Any, collect: Callable[[], list[KernelFault]]) -> None:
        """Have `collect` called for faults when the device is waited for next; `owner` is kept alive until then."""
        with self._lock:
            self._sources.setdefault(index, {})[owner] = collect

    def watch(self, index: int, executable: Executable) -> None:
        """Note that a sanitized kernel is about to be queued, or captured in a graph: its findings will be reported."""
        self._watched[int(executable.handle.function)] = executable
        self._watching.add(index)

    def _findings(self, index: int) -> list[KernelFault]:
        """Take the emulated device's findings in sanitized kernels and return them as faults; empty on a GPU."""
        self._watching.discard(index)
        return [
            explained(executable, finding)
            for finding in (self.driver.api.findings(index) if self.driver.kind == EMULATED else ())
            if (executable := self._watched.get(finding.kernel)) is not None
        ]

    def prints(self, index: int) -> None:
        """Note that a kernel that prints is about to be queued on a device."""
        self.driver.printing.add(index)

    def owes(self) -> list[int]:
        """Return the numbers of the devices that have something to report, or may have; broken ones are left out."""
        sources = (index for index, sources in self._sources.items() if sources)
        owing = {*self.driver.printing, *self._watching, *sources}
        return sorted(owing - self.driver.breakage.devices.keys())

    def settle(self, index: int, wait: Callable[[], object], report: bool = True) -> None:
        """Call `wait`, which waits for the device; then show what was printed, and raise the first fault.

        Args:
            index: the device.
            wait: waits for the device.
            report: False: only a part of the work is waited for, and faults are left for later.

        Raises:
            KernelFault: a launch with checks met a fault; notes name further ones.
            DeviceError: of `wait`.
        """
        try:
            with self.driver.showing(index):
                if report:  # else only a part of what is queued is waited for, and what comes after may print, too
                    self.driver.printing.discard(index)
                wait()
        except Exception:
            self.driver.printing.discard(index)
            self._sources.pop(index, None)  # a device that is broken does not give them
            raise
        if not report:
            return
        with self._lock:
            sources = self._sources.pop(index, {})
            faults = [fault for collect in sources.values() for fault in collect()] + self._findings(index)
        if faults:
            first, *more = faults
            if more:
                names = ", ".join(dict.fromkeys(f"{fault.function} ({fault.location})" for fault in more))
                first.add_note(f"{len(more)} more launches on {self.driver.label(index)} met faults: {names}.")
            raise first


_settling: dict[str, Settling] = {}  # by the kind of the driver
_lock = fork_safe_lock(__name__, "_lock")
_turning = fork_safe_lock(__name__, "_turning", threading.RLock)


def settling(driver: Driver) -> Settling:
    """Return the pending reports of this driver's devices; one object per driver."""
    with _lock:
        if driver.kind not in _settling or _settling[driver.kind].driver is not driver:
            _settling[driver.kind] = Settling(driver)
        return _settling[driver.kind]


def settle_all() -> None:
    """Wait for the devices that have something to report, and show or raise it, as at the end of a notebook's cell.

    Raises:
        WorkbenchError: an error that could not be raised where it occurred (`deferred_errors.py`).
        KernelFault, DeviceError: a kernel failed.
    """
    raise_late()
    for driver in drivers_in_use():
        known = _settling.get(driver.kind)
        for index in known.owes() if known is not None and known.driver is driver else ():
            driver.synchronize(index)


@contextmanager
def shown() -> Generator[None]:
    """Show on `sys.stdout` what a device's printf writes to the process's output inside the `with`."""
    own = False
    with suppress(Exception):
        # In a terminal `sys.stdout` is file descriptor 1, where the driver's printf goes anyway; in a notebook it is an
        # object that sends messages.
        own = sys.stdout.fileno() == 1
    with suppress(Exception):
        sys.stdout.flush()
    if own:
        try:
            yield
        finally:
            _flush()
        return
    import tempfile

    # One thread at a time: another one would take this one's file for the process's output, and put that back.
    with _turning, tempfile.TemporaryFile() as captured:
        # Only the descriptor can be turned: the text is written by C, which knows nothing of `sys.stdout`.
        before = os.dup(1)
        os.dup2(captured.fileno(), 1)
        try:
            yield
        finally:
            _flush()
            os.dup2(before, 1)
            os.close(before)
            captured.seek(0)
            sys.stdout.write(captured.read().decode(errors="replace"))


def _flush() -> None:
    """Flush the C library's output buffers."""
    with suppress(Exception):  # where C's library has no name of its own, it flushes when it likes
        ctypes.CDLL(None).fflush(None)
