"""Structs on the host: values with checked attributes, and what a launch makes of them.

A launch knows parameters of the IR only, so an argument that is a struct, or an array of structs, is spread into one
argument per field. Records, tapes and recorders see ordinary numbers and arrays.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import prod
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.errors import KernelTypeError, LaunchError, its_type
from workbench.host.narrow import is_numpy_array, is_numpy_scalar
from workbench.host.vectors import HostVector
from workbench.ranges import fits, misfit
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.indexed import everywhere, indexedarray, tables
from workbench.runtime.arrays.shapes import Symbol
from workbench.structs import ELEMENT, AnyType, IndexedArray, Struct, StructArray, indices_name
from workbench.types import Aggregate, ArrayType, Complex, Kind, Scalar, Vector, number_type
from workbench.types import bool as bool_

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_COMPLEX: tuple[type[Any], ...] = (int, float, complex, np.number)


def is_number(value: Any) -> bool:
    """Return whether a value is a real number of Python or NumPy; NumPy scalars of bfloat16 and bools count."""
    return isinstance(value, NUMBERS) or (is_numpy_scalar(value) and value.dtype.name == "bfloat16")


class StructValue:
    """The base of every class that `struct` makes: one value of a struct type.

    Fields are attributes. What is assigned is checked and, except for an array, copied: a struct is a value, as in a
    kernel. Vectors and matrices are NumPy arrays, so `p.vel[0] = 1.0` works, and `p.vel.x = 1.0`.
    """

    __wb_struct__: ClassVar[Struct]
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, *values: Any, **fields: Any) -> None:
        """Create a value with these fields, by position or by name.

        A field that is not passed has its default if the struct has one; else it is zero, or None for an array.

        Raises:
            KernelTypeError: a value does not fit its field, there is no such field, or one is passed twice.
        """
        struct = self.__wb_struct__
        if len(values) > len(struct.fields):
            raise KernelTypeError(f"{struct!r}() takes {len(struct.fields)} fields; {len(values)} were given.")
        by_position = {f.name: v for f, v in zip(struct.fields, values, strict=False)}
        twice = by_position.keys() & fields.keys()
        if twice:
            raise KernelTypeError(f"{min(twice)} is given twice to {struct!r}().")
        for f in struct.fields:
            self.__dict__[f.name] = _zero(f.type)
            if f.default is not None:
                setattr(self, f.name, f.default)
        for name, value in {**by_position, **fields}.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field to a checked copy of the value; an array is shared.

        Raises:
            KernelTypeError: there is no such field, or the value does not fit it.
        """
        struct = self.__wb_struct__
        field = struct.find(name)
        if field is None:
            near = difflib.get_close_matches(name, [f.name for f in struct.fields], 1)
            advice = f"Did you mean {near[0]}?" if near else f"Its fields: {', '.join(f.name for f in struct.fields)}."
            raise KernelTypeError(f"{struct!r} has no field {name}.", advice=advice)
        self.__dict__[name] = fitted(field.type, value, f"{struct!r}.{name}")

    def __delattr__(self, name: str) -> None:
        """Raise a KernelTypeError: fields stay."""
        raise KernelTypeError(f"A field of a struct cannot be deleted: {self.__wb_struct__!r}.{name}.")

    def as_tuple(self) -> tuple[Any, ...]:
        """Return the fields in order, nested structs as tuples: what NumPy makes a record of."""
        values = (self.__dict__[f.name] for f in self.__wb_struct__.fields)
        return tuple(v.as_tuple() if isinstance(v, StructValue) else v for v in values)

    def numpy(self) -> Any:
        """Return the value as a NumPy record of the struct's layout.

        Raises:
            TypeError: a field is an array.
        """
        return np.array(self.as_tuple(), self.__wb_struct__.numpy)[()]

    @classmethod
    def from_record(cls, record: Any) -> StructValue:
        """Return the value that a NumPy record of the struct's layout holds."""
        value = object.__new__(cls)
        for f in cls.__wb_struct__.fields:
            part = record[f.name]
            if isinstance(f.type, Struct):
                part = f.type.host.from_record(part)
            has_shape = isinstance(f.type, Vector) and f.type.shape
            value.__dict__[f.name] = HostVector.of(np.array(part), f.type) if has_shape else _plain(part)
        return value

    def __copy__(self) -> StructValue:
        """Return a copy of the value, nested structs and vectors included; fields that are arrays are shared."""
        copied = object.__new__(type(self))
        copied.__dict__.update({name: _copied(v) for name, v in self.__dict__.items()})
        return copied

    def __eq__(self, other: object) -> bool:
        """Return whether both have equal struct types and fields; arrays are equal if they are one object."""
        if not isinstance(other, StructValue) or other.__wb_struct__ != self.__wb_struct__:
            return False
        pairs = ((v, other.__dict__[n]) for n, v in self.__dict__.items())
        return all(a is b if isinstance(a, array) else bool(np.all(a == b)) for a, b in pairs)

    def __repr__(self) -> str:
        fields = (f"{f.name}={_shown(self.__dict__[f.name])}" for f in self.__wb_struct__.fields)
        return f"{self.__wb_struct__!r}({', '.join(fields)})"


def _zero(type: AnyType) -> Any:
    """Return the value that a struct's field of this type has at first: zero on the host, None for an array."""
    if isinstance(type, Struct):
        return type.host()
    if isinstance(type, (ArrayType, StructArray)):
        return None
    if isinstance(type, Vector):
        return HostVector.of(np.zeros(type.shape, type.numpy), type) if type.shape else 0j
    assert isinstance(type, Scalar)
    return False if type == bool_ else 0.0 if type.kind is Kind.FLOAT else 0


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python number; other values unchanged."""
    return value.item() if is_numpy_scalar(value) else value


def _copied(value: Any) -> Any:
    """Return a copy of a struct or NumPy array; other values, Workbench arrays among them, unchanged."""
    return value.__copy__() if isinstance(value, StructValue) or is_numpy_array(value) else value


def _shown(value: Any) -> str:
    """Return a field's value as text: an array by shape and dtype."""
    if isinstance(value, array):
        return f"array(shape={value.shape}, dtype={value.dtype!r})"
    return str(value.tolist()) if isinstance(value, np.ndarray) else repr(value)


def _is_indexed(value: object, type: IndexedArray) -> bool:
    """Return whether the value is an indexed array of exactly this type."""
    return isinstance(value, indexedarray) and value.type == type


def fitted(type: AnyType, value: Any, what: str) -> Any:
    """Return a value as a struct's field, or an element, of this type holds it: arrays are shared, all else is copied.

    Args:
        type: the type of the field or element.
        value: what is to be stored there.
        what: the field or element, as the message of an error names it.

    Raises:
        KernelTypeError: the value does not fit.
    """
    if isinstance(type, Struct):
        return _copied(same_struct(type, value, what))
    if isinstance(type, IndexedArray) and _is_indexed(value, type):
        return everywhere(value)
    if isinstance(type, (ArrayType, StructArray)):
        if is_numpy_array(value) and isinstance(type, ArrayType):
            value = array(value, type.dtype, copy=False)
        if value is not None and not (isinstance(value, array) and value.type == type):
            got = repr(value.type) if isinstance(value, array) else its_type(value)
            raise KernelTypeError(f"{what} is {type!r}; this is {got}.")
        return value
    assert not isinstance(type, Aggregate)
    if isinstance(value, Symbol):
        return value.become("a struct", what, type)
    if isinstance(type, Vector) and type.shape:
        if isinstance(value, (array, StructValue)) or np.shape(value) not in (type.shape, (prod(type.shape),)):
            wanted = " × ".join(map(str, type.shape))
            raise KernelTypeError(f"{what} is {type!r}: {wanted} numbers; this is {value!r}.")
        numbers = np.array([fitted(number_type(type), n, what) for n in np.ravel(value)], type.numpy)
        return HostVector.of(numbers.reshape(type.shape), type)
    if isinstance(type, Complex):
        if not isinstance(value, _COMPLEX) or not fits(value, type.dtype):
            raise KernelTypeError(f"{what} is {type!r}: a number that fits; this is {value!r}.")
        return complex(value)
    if not is_number(value):
        raise KernelTypeError(f"{what} is {type!r}; this is {its_type(value)}: {value!r}.")
    return number(type, value, what)  # type: ignore[arg-type]


def number(type: Scalar, value: Any, what: str) -> Any:
    """Return the Python number that a scalar of a type holds for a number.

    Args:
        type: the scalar type.
        value: the number.
        what: the field or element, as the message of an error names it.

    Raises:
        KernelTypeError: a float where an integer is expected, or a number that is too large.
    """
    if type == bool_:
        return bool(value)
    if type.kind is Kind.FLOAT:
        if not fits(value, type):
            raise KernelTypeError(f"{misfit(value, type, what)}.", advice="Write inf if that is intended.")
        return float(value)
    if isinstance(value, (float, np.floating)):
        raise KernelTypeError(f"{what} is {type!r}; {value!r} is a float.", advice=f"Write int({value!r}).")
    if not fits(int(value), type):
        raise KernelTypeError(f"{misfit(int(value), type, what)}.")
    return int(value)


def same_struct(type: Struct, value: Any, what: str) -> StructValue:
    """Return the value if it is a struct of this type, or of one with the same content.

    Raises:
        KernelTypeError: it is something else; of another struct the first difference is named.
    """
    if isinstance(value, StructValue) and value.__wb_struct__ == type:
        return value
    if isinstance(value, StructValue):
        theirs = value.__wb_struct__
        raise KernelTypeError(f"{what} is {type!r}; this {theirs!r} is another struct: {type.difference(theirs)}.")
    raise KernelTypeError(f"{what} is {type!r}; this is {its_type(value)}.", advice=f"Pass {type!r}(…).")


def spread(name: str, value: Any) -> dict[str, Any]:
    """Return an argument of a kernel as arguments, by name, for the parameters that its IR has in its place.

    A struct becomes its fields, an array of structs an array for each field, an indexed array the array and its
    indices; anything else stays as it is.

    Raises:
        LaunchError: a struct's field that is to be an array has none.
    """
    if isinstance(value, array) and isinstance(value.dtype, Struct):
        return {f"{name}{ELEMENT}.{path}": part for path, part in value.field_arrays().items()}
    if isinstance(value, indexedarray):
        return {name: value.data, **{indices_name(name, axis): t for axis, t in tables(value)}}
    if not isinstance(value, StructValue):
        return {name: value}
    parts: dict[str, Any] = {}
    for f in value.__wb_struct__.fields:
        part = value.__dict__[f.name]
        if part is None:
            raise LaunchError(f"The field {f.name} of {name} has no array.", parameter=name, advice="Assign it first.")
        if isinstance(part, np.ndarray):
            part = components(part)
        parts |= spread(f"{name}.{f.name}", part)
    return parts


def components(value: Any) -> tuple[Any, ...]:
    """Return the numbers of a vector or a matrix, row by row."""
    numbers = value.tolist()
    return tuple(numbers) if value.ndim == 1 else tuple(n for row in numbers for n in row)


def spread_values(values: Iterable[Any]) -> list[Any] | None:
    """Return, in order, the values for a kernel's IR parameters that these arguments become.

    A struct becomes its fields, an array of structs an array for each field, an indexed array the array and its
    indices, a vector the tuple of its numbers. None if an argument, or an array field, is None.
    """
    spread_list: list[Any] = []
    for value in values:
        if isinstance(value, array) and type(value.dtype) is not Struct:
            spread_list.append(value)
        elif isinstance(value, StructValue):
            held = value.__dict__
            parts = spread_values([held[f.name] for f in value.__wb_struct__.fields])
            if parts is None:
                return None
            spread_list += parts
        elif type(value) is HostVector:
            spread_list.append(components(value))
        elif value is None:
            return None
        elif isinstance(value, (indexedarray, array)):
            spread_list += spread("", value).values()
        else:
            spread_list.append(value)
    return spread_list


class PlainFields(NamedTuple):
    """Functions that read structs of a class, all of whose fields are numbers and arrays, in one expression each.

    Attributes:
        values: takes the fields by name; returns their values in order.
        kind: takes the same; returns the class and the arrays' tags, or raises AttributeError if a field has no array.
    """

    values: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    kind: Callable[[Mapping[str, Any]], tuple[Any, ...]]


@lru_cache(maxsize=1024)
def plain_fields(host: type[StructValue]) -> PlainFields | None:
    """Return the functions that read a class of structs; None unless it has two or more fields, numbers and arrays."""
    fields = host.__wb_struct__.fields
    arrays = [f.name for f in fields if type(f.type) is ArrayType]
    numbers = [f for f in fields if isinstance(f.type, Scalar)]
    if len(arrays) + len(numbers) < len(fields) or len(fields) < 2:  # of one name `itemgetter` makes no tuple
        return None
    kind = eval(f"lambda held: (host, {', '.join(f'held[{name!r}].tag' for name in arrays)})", {"host": host})
    return PlainFields(itemgetter(*[f.name for f in fields]), kind)


def spread_all(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments, by name, as those for the parameters that the kernel's IR has in their place.

    A struct becomes its fields, an array of structs an array for each field, an indexed array the array and its
    indices; anything else stays as it is.

    Raises:
        LaunchError: a struct's field that is to be an array has none.
    """
    parts: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, (array, indexedarray, StructValue)):
            parts |= spread(name, value)
        else:
            parts[name] = value
    return parts


def arrays_in(value: Any) -> list[array]:
    """Return the arrays that an argument is or holds, those of indices included."""
    if isinstance(value, array):
        return [value]
    if isinstance(value, indexedarray):
        return [value.data, *(t for _, t in tables(value))]
    if not isinstance(value, StructValue):
        return []
    parts = [part for part in vars(value).values() if type(part) not in _NUMBERS]
    return [a for part in parts for a in ([part] if isinstance(part, array) else arrays_in(part))]


_NUMBERS = (float, int, HostVector)


def kind_of(value: object) -> Any:
    """Return a hashable value that arguments have in common if the same compiled code suits them.

    It is an array's tag, a struct's class with its arrays' tags, the identity of a vector's type, or the Python type.
    """
    if isinstance(value, StructValue):
        plain = plain_fields(type(value))
        if plain is not None:
            try:
                return plain.kind(value.__dict__)
            except AttributeError:  # a field that is an array has none: no launch has that kind
                pass
        return (type(value), *[a.tag for a in arrays_in(value)])
    if isinstance(value, indexedarray):
        return ("indexed", *(None if a is None else a.tag for a in (value.data, *value.indices)))
    if type(value) is HostVector:
        return id(value.type)  # long to hash; whoever keeps the kind keeps the type
    return value.tag if isinstance(value, array) else type(value)
