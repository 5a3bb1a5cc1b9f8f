"""`expect_eq(a, b)`, `expect_neq`, `expect_near(a, b, tolerance)`: asserts, tested by code with checks.

A kernel that calls one runs with checks if its launch does not say otherwise (`Definition.expects`).
"""

from __future__ import annotations

import ast
from functools import reduce

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.state.coerce import apply, components, describe, usable
from workbench.frontend.state.context import Context, Expression, FormHandler
from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.attributes import MESSAGE
from workbench.ir.values import Value
from workbench.types import Complex, Scalar, Vector

TOLERANCE = 1e-6
Number = Value | Literal


def _numbers(context: Context, node: ast.Call, expression: Expression, least: int, most: int) -> list[Number]:
    """Lower the arguments of an expectation, and return them: two numbers or vectors of one shape, then scalars.

    Args:
        context: of the call.
        node: the call.
        expression: lowers an argument.
        least: the smallest number of arguments.
        most: the largest; if it is 3, the third may be named `tolerance`.

    Raises:
        KernelTypeError: there are too many or too few, they are no real numbers, or their shapes differ.
    """
    name = ast.unparse(node.func).split(".")[-1]
    nodes = [*node.args, *(k.value for k in node.keywords if k.arg == "tolerance" and most == 3)]
    if len(nodes) < len(node.args) + len(node.keywords) or not least <= len(nodes) <= most:
        what = f"{least}" if least == most else f"{least} or {most}"
        raise context.type_error(f"{name}() takes {what} numbers, and no name but tolerance.")
    operands = [usable(context, expression(context, a)) for a in nodes]
    for operand in operands:
        if isinstance(operand, Value) and (
            not isinstance(operand.type, (Scalar, Vector)) or isinstance(operand.type, Complex)
        ):
            advice = "Compare its elements, or its fields; of complex numbers abs(a - b)."
            raise context.type_error(f"{name}() takes numbers; this is {describe(operand)}.", advice)
    if _shape(operands[0]) != _shape(operands[1]) or any(map(_shape, operands[2:])):
        shown = " and ".join(map(describe, operands))
        raise context.type_error(f"{name}() takes numbers, or vectors of one type; these are {shown}.")
    return operands


def _shape(operand: Number) -> tuple[int, ...]:
    """Return the shape of a vector or matrix; () for a scalar or a literal."""
    return operand.type.shape if isinstance(operand, Value) and isinstance(operand.type, Vector) else ()


def _pairs(context: Context, a: Number, b: Number) -> list[tuple[Number, Number]]:
    """Return the components of two values in pairs; two numbers as the only pair."""
    if not isinstance(a, Value) or not isinstance(b, Value) or not isinstance(a.type, Vector):
        return [(a, b)]
    return list(zip(components(context, a), components(context, b), strict=True))


def _assert(context: Context, condition: Value, message: str = "") -> None:
    """Emit an assert that the condition holds, with a message that may be empty."""
    context.builder.emit("assert", (condition,), (), {MESSAGE: message})


def _equal(context: Context, node: ast.Call, expression: Expression) -> Operand:
    """Lower `expect_eq(a, b)` to one assert per component; return the empty tuple."""
    for pair in _pairs(context, *_numbers(context, node, expression, 2, 2)):
        _assert(context, apply(context, TABLE["eq"], pair))
    return ()


def _differ(context: Context, node: ast.Call, expression: Expression) -> Operand:
    """Lower `expect_neq(a, b)` to one assert that some component differs; return the empty tuple."""
    pairs = _pairs(context, *_numbers(context, node, expression, 2, 2))
    each = [apply(context, TABLE["ne"], pair) for pair in pairs]
    _assert(context, reduce(lambda a, b: apply(context, TABLE["or_"], (a, b)), each))
    return ()


def _near(context: Context, node: ast.Call, expression: Expression) -> Operand:
    """Lower `expect_near(a, b, tolerance)` to one assert per component; return the empty tuple."""
    a, b, *rest = _numbers(context, node, expression, 2, 3)
    pairs, what = _pairs(context, a, b), ast.unparse(node.args[0])
    for k, pair in enumerate(pairs):
        distance = apply(context, TABLE["abs"], (apply(context, TABLE["sub"], pair),))
        near = apply(context, TABLE["le"], (distance, rest[0] if rest else Literal(TOLERANCE)))
        part = f"component {k} of {what}" if len(pairs) > 1 else what
        _assert(context, near, f"{part} is not near enough")
    return ()


FORMS: dict[str, FormHandler] = {"expect_eq": _equal, "expect_neq": _differ, "expect_near": _near}
