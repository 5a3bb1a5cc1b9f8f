"""Which code generator this is, as a digest of its own text.

A version number is forgotten when somebody changes a spelling rule; the text is not. So no artifact of an older or
half-edited generator is ever found again. The front end is left out: what it makes is the IR, which is in the key.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from functools import lru_cache, partial
from pathlib import Path

from workbench.errors import CacheError

SOURCES = ("types.py", "ir", "builtins", "passes", "autodiff", "backends")
FRONT_END = (
    "frontend", "structs.py", "tiles.py", "source.py", "ranges.py", "host", "api/kernels", "api/builds",
    "api/lowerings", "api/narrow.py", "cache/key.py", "compat", "utils", "runtime/arrays",
)  # fmt: skip
"""What turns a kernel's text into IR, beside `SOURCES`."""
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
    digest, newest = digest_of(_PACKAGE, sources)
    edited = _IMPORTED < newest <= time.time_ns()  # a time still to come is a wrong clock, not an edit
    return f"{digest}-{os.urandom(8).hex()}" if edited else digest


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
        for path in _files(package, sources):
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


def _files(package: Path, sources: tuple[str, ...]) -> list[str]:
    found = []
    for name in sources:
        root = os.path.join(package, name)
        if os.path.isfile(root):
            found.append(root)
        for folder, inner, files in os.walk(root):
            inner[:] = [f for f in inner if f != "__pycache__"]
            found += [os.path.join(folder, f) for f in files if not f.startswith(".")]
    return sorted(found)
