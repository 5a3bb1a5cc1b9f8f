"""Calls that other libraries make of our kernels, from threads of theirs: where recorders get them from.

Each source is notified when a recorder opens and hands over what it has when one closes. A source may come up while a
recorder is open: the first JAX call of a recorded cell, for instance.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from workbench.forks import fork_safe_lock
from workbench.runtime.work import Work


class Listener(Protocol):
    """A recorder, as sources of calls know it."""

    @property
    def keeps_inputs(self) -> bool:
        """Return whether the recorder wants copies of the calls' inputs."""
        ...

    def called(self, entries: Sequence[Work], lost: int) -> None:
        """Take the calls that ran while the recorder was open, and the number of calls that could not be noted."""
        ...


class Source(Protocol):
    """A library's calls of our kernels, which it notes for recorders."""

    def listen(self, on: bool, inputs: bool) -> None:
        """Note calls from now on (`on`), with copies of their inputs or without, or stop."""
        ...

    def drain(self) -> tuple[Sequence[Work], int]:
        """Return the calls noted since the last time, and the number of those that could not be noted."""
        ...


_lock = fork_safe_lock(__name__, "_lock", threading.RLock)
_sources: list[Source] = []
_open: list[Listener] = []


def add_source(source: Source) -> None:
    """Add a source of calls, for recorders that open later and for those that are open."""
    with _lock:
        _sources.append(source)
        _set()


def open_listener(listener: Listener) -> None:
    """Begin to pass calls of other libraries to a recorder."""
    with _lock:
        _hand_over()
        if listener not in _open:
            _open.append(listener)
        _set()


def close_listener(listener: Listener) -> None:
    """Pass a recorder the calls that were noted so far, and no more after that."""
    with _lock:
        _hand_over()
        if listener in _open:
            _open.remove(listener)
        _set()


def _hand_over() -> None:
    """Take the calls noted so far from all sources, and pass them to all open recorders; the lock must be held."""
    for source in _sources:
        entries, lost = source.drain()
        for listener in _open:
            listener.called(entries, lost)


def _set() -> None:
    """Tell all sources whether to note calls, and whether to copy their inputs; the lock must be held."""
    for source in _sources:
        source.listen(bool(_open), any(listener.keeps_inputs for listener in _open))
