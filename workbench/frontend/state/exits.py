"""Ways out of statements, as the syntax tree shows them: `break`, `continue`, `return`, and what follows a loop.

The IR has structured loops and branches only. A way out is lowered where it stands (statements/control_flow.py): a
`break` sets the flag of its loop, a `return` in a loop also stores its values in names, and the loop's own code tests
the flag. Names of flags have a dot in them: no user's name has.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from workbench.limits import NESTED_EXITS
from workbench.source import blocks_of, located

RETURNED = "returned.0"
VALUE = "returned.value"
"""Names of the flag and of the values of a return in a loop; no field of a user's struct begins with a digit."""
Loop = ast.For | ast.While
Statements = list[ast.stmt]
PLAIN = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert})
"""Classes of statements that hold no others and leave nothing."""


class Skip(ast.Pass):
    """A statement of ours that ends the body of a link of an `elif` chain: the links listed behind are skipped."""


class Next(ast.Pass):
    """A statement of ours that ends a group of links of an `elif` chain: none was taken, the next group follows."""


class Idle(ast.Pass):
    """A statement of ours in an unrolled loop, for the rest of the iterations behind one that left the loop."""


def answer(node: ast.AST, question: str, compute: Callable[[], Any]) -> Any:
    """Return the answer to a question about a statement, computed once and stored on the node under that name."""
    if not hasattr(node, question):
        setattr(node, question, compute())
    return getattr(node, question)


def leaves(node: ast.stmt) -> bool:
    """Return whether something in a statement may leave the statements around it."""
    if type(node) in PLAIN:
        return False
    if isinstance(node, ast.If):
        return answer(node, "may_leave", lambda: any(map(leaves, [*node.body, *node.orelse])))
    if isinstance(node, Loop):
        return returns(node) or any(map(leaves, node.orelse))
    return isinstance(node, (ast.Return, ast.Break, ast.Continue, Skip, Next, Idle))


def ends(node: ast.stmt) -> bool:
    """Return whether no path comes to the end of a statement."""
    if isinstance(node, ast.If):
        return answer(node, "must_leave", lambda: all_end(node.body) and all_end(node.orelse))
    if isinstance(node, Loop):
        return (returns(node) and _is_endless(node)) or (all_end(node.orelse) and not _is_broken(node))
    return leaves(node)


def all_end(body: Sequence[ast.stmt]) -> bool:
    """Return whether no path comes to the end of these statements."""
    return any(map(ends, body))


def returns(loop: Loop) -> bool:
    """Return whether a `return` stands in a loop's body."""
    return answer(loop, "may_return", lambda: bool(returns_inside(*loop.body)))


def returns_inside(*statements: ast.stmt) -> list[ast.Return]:
    """Return all `return` in statements that a path may come to."""
    reached: list[ast.Return] = []
    for statement in statements:
        for block in blocks_of(statement):
            reached += returns_inside(*block)
        reached += [statement] if isinstance(statement, ast.Return) else []
        if ends(statement):
            break
    return reached


def is_while_true(loop: ast.AST) -> bool:
    """Return whether a loop is a `while` whose condition is a constant that holds, such as True."""
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def _is_endless(loop: Loop) -> bool:
    """Return whether a statement is a `while True` that no `break` leaves."""
    return is_while_true(loop) and not _is_broken(loop)


def _is_broken(loop: Loop) -> bool:
    """Return whether a `break` of the loop stands in its body, as stored on the node."""
    return answer(loop, "may_break", lambda: breaks(loop.body))


def breaks(body: Sequence[ast.stmt]) -> bool:
    """Return whether a `break` of the loop stands in these statements of its body."""
    inside = [[*s.body, *s.orelse] if isinstance(s, ast.If) else getattr(s, "orelse", []) for s in body]
    return any(isinstance(s, ast.Break) for s in body) or any(map(breaks, inside))


def exit_flag(loop: Loop) -> str | None:
    """Return the name of the flag that says a loop has been left early; None if nothing leaves it."""
    name = f"break.{loop.lineno}"
    return answer(loop, "exit_flag", lambda: name if _is_broken(loop) or returns(loop) else None)


def flags(loop: ast.stmt, values: Sequence[str]) -> list[str]:
    """Return the names that ways out of a loop set; `values` are those of the function's returned values."""
    if not isinstance(loop, Loop):
        return []
    own = exit_flag(loop)
    return [*([own] if own is not None else []), *([RETURNED, *values] if returns(loop) else [])]


def shape(loop: Loop) -> int:
    """Return how many values the first `return` in a loop has: 0, as many as are written out, or -1: an expression."""
    return answer(loop, "shape", lambda: shape_of(returns_inside(*loop.body)[0]))


def shape_of(node: ast.Return) -> int:
    """Return how many values a `return` writes out: 0 without one, a tuple's items, or -1 for one expression."""
    if node.value is None:
        return 0
    return len(node.value.elts) if isinstance(node.value, ast.Tuple) and node.value.elts else -1


def bare(loop: Loop) -> Loop:
    """Return a copy of a loop without its `else`, made once and stored on the node; the loop itself if it has none.

    The copy's `has_else` says whether something may leave the loop early.
    """
    return answer(loop, "bare", lambda: _bare(loop)) if loop.orelse else loop


def _bare(loop: Loop) -> Loop:
    """Return a copy of a loop without its `else`; `has_else` says of it whether something may leave the loop early."""
    fields: dict[str, Any] = {**dict(ast.iter_fields(loop)), "orelse": []}
    own: Any = ast.copy_location(type(loop)(**fields), loop)
    own.has_else = exit_flag(loop) is not None
    return own


def after(loop: Loop, leave: Statements) -> Statements:
    """Return the statements that follow a loop whose `else` was cut off.

    They are the `else`, where no `break` or `return` left the loop, and `leave`, where a `return` in it was reached.
    There are none for a loop marked `is_inner`: it shares its flag with the loop around it.
    """
    if getattr(loop, "is_inner", False):  # its flag is the outer loop's
        return []
    flag = exit_flag(loop)
    done = [*loop.orelse]
    if done and flag is not None:
        done = [unless(flag, done, [], done[0])]
    if leave and not ends(loop):
        leave = [located(ast.If(ast.Name(RETURNED, ast.Load()), leave, []), loop)]
    return [*done, *leave]


def unless(flag: str, body: Statements, orelse: Statements, origin: ast.AST) -> ast.stmt:
    """Return an `if` that runs the body only where a flag is not set."""
    test = located(ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load())), origin)
    return ast.copy_location(ast.If(test, body, orelse), origin)


def denied(test: ast.expr | str) -> str | None:
    """Return the flag of a `break` that a test `not flag` reads; None of any other test."""
    name = test.operand if isinstance(test, ast.UnaryOp) else None
    return name.id if isinstance(name, ast.Name) and name.id.startswith("break.") else None


def in_groups(body: Sequence[ast.stmt]) -> list[Statements]:
    """Split statements into groups of at most `NESTED_EXITS` that leave; drop what follows one that always does.

    An `if` whose side always leaves and whose `else` is thus what follows it becomes that: chains of `elif` are lists.
    """
    groups: list[Statements] = [[]]
    count = 0
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if type(node) in PLAIN:
            groups[-1].append(node)
            continue
        if isinstance(node, ast.If) and node.orelse and leaves(node) and not ends(node) and all_end(node.body):
            waiting += reversed(node.orelse)
            node = ast.copy_location(ast.If(node.test, node.body, []), node)
        if leaves(node) and not isinstance(node, Next):
            count += 1
            if count > NESTED_EXITS:
                groups.append([])
                count = 1
        groups[-1].append(node)
        if ends(node):
            break
    return groups


def as_list(chain: ast.If) -> Statements:
    """Return a chain of `elif` as a list, if that has more than `NESTED_EXITS` statements; else an empty one.

    Each link ends the list where its condition holds.
    """
    links, rest = [chain], chain.orelse
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        links.append(rest[0])
        rest = rest[0].orelse
    if len(links) + len(rest) <= NESTED_EXITS:
        return []
    skip = [ast.copy_location(ast.If(n.test, [*n.body, ast.copy_location(Skip(), n)], []), n) for n in links]
    return [*skip, *rest]
