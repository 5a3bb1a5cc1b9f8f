"""A kernel lowered for parameters of some types: its IR, and what launches need to know without reading that.

Lowering is most of the cost of a first launch whose code is in the cache. So the result of lowering is cached too, with
everything that it read outside of the kernel's text (`frontend.state.definition`): a process that reads the same
values need not lower the kernel again. See design/lowerings.md.

These values are compared by *fingerprints*: exact texts, equal in any process only if a kernel means the same by both
values. A value without such a text (an object of the user's own class, a function of a library that no kernel
knows) raises `Unfingerprintable`; the kernel is then lowered each time.
"""

from __future__ import annotations

import enum
import hashlib
import os
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol, cast

import msgspec
import numpy as np
from msgspec.structs import replace

from workbench.builtins.declaration.declare import FORMS, TABLE, Builtin, Form
from workbench.cache.disk import Entry
from workbench.cache.key import Key, Part, front_end_version, function_parts
from workbench.cache.store import default_store
from workbench.errors import CacheError
from workbench.frontend.expressions.statics import reevaluated_static
from workbench.frontend.functions.derivatives import DIFFERENTIATORS, Custom, watch_custom
from workbench.frontend.names.annotate import is_annotation
from workbench.frontend.names.python_names import meaning, usable_in_kernel
from workbench.frontend.state.context import Notice, Tiling
from workbench.frontend.state.definition import DEFAULT, GIVEN, MISSING, Definition, Dependency, Reads, anything
from workbench.frontend.statements.lower import Lowered, lower
from workbench.host.uniform import Uniform
from workbench.host.vectors import HostVector
from workbench.ir.data import Unwritable, from_data, show, to_data
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.passes.expand import has_customs
from workbench.passes.memory.atomics import adds_alone, reduces
from workbench.runtime.arrays.structure import StructValue
from workbench.source import UNKNOWN, Location, Source
from workbench.structs import Absent, AnyType, leaf_parameters
from workbench.types import NUMBERS, SCALARS, Scalar, is_small

_KNOWN = ("workbench", "builtins", "math", "numpy", "jax", "typing", "collections")
"""Libraries whose functions and types mean the same as long as they are found under the same name."""
_RECORDS = ("workbench.types", "workbench.structs", "workbench.tiles", "workbench.frontend.names.annotate")
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
    """The definitions reached so far: first the kernel's own, then those of the funcs that it read.

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


FACT = "lowering"
"""The backend that lists of the cache show for what this module keeps."""
VERIFY = "WORKBENCH_VERIFY_LOWERING"
"""Set in tests: lower all the same, and compare."""
WAYS = {"": anything, "kernel": usable_in_kernel, "annotation": is_annotation, GIVEN: GIVEN, DEFAULT: DEFAULT}
"""The way in which a name was asked for, as files call it."""
_NAMES: dict[object, str] = {way: key for key, way in WAYS.items()}


def _of_func(name: str, block: Block, inputs: Sequence[Value]) -> tuple[Sequence[Op], Sequence[Value]]:
    """Return the operations that compute a func's derivatives by `inputs`, and the values of these derivatives.

    Only this imports `autodiff`.
    """
    # Kernels without grad(f) do not need it.
    return import_module("workbench.autodiff.forward_mode").derivatives(name, block, inputs)  # type: ignore[no-any-return]


DIFFERENTIATORS.append(_of_func)


class Lowering:
    """The result of lowering a kernel for one set of parameter types; its IR may still be in the cache.

    Attributes:
        params: of its function, by name and type.
        launch_ndim, block_dim: as its function's.
        adds_alone: whether arguments that do not overlap get other code, which adds without atomics or combines first.
        watched: the user's names that the lowering read, with their values.
        notices: lines that mean something else than in Warp, where the kernel was written for that.
    """

    def __init__(
        self,
        make: Callable[[], Function],
        launch_metadata: _LaunchMetadata,
        watched: tuple[Dependency, ...],
        notices: tuple[Notice, ...] = (),
        parts: Mapping[bool, tuple[Part, ...]] | None = None,
        keep: Callable[[Lowering], None] | None = None,
    ) -> None:
        """Hold the result of a lowering.

        Args:
            make: returns the IR; called on first use.
            launch_metadata: of the function.
            watched: the user's names that the lowering read, with their values.
            notices: lines that mean something else than in Warp.
            parts: parts of keys that are known, for the forward direction (True) and for others (False).
            keep: stores the lowering in the cache; None: there is nothing to store.
        """
        self._make = make
        self.params = launch_metadata.params
        self.launch_ndim, self.block_dim = launch_metadata.launch_ndim, launch_metadata.block_dim
        self.adds_alone = launch_metadata.adds_alone
        self.watched = watched
        self.notices = notices
        self._parts = dict(parts or {})
        self._keep = keep

    @cached_property
    def function(self) -> Function:
        """The forward kernel in IR, which is read from the cache on first use."""
        return self._make()

    def parts(self, direction: str) -> tuple[Part, ...]:
        """Return the parts of a key that identify the function in this direction."""
        forward = direction == "forward"
        if forward not in self._parts:
            # The two differ by what users wrote in the place of derivatives.
            shared = None if has_customs(self.function) else self._parts.get(not forward)
            self._parts[forward] = shared or function_parts(self.function, direction)
        return self._parts[forward]

    def keep(self) -> None:
        """Store the lowering in the cache, if it was lowered here and all that it read has exact text.

        Only the first call does so.
        """
        keep, self._keep = self._keep, None
        if keep is not None:
            keep(self)


class OfFunction:
    """An object that has a forward IR function: lowered, read from the cache, or passed in."""

    _lowering: Lowering | None = None
    _function: Function | None = None

    @property
    def function(self) -> Function:
        """The forward kernel in IR; if the cache has it, it is read from there on first use."""
        if self._function is None:
            assert self._lowering is not None
            self._function = self._lowering.function
        return self._function

    @function.setter
    def function(self, function: Function) -> None:
        """Replace the function, and drop what is known of the old one."""
        self._function, self._lowering = function, None

    @property
    def params(self) -> tuple[Value, ...]:
        """The function's parameters, by name and type."""
        return self._lowering.params if self._lowering is not None else self.function.params

    @property
    def launch_ndim(self) -> int:
        """The number of indices that the function asks `tid()` for; 0 if it does not call it."""
        return self._lowering.launch_ndim if self._lowering is not None else self.function.launch_ndim

    @property
    def block_dim(self) -> int:
        """The threads of a block of a kernel of tiles; else 0."""
        return self._lowering.block_dim if self._lowering is not None else self.function.block_dim

    def parts(self, direction: str) -> tuple[Part, ...]:
        """Return the parts of a key that identify the function in this direction."""
        lowering = self._lowering
        return lowering.parts(direction) if lowering is not None else function_parts(self.function, direction)

    def keep(self) -> None:
        """Store the lowering in the cache for other processes, if it was lowered here."""
        if self._lowering is not None:
            self._lowering.keep()


class _LaunchMetadata(msgspec.Struct, frozen=True):
    """The part of a function that launches need without its IR.

    Attributes:
        params: its parameters, by name and type.
        launch_ndim: the number of indices that it asks `tid()` for; 0: none.
        block_dim: the threads of a block of a kernel of tiles; else 0.
        adds_alone: whether arguments that do not overlap get other code, without atomics or with combined sums.
    """

    params: tuple[Value, ...]
    launch_ndim: int
    block_dim: int
    adds_alone: bool


class _Saved(msgspec.Struct, frozen=True, array_like=True):
    """A lowering in the form in which the cache stores it.

    Attributes:
        reads: the definition's number or a module, the way of asking (None of a module's attribute), the name, and the
            exact text of its value.
        watched: the definition's number, the kind ("name", "static", "custom"), the path, and for a `static(…)` the
            values of the kernel's names in it.
        parts: for the forward direction and for others (none where they are the same): label, kind, data, shown.
        function: the encoded IR, which is decoded on first use.
    """

    reads: list[tuple[int | str, str | None, str, str]]
    watched: list[tuple[int, str, str, dict[str, bool | int | float | str]]]
    launch_ndim: int
    block_dim: int
    adds_alone: bool
    parts: list[list[tuple[str, str, bytes, str]]]
    function: bytes


_READER = msgspec.msgpack.Decoder(_Saved)


def lowering(
    definition: Definition, types: Mapping[str, AnyType], from_warp: bool, warp_meanings: bool, tiling: Tiling | None
) -> Lowering:
    """Return the lowering of a kernel for parameters of these types: from the cache if it is there, else lowered now.

    Args:
        definition: the kernel's.
        types: by parameter.
        from_warp: it was written for Warp: note what means something else here, and do not use the cache.
        warp_meanings: names mean what they mean in Warp.
        tiling: how blocks are launched; None: it runs once per thread.

    Raises:
        NeedsBlocks: the kernel uses tiles, and `tiling` is None.
        KernelSyntaxError, KernelTypeError: its body has errors.
    """
    digest = "" if from_warp else _digest(definition, types, warp_meanings, tiling)
    cached = _found(digest, definition, types) if digest else None
    if cached is not None and not os.environ.get(VERIFY):
        return cached
    lowered = lower(definition, types, from_warp=from_warp, warp_meanings=warp_meanings, tiling=tiling)
    lowering_ = _new_lowering(digest, definition, lowered)
    if cached is not None:
        _compare(definition.name, cached, lowering_)
    return lowering_


def _new_lowering(digest: str, definition: Definition, lowered: Lowered) -> Lowering:
    """Return what was lowered just now as a `Lowering`.

    Its `keep` stores it in the cache; there is none if it has notices, or if a value that it read has no exact text.
    """
    function, seen = lowered.function, Seen(definition)
    keep: Callable[[Lowering], None] | None = None
    if digest and not lowered.notices:
        with suppress(Unfingerprintable):  # now: what can change in place may have done so later
            read = _reads(lowered.reads, seen), list(_watched(lowered.reads, seen))
            keep = partial(_put, digest, definition.name, *read, _Locations(seen))
    return Lowering(
        lambda: function, _launch_metadata(function), tuple(lowered.reads.watched.values()), lowered.notices, keep=keep
    )


def _launch_metadata(function: Function, adds: bool | None = None) -> _LaunchMetadata:
    """Return the part of a function that launches need without its IR.

    `adds` says whether it adds alone (see `_LaunchMetadata.adds_alone`); None derives that.
    """
    adds = adds_alone(function) or reduces(function) if adds is None else adds
    return _LaunchMetadata(function.params, function.launch_ndim, function.block_dim, adds)


def known_function(
    function: Function, adds_alone: bool | None, parts: tuple[tuple[Part, ...], tuple[Part, ...]] | None
) -> Lowering:
    """Return the lowering of a kernel of which only the IR is known; it watches no names.

    Args:
        function: its IR.
        adds_alone: whether arguments that do not overlap get other code, without atomics; None derives it.
        parts: the parts of keys for the forward direction and for others; None derives them.
    """
    known = None if parts is None else {True: parts[0], False: parts[1]}
    return Lowering(lambda: function, _launch_metadata(function, adds_alone), (), parts=known)


def _digest(definition: Definition, types: Mapping[str, AnyType], warp_meanings: bool, tiling: Tiling | None) -> str:
    """Return the key of a lowering: the kernel's text, its parameters' types, how it is launched, and the front end.

    Empty if one of these has no exact text.
    """
    seen = Seen(definition)
    try:
        shown = [f"{name}: {fingerprint(type, seen)}" for name, type in types.items()]
        texts = {"definition": written(definition), "types": repr(shown)}
        version = front_end_version()
    except (Unfingerprintable, CacheError):
        return ""
    texts |= {"tiling": repr(tiling), "warp": repr(warp_meanings), "numpy": np.__version__, "front end": version}
    return Key(tuple(Part(label, "extra", text.encode()) for label, text in texts.items())).digest


def _reads(reads: Reads, seen: Seen) -> list[tuple[int | str, str | None, str, str]]:
    """Return the names that a lowering read, each with the exact text of its value, in the form of `_Saved.reads`.

    Raises:
        Unfingerprintable: one has none.
    """
    if reads.refused:
        raise Unfingerprintable(reads.refused)
    rows: list[tuple[int | str, str | None, str, str]] = []
    for where, way, name, value in reads.entries.values():
        if way is not None:
            rows.append((seen.index_of(where), _NAMES[way], name, fingerprint(value, seen)))
        elif isinstance(where, ModuleType):
            fingerprint(where, seen)
            rows.append((where.__name__, None, name, fingerprint(value, seen)))
        else:
            _refuse_changing(where, name, seen)
    return rows


def _refuse_changing(where: Any, name: str, seen: Seen) -> None:
    """Refuse an attribute whose value may change while its object stays the same.

    The object itself is fingerprinted first. Accepted are attributes of the project's own objects (not what a user
    set on a vector, nor of objects with `__wb_definitions__`), `name` and `value` of an enum's member, and the
    members of an enum.

    Args:
        where: the object that has the attribute, or `MISSING`.
        name: of the attribute.
        seen: receives the definitions of funcs, as in `fingerprint`.

    Raises:
        Unfingerprintable: it may change, or `where` has no fingerprint.
    """
    fingerprint(where, seen)
    ours = type(where).__module__.startswith("workbench.") and not hasattr(where, "__wb_definitions__")
    ours = ours and not (isinstance(where, np.ndarray) and name in vars(where))  # of the user, on a vector
    member = isinstance(where, enum.Enum) and name in ("name", "value")
    if not (where is MISSING or ours or member or (isinstance(where, enum.EnumMeta) and name in where.__members__)):
        raise Unfingerprintable(f"{name} of {where!r} may change")


def _watched(reads: Reads, seen: Seen) -> Iterator[tuple[int, str, str, dict[str, bool | int | float | str]]]:
    """Yield the names that launches watch, in the form of `_Saved.watched`.

    Raises:
        Unfingerprintable: one cannot be identified in another process.
    """
    for w in reads.watched.values():
        if w.definition.library:
            continue
        index = seen.index_of(w.definition)
        if w.place is not None:
            yield index, "custom", w.path, {}
        elif w.reevaluate is not None:
            if not all(type(v) in (bool, float, str) or _is_small(v) for v in w.known.values()):
                raise Unfingerprintable(f"what {w.path} reads is not known")
            yield index, "static", w.path, dict(w.known)
        elif fingerprint(w.definition.read(w.path, usable_in_kernel), seen) != fingerprint(w.value, seen):
            raise Unfingerprintable(f"{w.path} is not where the value came from")
        else:
            yield index, "name", w.path, {}


def _is_small(value: Any) -> bool:
    """Return whether a value is an int (no bool) of 64 bits."""
    return type(value) is int and -(2**63) <= value < 2**63


def _found(digest: str, definition: Definition, types: Mapping[str, AnyType]) -> Lowering | None:
    """Return the cached lowering if every name that it read has the same value now; else None."""
    entry = default_store().get(digest, counted=False)
    if entry is None:
        return None
    try:
        saved = _READER.decode(entry.image)
        seen = Seen(definition)
        if not all(_same(*read, seen) for read in saved.reads):
            return None
        watched = tuple(_watched_again(*w, seen) for w in saved.watched)
    except Exception:  # of the user's own attributes and modules, or of an entry by someone else: lowering decides
        return None
    present = {n: t.present if isinstance(t, Absent) else t for n, t in types.items()}
    params = tuple(Value(t, n) for name, type in present.items() for n, t in leaf_parameters(name, type))
    forward, others = (tuple(Part(label, kind, data, shown) for label, kind, data, shown in p) for p in saved.parts)
    others = others or forward

    def make() -> Function:
        read = from_data(msgspec.msgpack.decode(saved.function), locations=_Locations(seen))
        return replace(read, source=definition.source)

    launch_metadata = _LaunchMetadata(params, saved.launch_ndim, saved.block_dim, saved.adds_alone)
    return Lowering(make, launch_metadata, watched, parts={True: forward, False: others})


def _same(where: int | str, way: str | None, name: str, expected: str, seen: Seen) -> bool:
    """Return whether a name, or an attribute of a module, still has the value with the exact text `expected`.

    Args:
        where: the number, in `seen`, of the definition that reads the name; or a module's name.
        way: the way in which the name was asked for, a key of `WAYS`; None of a module's attribute.
        name: the name.
        expected: an exact text of a value.
        seen: the definitions that are known.
    """
    if isinstance(where, str):
        return fingerprint(getattr(sys.modules.get(where, MISSING), name, MISSING), seen) == expected
    definition = seen.definitions[where]
    if way == GIVEN:
        return fingerprint(definition.annotations[name], seen) == expected
    if way == DEFAULT:
        return fingerprint(definition.default(name), seen) == expected
    return fingerprint(definition.scope.lookup(name, WAYS[way or ""]), seen) == expected  # type: ignore[arg-type]


def _watched_again(index: int, kind: str, path: str, known: dict[str, Any], seen: Seen) -> Dependency:
    """Return a name that a cached lowering watches, with its present value, from a row of `_Saved.watched`."""
    definition = seen.definitions[index]
    if kind == "static":
        return reevaluated_static(definition, path, known)
    if kind == "name":
        return Dependency(definition, path, definition.read(path, usable_in_kernel))
    return watch_custom(definition, seen.customs[id(definition)])


def _put(
    digest: str,
    name: str,
    reads: list[tuple[int | str, str | None, str, str]],
    watched: list[tuple[int, str, str, dict[str, bool | int | float | str]]],
    locations: _Locations,
    result: Lowering,
) -> None:
    """Store a lowering in the cache under a digest; do nothing if its IR cannot be written.

    Args:
        digest: the key.
        name: the kernel's.
        reads: the names that the lowering read, with the exact texts of their values.
        watched: the names that launches watch, in the form of `_Saved.watched`.
        locations: which source positions the IR may refer to.
        result: the lowering, whose parts of keys are stored as well.
    """
    try:
        function = msgspec.msgpack.encode(to_data(result.function, locations))
    except (Unwritable, Unfingerprintable):
        return
    forward, others = result.parts("forward"), result.parts("adjoint")
    functions = (forward, others if others is not forward else ())
    parts = [[(p.label, p.kind, p.data, p.shown) for p in some] for some in functions]
    saved = _Saved(reads, watched, result.launch_ndim, result.block_dim, result.adds_alone, parts, function)
    metadata: dict[str, Any] = {"name": name, "entry": "", "backend": FACT, "target": "", "stages": {}}
    default_store().put(digest, Entry(msgspec.msgpack.encode(saved), metadata))


class _Locations:
    """Converts locations to and from lists that do not depend on where in a file a definition stands.

    A location is stored as the number of its definition and the lines from its `def`.
    """

    def __init__(self, seen: Seen) -> None:
        """Number the lines of the definitions in `seen`, with their decorators; those added later are not known."""
        self.definitions: tuple[Definition, ...] = tuple(seen.definitions)
        self._at: dict[tuple[Source, int], int] = {}
        for index, definition in enumerate(self.definitions):
            begin, end = definition.node.lineno, definition.node.end_lineno or 0
            for line in range(begin - definition.written[1] + 1, end + 1):
                self._at.setdefault((definition.source, line), index)

    def write(self, location: Location) -> list[Any]:
        """Return a location as a list.

        Raises:
            Unfingerprintable: it is in no definition that is known.
        """
        if location.source is UNKNOWN.source:
            return [-1, location.line, location.column, location.end_line, location.end_column]
        index = self._at.get((location.source, location.line))
        if index is None or self._at.get((location.source, location.end_line)) != index:
            raise Unfingerprintable(f"{location} is in no definition that is known")
        begin = self.definitions[index].node.lineno
        return [index, location.line - begin, location.column, location.end_line - begin, location.end_column]

    def read(self, data: list[Any]) -> Location:
        """Return the location that `write` converted, with its definition's present lines."""
        index: int = data[0]
        line, column, end_line, end_column = data[1:]
        if index == -1:
            return Location(UNKNOWN.source, line, column, end_line, end_column)
        definition = self.definitions[index]
        begin = definition.node.lineno
        return Location(definition.source, begin + line, column, begin + end_line, end_column)


def _compare(name: str, cached: Lowering, fresh: Lowering) -> None:
    """Check that the cache has what lowering gives.

    Raises:
        CacheError: it has something else.
    """

    def shown(lowering: Lowering) -> dict[str, Any]:
        function = lowering.function
        return {
            "params": [(p.name, repr(p.type)) for p in lowering.params],
            "facts": (lowering.launch_ndim, lowering.block_dim, lowering.adds_alone),
            "watched": {(w.definition.name, w.path, repr(meaning(w.value))) for w in lowering.watched},
            "forward key": lowering.parts("forward"),
            "other keys": lowering.parts("adjoint"),
            "own keys": [function_parts(function, d) for d in ("forward", "adjoint")],
            "source": function.source,
            "places": [op.location for op in walk(function.body)],
            "view": show(function),
        }

    before, now = shown(cached), shown(fresh)
    wrong = [what for what in now if before[what] != now[what]]
    if wrong:
        raise CacheError(
            f"{name}: lowering gives other {', '.join(wrong)} than the cache: {before[wrong[0]]} became {now[wrong[0]]}"
        )
