"""Expressions that rebind a local name: `randf(state)` its state, `tile_matmul(a, b, acc)` the tile acc, `n := …`.

A statement `svd3(A, U, s, V)`, with names for the results after the arguments, is read as `U, s, V = svd3(A)`.

Before a function is lowered, `mark` finds these calls and marks the name as one that is assigned there, so that
branches and loops carry it; and it notes where a draw may or may not happen within one expression, which is refused.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from workbench.builtins.declaration.declare import Form
from workbench.frontend.names.python_names import usable_in_kernel
from workbench.frontend.names.references import assigning
from workbench.frontend.names.written_out import expanded
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.reads import dotted
from workbench.host.narrow import is_list
from workbench.source import blocks_of, nodes_of, statements_of

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
    (ast.GeneratorExp, "elt"): (0, "in a generator expression"),
    (ast.GeneratorExp, "generators"): (0, "in a generator expression"),
    (ast.ListComp, "elt"): (0, "in a comprehension"),
    (ast.ListComp, "generators"): (0, "in a comprehension"),
}


def mark(definition: Definition, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements with each name that a call rebinds marked as assigned there.

    Queries of trees and `match` are written out, and references assigned. The tree that is passed is not changed.
    """
    body = assigning(definition, expanded(definition, body))
    nodes = (*definition.calls, *definition.named) if body is definition.node.body else nodes_of(*body)
    with_results = (_with_results(definition, node) for node in statements_of(*body))
    if not any(_rebound(definition, node) for node in nodes) and not any(with_results):
        return list(body)
    marked = ast.Module(copy.deepcopy(list(body)), [])
    for statement in nodes_of(marked):
        for block in blocks_of(statement):
            block[:] = [_assigned(definition, inner) for inner in block]
    for statement in marked.body:
        _mark(definition, statement, "")
    return marked.body


def _assigned(definition: Definition, node: ast.stmt) -> ast.stmt:
    """Return a call statement that names its results behind its arguments as an assignment; any other as it is."""
    results = _with_results(definition, node)
    if not results:
        return node
    assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    targets: list[ast.expr] = [ast.copy_location(ast.Name(n.id, ast.Store()), n) for n in results]
    call = ast.copy_location(ast.Call(node.value.func, node.value.args[: -len(results)], []), node)
    target = ast.copy_location(ast.Tuple(targets, ast.Store()), node)
    return ast.copy_location(ast.Assign([target], call), node)


def _with_results(definition: Definition, node: ast.AST) -> list[ast.Name]:
    """Return the names behind the arguments of a call statement, where a library function assigns its results to them.

    It is empty for any other node.
    """
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or node.value.keywords:
        return []
    form = _form(definition, node.value)
    if form is None or form.body is None or form.rebinds is not None:
        return []
    names = [a for a in node.value.args[form.body.__code__.co_argcount :] if isinstance(a, ast.Name)]
    has_results = len(names) > 1 and form.body.__code__.co_argcount + len(names) == len(node.value.args)
    return names if has_results else []


def _mark(definition: Definition, node: ast.AST, parameter: str) -> None:
    """Mark as assigned each name that a call or `:=` in a tree rebinds, in place, and the call or `:=` as `uncertain`.

    Args:
        definition: the definition with the tree.
        node: the root of the tree.
        parameter: where the node is that it may be computed not at all or twice, as messages say it; else empty.
    """
    name = _rebound(definition, node)
    if name is not None:
        name.ctx = ast.Store()
        node.uncertain = parameter  # type: ignore[attr-defined]
    if isinstance(getattr(node, "func", getattr(node, "value", None)), ast.IfExp):
        parameter = parameter or "beside a choice, which is made of two expressions"
    for name, child in ast.iter_fields(node):
        first, here = _CONDITIONAL.get((type(node), name), (0, ""))
        for position, inner in enumerate(child if is_list(child) else [child]):
            if isinstance(inner, ast.AST):
                _mark(definition, inner, (here if position >= first else "") or parameter)


def _rebound(definition: Definition, node: ast.AST) -> ast.Name | None:
    """Return the name that a call or `:=` rebinds; None if there is none."""
    if isinstance(node, ast.NamedExpr):
        return node.target
    if not isinstance(node, ast.Call) or not (node.args or node.keywords):
        return None
    value = _form(definition, node)
    if value is None or value.rebinds is None:
        return None
    position, keyword = value.rebinds
    by_keyword = next((k.value for k in node.keywords if k.arg == keyword), None)
    argument = node.args[position] if position < len(node.args) else by_keyword
    return argument if isinstance(argument, ast.Name) else None


def _form(definition: Definition, node: ast.Call) -> Form | None:
    """Return the form of the language that a node calls; None if it calls something else."""
    path = dotted(node.func)
    value = definition.read(path, usable_in_kernel) if path is not None else None
    return value if isinstance(value, Form) else None
