"""Which code generator this is, as a digest of its own text.

A version number is forgotten when somebody changes a spelling rule; the text is not. So no artifact of an older or
half-edited generator is ever found again. The front end is left out: what it makes is the IR, which is in the key.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

import msgspec

from workbench.backends.cpu.machine import Memory
from workbench.errors import CacheError

SOURCES = ("types.py", "ir", "builtins", "passes", "autodiff", "backends")
FRONT_END = (
    "frontend", "structs.py", "tiles.py", "source.py", "ranges.py", "host", "api/kernels", "api/builds",
    "api/lowerings", "api/narrow.py", "cache/key.py", "compat", "utils", "runtime/arrays",
)  # fmt: skip
"""What turns a kernel's text into IR, beside `SOURCES`."""
SETTLED = 2_000_000_000
"""Nanoseconds after which a change is past: the clocks of file systems tick in up to two seconds."""
KEPT = "our sources"
"""What lists of the cache call a digest."""
REMEMBER: list[Memory] = []
"""At most one: where digests are kept."""
_PACKAGE = Path(__file__).resolve().parent.parent
_IMPORTED = time.time_ns()


@lru_cache(maxsize=1)
def generator_version() -> str:
    """Sixteen hex digits from the text of every file that turns IR into an artifact; read once per process.

    Where one of those files was edited after this process imported the package, the text no longer says which code
    runs here: the version then holds for this process alone.

    Raises:
        CacheError: the sources cannot be read.
    """
    return _version(SOURCES)


@lru_cache(maxsize=1)
def front_end_version() -> str:
    """The same for every file that turns a kernel's text into IR, and for the Python that runs them.

    Raises:
        CacheError: the sources cannot be read.
    """
    return f"{generator_version()} {_version(FRONT_END)} {sys.version}"


def _version(sources: tuple[str, ...]) -> str:
    digest, newest = _digest(str(_PACKAGE), sources)
    edited = _IMPORTED < newest <= time.time_ns()  # a time still to come is a wrong clock, not an edit
    return f"{digest}-{os.urandom(8).hex()}" if edited else digest


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """A digest, and all that must be as it was: paths of files and folders, and what `_state` says of them."""

    paths: list[str]
    state: tuple[int, int, int]
    digest: str
    newest: int


def _digest(package: str, sources: tuple[str, ...]) -> tuple[str, int]:
    """As `digest_of`, but remembered where no file or folder has changed since: to ask that takes a tenth of the time.

    Each change of a tree sets the time of change of something in it, which is the system's own (not on Windows), unlike
    the time of modification, which anybody may set. What changed a moment ago may change again within the same tick.
    """
    if not REMEMBER or os.name != "posix":
        return digest_of(package, sources)
    memory, known_by = REMEMBER[0], repr((package, sources)).encode()
    with suppress(OSError, msgspec.MsgspecError):
        kept = msgspec.msgpack.decode(memory.get(KEPT, known_by), type=_Kept)
        if _state(kept.paths) == kept.state:
            return kept.digest, kept.newest
    paths: list[str] = []
    with suppress(OSError):  # which the digest will say, too
        paths = [path for some in _files(package, sources) for path in some]
    begun, state = time.time_ns(), _state(paths)
    digest, newest = digest_of(package, sources)
    if paths and state[-1] < begun - SETTLED:
        memory.put(KEPT, known_by, msgspec.msgpack.encode(_Kept(paths, state, digest, newest)))
    return digest, newest


def _state(paths: list[str]) -> tuple[int, int, int]:
    """Of files and folders: sums of their sizes and of their numbers, and when the last of them changed (ns)."""
    states = list(map(os.stat, paths))
    return (
        sum(s.st_size for s in states),
        sum(s.st_ino for s in states),
        max([s.st_ctime_ns for s in states], default=0),
    )


def digest_of(package: str | Path, sources: tuple[str, ...] = SOURCES) -> tuple[str, int]:
    """Digest of the generator's files under `package`, and the time (ns) when the newest of them was changed.

    Args:
        package: a folder.
        sources: files and folders in it.

    Raises:
        CacheError: a file cannot be read, or there is none.
    """
    digest, newest, count, start = hashlib.sha256(), 0, 0, len(os.path.join(package, ""))
    try:
        for path in _files(str(package), sources)[0]:
            text, changed = _read(path)
            newest = max(newest, changed)
            name = path[start:].replace(os.sep, "/").encode()
            digest.update(b"%d %d\n%b%b" % (len(name), len(text), name, text))
            count += 1
    except OSError as error:
        raise CacheError(f"the code generator's source code cannot be read, so nothing can be keyed: {error}") from None
    if not count:
        raise CacheError(f"the code generator's source code is not in {package}, so nothing can be keyed")
    return digest.hexdigest()[:16], newest


def _read(path: str) -> tuple[bytes, int]:
    """A file's text and when it was changed (ns); for 440 files a file object each would take half of the time."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(file)
        return b"".join(iter(partial(os.read, file, status.st_size + 1), b"")), status.st_mtime_ns
    finally:
        os.close(file)


def _files(package: str, sources: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The files, in order, and their folders."""
    found, folders = [], []
    for name in sources:
        root = os.path.join(package, name)
        if os.path.isfile(root):
            found.append(root)
        for folder, inner, files in os.walk(root):
            inner[:] = [f for f in inner if f != "__pycache__"]
            folders.append(folder)
            found += [os.path.join(folder, f) for f in files if not f.startswith(".")]
    return sorted(found), folders
