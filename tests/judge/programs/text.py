"""Programs that are cut out of a module's source text."""

from __future__ import annotations

import ast


def text_of(tree: ast.Module, kernel: str) -> str:
    """The module cut down to one kernel, and what it uses."""
    definitions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    needed, waiting = set[str](), [kernel]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += [n.id for n in ast.walk(definitions[name]) if isinstance(n, ast.Name) and n.id in definitions]
    used = {n.id for name in needed for n in ast.walk(definitions[name]) if isinstance(n, ast.Name)}
    return "\n".join(ast.unparse(n) for n in tree.body if _is_used(n, needed, used)) + "\n"


def _is_used(node: ast.stmt, needed: set[str], used: set[str]) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name in needed
    if isinstance(node, ast.Assign):
        return any(n.id in used for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name))
    return isinstance(node, ast.Import)
