"""Calls that rebind a local name: `randf(state)` its state, `tile_matmul(a, b, acc)` the tile acc.

Before a function is lowered, `mark` finds these calls and marks the name as one that is assigned there, so that
branches and loops carry it; and it notes where a draw may or may not happen within one expression, which is refused.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from workbench.builtins.declaration.declare import Form
from workbench.frontend.names.python_names import usable_in_kernel
from workbench.frontend.state.definition import MISSING, Definition

# Parts of an expression that may be computed or not, or more than once: from which child on, and how to say it.
_CONDITIONAL: dict[tuple[type[ast.AST], str], tuple[int, str]] = {
    (ast.IfExp, "body"): (0, "in one side of a conditional expression"),
    (ast.IfExp, "orelse"): (0, "in one side of a conditional expression"),
    (ast.BoolOp, "values"): (1, "on the right of and/or"),
    (ast.Compare, "comparators"): (1, "in the middle of a chained comparison"),
    (ast.While, "test"): (0, "in the condition of a while"),
    (ast.AugAssign, "target"): (0, "on the left of an augmented assignment"),
    (ast.Assert, "test"): (0, "in an assert"),
    (ast.Assert, "msg"): (0, "in an assert"),
}


def mark(definition: Definition, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements, with each name that a call rebinds marked as assigned; themselves if there is no such call."""
    whole = body is definition.node.body
    nodes = definition.nodes if whole else (node for statement in body for node in ast.walk(statement))
    if not any(_rebound(definition, node) for node in nodes):
        return list(body)
    marked = copy.deepcopy(list(body))
    for statement in marked:
        _mark(definition, statement, "")
    return marked


def _mark(definition: Definition, node: ast.AST, place: str) -> None:
    name = _rebound(definition, node)
    if name is not None:
        name.ctx = ast.Store()
        node.uncertain = place  # type: ignore[attr-defined]
    for name, child in ast.iter_fields(node):
        first, here = _CONDITIONAL.get((type(node), name), (0, ""))
        for position, inner in enumerate(child if isinstance(child, list) else [child]):
            if isinstance(inner, ast.AST):
                _mark(definition, inner, (here if position >= first else "") or place)


def _rebound(definition: Definition, node: ast.AST) -> ast.Name | None:
    """The name that a call rebinds, if it does."""
    if not isinstance(node, ast.Call) or not (node.args or node.keywords):
        return None
    path, callee = [], node.func
    while isinstance(callee, ast.Attribute):
        path.append(callee.attr)
        callee = callee.value
    if not isinstance(callee, ast.Name):
        return None
    value: Any = definition.scope.lookup(callee.id, usable_in_kernel)
    for attr in reversed(path):
        value = getattr(value, attr, MISSING)
    if not isinstance(value, Form) or value.rebinds is None:
        return None
    place, keyword = value.rebinds
    given = next((k.value for k in node.keywords if k.arg == keyword), None)
    found = node.args[place] if place < len(node.args) else given
    return found if isinstance(found, ast.Name) else None
