"""A record as spans of time: what a timeline draws, as plain values."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from workbench.errors import DeviceError
from workbench.events import CacheHit, CompileDone, Event, subscribe
from workbench.runtime.device.call_site import Site
from workbench.runtime.device.device import Device
from workbench.runtime.work import Launch, Work


class Span(msgspec.Struct, frozen=True):
    """The time of a piece of work.

    Attributes:
        start: seconds after the first span's start.
        seconds: how long it ran on a device, if that was measured; else how long the caller waited; None: not known.
        lane: where it ran: a device's name, with its stream's if it had one, "host" for compiling, or "jax".
        kind: of a launch its direction ("forward", "adjoint", …); else "copy", "graph", "jax", …, or "compile".
        name: the kernel's, or the value of a fill.
        size: dimensions of the launch, or the shape of what was copied.
        bytes: of all elements of the arrays that it touches.
        site: the line that requested it; None if not known.
    """

    start: float
    seconds: float | None
    lane: str
    kind: str
    name: str
    size: tuple[int, ...]
    bytes: int
    site: Site | None


class Build(msgspec.Struct, frozen=True):
    """A kernel that was compiled, or loaded from disk, while a recorder recorded.

    Attributes:
        kernel: its name.
        direction: the direction of the code.
        started: when it began, by `time.perf_counter`.
        seconds: how long it took.
    """

    kernel: str
    direction: str
    started: float
    seconds: float


def spans(entries: Iterable[Work]) -> tuple[Span, ...]:
    """Return a span for each entry, in order, each followed by those of the parts inside it."""
    return timeline(entries, ())[0]


def timeline(entries: Iterable[Work], builds: Iterable[Build]) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return a span for each entry, each followed by those of its parts, and a span for each build.

    All count from the earliest start among both.
    """
    every_entry = [e for entry in entries for e in (entry, *entry.parts)]
    listed = [(e, *(e.on_device or (e.started, e.seconds))) for e in every_entry]
    builds = tuple(builds)
    first = min([started for _, started, _ in listed if started] + [b.started for b in builds], default=0.0)
    ran = tuple(
        Span(max(0.0, (started or first) - first), seconds, lane(e), e.kind, e.name, e.size, e.bytes, e.site)
        for e, started, seconds in listed
    )
    return ran, tuple(Span(b.started - first, b.seconds, "host", "compile", b.kernel, (), 0, None) for b in builds)


class BuildLog:
    """A log of kernels that are compiled, or loaded from disk, while it listens.

    Attributes:
        noted: the builds so far.
    """

    def __init__(self) -> None:
        """Begin with an empty log, which does not listen yet."""
        self.noted: list[Build] = []
        self._end: Callable[[], None] | None = None

    def start(self) -> None:
        """Listen from now on."""
        if self._end is None:
            self._end = subscribe(self._hear, CompileDone, CacheHit)

    def stop(self) -> None:
        """Listen no more."""
        if self._end is not None:
            self._end()
            self._end = None

    def _hear(self, event: Event) -> None:
        """Note a build that ended, or code that came from the disk's cache."""
        if isinstance(event, CompileDone) or (isinstance(event, CacheHit) and event.where == "disk"):
            started = time.perf_counter() - event.seconds
            self.noted.append(Build(event.kernel, event.direction, started, event.seconds))


def device_times(entries: Sequence[Work]) -> list[Work]:
    """Return the entries with the times that their CUDA events report, once the devices have come past them.

    A device's clock is laid on the host's where its first launch was queued: it cannot have begun before.
    """
    timed: list[Work] = []
    first: dict[Device, tuple[Any, float]] = {}
    for entry in entries:
        if entry.events is None:
            timed.append(entry)
            continue
        before, after = entry.events
        base, started = first.setdefault(before.device, (before, entry.started))
        with suppress(DeviceError):  # of a broken device there are no times; the next call to it says so
            begun = started + before.since(base) / 1e3
            entry = replace(entry, events=None, on_device=(begun, after.since(before) / 1e3))
        timed.append(entry)
    return timed


def lane(entry: Work) -> str:
    """Return the name of the lane of a timeline that an entry belongs to.

    For a launch it is the device, and the stream if one was chosen; otherwise the device of its arrays, or its kind if
    it has none.
    """
    if isinstance(entry, Launch):
        record = entry.record
        return f"{record.executable.device}{f' {record.stream}' if record.stream is not None else ''}"
    devices = {str(a.device) for a in entry.arrays}
    return min(devices) if devices else entry.kind
