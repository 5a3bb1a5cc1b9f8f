"""What programs for Warp write otherwise than the language: rewritten before a kernel or a func is lowered."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

import workbench as wb
from workbench.frontend import Definition

FIELDS = tuple(f.name for f in wb.HashGrid.__wb_struct__.fields)
_QUERY = "hash_grid_query"
_ASKED = (_QUERY, "hash_grid_point_id")
_IN_PLACE = ("tile_fft", "tile_ifft", "tile_sort")


class HashGrid(wb.HashGrid):
    """`workbench.HashGrid`, whose `id` is what kernels are given."""

    @property
    def id(self) -> HashGrid:
        """The grid itself."""
        return self

    def reserve(self, num_points: int) -> None:
        """Make room for so many points, if the grid was not built yet."""
        if self.points.size < num_points:
            self.points = wb.empty(num_points, wb.int32, self.device)  # a fill would be captured


def rewritten(definition: Definition) -> Definition:
    """The definition as the language writes it.

    A parameter that is asked as a grid is one, whatever its annotation says. A local name of a query stands for the
    query in the `for` that runs over it. A tile that is transformed or sorted in place is assigned the result.
    """
    grids = {c.args[0].id for c in _calls(definition.node, _ASKED) if c.args and isinstance(c.args[0], ast.Name)}
    if not grids and not any(_calls(definition.node, _IN_PLACE)):
        return definition
    node = copy.deepcopy(definition.node)
    _Rewriter(node).visit(node)
    own = {p.arg: wb.HashGrid for p in definition.parameters if p.arg in grids}
    return replace(definition, node=node, annotations={**definition.annotations, **own}, written=("", 0))


class _Rewriter(ast.NodeTransformer):
    def __init__(self, node: ast.FunctionDef) -> None:
        assigned = (n for n in ast.walk(node) if isinstance(n, ast.Assign) and _is_call(n.value, (_QUERY,)))
        self.queries = {n.targets[0].id: n.value for n in assigned if isinstance(n.targets[0], ast.Name)}

    def visit_Assign(self, node: ast.Assign) -> Any:
        return None if node.value in self.queries.values() else node

    def visit_For(self, node: ast.For) -> Any:
        if isinstance(node.iter, ast.Name) and node.iter.id in self.queries:
            node.iter = copy.deepcopy(self.queries[node.iter.id])
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        if not isinstance(node.value, ast.Call) or not _is_call(node.value, _IN_PLACE):
            return node
        if not all(isinstance(a, ast.Name) for a in node.value.args):
            return node  # refused where it is lowered: the result is not used
        names = [ast.Name(a.id, ast.Store()) for a in node.value.args if isinstance(a, ast.Name)]
        target = names[0] if len(names) == 1 else ast.Tuple(list(names), ast.Store())
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([target], node.value), node))


def _calls(node: ast.AST, names: tuple[str, ...]) -> Iterator[ast.Call]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Call) and _is_call(n, names))


def _is_call(node: ast.expr, names: tuple[str, ...]) -> bool:
    """Whether it is `name(…)` or `wp.name(…)`."""
    callee = node.func if isinstance(node, ast.Call) else None
    return (callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")) in names
