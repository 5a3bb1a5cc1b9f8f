"""Values of the user's Python as text that is equal only where a kernel makes the same of them, in any process.

What has no such text (an object of the user's own class, a function of a library that no kernel knows) is refused:
whoever asks then compares nothing, and lowers.
"""

from __future__ import annotations

import enum
import hashlib
import struct
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import Any, Protocol, cast

import numpy as np

from workbench.builtins.declaration.declare import FORMS, TABLE, Builtin, Form
from workbench.frontend import MISSING, Custom, Definition
from workbench.host.uniform import Uniform
from workbench.host.vectors import HostVector
from workbench.runtime.arrays.structure import StructValue
from workbench.source import Source
from workbench.types import NUMBERS, SCALARS, Scalar, is_small

_KNOWN = ("workbench", "builtins", "math", "numpy", "jax", "typing", "collections")
"""Libraries whose functions and types mean the same as long as they are found under the same name."""
_RECORDS = ("workbench.types", "workbench.structs", "workbench.tiles", "workbench.frontend.names.generic")
"""Modules of the language's types, which are records compared by content."""


_HARMLESS = {"__init__", "__repr__", "__str__"}
"""Methods of enums that say nothing of a member's value."""
_FUNC = "workbench.api.kernels.func.Func"
_NAMED: Mapping[type, Mapping[str, object]] = {Builtin: TABLE, Form: FORMS, Scalar: SCALARS}
"""By kind: what the language has under each name."""


class _Func(Protocol):
    """The part of a `Func` that its exact text depends on."""

    name: str
    stale: str
    warp_meanings: bool
    __wb_definitions__: tuple[Definition, ...]
    __wb_customs__: dict[Definition, Custom]


class Unfingerprintable(Exception):
    """The error of a value that has no exact text."""


class Seen:
    """The definitions that were reached so far: first the kernel's own, then those of the funcs that its reads found.

    Attributes:
        definitions: in order.
        customs: by a definition's id, the gradients that its func holds.
    """

    def __init__(self, definition: Definition) -> None:
        """Begin with the kernel's own definition, whose number is 0."""
        self.definitions: list[Definition] = []
        self.customs: dict[int, Mapping[Definition, Custom]] = {}
        self._indices: dict[Definition, int] = {}
        self._first: dict[tuple[Source, int], int] = {}
        self._append(definition)

    def index_of(self, definition: Definition) -> int:
        """Return the position of a definition among `definitions`.

        Raises:
            Unfingerprintable: it is not among them.
        """
        index = self._indices.get(definition)
        if index is None:
            raise Unfingerprintable(f"{definition.name} was not found by a name")
        return index

    def add(self, definition: Definition, customs: Mapping[Definition, Custom]) -> None:
        """Add a definition, if it is new, and the gradients of its func (`customs`), if none are noted for it."""
        if definition not in self._indices:
            self._append(definition)
        self.customs.setdefault(id(definition), customs)

    def _append(self, definition: Definition) -> None:
        """Append a new definition, and note its number."""
        self._indices[definition] = index = len(self.definitions)
        self._first.setdefault(_source_position(definition), index)
        self.definitions.append(definition)

    def where(self, definition: Definition) -> str:
        """Return, as text, the numbers of a definition and of the first one at the same place in the source.

        A `def` that ran twice makes two definitions at one place.
        """
        return f"{self.index_of(definition)} {self._first[_source_position(definition)]}"


def _source_position(definition: Definition) -> tuple[Source, int]:
    """Return the source of a definition and the line of its `def`."""
    return definition.source, definition.node.lineno


def written(definition: Definition) -> str:
    """Return a digest of a definition's source text, independent of its position in a file.

    Raises:
        Unfingerprintable: the text is not known.
    """
    text, line = definition.written
    if not text:
        raise Unfingerprintable(f"the text of {definition.name} is not known")
    known = (definition.name, line, sorted(definition.annotations), text)
    return hashlib.sha256(repr(known).encode("utf-8", "surrogatepass")).hexdigest()


def fingerprint(value: Any, seen: Seen) -> str:
    """Return the exact text of a value; definitions of funcs in it are added to `seen`.

    Raises:
        Unfingerprintable: it has none.
    """
    kind = cast(type[Any], type(value))
    if value is MISSING or value is None:
        return "missing" if value is MISSING else "None"
    if kind in (bool, int, str):
        return f"{kind.__name__} {value!r}"
    if kind in (float, complex):
        return f"{kind.__name__} {struct.pack('>2d', value.real, value.imag).hex()}"
    if kind in (tuple, list):
        return f"{kind.__name__}({', '.join(fingerprint(v, seen) for v in value)})"
    named = _NAMED.get(kind)
    if named is not None:
        if named.get(value.name) is not value:
            raise Unfingerprintable(f"{value!r} is not what the language has under its name")
        return f"{kind.__name__} {value.name}"
    if kind.__module__ in _RECORDS:
        return _record(value, seen)
    if f"{kind.__module__}.{kind.__name__}" == _FUNC:
        return _func(value, seen)
    if isinstance(value, Uniform):
        return f"uniform {value.type!r}"
    if isinstance(value, (np.generic, np.ndarray)):
        return _numpy(value)
    if isinstance(value, ModuleType):
        if sys.modules.get(value.__name__) is not value:
            raise Unfingerprintable(f"{value!r} is not what is imported under its name")
        return f"module {value.__name__}"
    if isinstance(value, enum.Enum):
        return f"{fingerprint(kind, seen)} {value.name}"
    return _named(value, seen)


def _numpy(value: Any) -> str:
    """Return the exact text of a NumPy scalar, small array or vector of the host: its type, shape and bytes.

    Raises:
        Unfingerprintable: it is something else, or too large.
    """
    kind = cast(type[Any], type(value))
    is_scalar = kind.__module__ == "numpy" and issubclass(kind, np.generic)
    plain = is_scalar or kind in (np.ndarray, HostVector)
    if not plain or value.dtype.name not in NUMBERS or not (value.ndim == 0 or is_small(value.shape)):
        raise Unfingerprintable(f"{kind.__name__} is no number or vector of the language")
    form = f"{kind.__name__} {value.type!r}" if kind is HostVector else kind.__name__
    return f"{form} {value.dtype.str} {value.dtype.name} {value.shape} {value.tobytes().hex()}"


def _func(value: _Func, seen: Seen) -> str:
    """Return the exact text of a func: its definitions with their gradients and replays, which are added to `seen`.

    Raises:
        Unfingerprintable: it is out of date or has CUDA text.
    """
    if value.stale:
        raise Unfingerprintable(f"{value.name} is out of date")
    customs, parts = value.__wb_customs__, [repr(value.warp_meanings)]
    for definition in value.__wb_definitions__:
        custom = customs.get(definition, Custom())
        if custom.native is not None:
            raise Unfingerprintable(f"{value.name} has CUDA text")
        for role in (definition, custom.gradient, custom.replay):
            if role is not None:
                seen.add(role, customs)
            parts.append("" if role is None else f"{written(role)} {seen.where(role)}")
    return f"func {value.name} {' '.join(parts)}"


def _record(value: Any, seen: Seen) -> str:
    """Return the exact text of a type of the language: all its fields, except a struct's class on the host."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    names = _fields(cast(type[object], type(value)))
    if names is None:
        return _named(value, seen)
    return (
        f"{type(value).__name__}({', '.join([f'{name}={fingerprint(getattr(value, name), seen)}' for name in names])})"
    )


@cache
def _fields(record: type[object]) -> tuple[str, ...] | None:
    """Return the names of a record's fields, without a struct's class on the host (`host`); None if it is no record."""
    names: Iterable[str] | None = getattr(record, "__dataclass_fields__", None)
    names = getattr(record, "__struct_fields__", None) if names is None else names
    return None if names is None else tuple(name for name in names if name != "host")


def _named(value: Any, seen: Seen) -> str:
    """Return the exact text of a class or function: a struct or enum by its content, one of a library by its name.

    Raises:
        Unfingerprintable: it is none of these.
    """
    of_struct: Any = vars(value).get("__wb_struct__") if isinstance(value, type) else None
    if of_struct is not None and StructValue in value.__mro__:
        return f"struct {fingerprint(of_struct, seen)}"
    if type(value) is enum.EnumMeta:
        return _enum(value, seen)
    ufunc = isinstance(value, np.ufunc)
    module = "numpy" if ufunc else getattr(value, "__module__", None) or ""
    path = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or ""
    known: Any = sys.modules.get(module) if module.partition(".")[0] in _KNOWN else None
    for name in path.split("."):
        known = getattr(known, name, None)
    if known is None or known is not value:
        raise Unfingerprintable(f"{path or type(value).__name__} is not known by its name")
    return f"{module}.{path}"


class _Plain(enum.IntEnum):
    """An enum of one member, to tell which attributes Python itself adds."""

    A: int = 1  # type: ignore[misc]


def _enum(value: Any, seen: Seen) -> str:
    """Return the exact text of an enum class: its base, name and members.

    Raises:
        Unfingerprintable: it defines operators or `value`, has other bases, or a member has no exact text.
    """
    own: Mapping[str, object] = value.__dict__
    operators = {name for name in own if name.startswith("__")} - {*_Plain.__dict__, *_HARMLESS}  # static() calls them
    if value.__bases__ not in ((enum.Enum,), (enum.IntEnum,)) or "value" in own or operators:
        raise Unfingerprintable(f"{value.__name__} is an enum of its own kind")
    members = ", ".join(f"{name}={fingerprint(m.value, seen)}" for name, m in value.__members__.items())
    return f"enum {value.__bases__[0].__name__} {value.__name__}({members})"
