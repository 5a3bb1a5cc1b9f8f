"""A cache as one file to give away: a zip of entry files, each checked again when it comes in.

A class starts warm this way. What comes in are artifacts, and loading one runs it: so nothing is taken unless the
reader says that the file's maker is trusted. A checksum shows damage, not intent.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from workbench.cache.folder.entry import Damaged, Entry, decode, encode
from workbench.cache.key import SCHEMA
from workbench.errors import CacheError

_MEMBER = re.compile(rf"v{SCHEMA}/([0-9a-f]{{64}})")


class Imported(msgspec.Struct, frozen=True):
    """The outcome of importing an archive.

    Attributes:
        taken: entries now in the cache.
        ignored: members left out: not trusted, or not of this cache's schema.
        damaged: members that are not what they should be.
        message: one sentence about what was left out; empty where all were taken.
    """

    taken: int
    ignored: int
    damaged: int
    message: str = ""


def write_archive(path: Path, entries: Iterable[tuple[str, Entry]]) -> int:
    """Write the entries to `path`, whole or not at all; return how many there were.

    Raises:
        CacheError: the file cannot be written.
    """
    import zipfile

    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    count = 0
    try:
        with zipfile.ZipFile(temporary, "x", zipfile.ZIP_DEFLATED) as archive:
            for digest, entry in entries:
                member = zipfile.ZipInfo(f"v{SCHEMA}/{digest}")
                archive.writestr(member, encode(digest, entry), zipfile.ZIP_DEFLATED)
                count += 1
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise CacheError(f"the cache cannot be exported to {path}: {error.strerror or error}") from None
    return count


def read_archive(path: Path, limit: int, load: bool) -> Iterator[tuple[str, Entry | None]]:
    """Yield the digest and entry of each member of an archive.

    The digest is empty for a member that is not of this cache's schema, or larger than `limit` bytes; the entry is None
    for one that is damaged. Without `load` no member is opened, and all entries are None.

    Raises:
        CacheError: the file cannot be read or is no archive.
    """
    import zipfile

    broken = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                name = _MEMBER.fullmatch(member.filename)
                if name is None or member.file_size > limit:
                    yield "", None
                    continue
                entry = None
                if load:
                    with suppress(Damaged, *broken):
                        entry = decode(archive.read(member), name[1])
                yield name[1], entry
    except OSError as error:
        raise CacheError(f"the cache cannot be imported from {path}: {error.strerror or error}") from None
    except broken as error:
        raise CacheError(f"{path} is not an exported cache: {error}") from None
