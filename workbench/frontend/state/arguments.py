"""Arguments of calls, matched to parameters: the one rule for forms, funcs, structs and functions of the library."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Operand, Static, counted

Argument = TypeVar("Argument")


def bound(
    context: Context,
    name: str,
    parameters: Sequence[str],
    args: Sequence[Argument],
    keywords: Mapping[str, Argument],
    optional: Collection[str] = (),
) -> dict[str, Argument]:
    """Return the arguments of a call by the names of the parameters, in the order in which they are written.

    Args:
        context: of the call.
        name: that of the callee.
        parameters: their names, in order.
        args: the arguments without names.
        keywords: the arguments by name.
        optional: the parameters that a call may leave out.

    Raises:
        KernelTypeError: one is missing, given twice, or unknown, or there are too many.
    """
    if len(args) > len(parameters):
        takes = counted(len(parameters)) if parameters else "no arguments"
        raise context.type_error(f"{name}() takes {takes}; it got {len(args)}.")
    arguments = dict(zip(parameters, args, strict=False))
    for key, argument in keywords.items():
        if key in arguments or key not in parameters:
            what = "is given twice to" if key in arguments else "is not a parameter of"
            advice = f"Its parameters: {', '.join(parameters)}." if parameters else ""
            raise context.type_error(f"{key} {what} {name}().", advice)
        arguments[key] = argument
    for parameter in parameters:
        if parameter not in arguments and parameter not in optional:
            raise context.type_error(f"{name}() needs an argument for {parameter}.")
    return arguments


def nodes_by_name(context: Context, node: ast.Call, parameters: str) -> dict[str, ast.expr]:
    """Return the arguments of a call of a form as they are written, by name.

    Args:
        context: of the call.
        node: the call.
        parameters: the parameters in order, those that may be missing with `?`: `a shape offset? storage?`; those
            before a / cannot be given by name.

    Raises:
        KernelTypeError: the call has other arguments.
    """
    name, names = ast.unparse(node.func), parameters.split()
    unnamed = names[: names.index("/")] if "/" in names else []
    given = {k.arg: k.value for k in node.keywords if k.arg}
    if not given.keys().isdisjoint(p.rstrip("?") for p in unnamed):
        raise context.type_error(f"{name}() takes {counted(len(unnamed))} without names.")
    names = [p for p in names if p != "/"]
    optional = [p.rstrip("?") for p in names if p.endswith("?")]
    return bound(context, name, [p.rstrip("?") for p in names], node.args, given, optional)


def argument(context: Context, node: ast.expr) -> Operand:
    """Lower an argument; strings and None, which have no value in a kernel, are taken from the syntax."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str)):
        return Static(node.value, repr(node.value))
    return context.lower(node)


def lowered(context: Context, node: ast.Call, parameters: str) -> dict[str, Operand]:
    """Return the arguments of a call of a form as operands, by name; `parameters` as in `nodes_by_name`."""
    return {name: context.lower(n) for name, n in nodes_by_name(context, node, parameters).items()}
