"""Arrays as Warp reads them: numbers have NumPy's types, and lines of a program for Warp divide as Warp does."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

import numpy as np

import workbench as wb
from workbench.builtins import TABLE
from workbench.compat.warp import launches
from workbench.compat.warp.attributes import from_ptr
from workbench.runtime import arithmetic
from workbench.structs import StructArray, as_element
from workbench.types import AnyVector, ArrayType, Vector


def _by_numpy(data: Any, dtype: Any) -> Any:
    """Numbers without a dtype as NumPy's array of float64 or int64; other data as it is."""
    if dtype is not None or not isinstance(data, (list, tuple)):
        return data
    try:
        found = np.asarray(data)
    except ValueError:  # rows of several lengths: `workbench.array` says which
        return data
    return found if found.dtype.name in ("float64", "int64") else data


UNUSED = ("retain_grad", "pinned", "capacity", "deleter")
"""Hints of arrays, without effect."""


def without_hints(options: dict[str, Any]) -> dict[str, Any]:
    """The options that mean something: without hints, and with `n` as the shape that it stands for."""
    rest = {("shape" if name == "n" else name): v for name, v in options.items() if name not in UNUSED}
    if isinstance(rest.get("strides"), type(None)):
        rest.pop("strides", None)
    return rest


def _components(data: Any, dtype: Any) -> Any:
    """Numbers whose last axis holds the components of several vectors, as those vectors."""
    kind = as_element(dtype) if dtype is not None else None
    if not isinstance(kind, Vector) or isinstance(data, wb.array) or data is None:
        return data
    try:
        host = np.asarray(data)
    except ValueError:
        return data
    size = kind.length
    if host.dtype == object or host.ndim == 0 or host.shape[max(0, host.ndim - len(kind.shape)) :] == kind.shape:
        return data
    if host.shape[-1] % size:
        return data
    return host.reshape(*host.shape[:-1], host.shape[-1] // size, *kind.shape)


def annotation(dtype: Any, ndim: int) -> Any:
    """The annotation of an array; one of any elements for structs that hold arrays, which a launch refuses."""
    if isinstance(dtype, tuple) and len(dtype) == 2:  # wp.array[float, 2]: the dimensions, too
        dtype, count = dtype
        ndim = getattr(count, "__args__", (count,))[0]
    struct = getattr(dtype, "__wb_struct__", None)
    return wb.array(dtype=Any if struct is not None and struct.has_arrays else dtype, ndim=ndim)


def make(data: Any = None, dtype: Any = None, **options: Any) -> Any:
    """An array, or an annotation, as `wp.array(…)` makes it."""
    options = without_hints(options)
    if "ptr" in options or "strides" in options:
        shape, strides = options.pop("shape", 0), options.pop("strides", None)
        pointed = from_ptr(
            options.pop("ptr", None), float if dtype is None else dtype, shape, strides, options.get("device")
        )
        gradient = options.get("grad")
        if gradient is None and not options.get("requires_grad"):
            return pointed
        pointed = wb.array(pointed, copy=False, requires_grad=True)
        if gradient is not None:
            pointed.grad = gradient
        return pointed
    if dtype is Any or isinstance(dtype, (TypeVar, AnyVector)):
        return wb.array(None, dtype, **options) if data is None else wb.array(_by_numpy(data, None), **options)
    if data is None and "shape" in options and options["shape"] is not None and "ndim" not in options:
        return wb.zeros(options.pop("shape"), float if dtype is None else dtype, **options)
    if data is None and options.get("shape", 1) is None:
        del options["shape"]
    if data is None and "shape" not in options and "device" not in options:
        return annotation(Any if dtype is None else dtype, options.get("ndim") or 1)
    data = _components(_by_numpy(data, dtype), dtype)
    return wb.array(data, dtype, **options)


class Made(type(wb.array)):
    """Calls make arrays of `workbench.array`, which are instances of this class too; so are annotations."""

    def __call__(cls, data: Any = None, dtype: Any = None, **options: Any) -> Any:
        """An array or an annotation; of a user's own subclass an instance."""
        if cls is not array:
            return type.__call__(cls, data, dtype, **options)
        return make(data, dtype, **options)

    def __instancecheck__(cls, value: object) -> bool:
        if cls is not array:
            return type.__instancecheck__(cls, value)
        return isinstance(value, (wb.array, ArrayType, StructArray))


class array(wb.array, metaclass=Made):
    """`workbench.array`, but numbers without a dtype are float64 or int64: `wp.array([1.0])`."""

    __slots__ = ()

    def __class_getitem__(cls, dtype: Any) -> Any:
        return annotation(dtype, 1)


class ArrayOf(type(wb.array2d)):
    """`wp.array2d` and its like, as `array` of so many dimensions."""

    def __getitem__(self, dtype: Any) -> Any:
        return annotation(dtype, self.ndim)

    def __call__(self, data: Any = None, dtype: Any = None, **options: Any) -> Any:
        """An annotation, or an array of the data."""
        if data is None and "shape" not in options and "ptr" not in options:
            return annotation(Any if dtype is None else dtype, self.ndim)
        if "ptr" in options or "strides" in options:
            return make(data, dtype, **options)
        return super().__call__(_components(_by_numpy(data, dtype), dtype), dtype, **without_hints(options))


def divided(name: str) -> Any:
    """What `/`, `//` or `%` of arrays means to a module that imports this package: a func, Warp's.

    None: another operator, or a line of another module, to which it means what it means in Workbench.
    """
    if name not in ("div", "floordiv", "mod"):
        return None
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _BETWEEN:
        frame = frame.f_back
    here = sys.modules["workbench.compat.warp"]
    return launches.as_func(TABLE[name], 2) if any(v is here for v in frame.f_globals.values()) else None


_BETWEEN = ("workbench.api.launches.operators", arithmetic.__name__)
arithmetic.OTHERWISE.append(divided)
