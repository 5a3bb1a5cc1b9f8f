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
    """An observer, as far as notifications need it; `launching/observer.py` describes its methods."""

    @property
    def takes(self) -> bool:
        """Return whether the observer carries out itself what it is notified of, in another form or later."""
        ...

    @property
    def looks_inside(self) -> bool:
        """Return whether the observer sees the nodes of a graph rather than the graph."""
        ...

    @property
    def replays(self) -> bool:
        """Return whether the observer can run again what it was notified of."""
        ...

    @property
    def defers(self) -> bool:
        """Return whether the observer runs nothing before it ends, so that code may be built until then."""
        ...

    @property
    def differentiates(self) -> bool:
        """Return whether the observer is blind inside work that has a derivative rule of its own, as a tape is."""
        ...

    def launching(self, record: Any) -> Any:
        """Note that a launch is about to run; return the one to run in its place, if it is another one."""
        ...

    def branching(self, node: Any) -> Any:
        """Return what is to be captured in place of a branch or loop of a graph."""
        ...

    def measured(self, subject: Any, before: Any, after: Any) -> None:
        """Note that the work that was announced ran between two events of its device's stream."""
        ...

    def stopped(self, record: Any) -> None:
        """Note that the launch that was announced last did not come to its end."""
        ...

    def done(self, subject: Any, started: float, seconds: float) -> None:
        """Note that announced work is over: it began at `started`, by `time.perf_counter`, and took so many seconds."""
        ...


OBSERVERS: ContextVar[tuple[Listener, ...]] = ContextVar("workbench observers", default=())


def notify(what: str, *details: Any) -> bool:
    """Notify the observers of what is about to happen, the one opened last first; return whether one takes it over.

    Observers opened before one that takes it over are not notified.

    Args:
        what: the name of the observers' method to call.
        details: its arguments.
    """
    for observer in reversed(OBSERVERS.get()):
        getattr(observer, what)(*details)
        if observer.takes:
            return True
    return False


def timed(work: Callable[Concatenate[Subject, Rest], None]) -> Callable[Concatenate[Subject, Rest], None]:
    """Decorate a function so that observers are told when its work on the first argument began and how long it took."""

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
    """Stop `observer` from seeing what runs in this context; if it sees nothing, nothing happens.

    Observers may leave in any order: generators that open them end in any order.
    """
    open_ = OBSERVERS.get()
    last = bool(open_) and open_[-1] is observer
    OBSERVERS.set(open_[:-1] if last else tuple([o for o in open_ if o is not observer]))


@contextmanager
def observing(observer: Listener) -> Generator[None]:
    """Let `observer` see what runs inside the `with`, besides those that are open already."""
    enter(observer)
    try:
        yield
    finally:
        leave(observer)


@contextmanager
def observed_only_by(observer: Listener) -> Generator[None]:
    """Let `observer`, and no other one, see what runs inside the `with`."""
    token = OBSERVERS.set((observer,))
    try:
        yield
    finally:
        OBSERVERS.reset(token)


class without:
    """A context manager that hides what runs inside from one observer: its own work, such as a tape's backward pass.

    It is a class, since a tape enters one per launch and a generator costs twice as much.
    """

    __slots__ = ("_observer", "_token")

    def __init__(self, observer: Listener) -> None:
        """Prepare to hide work from `observer`; nothing changes until the `with` is entered."""
        self._observer = observer

    def __enter__(self) -> None:
        """Hide what follows in this context from the observer; nothing changes if none is open."""
        open_ = OBSERVERS.get()
        self._token = OBSERVERS.set(tuple([o for o in open_ if o is not self._observer])) if open_ else None

    def __exit__(self, *_: object) -> None:
        """Let those observers see again that were open before."""
        if self._token is not None:
            OBSERVERS.reset(self._token)


@contextmanager
def outside(observer: Listener) -> Generator[None]:
    """Hide what runs inside the `with` from an observer and from those opened after it.

    It is for work that an observer does in place of what it was notified of.
    """
    open_ = OBSERVERS.get()
    token = OBSERVERS.set(open_[: open_.index(observer)])
    try:
        yield
    finally:
        OBSERVERS.reset(token)


@contextmanager
def unobserved() -> Generator[None]:
    """Hide what runs inside the `with` from all observers."""
    token = OBSERVERS.set(())
    try:
        yield
    finally:
        OBSERVERS.reset(token)
