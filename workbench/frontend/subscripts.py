"""Indices and attributes of arrays and vectors.

A negative index counts from the end, as in Python. Where an index is provably not negative (a thread's index, a loop
counter from 0, a size, sums of those) nothing is emitted for that; elsewhere the builtin `wrap_index` stands in the IR.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from workbench.builtins.table import TABLE
from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.frontend import swizzles
from workbench.frontend.coerce import describe, materialise, usable
from workbench.frontend.context import Context
from workbench.frontend.operands import Literal, Operand
from workbench.ir.values import Value
from workbench.types import ArrayType, Kind, Matrix, Vector, int32, is_integer

Expression = Callable[[Context, ast.expr], Operand]
COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3}


def indices(context: Context, array: Value, node: ast.expr, expression: Expression) -> list[Value]:
    """The indices written between the brackets, ready for `load` and `store`."""
    assert isinstance(array.type, ArrayType)
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    if len(nodes) != array.type.ndim:
        hint = ", ".join("ijkl"[: array.type.ndim])
        raise context.error(
            KernelTypeError,
            f"{array.name} has {array.type.ndim} dimension{'s' * (array.type.ndim > 1)}, not {len(nodes)}.",
            f"Write {array.name}[{hint}].",
        )
    return resolve(context, array, [(n, expression(context, n)) for n in nodes])


def resolve(context: Context, array: Value, given: Sequence[tuple[ast.expr, Operand]]) -> list[Value]:
    """Operands as indices: integers, counted from the end where they are negative."""
    result = []
    for axis, (node, operand) in enumerate(given):
        with context.at(node):
            result.append(_index(context, array, axis, usable(context, operand)))
    return result


def _index(context: Context, array: Value, axis: int, operand: Value | Literal) -> Value:
    if isinstance(operand, Literal):
        if operand.is_float:
            raise context.error(KernelTypeError, "An index must be an integer; this is a float.", "Write int(…).")
        value = materialise(context, operand)
        return value if operand.value >= 0 else _emit(context, "add", size(context, array, axis), value)
    if not is_integer(operand.type):
        raise context.error(KernelTypeError, f"An index must be an integer; this is {operand.type!r}.", "Write int(…).")
    if operand in context.shared.non_negative or operand.type.kind is Kind.UINT:  # type: ignore[union-attr]
        return operand
    return _emit(context, "wrap_index", operand, context.builder.cast(size(context, array, axis), operand.type))


def size(context: Context, array: Value, axis: int) -> Value:
    """The array's size along an axis."""
    return context.builder.one("shape", (array,), int32, {"axis": axis})


def _emit(context: Context, name: str, *operands: Value) -> Value:
    return context.builder.one(TABLE[name].name, operands, operands[0].type)


def component(context: Context, vector: Vector, operand: Operand) -> Value:
    """The index of a vector's component: a literal within its length, or an integer value."""
    operand = usable(context, operand)
    if isinstance(operand, Literal):
        if operand.is_float or not -vector.length <= operand.value < vector.length:
            raise context.error(
                KernelTypeError, f"{vector!r} has components 0 to {vector.length - 1}, not {operand.value!r}."
            )
        return context.builder.const(int(operand.value) % vector.length)
    if not is_integer(operand.type):
        raise context.error(KernelTypeError, f"A component's index must be an integer; this is {operand.type!r}.")
    if operand in context.shared.non_negative:
        return operand
    return _emit(context, "wrap_index", operand, context.builder.const(vector.length, operand.type))


def attribute(context: Context, base: Value | Literal, attr: str) -> Operand:
    """`v.x` and `v.zyx` of a vector; `x.shape`, `x.ndim`, `x.size` of an array."""
    if swizzles.is_swizzle(base, attr):
        assert isinstance(base, Value)
        return swizzles.swizzle(context, base, attr)
    letters = isinstance(base, Value) and isinstance(base.type, Vector) and not isinstance(base.type, Matrix)
    if letters and attr in tuple("xyzw"[: base.type.length]):  # type: ignore[union-attr]
        assert isinstance(base, Value) and isinstance(base.type, Vector)
        where = context.builder.const(COMPONENTS[attr])
        return context.builder.one("extract", (base, where), base.type.dtype)
    if isinstance(base, Value) and isinstance(base.type, ArrayType):
        if attr == "shape":
            return tuple(size(context, base, axis) for axis in range(base.type.ndim))
        if attr == "ndim":
            return Literal(base.type.ndim)
        raise context.error(KernelSyntaxError, f"An array in a kernel has no {attr}; it has shape and ndim.")
    raise context.error(KernelSyntaxError, f"{describe(base)} has no {attr}.")
