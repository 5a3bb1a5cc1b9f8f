"""Statements: one function per kind of statement, found in a table; and `if` with everything that may return inside.

A statement with an error is reported and skipped, with the names it would have bound poisoned, so that one cell's
errors all come at once and none comes twice.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from workbench.errors import KernelSyntaxError, KernelTypeError, WorkbenchError
from workbench.frontend.expressions import calls, lvalues
from workbench.frontend.expressions.expression_table import expression
from workbench.frontend.expressions.unsupported_syntax import REFUSED
from workbench.frontend.names import python_names
from workbench.frontend.names.annotate import parameter_type
from workbench.frontend.names.results import as_said
from workbench.frontend.state.coerce import convert, truth, usable
from workbench.frontend.state.context import Context
from workbench.frontend.state.exits import Give, Leave, denied, flag_set, fresh_copy
from workbench.frontend.state.loop_scope import Env
from workbench.frontend.state.merge import Branches, assigned, branch_values, is_part, joined_type
from workbench.frontend.state.operands import (
    PENDING,
    POISON,
    AlreadyReported,
    Elements,
    Operand,
    Static,
    Unset,
    value_of,
)
from workbench.frontend.statements import iterate, loops
from workbench.frontend.statements.trace import mark
from workbench.frontend.tiles import elementwise, lanes, part_copies
from workbench.frontend.values import structs, views
from workbench.ir.attributes import MESSAGE
from workbench.ir.values import Block, Value
from workbench.limits import NESTED_EXITS
from workbench.structs import AnyType
from workbench.types import ArrayType, Type
from workbench.types import bool as bool_


def guarded(context: Context, statement: ast.stmt, lower: Callable[[], Any]) -> Any:
    """Lower a statement by `lower`, and return what that does.

    Of an error, None is returned: it is noted, and the names that the statement binds are poisoned, so that their uses
    report nothing.
    """
    try:
        with context.at(statement):
            mark(context, statement)
            return lower()
    except AlreadyReported:
        pass
    except WorkbenchError as error:
        context.shared.errors.append(context.placed(error))
    for name in assigned([statement]):
        before = context.env.get(name)
        if before is None or not (views.is_array(before) or isinstance(before, Elements)):  # x[i] = … does not bind x
            context.env[name] = POISON
    return None


def statement(context: Context, node: ast.stmt) -> None:
    """Lower one statement.

    Raises:
        WorkbenchError, AlreadyReported: what is wrong with it.
    """
    lower = LOWER.get(type(node))
    if lower is None:
        message, advice = REFUSED.get(type(node), (f"{type(node).__name__} is not in the kernel language.", ""))
        raise context.error(KernelSyntaxError, message, advice)
    if context.shared.tiling is None:
        lower(context, node)
        return
    for part in (parts := lanes.split(context, node)):
        statement(context, part)
    if parts:
        return
    node, names_ = elementwise.hoisted(context, node, expression)
    if elementwise.wants_lifting(context, node):
        elementwise.statement(context, node, lower)
    else:
        lower(context, node)
    for name in names_:
        del context.env[name]


def _assign(context: Context, node: ast.Assign) -> None:
    count = len(node.targets[0].elts) if isinstance(node.targets[0], ast.Tuple) else 1
    result = _thread_indices(context, node.value, count)
    if result is None:
        result = expression(context, node.value)
    if result == () and isinstance(node.value, ast.Call) and not isinstance(node.targets[0], ast.Name):
        with context.at(node.value):  # not at the target, which takes numbers
            usable(context, result)
    for target in node.targets:
        lvalues.assign(context, target, result)


def _thread_indices(context: Context, node: ast.expr, count: int) -> Operand | None:
    """Lower `i, j = tid()`, where only the target shows how many indices are meant; None of any other statement."""
    if count < 2 or not isinstance(node, ast.Call) or node.args:
        return None
    callee = expression(context, node.func)
    if isinstance(callee, Static) and python_names.callee_name(callee.value) == "tid":
        with context.at(node):
            return calls.thread_index(context, node, count)
    return None


def _annotated(context: Context, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name):
        raise context.error(KernelSyntaxError, "Only a name takes an annotation in a kernel.")
    if node.value is None:
        return  # to Python it says no more than that the name is the function's own
    wanted = _annotation(context, node.annotation)
    result = expression(context, node.value)
    if wanted is not None:
        result = structs.fitted(context, result, wanted, node.target.id)
    lvalues.assign(context, node.target, result)


def _annotation(context: Context, node: ast.expr) -> AnyType | None:
    operand = expression(context, node)
    if not isinstance(operand, Static):
        raise context.error(KernelTypeError, f"{ast.unparse(node)} is not a type.")
    return parameter_type(operand.value, ast.unparse(node), context.builder.location, context.definition.name)


def _expression(context: Context, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return
    result = expression(context, node.value)
    if not isinstance(node.value, ast.Call) and isinstance(result, (Value, Static)):
        equal = isinstance(node.value, ast.Compare) and isinstance(node.value.ops[0], ast.Eq)
        advice = "Write = to assign: == compares." if equal else "Assign it to a name."
        raise context.error(KernelSyntaxError, "This line computes a value and discards it.", advice)


def _pass(context: Context, node: ast.Pass) -> None:
    return


def _return_in_loop(context: Context, node: ast.Return) -> None:
    raise context.error(
        KernelSyntaxError,
        "This return inside a loop returns a different number of values than the one before.",
        "Return the same number of values everywhere, written out.",
    )


def _if(context: Context, node: ast.If) -> None:
    links = [node]
    while len(links[-1].orelse) == 1 and isinstance(links[-1].orelse[0], ast.If):
        links.append(links[-1].orelse[0])
    if len(links) > NESTED_EXITS:
        _long_chain(context, links)
    else:
        _one_if(context, node)


def _long_chain(context: Context, links: list[ast.If]) -> None:
    """Lower a chain of many `elif` in groups: a group does not nest in the one before, but stands behind a flag."""
    flag = f"else.{links[0].lineno}.{links[0].col_offset}"
    context.env[flag] = context.builder.const(False, bool_)
    start, names_ = dict(context.env), assigned(links[:1])
    for first in range(0, len(links), NESTED_EXITS):
        group = [fresh_copy(link) for link in links[first : first + NESTED_EXITS]]
        for link, inner in pairwise(group):
            link.orelse = [inner]
        if group[-1].orelse and first + NESTED_EXITS < len(links):
            group[-1].orelse = [flag_set(flag, group[-1])]
            group[-1].left = (group[-1].left[0], True)  # type: ignore[attr-defined]
        condition, ended = context.env[flag], dict(context.env)
        context.env.clear()
        context.env.update(start)
        if first == 0:
            _one_if(context, group[0])
            continue
        with context.builder.block() as then:
            _statements(context, group[:1])
        envs = [dict(context.env), ended | {flag: start[flag]}]
        context.env.clear()
        context.env.update(start)
        touched = structs.with_fields([n for n in [flag, *names_] if any(n in env for env in envs)], *envs)
        branches = branch_values(context, touched, envs, "one of the conditions before")
        with context.builder.block() as orelse:
            pass
        join(context, value_of(condition), [then.block, orelse.block], branches)
        context.env.update(branches.after)
    del context.env[flag]


def _one_if(context: Context, node: ast.If) -> None:
    condition = truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        _statements(context, node.body if condition else node.orelse)
        return
    before = dict(context.env)
    envs, blocks = list[Env](), list[Block]()
    flag = denied(node.test)
    for side in (node.body, node.orelse):
        context.env.clear()
        context.env.update(before)
        if flag and side is node.orelse:
            context.env.update((n, o.value) for n, o in before.items() if isinstance(o, Unset) and o.given == flag)
        with context.builder.block() as opened:
            _statements(context, side)
        envs.append(dict(context.env))
        blocks.append(opened.block)
    context.env.clear()
    context.env.update(before)
    touched = [n for n in assigned([*node.body, *node.orelse]) if n in envs[0] or n in envs[1]]
    touched = structs.with_fields(touched, *envs)
    branches = branch_values(context, touched, envs, node.test, getattr(node, "left", (False, False)))
    join(context, condition, blocks, branches)
    context.env.update(branches.after)


def _leave(context: Context, node: Leave) -> None:
    """Lower a `break` or `continue`: set its flags."""
    context.loops[-1].left(context.env, node.out_of)
    _assign(context, node)


def _give(context: Context, node: Give) -> None:
    """Lower a `return` in a loop: store its values."""
    lvalues.assign(context, node.targets[0], as_said(context, expression(context, node.value)))


def join(context: Context, condition: Value, blocks: Sequence[Block], branches: Branches) -> None:
    """Emit the `if` whose blocks yield what has to be joined, and put the results into `branches.after`."""
    types: dict[str, Type] = {}
    for name, pair in branches.to_join.items():
        try:
            type = joined_type(context, name, *pair)
            assert type is not None and not isinstance(type, ArrayType)
            types[name] = type
        except WorkbenchError as error:
            branches.after[name] = PENDING if name in branches.unset else POISON
            if is_part(name):  # of a tuple that may be another one before it is read
                branches.after[name] = Unset(error.message)
            elif name not in branches.unset:  # else it is not read
                context.shared.errors.append(error)
    done: list[Block] = []
    for side, block in enumerate(blocks):
        with context.builder.block() as opened:
            context.builder.extend(block.ops)
            context.builder.yield_(*(convert(context, branches.to_join[n][side], t) for n, t in types.items()))
        done.append(opened.block)
    labels = [v.name if " " in n else n for n, v in zip(types, done[0].yielded, strict=True)]
    op = context.builder.emit("if", (condition,), list(types.values()), None, done, labels)
    for name, result in zip(types, op.results, strict=True):
        branches.after[name] = result
        for operand in branches.to_join[name]:
            part_copies.follow(context, operand, result)
    for name, reason in branches.unset.items():
        value = branches.after[name]
        branches.after[name] = value if isinstance(value, Unset) else Unset(reason, value)


def _for(context: Context, node: ast.For) -> None:
    iterate.for_loop(context, node, expression, _statements)


def _while(context: Context, node: ast.While) -> None:
    loops.while_loop(context, node, expression, _statements)


def _statements(context: Context, statements: Sequence[ast.stmt]) -> None:
    for node in statements:
        guarded(context, node, lambda s=node: statement(context, s))


def _assert(context: Context, node: ast.Assert) -> None:
    """Emit the assertion, which only code with checks tests; nothing for one that always holds."""
    message = node.msg
    if message is not None and not (isinstance(message, ast.Constant) and isinstance(message.value, str)):
        with context.at(message):
            raise context.error(
                KernelSyntaxError,
                "The message of an assert is a plain string.",
                "Leave values out: a KernelFault shows what was compared.",
            )
    if isinstance(node.test, ast.Tuple):
        raise context.error(
            KernelSyntaxError, "This assert tests a tuple, which always holds.", 'Write assert condition, "message".'
        )
    condition = truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        if condition:
            return
        condition = context.builder.const(False, bool_)
    text = message.value if isinstance(message, ast.Constant) else ""
    with context.at(node.test):
        context.builder.emit("assert", (condition,), (), {MESSAGE: text})


LOWER: dict[type[ast.stmt], Callable[[Context, Any], None]] = {
    ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: lvalues.augment, ast.Expr: _expression,
    ast.Pass: _pass, ast.If: _if, ast.For: _for, ast.While: _while, ast.Return: _return_in_loop, ast.Assert: _assert,
    Leave: _leave, Give: _give,
}  # fmt: skip
