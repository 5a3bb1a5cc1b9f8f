"""Events, as typed values that anyone may subscribe to.

The library prints nothing: status widgets, logs and tests listen here. Publishing without a subscriber costs one test
of an empty tuple. A subscriber that raises is reported once as a warning and never breaks the work it watches.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True):
    """The base of all events."""


class CompileStarted(Event, frozen=True):
    """Reports that a kernel is about to be built: it is not in memory, though it may be on disk."""

    kernel: str
    direction: str  # "forward", "adjoint", "tangent"; "adjoint tangent": the tangent of the adjoint
    backend: str
    target: str


class StageDone(Event, frozen=True):
    """Reports that a stage of a build is over; `seconds` is wall time."""

    kernel: str
    direction: str
    stage: str
    seconds: float


class CacheHit(Event, frozen=True):
    """Reports that a build artifact came out of the cache; `where` is "memory" or "disk"."""

    kernel: str
    direction: str
    key: str
    where: str
    seconds: float
    metadata: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class CacheMiss(Event, frozen=True):
    """Reports that the cache has no artifact for a key.

    `why` has the parts of the key that differ from the kernel's previous key; it is empty for a new kernel.
    """

    kernel: str
    direction: str
    key: str
    why: tuple[str, ...] = ()


class CompileDone(Event, frozen=True):
    """Reports that a kernel was compiled and loaded; `stages` maps stage name to seconds."""

    kernel: str
    direction: str
    key: str
    seconds: float
    stages: dict[str, float]
    metadata: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class CompileFailed(Event, frozen=True):
    """Reports that a kernel could not be built; `errors` are the WorkbenchErrors."""

    kernel: str
    errors: tuple[Exception, ...]


class CacheProblem(Event, frozen=True):
    """Reports that the cache cannot be used as meant (damaged file, folder not writable); work goes on without it."""

    path: str
    message: str


class ProductStarted(Event, frozen=True):
    """Reports that a link-time product is being built (design/products.md).

    `product` is its size and type, such as `16×16×16 f32`, `role` what it is for.
    """

    product: str
    role: str
    target: str
    builder: str


class ProductBuilt(Event, frozen=True):
    """Reports that a link-time product was built; `bytes` is its size."""

    product: str
    role: str
    target: str
    builder: str
    seconds: float
    bytes: int


class ProductFailed(Event, frozen=True):
    """Reports that a link-time product could not be built, or was cancelled; `message` says which."""

    product: str
    role: str
    target: str
    builder: str
    message: str


class Linked(Event, frozen=True):
    """Reports that a kernel was linked with its products in the background: the next launch uses that."""

    kernel: str
    direction: str
    key: str
    seconds: float
    metadata: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Launched(Event, frozen=True):
    """Reports that a launch was made; `record` is its LaunchRecord."""

    record: Any


class Replayed(Event, frozen=True):
    """Reports that records were run again: how many launches, in how many seconds."""

    launches: int
    seconds: float


class Notice(Event, frozen=True):
    """Carries a sentence that the user should see once."""

    message: str


class Remark(Event, frozen=True):
    """Carries a sentence about what a cell defines, which the cell's card shows without being asked."""

    message: str


class Outdated(Event, frozen=True):
    """Reports, after names were bound, how many programs compiled by JAX still call older versions of these kernels."""

    kernels: tuple[str, ...]
    programs: int


class LossReported(Event, frozen=True):
    """Reports that a loop of `wb.optim.progress` has a new picture: `progress` is its Progress."""

    progress: Any


Subscriber = Callable[[Event], None]
SUBSCRIBERS: list[tuple[Subscriber, tuple[type[Event], ...]]] = []
"""The subscribers, each with its classes of events; a hot path tests whether there are any."""


def subscribe(subscriber: Subscriber, *kinds: type[Event]) -> Callable[[], None]:
    """Call `subscriber` with each event of `kinds` (all if none is given); return a function that ends that."""
    entry = (subscriber, kinds or (Event,))
    SUBSCRIBERS.append(entry)

    def unsubscribe() -> None:
        SUBSCRIBERS[:] = [e for e in SUBSCRIBERS if e is not entry]

    return unsubscribe


def listening(kind: type[Event]) -> bool:
    """Return whether a subscriber would receive an event of `kind`, so that a hot path can skip creating one."""
    return any(issubclass(kind, k) for _, kinds in SUBSCRIBERS for k in kinds)


def publish(event: Event) -> None:
    """Pass `event` to its subscribers, in the order in which they subscribed; one that raises is warned of."""
    for subscriber, kinds in tuple(SUBSCRIBERS):
        if isinstance(event, kinds):
            try:
                subscriber(event)
            except Exception as error:
                warnings.warn(
                    f"a subscriber of workbench.events failed on {type(event).__name__}: {error!r}", stacklevel=2
                )
