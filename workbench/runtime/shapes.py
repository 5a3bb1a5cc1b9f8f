"""Shapes and strides of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.types import MAX_NDIM

Shape = int | Sequence[int]


def as_shape(shape: Shape) -> tuple[int, ...]:
    """A shape as 1 to 4 sizes of at least 0.

    Raises:
        ValueError: anything else.
    """
    dims = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if not 1 <= len(dims) <= MAX_NDIM or any(n < 0 for n in dims):
        raise ValueError(f"a shape is 1 to 4 sizes of at least 0; this is {shape!r}")
    return tuple(int(n) for n in dims)


def dense(shape: Sequence[int], item: int) -> tuple[int, ...]:
    """The strides of an array whose elements of `item` bytes lie side by side, row by row."""
    strides = []
    for n in reversed(shape):
        strides.append(item)
        item *= max(n, 1)
    return tuple(reversed(strides))


def side_by_side(a: Any) -> bool:
    """Whether an array's elements lie side by side: fields of an array of structs count as contiguous, and do not."""
    return a.is_contiguous and not getattr(a.type, "pitch", 0)
