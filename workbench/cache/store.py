"""The store of artifacts: memory first, then this user's folder, then a read-only one.

Bytes in, bytes out. What comes out was put in under that very key, or nothing comes out; the state of the disk never
stops the work, it is only reported (`events.CacheProblem`).

Locks admit at most one builder per key: other threads and processes wait for its artifact. A lock only saves work:
entries are written whole or not at all, so a builder that cannot have it (a timeout, no such folder, a file system
without locks) builds the artifact as well. The system releases the lock of a process that ends.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from workbench import events
from workbench.cache.disk import (
    HEADER,
    Damaged,
    Disk,
    Entry,
    Imported,
    Limit,
    check_digest,
    clear,
    decode,
    decode_metadata,
    encode,
    metadata_end,
    own,
    own_or_root,
    prune,
    read_archive,
    remove,
    write_archive,
)
from workbench.cache.key import is_outdated
from workbench.config import settings
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


_FACTS = 4096


class Memory:
    """The artifacts of this process, at most `limit` bytes, least recently used first out; safe for threads."""

    def __init__(self, limit: int = 2 << 20) -> None:
        self.limit = limit
        self.bytes = 0
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._lock = Lock()

    def get(self, digest: str) -> Entry | None:
        """Return the entry, which becomes the last used one; None if there is none."""
        with self._lock:
            entry = self._entries.get(digest)
            if entry is not None:
                self._entries.move_to_end(digest)
            return entry

    def put(self, digest: str, entry: Entry) -> None:
        """Store an entry; the newest one stays even if it is larger than the limit."""
        with self._lock:
            old = self._entries.pop(digest, None)
            self._entries[digest] = entry
            self.bytes += _weight(entry) - (_weight(old) if old else 0)
            while self.bytes > self.limit and len(self._entries) > 1:
                self.bytes -= _weight(self._entries.popitem(last=False)[1])

    def remove(self, digest: str) -> bool:
        """Remove an entry; return whether there was one."""
        with self._lock:
            entry = self._entries.pop(digest, None)
            self.bytes -= _weight(entry) if entry else 0
            return entry is not None

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._entries.clear()
            self.bytes = 0

    def items(self) -> list[tuple[str, Entry]]:
        """Return digests and entries, the least recently used first."""
        with self._lock:
            return list(self._entries.items())


def _weight(entry: Entry) -> int:
    """Return the estimated bytes of an entry with its metadata."""
    return len(entry.image) + _FACTS


LOCK_TIMEOUT = 30.0


@dataclass(frozen=True)
class CacheInfo:
    """The state of a store.

    Attributes:
        modules: artifacts and lowerings on disk, and those that memory alone holds.
        bytes: their size; on disk with headers.
        hits_memory, hits_disk, misses: answers of this process's `get`.
        path: the folder.
        problem: why the folder could not be used the last time; empty while it can.
    """

    modules: int
    bytes: int
    hits_memory: int
    hits_disk: int
    misses: int
    path: str
    problem: str = ""


@dataclass(frozen=True)
class EntryInfo:
    """A row of a list of artifacts: `built` and `used` are in seconds since 1970, `where` is "disk" or "memory"."""

    digest: str
    name: str
    backend: str
    target: str
    bytes: int
    built: float
    used: float
    where: str
    metadata: dict[str, Any]


class Store:
    """The store of artifacts by digest (`Key.digest`), for many threads and processes at once.

    Args:
        root: the folder; created when it is first needed.
        readonly: a second folder that is only read, or None.
        limit: bytes the folder may hold.
    """

    def __init__(self, root: Path, readonly: Path | None = None, limit: int = 1 << 30) -> None:
        self.memory = Memory()
        self.disk = Disk(Path(root), own(), self._report)
        self.readonly = Disk(Path(readonly), own_or_root(), self._report, writable=False) if readonly else None
        self._limit = Limit(limit)
        self._locks = Locks()
        self._guard = Lock()
        self._warned: set[tuple[Path, str]] = set()
        self._hits = {"memory": 0, "disk": 0, "": 0}

    def get(self, digest: str, *, recheck: bool = False, counted: bool = True) -> Entry | None:
        """Return the artifact, checked, with `where` it was found; None if there is none fit to be used.

        Args:
            digest: `Key.digest`.
            recheck: a second look under the lock, whose miss is not counted once more.
            counted: whether it is one of the hits or misses; not what only helps to find an artifact.

        Raises:
            CacheError: the digest is not 64 hex digits.
        """
        entry = self.memory.get(digest)
        if entry is None:
            entry = self._from_disk(check_digest(digest))
        if counted and (entry is not None or not recheck):
            with self._guard:
                self._hits[entry.where if entry else ""] += 1
        return entry

    def put(self, digest: str, entry: Entry) -> None:
        """Store an artifact, in memory and, if the disk accepts it, for other processes.

        It is in memory alone if this process no longer runs the code that its digests describe (see `is_outdated`).

        Raises:
            CacheError: the digest is not 64 hex digits, or the metadata are not JSON values.
        """
        data = encode(digest, entry)
        self._remember(digest, decode(data, digest))
        if not is_outdated() and self.disk.write(digest, data):
            self._limit.after_write(self.disk, len(data))

    def lock(self, digest: str, timeout: float = LOCK_TIMEOUT) -> AbstractContextManager[bool]:
        """Let one builder at a time, of all threads and processes, work on a key: `with store.lock(digest):`.

        The value is True if the lock was acquired; after `timeout` seconds the work goes on without it. Look again
        (`get(digest, recheck=True)`) inside: another builder may have been first.
        """
        return self._locks.hold(check_digest(digest), self.disk.lock_path(digest), timeout)

    def prune(self, limit: int | None = None) -> int:
        """Remove the least recently used artifacts from disk until at most `limit` bytes are left; return their number.

        None: the store's own limit.
        """
        return prune(self.disk, self._limit.bytes if limit is None else limit)

    def remove(self, digest: str) -> bool:
        """Remove one artifact from memory and this user's folder; return whether there was one.

        Raises:
            CacheError: the digest is not 64 hex digits.
        """
        known = self.memory.remove(check_digest(digest))
        return remove(self.disk, digest) or known

    def clear(self) -> int:
        """Remove all artifacts, in memory and in this user's folder; return how many there were."""
        count = len(self._everything())
        self.memory.clear()
        clear(self.disk)
        return count

    def info(self) -> CacheInfo:
        """Return the number of entries, their size in bytes, and the counts of hits and misses."""
        sizes = self._everything()
        with self._guard:
            hits = dict(self._hits)
        return CacheInfo(
            len(sizes), sum(sizes.values()), hits["memory"], hits["disk"], hits[""], str(self.disk.folder.parent),
            self.disk.problem or (self.readonly.problem if self.readonly else ""),
        )  # fmt: skip

    def entries(self) -> list[EntryInfo]:
        """Return a row for every artifact, the last used first. Only headers are read."""
        listed = [e for f in self.disk.files() if f.digest and (e := _listed(f.path, f.digest, f.bytes, f.used))]
        digests = {e.digest for e in listed}
        listed += [
            _entry_info(digest, entry.metadata, len(entry.image), entry.built, entry.built, "memory")
            for digest, entry in self.memory.items()
            if digest not in digests
        ]
        return sorted(listed, key=lambda e: (-e.used, e.digest))

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write every artifact to one file for `import_`; return their number.

        Raises:
            CacheError: the file cannot be written.
        """
        digests = sorted(self._everything())
        memory = dict(self.memory.items())
        pairs = ((d, self.disk.read(d) or memory.get(d)) for d in digests)
        return write_archive(Path(path), ((d, e) for d, e in pairs if e is not None))

    def import_(self, path: str | os.PathLike[str], trust: bool = False) -> Imported:
        """Take in the artifacts of an exported file; return the counts of those taken and left out.

        Args:
            path: what `export` wrote.
            trust: loading an artifact runs it with your rights. Without trust nothing is taken, and a
                `Notice` says so: the kernels are then compiled here, from your own cells.

        Raises:
            CacheError: the file cannot be read or is no archive.
        """
        taken = ignored = damaged = 0
        for digest, entry in read_archive(Path(path), self._limit.bytes, load=trust):
            if entry is not None:
                self.put(digest, entry)
                taken += 1
            elif trust and digest:
                damaged += 1
            else:
                ignored += 1
        message = _left_out(path, trust, ignored, damaged)
        if message:
            events.publish(events.Notice(message))
        return Imported(taken, ignored, damaged, message)

    def _from_disk(self, digest: str) -> Entry | None:
        """Return the entry from this user's folder or the read-only one, and put it into memory; None without one."""
        for disk in (self.disk, self.readonly):
            entry = disk.read(digest) if disk else None
            if entry is not None:
                self._remember(digest, entry)
                return entry
        return None

    def _remember(self, digest: str, entry: Entry) -> None:
        """Put an entry into memory, marked as from there."""
        self.memory.put(digest, Entry(entry.image, entry.metadata, "memory", entry.built))

    def _everything(self) -> dict[str, int]:
        """Return the size of each artifact in the folder or in memory, by digest."""
        sizes = {digest: len(entry.image) for digest, entry in self.memory.items()}
        return sizes | {f.digest: f.bytes for f in self.disk.files() if f.digest}

    def _report(self, path: Path, message: str, once: bool) -> None:
        """Publish an event about a problem with `path`; with `once`, only the first time in this store."""
        with self._guard:
            if once and (path, message) in self._warned:
                return
            self._warned.add((path, message))
        events.publish(events.CacheProblem(str(path), message))


def default_store() -> Store:
    """Return the store of the current settings; it is another one when they change, and in a forked process."""
    return _store(os.getpid(), *map(os.environ.get, _NAMES))


_NAMES = ("WORKBENCH_CACHE", "WORKBENCH_CACHE_READONLY", "WORKBENCH_CACHE_LIMIT", "XDG_CACHE_HOME", "HOME")


@lru_cache(maxsize=1)
def _store(*_: object) -> Store:
    """Return the process's store for this environment: a forked child must not inherit a held lock."""
    now = settings()
    return Store(now.cache_dir, now.cache_readonly, now.cache_limit)


def _listed(path: Path, digest: str, size: int, used: float) -> EntryInfo | None:
    """Return the row of an entry's file, read from its header and metadata; None if it is unreadable or damaged."""
    try:
        with open(path, "rb") as file:
            data = file.read(HEADER.size)
            data += file.read(min(metadata_end(data), size))
        metadata, built = decode_metadata(data, digest)
    except (OSError, Damaged):
        return None
    return _entry_info(digest, metadata, size, built, used, "disk")


def _entry_info(digest: str, metadata: dict[str, Any], size: int, built: float, used: float, where: str) -> EntryInfo:
    """Return the row of an artifact, with name, backend and target from its metadata, empty where those lack them."""
    name, backend, target = (str(metadata.get(k, "")) for k in ("name", "backend", "target"))
    return EntryInfo(digest, name, backend, target, size, built, used, where, metadata)


def _left_out(path: str | os.PathLike[str], trust: bool, ignored: int, damaged: int) -> str:
    """Return the warning about artifacts that an import skipped, with the counts of each sort; may be empty."""
    if not trust and ignored:
        return (
            f"{os.fspath(path)} holds {ignored} compiled artifacts; none was imported, because loading one runs its "
            "author's code. If you trust the author, import with trust=True; otherwise the kernels are compiled here."
        )
    if ignored or damaged:
        return f"{os.fspath(path)}: left out {damaged} damaged artifacts and {ignored} of another version."
    return ""
