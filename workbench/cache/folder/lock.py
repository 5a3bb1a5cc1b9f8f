"""Locks that admit at most one builder per key: other threads and processes wait for it.

A lock saves work, nothing more: entries are written whole or not at all, so whoever cannot have it (time over, no
such folder, a file system without locks) builds the artifact as well. A dead holder's lock is gone with its process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from workbench.forks import after_fork

try:
    import fcntl
except ImportError:  # Windows: threads are kept apart, processes build twice
    fcntl = None

_LONGEST_NAP = 0.02
_held: set[int] = set()
"""Descriptors of the files that are locked now."""


class Locks:
    """The locks of one store, by digest: among a process's threads and, by a locked file, processes."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._threads: dict[str, tuple[Lock, int]] = {}

    @contextmanager
    def hold(self, digest: str, path: Path | None, timeout: float) -> Generator[bool]:
        """Hold the lock of `digest` inside the `with`; its value is False if that took longer than `timeout`.

        The body runs in any case, then without the lock.

        Args:
            digest: what threads of this process wait for.
            path: the file that processes lock; None for threads alone.
            timeout: seconds to wait at most.
        """
        deadline = time.monotonic() + timeout
        lock = self._enter(digest)
        try:
            if not lock.acquire(timeout=max(0.0, timeout)):
                yield False
                return
            try:
                with _file_lock(path, deadline) as held:
                    yield held
            finally:
                lock.release()
        finally:
            self._leave(digest)

    def _enter(self, digest: str) -> Lock:
        """Return the threads' lock of `digest`, and count one more user of it."""
        with self._guard:
            lock, users = self._threads.get(digest) or (Lock(), 0)
            self._threads[digest] = lock, users + 1
            return lock

    def _leave(self, digest: str) -> None:
        """Count one user less of the lock of `digest`, which is dropped with the last."""
        with self._guard:
            lock, users = self._threads.pop(digest)
            if users > 1:
                self._threads[digest] = lock, users - 1


@contextmanager
def _file_lock(path: Path | None, deadline: float) -> Generator[bool]:
    """Hold the lock file; yield False if another process holds it until the deadline, else True.

    It is True, too, where files cannot be locked.
    """
    fd, held = None, True
    if path is not None and fcntl is not None:
        with suppress(OSError):
            fd = _acquire(path, deadline)
            held = fd is not None
            if fd is not None:
                _held.add(fd)
    try:
        yield held
    finally:
        if fd in _held and path is not None:  # not so in a child that was forked meanwhile
            _held.discard(fd)
            with suppress(OSError):
                os.unlink(path)  # while it is held: a waiter sees that its file has gone and starts again
            os.close(fd)


def _acquire(path: Path, deadline: float) -> int | None:
    """Return a descriptor that holds the lock, or None if the deadline came first."""
    nap = 0.001
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if _locked(fd) and _is_still_at(fd, path):
                fd, held = -1, fd
                return held
        finally:
            if fd >= 0:
                os.close(fd)
        if time.monotonic() >= deadline:
            return None
        time.sleep(nap)
        nap = min(2 * nap, _LONGEST_NAP)


def _locked(fd: int) -> bool:
    """Lock the file without waiting; return False if another descriptor holds its lock."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[union-attr]
    except BlockingIOError:
        return False
    return True


def _is_still_at(fd: int, path: Path) -> bool:
    """Return whether `path` is still the locked file; an earlier holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _let_go() -> None:
    """Close the parent's locks in a forked child, whose copies of the descriptors would keep them."""
    for fd in _held:
        with suppress(OSError):
            os.close(fd)
    _held.clear()


after_fork(_let_go)
