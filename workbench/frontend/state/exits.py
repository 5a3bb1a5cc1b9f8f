"""Ways out of a loop, as plain structure: `break`, `continue`, `else` of a loop, `return` inside one.

Before a function is lowered its syntax tree is rewritten so that none of them is left. What follows a `continue` or
`break` moves into the other branch of its `if`; where that is not enough, a flag guards it. A loop that can be left
early names its flag (`until`), and the loop's own code tests it. So IR, autodiff and backends know structured loops
only.

Names of flags have a dot in them: no user's name has.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from workbench.frontend.state.operands import PENDING
from workbench.limits import NESTED_EXITS
from workbench.source import located, statements_of

RETURNED = "returned.0"
VALUE = "returned.value"
"""Names of the flag and of the values of a return in a loop; no field of a user's struct begins with a digit."""
Loop = ast.For | ast.While
Statements = list[ast.stmt]


class Leave(ast.Assign):
    """A `break` or `continue`, as flags that are set.

    Attributes:
        out_of: "loop" for a `break`, "round" for a `continue`, "function" for a `return`, whose values are names too.
    """

    out_of: str


class Give(ast.Assign):
    """A `return` in a loop, as names that take its values."""


def rewrite(body: Sequence[ast.stmt]) -> Statements:
    """Return the statements of a function without `break`, `continue`, `else` of loops and `return` in loops.

    A loop that may be left early has the attribute `until`, the name of its flag, and `otherwise` where something
    happens only if it was not. An `if` of which one side leaves says so: `left`, a bool for each side. What a `return`
    in a loop gives waits in names of its own until the loop is left. Where the returns in loops differ in how many
    values they give, those unlike the first stay where they are, and are refused there.
    """
    if not any(map(_has_exit, statements_of(*body))):
        return list(body)
    return _Rewriter().function(_copied(body))


def _copied(body: Sequence[ast.stmt]) -> Statements:
    """Return the statements, with loops and branches of their own: these change, what they hold does not."""
    done: Statements = []
    for statement in body:
        if not isinstance(statement, (ast.If, ast.For, ast.While)):
            done.append(statement)
            continue
        own = fresh_copy(statement)
        own.body, own.orelse = _copied(own.body), _copied(own.orelse)
        done.append(own)
    return done


def fresh_copy(node: Any) -> Any:
    """Return a statement of the same parts, without what was computed from them and stored on the node.

    A branch and a loop remember which names they bind and how they end; a copy that gets another body must not.
    """
    own = ast.copy_location(type(node)(**dict(ast.iter_fields(node))), node)
    if isinstance(own, ast.If):
        own.left = getattr(node, "left", (False, False))  # type: ignore[attr-defined]
    return own


def _has_exit(node: ast.AST) -> bool:
    """Return whether a node is a `break`, a `continue`, or a loop with an `else` or a `return` inside."""
    return isinstance(node, (ast.Break, ast.Continue)) or (
        isinstance(node, Loop)
        and (bool(node.orelse) or any(isinstance(inner, ast.Return) for inner in statements_of(node)))
    )


class Returns:
    """The rewriting of the returns inside a function's loops: as a flag, names for the values, and a `break`.

    Attributes:
        shape: how many values they return: 0 or more written out, or -1 for one expression.
        names: the names that take the values.
    """

    def __init__(self, shape: int) -> None:
        self.shape = shape
        self.names = [f"{VALUE}.{k}" for k in range(abs(shape))]

    def inside(self, body: Sequence[ast.stmt]) -> bool:
        """Return whether a `return` of this shape stands in the statements."""
        return any(isinstance(n, ast.Return) and _shape(n) == self.shape for s in body for n in statements_of(s))

    def begin(self, origin: ast.AST) -> Statements:
        """Return statements that give the names a placeholder: nothing was returned yet."""
        pending: Any = PENDING
        return [located(ast.Assign([ast.Name(n, ast.Store())], ast.Constant(pending)), origin) for n in self.names]

    def give(self, origin: ast.AST) -> ast.stmt:
        """Return the `return` of the names, which stands after the loops."""
        return located(ast.Return(self._values(ast.Load())), origin)

    def _values(self, use: ast.expr_context) -> Any:
        names: list[ast.expr] = [ast.Name(n, use) for n in self.names]
        return (names[0] if names else None) if self.shape < 1 else ast.Tuple(names, use)

    def as_breaks(self, body: Statements) -> Statements:
        """Rewrite each `return` as assignments, a flag and a `break`; mark a loop inside that had one as `leaves`."""
        done: Statements = []
        for statement in body:
            if isinstance(statement, ast.Return) and _shape(statement) == self.shape:
                if statement.value is not None:
                    done.append(located(Give([self._values(ast.Store())], statement.value), statement))
                done += [_set(RETURNED, True, statement), _break(statement)]
                continue
            if isinstance(statement, Loop):
                statement.leaves = self.inside(statement.body)  # type: ignore[union-attr]
                statement.body, statement.orelse = self.as_breaks(statement.body), self.as_breaks(statement.orelse)
            elif isinstance(statement, ast.If):
                statement.body, statement.orelse = self.as_breaks(statement.body), self.as_breaks(statement.orelse)
            done.append(statement)
        return done


class _Rewriter:
    def __init__(self) -> None:
        self.count = 0
        self.returns = Returns(0)

    def function(self, body: Statements) -> Statements:
        returns = [r for s in body for r in _returns_in_loops(s)]
        if not returns:
            return self.statements(body)
        self.returns = Returns(_shape(returns[0]))
        return [_set(RETURNED, False, body[0]), *self.returns.begin(body[0]), *self.statements(body)]

    def statements(self, body: Statements) -> Statements:
        """Rewrite statements outside of loops: a loop becomes its flag, itself, and what comes after it."""
        done: Statements = []
        for statement in body:
            if isinstance(statement, Loop):
                rewritten, after = self.loop(statement, nested=False)
                done += [*rewritten, *self.statements(after)]
            elif isinstance(statement, ast.If):
                statement.body = self.statements(statement.body)
                statement.orelse = self.statements(statement.orelse)
                done.append(statement)
            else:
                done.append(statement)
        return done

    def loop(self, loop: Loop, nested: bool) -> tuple[Statements, Statements]:
        """Rewrite a loop; return it with what has to stand before it, and what comes after it, not rewritten yet."""
        self.count += 1
        broke, skip = f"break.{self.count}", f"skip.{self.count}"
        if not nested and self.returns.inside(loop.body):
            loop.leaves = True  # type: ignore[union-attr]
            loop.body = self.returns.as_breaks(loop.body)
        breaks = bool(_own(loop.body, ast.Break)) or any(map(_holds_returning, loop.body))
        returned = _after_return(loop, [_break(loop)] if nested else [self.returns.give(loop)])
        orelse, loop.orelse = loop.orelse, []
        exits = _Exits(broke, skip, lambda inner: self.loop(inner, nested=True))
        loop.body = exits.guard(loop.body)
        if exits.flagged:
            loop.body = [_set(skip, False, loop), *loop.body]
        if not breaks:
            return [loop], [*orelse, *returned]
        loop.until = broke  # type: ignore[union-attr]
        loop.otherwise = bool(orelse)  # type: ignore[union-attr]
        after = [_if_not(broke, orelse, orelse[0])] if orelse else []
        return [_set(broke, False, loop), loop], [*after, *returned]


class _Exits:
    """Rewrites the body of one loop without `break` and `continue`.

    Attributes:
        flagged: whether some guard reads the skip flag.
    """

    def __init__(self, broke: str, skip: str, loop: Callable[[Loop], tuple[Statements, Statements]]) -> None:
        self.broke = broke
        self.skip = skip
        self.loop = loop
        self.flagged = False

    def guard(self, body: Statements) -> Statements:
        """Return statements of the loop's body, rewritten so that an exit skips those that follow it."""
        first, *others = in_groups(body, _leaves, _is_the_end)
        done = self.group(first)
        for group in others:
            self.flagged = True
            done.append(_marked(_if_not(self.skip, self.group(group), group[0]), (False, True)))
        return done

    def group(self, body: Statements) -> Statements:
        """Return statements rewritten as `guard` does, where so few of them leave that their branches may nest."""
        done: Statements = []
        for position, statement in enumerate(body):
            if isinstance(statement, ast.Break):
                out_of = "function" if getattr(statement, "returns", False) else "loop"
                return [*done, _leave([self.broke, self.skip], out_of, statement)]
            if isinstance(statement, ast.Continue):
                return [*done, _leave([self.skip], "round", statement)]
            if isinstance(statement, Loop):
                rewritten, after = self.loop(statement)
                done += rewritten
                if after:
                    return [*done, *self.guard([*after, *body[position + 1 :]])]
            elif isinstance(statement, ast.If) and _leaves(statement):
                return [*done, *self.branch(statement, body[position + 1 :])]
            elif isinstance(statement, ast.If):
                statement.body, statement.orelse = self.guard(statement.body), self.guard(statement.orelse)
                done.append(statement)
            else:
                done.append(statement)
        return done

    def branch(self, node: ast.If, rest: Statements) -> Statements:
        """Return an `if` with an exit inside, and the statements that follow it, rewritten."""
        left = _always_leaves(node.body), _always_leaves(node.orelse)
        if any(left):
            sides = (node.body, [*node.orelse, *rest]) if left[0] else ([*node.body, *rest], node.orelse)
            left = _always_leaves(sides[0]), _always_leaves(sides[1])
            node.body, node.orelse = self.guard(sides[0]), self.guard(sides[1])
            return [_marked(node, left)]
        node.body, node.orelse = self.guard(node.body), self.guard(node.orelse)
        if not rest:
            return [node]
        self.flagged = True
        return [node, _marked(_if_not(self.skip, self.guard(rest), rest[0]), (False, True))]


def in_groups(
    body: Sequence[ast.stmt], leaves: Callable[[ast.stmt], bool], ends: Callable[[ast.stmt], bool]
) -> list[Statements]:
    """Split statements into groups of at most `NESTED_EXITS` that leave; drop what follows one that always does.

    An `if` whose side always leaves and whose `else` is thus what follows it becomes that: chains of `elif` are lists.
    """
    groups: list[Statements] = [[]]
    count = 0
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and node.orelse and leaves(node) and not ends(node) and all_end(node.body, ends):
            waiting += reversed(node.orelse)
            node = ast.copy_location(ast.If(node.test, node.body, []), node)
        if leaves(node):
            count += 1
            if count > NESTED_EXITS:
                groups.append([])
                count = 1
        groups[-1].append(node)
        if ends(node):
            break
    return groups


def all_end(body: Sequence[ast.stmt], ends: Callable[[ast.stmt], bool]) -> bool:
    """Return whether no path comes to the end of these statements."""
    return any(map(ends, body))


def answer(node: ast.If, question: str, compute: Callable[[], bool]) -> bool:
    """Return the answer to a question about an `if`, computed once and stored on the node under that name."""
    if not hasattr(node, question):
        setattr(node, question, compute())
    return getattr(node, question)


def _leaves(node: ast.stmt) -> bool:
    """Return whether something in a statement may leave the round of the loop around it."""
    if isinstance(node, Loop):
        return _returning_loop(node) or any(map(_leaves, node.orelse))
    if not isinstance(node, ast.If):
        return isinstance(node, (ast.Break, ast.Continue))
    return answer(node, "may_leave", lambda: any(map(_leaves, [*node.body, *node.orelse])))


def _always_leaves(body: Sequence[ast.stmt]) -> bool:
    return all_end(body, _is_the_end)


def _is_the_end(node: ast.stmt) -> bool:
    if isinstance(node, Loop):
        return (_returning_loop(node) and _is_endless(node)) or (_always_leaves(node.orelse) and not _is_broken(node))
    if not isinstance(node, ast.If):
        return isinstance(node, (ast.Break, ast.Continue))
    return answer(node, "must_leave", lambda: _always_leaves(node.body) and _always_leaves(node.orelse))


def _holds_returning(node: ast.stmt) -> bool:
    """Return whether a statement is, or holds in branches, a loop in which a `return` may be reached."""
    inside = [*node.body, *node.orelse] if isinstance(node, ast.If) else node.orelse if isinstance(node, Loop) else []
    return _returning_loop(node) or any(map(_holds_returning, inside))


def _returning_loop(node: ast.stmt) -> bool:
    return isinstance(node, Loop) and getattr(node, "leaves", False)


def _is_endless(loop: ast.stmt) -> bool:
    """Return whether a statement is a `while True` that no `break` of the user's leaves."""
    return is_while_true(loop) and not _is_broken(loop)


def _is_broken(loop: ast.AST) -> bool:
    """Return whether a `break` of the user's leaves the loop."""
    breaks = _own(loop.body, ast.Break)  # type: ignore[attr-defined]
    return not all(getattr(b, "returns", False) for b in breaks)


def is_while_true(loop: ast.AST) -> bool:
    """Return whether a loop is a `while` whose condition is a constant that holds, such as True."""
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def _own(body: Sequence[ast.stmt], kind: type[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of this kind that belong to the loop whose body this is."""
    statements = [s for s in body if isinstance(s, kind)]
    for s in body:
        statements += _own([*s.body, *s.orelse], kind) if isinstance(s, ast.If) else []
        statements += _own(s.orelse, kind) if isinstance(s, Loop) else []
    return statements


def _after_return(loop: Loop, leave: Statements) -> Statements:
    """Return `leave`, under the flag of returns, for after a loop in which a `return` may be reached; else nothing."""
    if not _returning_loop(loop):
        return []
    return leave if _is_endless(loop) else [located(ast.If(ast.Name(RETURNED, ast.Load()), leave, []), loop)]


def _returns_in_loops(node: ast.AST) -> list[ast.Return]:
    loops = [n for n in statements_of(node) if isinstance(n, Loop)]
    return [n for loop in loops for n in statements_of(loop) if isinstance(n, ast.Return)]


def _shape(node: ast.Return) -> int:
    """Return how many values a `return` has: 0, or as many as are written out; -1 where it is one expression."""
    if node.value is None:
        return 0
    return len(node.value.elts) if isinstance(node.value, ast.Tuple) and node.value.elts else -1


def flag_set(name: str, origin: ast.AST) -> ast.stmt:
    """Return the statement `name = True`, at the location of `origin`."""
    return _set(name, True, origin)


def _set(name: str, value: bool, origin: ast.AST) -> ast.stmt:
    return located(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), origin)


def _leave(flags: Sequence[str], out_of: str, origin: ast.AST) -> ast.stmt:
    node = Leave([ast.Name(flag, ast.Store()) for flag in flags], ast.Constant(True))
    node.out_of = out_of
    return located(node, origin)


def _break(origin: ast.AST) -> ast.stmt:
    """Return the `break` that a `return` becomes."""
    node = ast.Break()
    node.returns = True  # type: ignore[attr-defined]
    return ast.copy_location(node, origin)


def _if_not(name: str, body: Statements, origin: ast.AST) -> ast.If:
    return located(ast.If(ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load())), body, []), origin)


def denied(test: ast.expr) -> str | None:
    """Return the flag of a `break` that a test `not flag` reads; None of any other test."""
    name = test.operand if isinstance(test, ast.UnaryOp) else None
    return name.id if isinstance(name, ast.Name) and name.id.startswith("break.") else None


def _marked(node: ast.If, left: tuple[bool, bool]) -> ast.If:
    """Mark an `if` with the sides of which no path comes to the end, and return it."""
    node.left = left  # type: ignore[attr-defined]
    return node
