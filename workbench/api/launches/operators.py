"""Operators and reductions of arrays: `runtime/arithmetic.py` has their Python names. Elementwise ones are `map`s."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import launch
from workbench.api.launches.map import map
from workbench.api.launches.reductions import EXTREMES, add_products, add_up, add_up_along, converted, multiplied
from workbench.builtins import TABLE, Builtin
from workbench.errors import LaunchError
from workbench.ranges import number
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty, zeros
from workbench.runtime.arrays.placeholder import Symbol
from workbench.structs import Struct
from workbench.types import Complex, Kind, Scalar, element, float32, float64, int32, is_float
from workbench.types import bool as bool_


def binary(name: str, left: Any, right: Any) -> Any:
    """Compute `left + right` and the like by a builtin's name; NotImplemented if an operand is of another kind.

    A Python number takes the array's type, as in kernels.
    """
    kind = _number_type(left, right)
    if kind is None:
        return NotImplemented
    meanings = left.meanings if isinstance(left, array) else right.meanings
    return map(meanings.get(name, TABLE[name]), _fitting(left, kind), _fitting(right, kind))


def unary(name: str, value: array) -> Any:
    """Compute `-x` and the like by a builtin's name."""
    return map(TABLE[name], value)


def logical(name: str, left: array, right: Any) -> Any:
    """Compute `left & right` and the like: logical for bools, bitwise for integers."""
    return binary(f"{name}_" if left.dtype == bool_ else f"bit_{name}", left, right)


def inverted(value: array) -> Any:
    """Compute `~x`: logical not for bools, bitwise not for integers."""
    return unary("not_" if value.dtype == bool_ else "invert", value)


def applied(builtin: Builtin, *values: Any) -> Any:
    """Apply a builtin to the elements of arrays; a Python number takes the arrays' type.

    Raises:
        LaunchError: `dot`, `length` or `argmax` of arrays of numbers: an element has none.
    """
    if builtin.name in _OF_VECTORS and all(isinstance(v, array) and isinstance(v.dtype, Scalar) for v in values):
        raise LaunchError(
            f"{builtin.name}() is of each element, and here the elements are numbers.",
            advice=f"Write {_OF_VECTORS[builtin.name]} for that of whole arrays.",
        )
    kind = _number_type(*values)
    return map(builtin, *(_fitting(value, kind) for value in values))


_OF_VECTORS = {
    "dot": "x.dot(y)",
    "length": "wb.sqrt(x.dot(x))",
    "length_sq": "x.dot(x)",
    "argmax": "np.argmax(x)",
    "argmin": "np.argmin(x)",
}


def _number_type(*values: Any) -> Scalar | None:
    """Return the type of Python numbers beside arrays: the widest float, else integer; None if a value is no operand.

    Beside arrays of bools alone a float is a float32: `wb.where(x > 0.0, 1.0, -1.0)`.
    """
    if not all(isinstance(v, (array, np.ndarray, np.generic, int, float, complex, Symbol)) for v in values):
        return None
    dtypes = [element(v.dtype) for v in values if isinstance(v, array) and not isinstance(v.dtype, Struct)]
    ranked = [t for t in dtypes if t.kind is Kind.FLOAT] or [t for t in dtypes if t != bool_]
    weak = float32 if any(isinstance(v, float) for v in values) else bool_
    return max(ranked, key=lambda t: t.bits, default=weak)


def _fitting(value: Any, kind: Scalar | None) -> Any:
    """Return an operand of an operator; a Python number or symbol becomes one of type `kind`, unless that is None.

    Raises:
        LaunchError: it is a float, and the arrays are of integers.
    """
    if isinstance(value, Symbol) and kind is not None:
        return value.become("an operator", "the number", kind)
    if kind is None or type(value) not in (int, float):
        return value
    if isinstance(value, float) and not is_float(kind):
        raise LaunchError(
            f"{value!r} beside an array of {kind!r}: types are not converted by themselves.",
            advice="Convert the array: wb.array(x, dtype=float).",
        )
    return number(value, int32 if kind == bool_ else kind)


def total(x: array, axis: int | None = None, keepdims: bool = False) -> array:
    """Return the sum of all elements, as an array of one element, or the sums along an axis."""
    if x.dtype == bool_:
        return total(applied(TABLE["where"], x, np.int32(1), np.int32(0)), axis, keepdims)
    if axis is not None:
        return _along(add_up_along, "sum()", x, x.dtype, axis, keepdims)
    out = zeros(1, x.dtype, x.device, x.requires_grad)
    return _reduced(add_up, "sum()", x.size, [_flat(x)], out)


def mean(x: array, axis: int | None = None, keepdims: bool = False) -> array:
    """Return the mean of all elements, as an array of one element, or the means along an axis.

    Integers and 16-bit floats are added as wider floats, so that no sum overflows.
    """
    if x.dtype == bool_:
        return mean(applied(TABLE["where"], x, np.int32(1), np.int32(0)), axis, keepdims)
    if not isinstance(x.dtype, Scalar) or (x.dtype.kind is Kind.FLOAT and not x.dtype.is_half):
        return total(x, axis, keepdims) / (x.size if axis is None else x.shape[_dimension(x, axis, "mean()")])
    wide = float64 if x.dtype.bits == 64 else float32
    if axis is not None:
        added = _along(add_up_along, "mean()", x, wide, axis, keepdims)
        return added / x.shape[_dimension(x, axis, "mean()")]
    out = zeros(1, wide, x.device, x.requires_grad)
    return _reduced(add_up, "mean()", x.size, [_flat(x)], out) / x.size


def inner(x: array, y: Any) -> array:
    """Return the sum of the products of two arrays' elements, as an array of one element.

    Raises:
        LaunchError: they are not two arrays of numbers of the same shape and dtype.
    """
    y = array(y, device=x.device) if isinstance(y, np.ndarray) else y
    if not isinstance(y, array) or (x.shape, x.dtype) != (y.shape, y.dtype) or not is_number_type(x.dtype):
        shown = f"{y.type!r} of shape {y.shape}" if isinstance(y, array) else repr(y)
        raise LaunchError(
            f"dot() takes two arrays of numbers of one shape and dtype, not {x.type!r} of shape {x.shape} and {shown}."
        )
    out = zeros(1, x.dtype, x.device, x.requires_grad or y.requires_grad)
    return _reduced(add_products, "dot()", x.size, [_flat(x), _flat(y)], out)


def extreme(name: str, x: array, axis: int | None = None, keepdims: bool = False) -> array:
    """Return the largest ("max") or smallest ("min") of all elements, or of those along an axis, as an array.

    Raises:
        LaunchError: the elements are no real numbers, or there are none.
    """
    what = f"{name}()"
    chosen = x.size if axis is None else x.shape[_dimension(x, axis, what)]
    if not isinstance(x.dtype, Scalar) or x.dtype == bool_ or not chosen:
        raise LaunchError(f"{what} takes an array of numbers that is not empty, not {x.type!r} of shape {x.shape}.")
    if axis is not None:
        return _along(EXTREMES[name][1], what, x, x.dtype, axis, keepdims)
    flat, narrow = _flat(x), x.dtype.bits < 32
    out = empty(1, _atomic(x.dtype), x.device)
    _reduced(converted, what, 1, [flat[:1]], out)
    _reduced(EXTREMES[name][0], what, x.size, [flat], out)
    return _reduced(converted, what, 1, [out], empty(1, x.dtype, x.device)) if narrow else out


def _atomic(kind: Scalar) -> Scalar:
    """Return the type in which atomics compare elements of this one: they have 32 or 64 bits."""
    return kind if kind.bits >= 32 else float32 if kind.kind is Kind.FLOAT else int32


def _dimension(x: array, axis: int, what: str) -> int:
    """Return an axis counted from 0, which may be negative; `what` names the reduction in the error.

    Raises:
        LaunchError: the array has no such axis.
    """
    if not -x.ndim <= axis < x.ndim:
        raise LaunchError(f"{what} along axis {axis}: an array of shape {x.shape} has the axes 0 to {x.ndim - 1}.")
    return axis % x.ndim


def _along(of: Kernel, what: str, x: array, kind: Any, axis: int, keepdims: bool) -> array:
    """Reduce an array along an axis, by a kernel of three dimensions: before the axis, along it, and after it."""
    at = _dimension(x, axis, what)
    before, after = x.shape[:at], x.shape[at + 1 :]
    sizes = prod(before), prod(after)
    out = empty(sizes, kind, x.device, x.requires_grad)
    _reduced(of, what, sizes, [x.reshape(sizes[0], x.shape[at], sizes[1])], out)
    return out.reshape(*before, *((1,) if keepdims else ()), *after) if keepdims or x.ndim > 1 else out.flatten()


def product(left: Any, right: Any) -> Any:
    """Multiply matrices and vectors, `a @ b`; NotImplemented if an operand is no array.

    Raises:
        LaunchError: shapes or dtypes do not fit.
    """
    a, b = (array(v, device=_device_of(left, right)) if isinstance(v, np.ndarray) else v for v in (left, right))
    if not isinstance(a, array) or not isinstance(b, array):
        return NotImplemented
    if a.ndim > 2 or b.ndim > 2 or a.shape[-1] != b.shape[0] or a.dtype != b.dtype or not is_number_type(a.dtype):
        raise LaunchError(
            f"@ takes matrices and vectors of numbers, (n, k) @ (k, m), of one dtype; these are {a.type!r} of shape "
            f"{a.shape} and {b.type!r} of shape {b.shape}."
        )
    if a.ndim == b.ndim == 1:
        return inner(a, b)
    rows = a.reshape(1, -1) if a.ndim == 1 else a
    columns = b.reshape(-1, 1) if b.ndim == 1 else b
    shape = (rows.shape[0], columns.shape[1])
    out = empty(shape, a.dtype, a.device, a.requires_grad or b.requires_grad)
    launch(multiplied, shape, inputs=[rows, columns], outputs=[out], device=a.device)
    return out if a.ndim == b.ndim else out.flatten()


def is_number_type(dtype: object) -> bool:
    """Return whether elements of this type are numbers, complex ones too."""
    return isinstance(dtype, Scalar) or type(dtype) is Complex


def _device_of(left: Any, right: Any) -> Any:
    """Return the device of the first operand that is an array; None if none is."""
    return next((v.device for v in (left, right) if isinstance(v, array)), None)


def _flat(x: array) -> array:
    """Return the elements in one dimension, in row-major order."""
    return x if x.ndim == 1 else x.flatten()


def _reduced(of: Kernel, what: str, n: int | tuple[int, ...], inputs: list[array], out: array) -> array:
    """Launch the reduction `of` over `n` threads from `inputs` into `out`, and return `out`.

    Raises:
        LaunchError: the elements are structs.
    """
    if isinstance(out.dtype, Struct):
        raise LaunchError(
            f"{what} takes an array of numbers or vectors, not of structs.", advice="Take a field: x['v']."
        )
    launch(of, n, inputs=inputs, outputs=[out], device=out.device)
    return out
