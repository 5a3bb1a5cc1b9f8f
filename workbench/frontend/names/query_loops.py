"""Loops over what a query of a tree finds: `for i in bvh_query_aabb(…)`, `while bvh_query_next(query, i)`.

Both become a `while` that visits a node in each round, and does the loop's body where an item is found:

    while query.at < len(query.nodes):
        query.at, query.within, found = bvh_query_next(query, limit)
        if found >= 0:
            i = found
            …

So queries need no stack, differentiate as any loop does, and may be left and gone on with.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from workbench.builtins.declaration.declare import Form
from workbench.errors import KernelSyntaxError
from workbench.frontend.names.match_statements import branches
from workbench.frontend.names.python_names import usable_in_kernel
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.reads import dotted
from workbench.source import blocks_of, nodes_of, parsed, statements_of

BEGIN = (
    "bvh_query_aabb",
    "bvh_query_ray",
    "bvh_query_sphere",
    "bvh_query_capsule",
    "mesh_query_aabb",
    "mesh_query_sphere",
)
NEXT, MESH_NEXT = "bvh_query_next", "mesh_query_next"
TEXT = """
while QUERY.at < len(QUERY.nodes):
    QUERY.at, QUERY.within, FOUND = _
    if FOUND >= 0:
        _ = FOUND
"""


def expanded(definition: Definition, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return the statements with such loops and each `match` written out; the same object if there is none."""
    nodes = (n for n in statements_of(*body) if isinstance(n, (ast.Match, ast.For, ast.While)))
    if not any(isinstance(n, ast.Match) or _begun(definition, n) or _continued(definition, n) for n in nodes):
        return body
    return _statements(definition, copy.deepcopy(list(body)))


def _statements(definition: Definition, body: list[ast.stmt]) -> list[ast.stmt]:
    for statement in body:
        for part in (statement, *getattr(statement, "cases", ())):
            for block in blocks_of(part):
                block[:] = _statements(definition, block)
    return [new for old in body for new in _loop(definition, old)]


def _named(definition: Definition, node: ast.AST, names: Sequence[str]) -> bool:
    """Return whether a node calls one of these forms."""
    path = dotted(node.func) if isinstance(node, ast.Call) else None
    value = definition.read(path, usable_in_kernel) if path is not None and path.split(".")[-1] in names else None
    return isinstance(value, Form) and value.name in names


def _begun(definition: Definition, node: ast.AST) -> bool:
    return isinstance(node, ast.For) and _named(definition, node.iter, BEGIN)


def _continued(definition: Definition, node: ast.AST) -> bool:
    return isinstance(node, ast.While) and _named(definition, node.test, (NEXT, MESH_NEXT, "mesh_query_aabb_next"))


def _loop(definition: Definition, node: ast.stmt) -> list[ast.stmt]:
    """Return the statements that stand for a statement: itself, unless it is such a loop.

    Raises:
        KernelSyntaxError: `bvh_query_next` is not given local names, or cannot be seen beside what begins the query.
    """
    if isinstance(node, ast.Match):
        return branches(definition, node)
    at = f".{node.lineno}.{node.col_offset}"
    if isinstance(node, ast.For) and _begun(definition, node):
        query, target, call = f"query{at}", node.target, copy.deepcopy(node.iter)
        assert isinstance(call, ast.Call)
        onward = copy.deepcopy(call.func)
        path = dotted(onward) or ""
        following = MESH_NEXT if path.split(".")[-1].startswith("mesh") else NEXT
        setattr(onward, "attr" if isinstance(onward, ast.Attribute) else "id", following)
        step, before = (
            ast.Call(onward, [ast.Name(query, ast.Load())], []),
            [ast.Assign([ast.Name(query, ast.Store())], call)],
        )
        if not _named(definition, step, (following,)):
            message = f"The loop needs {following}, which has no meaning here."
            raise KernelSyntaxError(message, advice=f"Import {following}, too.")
    elif isinstance(node, ast.While) and _continued(definition, node):
        step, before = copy.deepcopy(node.test), []
        assert isinstance(step, ast.Call)
        names = [n.id for n in step.args[:2] if isinstance(n, ast.Name)]
        if len(names) != 2:
            raise KernelSyntaxError(f"{NEXT}() takes the local names of a query and of an item.", advice="Name them.")
        query, target = names[0], ast.Name(names[1], ast.Store())
        del step.args[1]
    else:
        return [node]
    (loop,) = copy.deepcopy(parsed(TEXT).body)
    assert isinstance(loop, ast.While)
    for part in (*nodes_of(loop), *nodes_of(*before), *nodes_of(step)):
        ast.copy_location(part, node)
    advance, branch = loop.body
    assert isinstance(advance, ast.Assign) and isinstance(branch, ast.If) and isinstance(branch.body[0], ast.Assign)
    for part in nodes_of(loop):
        if isinstance(part, ast.Name):
            part.id = {"QUERY": query, "FOUND": f"found{at}"}.get(part.id, part.id)
    advance.value, branch.body[0].targets = step, [target]
    branch.body += node.body
    loop.orelse = node.orelse
    return [*before, loop]
