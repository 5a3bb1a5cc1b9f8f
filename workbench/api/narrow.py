"""Type guards for what a user may pass: after a bare `isinstance`, a checker would not know what the elements are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from workbench.runtime.arrays.array import array
from workbench.types import is_float


def is_numpy_array(value: object) -> TypeGuard[np.ndarray[Any, Any]]:
    """Whether it is a NumPy array, of any dtype."""
    return isinstance(value, np.ndarray)


def is_list(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether it is a list or a tuple, of anything."""
    return isinstance(value, (list, tuple))


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether it is a tuple, of anything."""
    return isinstance(value, tuple)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether it is a dict or another mapping, of anything."""
    return isinstance(value, Mapping)


def is_count(value: object) -> bool:
    """Whether it is an int of at least 0."""
    return isinstance(value, int) and value >= 0


def is_float_array(value: object) -> TypeGuard[array]:
    """Whether it is an array of floats, or of vectors or structs of them: one that can have a gradient."""
    return isinstance(value, array) and is_float(value.dtype)
