"""An artifact as the store holds it, as a file, and as a member of an archive: a cache that is given away.

**A file**:

    magic 8s · schema u32 · metadata length u32 · payload length u64 · built u64 (ns) · key 32s · checksum 32s
    metadata (JSON, UTF-8)
    payload (object file or cubin)

Big-endian. The checksum is SHA-256 over everything else in the file, header and metadata too: a flipped bit in the
entry symbol's name would be as wrong as one in the code. Nothing is unpickled.

**An archive** is a zip of such files, each checked again when it comes in. A class starts warm this way. What comes in
are artifacts, and loading one runs it: so nothing is taken unless the reader says that the file's maker is trusted. A
checksum shows damage, not intent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec

from workbench.cache.key import SCHEMA
from workbench.errors import CacheError

MAGIC = b"WBCACHE\x1a"
HEADER = struct.Struct(">8sIIQQ32s32s")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CHECKSUM = HEADER.size - 32


class Damaged(Exception):
    """The error of bytes that are not the entry they should be; the message says what is wrong with them."""


@dataclass(frozen=True)
class Entry:
    """An artifact in the store.

    Attributes:
        image: an object file or a cubin.
        metadata: JSON values (name, entry, backend, target, stages, …); not to be changed.
        where: where it was found: "memory", "disk", or empty if it was just compiled.
        built: seconds since 1970 when it was first stored; 0 before that.
    """

    image: bytes
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    where: str = field(default="", compare=False)
    built: float = field(default=0.0, compare=False)


def check_digest(digest: object) -> str:
    """Return `digest`, which must be a key's.

    Raises:
        CacheError: it is not 64 lower-case hex digits.
    """
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise CacheError(f"{digest!r} is not a key of the cache; it takes the 64 hex digits of Key.digest")
    return digest


def encode(digest: str, entry: Entry) -> bytes:
    """Return the bytes of an entry's file.

    Raises:
        CacheError: the metadata are not plain JSON values, or the digest is not 64 hex digits.
    """
    try:
        metadata = json.dumps(entry.metadata, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise CacheError(f"the metadata of an artifact must be plain JSON values: {error}") from None
    built = int(entry.built * 1e9) or time.time_ns()
    key = bytes.fromhex(check_digest(digest))
    head = HEADER.pack(MAGIC, SCHEMA, len(metadata), len(entry.image), built, key, bytes(32))[:_CHECKSUM]
    checksum = hashlib.sha256(head)
    checksum.update(metadata)
    checksum.update(entry.image)
    return b"".join((head, checksum.digest(), metadata, entry.image))


def decode(data: bytes, digest: str, where: str = "") -> Entry:
    """Decode the bytes that `encode` wrote under `digest`, and check every byte; `where` goes to the entry.

    Raises:
        Damaged: a byte is not what was written, or it was written under another key.
    """
    metadata_size, built = _header(data, digest)
    checksum = hashlib.sha256(memoryview(data)[:_CHECKSUM])
    checksum.update(memoryview(data)[HEADER.size :])
    if checksum.digest() != data[_CHECKSUM : HEADER.size]:
        raise Damaged("does not match its checksum")
    end = HEADER.size + metadata_size
    return Entry(data[end:], _metadata(data[HEADER.size : end]), where, built)


def decode_metadata(data: bytes, digest: str) -> tuple[dict[str, Any], float]:
    """Decode metadata and build time from the first bytes of a file, unchecked: for lists, not for loading.

    Raises:
        Damaged: they cannot be read.
    """
    if len(data) < HEADER.size:
        raise Damaged(f"is only {len(data)} bytes long")
    magic, schema, size, _, built, key, _ = HEADER.unpack_from(data)
    if magic != MAGIC or schema != SCHEMA or key.hex() != digest or len(data) < HEADER.size + size:
        raise Damaged("has a damaged header")
    return _metadata(data[HEADER.size : HEADER.size + size]), built / 1e9


def metadata_end(data: bytes) -> int:
    """Return the number of leading bytes of a file that `decode_metadata` needs; 0 if its header is truncated."""
    return HEADER.size + HEADER.unpack_from(data)[2] if len(data) >= HEADER.size else 0


def _header(data: bytes, digest: str) -> tuple[int, float]:
    """Return the length of the metadata in bytes and the build time in seconds since 1970, from a file's header.

    Raises:
        Damaged: the header or the length of `data` is not that of an entry under `digest`.
    """
    if len(data) < HEADER.size:
        raise Damaged(f"is only {len(data)} bytes long")
    magic, schema, metadata_size, payload_size, built, key, _ = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise Damaged("is not a file of this cache")
    if schema != SCHEMA:
        raise Damaged(f"has schema {schema} in place of {SCHEMA}")
    if key.hex() != digest:
        raise Damaged("belongs to another key")
    expected = HEADER.size + metadata_size + payload_size
    if len(data) != expected:
        raise Damaged(f"is {len(data)} bytes long in place of {expected}")
    return metadata_size, built / 1e9


def _metadata(data: bytes) -> dict[str, Any]:
    """Return the dict that these bytes hold as a JSON object; raise `Damaged` if they are none."""
    try:
        metadata: Any = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        raise Damaged("has metadata that are not JSON") from None
    if not isinstance(metadata, dict):
        raise Damaged("has metadata that are not a JSON object")
    return cast("dict[str, Any]", metadata)


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
