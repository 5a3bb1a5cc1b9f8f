"""The container of a saved record: named members in one file, each with its checksum.

It is a zip file without compression, so that other tools can look inside and no small file can unpack to a large one.
A directory member lists all others with size and SHA-256; its own checksum comes first. A file with an extra or
missing member, or a changed byte, is refused. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench.errors import RecordError
from workbench.host.narrow import is_mapping

FORMAT, VERSION = "workbench record", 2
_DIRECTORY, _SEAL = "record.json", "seal"
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError,
    OverflowError, IndexError, KeyError,
)  # fmt: skip
_EPOCH = (1980, 1, 1, 0, 0, 0)


def record_error(reason: str) -> RecordError:
    """Return the error for a file that is no sound record."""
    return RecordError(f"This file is not a usable record: {reason}.")


def pack(content: Mapping[str, Any], members: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a file with this content.

    Args:
        content: JSON values.
        members: the bytes of each member, by name.
    """
    listed = {name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in members.items()}
    header = {"format": FORMAT, "version": VERSION, "members": listed, "content": content}
    directory = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_SEAL, _EPOCH), hashlib.sha256(directory).hexdigest().encode())
        archive.writestr(zipfile.ZipInfo(_DIRECTORY, _EPOCH), directory)
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
    return buffer.getvalue()


def unpack(data: bytes) -> tuple[Any, dict[str, bytes]]:
    """Return content and members of a file that `pack` made.

    Raises:
        RecordError: it is not one, or a byte is not what was written.
    """
    if not data.startswith(b"PK"):
        raise record_error("it is a file of another kind" if data else "it is empty")
    try:
        members = _members(data)
    except _BROKEN as error:
        raise record_error(f"it is damaged or was cut short ({error})") from None
    directory = members.pop(_DIRECTORY, None)
    seal = members.pop(_SEAL, None)
    if directory is None or seal is None:
        raise record_error("it was not made by Workbench")
    if hashlib.sha256(directory).hexdigest().encode() != seal:
        raise record_error("its directory does not match its checksum")
    header = read_json(directory)
    if not is_mapping(header) or header.get("format") != FORMAT:
        raise record_error("it was not made by Workbench")
    if header.get("version") != VERSION:
        raise record_error(
            f"it is of version {str(header.get('version'))[:20]}, and this Workbench reads version {VERSION}"
        )
    listed = header.get("members")
    if not is_mapping(listed) or listed.keys() != members.keys():
        raise record_error("its members are not those that it lists")
    for name, content in members.items():
        if listed[name] != [len(content), hashlib.sha256(content).hexdigest()]:
            raise record_error(f"{name} does not match its checksum")
    return header.get("content"), members


def _members(data: bytes) -> dict[str, bytes]:
    """Return the members of an archive by name; raise a RecordError if they are compressed, encrypted or ambiguous."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members: dict[str, bytes] = {}
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
                raise record_error("a member of it is compressed or encrypted")
            if member.file_size != member.compress_size or member.file_size > len(data) or member.filename in members:
                raise record_error("its list of members is wrong")
            members[member.filename] = archive.read(member)
        return members


def read_json(data: bytes) -> Any:
    """Return the JSON values in some bytes.

    Raises:
        RecordError: they are not JSON.
    """
    try:
        return json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise record_error("a part of it is not JSON") from None


def _no_constant(name: str) -> Any:
    """Raise a ValueError for NaN and the infinities, which JSON does not have."""
    raise ValueError(name)


def write_file(path: Path, data: bytes) -> None:
    """Write a file, completely or not at all.

    Raises:
        RecordError: it cannot be written.
    """
    temporary = path.parent / f".{path.name}.{os.urandom(4).hex()}.tmp"
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise RecordError(f"The record cannot be written to {path}: {error.strerror or error}.") from None
