"""Which code generator this is, as a digest of its own text.

A version number is forgotten when somebody changes a spelling rule; the text is not. So no artifact of an older or
half-edited generator is ever found again. The front end is left out: what it makes is the IR, which is in the key.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

from workbench.errors import CacheError

SOURCES = ("types.py", "ir", "builtins", "passes", "autodiff", "backends")
FRONT_END = (
    "frontend", "structs.py", "tiles.py", "source.py", "ranges.py", "host", "api/kernels", "api/builds",
    "api/lowerings", "api/narrow.py", "cache/key.py", "compat", "utils", "runtime/arrays",
)  # fmt: skip
"""What turns a kernel's text into IR, beside `SOURCES`."""
SETTLED = 2_000_000_000
"""Nanoseconds after which a change is past: the clocks of file systems tick in up to two seconds."""
REMEMBER: list[Callable[[bytes, Callable[[], bytes]], bytes]] = []
"""At most one: what gives bytes for what they are known by, and finds them the first time."""
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


def _digest(package: str, sources: tuple[str, ...]) -> tuple[str, int]:
    """As `digest_of`, but remembered where nothing says that a file has changed since.

    The files' own times could lie, since anybody may set them; the time of the last change of a file's state is the
    system's (not on Windows). What changed a moment ago may change again within the same tick of its clock.
    """
    if not REMEMBER or os.name != "posix":
        return digest_of(_PACKAGE, sources)
    try:
        found = _files(package, sources)
    except OSError:
        return digest_of(_PACKAGE, sources)
    changed = max((status.st_ctime_ns for status in found.values()), default=time.time_ns())
    if not 0 <= changed < time.time_ns() - SETTLED:
        return digest_of(_PACKAGE, sources)
    known_by = [package, [(p, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_dev) for p, s in found.items()]]

    def find() -> bytes:
        return "{} {}".format(*digest_of(_PACKAGE, sources)).encode()

    digest, newest = REMEMBER[0](repr(known_by).encode(), find).decode().split()
    return digest, int(newest)


def digest_of(package: Path, sources: tuple[str, ...] = SOURCES) -> tuple[str, int]:
    """Digest of the generator's files under `package`, and the time (ns) when the newest of them was changed.

    Args:
        package: a folder.
        sources: files and folders in it.

    Raises:
        CacheError: a file cannot be read, or there is none.
    """
    digest, newest, count, start = hashlib.sha256(), 0, 0, len(os.path.join(package, ""))
    try:
        for path in _files(str(package), sources):
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


def _files(package: str, sources: tuple[str, ...]) -> dict[str, os.stat_result]:
    """The files, in the order of their paths, with their states."""
    found: dict[str, os.stat_result] = {}
    folders = []
    for name in sources:
        path = os.path.join(package, name)
        if os.path.isdir(path):
            folders.append(path)
        elif os.path.isfile(path):
            found[path] = os.stat(path)
    for folder in folders:  # more are added on the way
        with os.scandir(folder) as items:
            for item in items:
                if item.is_dir(follow_symlinks=False):
                    folders += [item.path] if item.name != "__pycache__" else []
                elif item.is_file() and not item.name.startswith("."):
                    found[item.path] = item.stat()
    return dict(sorted(found.items()))
