"""`expect_eq(a, b)`, `expect_neq`, `expect_near(a, b, tolerance)`: asserts, tested by code with checks."""

from __future__ import annotations

import ast

from workbench.builtins.declaration.declare import TABLE
from workbench.errors import KernelTypeError
from workbench.frontend.state.coerce import apply, describe, usable
from workbench.frontend.state.context import Context, Expression, FormHandler
from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.attributes import MESSAGE
from workbench.ir.values import Value
from workbench.types import Scalar

TOLERANCE = 1e-6


def _numbers(context: Context, node: ast.Call, expression: Expression, least: int, most: int) -> list[Value | Literal]:
    name = ast.unparse(node.func).split(".")[-1]
    if node.keywords or not least <= len(node.args) <= most:
        what = f"{least}" if least == most else f"{least} or {most}"
        raise context.error(KernelTypeError, f"{name}() takes {what} numbers, without names.")
    found = [usable(context, expression(context, a)) for a in node.args]
    for operand in found:
        if isinstance(operand, Value) and not isinstance(operand.type, Scalar):
            advice = "Compare its components."
            raise context.error(KernelTypeError, f"{name}() takes numbers; this is {describe(operand)}.", advice)
    return found


def _compared(sign: str) -> FormHandler:
    def lower(context: Context, node: ast.Call, expression: Expression) -> Operand:
        numbers = _numbers(context, node, expression, 2, 2)
        context.builder.emit("assert", (apply(context, TABLE[sign], numbers),), (), {MESSAGE: ""})
        return ()

    return lower


def _near(context: Context, node: ast.Call, expression: Expression) -> Operand:
    a, b, *rest = _numbers(context, node, expression, 2, 3)
    apart = apply(context, TABLE["abs"], (apply(context, TABLE["sub"], (a, b)),))
    near = apply(context, TABLE["le"], (apart, rest[0] if rest else Literal(TOLERANCE)))
    context.builder.emit("assert", (near,), (), {MESSAGE: f"{ast.unparse(node.args[0])} is not near enough"})
    return ()


FORMS: dict[str, FormHandler] = {
    "expect_eq": _compared("eq"),
    "expect_neq": _compared("ne"),
    "expect_near": _near,
}
