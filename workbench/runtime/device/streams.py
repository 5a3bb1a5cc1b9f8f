"""Streams, events and timers: the order of work on a CUDA device, and how long it takes.

A stream made here is a blocking one: it and the device's default stream wait for each other, so memory and copies that
name no stream are always in order with it. A `Stream` or `Event` owns its driver handle and destroys it when it is
dropped; another library's stream stays that library's. The CPU's work is done when a call returns, so its streams are
always empty and its events over: code that names streams runs there as it stands.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Self

from workbench.errors import DeviceError, its_type
from workbench.runtime.device.device import CPU, Device, driver_of, drivers_in_use, get_device
from workbench.runtime.device.driver import Driver
from workbench.runtime.device.sticky_errors import wait_until


def _driver_of(device: Device) -> Driver | None:
    """Return the driver of a device; None for the CPU."""
    return driver_of(device) if device.is_cuda else None


class _Queued:
    """Queued work that the host can wait for: a subclass names the driver's calls that ask and wait."""

    _query = _synchronize = ""
    _driver: Driver | None
    device: Device
    handle: Any

    def _wait(self) -> None:
        """Wait on the host until the work is over, also raising faults of kernels; nothing on the CPU."""
        if self._driver is not None:
            self._driver.waiting(self.device.index, lambda driver=self._driver: self._over(driver))

    def _over(self, driver: Driver) -> None:
        """Wait until the work is over, so that an interrupt can end the wait; raise a DeviceError if it failed."""
        wait_until(driver, self.device.index, self._query, self.handle)
        driver.call(self._synchronize, self.handle)


class Event(_Queued):
    """A moment in a stream; `later - earlier` is the milliseconds between two, once both are over.

    Attributes:
        device: where it is.
        recorded: whether Workbench has recorded it in a stream.
    """

    _query, _synchronize = "cuEventQuery", "cuEventSynchronize"

    def __init__(self, device: Device | str | None = None) -> None:
        """Make an event of a device; on the CPU it is the moment at which it was recorded.

        Raises:
            DeviceError: the device refuses.
        """
        self.device = get_device(device)
        self._driver = _driver_of(self.device)
        self.moment = time.perf_counter()
        self.recorded = False
        if self._driver is not None:
            with self._driver.keeping_current():
                self._driver.use(self.device.index)
                self.handle = self._driver.call("cuEventCreate", 0)

    def wait(self) -> None:
        """Wait on the host until the device has come to the event.

        Raises:
            DeviceError, KernelFault: a kernel failed.
        """
        self._wait()

    def __sub__(self, earlier: Event) -> float:
        """Wait until this event is over, and return the milliseconds since `earlier`; faults of kernels are raised."""
        if not isinstance(earlier, Event):  # pyright: ignore[reportUnnecessaryIsInstance]
            return NotImplemented
        self.wait()
        return self.since(earlier)

    def since(self, earlier: Event) -> float:
        """Wait for this event, and return the milliseconds since `earlier`.

        Faults of kernels are not raised here, as `later - earlier` does, but by whatever waits for the device next.

        Raises:
            DeviceError: one of them was never recorded, or the device refuses.
        """
        if self._driver is None:
            return 1e3 * (self.moment - earlier.moment)
        with self._driver.keeping_current():
            self._driver.use(self.device.index)
            driver = self._driver
            driver.settle(self.device.index, lambda: driver.call("cuEventSynchronize", self.handle), report=False)
            try:
                return float(driver.call("cuEventElapsedTime", earlier.handle, self.handle))
            except DeviceError as error:
                named = [n for n, e in (("earlier", earlier), ("later", self)) if not e.recorded]
                if not named:
                    raise
                what = (
                    f"The {' and the '.join(named)} of two events {'was' if len(named) == 1 else 'were'} never recorded"
                )
                raise DeviceError(f"{what}.", advice="Record it: stream.record(event).", status=error.status) from None

    def __del__(self) -> None:
        _drop(self, "cuEventDestroy")


def moment(device: Device | str | None = None) -> Event:
    """Return an event at the end of all that the current stream of a CUDA device has queued so far.

    Raises:
        DeviceError: the device is the CPU, or refuses.
    """
    return mark(get_device(device), None)


def mark(device: Device, stream: Any) -> Event:
    """Return an event recorded at the end of what a stream has queued so far; None: the device's current stream."""
    event, driver = Event(device), driver_of(device)
    with driver.keeping_current():
        driver.call("cuEventRecord", event.handle, driver.stream_handle(device.index, stream))
    event.recorded = True
    return event


class Stream(_Queued):
    """Work queued on a device: it runs in order, on a CUDA device concurrently with other streams.

    Arrays that are made or dropped are work of the device's default stream, for which all others wait: make them before
    work that is to overlap.

    Attributes:
        device: where it is.
        handle: CUDA's own; cuda.core and CuPy take the stream as it is (`__cuda_stream__`). 0 on the CPU.
    """

    _query, _synchronize = "cuStreamQuery", "cuStreamSynchronize"
    _flags = 0

    def __init__(self, device: Device | str | None = None, priority: int = 0) -> None:
        """Make a stream; a lower number of `priority` goes first.

        Raises:
            DeviceError: the device refuses.
        """
        self.device = get_device(device)
        self._driver = _driver_of(self.device)
        if self._driver is None:
            self.handle: Any = 0
            return
        with self._driver.keeping_current():
            self._driver.use(self.device.index)
            self.handle = self._driver.call("cuStreamCreateWithPriority", self._flags, priority)

    def record(self, event: Event | None = None) -> Event:
        """Record an event, a new one if None, at the end of what is queued so far; return the event.

        Raises:
            TypeError: the argument is not an Event.
        """
        if event is not None and not isinstance(event, Event):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a stream records an Event, not {its_type(event)}")
        result = event or Event(self.device)
        result.moment, result.recorded = time.perf_counter(), True
        if self._driver is None:
            return result
        with self._driver.keeping_current():
            self._driver.use(self.device.index)
            self._driver.call("cuEventRecord", result.handle, self.handle)
        return result

    def wait_for(self, other: Event | Stream) -> None:
        """Make what is queued from now on wait for an event, or for everything queued in another stream so far.

        Raises:
            TypeError: it is neither.
        """
        if not isinstance(other, (Event, Stream)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a stream waits for an Event or a Stream, not for {its_type(other)}")
        event = other.record() if isinstance(other, Stream) else other
        if self._driver is None or event._driver is None:
            event.wait()
            return
        with self._driver.keeping_current():
            self._driver.use(self.device.index)
            self._driver.call("cuStreamWaitEvent", self.handle, event.handle, 0)

    def synchronize(self) -> None:
        """Wait on the host until all work of the stream is done.

        Raises:
            DeviceError, KernelFault: a kernel failed.
        """
        self._wait()

    @property
    def __cuda_stream__(self) -> Any:
        """A function that returns the version of CUDA's stream protocol, 0, and the stream's handle.

        Raises:
            AttributeError: it is the CPU's, and so none of CUDA's.
        """
        if self._driver is None:
            raise AttributeError("a stream of the CPU has no __cuda_stream__")
        return lambda: (0, int(self.handle))

    def __repr__(self) -> str:
        return f"<Stream {int(self.handle):#x} of {self.device}>"

    def __del__(self) -> None:
        _drop(self, "cuStreamDestroy")


class CapturedStream(Stream):
    """A stream to be captured: non-blocking, since capturing a blocking one forbids every use of the default stream."""

    _flags = 1


def _drop(owner: Any, function: str) -> None:
    """Destroy the handle of a stream or event by a driver's function; errors are ignored: finalizers call this."""
    if owner.__dict__.get("_driver") is not None and "handle" in owner.__dict__:
        try:
            owner._driver.release(owner.device.index, function, owner.handle)
        except Exception:  # at the interpreter's end, or with a broken device, there is no one to notify
            owner.handle = None


@contextmanager
def ScopedStream(stream: Stream | None) -> Generator[Stream | None]:
    """Queue launches, copies and fills of the stream's device in this stream inside a `with`.

    Those that name another stream are not affected. None, or a stream of the CPU, changes nothing.

    Yields:
        The stream.

    Raises:
        TypeError: it is no Stream.
    """
    if stream is not None and not isinstance(stream, Stream):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"ScopedStream() takes a Stream, not {its_type(stream)}")
    if stream is None or not stream.device.is_cuda:
        yield stream
        return
    with driver_of(stream.device).in_stream(stream.device.index, stream):
        yield stream


def synchronize(device: Device | str | None = None) -> None:
    """Wait until a device has finished all its work: every device that Workbench has used if none is named.

    What kernels have printed there is shown, and a fault of a launch with checks is raised.

    Raises:
        DeviceError: a kernel failed, or there is no such device.
        KernelFault: a launch with checks met a fault.
    """
    if device is not None:
        where = get_device(device)
        used = [(driver_of(where), where.index)] if where.is_cuda else []
    else:  # waiting for another device would make a context on it
        used = [(driver, index) for driver in drivers_in_use() for index in driver.used()]
    for driver, index in used:
        driver.synchronize(index)


class ScopedTimer:
    """A timer of a block and of the device's work that it queued: `with ScopedTimer() as t: …` then `t.elapsed`.

    Attributes:
        name: what it is called.
        elapsed: milliseconds; None until the block has ended.
    """

    def __init__(
        self, name: str = "", device: Device | str | None = None, *, active: bool = True, prints: bool = False,
        times: dict[str, list[float]] | None = None,
    ) -> None:  # fmt: skip
        """Make a timer of work on `device`, the current one if none is given.

        Args:
            name: what it is called.
            device: whose work it waits for.
            active: False makes a timer that does nothing.
            prints: whether it prints the time.
            times: a dict to whose list under the name the time is appended.
        """
        self.name = name
        self.elapsed: float | None = None
        self._device = get_device(device) if device is not None else None
        self._active, self._prints, self._times = active, prints, times

    def __enter__(self) -> Self:
        """Wait for the device, and begin to measure."""
        if self._active:
            synchronize(self._timed_device)
            self._started = time.perf_counter()
        return self

    def __exit__(self, *problem: object) -> None:
        """Wait for the device; store the time in `elapsed`, and append or print it as requested."""
        if not self._active:
            return
        synchronize(self._timed_device)
        self.elapsed = 1e3 * (time.perf_counter() - self._started)
        if self._times is not None:
            self._times.setdefault(self.name, []).append(self.elapsed)
        if self._prints:
            print(f"{self.name} took {self.elapsed:.2f} ms")

    @property
    def _timed_device(self) -> Device:
        """The device whose work is timed."""
        return self._device or get_device() or CPU

    def __repr__(self) -> str:
        spent = f"{self.elapsed:.3g} ms" if self.elapsed is not None else "not over"
        return f"<ScopedTimer {self.name}: {spent}>".replace(" :", ":")
