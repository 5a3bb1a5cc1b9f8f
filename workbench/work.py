"""Work in a thread of its own, that can be waited for and dropped.

A build calls compilers that cannot be stopped from outside: LLVM has no way, NVRTC asks now and then. So a build that a
reader may interrupt runs as `Work`; dropping it ends it at its next stage, and nothing waits until then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

from workbench.errors import must_be
from workbench.forks import after_fork, fork_safe_lock

T = TypeVar("T")

POLL = 0.1
"""Seconds after which a waiting thread looks again: between two looks it sees signals on every system."""
STACK = 64 << 20
"""Bytes of a worker's stack: what the main thread of a large program has, for cells that nest deeply."""

_running: dict[int, Work[Any]] = {}
_guard = fork_safe_lock(__name__, "_guard")


class Dropped(BaseException):
    """Raised inside work that is no longer needed; never seen outside of it."""


class Work(Generic[T]):
    """Represents a call that runs in a daemon thread, in a copy of the caller's context.

    Attributes:
        name: what people call it.
        ahead: whether nobody waits for it yet, so that other work goes first.
        done: whether it is over, and how it ended is known.
        dropped: whether it was dropped.
    """

    def __init__(
        self,
        call: Callable[..., T],
        *args: Any,
        name: str = "",
        after: Callable[[], None] | None = None,
        ahead: bool = False,
    ) -> None:
        """Begin `call(*args)` in a new thread.

        Args:
            call: what to do.
            args: its arguments.
            name: what people call it.
            after: called in the thread when all is over, however it ended.
            ahead: whether nobody waits for it yet, so that other work goes first.
        """
        self.name = name
        self.ahead = ahead
        self.dropped = False
        self._over = threading.Event()
        self._result: Any = None
        self._problem: BaseException | None = None
        context = copy_context()
        run = threading.Thread(target=context.run, args=(self._run, call, args, after), name="workbench", daemon=True)
        with _guard:
            _running[id(self)] = self
            before = threading.stack_size(STACK)
            try:
                run.start()
            except RuntimeError:  # there is no room for another thread
                del _running[id(self)]
                raise
            finally:
                threading.stack_size(before)

    @staticmethod
    def running() -> list[Work[Any]]:
        """Return all work that is not over, the oldest first; without the work of the calling thread."""
        with _guard:
            return [work for work in _running.values() if not work.done and work is not current()]

    @staticmethod
    def leave_all() -> None:
        """End, in a forked child, all work of other threads as dropped: it goes on in the parent alone."""
        for work in [each for each in _running.values() if each is not _HERE.get()]:
            work._problem, work._over, work.dropped = Dropped(), threading.Event(), True
            work._over.set()
            del _running[id(work)]

    @property
    def done(self) -> bool:
        """Return whether the work has ended."""
        return self._over.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the work is over, at most `seconds` (None: without limit); return whether it is over."""
        if seconds is not None:
            return self._over.wait(seconds)
        while not self._over.wait(POLL):
            pass
        return True

    def result(self) -> T:
        """Wait until the work is over, and return the call's result or raise its exception.

        Raises:
            RuntimeError: it was dropped, and ended before the call did.
        """
        self.wait()
        if isinstance(self._problem, Dropped):
            raise RuntimeError(f"{self.name or 'this work'} was dropped before its end")
        if self._problem is not None:
            raise self._problem
        return self._result

    def drop(self) -> None:
        """Ask the work to end at its next stage; what it makes until then is for the cache alone."""
        self.dropped = True

    def _run(self, call: Callable[..., T], args: tuple[Any, ...], after: Callable[[], None] | None) -> None:
        """Make the call in this thread, store its result or exception, mark the work as over, and then call `after`."""
        _HERE.set(self)
        try:
            self._result = call(*args)
        except BaseException as problem:
            self._problem = problem
        self._over.set()
        with _guard:
            _running.pop(id(self), None)
        if after is not None:
            after()

    def __repr__(self) -> str:
        state = "dropped" if self.dropped else "over" if self.done else "going on"
        return f"<Work {self.name}: {state}>"


_HERE: ContextVar[Work[Any] | None] = ContextVar("workbench work", default=None)


def current() -> Work[Any] | None:
    """Return the work that this thread runs; None if it runs none."""
    return _HERE.get()


def go_on() -> None:
    """Raise `Dropped` if this thread's work was dropped; called between the stages of a build.

    Raises:
        Dropped: the work of this thread is no longer needed.
    """
    here = _HERE.get()
    if here is not None and here.dropped:
        raise Dropped


def wait(works: Iterable[Work[Any]] | None = None) -> int:
    """Wait until builds in the background are over.

    An interrupt ends the waiting and not the builds.

    Args:
        works: the work to wait for; None: all that runs now.

    Returns:
        How many of them were not over yet.
    """
    must_be(works, (Iterable, type(None)), "wait() takes a list of what runs in the background", advice="Write [work].")
    count = 0
    for each in Work.running() if works is None else works:
        must_be(each, Work, "wait() waits for what runs in the background")
        count += not each.done
        each.wait()
    return count


after_fork(Work.leave_all)
