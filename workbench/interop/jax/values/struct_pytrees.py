"""Structs as trees of JAX values, and numbers that JAX traces.

Structs of arrays and numbers are trees with a value for each field, such as dicts and named tuples. A kernel takes a
struct as one parameter per field, `body.mass`; so a tree is taken apart into those, and what comes out is put back into
a tree of the same kind.

A number that JAX traces, inside a function that `jax_callable` traces, computes, and has no value yet (`TracedNumber`).
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from workbench.errors import LaunchError
from workbench.interop.jax.values import arguments
from workbench.interop.jax.values.library import library
from workbench.runtime.arrays.shapes import Symbol
from workbench.runtime.arrays.structure import StructValue
from workbench.structs import Struct
from workbench.types import NUMBERS, ArrayType, Scalar, Type, Vector

_registered: set[type[StructValue]] = set()


def register_structs() -> None:
    """Register every struct that is defined with JAX, so that its values are pytrees with a leaf for each field."""
    for kind in StructValue.__subclasses__():
        if kind not in _registered:
            _registered.add(kind)
            library().jax.tree_util.register_pytree_with_keys(kind, _with_keys, partial(_of_fields, kind))


def _with_keys(value: StructValue) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
    """Return a struct as JAX flattens it: its values with their keys, and the fields' names."""
    key = library().jax.tree_util.GetAttrKey
    # JAX takes plain NumPy arrays for leaves, not those that have a vector's components as attributes.
    fields = {n: np.asarray(v) if isinstance(v, np.ndarray) else v for n, v in vars(value).items()}
    return [(key(n), v) for n, v in fields.items()], tuple(fields)


def _of_fields(kind: type[StructValue], names: tuple[str, ...], values: Iterable[Any]) -> StructValue:
    """Return a struct of the class `kind` with these values, which are not checked."""
    # Not checked: what JAX puts into a tree may be a tracer, a type or a placeholder of its own.
    value = object.__new__(kind)
    vars(value).update(zip(names, values, strict=True))
    return value


def fields_of(name: str, type: Any) -> Iterator[tuple[str, Type]]:
    """Yield name and type of a kernel's parameter; of a struct, those of each of its fields."""
    if isinstance(type, Struct):
        for field in type.fields:
            yield from fields_of(f"{name}.{field.name}", field.type)
    else:
        yield name, type


def array_fields(name: str, type: Any) -> Iterator[str]:
    """Yield the names of the fields that are arrays, which can be results."""
    return (n for n, t in fields_of(name, type) if isinstance(t, ArrayType))


def coming_out(name: str, type: Any) -> Iterator[str]:
    """Return the parameters that are results where `name` is one: of a struct its array fields, else itself."""
    return array_fields(name, type) if isinstance(type, Struct) else iter((name,))


def taken_apart(kernel: str, name: str, type: Any, value: Any) -> Iterator[Any]:
    """Yield the values of a kernel's parameter: of a struct those of its fields in order, of any other type itself.

    Raises:
        LaunchError: the tree has no value for a field.
    """
    if isinstance(type, Struct):
        for field in type.fields:
            inner = f"{name}.{field.name}"
            yield from taken_apart(kernel, inner, field.type, _field(kernel, name, type, value, field.name))
    else:
        yield value


def _field(kernel: str, name: str, struct: Struct, value: Any, field: str) -> Any:
    """Return the value of a struct's field: an item of a mapping, else an attribute.

    Raises:
        LaunchError: the value has none of that name.
    """
    missing = object()
    content = value.get(field, missing) if isinstance(value, Mapping) else getattr(value, field, missing)
    if content is missing:
        listed = ", ".join(f.name for f in struct.fields)
        raise LaunchError(
            f"{name} of {kernel} is a {struct!r}, and {type(value).__name__} has no {field}.",
            advice=f"Pass a dict, a named tuple or another object with {listed}.",
            function=kernel,
            parameter=name,
        )
    return content


def put_back(kind: Any, value: Any, new: Iterator[Any]) -> Any:
    """Return a copy of the tree `value` with its arrays, in the fields' order, replaced by new ones.

    `kind` is its type, and the new ones are taken from `new`. A tree that is no mapping, struct, named tuple or
    dataclass becomes a dict of its fields. A number is returned as it is.
    """
    if not isinstance(kind, Struct):
        return next(new) if isinstance(kind, ArrayType) else value
    changed = {}
    for field in kind.fields:
        old = value[field.name] if isinstance(value, Mapping) else getattr(value, field.name)
        changed[field.name] = put_back(field.type, old, new)
    if isinstance(value, Mapping):
        return {**value, **changed}
    if isinstance(value, StructValue):
        return _of_fields(type(value), tuple(vars(value)), ({**vars(value), **changed}).values())
    if isinstance(value, tuple):
        return type(value)(**changed)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **changed)
    # Of any other object it is not known how one is made: its arrays come out in a dict.
    return changed


class TracedNumber(Symbol):
    """Represents a JAX value of rank 0 under a parameter's name; arithmetic with numbers gives others."""

    def __init__(self, type: Scalar | Vector, value: Any, name: str, read: Callable[[str, str], Exception]) -> None:
        """Wrap a traced number; `read` makes the error for a use that needs its value, from use and name."""
        super().__init__(type)
        self.value = value
        self.name = name
        self._read = read

    def become(self, kernel: str, name: str, type: Scalar | Vector) -> TracedNumber:
        """Return the number as an argument of this type.

        Raises:
            LaunchError: it is of another type that does not convert to this one.
        """
        scalars = type in NUMBERS.values() and self.type in NUMBERS.values()
        if self.type != type and not scalars:
            raise LaunchError(f"{name} of {kernel} takes {type!r}, not {self.type!r}.", function=kernel, parameter=name)
        if isinstance(type, Vector) and type.shape:
            return self
        return TracedNumber(type, arguments.operand(kernel, name, self.value, type), self.name, self._read)

    def _with(self, value: Any) -> TracedNumber:
        """Return a traced number with another JAX value, of that value's type, under the same name."""
        return TracedNumber(NUMBERS[value.dtype.name], value, self.name, self._read)

    def _refuse(self, *_: Any) -> Any:
        """Raise the error for code that reads the number, which has no value yet."""
        raise self._read(f"asks for the value of {self.name}", self.name)

    __bool__ = __int__ = __float__ = __index__ = _refuse

    def __hash__(self) -> int:
        """Return a hash by identity, since `==` gives a traced value."""
        # == computes a traced value, which no dict can use; by identity a number is found before that is asked.
        return id(self)

    def __repr__(self) -> str:
        """Return the name and the type."""
        return f"<{self.name}, a traced {self.type!r}>"


def _binary(act: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a method that applies `act` to the values of two numbers; NotImplemented if the other is none."""

    def method(self: TracedNumber, other: Any) -> Any:
        if isinstance(other, TracedNumber):
            return self._with(act(self.value, other.value))
        return self._with(act(self.value, other)) if isinstance(other, (bool, int, float, complex)) else NotImplemented

    return method


def _unary(act: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a method that applies `act` to a number's value."""
    return lambda self: self._with(act(self.value))


def _reversed(act: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a method that applies `act` to the values of another number and of this one, in that order.

    The method returns NotImplemented if the other is no number.
    """
    return _binary(lambda a, b: act(b, a))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(TracedNumber, f"__{_name}__", _binary(getattr(operator, _name)))
    setattr(TracedNumber, f"__r{_name}__", _reversed(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(TracedNumber, f"__{_name}__", _binary(getattr(operator, _name)))
for _name in ("neg", "pos", "abs"):
    setattr(TracedNumber, f"__{_name}__", _unary(getattr(operator, _name)))
