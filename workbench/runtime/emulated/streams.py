"""Streams and events of emulated devices: work is queued, and done when something waits, in an order that CUDA allows.

Work has an order only where CUDA gives it one: within a stream, between the default stream and blocking ones, and by
events. Without a seed it is done as it was queued; with one (`WORKBENCH_EMULATED_SEED`) any work that has to wait for
nothing may be next, so what lacks an order shows.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from workbench.runtime.emulated.status_error import STICKY, CudaStatusError, expect

MOST = 512
"""The number of pieces of work that may be queued before the oldest are done."""
AHEAD = 64
"""The number of pieces of work, the oldest ones, among which a seed chooses."""


class QueuedWork(msgspec.Struct, eq=False):
    """A piece of work of a stream.

    Attributes:
        do: carries it out; None: there is nothing to do.
        device: the device's number.
        after: work that has to be done before.
        title: what messages call it.
        done: whether it is over.
    """

    do: Callable[[], object] | None
    device: int
    after: frozenset[QueuedWork]
    title: str
    done: bool = False

    @property
    def ready(self) -> bool:
        """Return whether all work that this piece waits for is done."""
        return all(other.done for other in self.after)


class Stream(msgspec.Struct, eq=False):
    """A stream: work of a device that is done in order.

    Attributes:
        device: the device's number.
        default: it is the device's default stream, and so in order with every blocking one.
        blocking: it is in order with the default stream.
        last: what was queued in it last; None if nothing was.
        waits: the work of events that what is queued next has to wait for.
        capture: the capture that it belongs to; None if it is not captured.
    """

    device: int
    default: bool = False
    blocking: bool = True
    last: QueuedWork | None = None
    waits: list[QueuedWork] = msgspec.field(default_factory=list[QueuedWork])
    capture: Any = None


class Event(msgspec.Struct, eq=False):
    """An event, which a stream may record.

    Attributes:
        device: of the context in which it was made.
        timed: whether it keeps the time.
        mark: the work after which it is over; None before it is recorded in a stream, and while it is in a capture.
        moment: when the stream came to it, in seconds.
        captured: the capture in which it was last recorded, and the nodes that it stands for; None if in none.
    """

    device: int
    timed: bool
    mark: QueuedWork | None = None
    moment: float = 0.0
    captured: tuple[Any, tuple[Any, ...]] | None = None


class Streams:
    """The streams of a driver, and all work that is queued on its devices."""

    def __init__(self, devices: int, seed: int | None = None) -> None:
        """Make the default stream of each device; a seed makes work run in another order than it was queued."""
        self.default = [Stream(n, default=True) for n in range(devices)]
        self.of_device: list[list[Stream]] = [[stream] for stream in self.default]
        self.broken: dict[int, CudaStatusError] = {}
        self._chance = random.Random(seed) if seed is not None else None
        self._queued: dict[QueuedWork, None] = {}
        self._running: QueuedWork | None = None

    def new(self, device: int, blocking: bool) -> Stream:
        """Create a stream of a device; `blocking`: it is in order with the default stream."""
        stream = Stream(device, blocking=blocking)
        self.of_device[device].append(stream)
        return stream

    def drop(self, stream: Stream) -> None:
        """Remove a stream; work that is queued in it is still done."""
        if stream.last is not None and not stream.last.done:
            heir = self.default[stream.device]
            heir.waits.append(stream.last)
        self.of_device[stream.device].remove(stream)

    def put(
        self, stream: Stream, do: Callable[[], object] | None, title: str, after: Iterable[QueuedWork] = ()
    ) -> QueuedWork:
        """Queue work in a stream, after what the stream and `after` say; return it.

        Args:
            stream: the stream.
            do: carries it out; None: there is nothing to do.
            title: what messages call it.
            after: other work that it has to wait for.
        """
        before = {*after, *stream.waits}
        stream.waits.clear()
        if stream.last is not None:
            before.add(stream.last)
        if stream.default:
            before.update(s.last for s in self.of_device[stream.device] if s.blocking and s.last is not None)
        elif stream.blocking:
            legacy = self.default[stream.device]
            before.update(legacy.waits, () if legacy.last is None else (legacy.last,))
        queued = QueuedWork(do, stream.device, frozenset(w for w in before if not w.done), title)
        stream.last = queued
        self._queued[queued] = None
        while len(self._queued) > MOST and self._running is None:
            self._step()
        return queued

    def ends(self, streams: Iterable[Stream]) -> list[QueuedWork]:
        """Return the last work of these streams that is not done, and that of events that they wait for."""
        last = [w for s in streams for w in (s.last, *s.waits) if w is not None]
        return [w for w in last if not w.done]

    def finish(self, marks: Iterable[QueuedWork]) -> None:
        """Run queued work until all of `marks` is done; from within running work, do nothing.

        Work that fails with a CudaStatusError breaks its device, as `broken` says, and raises nothing here.

        Raises:
            KeyboardInterrupt: with what was stopped; what it writes is half written.
        """
        wanted = list(marks)
        while self._running is None and self._queued and any(not w.done for w in wanted):
            self._step()

    def _step(self) -> None:
        """Do the next piece of queued work: the oldest, or with a seed a random one that has to wait for nothing.

        Raises:
            KeyboardInterrupt: an interrupt has ended it.
        """
        work = next(iter(self._queued))
        if self._chance is not None:
            first = [w for _, w in zip(range(AHEAD), self._queued, strict=False)]
            work = self._chance.choice([w for w in first if w.ready])
        try:  # an interrupt may come anywhere: it ends this piece of work, and leaves the others as they are
            self._running = work
            del self._queued[work]
            if work.do is not None and work.device not in self.broken:
                work.do()
        except CudaStatusError as error:
            status = error.status if error.status in STICKY else "CUDA_ERROR_ILLEGAL_ADDRESS"
            self.broken[work.device] = CudaStatusError(status, f"{work.title}: {error.why}")
        except KeyboardInterrupt as stopped:
            stopped.args = stopped.args or (f"{work.title} was stopped; what it writes is half written.",)
            raise
        finally:
            self._running = None
            work.done = True
            work.after = frozenset()

    def record(self, event: Event, stream: Stream) -> None:
        """Record an event at the end of what a stream has queued now."""

        def now() -> None:
            event.moment = time.perf_counter()

        event.mark = self.put(stream, now, "an event")

    def number(self) -> int:
        """Return a random number by which a launch may order its blocks and warps; 0 without a seed."""
        return 0 if self._chance is None else self._chance.randrange(1, 1 << 31)

    def shuffled(self, candidates: list[Any]) -> Any:
        """Return a random one of the candidates; without a seed, the last one."""
        return candidates[-1] if self._chance is None else self._chance.choice(candidates)


def milliseconds(start: Event, end: Event) -> float:
    """Return the time between two events that are over.

    Raises:
        CudaStatusError: one keeps no time, or was never recorded; or is not over yet.
    """
    for event in (start, end):
        expect(
            event.timed and event.mark is not None,
            "an event that keeps no time, or was never recorded, has no time",
            "CUDA_ERROR_INVALID_HANDLE",
        )
    over = start.mark is not None and start.mark.done and end.mark is not None and end.mark.done
    expect(over, "an event is not over yet", "CUDA_ERROR_NOT_READY")
    return 1e3 * (end.moment - start.moment)
