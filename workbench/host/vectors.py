"""Vectors, matrices, quaternions and transforms as Python has them: NumPy arrays that know their type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

ON_HOST: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = []
"""The function that applies names of the kernel language to values of Python. It needs the compiler, floors above."""

NAMES = {"x": slice(0, 1), "y": slice(1, 2), "z": slice(2, 3), "w": slice(3, 4), "p": slice(0, 3), "q": slice(3, 7)}
_KEEP = ("add", "subtract", "multiply", "divide", "negative", "absolute", "positive", "remainder", "floor_divide")


class HostVector(np.ndarray[Any, np.dtype[Any]]):
    """A value of a vector type: a NumPy array with `.x .y .z .w`, of a transform `.p` and `.q`.

        >>> import workbench as wb
        >>> v = wb.vec3(1.0, 2.0, 3.0)
        >>> v.x + (2.0 * v).z
        np.float32(7.0)
        >>> wb.quat(0.0, 0.0, 1.0, 0.0) * wb.quat(0.0, 0.0, 0.0, 1.0)
        quat(0.0, 0.0, 1.0, 0.0)

    Sums and multiples are NumPy's. A product with a matrix, quaternion or transform is that of the kernel language; for
    the product of elements, take `np.multiply`.

    Attributes:
        type: the vector type; None where an operation of NumPy made something else.
    """

    type: Any

    @classmethod
    def of(cls, components: Any, type: Any) -> HostVector:
        """Wrap a NumPy array that has the type's shape and dtype, without a copy."""
        vector = components.view(cls)
        vector.type = type
        return vector

    def __array_finalize__(self, source: Any) -> None:
        """Take over the type of `source`, of which NumPy makes this array, if shape and dtype still fit; else None."""
        type = getattr(source, "type", None)
        self.type = type if type is not None and self.shape == type.shape and self.dtype == type.numpy else None

    def __array_wrap__(self, result: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return a ufunc's result: a scalar, a vector of this type where it is one (as a sum), else a plain array."""
        plain = result.view(np.ndarray)
        if result.ndim == 0:
            return plain[()]
        type = self.type
        keeps = context is None or context[0].__name__ in _KEEP
        same = keeps and type is not None and result.shape == type.shape and result.dtype == type.numpy
        return HostVector.of(plain, type) if same else plain

    def __getitem__(self, index: Any) -> Any:
        """Return a component as a scalar of its type, a row or slice as a vector of that size.

        Anything else, and a part of one component, is a plain array.
        """
        part = self.view(np.ndarray)[index]
        if self.type is not None and np.ndim(part) == 0:
            return self.type.dtype.component(part)
        # Not of a vector or matrix: a number, one component, or an array with an axis more (`v[None]`).
        if self.type is None or not 0 < np.ndim(part) <= self.ndim or 0 in part.shape or part.shape[-1] == 1:
            return part
        return HostVector.of(part, self.type if part.shape == self.shape else self.type.slice(part.shape))

    def __getattr__(self, name: str) -> Any:
        """Return the components that a name means: of `x` a scalar, of a transform's `p` a vector and `q` a quaternion.

        Raises:
            AttributeError: the type has no such attribute.
        """
        part = self.view(np.ndarray)[self._named(name)]
        return self.type.dtype.component(part[0]) if len(part) == 1 else HostVector.of(part, self.type.part(name))

    def __setattr__(self, name: str, value: Any) -> None:
        """Write the components that a name such as `x` or `q` means; of any other name, set the attribute."""
        if name in NAMES:
            self[self._named(name)] = value
        else:
            super().__setattr__(name, value)

    def _named(self, name: str) -> slice:
        """Return the flat components that an attribute such as `x` or `q` names.

        Raises:
            AttributeError: the value's type has no such attribute.
        """
        index = NAMES.get(name)
        if index is None or self.type is None or name not in self.type.names:
            shown = "array" if self.type is None else repr(self.type)
            raise AttributeError(f"a value of {shown} has no attribute {name!r}")
        return index

    def __mul__(self, other: Any) -> Any:
        """Return the language's product with a matrix, quaternion or transform; else that by components."""
        return self._product(self, other) if _has_own_product(self, other) else np.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        """Return `other * self`: the language's product with a matrix, quaternion or transform; else by components."""
        return self._product(other, self) if _has_own_product(other, self) else np.multiply(other, self)

    def __eq__(self, other: Any) -> Any:
        """Compare as a whole with a `HostVector`, a tuple or a list, to one bool; with all else component by component.

        A value without a type compares with everything component by component, as NumPy does.
        """
        if self.type is not None and isinstance(other, _WHOLE):
            return np.bool_(np.shape(other) == self.shape and np.all(np.equal(self, other)))
        return np.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        """Return the opposite of `==`, as a whole or component by component."""
        equal = self == other
        return np.bool_(not equal) if isinstance(equal, (bool, np.bool_)) else np.not_equal(self, other)

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def _product(left: Any, right: Any) -> Any:
        """Return the kernel language's product `left * right`."""
        return ON_HOST[0](PRODUCT, (left, right), {})

    def __repr__(self) -> str:
        """Return the type and all components in one row: `vec3(1.0, 2.0, 3.0)`; without a type, NumPy's text."""
        if self.type is None:
            return repr(self.view(np.ndarray))
        return f"{self.type!r}({', '.join(str(v) for v in self.view(np.ndarray).reshape(-1))})"

    def __str__(self) -> str:
        """Return the components as a list; of a matrix one row per line."""
        if self.type is None or self.ndim == 1:
            return str(self.tolist())
        return "[" + ",\n ".join(str(row) for row in self.tolist()) + "]"

    def __reduce__(self) -> Any:
        """Pickle as a copy of the components and the type."""
        return HostVector.of, (self.view(np.ndarray).copy(), self.type)


PRODUCT = "a * b"
_WHOLE: tuple[type[Any], ...] = (HostVector, tuple, list)
"""Operands that a value with a type is compared with as a whole."""


def _has_own_product(left: Any, right: Any) -> bool:
    """Return whether the language's product of these two is another than that of their components.

    That is so where both are values with a type, one of them a matrix, a quaternion or a transform.
    """
    types = [getattr(v, "type", None) if isinstance(v, HostVector) else None for v in (left, right)]
    return None not in types and any(t.has_product for t in types)  # type: ignore[union-attr]
