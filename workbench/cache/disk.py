"""Artifacts as files: in a folder, `<root>/v<schema>/<2 hex>/<62 hex>`, and as members of an archive.

**A file**:

    magic 8s · schema u32 · metadata length u32 · payload length u64 · built u64 (ns) · key 32s · checksum 32s
    metadata (JSON, UTF-8)
    payload (object file or cubin)

Big-endian. The checksum is SHA-256 over everything else in the file, header and metadata too: a flipped bit in the
entry symbol's name would be as wrong as one in the code. Nothing is unpickled.

**An archive** is a zip of such files, each checked again when it comes in. A class starts warm this way. What comes in
are artifacts, and loading one runs it: so nothing is imported unless the reader says that the file's author is trusted.
A checksum shows damage, not intent.

**A folder.** Every read checks owner, key and checksum; every write appears whole or not at all. Nothing here raises
for the state of the disk: what cannot be used is reported by `report`, once, and the result is None or False. Trust is
ownership, never a checksum, since loading an artifact runs it: a folder or file must belong to this user (for a
read-only cache also to root), and no one else may write to it.

A folder stays under its limit: if the sum of its files' sizes exceeds it, the least recently used are removed first.
Summing takes milliseconds, so all processes together do it at most once an hour (the file `total` has the time and the
sum), or when what this process has written since then would exceed the limit.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
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


USED_AGAIN = 3600.0  # seconds after which a hit renews the time of last use
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = re.compile(r"[0-9a-f]{2}")
_FILE = re.compile(r"[0-9a-f]{62}")

Report = Callable[[Path, str, bool], None]
"""Called with the path concerned, a sentence, and whether to say it only once."""


class Refused(Exception):
    """The error of a file or folder that must not be used; it has the path, and its message is the reason."""

    def __init__(self, path: str, reason: str) -> None:
        """Create the error of `path`; `reason` is a clause that follows the path in a sentence."""
        super().__init__(reason)
        self.path = path


class File(msgspec.Struct, frozen=True):
    """A file of the cache folder.

    Attributes:
        path: where it is.
        digest: of the entry that it holds; empty for a temporary, damaged or lock file.
        bytes: its size.
        used: when it was last used, in seconds since 1970; for a damaged one, when it was moved aside.
    """

    path: Path
    digest: str
    bytes: int
    used: float


class Disk:
    """A cache folder.

    Attributes:
        root: the folder, or None if there is no home folder to put it in.
        folder: the part of it that holds this schema's entries.
        owners: uids that its files may belong to; if empty, all are trusted.
        writable: whether anything in it may be changed.
        problem: why the folder could not be used the last time; empty while it can.
    """

    def __init__(self, root: Path, owners: frozenset[int], report: Report, writable: bool = True) -> None:
        """Prepare to use the folder `root`, which is created by the first write.

        Args:
            root: the folder; `~` is expanded.
            owners: uids that its files may belong to; if empty, all are trusted.
            report: called with the path concerned, a sentence, and whether to say it only once.
            writable: whether anything in it may be changed.
        """
        self.owners = owners
        self.writable = writable
        self.problem = ""
        self._report = report
        self.root: Path | None = None
        with suppress(RuntimeError, OSError):
            self.root = root.expanduser().absolute()
        self._named = self.root or root
        self.folder = self._named / f"v{SCHEMA}"
        # As `os` takes them: a path is converted in each call.
        self._root, self._folder = str(self._named), str(self.folder)

    def path(self, digest: str) -> Path:
        """Return the path of the entry of `digest`, which need not exist."""
        return Path(self._path(digest)[1])

    def _path(self, digest: str) -> tuple[str, str]:
        """Return the folder and the path of the entry of `digest`."""
        folder = f"{self._folder}{os.sep}{digest[:2]}"
        return folder, f"{folder}{os.sep}{digest[2:]}"

    def read(self, digest: str) -> Entry | None:
        """Read an entry and check every byte; return None if it is missing or must not be used.

        What must not be used is reported, and a damaged file is moved aside unless the folder is read-only.
        """
        folder, path = self._path(digest)
        try:
            self._check_folders(folder)
            data, status = self._read_file(path)
        except FileNotFoundError:
            return None
        except Refused as refusal:
            if refusal.path == path:
                self._report(Path(path), f"the cache file {path} {refusal}; it was not loaded", True)
            else:
                self._folder_problem(f"is not used: {refusal.path} {refusal}")
            return None
        except OSError as error:
            self._folder_problem(f"cannot be used ({error.strerror})")
            return None
        try:
            entry = decode(data, digest, "disk")
        except Damaged as damage:
            self._set_aside(path, digest, status, str(damage))
            return None
        if self.writable and time.time() - status.st_mtime > USED_AGAIN:
            with suppress(OSError):
                os.utime(path)
        return entry

    def write(self, digest: str, data: bytes) -> bool:
        """Write the bytes of an encoded entry; return False, after a report, if the folder does not accept them."""
        paths = self._path(digest)
        try:
            try:
                self._replace(*paths, data)
            except FileNotFoundError:  # another process has just removed the folder
                self._replace(*paths, data)
        except Refused as refusal:
            self._folder_problem(f"is not used: {refusal.path} {refusal}")
            return False
        except OSError as error:
            self._folder_problem(f"cannot be used ({error.strerror})")
            return False
        self.problem = ""
        return True

    def lock_path(self, digest: str) -> Path | None:
        """Return the file that processes lock for `digest`, which need not exist; None if its folder cannot be used."""
        folder = f"{self._folder}{os.sep}locks"
        try:
            self._make_folders(folder)
        except (Refused, OSError):
            return None
        return Path(folder, digest)

    def is_usable(self) -> bool:
        """Return whether the folder exists and passes the checks of ownership and permissions."""
        try:
            self._check_folders(self._folder)
        except (Refused, OSError):
            return False
        return True

    def files(self) -> Iterator[File]:
        """Yield this schema's entries, temporary files and locks, in no order; no other file is listed."""
        for folder in _scan(self.folder) if self.is_usable() else ():
            if _FOLDER.fullmatch(folder.name) or folder.name == "locks":
                for item in _scan(Path(folder.path)):
                    entry = folder.name != "locks" and _FILE.fullmatch(item.name)
                    if not entry and not item.name.endswith(".tmp") and folder.name != "locks":
                        continue
                    with suppress(OSError):
                        status = item.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            digest = folder.name + item.name if entry else ""
                            yield File(Path(item.path), digest, status.st_size, status.st_mtime)

    def damaged(self) -> list[File]:
        """Return the files that were moved aside as damaged, the oldest first."""
        files: list[File] = []
        for item in _scan(self._named / "damaged") if self.is_usable() else ():
            with suppress(OSError):
                status = item.stat(follow_symlinks=False)
                files.append(File(Path(item.path), "", status.st_size, status.st_ctime))
        return sorted(files, key=lambda f: f.used)

    def _check_folders(self, folder: str) -> None:
        """Raise `Refused` unless the root, this schema's folder and `folder` may be used, OSError if one is missing."""
        if self.root is None:
            raise Refused(self._root, "has no location: there is no home folder, or the current folder was deleted")
        self._check((self._root, os.stat(self._root)))  # the root may be a link, what is inside may not
        self._check(*[(each, os.lstat(each)) for each in (self._folder, folder)])

    def _check(self, *files: tuple[str, os.stat_result]) -> None:
        """Raise `Refused` if a path, with its status behind it, belongs to another user or is writable by others."""
        for path, status in files:
            if reason := distrust(status, self.owners):
                raise Refused(path, f"{reason}, and loading from it could run their code")

    def _make_folders(self, folder: str) -> None:
        """Create the folder and those above it, each for this user alone; check each before anything is put inside.

        Raises:
            Refused: one must not be used.
        """
        try:
            self._check_folders(folder)
        except FileNotFoundError:
            self._named.mkdir(0o700, parents=True, exist_ok=True)
            self._check((self._root, os.stat(self._root)))
            for each in (self._folder, folder):
                with suppress(FileExistsError):
                    os.mkdir(each, 0o700)
                self._check((each, os.lstat(each)))

    def _read_file(self, path: str) -> tuple[bytes, os.stat_result]:
        """Return the bytes and the status of a regular file, both of one descriptor.

        Raises:
            FileNotFoundError: there is none.
            Refused: it cannot be read, is not a regular file, or is not trusted.
        """
        try:
            fd = os.open(path, _READ)
            try:
                status = os.fstat(fd)
                self._check((path, status))
                if not stat.S_ISREG(status.st_mode):
                    raise Refused(path, "is not a regular file")
                data = os.read(fd, status.st_size + 1)
                while len(data) < status.st_size and (more := os.read(fd, status.st_size)):
                    data += more
                return data, status
            finally:
                os.close(fd)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Refused(path, f"cannot be read ({error.strerror})") from None

    def _replace(self, folder: str, path: str, data: bytes) -> None:
        """Write `data` to a temporary file and rename it to `path`, in a folder created on demand; or raise."""
        self._make_folders(folder)
        temporary = f"{folder}{os.sep}.{os.urandom(8).hex()}.tmp"
        fd = os.open(temporary, _CREATE, 0o600)
        try:
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(fd, rest) :]
            finally:
                os.close(fd)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    def _set_aside(self, path: str, digest: str, status: os.stat_result, damage: str) -> None:
        """Report a damaged file, and move it to `damaged/` unless the folder is read-only or the file was replaced."""
        message = f"the cache file {path} {damage}; the kernel is compiled again"
        if not self.writable:
            self._report(Path(path), message, True)
            return
        folder = self._named / "damaged"
        try:
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            if os.path.samestat(status, os.lstat(path)):  # else another process has put a new one there
                os.replace(path, folder / digest)
                message += f" (the file was moved to {folder})"
        except OSError as error:
            self._report(Path(path), f"{message} (the file could not be moved aside: {error.strerror})", True)
        else:
            self._report(Path(path), message, False)

    def _folder_problem(self, reason: str) -> None:
        """Set `problem` to a sentence with `reason` and the setting that names another folder, and report it once."""
        if self.writable:
            setting, effect = "WORKBENCH_CACHE", "Compiled kernels are kept in memory only"
        else:
            setting, effect = "WORKBENCH_CACHE_READONLY", "Work continues without it"
        self.problem = f"the cache folder {self._named} {reason}. {effect}; {setting} names another folder."
        self._report(self._named, self.problem, True)


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    """Return the items of a folder; empty if it cannot be listed."""
    try:
        with os.scandir(folder) as items:
            return list(items)
    except OSError:
        return []


LEFT_OVER = 3600.0  # seconds after which a temporary file or a lock has no owner any more
KEEP_DAMAGED = 20
LOW_MARK = 0.9


class Limit:
    """A size limit of a cache folder, with an estimate that says when to prune it.

    Attributes:
        bytes: the most that the folder may hold.
    """

    def __init__(self, bytes: int) -> None:
        self.bytes = bytes
        self._written = 0

    def after_write(self, disk: Disk, size: int) -> None:
        """Prune the folder, if that is due after `size` bytes were written."""
        self._written += size
        known = _known_total(disk.folder / "total")
        if known is None or known + self._written > self.bytes:
            prune(disk, self.bytes, int(self.bytes * LOW_MARK))
            self._written = 0


def prune(disk: Disk, limit: int, goal: int | None = None) -> int:
    """Remove the entries used longest ago until the folder holds `goal` bytes, if it holds more than `limit`.

    Without `goal` it is `limit`. Files of crashed processes and all but the newest damaged files are removed in any
    case.

    Returns:
        The number of entries removed.
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
    """Remove one entry; return whether there was one. Nothing is removed from a folder that must not be used."""
    return disk.is_usable() and _remove(disk.path(digest))


def clear(disk: Disk) -> int:
    """Remove all entries, damaged files, and old left-over files; return the number of entries removed.

    Left-over files younger than LEFT_OVER may be in use.
    """
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
    """Return the folder's bytes as the last pruning recorded them; None if no record is younger than an hour."""
    try:
        if time.time() - os.stat(path).st_mtime > LEFT_OVER:
            return None
        return int(path.read_bytes())
    except (OSError, ValueError):
        return None


def _note_total(path: Path, total: int) -> None:
    """Write the folder's size in bytes to its record at `path`; a failure is ignored."""
    with suppress(OSError):
        path.write_bytes(b"%d" % total)


def _remove(path: Path) -> bool:
    """Delete a file; return False if that fails."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


ROOT = 0


def own() -> frozenset[int]:
    """Return the uids whose files this process may load from its own cache; empty if the system has no uids."""
    return frozenset({os.geteuid()}) if hasattr(os, "geteuid") else frozenset()


def own_or_root() -> frozenset[int]:
    """Return the uids whose files this process may load from a read-only cache; empty if the system has no uids."""
    return own() | {ROOT} if own() else frozenset()


def distrust(status: os.stat_result, owners: frozenset[int]) -> str:
    """Return why a file or folder with this status must not be used; empty if it may be.

    If `owners` is empty, all may be used.
    """
    if not owners:
        return ""
    if status.st_uid not in owners:
        return f"belongs to another user (uid {status.st_uid})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"can be written by other users (mode {stat.S_IMODE(status.st_mode):03o}; try chmod go-w)"
    return ""
