"""A record as spans of time: what a timeline draws, as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.runtime.entries import Entry, LaunchEntry
from workbench.runtime.site import Site


@dataclass(frozen=True)
class Span:
    """One thing that ran.

    Attributes:
        start: seconds after the first span's start.
        seconds: how long the caller waited for it; None where it is not known.
        lane: where it ran: a device's name, with its stream's where it had one, or "jax".
        kind: "forward", "adjoint", "tangent", "copy", "add", "fill", "graph" or "jax".
        name: the kernel's, or the value of a fill.
        size: dimensions of the launch, or the shape of what was copied.
        bytes: of all elements of the arrays that it touches.
        site: the line that asked for it.
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
    listed = [e for entry in entries for e in (entry, *entry.parts)]
    first = min((e.started for e in listed if e.started), default=0.0)
    return tuple(
        Span(max(0.0, e.started - first), e.seconds, lane(e), e.kind, e.name, e.size, e.bytes, e.site) for e in listed
    )


def lane(entry: Entry) -> str:
    """Where it ran."""
    if isinstance(entry, LaunchEntry):
        record = entry.record
        return f"{record.loaded.device}{f' {record.stream}' if record.stream is not None else ''}"
    devices = {str(a.device) for a in entry.arrays}
    return min(devices) if devices else entry.kind
