"""`assert condition, "message"`: in the IR always, tested only by code with checks."""

from __future__ import annotations

import ast
from collections.abc import Callable

from workbench.errors import KernelSyntaxError
from workbench.frontend.state.coerce import truth
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Operand
from workbench.ir.attributes import MESSAGE
from workbench.types import bool as bool_


def lower_assert(context: Context, node: ast.Assert, expression: Callable[[Context, ast.expr], Operand]) -> None:
    """Emit the assertion; nothing for one that always holds.

    Raises:
        KernelSyntaxError: the message is no plain string, or what is asserted is a tuple, which always holds.
    """
    message = node.msg
    if message is not None and not (isinstance(message, ast.Constant) and isinstance(message.value, str)):
        with context.at(message):
            raise context.error(
                KernelSyntaxError, "The message of an assert is a plain string.",
                "Leave values out: a KernelFault shows what was compared.",
            )  # fmt: skip
    if isinstance(node.test, ast.Tuple):
        raise context.error(
            KernelSyntaxError, "This assert tests a tuple, which always holds.", 'Write assert condition, "message".'
        )
    condition = truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        if condition:
            return
        condition = context.builder.const(False, bool_)
    text = message.value if isinstance(message, ast.Constant) else ""
    with context.at(node.test):
        context.builder.emit("assert", (condition,), (), {MESSAGE: text})
