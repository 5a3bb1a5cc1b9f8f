"""`warp.utils`: algorithms on whole arrays."""

from __future__ import annotations

from functools import lru_cache
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
    source, target = in_array, out_array
    if count is not None or source.dtype.shape != target.dtype.shape:
        source, target = (a.flatten().view(wb.types.element(a.dtype)).flatten() for a in (in_array, out_array))
        most = source.size if count is None else count * max(1, int(np.prod(in_array.dtype.shape)))
        if most > target.size or (count is None and most != target.size):
            raise wb.LaunchError(f"array_cast(): {in_array.shape} of {in_array.dtype!r} do not fit {out_array.shape}.")
        source, target = source[:most], target[:most]
    elif source.shape != target.shape:
        raise wb.LaunchError(f"array_cast(): shapes are {source.shape} and {target.shape}.")
    wb.map(_caster(target.dtype), source, out=target)


@lru_cache(maxsize=64)
def _caster(kind: Any) -> wb.Func:
    """Return the func that makes a value of a type; of a launch, a tape knows the gradient."""

    @wb.func
    def cast(x: Any):
        return kind(x)

    return cast


def _must_be_floats(what: str, values: wb.array) -> None:
    if wb.types.element(values.dtype).name not in ("float32", "float64"):
        raise wb.LaunchError(f"{what} takes arrays of float32 or float64, or of vectors of them, not {values.dtype!r}.")


def create_warp_function(function: Any) -> Any:
    """A func of a Python function, and a key for it."""
    result = func(function)
    return result, result.name


def check_p2p() -> bool:
    """Return whether devices can reach each other's memory: of no use to a caller here."""
    return False
