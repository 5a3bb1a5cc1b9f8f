"""Type guards for values of any type: after a bare `isinstance`, a checker would not know what the elements are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeGuard

import numpy as np

HostArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array of any shape and dtype."""
Numpy: TypeAlias = HostArray | np.generic
"""A NumPy array or scalar."""


def is_numpy_array(value: object) -> TypeGuard[HostArray]:
    """Return whether a value is a NumPy array, of any dtype."""
    return isinstance(value, np.ndarray)


def is_numpy(value: object) -> TypeGuard[Numpy]:
    """Return whether a value is a NumPy array or scalar, of any dtype."""
    return isinstance(value, (np.ndarray, np.generic))


def is_numpy_scalar(value: object) -> TypeGuard[np.generic]:
    """Return whether a value is a NumPy scalar, of any dtype."""
    return isinstance(value, np.generic)


def is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    """Return whether a value is a list or a tuple; the elements are not looked at."""
    return isinstance(value, (list, tuple))


def is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    """Return whether a value is a tuple; the elements are not looked at."""
    return isinstance(value, tuple)


def is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    """Return whether a value is a dict or another mapping; the contents are not looked at."""
    return type(value) is dict or isinstance(value, Mapping)  # of a dict the second takes 0.3 µs


def is_count(value: object) -> bool:
    """Return whether a value is an int of at least 0; bools are."""
    return isinstance(value, int) and value >= 0
