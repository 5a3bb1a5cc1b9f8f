"""Who watches launches and changes of arrays: tapes and recorders, each open in a `with`.

One ContextVar holds them all. With none open, a launch pays one test of an empty tuple.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.runtime.array import array
    from workbench.runtime.record import LaunchRecord


class Observer:
    """Sees what is run, in order, before it runs; each method does nothing until it is overridden.

    Attributes:
        sees_backward: whether it sees what a tape runs in `backward` and `zero`: a recorder does, a tape does not.
    """

    sees_backward = False

    def launching(self, record: LaunchRecord) -> None:
        """A launch is about to run."""

    def copying(self, target: array, source: array) -> None:
        """`target` is about to become a copy of `source`."""

    def adding(self, target: array, source: array) -> None:
        """`source` is about to be added to `target`."""

    def filling(self, target: array, value: float) -> None:
        """`target` is about to be filled with `value`."""

    def done(self, subject: object, started: float, seconds: float) -> None:
        """What was announced is over: `subject` is the record, target or graph; `started` as `time.perf_counter`."""


OBSERVERS: ContextVar[tuple[Observer, ...]] = ContextVar("workbench observers", default=())


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Let `observer` see what runs inside."""
    token = OBSERVERS.set((*OBSERVERS.get(), observer))
    try:
        yield
    finally:
        OBSERVERS.reset(token)


@contextmanager
def backwards() -> Iterator[None]:
    """Run what belongs to a backward pass: only observers that watch those see it."""
    token = OBSERVERS.set(tuple(o for o in OBSERVERS.get() if o.sees_backward))
    try:
        yield
    finally:
        OBSERVERS.reset(token)
