"""Keys of artifacts: named parts, hashed, and compared to explain a rebuild.

Everything that changes the artifact is a part with all its bits; nothing else is. A part also says how to show itself,
which is never hashed. What cannot be written down exactly is refused, because a wrong hit is worse than no cache.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, cast

import msgspec
import numpy as np

from workbench.backends.base import Options
from workbench.cache.generator import generator_version
from workbench.errors import CacheError, its_type
from workbench.ir.data import canonical, literal_bits
from workbench.ir.ops import CAPTURED, VALUE
from workbench.ir.values import Block, Function, Op, closed_blocks, walk
from workbench.passes.pipeline import KEYED, run
from workbench.source import Location
from workbench.types import ArrayType, Complex, ComplexVector, Matrix, Quaternion, Scalar, Transform, Vector

SCHEMA = 1
RANKS = ("direction", "constant", "signature", "extra", "code", "option", "target", "compiler", "generator")
STEPS = frozenset(
    "adjoint gathered-adjoint clearing-adjoint local-adjoint tangent finite accesses ordered counted".split()
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


def _options(options: Options) -> Iterator[Part]:
    """Yield a part per option of the build; raise `CacheError` if a value has no exact text."""
    for name, value in options.items():
        shown = _SHOWN.get(value, str(value)) if isinstance(value, (bool, str)) else str(value)
        yield Part(f"option {name}", "option", _exact(value, f"the option {name}"), shown)


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
