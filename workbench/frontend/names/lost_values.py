"""Values that a kernel computes last and drops: `y = x[i]` gives a name a number, where `y[i] = x[i]` was meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.frontend.state.definition import Definition, reads
from workbench.source import Location


def lost_value(definition: Definition) -> tuple[Location, str] | None:
    """Find a kernel's last assignment whose value nothing reads; return its location and a message, or None."""
    annotated = {a.arg: ast.unparse(a.annotation) for a in definition.parameters if a.annotation}
    for node in _last(definition.node.body):
        target = _target(node)
        if target is None or target.id.startswith("_") or _is_read(definition, node, target):
            continue
        name = target.id
        if "array" in annotated.get(name, ""):
            written = f"{name}[{_index(definition, node)}] = …"
            message = f"{name} = … gives the name {name} another value and leaves the array as it is."
            return definition.locate(node), f"{message} Write {written} to set an element."
        return definition.locate(node), f"{name} is set here and never used. Write it to an array to keep it."
    return None


def _last(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that a run may end with."""
    node = body[-1]
    if isinstance(node, (ast.If, ast.For, ast.While)):
        yield from _last(node.body)
        if node.orelse:
            yield from _last(node.orelse)
    else:
        yield node


def _target(node: ast.stmt) -> ast.Name | None:
    """Return the name that a statement gives a value; None if it does something else, or assigns several."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    target = targets[0] if len(targets) == 1 else None
    return target if isinstance(target, ast.Name) and getattr(node, "value", None) is not None else None


def _is_read(definition: Definition, node: ast.stmt, target: ast.Name) -> bool:
    """Return whether an assigned name may be read again: a parameter in a loop around, another name anywhere.

    What is no parameter counts as read, too, where its value is a call, which may do something else as well.
    """
    name = target.id
    own = reads(node)[name]
    if name not in {a.arg for a in definition.parameters}:
        return isinstance(getattr(node, "value", None), ast.Call) or definition.reads[name] > own
    around = [n for n in definition.nodes if isinstance(n, (ast.For, ast.While)) and node in ast.walk(n)]
    return any(reads(loop)[name] > own for loop in around)


def _index(definition: Definition, node: ast.stmt) -> str:
    """Return the index that a message suggests, as text; "i" if nothing suggests one.

    It is that of the first subscript in the statement; or else, in the whole definition, of a subscript, or the
    names that `tid()` is assigned to.
    """
    for inner in (*ast.walk(node), *definition.nodes):
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            return ast.unparse(inner.slice)
        if isinstance(inner, ast.Assign) and ast.unparse(inner.value).endswith("tid()"):
            return ast.unparse(inner.targets[0]).strip("()")
    return "i"
