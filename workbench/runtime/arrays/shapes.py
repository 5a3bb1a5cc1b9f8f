"""Shapes and strides of arrays, and numbers that are not known yet.

A `Symbol` is a number that is not known while a function is noted down: it stands in a launch's arguments for what
comes later. Nothing can be computed with it here; whoever makes one (a JAX trace, say) may give it arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from operator import index as as_integer
from typing import Any, Protocol, cast

import numpy as np

from workbench.host.narrow import is_numpy_array, is_tuple
from workbench.runtime.device.device import Device
from workbench.runtime.device.memory import Memory
from workbench.structs import StructArray
from workbench.types import MAX_NDIM, ArrayType, Scalar, Vector

Shape = int | Sequence[int]
BEYOND_INT32 = 2**31
"""The least number of threads or bytes that 32-bit indices cannot count."""


class Strided(Protocol):
    """An array, as far as copying it and sharing it with other libraries need it; attributes are those of `array`."""

    memory: Memory
    device: Device
    address: int
    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def type(self) -> Any:
        """The array's type in a kernel."""
        ...

    @property
    def is_contiguous(self) -> bool:
        """Return whether the elements are adjacent in memory, row by row."""
        ...

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        ...

    @property
    def size(self) -> int:
        """Number of elements."""
        ...

    def numpy(self) -> Any:
        """Return a NumPy view of the elements, or a copy of those on a device."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        ...

    def host(self) -> np.ndarray[Any, Any]:
        """Return the elements as a NumPy array."""
        ...

    def contiguous(self) -> Strided:
        """Return the array itself if it is dense, else a dense copy."""
        ...

    def fresh_like(self) -> Strided:
        """Return a dense array of its shape and device, undefined until written."""
        ...


def as_shape(shape: Shape) -> tuple[int, ...]:
    """Return a shape as 1 to 4 sizes of at least 0.

    Raises:
        ValueError: anything else.
    """
    if type(shape) is int and shape >= 0:
        return (shape,)
    sizes: Any = np.atleast_1d(shape) if is_numpy_array(shape) else shape
    dims: tuple[Any, ...] = tuple(cast("Iterable[Any]", sizes)) if isinstance(sizes, Iterable) else (sizes,)
    are_ints = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in dims)
    if not are_ints or not 1 <= len(dims) <= MAX_NDIM or any(n < 0 for n in dims):
        raise ValueError(f"a shape is 1 to 4 sizes of at least 0; this is {shape!r}")
    return tuple(n if isinstance(n, int) else int(n) for n in dims)


def dense(shape: Sequence[int], item: int) -> tuple[int, ...]:
    """Return the strides of an array whose elements of `item` bytes lie side by side, row by row."""
    strides: list[int] = []
    for n in reversed(shape):
        strides.append(item)
        item *= max(n, 1)
    return tuple(reversed(strides))


def lies_densely(shape: Sequence[int], strides: Sequence[int], item: int) -> bool:
    """Return whether strides are those of `dense`; without elements, and along axes of size 1, they do not matter."""
    steps = zip(shape, strides, dense(shape, item), strict=True)
    return 0 in shape or all([n == 1 or step == own for n, step, own in steps])


def is_far(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether an array spans more bytes, or has more elements along an axis, than 32-bit indices count."""
    return max(sum(abs(s) * n for s, n in zip(strides, shape, strict=True)), *shape) >= BEYOND_INT32


@cache
def tag_of(kind: ArrayType | StructArray, content: str, contiguous: bool, far: bool, device: Device) -> str:
    """Return a string that arrays have in common exactly if the same compiled code suits them.

    Args:
        kind: the array's type in a kernel.
        content: a struct's layout as text; "" for other elements.
        contiguous: whether the array is dense.
        far: whether it is too large for 32-bit indices.
        device: where the array is.
    """
    wide = " wide" * getattr(kind, "wide", False)
    return f"{kind!r} {content} {'dense' if contiguous else 'strided'}{wide}{' far' * far} {device}"


def extent(a: Strided) -> tuple[int, int]:
    """Return the address of the first byte of an array's elements, and the address behind the last one."""
    reach = [(n - 1) * s for n, s in zip(a.shape, a.strides, strict=True) if n]
    low = a.address + sum(r for r in reach if r < 0)
    return low, a.address + sum(r for r in reach if r > 0) + (a.dtype.size if a.size else 0)


def meet(a: Strided, b: Strided) -> bool:
    """Return whether two views of different address or strides may share bytes.

    One of them cannot be written, element by element, while the other is read.
    """
    (low_a, high_a), (low_b, high_b) = extent(a), extent(b)
    return low_a < high_b and low_b < high_a and (a.address, a.strides) != (b.address, b.strides)


def located(index: Any, shape: Sequence[int], strides: Sequence[int]) -> tuple[int, list[int], list[int]]:
    """Return the offset in bytes, the shape and the strides of what an index selects; one element has an empty shape.

    Raises:
        IndexError: it is outside, or has too many parts.
        TypeError: a part is no integer, slice, `None` (a new axis of size 1) or `...`.
    """
    items: tuple[object, ...] = index if is_tuple(index) else (index,)
    dots = next((k for k, item in enumerate(items) if item is Ellipsis), len(items))
    indexed = sum(item is not None and item is not Ellipsis for item in items)
    if indexed > len(shape):
        raise IndexError(f"an array of {len(shape)} dimensions takes at most {len(shape)} indices, not {indexed}")
    items = (*items[:dots], *[slice(None)] * (len(shape) - indexed), *items[dots + 1 :])
    begin, left, steps, axis = 0, list[int](), list[int](), -1
    for item in items:
        if item is None:
            left.append(1)
            steps.append(0)
            continue
        axis += 1
        size, stride = shape[axis], strides[axis]
        if isinstance(item, slice):
            start, stop, step = item.indices(size)
            count = len(range(start, stop, step))
            begin += start * stride if count else 0
            left.append(count)
            steps.append(stride * step)
            continue
        position = _integer(item)
        if not -size <= position < size:
            raise IndexError(f"index {position} is outside dimension {axis} of size {size}")
        begin += (position + size if position < 0 else position) * stride
    if len(left) > MAX_NDIM:
        raise IndexError(f"an array has at most {MAX_NDIM} dimensions; this would have {len(left)}")
    return begin, left, steps


def _integer(item: Any) -> int:
    """Return an index as an int; raise a TypeError that says what arrays can be indexed by."""
    try:
        return as_integer(item)
    except TypeError:
        raise TypeError(
            f"an array is indexed by integers, slices and ..., not by {type(item).__name__}; x.numpy() takes the rest"
        ) from None


class Symbol:
    """A number whose type is known, and whose value is not.

    Attributes:
        type: a scalar type, or a vector type for several numbers.
    """

    def __init__(self, type: Scalar | Vector) -> None:
        self.type = type

    def become(self, kernel: str, name: str, type: Scalar | Vector) -> Symbol:
        """Return the number as an argument of another type.

        Args:
            kernel: the kernel that takes it, for messages.
            name: the parameter, for messages.
            type: the parameter's type.

        Raises:
            LaunchError: the conversion could lose something.
        """
        raise NotImplementedError
