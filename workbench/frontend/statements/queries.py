"""`for j in hash_grid_query(grid, x, r)`: a loop over rows of cells, and in it one over what lies in them."""

from __future__ import annotations

import ast
import copy

from workbench.builtins.vectors import hash_grids
from workbench.errors import KernelTypeError
from workbench.frontend.functions import library
from workbench.frontend.state.coerce import usable
from workbench.frontend.state.context import Context, Expression
from workbench.frontend.state.operands import Bundle, Operand, Static
from workbench.frontend.statements import loops
from workbench.frontend.values.structs import bind
from workbench.ir.values import Value
from workbench.source import nodes_of, parsed
from workbench.types import Vector, is_float

TEXT = """
for ROW in range(ROWS):
    FIRST, LAST = RANGE(GRID, A, B, C, NA, NB, ROW)
    for PLACE in range(FIRST, LAST):
        _ = GRID.points[PLACE]
"""
GROUPED = """        if GRID.groups[GRID.points[PLACE]] == GROUP:
            pass
"""
KNOWN = ("A", "B", "C", "NA", "NB", "ROWS")


def for_loop(context: Context, node: ast.For, expression: Expression, lower_body: loops.LowerBody) -> None:
    """Lower the loop.

    Raises:
        KernelTypeError: it is not asked for a grid, a point and a radius.
    """
    assert isinstance(node.iter, ast.Call)
    with context.at(node.iter):
        given = [expression(context, a) for a in node.iter.args]
        if (
            node.iter.keywords
            or len(given) > 4
            or not given
            or not is_grid(given[0])
            or not _is_ball(context, given[1:3])
        ):
            shown = f"{ast.unparse(node.iter.func)}({', '.join(map(ast.unparse, node.iter.args))})"
            wanted = "a grid, a point of 3 floats, a radius, perhaps a group"
            advice = "Annotate the parameter as grid: wb.HashGrid."
            raise context.error(KernelTypeError, f"hash_grid_query() takes {wanted}; this is {shown}.", advice)
        known = library.call(context, hash_grids.rows, given[:3])
    at = f".{node.lineno}.{node.col_offset}"
    grid = given[0]
    assert isinstance(known, tuple) and isinstance(grid, Bundle)
    context.env.update(zip((name + at for name in KNOWN), known, strict=True))
    context.env["RANGE" + at] = Static(hash_grids.row, hash_grids.row.name)
    bind(context.env, "GRID" + at, grid)
    grouped = len(given) > 3
    (outer,) = copy.deepcopy(parsed(TEXT + GROUPED * grouped).body)
    assert isinstance(outer, ast.For)
    (*_, inner) = outer.body
    assert isinstance(inner, ast.For) and isinstance(inner.body[0], ast.Assign)
    for part in nodes_of(outer):
        ast.copy_location(part, node)
        if isinstance(part, ast.Name) and part.id.isupper():
            part.id += at
    inner.body[0].targets = [node.target]
    if grouped:
        context.env["GROUP" + at] = given[3]
        assert isinstance(inner.body[1], ast.If)
        inner.body[1].body = node.body
    else:
        inner.body += node.body
    for name in ("until", "otherwise"):  # how the loop may be left, and what happens if it was not
        if hasattr(node, name):
            setattr(outer, name, getattr(node, name))
    if hasattr(node, "until"):
        inner.until = node.until  # type: ignore[attr-defined]
    loops.for_loop(context, outer, expression, lower_body)


def is_grid(operand: Operand | None) -> bool:
    """Whether it is a `HashGrid`."""
    return isinstance(operand, Bundle) and operand.type.name == "HashGrid" and operand.type.find("starts") is not None


def _is_ball(context: Context, operands: list[Operand]) -> bool:
    if len(operands) != 2:
        return False
    point, _ = (usable(context, o) for o in operands)
    return (
        isinstance(point, Value) and isinstance(point.type, Vector) and point.type.length == 3 and is_float(point.type)
    )
