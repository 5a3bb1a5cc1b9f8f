"""The values of builtins and casts on NumPy values: the only place where the language's numbers are computed in Python.

Scalars are NumPy scalars of the exact dtype, vectors arrays of shape (length,), matrices of (rows, columns).
The interpreter runs on this and constant folding uses it, so folding cannot differ from running. Callers open
`np.errstate(all="ignore")`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import Builtin
from workbench.host.narrow import is_numpy_array
from workbench.ranges import rounded
from workbench.types import Kind, Scalar, Vector, element, in_float32, is_half


def value_of(number: Any, type: Scalar | Vector) -> Any:
    """Return a number, or a sequence of them for a vector type, as the NumPy value of a constant of the type."""
    if isinstance(type, Vector):
        parts = [type.dtype(n) for n in np.asarray(number, dtype=object).reshape(-1)] if type.dtype.is_half else number
        return np.array(parts, dtype=type.dtype.numpy).reshape(type.parts_shape)
    return rounded(number, type)  # what a constant's type cannot hold was refused before


def apply(builtin: Builtin, operands: Sequence[Any], type: Scalar | Vector) -> Any:
    """Return the builtin's result for these values, as a value of the result type.

    An elementwise builtin is done component by component, scalars serving all of them; a wide one is computed in
    float64 and rounded to the type. On floats of 16 bits it is done in float32, and its result rounded.
    """
    if not (builtin.elementwise and isinstance(type, Vector)):
        return _apply(builtin, operands, type)
    columns = [v.reshape(-1) if is_numpy_array(v) else (v,) * type.length for v in operands]
    rows = (_apply(builtin, row, type.dtype) for row in zip(*columns, strict=True))
    return np.array(list(rows), dtype=type.dtype.numpy).reshape(type.parts_shape)


def _apply(builtin: Builtin, operands: Sequence[Any], type: Scalar | Vector) -> Any:
    """Return the builtin's reference of these operands, as a NumPy value of `type`; half floats go through float32."""
    if any(v.dtype.itemsize == 2 and v.dtype.kind in "fV" for v in operands):
        operands = [v.astype(np.float32) if v.dtype.kind in "fV" else v for v in operands]
        if not is_half(type):
            return _apply(builtin, operands, type)
        return convert(_apply(builtin, operands, in_float32(type)), type)
    if builtin.wide:
        operands = [np.float64(v) for v in operands]
    result = builtin.reference(*operands)
    dtype = element(type).numpy
    return np.asarray(result, dtype=dtype) if isinstance(type, Vector) else dtype.type(result)


def convert(value: Any, type: Scalar | Vector) -> Any:
    """Return the value as another scalar type, component by component on a vector.

    Float to integer truncates and saturates, NaN gives 0 (as XLA); integer to integer wraps; anything to bool is
    whether it differs from 0.

    Args:
        value: a NumPy scalar or array.
        type: the type; of a vector type that of its components.
    """
    scalar = element(type)
    if is_numpy_array(value):
        return np.array([convert(v, scalar) for v in value.flat], dtype=scalar.numpy).reshape(value.shape)
    if (value.dtype.itemsize == 2 and value.dtype.kind in "fV") or (scalar.is_half and value.dtype.kind in "biu"):
        value = value.astype(np.float32)  # a half as it is, an integer as NumPy and XLA round it
    if scalar.is_half and value.dtype == np.float64:
        return rounded(value, scalar)
    if scalar.kind in (Kind.INT, Kind.UINT) and value.dtype.kind == "f":
        return scalar.numpy.type(_saturated(float(value), scalar))
    return _BY_KIND[scalar.kind](value, scalar.numpy)


def _saturated(value: float, type: Scalar) -> int:
    """Return a float as an integer of `type`: cut towards 0, the nearest limit if out of range, 0 for NaN."""
    if value != value:
        return 0
    limits = np.iinfo(type.numpy)
    low, high = int(limits.min), int(limits.max)
    return low if value <= low else high if value >= high else int(value)


def _cast(value: np.generic, dtype: np.dtype[Any]) -> Any:
    """Return the value converted as NumPy's `astype` does; integers wrap."""
    return value.astype(dtype)


_BY_KIND: dict[Kind, Callable[[Any, np.dtype[Any]], Any]] = {
    Kind.BOOL: lambda value, dtype: np.bool_(value != 0),
    Kind.INT: _cast,
    Kind.UINT: _cast,
    Kind.FLOAT: _cast,
}
