"""Hash grids in Warp's spelling: a number stands for the grid, and a query has a name."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import replace

import workbench as wb
from workbench.frontend import Definition

_QUERY = "hash_grid_query"
FIELDS = tuple(f.name for f in wb.HashGrid.__wb_struct__.fields)
_ASKED = (_QUERY, "hash_grid_point_id")


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


def with_grids(definition: Definition) -> Definition:
    """The definition, in which a parameter that is asked as a grid is one, whatever its annotation says.

    A local name of a query stands for the query in the `for` that runs over it.
    """
    asked = [c for c in _calls(definition.node, _ASKED) if c.args and isinstance(c.args[0], ast.Name)]
    if not asked:
        return definition
    node = copy.deepcopy(definition.node)
    named = {
        n.targets[0].id: n
        for n in ast.walk(node)
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) and _is_call(n.value, (_QUERY,))
    }
    for loop in ast.walk(node):
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Name) and loop.iter.id in named:
            loop.iter = copy.deepcopy(named[loop.iter.id].value)
    for block in ast.walk(node):
        for part in ("body", "orelse"):
            statements = getattr(block, part, None)
            if isinstance(statements, list):
                setattr(block, part, [s for s in statements if s not in named.values()])
    grids = {c.args[0].id for c in asked if isinstance(c.args[0], ast.Name)}
    own = {p.arg: wb.HashGrid for p in definition.parameters if p.arg in grids}
    return replace(definition, node=node, annotations={**definition.annotations, **own})


def _calls(node: ast.AST, names: tuple[str, ...]) -> Iterator[ast.Call]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Call) and _is_call(n, names))


def _is_call(node: ast.expr, names: tuple[str, ...]) -> bool:
    """Whether it is `name(…)` or `wp.name(…)`."""
    callee = node.func if isinstance(node, ast.Call) else None
    return (callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")) in names
