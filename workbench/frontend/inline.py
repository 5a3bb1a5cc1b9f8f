"""Calling a func: its body is lowered in place, with the arguments as its locals."""

from __future__ import annotations

import ast
from typing import Any

from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.frontend.annotate import parameter_annotations
from workbench.frontend.coerce import assign_type, usable
from workbench.frontend.context import Context, Env
from workbench.frontend.definition import Definition
from workbench.frontend.exits import rewrite
from workbench.frontend.operands import Literal, Operand, Static
from workbench.ir.values import Value
from workbench.types import Type


def call(context: Context, callee: Static, args: list[Operand], keywords: dict[str, Operand]) -> Operand:
    """The result of calling a func here.

    Raises:
        KernelSyntaxError: the func calls itself.
        KernelTypeError: the arguments do not fit, or the func returns nothing and its result is used.
    """
    (definition,) = callee.value.__wb_definitions__
    if definition in (*context.inside, context.definition):
        raise context.error(
            KernelSyntaxError, f"{definition.name} calls itself; a kernel has no recursion.", "Write a loop."
        )
    env = _bind(context, definition, args, keywords)
    inner = Context(definition, env, context.shared, (*context.inside, context.definition), 0)
    place = context.builder.location
    returned = context.shared.lower_body(inner, rewrite(definition.node.body))
    context.builder.location = place
    return returned.value if returned.value is not None else ()


def _bind(context: Context, definition: Definition, args: list[Operand], keywords: dict[str, Operand]) -> Env:
    parameters = definition.parameters
    if len(args) > len(parameters):
        raise context.error(
            KernelTypeError, f"{definition.name}() takes {len(parameters)} arguments; it got {len(args)}."
        )
    given: dict[str, Operand] = {p.arg: a for p, a in zip(parameters, args, strict=False)}
    for name, operand in keywords.items():
        if name in given or name not in {p.arg for p in parameters}:
            what = "is given twice" if name in given else "is no parameter"
            raise context.error(KernelTypeError, f"{name} {what} of {definition.name}().")
        given[name] = operand
    defaults = dict(zip([p.arg for p in reversed(parameters)], reversed(definition.node.args.defaults), strict=False))
    wanted = parameter_annotations(definition)
    env: Env = {}
    for parameter in parameters:
        name = parameter.arg
        if name not in given and name not in defaults:
            raise context.error(KernelTypeError, f"{definition.name}() needs an argument for {name}.")
        operand = given[name] if name in given else _default(context, definition, defaults[name])
        env[name] = _fit(context, definition, name, operand, wanted[name])
    return env


def _default(context: Context, definition: Definition, node: ast.expr) -> Operand:
    try:
        value: Any = ast.literal_eval(node)
    except ValueError:
        value = None
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise context.error(KernelTypeError, f"A default of {definition.name}() must be a number written out.")
    return Literal(value)


def _fit(context: Context, definition: Definition, name: str, operand: Operand, type: Type | None) -> Operand:
    if type is None or isinstance(operand, (tuple, Static)):
        return operand
    operand = usable(context, operand)
    if isinstance(operand, Value) and operand.type != type:
        raise context.error(
            KernelTypeError, f"{name} of {definition.name}() is {type!r}; the argument is {operand.type!r}.",
            f"Write {type!r}(…)."  if not hasattr(type, "ndim") else "",
        )  # fmt: skip
    return assign_type(context, operand, type, f"{name} of {definition.name}()")
