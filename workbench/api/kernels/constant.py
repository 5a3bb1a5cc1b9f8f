"""Constants that say that they are."""

from __future__ import annotations

import enum
from typing import TypeVar

import numpy as np

from workbench.errors import its_type
from workbench.host.narrow import is_numpy_array
from workbench.types import is_small

T = TypeVar("T")


def constant(value: T) -> T:
    """Return `value` itself, checked to be a constant of the kernel language: a number, a bool, a vector or a matrix.

    Any such value of the user's namespace is a constant in a kernel; this marks it for the reader, as Warp's code does.

        >>> import workbench as wb
        >>> wb.constant(9.81)
        9.81
        >>> wb.constant([1, 2])
        Traceback (most recent call last):
        TypeError: constant() takes a number, a bool or a vector or matrix value, not a list

    Returns:
        The value, unchanged.

    Raises:
        TypeError: the value is none of these.
    """
    number = value.value if isinstance(value, enum.Enum) else value
    if isinstance(number, (bool, int, float, np.generic)) or (is_numpy_array(number) and is_small(number.shape)):
        return value
    raise TypeError(f"constant() takes a number, a bool or a vector or matrix value, not {its_type(value)}")
