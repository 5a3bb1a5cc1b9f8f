"""A func's annotation of its result, `-> float`, compared with the result itself.

A literal takes the type that is said. A number of another type becomes it where nothing is lost (an int a float, a
float a wider one) and is refused elsewhere: an annotation that is not true would mislead whoever reads the call.
Annotations that are no types of the language say nothing here, as in Python.
"""

from __future__ import annotations

import typing
from typing import Any

from workbench.errors import KernelTypeError
from workbench.frontend.names.annotate import parameter_annotations, parameter_type, result
from workbench.frontend.names.rewriting import references
from workbench.frontend.state.coerce import adopts, convert, describe
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Bundle, Literal, Operand, Poison
from workbench.frontend.values.structs import fitted
from workbench.ir.values import Value
from workbench.structs import AnyType
from workbench.types import Complex, Kind, Scalar


def convert_result(context: Context, operand: Operand) -> Operand:
    """Convert the value of a `return` to the type that the func's annotation says, and its references to theirs.

    An annotation that is no type of the language changes nothing.

    Raises:
        KernelTypeError: the value has another type, or is another number of values.
    """
    if context.of_expression:
        return operand
    names = references(context.definition)
    if names and isinstance(operand, tuple):
        types = parameter_annotations(context.definition)
        values, changed = operand[: -len(names)], operand[-len(names) :]
        values = tuple(_as_annotated(context, v) for v in values)
        return *values, *(_typed(context, v, types[n], n) for v, n in zip(changed, names, strict=True))
    return _as_annotated(context, operand)


def _typed(context: Context, operand: Operand, type: AnyType | None, name: str) -> Operand:
    """Return an operand converted to the type of the reference parameter `name`; unchanged without a type."""
    return operand if type is None else fitted(context, operand, type, f"{name} of {context.definition.name}()")


def _as_annotated(context: Context, operand: Operand) -> Operand:
    """Return a func's result converted to its annotation; unchanged if there is none that is a type of the language.

    Raises:
        KernelTypeError: the result has another type, or another number of values.
    """
    node = context.definition.node.returns
    if node is None or not context.inside or isinstance(operand, Poison):
        return operand
    try:
        annotated = result(context.definition, node)
    except KernelTypeError:
        return operand
    if typing.get_origin(annotated) is not tuple:
        return _fitted(context, operand, _type(context, annotated))
    types = typing.get_args(annotated)
    if not isinstance(operand, tuple) or Ellipsis in types:
        return operand
    if len(types) != len(operand):
        count = f"{len(operand)} values; its annotation says {len(types)}"
        raise context.type_error(f"{context.definition.name} returns {count}.")
    return tuple(_fitted(context, o, _type(context, t)) for o, t in zip(operand, types, strict=True))


def _type(context: Context, annotated: Any) -> AnyType | None:
    """Return the type that an evaluated annotation stands for; None if it is generic or no type of the language."""
    try:
        return parameter_type(annotated, "the result", None, context.definition.name)
    except KernelTypeError:
        return None


def _fitted(context: Context, operand: Operand, type: AnyType | None) -> Operand:
    """Return a func's result in its annotated type, widened if nothing is lost; unchanged without a type.

    Raises:
        KernelTypeError: it is of a type that does not widen to that.
    """
    if type is None:
        return operand
    if adopts(operand, type):
        return convert(context, operand, type)  # type: ignore[arg-type]
    if isinstance(operand, (Value, Bundle)) and operand.type == type:
        return operand
    if isinstance(operand, Value) and _widens(operand.type, type):
        return convert(context, operand, type)  # type: ignore[arg-type]
    if not isinstance(operand, (Value, Bundle, Literal, tuple)):
        return operand
    raise context.type_error(
        f"{context.definition.name} returns {describe(operand)}; its annotation says {type!r}.",
        f"Return {type!r}(…), or change the annotation." if isinstance(type, Scalar) else "Change the annotation.",
    )


def _is_float(type: Any) -> bool:
    """Return whether a type is a float scalar."""
    return isinstance(type, Scalar) and type.kind is Kind.FLOAT


def _widens(source: Any, wanted: Any) -> bool:
    """Return whether each number of the one type is one of the other, or an int that becomes a float."""
    if isinstance(wanted, Complex):
        return source == wanted.real or _widens(source, wanted.real)
    if not isinstance(source, Scalar) or not _is_float(wanted):
        return False
    return source.kind is not Kind.FLOAT or source.bits < wanted.bits
