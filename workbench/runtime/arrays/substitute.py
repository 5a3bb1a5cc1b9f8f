"""Arrays put in place of others wherever a record uses them: the array itself, views of it, and its gradient.

A tape makes new views of one memory all the time, so what counts as the same is the region, not the Python object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.shapes import extent
from workbench.structs import Struct


class Substitution:
    """A function that replaces arguments: arrays, their views and their gradients by those of other arrays.

    All else is returned as it is. It is false if it replaces nothing.
    """

    def __init__(self, pairs: Mapping[array, array]) -> None:
        """Prepare to replace each key of `pairs` by its value.

        Raises:
            LaunchError: a new array is of another dtype, shape or device.
        """
        self._pairs: list[tuple[array, array]] = []
        for old, new in pairs.items():
            fits("array", old, new)
            self._add(old, new)
            if old.grad is not None and new.grad is not None:
                self._add(old.grad, new.grad)
        self._without = [old.grad for old, new in pairs.items() if old.grad is not None and new.grad is None]

    def _add(self, old: array, new: array) -> None:
        """Add a pair of arrays; of arrays of structs also the pairs of their fields, which are what a launch has."""
        self._pairs.append((old, new))
        if isinstance(old.dtype, Struct):
            fields = new.field_arrays()
            self._pairs += [(part, fields[path]) for path, part in old.field_arrays().items()]

    def __bool__(self) -> bool:
        """Return whether anything is replaced."""
        return bool(self._pairs)

    def __call__(self, value: Any) -> Any:
        """Return the argument to use in place of `value`.

        Raises:
            LaunchError: a view of a replaced array that the new array cannot have, or its gradient where the new one
                has none.
        """
        if not isinstance(value, array):
            return value
        for old, new in self._pairs:
            if value.memory is old.memory and value.dtype == old.dtype and _field(value) == _field(old):
                if region(value) == region(old):
                    return new
                if old.strides == new.strides and _inside(value, old):
                    return new.window(value.shape, value.strides, new.address + value.address - old.address)
                raise LaunchError(
                    "The replaced array is also used through a view, which the new one cannot have.",
                    advice="Pass an array with the same strides.",
                )
        for gradient in self._without:
            if value.memory is gradient.memory:
                raise LaunchError(
                    "The record uses the gradient of the replaced array, and the new one has none.",
                    advice="Create it with requires_grad=True.",
                )
        return value


def _field(value: array) -> tuple[int, int]:
    """Return the pitch and the offset of a field of an array of structs; (0, 0) for any other array."""
    return getattr(value.type, "pitch", 0), getattr(value.type, "offset", 0)


def fits(name: str, old: Any, new: Any) -> None:
    """Check that `new` can replace `old` as the argument called `name`.

    Raises:
        LaunchError: it cannot; the message names the parameter.
    """
    if isinstance(old, array):
        if not isinstance(new, array) or new.type != old.type or new.shape != old.shape or new.device != old.device:
            what = f"{new.type!r} of shape {new.shape}" if isinstance(new, array) else type(new).__name__
            advice = "" if isinstance(new, array) else "Make it an array: wb.array(…)."
            raise LaunchError(
                f"{name} was an {old.type!r} of shape {old.shape}; this is {what}.", parameter=name, advice=advice
            )
    elif isinstance(new, array):
        raise LaunchError(f"{name} was a number; this is an array.", parameter=name)


def region(a: array) -> tuple[Any, ...]:
    """Return what identifies an array: device, address, shape, strides and dtype."""
    return a.device, a.address, a.shape, a.strides, a.dtype


def shares(a: array, b: array) -> bool:
    """Return whether the arrays have an element in common; views between each other's elements have none."""
    return a.device == b.device and a.size > 0 and b.size > 0 and np.shares_memory(_Elements(a), _Elements(b))


class _Elements:
    """The layout of an array's elements for NumPy, which compares them with others and does not read them."""

    def __init__(self, a: array) -> None:
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|V{a.dtype.size}",
            "data": (a.address, True),
            "shape": a.shape,
            "strides": a.strides,
        }


def _inside(a: array, outer: array) -> bool:
    """Return whether the bytes between an array's first and last element lie within those of `outer`."""
    (low, high), (first, last) = extent(a), extent(outer)
    return first <= low and high <= last
