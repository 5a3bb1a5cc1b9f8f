"""Module keys and the store of artifacts: bytes in, bytes out, never the wrong ones.

`workbench.cache.info()`, `.entries()`, `.clear()`, `.prune()`, `.remove(digest)`, `.export(path)`,
`.import_(path)` act on the store of this user.
"""

from __future__ import annotations

import os

from workbench.cache.disk import Imported
from workbench.cache.store import CacheInfo, EntryInfo, default_store


def info() -> CacheInfo:
    """Return the number of entries, their size and the counts of hits and misses of the default store."""
    return default_store().info()


def entries() -> list[EntryInfo]:
    """Return the artifacts of the default store, the last used first; nothing is loaded."""
    return default_store().entries()


def clear() -> int:
    """Remove all artifacts of the default store, in memory and on disk; return how many there were."""
    return default_store().clear()


def remove(digest: str) -> bool:
    """Remove one artifact from memory and disk; return whether there was one. Code that is loaded goes on running.

    Raises:
        CacheError: the digest is not 64 hex digits.
    """
    return default_store().remove(digest)


def prune(limit: int | None = None) -> int:
    """Remove the least recently used artifacts from disk until at most `limit` bytes are left; return their number.

    None: the limit that is set (`WORKBENCH_CACHE_LIMIT`).
    """
    return default_store().prune(limit)


def export(path: str | os.PathLike[str]) -> int:
    """Write all artifacts of the default store to one file, for `import_`; return their number.

    Raises:
        CacheError: the file cannot be written.
    """
    return default_store().export(path)


def import_(path: str | os.PathLike[str], trust: bool = False) -> Imported:
    """Take artifacts from an exported file into the default store; return the counts of those taken and left out.

    They are machine code, so none is taken unless `trust=True`.

    Raises:
        CacheError: the file cannot be read, or is no export.
    """
    return default_store().import_(path, trust)


__all__ = ["CacheInfo", "EntryInfo", "Imported", "clear", "entries", "export", "import_", "info", "prune", "remove"]


def __dir__() -> list[str]:
    """Return the public names alone."""
    return __all__
