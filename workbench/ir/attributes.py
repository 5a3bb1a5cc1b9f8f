"""Attributes of operations: each is declared once, with the type of its values.

    op.attrs[SHAPE]         its value; a type checker knows that it is a tuple of ints
    op.attrs.get(UNROLL)    of one that may be missing or None ("?" in the table `ir.ops`): its value, or None
    {SHAPE: (4, 4)}         what `Builder.emit` takes
    SHAPE.of((4, 4))        the same with the value's type checked ahead, if an operation has one attribute

The table says which operation has which attributes, and `ir.verify` compares operations with both. What they mean is
explained with the operations, in `ir.values` and `ir.tiles`.
"""

from __future__ import annotations

from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast, get_args, get_origin, overload

from workbench.source import Location

T = TypeVar("T")
Number: TypeAlias = int | float
DECLARED: dict[str, Attribute[Any]] = {}
"""Every attribute by its name."""


class Attribute(str, Generic[T]):
    """The name of an attribute whose values are of type T.

    It is a string, so that the attributes of an operation are a plain dict, which prints, pickles and is written to a
    file without a step of its own.

    Args:
        name: as in the table `ir.ops`; no two attributes share one.
        kind: the type of its values, a class or `tuple[…, ...]`. None if it cannot be checked, or if its type is
            declared in a package that `ir` must not import.
    """

    def __new__(cls, name: str, kind: type[T] | None = None) -> Attribute[T]:
        """Declare an attribute and add it to `DECLARED`."""
        assert name not in DECLARED, f"the attribute {name} is declared twice"
        attribute = DECLARED[name] = super().__new__(cls, name)
        attribute._whole = get_origin(kind) or kind or object
        attribute._part = next(iter(get_args(kind)), object)
        return attribute

    _whole: type
    _part: type

    def takes(self, value: object) -> bool:
        """Return whether `value` has the declared type.

        A bool counts as no int, and the elements of a tuple have to be of the declared type too.
        """
        if isinstance(value, bool):
            return self._whole in (bool, object)
        if not isinstance(value, self._whole):
            return False
        return not isinstance(value, tuple) or all(isinstance(p, self._part) for p in cast(tuple[object, ...], value))

    def of(self, value: T) -> Attributes:
        """Return the attributes of an operation that has this one alone, with this value."""
        return attributes({self: value})

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as a plain str, which is equal to the attribute."""
        return str, (str(self),)  # equal to it, so that it is found under either


class Attributes(Protocol):
    """The type of `Op.attrs`, as a type checker sees it: values by attributes. At run time it is a dict."""

    def __getitem__(self, key: Attribute[T], /) -> T: ...

    @overload
    def get(self, key: Attribute[T], /) -> T | None: ...
    @overload
    def get(self, key: Attribute[T], default: T, /) -> T: ...
    def get(self, key: Attribute[T], default: T | None = None, /) -> T | None:
        """Return the value; if the operation does not have the attribute, `default`, or None without one."""

    def __contains__(self, key: object, /) -> bool: ...

    def values(self) -> ValuesView[object]:
        """Return the values of the attributes that the operation has."""
        ...

    def keys(self) -> KeysView[Attribute[object]]:
        """Return the attributes that the operation has."""
        ...

    def items(self) -> ItemsView[Attribute[object], object]:
        """Return the attributes that the operation has, with their values."""
        ...


def attributes(values: Attributes | Mapping[str, object]) -> Attributes:
    """Return a dict, typed as `Attributes` for type checkers; `ir.verify` checks the values' types.

    An attribute that is None is left out, as it is when a function is read from a file: passes compare attributes, and
    a kernel that comes from the cache must become the same code as one that was just lowered.
    """
    if None in values.values():
        values = {name: value for name, value in values.items() if value is not None}
    return cast(Attributes, values)


VALUE = Attribute[Number | tuple[Number, ...]]("value")
"""The value of a constant: a number, or a tuple of numbers for a vector; see `ir.values.number_of`."""
CAPTURED = Attribute("captured", str)
AXIS = Attribute("axis", int)
LEVEL = Attribute("level", str)
KIND = Attribute("kind", str)
REASON = Attribute[object]("reason")
"""The reason why a value is unavailable: a string; inside autodiff a `Missing`."""
MESSAGE = Attribute("message", str)
NUMBER = Attribute("number", int)
PARTS = Attribute[tuple[str | tuple[str, ...], ...]]("parts", tuple)
FRAMES = Attribute[tuple[object, ...]]("frames", tuple)
"""A tuple of `frontend.Frame`s."""
END = Attribute("end", bool)
COLD = Attribute("cold", bool)
SCALAR = Attribute("scalar", bool)
PLAIN = Attribute("plain", bool)
UNROLL = Attribute("unroll", bool)
REDUCTION = Attribute("reduction", bool)
ACCUMULATOR = Attribute("accumulator", int)
"""The number of the CUDA thread's local that accumulates the change."""
INTERIOR = Attribute("interior", bool)
VERSIONS = Attribute("versions", bool)
"""Of an `if` that chooses one of two forms of the whole function, by what is known before a launch."""

# Of a `custom`; its blocks, `gradient`, `replay` and `derive`, are in `ir.values`.
NAME = Attribute("name", str)
ADJOINTS = Attribute("adjoints", tuple[int, ...])
CUDA = Attribute("cuda", str)
ADJ_CUDA = Attribute("adj_cuda", str)
REPLAY_CUDA = Attribute("replay_cuda", str)
CUDA_PLACE = Attribute("cuda_place", Location)
ADJ_CUDA_PLACE = Attribute("adj_cuda_place", Location)
REPLAY_CUDA_PLACE = Attribute("replay_cuda_place", Location)
INPUTS = Attribute("inputs", tuple[str, ...])
OUTPUTS = Attribute("outputs", tuple[str, ...])
REFERENCE = Attribute("reference", bool)

SHAPE = Attribute("shape", tuple[int, ...])
BOUNDS = Attribute("bounds", bool)
AXES = Attribute("axes", tuple[int, ...])
EXCLUSIVE = Attribute("exclusive", bool)
TRANSPOSE_A = Attribute("transpose_a", bool)
TRANSPOSE_B = Attribute("transpose_b", bool)
ROLE = Attribute("role", str)
PRECISION = Attribute("precision", str)
LINKED = Attribute("linked", str)

# Of operations inside one pass or one backend.
STANDS_FOR = Attribute[object]("stands_for")
"""A `Later` of autodiff."""
ACCUMULATE = Attribute("accumulate", bool)
COUNT = Attribute("count", int)
OFFSET = Attribute("offset", int)
USES = Attribute[tuple[object, ...]]("uses", tuple)
"""A tuple of `Use`s of shared memory, of the CUDA backend."""
WAIT = Attribute("wait", bool)
STEP = Attribute("step", int)
THREADS = Attribute("threads", int)
PRODUCT = Attribute[object]("product")
"""A `Product` of the CUDA backend."""
