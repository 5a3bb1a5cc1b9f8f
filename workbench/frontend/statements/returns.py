"""A function's statements to its end: early returns are structure.

Each side of an `if` that returns goes on to the function's end, where only one of them gets to what follows. Where both
may, what follows is lowered once, behind a flag: whether no `return` was reached. Loops have no `return` any more
(frontend/state/exits.py).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import msgspec

from workbench.errors import KernelTypeError, WorkbenchError
from workbench.frontend.expressions.expression_table import expression
from workbench.frontend.names.results import as_said
from workbench.frontend.state.coerce import describe, truth, usable
from workbench.frontend.state.context import Context, Env
from workbench.frontend.state.exits import all_end, answer, in_groups
from workbench.frontend.state.merge import Branches, assigned, branch_values, same, stays
from workbench.frontend.state.operands import (
    PENDING,
    POISON,
    AlreadyReported,
    Elements,
    Operand,
    Pending,
    Poison,
    Returned,
)
from workbench.frontend.statements.statement_table import guarded, join, statement
from workbench.frontend.statements.trace import mark
from workbench.frontend.values import structs, views
from workbench.ir.values import Block, Value
from workbench.source import statements_of
from workbench.types import bool as bool_

RESULT = "The returned value"
GOES_ON = "no return yet"


class Ended(msgspec.Struct, frozen=True):
    """The end of statements: reached, returned, or left.

    Attributes:
        value: what they return; pending where no `return` was reached.
        goes_on: whether what follows them is reached: known now, or a bool that the run computes.
    """

    value: Operand | None
    goes_on: bool | Value = False


def body(context: Context, statements: Sequence[ast.stmt]) -> Returned:
    """Lower a function's statements to the end or to a `return`; what comes after a `return` is unreachable."""
    return Returned(_run(context, statements, True).value)


def _run(context: Context, statements: Sequence[ast.stmt], last: bool) -> Ended:
    """Lower statements; `last`: their end is the function's."""
    groups = in_groups(statements, _returns, _is_the_end)
    ended = Ended(PENDING, True)
    for number, group in enumerate(groups, 1):
        final = last and number == len(groups)
        if ended.goes_on is True:
            ended = _group(context, group, final)
        elif ended.goes_on is not False:
            sides = group, Ended(ended.value)
            ended = _parted(context, ended.goes_on, sides, "no return was reached", final)
    return ended


def _group(context: Context, statements: Sequence[ast.stmt], last: bool) -> Ended:
    """Lower statements as `_run` does, where so few of them return that their branches may nest."""
    for position, node in enumerate(statements):
        if isinstance(node, ast.Return):
            return Ended(_returned(context, node))
        if isinstance(node, ast.If) and _returns(node):
            rest = statements[position + 1 :]
            ended = guarded(context, node, lambda s=node, r=rest: _returning_if(context, s, r, last))
            return ended or Ended(POISON)
        guarded(context, node, lambda s=node: statement(context, s))
    if last and context.caller is None:
        mark(context, None)
    return Ended(None) if last else Ended(PENDING, True)


def _returned(context: Context, node: ast.Return) -> Operand | None:
    with context.at(node):
        mark(context, node)
    if node.value is None:
        return None
    try:
        with context.at(node):
            return as_said(context, expression(context, node.value))
    except AlreadyReported:
        return POISON
    except WorkbenchError as error:
        context.shared.errors.append(context.placed(error))
        return POISON


def _returning_if(context: Context, node: ast.If, rest: Sequence[ast.stmt], last: bool) -> Ended:
    """Lower an `if` with a `return` inside, and the statements that follow it."""
    condition = truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        return _run(context, [*(node.body if condition else node.orelse), *rest], last)
    if not rest or _always_returns(node.body) or _always_returns(node.orelse):
        return _parted(context, condition, ([*node.body, *rest], [*node.orelse, *rest]), node.test, last)
    ended = _parted(context, condition, (node.body, node.orelse), node.test, False)
    if isinstance(ended.goes_on, bool):
        return _run(context, rest, last) if ended.goes_on else ended
    return _parted(context, ended.goes_on, (rest, Ended(ended.value)), "no return was reached", last)


def _parted(
    context: Context, condition: Value, sides: tuple[Sequence[ast.stmt] | Ended, ...], test: ast.expr | str, last: bool
) -> Ended:
    """Lower both sides of an `if` and merge them where they meet; a side that is an `Ended` has nothing to do.

    Args:
        context: where.
        condition: of the `if`.
        sides: the statements where it holds, and where it does not.
        test: the condition as messages show it.
        last: whether the end of the statements is the function's.
    """
    before = dict(context.env)
    ends: list[Ended] = []
    envs: list[Env] = []
    blocks: list[Block] = []
    flags: list[Operand] = []
    for side in sides:
        context.env.clear()
        context.env.update(before)
        with context.builder.block() as opened:
            ended = side if isinstance(side, Ended) else _run(context, side, last)
            goes_on = ended.goes_on
            flags.append(context.builder.const(goes_on, bool_) if isinstance(goes_on, bool) else goes_on)
        ends.append(ended)
        envs.append({} if goes_on is False else dict(context.env))
        blocks.append(opened.block)
    context.env.clear()
    context.env.update(before)
    branches = Branches()
    if any(envs):
        names = assigned([s for side in sides if not isinstance(side, Ended) for s in side])
        touched = structs.with_fields([n for n in names if any(n in env for env in envs)], *envs)
        branches = branch_values(context, touched, envs, test, (not envs[0], not envs[1]))
    known = ends[0].goes_on if ends[0].goes_on is ends[1].goes_on else None
    if known is None:
        branches.to_join[GOES_ON] = flags[0], flags[1]
    form, leaves = _leaves(context, ends[0].value, ends[1].value, branches)
    join(context, condition, blocks, branches)
    goes_on = known if known is not None else branches.after.pop(GOES_ON)
    parts = [branches.after.pop(leaf) if isinstance(leaf, str) else leaf for leaf in leaves]
    context.env.update(branches.after)
    assert isinstance(goes_on, (bool, Value))
    return Ended(form and structs.rebuilt(form, parts), goes_on)


def _leaves(
    context: Context, a: Operand | None, b: Operand | None, branches: Branches
) -> tuple[Operand | None, list[Operand | str]]:
    """Merge the results of two paths leaf by leaf: return one side's form, and for each leaf itself or its merged name.

    Raises:
        KernelTypeError: they return different numbers of values, different structs, or arrays.
    """
    flat = [[] if side is None else structs.flatten(side) for side in (a, b)]
    if any(isinstance(o, Poison) for side in flat for o in side):
        return POISON, [POISON]
    if isinstance(a, Pending) or isinstance(b, Pending):
        form = b if isinstance(a, Pending) else a
        flat = [[PENDING] * len(flat[1]), flat[1]] if isinstance(a, Pending) else [flat[0], [PENDING] * len(flat[0])]
    elif not context.inside and any(flat):  # a kernel: that it returns anything is the error
        return (a, [*flat[0]]) if flat[0] else (b, [*flat[1]])
    else:
        form = _alike(context, a, b)
    leaves: list[Operand | str] = []
    for number, (left, right) in enumerate(zip(*flat, strict=True)):
        known = left if isinstance(right, Pending) else right
        apart = not same(left, right)
        if not apart or ((left is PENDING or right is PENDING) and stays(known)):
            leaves.append(known)
            continue
        if any(views.is_array(o) or isinstance(o, Elements) for o in (left, right)):
            message = f"{context.definition.name} returns an array on a path that depends on a condition."
            raise context.error(KernelTypeError, message, "Return its elements, or let the caller choose between them.")
        name = f"{RESULT} {number}"
        branches.to_join[name] = _known(context, left), _known(context, right)
        leaves.append(name)
    return form, leaves


def _alike(context: Context, a: Operand | None, b: Operand | None) -> Operand | None:
    """Return the form of what two paths return: one side, which stands for both.

    Raises:
        KernelTypeError: they return different numbers of values, or values of two forms.
    """
    shapes = [len(side) if isinstance(side, tuple) else int(side is not None) for side in (a, b)]
    name = context.definition.name
    if shapes[0] != shapes[1]:
        c, d = (f"{n} value{'s' * (n != 1)}" if n else "nothing" for n in shapes)
        message = f"{name} returns {c} on one path and {d} on another."
        raise context.error(KernelTypeError, message, "End each path with a return of the same number of values.")
    if a is not None and b is not None and structs.form(a) != structs.form(b):
        shown_ = [", ".join(map(describe, side if isinstance(side, tuple) else (side,))) for side in (a, b)]
        raise context.error(KernelTypeError, f"{name} returns {shown_[0]} on one path and {shown_[1]} on the other.")
    return a


def _known(context: Context, operand: Operand) -> Operand:
    return operand if isinstance(operand, Pending) else usable(context, operand)


def _returns(node: ast.AST) -> bool:
    """Return whether a `return` stands in a statement."""
    if not isinstance(node, ast.If):
        return any(isinstance(n, ast.Return) for n in statements_of(node))
    return answer(node, "may_return", lambda: any(map(_returns, [*node.body, *node.orelse])))


def _always_returns(statements: Sequence[ast.stmt]) -> bool:
    return all_end(statements, _is_the_end)


def _is_the_end(node: ast.stmt) -> bool:
    if not isinstance(node, ast.If):
        return isinstance(node, ast.Return)
    return answer(node, "must_return", lambda: _always_returns(node.body) and _always_returns(node.orelse))
