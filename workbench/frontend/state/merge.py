"""Merges of paths: two branches, or a loop's end and its beginning, agree on the value of each name."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import msgspec

from workbench.builtins.declaration.rules import Weak, common_type
from workbench.errors import WorkbenchError
from workbench.frontend.state import operands
from workbench.frontend.state.coerce import default_type, describe, weak
from workbench.frontend.state.context import Context, Env
from workbench.frontend.state.operands import Literal, Operand, Parts, Pending, Poison, Static, Unset, View
from workbench.ir.values import Value
from workbench.source import nodes_of
from workbench.types import ArrayType, Kind, Type, element, int64

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
