"""Reduce a failing program to a few lines: edits of its syntax tree, each taken only if the program still fails.

Large edits are tried first: dropping statements, in halves and one by one; replacing a branch or a loop by its body;
then replacing an expression by a part of it or by a literal; at last dropping parameters that nothing reads.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Fails = Callable[[str], bool]
Path = tuple[tuple[str, int | None], ...]
"""The way from the tree's root to a node: fields, with a position where a field is a list."""


@dataclass(frozen=True)
class Edit:
    """What stands at a place is replaced: a slice of a list of statements, or one expression."""

    path: Path
    new: Any
    width: int = 1

    def applied(self, tree: ast.Module) -> str | None:
        """The text of a copy of the tree with the edit; None if Python cannot read it."""
        changed = copy.deepcopy(tree)
        owner = _at(changed, self.path[:-1])
        name, position = self.path[-1]
        if position is None:
            setattr(owner, name, self.new)
        else:
            items = getattr(owner, name)
            items[position : position + self.width] = self.new if isinstance(self.new, list) else [self.new]
            if name == "body" and not items:
                items.append(ast.Pass())
        try:
            text = ast.unparse(ast.fix_missing_locations(changed)) + "\n"
            compile(text, "shrunk", "exec")
        except (SyntaxError, ValueError, TypeError):
            return None
        return text


def shrink(text: str, fails: Fails, most: int = 2000) -> str:
    """The text reduced as far as single edits go.

    Args:
        text: the source code of a module.
        fails: whether a text still fails in the way that matters. It must not raise.
        most: how often it is asked at most.

    Raises:
        ValueError: the text does not fail to begin with.
    """
    if not fails(text):
        raise ValueError("The program does not fail, so there is nothing to reduce.")
    asked = {text: True}
    current = ast.unparse(ast.parse(text)) + "\n"
    current = current if fails(current) else text
    for kind in (_statements, _bodies, _parameters, _expressions) * 4:
        before = current
        position = 0
        while len(asked) < most:
            tree = ast.parse(current)
            edits = list(kind(tree))
            while position < len(edits):
                smaller = edits[position].applied(tree)
                if smaller is not None and smaller not in asked and len(asked) < most:
                    asked[smaller] = fails(smaller)
                    if asked[smaller]:
                        current = smaller
                        break
                position += 1
            else:
                break
        if current == before and kind is _expressions:
            break
    return current


def _at(tree: ast.AST, path: Path) -> Any:
    node: Any = tree
    for name, position in path:
        node = getattr(node, name) if position is None else getattr(node, name)[position]
    return node


def _nodes(node: ast.AST, path: Path = ()) -> Iterator[tuple[Path, ast.AST]]:
    yield path, node
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield from _nodes(value, (*path, (name, None)))
        elif isinstance(value, list):
            for position, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _nodes(item, (*path, (name, position)))


def _blocks(tree: ast.Module) -> Iterator[tuple[Path, str, list[ast.stmt]]]:
    for path, node in _nodes(tree):
        for name in ("body", "orelse"):
            items = getattr(node, name, None)
            if isinstance(items, list) and items:
                yield path, name, items


def _statements(tree: ast.Module) -> Iterator[Edit]:
    """Drop runs of statements, long ones first."""
    blocks = [b for b in _blocks(tree) if not (len(b[2]) == 1 and isinstance(b[2][0], ast.Pass))]
    widest = max((len(items) for _, _, items in blocks), default=0)
    width = widest
    while width:
        for path, name, items in blocks:
            for start in range(0, len(items) - width + 1, max(1, width // 2)):
                yield Edit((*path, (name, start)), [], width)
        width //= 2


def _bodies(tree: ast.Module) -> Iterator[Edit]:
    """Replace a compound statement by what is in it."""
    for path, name, items in _blocks(tree):
        for position, item in enumerate(items):
            if isinstance(item, (ast.If, ast.For, ast.While, ast.With)):
                for body in (item.body, getattr(item, "orelse", [])):
                    if body:
                        yield Edit((*path, (name, position)), body)
            if isinstance(item, ast.AugAssign):
                target = copy.deepcopy(item.target)
                yield Edit((*path, (name, position)), ast.Assign([target], item.value))


def _parameters(tree: ast.Module) -> Iterator[Edit]:
    """Drop parameters that nothing reads, with their default."""
    for path, node in _nodes(tree):
        if isinstance(node, ast.FunctionDef):
            used = {n.id for statement in node.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
            for position, argument in enumerate(node.args.args):
                if argument.arg not in used and not node.args.defaults:
                    yield Edit((*path, ("args", None), ("args", position)), [])


def _expressions(tree: ast.Module) -> Iterator[Edit]:
    """Replace an expression by one of its operands, or by a literal."""
    for path, node in _nodes(tree):
        if not isinstance(node, ast.expr) or isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            continue
        if any(name in ("annotation", "returns", "decorator_list", "bases", "func") for name, _ in path):
            continue
        for part in _operands(node):
            yield Edit(path, copy.deepcopy(part))
        if isinstance(node, (ast.BinOp, ast.Call, ast.Subscript, ast.IfExp, ast.UnaryOp, ast.Compare, ast.BoolOp)):
            for literal in (1.0, 1, True) if not isinstance(node, (ast.Compare, ast.BoolOp)) else (True, False):
                yield Edit(path, ast.Constant(literal))


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse, node.test]
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return [ast.Compare(node.left, node.ops[:1], node.comparators[:1])]
    if isinstance(node, ast.Call):
        return [a for a in node.args if not isinstance(a, ast.Starred)]
    return []
