"""Conditions: `and` and `or`, which look at their right side only where it counts, and `x is None`.

What is known at compile time (whether an array was passed) decides while compiling, so the side that it excludes is not
even typed.
"""

from __future__ import annotations

import ast

from workbench.builtins.declaration.declare import TABLE
from workbench.errors import KernelTypeError
from workbench.frontend.state.coerce import apply, describe, usable
from workbench.frontend.state.context import Context, Expression
from workbench.frontend.state.operands import Operand, Static
from workbench.frontend.values import views
from workbench.ir.ops import CHEAP
from workbench.ir.values import Block, Value
from workbench.types import bool as bool_

# What costs less than the branch around it.
_CHEAPER = CHEAP | {"lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "not_", "add", "sub", "neg"}


def is_none(context: Context, node: ast.Compare, expression: Expression) -> Operand | None:
    """`x is None`, known at compile time: a launch with None in an array's place has code of its own."""
    right = node.comparators[0]
    if len(node.ops) != 1 or not isinstance(right, ast.Constant) or right.value is not None:
        return None
    if not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return None
    left = expression(context, node.left)
    none = isinstance(left, Static) and left.value is None
    return Static(none is isinstance(node.ops[0], ast.Is), ast.unparse(node))


def boolean(context: Context, node: ast.BoolOp, expression: Expression) -> Operand:
    """`and`, `or`: short-cutting by an `if` unless the right side is cheap and cannot fault."""
    name = "and_" if isinstance(node.op, ast.And) else "or_"
    absorbing = name == "or_"
    parts = list(node.values)
    while True:  # what is known at compile time decides, or says nothing
        with context.at(parts[0]):
            first = expression(context, parts[0])
        if not (isinstance(first, Static) and (first.value is None or isinstance(first.value, bool))):
            break
        if bool(first.value) is absorbing or len(parts) == 1:
            return Static(bool(first.value), ast.unparse(node))
        del parts[0]
    result = _condition(context, parts[0], first)
    for part in parts[1:]:
        with context.builder.block() as opened:
            right = _condition(context, part, expression(context, part))
            context.builder.yield_(right)
        block = opened.block
        if _is_cheap(block):
            context.builder.extend(block.ops[:-1])
            result = apply(context, TABLE[name], (result, right))
        else:
            short = _constant_block(context, name == "or_")
            then, orelse = (block, short) if name == "and_" else (short, block)
            (result,) = context.builder.if_(result, then, orelse)
    return result


def _is_cheap(block: Block) -> bool:
    """Whether the block costs little and cannot fault: a component at a computed index can."""
    numbers = {op.result for op in block.ops if op.name == "const"}
    return all(
        op.name == "yield" or (op.name in _CHEAPER and (op.name != "extract" or op.operands[1] in numbers))
        for op in block.ops
    )


def _condition(context: Context, node: ast.expr, operand: Operand) -> Value:
    if views.is_array(operand) or (isinstance(operand, Static) and operand.value is None):
        return context.builder.const(not isinstance(operand, Static), bool_)  # None is false, an array is true
    operand = usable(context, operand)
    if isinstance(operand, Value) and operand.type == bool_:
        return operand
    with context.at(node):
        message = f"and/or take bools; this is {describe(operand)}."
        raise context.error(KernelTypeError, message, "Compare it with 0 to get a bool.")


def _constant_block(context: Context, result: bool) -> Block:
    with context.builder.block() as opened:
        context.builder.yield_(context.builder.const(result, bool_))
    return opened.block
