"""Keys of artifacts: named parts, hashed, and compared to explain a rebuild.

Everything that changes the artifact is a part with all its bits; nothing else is. A part also says how to show itself,
which is never hashed. What cannot be written down exactly is refused, because a wrong hit is worse than no cache.

A digest of the code generator's own source files is a part, too. A version number can be forgotten when a rule of
emission changes; the text cannot. So no artifact of an older or half-edited generator is ever loaded. The front end is
left out: its result is the IR, which is in the key.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np

from workbench.backends.base import Options
from workbench.backends.cpu.machine import Memory
from workbench.errors import CacheError, its_type
from workbench.ir.data import canonical, literal_bits
from workbench.ir.ops import CAPTURED, VALUE
from workbench.ir.values import Block, Function, Op, closed_blocks, walk
from workbench.passes.pipeline import KEYED, run
from workbench.source import Location
from workbench.types import ArrayType, Complex, ComplexVector, Matrix, Quaternion, Scalar, Transform, Vector

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


SCHEMA = 1
RANKS = ("direction", "constant", "signature", "extra", "code", "option", "target", "compiler", "generator")
STEPS = frozenset(
    "adjoint gathered-adjoint clearing-adjoint local-adjoint tangent finite accesses ordered counted adjoint-residuals "
    "residual-adjoint".split()
)
_NUMBER, _PART = struct.Struct(">QQ"), struct.Struct(">Q")
_SHOWN_TYPE = re.compile(r": (?:array(?:\dd)?\[[^\]]*\]|vector\([^)]*\)|\w+)")


class Part(msgspec.Struct, frozen=True):
    """A named thing that an artifact depends on.

    Attributes:
        label: its name, in the digest and in explanations: `constant DT`.
        kind: one of `RANKS`; hashed as the part's type tag.
        data: all of its bits.
        shown: its value for readers; never hashed, may be empty.
    """

    label: str
    kind: str
    data: bytes
    shown: str = ""


class Key(msgspec.Struct, frozen=True, dict=True):
    """The key of an artifact: all parts that it depends on, in order.

    Raises:
        CacheError: two parts share label and kind, or a kind is none of `RANKS`.
    """

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        """Check the parts' kinds, and that no two share kind and label; raise a CacheError otherwise."""
        names = [(part.kind, part.label) for part in self.parts]
        kind = next((kind for kind, _ in names if kind not in RANKS), None)
        if kind is not None:
            raise CacheError(f"a key part has the unknown kind {kind!r}; use one of {', '.join(RANKS)}")
        if len(set(names)) < len(names):
            kind, label = next(name for name in names if names.count(name) > 1)
            raise CacheError(f"a module key has two parts named {label!r} of kind {kind!r}")

    @cached_property
    def digest(self) -> str:
        """64 hex digits: SHA-256 over the schema number, then each part's kind, label and data with their lengths."""
        hashed = [_NUMBER.pack(SCHEMA, len(self.parts))]
        for part in self.parts:
            kind, label = part.kind.encode(), part.label.encode()
            hashed.append(_PART.pack(len(kind)) + kind + _PART.pack(len(label)) + label + _PART.pack(len(part.data)))
            hashed.append(part.data)
        return hashlib.sha256(b"".join(hashed)).hexdigest()

    def explain(self, previous: Key) -> tuple[str, ...]:
        """Describe each difference from `previous` in a short phrase, the most specific first."""
        old = {(p.kind, p.label): p for p in previous.parts}
        new = {(p.kind, p.label): p for p in self.parts}
        phrases: list[str] = []
        for kind in RANKS:
            names = [n for n in {**new, **old} if n[0] == kind]
            changed = [(old.get(n), new.get(n)) for n in names if _data(old.get(n)) != _data(new.get(n))]
            phrases += _EXPLAIN.get(kind, _each)(changed, phrases)
        return tuple(phrases)


def function_parts(function: Function, direction: str) -> tuple[Part, ...]:
    """Return the key parts of a kernel's forward function: its captured constants, its parameters, and its code.

    For the direction "forward", gradients that the user wrote are left out: they cannot change that artifact.

    Raises:
        CacheError: a constant or an attribute cannot be written down exactly.
    """
    function = run(KEYED, function) if direction == "forward" else function
    return (*_constants(function), *_signature(function), Part("code", "code", _code(function)))


def key_of_parts(
    parts: tuple[Part, ...],
    *,
    options: Options,
    backend: str,
    backend_version: str,
    target: str,
    direction: str,
    generator: str | None = None,
    extra: tuple[Part, ...] = (),
) -> Key:
    """Return the key of the artifact that `backend` makes from the function of these parts.

    Adjoints and tangents are keyed by their forward function and the direction, so a hit runs no autodiff; gradients
    that the user wrote are in those keys alone. Names of the function, of its parameters and of its locals are not in
    the key: where an artifact holds one (its entry symbol), its metadata says so.

    Args:
        parts: of the forward function, from `function_parts`.
        options: what changes the generated code.
        backend: the backend's name, `cpu` or `cuda`.
        backend_version: `Backend.version()`.
        target: `sm_90`, or the CPU's name and features.
        direction: "forward", or steps from it, such as "adjoint tangent" (see autodiff/directions.py).
        generator: `generator_version()` if not given.
        extra: further parts, such as the adjoint's own options; in the order given.

    Raises:
        CacheError: an option cannot be written down exactly, or the direction is unknown.
    """
    if direction != "forward" and not set(direction.split(" ")) <= STEPS:
        raise CacheError(f'a module key has direction "forward", or {", ".join(sorted(STEPS))}, not {direction!r}')
    generator = generator_version() if generator is None else generator
    *before, code = parts
    return Key(
        (
            Part("direction", "direction", direction.encode(), direction),
            *before,
            *_options(options),
            code,
            Part("target", "target", target.encode(), target),
            Part("backend", "compiler", backend.encode(), backend),
            Part("compiler", "compiler", backend_version.encode(), backend_version),
            Part("code generator", "generator", generator.encode()),
            *extra,
        )
    )


def _constants(function: Function) -> Iterator[Part]:
    """Yield a part per captured name. If a name stands for several values, its part holds them in order of use."""
    uses: dict[str, list[tuple[Any, Any]]] = {}
    for c in function.captured:
        uses.setdefault(c.name, []).append((c.type, c.value))
    for op in _every_op(function.body):
        if op.name == "const" and op.attrs.get(CAPTURED):
            uses.setdefault(op.attrs[CAPTURED], []).append((op.result.type, op.attrs[VALUE]))
    for name, values in uses.items():
        bits = [_bits(name, type, value) for type, value in values]
        if len(set(bits)) == 1:
            del bits[1:], values[1:]
        shown = ", ".join(dict.fromkeys(_shown(type, value) for type, value in values))
        yield Part(f"constant {name}", "constant", " ".join(bits).encode(), shown)


def _every_op(block: Block) -> Sequence[Op]:
    """Return the operations of a block and the blocks inside, each before those of its gradient, replay and derive."""
    if "custom" not in block.op_names:  # no other one has closed blocks
        return walk(block)
    return [o for op in walk(block) for o in (op, *(i for closed in closed_blocks(op) for i in _every_op(closed)))]


def _bits(name: str, type: Any, value: Any) -> str:
    """Return a captured constant as exact text, its type and bits; raise `CacheError` if it has none."""
    if not isinstance(type, (Scalar, Vector)):
        raise CacheError(f"the constant {name} cannot be part of a module key: {type!r} is not a scalar or vector type")
    try:
        return f"{type!r}:{literal_bits(value, type)}"
    except (TypeError, ValueError, OverflowError) as error:
        raise CacheError(f"the constant {name} cannot be part of a module key as {type!r}: {error}") from None


def _shown(type: Any, value: Any) -> str:
    """Return a captured constant as text for readers: the number, or `name(components)` of a vector."""
    if isinstance(type, Vector):
        return f"{type.name}({', '.join(str(c) for c in np.asarray(value, type.dtype.numpy).tolist())})"
    return str(np.asarray(value, type.numpy)[()])


def _signature(function: Function) -> Iterator[Part]:
    """Yield a part per parameter; its name is shown and not hashed."""
    for n, p in enumerate(function.params):
        yield Part(f"parameter {n}", "signature", repr(p.type).encode(), f"{p.name} {p.type!r}")


_SHOWN = {True: "on", False: "off", "quick": "on"}
"""Values of options in words; code with checks is first built without those that a test makes needless ("quick")."""
_ALIKE = {"option checks": "every check is needed"}
"""Reasons of a rebuild by option, for two values that are shown alike."""


@lru_cache(maxsize=256)
def _options(options: Options) -> tuple[Part, ...]:
    """Return a part per option of the build; raise `CacheError` if a value has no exact text."""
    parts: list[Part] = []
    for name, value in options.items():
        shown = _SHOWN.get(value, str(value)) if isinstance(value, (bool, str)) else str(value)
        parts.append(Part(f"option {name}", "option", _exact(value, f"the option {name}"), shown))
    return tuple(parts)


def _code(function: Function) -> bytes:
    """Return the canonical text, then every attribute with its type: as text alone, 1 and "1" would be equal.

    Raises:
        CacheError: a number or an attribute cannot be written down exactly.
    """
    try:
        canonical_ir = canonical(function)
    except (TypeError, ValueError, OverflowError) as error:
        raise CacheError(f"a number in {function.name} cannot be part of a module key: {error}") from None
    return canonical_ir.encode() + b"\0" + _attribute_bytes(function.body)


def _attribute_bytes(block: Block) -> bytes:
    """Return a line of bytes per attribute of a block's operations: the operation's number, the name, and the value."""
    attributes = bytearray()
    for n, op in enumerate(walk(block), 1):
        for name, value in _attributes(op):
            attributes += b"%d %b=%b\n" % (n, name.encode(), _exact(value, f"{name} of the operation {op.name}"))
    return bytes(attributes)


def _attributes(op: Op) -> list[tuple[str, Any]]:
    """Return an operation's attributes that `_attribute_bytes` writes, by name and sorted.

    Locations, those that are None, and the value and name of a constant are left out.
    """
    if not op.attrs:
        return []
    elsewhere = ("value", "captured") if op.name == "const" else ()
    return sorted(
        (k, v) for k, v in op.attrs.items() if v is not None and k not in elsewhere and not isinstance(v, Location)
    )


def _tuple(value: Any, what: str) -> bytes:
    """Return a sequence as bytes: its items as `_exact` writes them, in parentheses."""
    return b"(%b)" % b"".join(_exact(v, what) for v in value)


_EXACT: dict[type, tuple[bytes, Callable[[Any, str], bytes]]] = {
    type(None): (b"none", lambda v, _: b""),
    bool: (b"bool", lambda v, _: b"01"[v : v + 1]),
    int: (b"int", lambda v, _: b"%d" % v),
    float: (b"float", lambda v, _: struct.pack(">d", v).hex().encode()),
    str: (b"str", lambda v, _: v.encode("utf-8", "surrogatepass")),
    bytes: (b"bytes", lambda v, _: v),
    tuple: (b"tuple", _tuple),
    list: (b"tuple", _tuple),
    Scalar: (b"type", lambda v, _: repr(v).encode()),
    Block: (b"block", lambda v, _: _attribute_bytes(v)),
    Vector: (b"type", lambda v, _: repr(v).encode()),
    Matrix: (b"type", lambda v, _: repr(v).encode()),
    Quaternion: (b"type", lambda v, _: repr(v).encode()),
    Complex: (b"type", lambda v, _: repr(v).encode()),
    ComplexVector: (b"type", lambda v, _: repr(v).encode()),
    Transform: (b"type", lambda v, _: repr(v).encode()),
    ArrayType: (b"type", lambda v, _: repr(v).encode()),
}


def _exact(value: object, what: str) -> bytes:
    """Return a plain value as bytes, with its type tag and length.

    Raises:
        CacheError: its type has no exact text.
    """
    value = cast("Any", value.item() if isinstance(value, np.generic) else value)
    tag, write = _EXACT.get(type(value), (b"", _tuple))
    if not tag:
        raise CacheError(f"{what} cannot be part of a module key: {its_type(value)} has no exact text")
    data = write(value, what)
    return b"%b:%d:%b" % (tag, len(data), data)


Changed = list[tuple[Part | None, Part | None]]


def _data(part: Part | None) -> bytes | None:
    """Return the part's bits; None without a part."""
    return part.data if part else None


def _each(changed: Changed, earlier: list[str]) -> list[str]:
    """Return a phrase for each change, whatever `earlier` ones say."""
    return [_phrase(old, new) for old, new in changed]


def _phrase(old: Part | None, new: Part | None) -> str:
    """Return a change in words: `label: before → after`, `label changed`, or that a part is new or no longer used."""
    if old is None or new is None:
        part = old or new
        assert part is not None
        return f"{part.label}{': ' if part.shown else ''}{part.shown} {'no longer used' if new is None else 'is new'}"
    before, after = _difference(old.shown, new.shown)
    if before == after and new.kind == "constant":
        before, after = _in_full(old, new)
    if before == after:
        return _ALIKE.get(new.label, f"{new.label} changed")
    return f"{new.label}: {before} → {after}"


def _in_full(old: Part, new: Part) -> tuple[str, str]:
    """Return two constants that look alike with their types or, if those are equal, with their bits."""
    pairs = [p.data.decode().partition(":") for p in (old, new)]
    column = 0 if pairs[0][0] != pairs[1][0] else 2
    return f"{old.shown} {pairs[0][column]}", f"{new.shown} {pairs[1][column]}"


def _difference(old: str, new: str) -> tuple[str, str]:
    """Return two values as a phrase compares them; of long lists of features, only those that differ."""
    if max(len(old), len(new)) <= 60:
        return old, new
    a, b = (re.split(r"[,\s]+", text) for text in (old, new))
    return tuple(" ".join([t for t in mine if t not in other][:4]) or "…" for mine, other in ((a, b), (b, a)))  # type: ignore[return-value]


def _explain_signature(changed: Changed, earlier: list[str]) -> list[str]:
    """Return one phrase for all changed parameters; empty if none changed."""
    if not changed:
        return []
    before, after = (", ".join(p.shown for p in side if p) for side in zip(*changed, strict=True))
    if before and after:
        return [f"signature: {before} → {after}"]
    return [f"signature: {after} is new" if after else f"signature: {before} no longer there"]


def _explain_code(changed: Changed, earlier: list[str]) -> list[str]:
    """Return the phrase for changed code; none if it differs only by types that another change brings with it."""
    texts = [_SHOWN_TYPE.sub("", p.data.decode(errors="replace")) for pair in changed for p in pair if p]
    if not changed or (earlier and texts[0] == texts[-1]):
        return []
    return ["code changed"]


_EXPLAIN: dict[str, Callable[[Changed, list[str]], list[str]]] = {
    "signature": _explain_signature,
    "code": _explain_code,
}
