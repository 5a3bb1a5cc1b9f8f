"""Ways out of statements (`break`, `continue`, `return`), and what the names of a loop are after it.

The IR has structured loops and branches only. A way out is lowered where it stands (statements/control_flow.py): a
`break` sets the flag of its loop, a `return` in a loop also stores its values in names, and the loop's own code tests
the flag. Names of flags have a dot in them: no user's name has. What ways out there are, and what follows a loop, is
read from the syntax tree.

`Loop` is a loop that is being lowered, with the names that it binds first. Where a loop surely runs (a range known now
that is not empty, `while True`), a name that every way out of it has set is bound after it, as in Python. Such a name
goes round the loop like any other, from a start that is not read: inside the body it is unset until the body sets it.
Where only some ways out set it, it stays unset, but keeps its value for what an `else` of the loop needs: if the loop
was left by a `break`, the names set before each `break` are bound. Only names that are read outside of the loop go
round it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from types import NoneType
from typing import Any, ParamSpec, TypeVar

import msgspec

from workbench.frontend.state.definition import reads
from workbench.frontend.state.operands import PENDING, Operand, Pending, Poison, Unset
from workbench.limits import NESTED_EXITS
from workbench.source import blocks_of, located, nodes_of

RETURNED = "returned.0"
VALUE = "returned.value"
"""Names of the flag and of the values of a return in a loop; no field of a user's struct begins with a digit."""
LoopNode = ast.For | ast.While
Statements = list[ast.stmt]
PLAIN = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert})
"""Classes of statements that hold no others and leave nothing."""


Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class Skip(ast.Pass):
    """A statement of ours that ends the body of a link of an `elif` chain: the links listed behind are skipped."""


class Next(ast.Pass):
    """A statement of ours that ends a group of links of an `elif` chain: none was taken, the next group follows."""


class Idle(ast.Pass):
    """A statement of ours in an unrolled loop, for the rest of the iterations behind one that left the loop."""


def stored(question: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Decorate a question about a node: its answer is computed once, and stored on the node under its name."""
    name = question.__name__

    @wraps(question)
    def ask(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        known: dict[str, Any] = vars(args[0])
        if name not in known:
            known[name] = question(*args, **kwargs)
        return known[name]

    return ask


@stored
def leaves(node: ast.stmt) -> bool:
    """Return whether something in a statement may leave the statements around it."""
    if isinstance(node, ast.If):
        return any(map(leaves, [*node.body, *node.orelse]))
    if isinstance(node, LoopNode):
        return returns(node) or any(map(leaves, node.orelse))
    return isinstance(node, (ast.Return, ast.Break, ast.Continue, Skip, Next, Idle))


@stored
def ends(node: ast.stmt) -> bool:
    """Return whether no path comes to the end of a statement."""
    if isinstance(node, ast.If):
        return all_end(node.body) and all_end(node.orelse)
    if isinstance(node, LoopNode):
        return (returns(node) and _is_endless(node)) or (all_end(node.orelse) and not _is_broken(node))
    return leaves(node)


def all_end(body: Sequence[ast.stmt]) -> bool:
    """Return whether no path comes to the end of these statements."""
    return any(map(ends, body))


@stored
def returns(loop: LoopNode) -> bool:
    """Return whether a `return` stands in a loop's body."""
    return bool(returns_inside(*loop.body))


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


def _is_endless(loop: LoopNode) -> bool:
    """Return whether a statement is a `while True` that no `break` leaves."""
    return is_while_true(loop) and not _is_broken(loop)


@stored
def _is_broken(loop: LoopNode) -> bool:
    """Return whether a `break` of the loop stands in its body."""
    return breaks(loop.body)


def breaks(body: Sequence[ast.stmt]) -> bool:
    """Return whether a `break` of the loop stands in these statements of its body."""
    inside = [[*s.body, *s.orelse] if isinstance(s, ast.If) else getattr(s, "orelse", []) for s in body]
    return any(isinstance(s, ast.Break) for s in body) or any(map(breaks, inside))


@stored
def exit_flag(loop: LoopNode) -> str | None:
    """Return the name of the flag that says a loop has been left early; None if nothing leaves it."""
    return f"break.{loop.lineno}" if _is_broken(loop) or returns(loop) else None


def flags(loop: ast.stmt, values: Sequence[str]) -> list[str]:
    """Return the names that ways out of a loop set; `values` are those of the function's returned values."""
    if not isinstance(loop, LoopNode):
        return []
    own = exit_flag(loop)
    return [*([own] if own is not None else []), *([RETURNED, *values] if returns(loop) else [])]


@stored
def shape(loop: LoopNode) -> int:
    """Return how many values the first `return` in a loop has: 0, as many as are written out, or -1: an expression."""
    return shape_of(returns_inside(*loop.body)[0])


def shape_of(node: ast.Return) -> int:
    """Return how many values a `return` writes out: 0 without one, a tuple's items, or -1 for one expression."""
    if node.value is None:
        return 0
    return len(node.value.elts) if isinstance(node.value, ast.Tuple) and node.value.elts else -1


@stored
def bare(loop: LoopNode) -> LoopNode:
    """Return a copy of a loop without its `else`; `has_else` says of it whether something may leave the loop early."""
    fields: dict[str, Any] = {**dict(ast.iter_fields(loop)), "orelse": []}
    own: Any = ast.copy_location(type(loop)(**fields), loop)
    own.has_else = exit_flag(loop) is not None
    return own


def after(loop: LoopNode, leave: Statements) -> Statements:
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


Env = dict[str, Operand]


class Loop(msgspec.Struct):
    """A loop that is being lowered.

    Attributes:
        names: those that it may bind first and that are read outside of it.
        runs: whether it runs at least once.
        ends: whether it may end by itself; else only a `break` ends it.
        exit_flag: the name of the flag that a `break` sets; None if nothing sets it.
        keeps: whether names are bound after it however it ends, as in Warp.
        unset: names that are not bound at the end of some round.
        unset_at_break: names that are not bound at some `break`.
    """

    names: tuple[str, ...] = ()
    runs: bool = False
    ends: bool = True
    exit_flag: str | None = None
    keeps: bool = False
    unset: set[str] = msgspec.field(default_factory=set[str])
    unset_at_break: set[str] = msgspec.field(default_factory=set[str])

    @contextmanager
    def iteration(self, env: Env, loops: list[Loop], carried: Mapping[str, Operand]) -> Generator[None]:
        """Open the loop's body: its names are unset at first, with the values of the last iteration behind them.

        At its end, names that are unset are noted in `unset`, and get the values behind them.

        Args:
            env: local names to what they are now.
            loops: those that are being lowered; this one is the innermost inside.
            carried: the values of the names at the beginning of an iteration.
        """
        self.unset.clear()
        self.unset_at_break.clear()
        self.hide(env, carried)
        loops.append(self)
        try:
            yield
        finally:
            loops.pop()
        for name in self.names:
            operand = env[name]
            if isinstance(operand, Unset):
                self.unset.add(name)
                env[name] = operand.value

    def hide(self, env: Env, carried: Mapping[str, Operand]) -> None:
        """Unset the names, with these values behind them."""
        env.update((name, unset(name, carried.get(name, PENDING))) for name in self.names)

    def leaving(self, env: Env, out_of: str) -> None:
        """Note what is not bound where a `continue` ends a round, or a `break` the loop.

        `out_of` is "iteration", "loop" or "function"; a `return` needs no names.
        """
        missing = {n for n in self.names if isinstance(env.get(n), (Unset, NoneType))}
        if out_of == "iteration":
            self.unset.update(missing)
        elif out_of == "loop":
            self.unset_at_break.update(missing)

    def next(self, env: Env) -> None:
        """Unset, between two rounds of a loop that is unrolled, the names that some path has not bound."""
        for name in self.names:
            operand = env.get(name)
            if name in self.unset and not isinstance(operand, (NoneType, Unset, Poison)):
                env[name] = unset(name, operand)

    def after(self, env: Env) -> None:
        """Unset, after the loop, the names that some way through it has not bound."""
        for name in self.names:
            operand = env.get(name, PENDING)
            if isinstance(operand, Poison):
                continue
            known = not isinstance(operand, (Unset, Pending))
            at_breaks = known and name not in self.unset_at_break
            at_end = not self.ends or (self.runs and name not in self.unset)
            if not (at_breaks and at_end):
                value = operand.value if isinstance(operand, Unset) else operand
                if self.keeps and value is not PENDING:
                    env[name] = value
                    continue
                env[name] = unset(name, value, self.exit_flag if at_breaks else None)


def unset(name: str, value: Operand, hint: str | None = None) -> Unset:
    """Return the operand of a name that only a loop's body sets, which cannot be read.

    Args:
        name: the name.
        value: what it is on paths that have set it.
        hint: a flag: where that is set, the name is bound; None if there is none.
    """
    return Unset(f"{name} may be unbound here: it is set only inside the loop.", value, hint)


def read_first(statements: Sequence[ast.stmt]) -> tuple[set[str], set[str]]:
    """Return the names that statements may read before they have set them, and those that they surely set."""
    read, done = set[str](), set[str]()
    for node in statements:
        match node:
            case ast.If():
                (first, on_true), (second, on_false) = read_first(node.body), read_first(node.orelse)
                reading, surely = {*reads(node.test)} | first | second, on_true & on_false
            case ast.While():
                reading, surely = {*reads(node.test)} | read_first(node.body)[0], set[str]()
            case ast.For():
                inside = read_first(node.body)[0] - {n.id for n in nodes_of(node.target) if isinstance(n, ast.Name)}
                reading, surely = {*reads(node.iter)} | inside, set[str]()
            case _:
                stored = (n for n in nodes_of(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
                reading, surely = {*reads(node)}, {n.id for n in stored}
        read |= reading - done
        done |= surely
    return read, done
