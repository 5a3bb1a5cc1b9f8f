"""The identity of the code generator: a digest of its own source files.

A version number is forgotten when somebody changes a spelling rule; the text is not. So no artifact of an older or
half-edited generator is ever found again. The front end is left out: what it makes is the IR, which is in the key.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from operator import attrgetter
from pathlib import Path

import msgspec

from workbench.backends.cpu.machine import Memory
from workbench.errors import CacheError

SOURCES = ("types.py", "limits.py", "ir", "builtins", "passes", "autodiff", "backends")
FRONT_END = (
    "frontend", "structs.py", "tiles.py", "source.py", "ranges.py", "host", "api/kernels", "api/builds",
    "api/lowerings", "api/narrow.py", "cache/key.py", "compat", "utils", "runtime/arrays",
)  # fmt: skip
"""Files that turn a kernel's text into IR, besides `SOURCES`."""
SETTLED = 2_000_000_000
"""Nanoseconds after which a change is past: the clocks of file systems tick in up to two seconds."""
KEPT = "our sources"
"""The name of digests in lists of the cache."""
REMEMBER: list[Memory] = []
"""The store of digests, if there is one: empty, or one element."""
FILE_SYSTEMS = frozenset("bcachefs btrfs erofs ext2 ext3 ext4 f2fs overlay squashfs tmpfs xfs zfs".split())
"""File systems of Linux whose times of change are the system's own; FAT and sshfs give modification times."""
_MOUNTS = "/proc/self/mounts"
_PACKAGE = Path(__file__).resolve().parent.parent
_PREFIX = f"{__name__.partition('.')[0]}."
_IMPORTED = time.time_ns()
_IDENTITY = attrgetter("st_size", "st_ino", "st_ctime_ns", *(() if os.name == "posix" else ("st_mtime_ns",)))
_SEEN: dict[str, _Seen] = {}
"""By package: what it was when its digests were taken."""


@lru_cache(maxsize=1)
def generator_version() -> str:
    """Return sixteen hex digits of the digest of every file that turns IR into an artifact; read once per process.

    If one of those files was edited after this process imported the package, the text no longer says which code runs
    here: random digits are then added, so that the version holds for this process alone.

    Raises:
        CacheError: the sources cannot be read.
    """
    return _version(SOURCES)


@lru_cache(maxsize=1)
def front_end_version() -> str:
    """Return a text that identifies every file that turns a kernel's text into IR, and the Python that runs them.

    Raises:
        CacheError: the sources cannot be read.
    """
    return f"{generator_version()} {_version(FRONT_END)} {sys.version}"


def _version(sources: tuple[str, ...]) -> str:
    """Return the digest of the files of `sources`, which is `SOURCES` or `FRONT_END`.

    If one was edited since this module's import, random digits are added.
    """
    digest, newest = _digests(str(_PACKAGE))[sources is FRONT_END]
    edited = _IMPORTED < newest <= time.time_ns()  # a time still to come is a wrong clock, not an edit
    return f"{digest}-{os.urandom(8).hex()}" if edited else digest


def is_outdated() -> bool:
    """Return whether a module was imported from a file that had changed after the digest was taken; False if none was.

    Much is imported only by the first kernel that has to be compiled.
    """
    seen = _SEEN.get(str(_PACKAGE))
    return seen is not None and seen.is_outdated()


class _Seen:
    """A package's files and folders when their digests were taken, and which modules had been imported by then.

    `paths` are absolute or lead from `package`; `states` has the status of each.
    """

    def __init__(self, package: str, paths: Collection[str], states: Collection[os.stat_result]) -> None:
        self._package = package
        self._named = paths, states
        self._record = next((p for p in paths if p.startswith(os.pardir)), "")
        self._imported, self._count = set(sys.modules), len(sys.modules)
        self._outdated = False

    @cached_property
    def _states(self) -> dict[str, os.stat_result]:
        """The status of each file and folder, by path; a process that compiles nothing does not ask for it."""
        paths, states = self._named
        prefix = "" if os.path.isabs(next(iter(paths), "")) else os.path.join(self._package, "")
        return {prefix + path: state for path, state in zip(paths, states, strict=True)}

    def is_outdated(self) -> bool:
        """Return whether a module imported after the digests were taken came from a file changed since then.

        No module reads another kind of file but texts of native code, which are part of their own keys.
        """
        if len(sys.modules) == self._count:
            return self._outdated
        new, self._count = sys.modules.keys() - self._imported, len(sys.modules)
        self._imported |= new
        folder = os.path.join(self._package, "")
        stems = [folder + name[len(_PREFIX) :].replace(".", os.sep) for name in new if name.startswith(_PREFIX)]
        if stems and self._record:
            self._outdated = self._have_changed([os.path.join(self._package, self._record)])
        elif not self._outdated:
            files = [(stem, f"{stem}.py", f"{stem}{os.sep}__init__.py") for stem in stems]
            read = [path for _, *paths in files for path in paths if path in self._states]
            unread = [stem for stem, *paths in files if self._states.keys().isdisjoint(paths)]
            self._outdated = self._have_changed(read) or any([self._is_new(stem) for stem in unread])
        return self._outdated

    def _is_new(self, stem: str) -> bool:
        """Return whether the module at `stem`, a path without suffix, is a new file in a folder that was read."""
        return os.path.dirname(stem) in self._states and (os.path.exists(f"{stem}.py") or os.path.isdir(stem))

    def _have_changed(self, paths: Iterable[str]) -> bool:
        """Return whether some file's identity differs from the recorded one, or its status cannot be read."""
        try:
            return any([_IDENTITY(os.stat(path)) != _IDENTITY(self._states[path]) for path in paths])
        except OSError:
            return True


@lru_cache(maxsize=1)
def _digests(package: str) -> list[tuple[str, int]]:
    """Return the digests of the files that make code and of those that make IR, each with their latest change (ns).

    Digests are stored until a file or a folder changes. To ask whether one has takes a quarter of the time; of an
    installed wheel, its record alone is asked.
    Each change of a tree sets the time of change of something in it, which is the system's own (not on Windows), unlike
    the time of modification, which anybody may set. What changed a moment ago may change again within the same tick.
    """
    asked_at, memory = time.time_ns(), REMEMBER[0] if REMEMBER and os.name == "posix" else None
    known_by = b""
    if memory is not None:
        with suppress(OSError, msgspec.MsgspecError, ValueError, TypeError):
            at = os.stat(package)  # many machines may have the package there, and one cache
            known_by = repr((package, at.st_dev, at.st_ino, SOURCES, FRONT_END)).encode()
            # Of no type: to make a decoder of one takes 0.2 ms.
            paths, before, digests = msgspec.msgpack.decode(memory.get(KEPT, known_by))
            states = _states(package, paths)
            if list(_state(states)) == before:
                _SEEN[package] = _Seen(package, paths, states)
                return [(digest, newest) for digest, newest in digests]
    seen: dict[str, os.stat_result] = {}
    computed = [digest_of(package, sources, seen) for sources in (SOURCES, FRONT_END)]
    _SEEN[package], state = _Seen(package, seen.keys(), seen.values()), _state(seen.values())
    if memory is not None and 0 < state[-1] < asked_at - SETTLED and _has_change_times(package):
        paths = [path[len(package) + 1 :] for path in seen]
        if record := _wheel(package):
            paths = [record]  # what installs a wheel writes it anew
            state = _state(_states(package, paths))
        memory.put(KEPT, known_by, msgspec.msgpack.encode((paths, state, computed)))
    return computed


def _wheel(package: str) -> str:
    """Return the path, from the package, of the RECORD file of the wheel it was installed from.

    Empty if it was not installed from a wheel.
    """
    with suppress(OSError):
        around = os.path.dirname(package)
        for name in os.listdir(around):
            record = os.path.join(name, "RECORD")
            if name.startswith("kernel_workbench-") and os.path.isfile(os.path.join(around, record)):
                with open(os.path.join(around, record), encoding="utf-8") as lines:
                    listed = f"{os.path.basename(package)}/__init__.py,sha256="
                    return os.path.join(os.pardir, record) if any(x.startswith(listed) for x in lines) else ""
    return ""


def _states(package: str, paths: list[str]) -> list[os.stat_result]:
    """Return the status of files and folders in `package`. Each path is resolved from there, not from the root."""
    folder = os.open(package, os.O_RDONLY)
    try:
        return [os.stat(path, dir_fd=folder) for path in paths]
    finally:
        os.close(folder)


def _state(states: Collection[os.stat_result]) -> tuple[int, int, int, int]:
    """Return a fingerprint of files and folders: sums of sizes, inode numbers and change times, and the latest time.

    The last alone would not show an edit by a clock that was set back.
    """
    changed = _changed_ns(states)
    sums = sum([s.st_size for s in states]), sum([s.st_ino for s in states]), sum(changed) % (1 << 63)
    return *sums, max(changed, default=0)


def _changed_ns(states: Collection[os.stat_result]) -> list[int]:
    """Return the times at which files changed (ns), by a clock that users cannot set; Windows has no such clock."""
    if os.name == "posix":
        return [s.st_ctime_ns for s in states]
    return [max(s.st_mtime_ns, s.st_ctime_ns) for s in states]


def _has_change_times(package: str) -> bool:
    """Return whether the folder's file system is known to keep change times that users cannot set."""
    if sys.platform != "linux":
        return True
    kinds, inside = {"": ""}, os.path.join(package, "")
    with suppress(OSError, ValueError), open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as mounts:
        for line in mounts:
            _, point, kind, _ = line.split(" ", 3)
            if "\\" in point:
                point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), point)
            if inside.startswith(f"{point.rstrip('/')}/"):
                kinds[point] = kind
    return kinds[max(kinds, key=len)] in FILE_SYSTEMS


def digest_of(
    package: str | Path, sources: tuple[str, ...] = SOURCES, states: dict[str, os.stat_result] | None = None
) -> tuple[str, int]:
    """Return the digest of the generator's files under `package`, and the time (ns) of the last change of one.

    Args:
        package: a folder.
        sources: files and folders in it.
        states: receives the status of all files and folders that were read, by path.

    Raises:
        CacheError: a file cannot be read, or there is none.
    """
    digest, start, read = hashlib.sha256(), len(os.path.join(package, "")), dict[str, os.stat_result]()
    states = {} if states is None else states
    try:
        for path in _files(str(package), sources, states):
            # For 440 files a file object each would take half of the time.
            file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            try:
                read[path] = os.fstat(file)
                content = b"".join(iter(partial(os.read, file, read[path].st_size + 1), b""))
            finally:
                os.close(file)
            name = path[start:].replace(os.sep, "/").encode()
            digest.update(b"%d %d\n%b%b" % (len(name), len(content), name, content))
    except OSError as error:
        raise CacheError(f"the code generator's source code cannot be read, so nothing can be keyed: {error}") from None
    if not read:
        raise CacheError(f"the code generator's source code is not in {package}, so nothing can be keyed")
    states.update(read)
    return digest.hexdigest()[:16], max(_changed_ns(read.values()))


def _files(package: str, sources: tuple[str, ...], states: dict[str, os.stat_result]) -> list[str]:
    """Return the files of `sources`, sorted; add the status of each of their folders to `states`."""
    paths: list[str] = []
    for name in sources:
        root = os.path.join(package, name)
        folders = [root] if os.path.isdir(root) else []
        paths += [root] if os.path.isfile(root) else []
        for folder in folders:  # which grows; `os.walk` would take four times as many calls
            states[folder] = os.stat(folder)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir():
                        folders += [entry.path] if entry.name != "__pycache__" and not entry.is_symlink() else []
                    elif not entry.name.startswith("."):
                        paths.append(entry.path)
    return sorted(paths)
