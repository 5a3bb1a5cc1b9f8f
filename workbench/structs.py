"""Struct types: named fields with a C layout, and arrays of them.

A struct exists for people and for host memory. A kernel's IR has none: a struct parameter is one parameter a field, an
array of structs one strided array a field (`leaf_parameters`), so every pass and backend sees numbers and arrays alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from workbench.types import (
    MAX_NDIM,
    Aggregate,
    ArrayType,
    Scalar,
    Type,
    Vector,
    as_type,
    element,
    int32,
    is_float,
    uint8,
)

ELEMENT = "[]"  # in a parameter's name: a field of every element of an array of structs, `ps[].x`

_NO_ARRAYS_OF = (
    "{0} holds arrays, so there are no arrays of it: a launch binds every array by itself; join their data to one "
    "array, and keep each one's first index and length in the struct"
)


@dataclass(frozen=True)
class Field:
    """Represents a field of a struct: its name, its type, where it begins, in bytes, and its default.

    Attributes:
        default: a number, or the components of a vector; None is zero.
    """

    name: str
    type: AnyType
    offset: int
    default: Any = None


@dataclass(frozen=True)
class Leaf:
    """Represents a field that is no struct, at the bottom of a struct: path (`body.mass`), type, offset in bytes."""

    path: str
    type: Type | StructArray
    offset: int


@dataclass(frozen=True)
class Struct:
    """Represents a struct type, compared by content.

    Attributes:
        name: as written.
        fields: in order, with the offsets that C and NumPy's aligned structured dtypes give them.
        host: the Python class whose instances are its values; not compared.
        stands_for: the struct in whose place this one may be: what takes that one takes this one, too; not compared.
    """

    name: str
    fields: tuple[Field, ...]
    host: Any = field(default=None, compare=False, repr=False)
    stands_for: Struct | None = field(default=None, compare=False, repr=False)

    def fits(self, other: object) -> bool:
        """Return whether a parameter or field of the type `other` takes a value of this struct."""
        return self == other or (self.stands_for is not None and self.stands_for == other)

    @classmethod
    def of(cls, name: str, fields: list[tuple[str, AnyType]]) -> Struct:
        """Return the struct of these fields, laid out as C does: each at the next multiple of its alignment."""
        placed, end = list[Field](), 0
        for label, type in fields:
            at = -(-end // alignment(type)) * alignment(type)
            placed.append(Field(label, type, at))
            end = at + size(type)
        return cls(name, tuple(placed))

    def with_types(self, types: Mapping[str, AnyType]) -> Struct:
        """Return a struct that stands for this one, with other types of these fields; itself if they are the same."""
        fields = [(f.name, types.get(f.name, f.type)) for f in self.fields]
        if all(type == f.type for (_, type), f in zip(fields, self.fields, strict=True)):
            return self
        return replace(Struct.of(self.name, fields), stands_for=self.stands_for or self)

    @cached_property
    def alignment(self) -> int:
        """The strictest alignment of a field, in bytes."""
        return max((alignment(f.type) for f in self.fields), default=1)

    @cached_property
    def size(self) -> int:
        """Bytes of a value in memory, padding included."""
        end = max((f.offset + size(f.type) for f in self.fields), default=0)
        return -(-max(end, 1) // self.alignment) * self.alignment

    @property
    def shape(self) -> tuple[int, ...]:
        """The NumPy shape of a value: ()."""
        return ()

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The fields that are no structs, those of nested structs among them, in order."""
        return tuple(_leaves(self, "", 0))

    @cached_property
    def dtype(self) -> Scalar:
        """The scalar type in which a gradient of it counts: of its first float field; uint8 if there is none."""
        floats = (element(leaf.type) for leaf in self.leaves if not _is_array(leaf.type) and is_float(leaf.type))
        return next(floats, uint8)

    @cached_property
    def has_arrays(self) -> bool:
        """Return whether a field, or a field of a nested struct, is an array."""
        return any(_is_array(leaf.type) for leaf in self.leaves)

    @cached_property
    def numpy(self) -> np.dtype[Any]:
        """NumPy's structured dtype of the same layout.

        Raises:
            TypeError: the struct holds arrays.
        """
        if self.has_arrays:
            raise TypeError(_NO_ARRAYS_OF.format(self.name))
        return np.dtype(
            {
                "names": [f.name for f in self.fields],
                "formats": [_format(f.type) for f in self.fields],
                "offsets": [f.offset for f in self.fields],
                "itemsize": self.size,
            }
        )

    @cached_property
    def content(self) -> str:
        """Everything that layout and meaning depend on, all fields with types and offsets, as text: for module keys."""
        return ", ".join(f"{leaf.path}: {_written(leaf.type)} at {leaf.offset}" for leaf in self.leaves)

    def find(self, name: str) -> Field | None:
        """Return the field of this name; None if there is none."""
        return next((f for f in self.fields if f.name == name), None)

    def difference(self, other: Struct) -> str:
        """Return the first difference from another struct, as a phrase: `vel is vec3, not vec2`.

        If the fields are the same, it is about the name.
        """
        for mine, theirs in zip(self.fields, other.fields, strict=False):
            if mine.name != theirs.name:
                return f"field {mine.name} comes where the other has {theirs.name}"
            if mine.type != theirs.type:
                return f"{mine.name} is {_written(mine.type)}, not {_written(theirs.type)}"
        if len(self.fields) != len(other.fields):
            more = (self.fields if len(self.fields) > len(other.fields) else other.fields)[
                min(len(self.fields), len(other.fields))
            ]
            return f"field {more.name} is {'missing' if more in self.fields else 'new'}"
        return f"it is called {other.name}"

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class StructArray:
    """Represents an array parameter whose elements are structs: their type, and 1 to 4 dimensions."""

    dtype: Struct
    ndim: int = 1

    def __repr__(self) -> str:
        return f"array[{self.dtype!r}]" if self.ndim == 1 else f"array{self.ndim}d[{self.dtype!r}]"


@dataclass(frozen=True, repr=False)
class Absent(ArrayType):
    """Represents the type of an array parameter in a launch that passes None."""

    @property
    def present(self) -> ArrayType:
        """The parameter's type where an array is passed."""
        return ArrayType(self.dtype, self.ndim)

    def __repr__(self) -> str:
        return f"None for {self.present!r}"


@dataclass(frozen=True, repr=False)
class IndexedArray(ArrayType):
    """Represents an array parameter that is read through arrays of indices: the type of the array behind it.

    Attributes:
        indexed: which dimensions have an array of indices; all where it is empty. Each launch decides, so it is not
            part of what users compare.
    """

    indexed: tuple[bool, ...] = field(default=(), compare=False)

    @property
    def behind(self) -> ArrayType:
        """The type of the array behind the indices."""
        return ArrayType(self.dtype, self.ndim)

    @property
    def tables(self) -> tuple[int, ...]:
        """The dimensions that have an array of indices."""
        return tuple(k for k in range(self.ndim) if not self.indexed or self.indexed[k])

    def __repr__(self) -> str:
        return f"indexed{self.behind!r}"


AnyType: TypeAlias = "Type | Struct | StructArray"


def _is_array(type: AnyType) -> bool:
    """Return whether the type is that of an array, also of structs."""
    return isinstance(type, (ArrayType, StructArray))


def alignment(type: AnyType) -> int:
    """Return the alignment in bytes of a field of this type: the size of its scalar, as in C; 8 for an array."""
    if isinstance(type, Struct):
        return type.alignment
    return 8 if _is_array(type) else element(type).size


def size(type: AnyType) -> int:
    """Return the bytes of a field of this type; an array counts as an address."""
    assert not isinstance(type, Aggregate)
    return 8 if isinstance(type, (ArrayType, StructArray)) else type.size


def _format(type: AnyType) -> Any:
    """Return the NumPy format of a field's type, for a structured dtype."""
    if isinstance(type, Struct):
        return type.numpy
    return (type.numpy, type.shape) if isinstance(type, Vector) else element(type).numpy


def _leaves(struct: Struct, prefix: str, start: int) -> Iterator[Leaf]:
    """Yield the fields of a struct that are no structs, with dotted names and offsets from the outermost struct."""
    for f in struct.fields:
        if isinstance(f.type, Struct):
            yield from _leaves(f.type, f"{prefix}{f.name}.", start + f.offset)
        else:
            yield Leaf(f"{prefix}{f.name}", f.type, start + f.offset)


def _written(type: AnyType) -> str:
    """Return the text of a type; of a struct, or an array of structs, with all its fields."""
    if isinstance(type, Struct):
        return f"{type.name}({type.content})"
    return f"array{type.ndim}d[{type.dtype.content}]" if isinstance(type, StructArray) else repr(type)


def field_array(leaf: Leaf, struct: Struct, ndim: int) -> ArrayType:
    """Return the type of the strided array of one field of every element of an array of structs."""
    assert isinstance(leaf.type, (Scalar, Vector))
    return ArrayType(leaf.type, ndim, struct.size, leaf.offset)


def leaf_parameters(name: str, type: AnyType) -> list[tuple[str, Type]]:
    """Return the IR parameters that a parameter of the language becomes: itself, or one a field, in order.

    `p.x`, `p.body.mass` of a struct; `ps[].x`, `ps[].body.mass` of an array of structs, each a strided array.
    """
    if isinstance(type, StructArray):
        leaves = type.dtype.leaves
        return [(f"{name}{ELEMENT}.{leaf.path}", field_array(leaf, type.dtype, type.ndim)) for leaf in leaves]
    if isinstance(type, Struct):
        return [part for f in type.fields for part in leaf_parameters(f"{name}.{f.name}", f.type)]
    if isinstance(type, IndexedArray):
        return [(name, type.behind), *((indices_name(name, k), ArrayType(int32)) for k in type.tables)]
    return [(name, type)]


def indices_name(name: str, axis: int) -> str:
    """Return the name of the IR parameter with the indices of an indexed array along an axis."""
    return f"{name}.indices{axis}"


def as_element(spec: Any) -> Scalar | Vector | Struct:
    """Return the element type that `spec` means: what `as_type` takes, a struct class, or a struct type.

    Raises:
        TypeError: `spec` names no type of the language.
    """
    if isinstance(spec, (Struct, Vector)):
        return spec
    struct = getattr(spec, "__wb_struct__", None)
    return struct if isinstance(struct, Struct) else as_type(spec)


def array_type(dtype: Any, ndim: int) -> ArrayType | StructArray:
    """Return the type of arrays with these elements.

    Raises:
        TypeError: `dtype` names no type, a struct that itself holds arrays, or the dimensions are not 1 to 4.
    """
    kind = as_element(dtype)
    if type(ndim) is not int or not 1 <= ndim <= MAX_NDIM:
        raise TypeError(f"an array has 1 to 4 dimensions, not {ndim!r}")
    if not isinstance(kind, Struct):
        return ArrayType(kind, ndim)
    if kind.has_arrays:
        raise TypeError(_NO_ARRAYS_OF.format(kind.name))
    return StructArray(kind, ndim)
