"""Warp's makers of types: `vector(length, dtype)` and its like; called in kernels they make values."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from workbench import types
from workbench.compat.warp.absent import absent
from workbench.compat.warp.settings import config
from workbench.host.vectors import HostVector
from workbench.types import Complex, Kind, Matrix, Quaternion, Scalar, Transform, Vector, any_vector, as_type


def vector(length: Any, dtype: Any = float) -> Any:
    """Return the type of vectors of `length` components; of 0 `tuple`, of more than the language has an `absent` class.

    Raises:
        TypeError: the dtype is not a scalar type.
    """
    if isinstance(length, int) and not 1 <= length <= types.MOST_COMPONENTS:
        return absent(f"vector({length})") if length else tuple
    return number_type(types.vector(length, dtype))


def matrix(shape: Any, dtype: Any = float) -> Any:
    """Return the type of matrices of a shape (rows, columns); for one that the language lacks, an `absent` class.

    Raises:
        TypeError: the dtype is not a scalar type.
    """
    sizes = [n for n in shape if isinstance(n, int)] if isinstance(shape, (tuple, list)) else []
    if len(sizes) == 2 and (min(sizes) < 1 or sizes[0] * sizes[1] > types.MOST_COMPONENTS):
        return absent(f"matrix({tuple(shape)})") if any(sizes) else tuple
    return number_type(types.matrix(shape, dtype))


def quaternion(dtype: Any = float) -> Any:
    """Return the type of quaternions with components of `dtype`; for an open one (`Any`), an annotation for all."""
    return any_vector(Quaternion, (4,), dtype) or number_type(Quaternion(4, types.element(as_type(dtype))))


def transformation(dtype: Any = float) -> Any:
    """Return the type of rigid motions with components of `dtype`; for an open one (`Any`), an annotation for all."""
    return any_vector(Transform, (7,), dtype) or number_type(Transform(7, types.element(as_type(dtype))))


PYTHON = ("float32", "int32", "bool")
"""Names of the types that Python's own numbers have in a kernel."""


@cache
def _number_class(kind: type[np.generic]) -> Any:
    """Return a subclass of NumPy's scalar class `kind`, with Warp's `value`."""
    return type(kind.__name__, (kind,), {"value": property(np.generic.item)})


class Number(Scalar):
    """Represents a type of numbers, equal to Workbench's; its values have Warp's `value`, and integers wrap around."""

    @property
    def plain(self) -> Scalar:
        """Workbench's own type that this one is equal to."""
        return types.SCALARS[self.name]

    def component(self, number: Any) -> Any:
        """Return a vector's component, given as a NumPy scalar, in the form that Warp gives it.

        That is a Python number if the type is float32, int32 or bool, or with `config.legacy_scalar_return_types`;
        otherwise a scalar of this type.
        """
        return number.item() if self.name in PYTHON or config.legacy_scalar_return_types else self(number)

    def __call__(self, value: Any = 0) -> Any:
        """Return a NumPy scalar of this type; an integer that does not fit is cut to its lowest bits."""
        if self.kind in (Kind.INT, Kind.UINT) and isinstance(value, (int, float, np.number)):
            value = types.wrapped(int(value), self)
        number = super().__call__(value)
        return _number_class(type(number))(number)


NUMBERS = {n: Number(n, t.kind, t.bits) for n, t in types.SCALARS.items() if n not in ("bool", "bfloat16")}
"""Warp's types of numbers, by name."""


def number_type(kind: Any) -> Any:
    """Return Warp's scalar or vector type for Workbench's, always the same object; any other type itself."""
    if isinstance(kind, Vector) and not isinstance(kind, Complex):
        return _vector_type(kind)
    return NUMBERS.get(kind.name, kind) if type(kind) is Scalar else kind


@cache
def _vector_type(kind: Vector) -> Vector:
    return kind.with_dtype(NUMBERS.get(kind.dtype.name, kind.dtype))


_NAMED = {**types.VECTORS, **types.MATRICES, **types.QUATERNIONS, **types.TRANSFORMS}
TYPES = {**NUMBERS, **{name: number_type(kind) for name, kind in _NAMED.items()}}
"""Warp's types of numbers, vectors and matrices, by the names that kernels see without an import."""


def of_warp(value: Any) -> Any:
    """Return a vector or matrix as a value of Warp's type; any other value itself."""
    return HostVector.of(value, number_type(value.type)) if isinstance(value, HostVector) and value.type else value


for _make, _kind in ((vector, Vector), (matrix, Matrix), (quaternion, Quaternion), (transformation, Transform)):
    _make.__dict__["__wb_makes__"] = _kind
