"""Data on its way into arrays: numbers converted, structs as records."""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np

from workbench.errors import LaunchError
from workbench.host.narrow import is_list, is_numpy_array
from workbench.host.vectors import HostVector
from workbench.ranges import check, converted
from workbench.structs import Struct, as_element
from workbench.types import NUMBERS, Complex, Scalar, Vector, is_float, number_type

_NARROW = {"float64": "float32", "int64": "int32", "complex128": "complex64"}
"""The dtypes that Python's numbers get in arrays, by those that NumPy gives them."""


def item(kind: Scalar | Vector | Struct) -> np.dtype[Any]:
    """Return the NumPy dtype of an element type; of a vector or matrix that of its components."""
    return kind.numpy


def repeats(dtype: Scalar | Vector | Struct, value: Any) -> bool:
    """Return whether a fill with `value` sets every scalar to one number.

    It does for a number that is not complex; in arrays of structs or complex numbers only for 0 (not -0.0).
    """
    host = np.asarray(value)
    has_parts = isinstance(dtype, (Struct, Complex))
    return host.ndim == 0 and host.dtype.kind in "biuf" and (not has_parts or not (host or np.signbit(host)))


def is_masked(value: object) -> bool:
    """Return whether a value is one of NumPy's masked arrays, without importing `numpy.ma`, which takes 8 ms."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(value, masked.MaskedArray)


def refuse_masked(data: Any) -> None:
    """Refuse a masked array, also inside nested lists: what lies under a mask is no data, and arrays have no mask.

    Raises:
        LaunchError: the data is masked; the message says what to write.
    """
    if is_masked(data):
        raise LaunchError(
            "A masked array hides elements, and arrays have no mask.",
            advice="Pass x.filled(…), with a value for what is hidden, or x.compressed(), which leaves it out.",
        )
    if is_list(data):
        kinds = set(map(type, data))  # of a long list of numbers, this is one pass in C
        if any(issubclass(kind, (list, tuple, np.ndarray)) for kind in kinds):
            for part in data:
                refuse_masked(part)


def host_form(data: Any, dtype: Any) -> tuple[np.ndarray[Any, Any], Scalar | Vector | Struct]:
    """Return data as a NumPy array in the machine's byte order, and the element type that it has in an array.

    Args:
        data: numbers, structs, or a NumPy array of either.
        dtype: the element type; None: as the data's.

    Raises:
        TypeError: the data cannot have the type.
        LaunchError: the data is masked.
    """
    refuse_masked(data)
    kind = as_element(dtype) if dtype is not None else None
    if isinstance(kind, Struct):
        return records(data, kind), kind
    host = np.asarray(data)
    if kind is None:
        weak = not isinstance(data, (np.ndarray, np.generic)) and not hasattr(data, "dtype")
        kind = as_element(_NARROW.get(host.dtype.name, host.dtype) if weak else host.dtype)
    assert not isinstance(kind, Struct)
    wanted = kind.numpy
    if host.dtype != wanted:
        known = host.dtype.kind in "biuf" or host.dtype.name in NUMBERS
        if not known or (host.dtype.kind == "c" and not isinstance(kind, Complex)):
            raise TypeError(f"data of dtype {host.dtype} cannot become an array of {kind!r}")
        host = converted(host, number_type(kind))
    inner = kind.shape
    if inner and host.ndim == 1 and host.size % prod(inner) == 0:  # flat: components side by side
        host = host.reshape(-1, *inner)
    if inner and (host.ndim <= len(inner) or host.shape[-len(inner) :] != inner):
        must = f"axis must be {inner[0]}" if len(inner) == 1 else f"axes must be {inner[0]} and {inner[1]}"
        raise TypeError(f"data of shape {host.shape} cannot become an array of {kind!r}: its last {must}")
    return host, kind


def check_fits(value: Any, dtype: Scalar | Vector | Struct) -> None:
    """Check that elements of a type can hold a number, or numbers; values of structs are not checked.

    Raises:
        OverflowError: they cannot; the message names the first that does not fit.
        LaunchError: the numbers are masked.
    """
    refuse_masked(value)
    if not isinstance(dtype, Struct):
        check(value, number_type(dtype))


def as_elements(value: Any, dtype: Scalar | Vector | Struct) -> np.ndarray[Any, Any]:
    """Return numbers, or structs, as a NumPy array of elements of this type.

    Raises:
        OverflowError: a number does not fit.
        TypeError: the value is neither.
        LaunchError: it is masked.
    """
    check_fits(value, dtype)
    return records(value, dtype) if isinstance(dtype, Struct) else np.asarray(value, item(dtype))


def records(data: Any, struct: Struct) -> np.ndarray[Any, Any]:
    """Return structs, or a structured NumPy array of the same field names, as a NumPy array of the struct's layout.

    Raises:
        TypeError: the data is something else; the message names the first field that differs.
    """
    wanted = struct.numpy
    if not is_numpy_array(data) and not isinstance(data, np.void):
        return np.array(_tuples(data, struct), wanted)
    host = np.asarray(data)
    if host.dtype == wanted:
        return host
    if host.dtype.names is None:
        raise TypeError(f"data of dtype {host.dtype} cannot become an array of {struct!r}: it has no fields")
    for theirs, f in zip(host.dtype.names, struct.fields, strict=False):
        if theirs != f.name:
            raise TypeError(f"a structured array with {theirs} where {struct!r} has {f.name} is not one of {struct!r}")
    if len(host.dtype.names) != len(struct.fields):
        raise TypeError(f"a structured array of {len(host.dtype.names)} fields is not one of {struct!r}")
    return host.astype(wanted)


def _tuples(data: Any, struct: Struct) -> Any:
    """Return structs inside nested sequences as tuples, of which NumPy makes records.

    Raises:
        TypeError: the data is no such struct.
    """
    if hasattr(data, "__wb_struct__"):
        if data.__wb_struct__ != struct:
            raise TypeError(f"{struct!r} is expected; this is another struct: {struct.difference(data.__wb_struct__)}")
        return data.as_tuple()
    if isinstance(data, np.void):
        return records(data, struct).item()
    if is_list(data):
        return [_tuples(part, struct) for part in data]
    raise TypeError(f"{data!r} is no {struct!r}")


def as_value(type: Scalar | Vector | Struct, value: Any) -> Any:
    """Return an element of a NumPy array as a value of its type, as users get it.

    A vector becomes a `HostVector`, a record a struct of its class; a record whose struct has no class stays as it is.
    """
    if isinstance(type, Struct):
        return type.host.from_record(value) if type.host is not None else value
    if isinstance(type, Vector):
        return HostVector.of(value, type) if type.shape else value[()]
    return value


def summed(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], dtype: Scalar | Vector | Struct) -> Any:
    """Return `a + b` of two NumPy arrays; of structs only the float fields are added, and the rest is from `a`."""
    if not isinstance(dtype, Struct):
        return a + b
    total = a.copy()
    for f in dtype.fields:
        if is_float(f.type):
            total[f.name] = summed(a[f.name], b[f.name], f.type)  # type: ignore[arg-type]
    return total
