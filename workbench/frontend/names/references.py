"""Parameters that a func changes for its caller: `def bump(x: ref[float])`, called as `bump(y[i])`.

A reference is a value that goes in and comes back: such a func returns its references behind its results, and a
statement that calls it assigns them where its arguments came from.

    d = bump(y[i])                  d, y[i] = bump(y[i])

So nothing below knows of references, and gradients are those of the assignments.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from contextlib import suppress

from workbench.errors import KernelSyntaxError
from workbench.frontend.names.annotate import is_annotation
from workbench.frontend.names.generic import Ref, ref
from workbench.frontend.names.python_names import usable_in_kernel
from workbench.frontend.state import reads
from workbench.frontend.state.definition import Definition
from workbench.source import blocks_of, located, nodes_of, statements_of


def references(definition: Definition) -> list[str]:
    """Return the names of the parameters that are references, in order."""

    def is_ref(argument: ast.arg) -> bool:
        if argument.arg in definition.annotations:
            return isinstance(definition.annotations[argument.arg], Ref)
        node = argument.annotation
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "ref" in node.value:
            with suppress(SyntaxError):  # reported where it is evaluated
                node = ast.parse(node.value, mode="eval").body
        path = reads.dotted(node.value if isinstance(node, ast.Subscript) else node) if node is not None else None
        value = definition.read(path, is_annotation) if path is not None else None
        return isinstance(value, Ref) or (value is ref and isinstance(node, ast.Subscript))

    return [a.arg for a in definition.parameters if is_ref(a)]


def refuse_references(definition: Definition, of: str) -> None:
    """Refuse references where nothing is given back.

    Args:
        definition: the function.
        of: what an error calls functions of its sort, "a func with CUDA source".

    Raises:
        KernelSyntaxError: a parameter is one.
    """
    for name in references(definition):
        message = f"{name} of {definition.name} is a reference, which {of} does not have."
        raise KernelSyntaxError(message, definition.locate(definition.node), "Return the result.", definition.name)


def returning(definition: Definition, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return a func's statements, changed so that each `return`, and the end, gives its references behind its results.

    Those of a func without references are returned as they are.
    """
    names = references(definition)
    if not names:
        return body
    own = copy.deepcopy(list(body))
    end = ast.copy_location(ast.Return(None), own[-1])
    for node in [*statements_of(*own), end]:
        if isinstance(node, ast.Return):
            values = [] if node.value is None else [node.value]
            node.value = located(ast.Tuple([*values, *(ast.Name(n, ast.Load()) for n in names)], ast.Load()), node)
    return own if _gives(definition) else [*own, end]


def _gives(definition: Definition) -> bool:
    """Return whether a func returns something besides its references."""
    return any(isinstance(n, ast.Return) and n.value is not None for n in definition.nodes)


def assigning(definition: Definition, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Return the statements with what their calls change by reference assigned; the same object if nothing is.

    Raises:
        KernelSyntaxError: such a call is a part of an expression, or an argument is no name, element or field.
    """
    calls = definition.calls if body is definition.node.body else nodes_of(*body)
    if not any(called(definition, node) for node in calls):
        return body
    own = ast.Module(copy.deepcopy(list(body)), [])
    for node in nodes_of(own):
        for block in blocks_of(node):
            block[:] = [new for old in block for new in _statement(definition, old)]
    return own.body


def called(definition: Definition, node: ast.AST) -> list[tuple[str, Definition]]:
    """Return the names of the reference parameters of the func that a node calls, each with the func; else empty."""
    path = reads.dotted(node.func) if isinstance(node, ast.Call) else None
    value = definition.read(path, usable_in_kernel) if path is not None else None
    return [(name, d) for d in getattr(value, "__wb_definitions__", ())[:1] for name in references(d)]


def _statement(definition: Definition, node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield a statement with the reference parameters of its call assigned from the call's results; others unchanged.

    Raises:
        KernelSyntaxError: such a call stands inside an expression, has an argument that cannot be assigned, or returns
            nothing where its result is assigned.
    """
    call = getattr(node, "value", None)
    refs = called(definition, call) if isinstance(node, (ast.Expr, ast.Assign, ast.Return)) and call else []
    parts = nodes_of(*(n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)))
    for inner in parts:
        if (inner is not call or not refs) and (stray := called(definition, inner)):
            message = f"{stray[0][1].name}() changes {stray[0][0]} of its caller, so it is a statement of its own."
            advice = f"Write result = {ast.unparse(inner)} on a line before."  # type: ignore[arg-type]
            raise KernelSyntaxError(message, definition.locate(inner), advice, definition.name)
    if not refs:
        yield node
        return
    assert isinstance(call, ast.Call)
    call.gives_back = True  # type: ignore[attr-defined]
    targets = [_target(definition, call, name, callee) for name, callee in refs]
    result = f"result.{node.lineno}.{node.col_offset}"
    gives = _gives(refs[0][1])
    if gives:
        targets.insert(0, ast.Name(result, ast.Store()))
    elif isinstance(node, ast.Assign):
        message, advice = f"{refs[0][1].name}() returns nothing.", "Call it on a line of its own."
        raise KernelSyntaxError(message, definition.locate(call), advice, definition.name)
    yield located(ast.Assign([ast.Tuple(targets, ast.Store())], call), node)
    value = located(ast.Name(result, ast.Load()), call)
    if isinstance(node, ast.Assign):
        node.value = value
        yield node
    elif isinstance(node, ast.Return):
        node.value = value if gives else None
        yield node


def _target(definition: Definition, call: ast.Call, name: str, callee: Definition) -> ast.expr:
    """Return an argument of a call as a target of an assignment.

    Raises:
        KernelSyntaxError: there is none, nothing can be assigned there, or it would be computed twice.
    """
    names = [p.arg for p in callee.parameters]
    arguments = {**dict(zip(names, call.args, strict=False)), **{k.arg: k.value for k in call.keywords}}
    node = arguments.get(name)
    if node is None:
        message = f"{callee.name}() needs an argument for {name}."
        raise KernelSyntaxError(message, definition.locate(call), function=definition.name)
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or any(
        isinstance(n, ast.Call) for n in nodes_of(node)
    ):
        message = f"{name} of {callee.name}() is a reference; this is no name, element or field that can change."
        advice = "Give the value, or the index of the element, a name on a line before."
        raise KernelSyntaxError(message, definition.locate(node), advice, definition.name)
    target = copy.deepcopy(node)
    target.ctx = ast.Store()
    return target
