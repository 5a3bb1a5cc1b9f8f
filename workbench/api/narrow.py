"""Type guards for arrays that a user may pass."""

from __future__ import annotations

from typing import TypeGuard

from workbench.runtime.arrays.array import array
from workbench.types import is_float


def is_float_array(value: object) -> TypeGuard[array]:
    """Return whether the value is a Workbench array of floats, or of vectors or structs of them.

    Such an array can have a gradient.
    """
    return isinstance(value, array) and is_float(value.dtype)


def is_array(value: object) -> TypeGuard[array]:
    """Return whether the value is a Workbench array."""
    return isinstance(value, array)
