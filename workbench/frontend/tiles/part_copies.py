"""Values changed in a part of them: where the change would be lost, it is refused.

In NumPy, and in Warp, a row of a tile is a view. Here it is a tile of its own, so a program that changes a row in place
and then reads the tile would compute another number. In Python a function changes the object that it is given; here a
func has its own copy of a tile, vector or struct.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from workbench.frontend.names.annotate import references
from workbench.frontend.state.context import Context, Env
from workbench.frontend.state.definition import root
from workbench.frontend.state.operands import Operand
from workbench.ir.values import Value


def part_of(context: Context, part: Value, tile: Value) -> Value:
    """Note that `part` is a part or another form of a tile, and return it.

    It is not noted for a tile without a name, which is not known elsewhere.
    """
    parts = context.shared.parts
    # A part of a part belongs to the first whole: that is the value which would differ from NumPy's.
    if part is not tile and (tile.name or tile in parts):
        parts[part] = parts.get(tile, (tile, tile.name))
    return part


def follow(context: Context, operand: Operand, result: Value) -> None:
    """Note that a part which a branch merges into another value is still a part."""
    if isinstance(operand, Value) and operand in context.shared.parts:
        context.shared.parts[result] = context.shared.parts[operand]


def carry_parts(context: Context, before: Env, carried: Mapping[str, Value]) -> None:
    """Note of the values that a loop carries that they are parts of tiles; the tile itself may be carried, too."""
    for name, value in carried.items() if context.shared.parts else ():
        follow(context, before[name], value)
        tile, owner = context.shared.parts.get(value, (None, ""))
        # Inside the loop the whole is the loop's parameter, another value than before it, under the same name.
        if tile is not None and before.get(owner) is tile and owner in carried:
            context.shared.parts[value] = carried[owner], owner


def check_alone(context: Context, name: str, tile: Operand) -> None:
    """Refuse to change a part of a tile in place, where a name still holds that tile and it is read later.

    Raises:
        KernelTypeError: `name` is such a part.
    """
    if not isinstance(tile, Value) or tile not in context.shared.parts:
        return
    outer, owner = context.shared.parts[tile]
    held = any(operand is outer for other, operand in context.env.items() if other != name)
    # Refused only if the difference could be seen: if no name holds the whole, or nothing reads it later, both meanings
    # agree.
    if held and _is_read_later(context, owner):
        raise context.type_error(
            f"{name or 'This'} is a part of {owner}, and tiles are values: {owner} would stay as it is.",
            f"Change {owner} itself: {owner}[…] = …, or tile_assign({owner}, …, offset=…).",
        )


def check_seen(context: Context, name: str) -> None:
    """Refuse to change a part of a parameter in place where nothing reads it later: the caller keeps what it has.

    Raises:
        KernelTypeError: it is such a change.
    """
    definition = context.definition
    if all(p.arg != name for p in definition.parameters) or _is_bound(definition.node, name):
        return
    if name not in references(definition) and not _is_read_later(context, name):
        message = f"{name} is {definition.name}'s own copy, and nothing reads it after this change."
        raise context.type_error(message, f"Return {name} and assign it at the call, or write to an array.")


def _is_bound(node: ast.FunctionDef, name: str) -> bool:
    """Return whether the function gives the name another value somewhere, not counting `name += …`."""
    nodes = list(ast.walk(node))
    sums = {id(n.target) for n in nodes if isinstance(n, ast.AugAssign)}
    names = (n for n in nodes if isinstance(n, ast.Name) and n.id == name and id(n) not in sums)
    return any(isinstance(n.ctx, ast.Store) for n in names)


def _is_read_later(context: Context, name: str) -> bool:
    """Return whether the function reads a name after the present statement, or in the next iteration of a loop."""
    nodes = list(ast.walk(context.definition.node))
    here = _begin(context.node) if context.node is not None else (0, 0)
    around = [n for n in nodes if isinstance(n, ast.stmt) and _begin(n) <= here < _end(n)]
    # Positions in the text stand for order: the lowering of what comes later has not happened yet.
    line, end = here[0], _end(max(around, key=_begin)) if around else here
    parts = (ast.Attribute, ast.Subscript)
    changed = {id(root(n)) for n in nodes if isinstance(n, parts) and isinstance(n.ctx, ast.Store)}
    names = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and id(n) not in changed]
    reads = [_begin(n) for n in names if isinstance(n.ctx, ast.Load)]
    stores = [n.lineno for n in names if isinstance(n.ctx, ast.Store)]
    spans = [(n.lineno, n.end_lineno or n.lineno) for n in nodes if isinstance(n, (ast.For, ast.While))]
    # In a loop a read above the line comes after it, in the next round, unless the loop gives the name a new value.
    again = [(a, b) for a, b in spans if a <= line <= b and not any(a <= at <= b for at in stores)]
    return any(at >= end or any(a <= at[0] <= b for a, b in again) for at in reads)


def _begin(node: ast.AST) -> tuple[int, int]:
    """Return the line and the column at which a node begins; 0 where it has none."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    """Return the line and the column at which a node ends; 0 where it has none."""
    return getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0
