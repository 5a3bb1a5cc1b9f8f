"""Making arrays: zeros, copies, other libraries' data, and what `pickle` and `copy` have kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from workbench.errors import its_type, must_be
from workbench.host.narrow import is_numpy_array
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import Element, array
from workbench.runtime.arrays.shapes import Shape, as_shape
from workbench.runtime.arrays.views import part
from workbench.runtime.device.device import CPU, Device, get_device
from workbench.runtime.device.memory import Memory
from workbench.structs import StructArray, as_element
from workbench.types import ArrayType


def empty(
    shape: Shape,
    dtype: Any = float,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pinned: bool = False,
) -> array:
    """Return an array whose elements are undefined until they are written.

    Args:
        shape: 1 to 4 sizes; an int is one.
        dtype: the element type: a scalar, vector, matrix or struct type of the language, or Python's `float` (float32).
        device: where: "cpu", "cuda:0", …; None is the current device.
        requires_grad: whether it has a `.grad`.
        pinned: on the CPU, in page-locked memory if there is a CUDA device: copies from and to the device are then
            queued, and they are done after `synchronize()`.

    Returns:
        An array of that shape and dtype.

    Raises:
        TypeError: the shape is no shape, or the dtype no type of the language.
    """
    if isinstance(dtype, int):
        raise TypeError(f"A shape is one argument: write ({shape}, {dtype}), not {shape}, {dtype}.")
    return array.undefined(as_shape(shape), as_element(dtype), get_device(device), requires_grad, pinned)


def full(
    shape: Shape, value: Any, dtype: Any = None, device: Device | str | None = None, requires_grad: bool = False
) -> array:
    """Return an array filled with `value`; int32 or float32, by the value, if no dtype is given.

        >>> import workbench as wb
        >>> wb.full((2, 3), 0.5).numpy()
        array([[0.5, 0.5, 0.5],
               [0.5, 0.5, 0.5]], dtype=float32)

    Args:
        shape: 1 to 4 sizes; an int is one.
        value: a scalar, or for a vector dtype a sequence of its components.
        dtype: the element type; None is int32 or float32, by the value, or a vector's own.
        device: where: "cpu", "cuda:0", …; None is the current device.
        requires_grad: whether it has a `.grad`.

    Returns:
        An array of that shape and dtype.
    """
    own = getattr(value, "type", None) or cast("Any", type(value))  # a vector has its own
    kind = own if dtype is None else dtype
    return empty(shape, kind, device, requires_grad).fill_(value)


def zeros(shape: Shape, dtype: Any = float, device: Device | str | None = None, requires_grad: bool = False) -> array:
    """Return an array of zeros.

        >>> import workbench as wb
        >>> wb.zeros(2, dtype=wb.vec3).numpy().shape     # the components are the last axis
        (2, 3)

    Args:
        shape: 1 to 4 sizes; an int is one.
        dtype: the element type: a scalar, vector, matrix or struct type of the language, or Python's `float` (float32).
        device: where: "cpu", "cuda:0", …; None is the current device.
        requires_grad: whether it has a `.grad`.

    Returns:
        An array of that shape and dtype.
    """
    target = get_device(device)
    if target.is_cuda or isinstance(dtype, int) or OBSERVERS.get():  # observers hear of a fill
        return full(shape, 0, dtype, target, requires_grad)
    return array.undefined(as_shape(shape), as_element(dtype), target, requires_grad, zeroed=True)


def ones(shape: Shape, dtype: Any = float, device: Device | str | None = None, requires_grad: bool = False) -> array:
    """Return an array of ones.

    Args:
        shape: 1 to 4 sizes; an int is one.
        dtype: the element type: a scalar, vector, matrix or struct type of the language, or Python's `float` (float32).
        device: where: "cpu", "cuda:0", …; None is the current device.
        requires_grad: whether it has a `.grad`.

    Returns:
        An array of that shape and dtype.
    """
    return full(shape, 1, dtype, device, requires_grad)


def _like(source: array, dtype: Any, device: Device | str | None, requires_grad: bool) -> array:
    """Return an undefined array of the source's shape; of its dtype and on its device unless others are given."""
    _must_be_array(source, "ones_like(), full_like(), empty_like() and zeros_like() take")
    if device is None and not requires_grad:
        return source.fresh_like(dtype)
    kind = source.dtype if dtype is None else as_element(dtype)
    target = source.device if device is None else get_device(device)
    return source.kin.undefined(source.shape, kind, target, requires_grad)


def _must_be_array(value: object, call: str) -> None:
    """Raise an error unless the value is a Workbench array; `call` begins the message."""
    must_be(value, array, f"{call} a Workbench array", advice="wb.array(x) makes one of NumPy's, or of a list.")


def zeros_like(
    source: array, dtype: Any = None, *, device: Device | str | None = None, requires_grad: bool = False
) -> array:
    """Return an array of zeros of the same shape.

    Args:
        source: an array; only its shape, dtype and device count.
        dtype: the element type; None is that of the source.
        device: where; None is where the source is.
        requires_grad: whether it has a `.grad`.

    Returns:
        An array of its own, dense.
    """
    return _like(source, dtype, device, requires_grad).fill_(0)


def ones_like(
    source: array, dtype: Any = None, *, device: Device | str | None = None, requires_grad: bool = False
) -> array:
    """Return an array of ones of the same shape.

    Args:
        source: an array; only its shape, dtype and device count.
        dtype: the element type; None is that of the source.
        device: where; None is where the source is.
        requires_grad: whether it has a `.grad`.

    Returns:
        An array of its own, dense.
    """
    return _like(source, dtype, device, requires_grad).fill_(1)


def full_like(
    source: array, value: Any, dtype: Any = None, *, device: Device | str | None = None, requires_grad: bool = False
) -> array:
    """Return an array of the same shape, filled with `value`.

        >>> import workbench as wb
        >>> wb.full_like(wb.zeros((2, 2)), 0.5).numpy()
        array([[0.5, 0.5],
               [0.5, 0.5]], dtype=float32)

    Args:
        source: an array; only its shape, dtype and device count.
        value: a scalar, or for a vector dtype a sequence of its components.
        dtype: the element type; None is that of the source.
        device: where; None is where the source is.
        requires_grad: whether it has a `.grad`.

    Returns:
        An array of its own, dense.

    Raises:
        OverflowError: the value does not fit the element type.
    """
    return _like(source, dtype, device, requires_grad).fill_(value)


def empty_like(
    source: array, dtype: Any = None, *, device: Device | str | None = None, requires_grad: bool = False
) -> array:
    """Return an array of the same shape, whose elements are undefined until they are written.

    Args:
        source: an array; only its shape, dtype and device count.
        dtype: the element type; None is that of the source.
        device: where; None is where the source is.
        requires_grad: whether it has a `.grad`.

    Returns:
        An array of its own, dense.
    """
    return _like(source, dtype, device, requires_grad)


def clone(source: array, requires_grad: bool = False, *, device: Device | str | None = None) -> array:
    """Return a dense copy.

    Args:
        source: an array.
        requires_grad: whether the copy has a `.grad`, of zeros.
        device: where; None is where the source is.

    Returns:
        An array of the same shape and dtype.
    """
    _must_be_array(source, "clone() takes")
    target = source.device if device is None else get_device(device)
    return source.kin.undefined(source.shape, source.dtype, target, requires_grad).copy_(source)


def _copied(source: array, memo: Any = None) -> array:
    """Return the copy that `copy` and `deepcopy` make of an array, gradient included; observers see the copying."""
    copied = clone(source, source.requires_grad)
    if copied.grad is not None and source.grad is not None:
        copied.grad.copy_(source.grad)
    return copied


def copy(target: array, source: array, dest_offset: int = 0, src_offset: int = 0, count: int | None = None) -> None:
    """Copy the elements of `source` into `target`, across devices too; or some of them, counted row by row.

        >>> import workbench as wb
        >>> x = wb.zeros(5)
        >>> wb.copy(x, wb.array([1.0, 2.0, 3.0]), dest_offset=1, count=2)
        >>> x.numpy()
        array([0., 1., 2., 0., 0.], dtype=float32)

    Args:
        target: the array that is written.
        source: an array of the same dtype; of the same shape if neither offset nor count is given.
        dest_offset: the first element of the target that is written.
        src_offset: the first element of the source that is read.
        count: how many; None is all of the source from `src_offset` on.

    Raises:
        LaunchError: dtypes (or shapes) differ, elements are outside, or a part is copied of what is not dense.
    """
    _must_be_array(target, "copy() writes to")
    _must_be_array(source, "copy() reads")
    if (dest_offset, src_offset, count) == (0, 0, None):
        target.copy_(source)
        return
    length = source.size - src_offset if count is None else count
    part(target, dest_offset, length, "target").copy_(part(source, src_offset, length, "source"))


def from_numpy(
    data: np.ndarray[Any, Any],
    dtype: Any = None,
    requires_grad: bool = False,
    *,
    shape: Shape | None = None,
    device: Device | str | None = None,
) -> array:
    """Return an array that shares the NumPy array's memory; on a GPU a copy.

        >>> import numpy as np, workbench as wb
        >>> host = np.zeros(2, np.float32)
        >>> shared = wb.from_numpy(host)
        >>> host[0] = 7
        >>> shared.numpy()
        array([7., 0.], dtype=float32)

    Args:
        data: a NumPy array of 1 to 4 dimensions; a change of either is a change of both.
        dtype: a vector type, to take the last axes as components; the data's own dtype if None.
        requires_grad: whether it has a `.grad`.
        shape: that of the array; None is the data's.
        device: where; None is the CPU.

    Returns:
        An array over the same bytes; a GPU has a copy.

    Raises:
        TypeError: it is not a NumPy array, or its numbers would have to be converted and so could not be shared.
        ValueError: no dimension, or more than 4.
        LaunchError: it is read-only.
    """
    if not is_numpy_array(data):
        raise TypeError(f"from_numpy() takes a NumPy array, not {its_type(data)}; wb.array(…) takes lists, too")
    target = CPU if device is None else get_device(device)
    shared = array(data, dtype, shape=shape, device=target, copy=False, requires_grad=requires_grad)
    if not target.is_cuda and data.size and not np.may_share_memory(shared.numpy(), data):
        raise TypeError(
            f"from_numpy() shares memory, which data of dtype {data.dtype.str} cannot as {shared.dtype!r}; "
            "wb.array(…) makes a copy"
        )
    return shared


def lying_in(
    memory: Memory,
    dtype: Element,
    shape: Sequence[int],
    strides: Sequence[int] | None = None,
    start: int = 0,
    type: ArrayType | StructArray | None = None,
) -> array:
    """Return an array over existing memory.

    Args:
        memory: the memory.
        dtype: the element type.
        shape: sizes.
        strides: in bytes; None: dense.
        start: the first element's offset in the memory, in bytes.
        type: the array's type in a kernel; None: it follows from dtype and shape.
    """
    view = object.__new__(array)
    view.bind(memory, dtype, shape, strides, False, memory.address + start, type)
    return view


def _reduced(a: array) -> tuple[Any, ...]:
    """Return what `pickle` stores of an array; the array that is read back shares memory with no other."""
    gradient = a.grad.numpy() if a.grad is not None else None
    return _again, (a.kin, a.numpy(), a.dtype, a.device.name, a.requires_grad, gradient)


def _again(kin: type[array], data: Any, dtype: Any, device: str, requires_grad: bool, gradient: Any) -> array:
    """Return the array that `pickle` or `copy` restores, of class `kin`, with its gradient's elements."""
    created = array(data, dtype, device=device, requires_grad=requires_grad)
    created.__class__ = kin
    if created.grad is not None and gradient is not None:
        created.grad.copy_(array(gradient, dtype, device=device))
    return created


array.__copy__ = array.__deepcopy__ = _copied  # type: ignore[attr-defined]
array.__reduce__ = _reduced  # type: ignore[method-assign]
