"""The left side of an assignment: names, tuples of targets, and places inside arrays, vectors and structs."""

from __future__ import annotations

import ast

from workbench.errors import KernelTypeError
from workbench.frontend.expressions import lvalues
from workbench.frontend.state.coerce import describe
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Operand
from workbench.frontend.values import matrices
from workbench.ir.values import Value
from workbench.types import Vector


def assign(context: Context, target: ast.expr, operand: Operand) -> None:
    """`target = operand`."""
    with context.at(target):
        if isinstance(target, (ast.Tuple, ast.List)):
            _unpack(context, target, operand)
        else:
            lvalues.write(context, lvalues.locate(context, target), operand)


def _unpack(context: Context, target: ast.Tuple | ast.List, operand: Operand) -> None:
    wanted = len(target.elts)
    if isinstance(operand, Value) and isinstance(operand.type, Vector) and operand.type.shape:
        parts: list[Operand] = list(matrices.parts(context, operand))
    elif isinstance(operand, tuple):
        parts = list(operand)
    else:
        raise context.error(KernelTypeError, f"{describe(operand)} cannot be unpacked into {wanted} names.")
    for k in [k for k, part in enumerate(target.elts) if isinstance(part, ast.Starred)][: len(parts) >= wanted - 1]:
        several = slice(k, k + len(parts) - wanted + 1)
        parts[several] = [tuple(parts[several])]
    if len(parts) != wanted:
        raise context.error(KernelTypeError, f"{len(parts)} values cannot be unpacked into {wanted} names.")
    for part, operand_ in zip(target.elts, parts, strict=True):
        assign(context, part.value if isinstance(part, ast.Starred) else part, operand_)
