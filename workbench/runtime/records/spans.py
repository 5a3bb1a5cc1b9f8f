"""A record as spans of time: what a timeline draws, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from workbench.errors import DeviceError
from workbench.runtime.device.call_site import Site
from workbench.runtime.device.device import Device
from workbench.runtime.records.entries import Entry, LaunchEntry


@dataclass(frozen=True)
class Span:
    """One thing that ran.

    Attributes:
        start: seconds after the first span's start.
        seconds: how long the caller waited for it; None if it is not known.
        lane: where it ran: a device's name, with its stream's where it had one, or "jax".
        kind: "forward", "adjoint", "tangent", "copy", "add", "fill", "graph" or "jax".
        name: the kernel's, or the value of a fill.
        size: dimensions of the launch, or the shape of what was copied.
        bytes: of all elements of the arrays that it touches.
        site: the line that requested it.
    """

    start: float
    seconds: float | None
    lane: str
    kind: str
    name: str
    size: tuple[int, ...]
    bytes: int
    site: Site | None


def spans(entries: Iterable[Entry]) -> tuple[Span, ...]:
    """One span an entry, in order, each followed by those of its parts."""
    whole = [e for entry in entries for e in (entry, *entry.parts)]
    listed = [(e, *(e.on_device or (e.started, e.seconds))) for e in whole]
    first = min((started for _, started, _ in listed if started), default=0.0)
    return tuple(
        Span(max(0.0, (started or first) - first), seconds, lane(e), e.kind, e.name, e.size, e.bytes, e.site)
        for e, started, seconds in listed
    )


def device_times(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with the times that their events report, once the devices have come past them.

    A device's clock is laid on the host's where its first launch was queued: it cannot have begun before.
    """
    made: list[Entry] = []
    first: dict[Device, tuple[Any, float]] = {}
    for entry in entries:
        if entry.events is None:
            made.append(entry)
            continue
        before, after = entry.events
        base, started = first.setdefault(before.device, (before, entry.started))
        with suppress(DeviceError):  # of a broken device there are no times; the next call to it says so
            begun = started + before.since(base) / 1e3
            entry = replace(entry, events=None, on_device=(begun, after.since(before) / 1e3))
        made.append(entry)
    return made


def lane(entry: Entry) -> str:
    """Where it ran."""
    if isinstance(entry, LaunchEntry):
        record = entry.record
        return f"{record.loaded.device}{f' {record.stream}' if record.stream is not None else ''}"
    devices = {str(a.device) for a in entry.arrays}
    return min(devices) if devices else entry.kind
