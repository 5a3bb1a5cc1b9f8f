"""Arrays as Warp reads them: numbers have NumPy's types, and lines of a program for Warp divide as Warp does."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import workbench as wb
from workbench.builtins import TABLE
from workbench.compat.warp import launches
from workbench.runtime import arithmetic


def _by_numpy(data: Any, dtype: Any) -> Any:
    """Numbers without a dtype as NumPy's array of float64 or int64; other data as it is."""
    if dtype is not None or not isinstance(data, (list, tuple)):
        return data
    try:
        found = np.asarray(data)
    except ValueError:  # rows of several lengths: `workbench.array` says which
        return data
    return found if found.dtype.name in ("float64", "int64") else data


class _Made(type(wb.array)):
    """Calls make arrays of `workbench.array`, which are instances of this class too."""

    def __call__(cls, data: Any = None, dtype: Any = None, **options: Any) -> Any:
        return wb.array(_by_numpy(data, dtype), dtype, **options)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, wb.array)


class array(wb.array, metaclass=_Made):
    """`workbench.array`, but numbers without a dtype are float64 or int64: `wp.array([1.0])`."""

    __slots__ = ()


class ArrayOf(type(wb.array2d)):
    """`wp.array2d` and its like, as `array` of so many dimensions."""

    def __call__(self, data: Any = None, dtype: Any = None, **options: Any) -> Any:
        """An annotation, or an array of the data."""
        return super().__call__(_by_numpy(data, dtype), dtype, **options)


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
