"""Structs of arrays and numbers under JAX: trees with a value for each field, such as dicts and named tuples.

A kernel takes a struct as one parameter per field, `body.mass`; so a tree is taken apart into those, and what comes out
is put back into a tree of the same kind.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from workbench.errors import LaunchError
from workbench.interop.jax.values.library import library
from workbench.runtime.arrays.structure import StructValue
from workbench.structs import Struct
from workbench.types import ArrayType, Type

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
