"""Statements that hold no others: one function per kind, found in a table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from workbench.frontend.expressions import calls, lists, lvalues
from workbench.frontend.expressions.expression_table import expression
from workbench.frontend.names import python_names
from workbench.frontend.names.annotate import parameter_type
from workbench.frontend.state.coerce import truth, usable
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Operand, Static
from workbench.frontend.values import structs
from workbench.ir.attributes import MESSAGE
from workbench.ir.values import Value
from workbench.structs import AnyType
from workbench.types import bool as bool_


def _assign(context: Context, node: ast.Assign) -> None:
    """Lower `a = b = value`, also `i, j = tid()`, which takes as many indices as there are names."""
    count = len(node.targets[0].elts) if isinstance(node.targets[0], ast.Tuple) else 1
    result = _thread_indices(context, node.value, count) if count > 1 else None
    own = node.targets[0].id if isinstance(node.targets[0], ast.Name) and not node.targets[1:] else ""
    if own and lists.is_display(node.value):
        with context.at(node.value):
            result = lists.lower(context, own, node.value, expression)
    if result is None:
        result = expression(context, node.value)
    if result == () and isinstance(node.value, ast.Call) and not isinstance(node.targets[0], ast.Name):
        with context.at(node.value):  # not at the target, which takes numbers
            usable(context, result)
    for target in node.targets:
        lvalues.assign(context, target, result)


def _thread_indices(context: Context, node: ast.expr, count: int) -> Operand | None:
    """Lower the value of `i, j = tid()` to `count` indices; None of any other value."""
    if not isinstance(node, ast.Call) or node.args:
        return None
    callee = expression(context, node.func)
    if isinstance(callee, Static) and python_names.callee_name(callee.value) == "tid":
        with context.at(node):
            return calls.thread_index(context, node, count)
    return None


def _annotated(context: Context, node: ast.AnnAssign) -> None:
    """Lower `name: type = value`, with the value converted to that type; without a value nothing is emitted.

    Raises:
        KernelSyntaxError: the target is no name.
        KernelTypeError: the annotation is no type, or the value does not fit it.
    """
    if not isinstance(node.target, ast.Name):
        raise context.syntax_error("Only a name takes an annotation in a kernel.")
    if node.value is None:
        return  # to Python it says no more than that the name is the function's own
    wanted = _annotation(context, node.annotation)
    result = expression(context, node.value)
    if wanted is not None:
        result = structs.fitted(context, result, wanted, node.target.id)
    lvalues.assign(context, node.target, result)


def _annotation(context: Context, node: ast.expr) -> AnyType | None:
    """Return the type that a local annotation stands for; None if it is generic.

    Raises:
        KernelTypeError: it is no type.
    """
    operand = expression(context, node)
    if not isinstance(operand, Static):
        raise context.type_error(f"{ast.unparse(node)} is not a type.")
    return parameter_type(operand.value, ast.unparse(node), context.builder.location, context.definition.name)


def _expression(context: Context, node: ast.Expr) -> None:
    """Lower a statement that is an expression, such as a call; a docstring emits nothing.

    Raises:
        KernelSyntaxError: it computes a value, and is no call.
    """
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return
    result = expression(context, node.value)
    if not isinstance(node.value, ast.Call) and isinstance(result, (Value, Static)):
        equal = isinstance(node.value, ast.Compare) and isinstance(node.value.ops[0], ast.Eq)
        advice = "Write = to assign: == compares." if equal else "Assign it to a name."
        raise context.syntax_error("This line computes a value and discards it.", advice)


def _pass(context: Context, node: ast.Pass) -> None:
    """Lower `pass`, which emits nothing."""
    return


def _assert(context: Context, node: ast.Assert) -> None:
    """Emit the assertion, which only code with checks tests; nothing for one that always holds."""
    message = node.msg
    if message is not None and not (isinstance(message, ast.Constant) and isinstance(message.value, str)):
        with context.at(message):
            raise context.syntax_error(
                "The message of an assert is a plain string.",
                "Leave values out: a KernelFault shows what was compared.",
            )
    if isinstance(node.test, ast.Tuple):
        raise context.syntax_error(
            "This assert tests a tuple, which always holds.", 'Write assert condition, "message".'
        )
    condition = truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        if condition:
            return
        condition = context.builder.const(False, bool_)
    text = message.value if isinstance(message, ast.Constant) else ""
    with context.at(node.test):
        context.builder.emit("assert", (condition,), (), {MESSAGE: text})


LOWER: dict[type[ast.stmt], Callable[[Context, Any], None]] = {
    ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: lvalues.augment, ast.Expr: _expression,
    ast.Pass: _pass, ast.Assert: _assert,
}  # fmt: skip
