"""Operands that differ only in identity, and can share what lowering found for one of them.

That is the types that a loop settles to, and what a func comes to.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import cast

from msgspec.structs import replace

from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Axis, Bundle, Element, Elements, Literal, Operand, Static, View
from workbench.host.narrow import is_tuple
from workbench.ir.rewrite import Mapping
from workbench.ir.values import Value
from workbench.types import ArrayType, is_weak

_VALUES_INSIDE = (View, Axis, Bundle, Elements, Element)


def form(context: Context, operands: Iterable[Operand | None]) -> tuple[Hashable, ...]:
    """Return all that lowering sees of operands, for comparison by ==.

    Values are numbers in order of appearance, with the facts about them. It holds Python objects by their identity, so
    keep the operands as long as it.
    """
    numbers: dict[Value, int] = {}
    return tuple(_form(context, operand, numbers) for operand in operands)


def _form(context: Context, operand: object, numbers: dict[Value, int]) -> Hashable:
    """Return a hashable description of an operand that does not depend on the identity of IR values.

    Args:
        context: whose builder knows facts about values.
        operand: an operand, or a part of one.
        numbers: the values so far, numbered in order of appearance; new ones are added.
    """
    if isinstance(operand, Value):
        wide = isinstance(operand.type, ArrayType) and operand.type.wide  # which == leaves out
        known = context.shared.builder.known(operand)
        return (numbers.setdefault(operand, len(numbers)), operand.type, wide, is_weak(operand.type), *known)
    if isinstance(operand, Literal):
        return type(cast(object, operand.value)), repr(operand.value), operand.captured
    if isinstance(operand, Static):
        return id(operand.value), operand.path
    if is_tuple(operand):
        return tuple(_form(context, o, numbers) for o in operand)
    if isinstance(operand, _VALUES_INSIDE):
        parts = (_form(context, getattr(operand, name), numbers) for name in operand.__struct_fields__)
        return type(operand), *parts
    return operand


def values(operands: Iterable[object]) -> Iterable[Value]:
    """Yield the values that operands are made of, in order, with repetitions."""
    for operand in operands:
        if isinstance(operand, Value):
            yield operand
        elif is_tuple(operand):
            yield from values(operand)
        elif isinstance(operand, _VALUES_INSIDE):
            yield from values(getattr(operand, name) for name in operand.__struct_fields__)


def with_values(operand: Operand, mapping: Mapping) -> Operand:
    """Return a copy of an operand with the values in it replaced; those that the mapping lacks stay."""
    return _with_values(operand, mapping)  # type: ignore[return-value]


def _with_values(operand: object, mapping: Mapping) -> object:
    """Return an operand, or a part of one, with its IR values replaced by `mapping`; other objects unchanged."""
    if isinstance(operand, Value):
        return mapping.get(operand, operand)
    if is_tuple(operand):
        return tuple(_with_values(o, mapping) for o in operand)
    if isinstance(operand, _VALUES_INSIDE):
        names = operand.__struct_fields__
        return replace(operand, **{name: _with_values(getattr(operand, name), mapping) for name in names})
    return operand
