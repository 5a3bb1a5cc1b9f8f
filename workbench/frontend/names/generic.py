"""Generic annotations: `Float`, `Int`, `Scalar`, `Any`, alone and as an array's element, and functions as arguments.

A parameter with one of these has no type of its own: each call or launch decides it, within the family.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

import msgspec

from workbench.structs import AnyType, StructArray
from workbench.types import AnyVector, ArrayType, Kind
from workbench.types import Scalar as ScalarType


class Family(msgspec.Struct, frozen=True):
    """A generic annotation, `Float`, `Int` or `Scalar`: a parameter takes any scalar type of these kinds."""

    name: str
    kinds: tuple[Kind, ...]
    __wb_generic__ = True

    def accepts(self, type: Any) -> bool:
        """Return whether a type belongs to the family."""
        return isinstance(type, ScalarType) and type.kind in self.kinds

    def __repr__(self) -> str:
        """Return the name of the family, such as `Float`."""
        return self.name


class ArrayOf(msgspec.Struct, frozen=True):
    """A generic annotation for arrays of `ndim` dimensions.

    Attributes:
        family: what it takes as types of elements; None: any.
        ndim: the number of dimensions.
    """

    family: Family | AnyVector | None
    ndim: int
    __wb_generic__ = True

    def accepts(self, type: Any) -> bool:
        """Return whether a type is an array of so many dimensions, with elements that the family takes."""
        if not isinstance(type, (ArrayType, StructArray)) or type.ndim != self.ndim:
            return False
        return self.family is None or self.family.accepts(type.dtype)

    def __repr__(self) -> str:
        """Return the annotation as it is written, such as `array2d[Float]` or `array[Any]`."""
        return f"array{'' if self.ndim == 1 else f'{self.ndim}d'}[{self.family or 'Any'!r}]".replace("'", "")


class Function(msgspec.Struct, frozen=True):
    """A generic annotation for functions: a parameter that accepts funcs and builtins, shown as `Callable`."""

    __wb_generic__ = True

    def accepts(self, type: AnyType) -> bool:
        """Return whether a type fits, which no type of the language does: none is a function."""
        return False

    def __repr__(self) -> str:
        """Return `Callable`."""
        return "Callable"


class Ref(msgspec.Struct, frozen=True):
    """The annotation `ref[T]`: a func's parameter that its caller sees changed.

    Attributes:
        type: of the parameter.
    """

    type: Any

    def __repr__(self) -> str:
        """Return the annotation as it is written, such as `ref[float32]`."""
        return f"ref[{self.type!r}]"


class _Refs:
    """`ref[float]` annotates a parameter of a func that changes a number, vector or struct of its caller.

        >>> import workbench as wb
        >>> @wb.func
        ... def bump(x: wb.ref[float], by: float):
        ...     x += by
        >>> @wb.kernel
        ... def k(y: wb.array[float]):
        ...     bump(y[wb.tid()], 2.0)

    The argument is a name, an element of an array, a component or a field; the call is a statement of its own.
    """

    def __getitem__(self, type: Any) -> Ref:
        """Return the annotation of a reference to a value of this type."""
        return Ref(type)

    def __repr__(self) -> str:
        """Return `ref`."""
        return "ref"


ref = _Refs()
Float = Family("Float", (Kind.FLOAT,))
Int = Family("Int", (Kind.INT, Kind.UINT))
Scalar = Family("Scalar", (Kind.FLOAT, Kind.INT, Kind.UINT))
FUNCTION = Function()
Generic = Family | ArrayOf | Function | AnyVector


def array_of(dtype: Any, ndim: int | None) -> ArrayOf | None:
    """Return the annotation of an array with this generic element, in 1 dimension by default; None if it is a type."""
    dtype = bound(dtype)
    if dtype is Any or isinstance(dtype, typing.TypeVar):
        return ArrayOf(None, ndim or 1)
    return ArrayOf(dtype, ndim or 1) if isinstance(dtype, (Family, AnyVector)) else None


def bound(value: Any) -> Any:
    """Return the family that a type variable is bound to, `TypeVar("T", bound=Float)`; anything else itself."""
    family = value.__bound__ if isinstance(value, typing.TypeVar) else None
    return family if isinstance(family, Family) else value


_CALLABLE: Any = typing.get_origin(Callable[..., Any])


def generic(value: Any) -> Generic | None:
    """Return the generic annotation that restricts an argument; None if an annotation is a type or takes everything."""
    value = bound(value)
    if isinstance(value, (Family, ArrayOf, AnyVector)):
        return value
    origin = typing.get_origin(value) or value
    return FUNCTION if origin is _CALLABLE else None
