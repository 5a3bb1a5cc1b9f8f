"""Arrays as other libraries see them: NumPy, DLPack, the CUDA array interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.runtime.shapes import dense
from workbench.structs import Struct
from workbench.types import bfloat16, element

if TYPE_CHECKING:
    from workbench.runtime.array import array


class _HostView:
    """The array interface of a view, holding its memory."""

    def __init__(self, owner: array, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "shape": shape, "strides": strides, "typestr": dtype.str, "data": (owner.address, False),
        }  # fmt: skip


def host_view(source: array) -> np.ndarray[Any, Any]:
    """A CPU array's elements as a NumPy array of the same memory, which it keeps alive.

    Vectors take the last axis, structs are records.
    """
    if isinstance(source.dtype, Struct):
        plain = _HostView(source, source.shape, source.strides, np.dtype(f"V{source.dtype.size}"))
        return np.asarray(plain).view(source.dtype.numpy)
    scalar, inner = element(source.dtype), source.dtype.shape
    strides = (*source.strides, *dense(inner, scalar.size))
    kind = np.dtype(np.uint16) if scalar == bfloat16 else scalar.numpy  # the interface has no name for bfloat16
    made = np.asarray(_HostView(source, (*source.shape, *inner), strides, kind))
    return made.view(scalar.numpy) if scalar == bfloat16 else made
