"""Ways out of a loop, as plain structure: `break`, `continue`, `else` of a loop, `return` inside one.

Before a function is lowered its syntax tree is rewritten so that none of them is left. What follows a `continue` or
`break` moves into the other branch of its `if`; where that is not enough, a flag guards it. A loop that can be left
early names its flag (`until`), and the loop's own code tests it. So IR, autodiff and backends know structured loops
only.

Names of flags have a dot in them: no user's name has.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any

from workbench.frontend.operands import PENDING

RETURNED = "returned.early"
VALUE = "returned.value"
Statements = list[ast.stmt]


def rewrite(body: Sequence[ast.stmt]) -> Statements:
    """The statements of a function without `break`, `continue`, `else` of loops and `return` in loops.

    A loop that may be left early has the attribute `until`, the name of its flag. What a `return` in a loop gives waits
    in names of its own until the loop is left. Where the returns in loops differ in how many values they give, those
    unlike the first stay where they are, and are refused there.
    """
    if not any(_has_exit(node) for statement in body for node in ast.walk(statement)):
        return list(body)
    return _Rewriter().function(copy.deepcopy(list(body)))


def _has_exit(node: ast.AST) -> bool:
    """Whether a node is a way out of a loop, or may be: a `return` counts where any loop is about."""
    return isinstance(node, (ast.Break, ast.Continue)) or (
        isinstance(node, (ast.For, ast.While))
        and (bool(node.orelse) or any(isinstance(inner, ast.Return) for inner in ast.walk(node)))
    )


class Returns:
    """What the returns inside a function's loops become: a flag, names for the values, and a `break`."""

    def __init__(self, shape: int) -> None:
        self.shape = shape
        self.names = [f"{VALUE}.{k}" for k in range(abs(shape))]

    def inside(self, node: ast.AST) -> bool:
        """Whether a loop here has such a `return`."""
        return any(_shape(r) == self.shape for r in _returns_in_loops(node))

    def begin(self, place: ast.AST) -> Statements:
        """The names, before anything was returned."""
        pending: Any = PENDING
        return [_located(ast.Assign([ast.Name(n, ast.Store())], ast.Constant(pending)), place) for n in self.names]

    def give(self, place: ast.AST) -> ast.stmt:
        """The `return` after the loops."""
        return _located(ast.Return(self._values(ast.Load())), place)

    def _values(self, use: ast.expr_context) -> Any:
        names: list[ast.expr] = [ast.Name(n, use) for n in self.names]
        return (names[0] if names else None) if self.shape < 1 else ast.Tuple(names, use)

    def as_breaks(self, body: Statements) -> Statements:
        """`return` as its values kept, a flag and a `break`; a loop inside that had one is marked `leaves`."""
        done: Statements = []
        for statement in body:
            if isinstance(statement, ast.Return) and _shape(statement) == self.shape:
                if statement.value is not None:
                    done.append(_located(ast.Assign([self._values(ast.Store())], statement.value), statement))
                done += [_set(RETURNED, True, statement), ast.copy_location(ast.Break(), statement)]
                continue
            if isinstance(statement, (ast.For, ast.While)) and self.inside(statement):
                statement.leaves = True  # type: ignore[union-attr]
                statement.body = self.as_breaks(statement.body)
            elif isinstance(statement, ast.If):
                statement.body, statement.orelse = self.as_breaks(statement.body), self.as_breaks(statement.orelse)
            done.append(statement)
        return done


class _Rewriter:
    def __init__(self) -> None:
        self.count = 0
        self.returns = Returns(0)

    def function(self, body: Statements) -> Statements:
        found = [r for s in body for r in _returns_in_loops(s)]
        if not found:
            return self.statements(body)
        self.returns = Returns(_shape(found[0]))
        return [_set(RETURNED, False, body[0]), *self.returns.begin(body[0]), *self.statements(body)]

    def statements(self, body: Statements) -> Statements:
        """Outside of loops: each loop becomes its flag, itself, and what comes after it."""
        done: Statements = []
        for statement in body:
            if isinstance(statement, (ast.For, ast.While)):
                done += self.loop(statement, nested=False)
            elif isinstance(statement, ast.If):
                statement.body = self.statements(statement.body)
                statement.orelse = self.statements(statement.orelse)
                done.append(statement)
            else:
                done.append(statement)
        return done

    def loop(self, loop: ast.For | ast.While, nested: bool) -> Statements:
        """The loop with what has to stand before and after it."""
        self.count += 1
        broke, skip = f"break.{self.count}", f"skip.{self.count}"
        returns = self.returns.inside(loop)
        if returns:
            loop.body = self.returns.as_breaks(loop.body)
        breaks = _own(loop.body, ast.Break) or any(_returning_loop(s) for s in loop.body)
        orelse, loop.orelse = loop.orelse, []
        exits = _Exits(broke, skip, lambda inner: self.loop(inner, nested=True), self.returns)
        loop.body = exits.guard(loop.body)
        if exits.flagged:
            loop.body = [_set(skip, False, loop), *loop.body]
        done: Statements = []
        if breaks:
            loop.until = broke  # type: ignore[union-attr]
            done.append(_set(broke, False, loop))
        done.append(loop)
        if orelse:
            rest = self.statements(orelse)
            done += [_if_not(broke, rest, orelse[0])] if breaks else rest
        if returns and not nested:
            done.append(_if(RETURNED, [self.returns.give(loop)], loop))
        return done


class _Exits:
    """The body of one loop.

    Attributes:
        flagged: whether some guard reads the skip flag.
    """

    def __init__(
        self, broke: str, skip: str, loop: Callable[[ast.For | ast.While], Statements], returns: Returns
    ) -> None:
        self.returns = returns
        self.broke = broke
        self.skip = skip
        self.loop = loop
        self.flagged = False

    def guard(self, body: Statements) -> Statements:
        """Statements of the loop's body, with what an exit skips out of its way."""
        done: Statements = []
        for position, statement in enumerate(body):
            rest = body[position + 1 :]
            if isinstance(statement, ast.Break):
                return [*done, _set(self.broke, True, statement), _set(self.skip, True, statement)]
            if isinstance(statement, ast.Continue):
                return [*done, _set(self.skip, True, statement)]
            if isinstance(statement, (ast.For, ast.While)):
                done += self.loop(statement)
                if self.returns.inside(statement) or getattr(statement, "leaves", False):
                    check = _if(RETURNED, [ast.copy_location(ast.Break(), statement)], statement)
                    return [*done, *self.guard([check, *rest])]
            elif isinstance(statement, ast.If) and _leaves([statement]):
                return [*done, *self.branch(statement, rest)]
            elif isinstance(statement, ast.If):
                statement.body, statement.orelse = self.guard(statement.body), self.guard(statement.orelse)
                done.append(statement)
            else:
                done.append(statement)
        return done

    def branch(self, node: ast.If, rest: Statements) -> Statements:
        """An `if` with an exit inside, and what follows it."""
        if _always_leaves(node.body):
            node.body, node.orelse = self.guard(node.body), self.guard([*node.orelse, *rest])
            return [node]
        if _always_leaves(node.orelse):
            node.body, node.orelse = self.guard([*node.body, *rest]), self.guard(node.orelse)
            return [node]
        node.body, node.orelse = self.guard(node.body), self.guard(node.orelse)
        if not rest:
            return [node]
        self.flagged = True
        return [node, _if_not(self.skip, self.guard(rest), rest[0])]


def _own(body: Sequence[ast.stmt], kind: type[ast.stmt]) -> bool:
    """Whether a statement of this kind belongs to the loop whose body this is."""
    return any(
        isinstance(s, kind) or (isinstance(s, ast.If) and (_own(s.body, kind) or _own(s.orelse, kind))) for s in body
    )


def _leaves(body: Sequence[ast.stmt]) -> bool:
    return _own(body, ast.Break) or _own(body, ast.Continue) or any(_returning_loop(s) for s in body)


def _returning_loop(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return any(_returning_loop(s) for s in [*node.body, *node.orelse])
    return isinstance(node, (ast.For, ast.While)) and getattr(node, "leaves", False)


def _always_leaves(body: Sequence[ast.stmt]) -> bool:
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _always_leaves(last.body) and _always_leaves(last.orelse)
    return isinstance(last, (ast.Break, ast.Continue))


def _returns_in_loops(node: ast.AST) -> list[ast.Return]:
    loops = [n for n in ast.walk(node) if isinstance(n, (ast.For, ast.While))]
    return [n for loop in loops for n in ast.walk(loop) if isinstance(n, ast.Return)]


def _shape(node: ast.Return) -> int:
    """How many values a `return` gives: 0, or how many are written out; -1 where it is one expression."""
    if node.value is None:
        return 0
    return len(node.value.elts) if isinstance(node.value, ast.Tuple) and node.value.elts else -1


def _located(node: Any, place: ast.AST) -> Any:
    for inner in ast.walk(node):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, place)
    return node


def _set(name: str, value: bool, place: ast.AST) -> ast.stmt:
    return _located(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), place)


def _if(name: str, body: Statements, place: ast.AST) -> ast.If:
    return _located(ast.If(ast.Name(name, ast.Load()), body, []), place)


def _if_not(name: str, body: Statements, place: ast.AST) -> ast.If:
    return _located(ast.If(ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load())), body, []), place)
