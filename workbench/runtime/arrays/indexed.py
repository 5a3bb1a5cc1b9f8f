"""Arrays behind arrays of indices: `indexedarray(x, [rows, None])` is x[rows, :] without a copy, for kernels.

It is the array and, for some of its dimensions, an int32 array of places; a kernel gets them as arrays of their own, so
what is written through it is written to the array, and gradients go to the array's `.grad`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.host.narrow import is_list
from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import Device
from workbench.structs import IndexedArray, Struct
from workbench.types import as_type, int32


class indexedarray:
    """A view of an array, for kernels, of which each dimension may go through indices.

    Attributes:
        data: the array.
        indices: for each dimension an int32 array of positions along it, or None for all of them in order.
        dtype, ndim, device: the array's.
        shape: as many elements along a dimension as it has indices.
    """

    __wb_generic__ = True

    def __new__(cls, data: Any = None, indices: Any = None, dtype: Any = None, *, ndim: int | None = None) -> Any:
        """Return an indexed array; without data its type, an annotation (`indexedarray(dtype=float, ndim=2)`)."""
        if data is None:
            if dtype is None:
                raise TypeError("indexedarray() takes an array and indices, or a dtype (and ndim) to be an annotation")
            return IndexedArray(as_type(dtype), ndim or 1)
        return super().__new__(cls)

    def __class_getitem__(cls, dtype: Any) -> IndexedArray:
        """Return the annotation `indexedarray[dtype]`: an indexed array of one dimension."""
        return IndexedArray(as_type(dtype), 1)

    def __init__(self, data: Any = None, indices: Any = None, dtype: Any = None, *, ndim: int | None = None) -> None:
        """Create a view of an array through indices.

        Args:
            data: the array (a NumPy array is shared where it can be).
            indices: one for each dimension, None if it has none; for one dimension also without a list. What is no
                int32 array is made one.
            dtype, ndim: checked against the data where given.

        Raises:
            TypeError: the data's elements are structs, or of another type than `dtype`.
            ValueError: another number of indices than dimensions, or an index outside of the data.
        """
        shared = isinstance(data, np.ndarray) and data.flags.writeable
        base = data if isinstance(data, array) else array(data, dtype, copy=not shared)
        if isinstance(base.dtype, Struct) or (dtype is not None and base.dtype != as_type(dtype)):
            raise TypeError(
                f"indexedarray() of {dtype or 'numbers or vectors'!r}; the array has {base.dtype!r} elements"
            )
        if ndim not in (None, base.ndim):
            raise ValueError(f"indexedarray() of {ndim} dimensions; the array has {base.ndim}")
        alone = base.ndim == 1 and not (is_list(indices) and len(indices) == 1)
        listed: list[Any] = [indices] if alone else list(indices if indices is not None else [None] * base.ndim)
        if len(listed) != base.ndim:
            raise ValueError(f"{len(listed)} indices were given for an array of {base.ndim} dimensions")
        self.data: array = base
        self.indices = tuple(
            None if along is None else _table(along, n, axis, base.device)
            for axis, (along, n) in enumerate(zip(listed, base.shape, strict=True))
        )

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.data.ndim

    @property
    def device(self) -> Device:
        """The device of the array."""
        return self.data.device

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each dimension."""
        return tuple(n if t is None else t.shape[0] for t, n in zip(self.indices, self.data.shape, strict=True))

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape))

    @property
    def type(self) -> IndexedArray:
        """The type of a kernel's parameter that takes it."""
        assert not isinstance(self.data.dtype, Struct)
        return IndexedArray(self.data.dtype, self.ndim, indexed=tuple(t is not None for t in self.indices))

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return the elements in a new NumPy array."""
        tables = [np.arange(n) if t is None else t.numpy() for t, n in zip(self.indices, self.data.shape, strict=True)]
        return self.data.numpy()[np.ix_(*tables)]

    def contiguous(self) -> array:
        """Return the elements in a new array."""
        return array(self.numpy(), self.data.dtype, device=self.device)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return (
            f"indexedarray(shape={self.shape}, dtype={self.dtype!r}, of {self.data.shape}, device={self.device.name!r})"
        )


def _table(indices: Any, size: int, axis: int, device: Device) -> array:
    """Return the indices of an axis as a checked int32 array on the device.

    Raises:
        ValueError: they are not int32 in one dimension there, or one is outside of the axis of `size` elements.
    """
    table = indices if isinstance(indices, array) else array(np.asarray(indices, np.int32), int32, device=device)
    if table.dtype != int32 or table.ndim != 1 or table.device != device:
        raise ValueError(f"the indices of axis {axis} are an int32 array of one dimension on {device}, not {table!r}")
    numbers = table.numpy()
    if numbers.size and not (0 <= numbers.min() and numbers.max() < size):
        raise ValueError(f"an index of axis {axis} is outside of the array, which has {size} elements along it")
    return table


def plain(value: array) -> indexedarray:
    """Return an array as an indexed array without indices."""
    return indexedarray(value, [None] * value.ndim)


def everywhere(value: indexedarray) -> indexedarray:
    """Return the same elements with an array of indices along each dimension, as a field of a struct needs them."""
    pairs = zip(value.indices, value.data.shape, strict=True)
    return indexedarray(value.data, [np.arange(n) if t is None else t for t, n in pairs])


def tables(value: indexedarray) -> Sequence[tuple[int, array]]:
    """Return the dimensions that have indices, each with its array of indices."""
    return [(axis, t) for axis, t in enumerate(value.indices) if t is not None]
