"""Keeping a cache folder under its limit: least recently used first.

To sum up a folder costs milliseconds, so it is done at most once an hour by all processes together (the file `total`
remembers time and sum), or when what this process has written since then would pass the limit.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from workbench.cache.folder.disk import Disk, File

LEFT_OVER = 3600.0  # seconds after which a temporary file or a lock has no owner any more
KEEP_DAMAGED = 20
LOW_MARK = 0.9


class Limit:
    """A size limit of a cache folder, with an estimate that says when to prune it.

    Attributes:
        bytes: the limit.
    """

    def __init__(self, bytes: int) -> None:
        self.bytes = bytes
        self._written = 0

    def after_write(self, disk: Disk, size: int) -> None:
        """Prune the folder where that is due after `size` bytes were written."""
        self._written += size
        known = _known_total(disk.folder / "total")
        if known is None or known + self._written > self.bytes:
            prune(disk, self.bytes, int(self.bytes * LOW_MARK))
            self._written = 0


def prune(disk: Disk, limit: int, goal: int | None = None) -> int:
    """Remove the entries used longest ago until the folder holds `goal` bytes, if it holds more than `limit`.

    Files of crashed processes and all but the newest damaged files are removed in any case; returns the number of
    entries removed.
    """
    if not disk.is_usable():
        return 0
    now = time.time()
    entries: list[File] = []
    for file in disk.files():
        if file.digest:
            entries.append(file)
        elif now - file.used > LEFT_OVER:
            _remove(file.path)
    for file in disk.damaged()[:-KEEP_DAMAGED]:
        _remove(file.path)
    total = sum(f.bytes for f in entries)
    removed = 0
    if total > limit:
        for file in sorted(entries, key=lambda f: f.used):
            if total <= (limit if goal is None else goal):
                break
            total -= file.bytes
            removed += _remove(file.path)
    _note_total(disk.folder / "total", total)
    return removed


def remove(disk: Disk, digest: str) -> bool:
    """Remove one entry; return whether there was one. What is not this user's is left alone."""
    return disk.is_usable() and _remove(disk.path(digest))


def clear(disk: Disk) -> int:
    """Remove entries, left-over and damaged files, and nothing else; return the number of entries removed."""
    now, removed = time.time(), 0
    for file in list(disk.files()):
        if file.digest or now - file.used > LEFT_OVER:  # a younger one is in use
            removed += _remove(file.path) and bool(file.digest)
    for file in disk.damaged():
        _remove(file.path)
    if disk.is_usable():
        _remove(disk.folder / "total")
    return removed


def _known_total(path: Path) -> int | None:
    try:
        if time.time() - os.stat(path).st_mtime > LEFT_OVER:
            return None
        return int(path.read_bytes())
    except (OSError, ValueError):
        return None


def _note_total(path: Path, total: int) -> None:
    with suppress(OSError):
        path.write_bytes(b"%d" % total)


def _remove(path: Path) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
