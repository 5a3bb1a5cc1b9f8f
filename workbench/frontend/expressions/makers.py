"""`vector(1.0, 2.0)`, `matrix(x, shape=(2, 2), dtype=float)` in a kernel: the type that the arguments and names say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from workbench import types
from workbench.builtins.declaration.rules import part_type
from workbench.errors import KernelTypeError
from workbench.frontend.expressions.complex_numbers import is_complex
from workbench.frontend.state.coerce import usable
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand, Static
from workbench.frontend.values.matrices import number_of
from workbench.host.narrow import is_tuple
from workbench.ir.values import Value
from workbench.types import Matrix, Quaternion, Transform, Vector, element, float32, int32, matrix, number_type, vector

_NAMES: dict[type[Vector], str] = {Vector: "length", Matrix: "shape"}
PARTS: dict[type[Vector], tuple[str, ...]] = {Transform: ("p", "q"), Quaternion: ("x", "y", "z", "w")}
"""The keywords of a maker's arguments."""


def by_name(kind: type[Vector], args: list[Operand], keywords: dict[str, Operand]) -> list[Operand]:
    """Take the arguments that are given by name out of the keywords, and return all in their order."""
    for name in PARTS.get(kind, ())[len(args) :]:
        if name not in keywords:
            break
        args = [*args, keywords.pop(name)]
    return args


def type_of(
    context: Context, kind: type[Vector], name: str, args: Sequence[Operand], keywords: Mapping[str, Operand]
) -> Vector:
    """Return the type of the value that such a call makes.

    Raises:
        KernelTypeError: its size or its scalar type is not said, or is none that the language has.
    """
    allowed = ("dtype", _NAMES[kind]) if kind in _NAMES else ("dtype",)
    for label in keywords:
        if label not in allowed:
            raise context.error(KernelTypeError, f"{name}() has no argument {label}; it has {' and '.join(allowed)}.")
    operands = [usable(context, a) for a in args]
    vector_types = [o.type for o in operands if isinstance(o, Value) and isinstance(o.type, Vector) and o.type.shape]
    dtype = _scalar(context, name, keywords["dtype"]) if "dtype" in keywords else _deduced(operands)
    if kind is Quaternion:
        return Quaternion(4, element(dtype))
    if kind is Transform:
        return Transform(7, element(dtype))
    size = _size(context, name, keywords.get(_NAMES[kind]))
    if not size and len(vector_types) == 1 and len(operands) == 1:
        size = vector_types[0].shape
    if not size and kind is Vector:
        size = (len(operands),)
    try:
        return matrix(size, dtype) if kind is Matrix else vector(size[0], dtype)
    except TypeError as error:
        raise context.error(KernelTypeError, f"{name}(): {error}.", f"Give {_NAMES[kind]}= and dtype=.") from None


def _size(context: Context, name: str, operand: Operand | None) -> tuple[int, ...]:
    parts = operand if isinstance(operand, tuple) else () if operand is None else (operand,)
    if len(parts) == 1 and isinstance(parts[0], Static) and is_tuple(parts[0].value):
        return cast("tuple[int, ...]", parts[0].value)
    sizes = [p.value for p in map(lambda o: usable(context, o), parts) if isinstance(p, Literal)]
    if len(sizes) != len(parts):
        raise context.error(KernelTypeError, f"The size of {name}() is not known at compile time.")
    return tuple(int(n) for n in sizes)


def _scalar(context: Context, name: str, operand: Operand) -> Any:
    scalar = number_of(operand)
    if scalar is None:
        raise context.error(KernelTypeError, f"dtype of {name}() is not a scalar type.", "Write dtype=float, say.")
    return scalar


def _deduced(operands: Sequence[Operand]) -> Any:
    """Return the scalar type of the first argument that has one; of literals alone that of their default."""
    typed = [number_type(o.type) for o in operands if isinstance(o, Value)]
    if any(map(is_complex, operands)):
        return types.Complex(2, part_type(typed))
    floats = not operands or any(isinstance(o, Literal) and o.is_float for o in operands)
    return typed[0] if typed else float32 if floats else int32
