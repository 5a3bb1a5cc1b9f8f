"""Who watches launches and changes of arrays: tapes, recorders and captures, each open in a `with`.

One ContextVar holds them all. With none open, a launch pays one test of an empty tuple.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from workbench.runtime.array import array
    from workbench.runtime.memory import Memory
    from workbench.runtime.record import LaunchRecord

Subject = TypeVar("Subject")
Rest = ParamSpec("Rest")


class Observer:
    """Sees what is run, in order, before it runs; each method does nothing until it is overridden.

    Attributes:
        takes: whether what it hears of is left to it: it does it itself, in another form or later. Observers opened
            before it then see what it does, and not what it heard.
    """

    takes = False

    def allocating(self, memory: Memory, filled: bool) -> None:
        """`memory` is new; its contents are undefined until they are written, unless it is `filled`."""

    def launching(self, record: LaunchRecord) -> None:
        """A launch is about to run."""

    def copying(self, target: array, source: array) -> None:
        """`target` is about to become a copy of `source`."""

    def adding(self, target: array, source: array) -> None:
        """`source` is about to be added to `target`."""

    def converting(self, source: array, dtype: object) -> None:
        """An array of another element type is about to be made of `source`."""

    def filling(self, target: array, value: float) -> None:
        """`target` is about to be filled with `value`."""

    def reading(self, source: array) -> None:
        """The elements of `source` are about to be read by Python."""

    def replaying(self, graph: Any) -> None:
        """A captured graph is about to run."""

    def measured(self, subject: object, before: Any, after: Any) -> None:
        """What was announced lies between these two events of its device's stream; told before `done`."""

    def stopped(self, record: LaunchRecord) -> None:
        """The launch that was announced last did not come to its end: an interrupt, say."""

    def done(self, subject: object, started: float, seconds: float) -> None:
        """What was announced is over: `subject` is the record, target or graph; `started` as `time.perf_counter`."""


OBSERVERS: ContextVar[tuple[Observer, ...]] = ContextVar("workbench observers", default=())


def tell(what: str, *facts: Any) -> bool:
    """Tell the observers, the one opened last first, what is about to happen; gives whether one of them takes it.

    Args:
        what: the method's name.
        facts: its arguments.
    """
    for observer in reversed(OBSERVERS.get()):
        getattr(observer, what)(*facts)
        if observer.takes:
            return True
    return False


def timed(work: Callable[Concatenate[Subject, Rest], None]) -> Callable[Concatenate[Subject, Rest], None]:
    """Decorator: tell the observers when `work` on its first argument began and how long it took."""

    @functools.wraps(work)
    def run(subject: Subject, *rest: Rest.args, **named: Rest.kwargs) -> None:
        observers = OBSERVERS.get()
        if not observers:
            return work(subject, *rest, **named)
        started = time.perf_counter()
        work(subject, *rest, **named)
        seconds = time.perf_counter() - started
        for observer in observers:
            observer.done(subject, started, seconds)

    return run


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Let `observer` see what runs inside."""
    token = OBSERVERS.set((*OBSERVERS.get(), observer))
    try:
        yield
    finally:
        OBSERVERS.reset(token)


@contextmanager
def observed_only_by(observer: Observer) -> Iterator[None]:
    """Let `observer` alone see what runs inside."""
    token = OBSERVERS.set((observer,))
    try:
        yield
    finally:
        OBSERVERS.reset(token)


@contextmanager
def without(observer: Observer) -> Iterator[None]:
    """Run what an observer does itself, a tape's backward pass say: all but it see it."""
    token = OBSERVERS.set(tuple(o for o in OBSERVERS.get() if o is not observer))
    try:
        yield
    finally:
        OBSERVERS.reset(token)


@contextmanager
def outside(observer: Observer) -> Iterator[None]:
    """Run what an observer does in the place of what it heard of: those opened before it see it."""
    open_ = OBSERVERS.get()
    token = OBSERVERS.set(open_[: open_.index(observer)])
    try:
        yield
    finally:
        OBSERVERS.reset(token)


@contextmanager
def unobserved() -> Iterator[None]:
    """Run what nobody is to see."""
    token = OBSERVERS.set(())
    try:
        yield
    finally:
        OBSERVERS.reset(token)
