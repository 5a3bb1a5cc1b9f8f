"""Ways out of statements (`break`, `continue`, `return`), and what the names of a loop are after it.

The IR has structured loops and branches only. A way out is lowered where it stands (statements/control_flow.py): a
`break` sets the flag of its loop, a `return` in a loop also stores its values in names, and the loop's own code tests
the flag. Names of flags have a dot in them: no user's name has. What ways out there are, and what follows a loop, is
read from the syntax tree.

Merges of paths: two branches, or a loop's end and its beginning, agree on the value of each name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import msgspec

from workbench.builtins.declaration.rules import Weak, common_type
from workbench.errors import WorkbenchError
from workbench.frontend.state import operands
from workbench.frontend.state.coerce import default_type, describe, weak
from workbench.frontend.state.context import Context, Env
from workbench.frontend.state.definition import reads
from workbench.frontend.state.operands import Literal, Operand, Parts, Pending, Poison, Static, Unset, View
from workbench.ir.values import Value
from workbench.limits import NESTED_EXITS
from workbench.source import blocks_of, located, nodes_of
from workbench.types import ArrayType, Kind, Type, element, int64

RETURNED = "returned.0"
"""The name of the flag of a return in a loop; no field of a user's struct begins with a digit."""
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


RETURNS_A_VALUE = (
    "What a return inside a loop gives must be a number, a vector or a struct, or several of them written out."
)


def assigned(statements: Sequence[ast.stmt]) -> list[str]:
    """Return names that the statements may bind: those of the first statement first, outer ones before inner ones."""
    return list(dict.fromkeys(name for s in statements for level in _bound(s) for name in level))


def _bound(node: ast.AST) -> list[list[str]]:
    """Return the names that a node binds, by depth below it.

    They are stored on statements, since each of the statements around needs them.
    """
    known: list[list[str]] | None = getattr(node, "_bound", None)
    if known is not None or isinstance(node, (ast.GeneratorExp, ast.ListComp)):  # whose names are its own
        return known or [[]]
    levels = [[name] if (name := _target(node)) is not None else []]
    for child in ast.iter_child_nodes(node):
        # Load(), Add(), numbers and names that are read: most of a tree.
        if not child._fields or isinstance(child, ast.Constant):
            continue
        if isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Store):
            continue
        for depth, names in enumerate(_bound(child), 1):
            if depth == len(levels):
                levels.append([])
            levels[depth] += names
    seen: dict[str, None] = {}
    for depth, names in enumerate(levels):
        levels[depth] = [n for n in dict.fromkeys(names) if n not in seen]
        seen.update(dict.fromkeys(names))
    while not levels[-1] and len(levels) > 1:
        levels.pop()
    if isinstance(node, ast.stmt):
        node._bound = levels  # type: ignore[attr-defined]
    return levels


def _target(node: ast.AST) -> str | None:
    """Return the name that this node alone binds or changes, `v` of `v.x = …`; None if there is none."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else None
    if not isinstance(node, (ast.Attribute, ast.Subscript)) or not isinstance(node.ctx, ast.Store):
        return None
    root: ast.AST = node.value
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return root.id if isinstance(root, ast.Name) else None  # v.x = …, v[0] = …, p.v.x = … rebind v or p


def is_ours(name: str) -> bool:
    """Return whether a name with a space or dots was made up in lowering, and is no field of a user's struct."""
    return " " in name or name.startswith("returned.value.") or name.rpartition(".")[2].isdigit()


def is_part(name: str) -> bool:
    """Return whether a name is of an element of a tuple, or of an index of a part of an array (`structs.spread`)."""
    return "." in name and re.search(r"\.\d+[ei]$", name) is not None


def is_index_name(name: str) -> bool:
    """Return whether a name is of an index of a part of an array, which is of 64 bits where two kinds meet."""
    return name.endswith("i") and re.search(r"\.\d+i$", name) is not None


def shown(name: str) -> str:
    """Return a name as messages write it: `p[0]` of an element of the tuple p."""
    return re.sub(r"\.(\d+)e\b", r"[\1]", name)


def is_same(a: Operand, b: Operand) -> bool:
    """Return whether two operands are one and the same, so that nothing needs to be joined."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(is_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Parts):
        return a == b
    if isinstance(a, View) and isinstance(b, View):
        return a.array is b.array and a.subscripts == b.subscripts
    return a is b or (isinstance(a, (Literal, Static)) and a == b and type(getattr(a, "value", 0)) is type(b.value))  # type: ignore[union-attr]


def joined_type(context: Context, name: str, a: Operand, b: Operand) -> Type | None:
    """Return the type of `name` where two paths meet; None if a tuple or a Python object stands on one side.

    Raises:
        KernelTypeError: the paths give it types that do not agree.
    """
    if isinstance(a, Pending) or isinstance(b, Pending):
        known = b if isinstance(a, Pending) else a
        return known.type if isinstance(known, Value) else default_type(known) if isinstance(known, Literal) else None
    if not isinstance(a, (Value, Literal)) or not isinstance(b, (Value, Literal)):
        return None
    known = weak(a), weak(b)
    decided = [t for t in known if not isinstance(t, Weak)]
    if len(decided) == 2:
        if decided[0] != decided[1] and is_index_name(name):
            return int64
        if decided[0] != decided[1]:
            raise _disagree(context, name, a, b)
        return decided[0]
    met = common_type("join", known)
    if decided and (met != decided[0] or element(met).kind is Kind.BOOL):
        raise _disagree(context, name, a, b)
    return met


def _disagree(context: Context, name: str, a: Operand, b: Operand) -> Exception:
    """Return the error for a name whose types differ where two paths meet; `a` and `b` are its values on them."""
    if name.startswith("break."):
        return at_different_times(context)
    if is_ours(name):  # what the function returns
        return context.type_error(
            f"{context.definition.name} returns {describe(a)} on one path and {describe(b)} on the other.",
            "Return one type everywhere: return float(…).",
        )
    return context.type_error(
        f"{shown(name)} is {describe(a)} on one path and {describe(b)} on the other.",
        f"Give {name} one type before the paths part: {name} = float(…).",
    )


def at_different_times(context: Context) -> WorkbenchError:
    """Return the error for a way out of a loop that depends on the thread, where the loop works on tiles."""
    return context.type_error(
        "Threads of a block may leave this loop, or an iteration of it, at different times; it works on tiles.",
        "Decide by a number of the block, such as tile_max(…) > 0.",
    )


def _joins(operand: Operand) -> bool:
    """Return whether an `if` can yield an operand: a number, vector or tile, not an array, a tuple or a function."""
    if isinstance(operand, Value):
        return not isinstance(operand.type, ArrayType)
    return isinstance(operand, (Literal, Pending))


class Branches(msgspec.Struct):
    """The names after an `if`.

    Attributes:
        after: where no value has to be joined.
        to_join: the names whose values have to be, with what they are on both sides.
        unset: those among all these that no path has surely set, with the reason: their values are for loops alone.
    """

    after: Env = msgspec.field(default_factory=dict[str, Operand])
    to_join: dict[str, tuple[Operand, Operand]] = msgspec.field(default_factory=dict[str, tuple[Operand, Operand]])
    unset: dict[str, str] = msgspec.field(default_factory=dict[str, str])


def _shown(test: ast.expr | str) -> str:
    """Return a condition as a message shows it."""
    if isinstance(test, str):
        return test
    if any(isinstance(n, ast.Name) and "." in n.id for n in nodes_of(test)):
        return "the loop was not left"
    text = ast.unparse(test)
    return text if len(text) <= 40 else "the condition"


def branch_values(
    context: Context,
    names: Sequence[str],
    envs: Sequence[Env],
    test: ast.expr | str,
    leaving: tuple[bool, bool] = (False, False),
) -> Branches:
    """Merge the names of two paths where these meet.

    A name bound on one path only is unset afterwards: reading it says so. Where the other path does not come to its end
    (it has left the round of a loop) the name is bound.

    Args:
        context: where.
        names: those that either side may bind.
        envs: what names are at the ends of both sides.
        test: on what it depends; a text where that is no expression of the user's.
        leaving: which sides do not come to their ends.
    """
    branches = Branches()
    handed_on = context.loops[-1].names if context.loops else ()
    for name in names:
        a, b = (env.get(name) for env in envs)
        if isinstance(a, Poison) or isinstance(b, Poison):
            branches.after[name] = operands.POISON
        elif a is None or b is None or isinstance(a, Unset) or isinstance(b, Unset):
            bound = any(_is_bound(o) and leaving == gone for o, gone in ((a, (False, True)), (b, (True, False))))
            # In Warp a name that is unbound has some value, as in C++: programs that never use it there may go on.
            bound = bound or (
                context.shared.warp_meanings and (_behind(a), _behind(b)) != (operands.PENDING, operands.PENDING)
            )
            if not bound:
                where = "holds" if b is None else "does not hold"
                unset = a if isinstance(a, Unset) else b
                branches.unset[name] = (
                    unset.reason
                    if isinstance(unset, Unset) and a is not None and b is not None
                    else f"{name} may be unbound here: it is set only if {_shown(test)} {where}."
                )
            pair = _behind(a), _behind(b)
            is_bound = bound or name in handed_on or pair[0] is pair[1]
            _merge_name(branches, name, pair if is_bound else (operands.PENDING, operands.PENDING), test)
        else:
            _merge_name(branches, name, (a, b), test)
    return branches


def stays(operand: Operand) -> bool:
    """Return whether an operand means the same outside of a block: it is nothing that the block has computed."""
    return isinstance(operand, (Literal, Static, Parts)) or (
        isinstance(operand, Value) and isinstance(operand.type, ArrayType)
    )


def _is_bound(operand: Operand | None) -> bool:
    """Return whether a name has a value on a path: it is there, and not `Unset`."""
    return operand is not None and not isinstance(operand, Unset)


def _behind(operand: Operand | None) -> Operand:
    """Return the value of a name, also of one that no path has surely set."""
    return operands.PENDING if operand is None else operand.value if isinstance(operand, Unset) else operand


def _merge_name(branches: Branches, name: str, pair: tuple[Operand, Operand], test: ast.expr | str) -> None:
    """Note in `branches.after` what a name is behind two paths, or in `branches.to_join` that a value joins the two.

    Args:
        branches: the result so far.
        name: the name.
        pair: its operands at the ends of the paths.
        test: the condition of the branch, for messages.
    """
    a, b = pair
    known = next((o for o in pair if not isinstance(o, Pending)), operands.PENDING)
    if is_same(a, b):
        branches.after[name] = a
    elif (a is operands.PENDING or b is operands.PENDING) and stays(known):
        branches.after[name] = known
    elif _joins(a) and _joins(b):
        branches.to_join[name] = pair
    elif is_ours(name):
        branches.after[name] = Unset(RETURNS_A_VALUE)
    else:
        reason = f"{shown(name)} is {describe(a)} or {describe(b)} here, depending on {_shown(test)}."
        branches.after[name] = Unset(reason)
