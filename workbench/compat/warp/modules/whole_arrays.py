"""`warp.utils`: algorithms on whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from workbench import utils
from workbench.compat.warp.launches import ScopedTimer, func

__all__ = ["ScopedTimer", "array_cast", "array_inner", "array_scan", "array_sum"]


def __getattr__(name: str) -> Any:
    return getattr(utils, name)


def array_scan(in_array: wb.array, out_array: wb.array, inclusive: bool = True) -> None:
    """Write the running sums.

    Raises:
        LaunchError: the arrays do not fit each other.
    """
    utils.array_scan(in_array, out_array, inclusive)


def _reduced(data: Any, dtype: Any, ndim: int, out: wb.array | None, axis: int | None, what: str) -> Any:
    """The sum along an axis of the array, or along all."""
    axes = tuple(range(ndim)) if axis is None else (axis,)
    keep = data.sum(axis=axes, dtype=data.dtype, keepdims=axis is not None)
    if out is None and axis is None:
        return keep.item() if keep.ndim == 0 else wb.array(keep[None], dtype).numpy()[0]
    if out is None:
        return wb.array(keep, dtype)
    if out.numpy().size != keep.size:
        raise wb.LaunchError(f"{what}: out has shape {out.shape}, and the result does not fit it.", parameter="out")
    if out.dtype != dtype:
        raise wb.LaunchError(f"{what}: out is of {out.dtype!r}, and the result of {dtype!r}.", parameter="out")
    out.assign(wb.array(keep.reshape(out.numpy().shape), dtype))
    return None


def array_sum(
    values: wb.array, out: wb.array | None = None, value_count: int | None = None, axis: int | None = None
) -> Any:
    """The sum of the elements, of all or of the first `value_count`, or along an axis.

    Returns:
        A number, or for an axis an array; None if `out` is written.

    Raises:
        LaunchError: `out` does not fit.
    """
    _must_be_floats("array_sum()", values)
    data = values.numpy() if value_count is None else values.numpy()[:value_count]
    return _reduced(data, values.dtype, values.ndim, out, axis, "array_sum()")


def array_inner(
    a: wb.array, b: wb.array, out: wb.array | None = None, count: int | None = None, axis: int | None = None
) -> Any:
    """The sum of products of the elements, of vectors their dot products.

    Returns:
        A number, or for an axis an array; None if `out` is written.

    Raises:
        LaunchError: the arrays do not fit each other, or `out` does not fit.
    """
    _must_be_floats("array_inner()", a)
    if a.dtype != b.dtype or (count is None and a.shape != b.shape):
        raise wb.LaunchError(f"array_inner(): a is {a.dtype!r} of shape {a.shape}, b {b.dtype!r} of {b.shape}.")
    x, y = (v.numpy() if count is None else v.numpy()[:count] for v in (a, b))
    product = x * y
    product = product.sum(axis=tuple(range(a.ndim, product.ndim)), dtype=product.dtype)
    return _reduced(product, wb.types.element(a.dtype), a.ndim, out, axis, "array_inner()")


def array_cast(in_array: wb.array, out_array: wb.array, count: int | None = None) -> None:
    """Write the elements as those of another type.

    Raises:
        LaunchError: there are more than `out_array` has.
    """
    if in_array.dtype.shape != out_array.dtype.shape and in_array.numpy().size != out_array.numpy().size:
        raise wb.LaunchError(f"array_cast(): {in_array.dtype!r} cannot become {out_array.dtype!r}.")
    if count is None and in_array.shape != out_array.shape and in_array.dtype.shape == out_array.dtype.shape:
        raise wb.LaunchError(f"array_cast(): shapes are {in_array.shape} and {out_array.shape}.")
    source, target = in_array.numpy().reshape(-1), np.array(out_array.numpy())
    most = len(source) if count is None else count * max(1, int(np.prod(in_array.dtype.shape)))
    with np.errstate(all="ignore"):
        target.reshape(-1)[:most] = source[:most].astype(target.dtype)
    out_array.assign(wb.array(target, out_array.dtype))


def _must_be_floats(what: str, values: wb.array) -> None:
    if wb.types.element(values.dtype).name not in ("float32", "float64"):
        raise wb.LaunchError(f"{what} takes arrays of float32 or float64, or of vectors of them, not {values.dtype!r}.")


def create_warp_function(function: Any) -> Any:
    """A func of a Python function, and a key for it."""
    made = func(function)
    return made, made.name


def check_p2p() -> bool:
    """Return whether devices can reach each other's memory: of no use to a caller here."""
    return False
