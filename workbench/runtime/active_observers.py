"""The observers that are open: tapes, recorders and captures, each in its `with` (`launching/observer.py`: their base).

One ContextVar holds them all. With none open, a launch pays one test of an empty tuple.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Subject = TypeVar("Subject")
Rest = ParamSpec("Rest")


class Listener(Protocol):
    """An observer, as far as it is notified: `launching/observer.py` has what it hears."""

    @property
    def takes(self) -> bool:
        """Return whether what it hears of is left to it."""
        ...

    @property
    def looks_inside(self) -> bool:
        """Return whether it sees the nodes of a graph rather than the graph."""
        ...

    @property
    def replays(self) -> bool:
        """Return whether it can run again what it hears of."""
        ...

    @property
    def defers(self) -> bool:
        """Return whether code need not be there before it ends."""
        ...

    @property
    def differentiates(self) -> bool:
        """Return whether it does not see inside what has a rule of its own."""
        ...

    def launching(self, record: Any) -> None:
        """Note that a launch is about to run."""
        ...

    def branching(self, node: Any) -> Any:
        """Return what is captured in the place of a branch or loop."""
        ...

    def measured(self, subject: Any, before: Any, after: Any) -> None:
        """Note that the announced launch lies between these two events."""
        ...

    def stopped(self, record: Any) -> None:
        """Note that the launch that was announced last did not come to its end."""
        ...

    def done(self, subject: Any, started: float, seconds: float) -> None:
        """Note that the announced launch is over."""
        ...


OBSERVERS: ContextVar[tuple[Listener, ...]] = ContextVar("workbench observers", default=())


def notify(what: str, *details: Any) -> bool:
    """Notify the observers, the one opened last first, what is about to happen; returns whether one of them takes it.

    Args:
        what: the method's name.
        details: its arguments.
    """
    for observer in reversed(OBSERVERS.get()):
        getattr(observer, what)(*details)
        if observer.takes:
            return True
    return False


def timed(work: Callable[Concatenate[Subject, Rest], None]) -> Callable[Concatenate[Subject, Rest], None]:
    """Decorator: notify the observers when `work` on its first argument began and how long it took."""

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


def enter(observer: Listener) -> None:
    """Let `observer` see what runs in this context until it leaves."""
    OBSERVERS.set((*OBSERVERS.get(), observer))


def leave(observer: Listener) -> None:
    """End that. Others stay, and those that have left stay away, in whatever order they come and go: generators do."""
    open_ = OBSERVERS.get()
    last = bool(open_) and open_[-1] is observer
    OBSERVERS.set(open_[:-1] if last else tuple([o for o in open_ if o is not observer]))


@contextmanager
def observing(observer: Listener) -> Generator[None]:
    """Let `observer` see what runs inside."""
    enter(observer)
    try:
        yield
    finally:
        leave(observer)


@contextmanager
def observed_only_by(observer: Listener) -> Generator[None]:
    """Let `observer` alone see what runs inside."""
    token = OBSERVERS.set((observer,))
    try:
        yield
    finally:
        OBSERVERS.reset(token)


class without:
    """Run what an observer does itself, a tape's backward pass say: all but it see it.

    A class, since a tape enters one per launch and a generator costs twice as much.
    """

    __slots__ = ("_observer", "_token")

    def __init__(self, observer: Listener) -> None:
        """Nothing changes until the `with` is entered."""
        self._observer = observer

    def __enter__(self) -> None:
        open_ = OBSERVERS.get()
        self._token = OBSERVERS.set(tuple([o for o in open_ if o is not self._observer])) if open_ else None

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            OBSERVERS.reset(self._token)


@contextmanager
def outside(observer: Listener) -> Generator[None]:
    """Run what an observer does in the place of what it heard of: those opened before it see it."""
    open_ = OBSERVERS.get()
    token = OBSERVERS.set(open_[: open_.index(observer)])
    try:
        yield
    finally:
        OBSERVERS.reset(token)


@contextmanager
def unobserved() -> Generator[None]:
    """Run what is not to be observed."""
    token = OBSERVERS.set(())
    try:
        yield
    finally:
        OBSERVERS.reset(token)
