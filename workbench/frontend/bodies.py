"""Statements: one function a kind, found in a table; and `if` with everything that may return inside.

A statement with an error is reported and skipped, with the names it would have bound poisoned, so that one cell's
errors all come at once and none comes twice.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from workbench.errors import KernelSyntaxError, KernelTypeError, WorkbenchError
from workbench.frontend import calls, iterate, loops, names, structs, targets, tile_lanes, views
from workbench.frontend.annotate import parameter_type
from workbench.frontend.asserts import lower_assert
from workbench.frontend.coerce import convert, describe, truth, usable
from workbench.frontend.context import Context, Env
from workbench.frontend.expressions import expression
from workbench.frontend.joins import assigned, branch_values, joined_type
from workbench.frontend.operands import (
    POISON,
    AlreadyReported,
    Bundle,
    Elements,
    Operand,
    Pending,
    Poison,
    Returned,
    Static,
)
from workbench.frontend.refusals import REFUSED
from workbench.frontend.results import as_said
from workbench.frontend.tentative import spread
from workbench.frontend.trace import mark
from workbench.ir.values import Block, Value
from workbench.structs import AnyType
from workbench.types import ArrayType, Type

MAX_COPIES = 4


def body(context: Context, statements: Sequence[ast.stmt]) -> Returned:
    """Lower statements to the end or to a `return`; what comes after a `return` is unreachable."""
    for position, statement in enumerate(statements):
        if isinstance(statement, ast.Return):
            return Returned(_returned(context, statement))
        if isinstance(statement, ast.If) and _returns(statement):
            rest = statements[position + 1 :]
            result = guarded(context, statement, lambda s=statement, r=rest: _returning_if(context, s, r))
            return result or Returned(None)
        guarded(context, statement, lambda s=statement: _statement(context, s))
    if context.caller is None:
        mark(context, None)
    return Returned(None)


def guarded(context: Context, statement: ast.stmt, lower: Callable[[], Any]) -> Any:
    """Run `lower`; note an error and poison what the statement binds."""
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


def _returns(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return) for n in ast.walk(node))


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


def _statement(context: Context, node: ast.stmt) -> None:
    lower = LOWER.get(type(node))
    if lower is None:
        message, advice = REFUSED.get(type(node), (f"{type(node).__name__} is not in the kernel language.", ""))
        raise context.error(KernelSyntaxError, message, advice)
    node, names_ = tile_lanes.hoisted(context, node, expression)
    if tile_lanes.wants_lifting(context, node):
        tile_lanes.statement(context, node, lower)
    else:
        lower(context, node)
    for name in names_:
        del context.env[name]


def _assign(context: Context, node: ast.Assign) -> None:
    count = len(node.targets[0].elts) if isinstance(node.targets[0], ast.Tuple) else 1
    result = _thread_indices(context, node.value, count)
    if result is None:
        result = expression(context, node.value)
    for target in node.targets:
        targets.assign(context, target, result)


def _thread_indices(context: Context, node: ast.expr, count: int) -> Operand | None:
    """`i, j = tid()`: how many indices are meant shows only here."""
    if count < 2 or not isinstance(node, ast.Call) or node.args:
        return None
    callee = expression(context, node.func)
    if isinstance(callee, Static) and names.callee_name(callee.value) == "tid":
        with context.at(node):
            return calls.thread_index(context, node, count)
    return None


def _annotated(context: Context, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name):
        raise context.error(KernelSyntaxError, "Only a name takes an annotation in a kernel.")
    if node.value is None:
        raise context.error(KernelSyntaxError, f"{node.target.id} gets a type but no value.", "Write the value too.")
    wanted = _annotation(context, node.annotation)
    result = expression(context, node.value)
    if wanted is not None:
        result = structs.fitted(context, result, wanted, node.target.id)
    targets.assign(context, node.target, result)


def _annotation(context: Context, node: ast.expr) -> AnyType | None:
    operand = expression(context, node)
    if not isinstance(operand, Static):
        raise context.error(KernelTypeError, f"{ast.unparse(node)} is no type.")
    return parameter_type(operand.value, ast.unparse(node), context.builder.location, context.definition.name)


def _expression(context: Context, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return
    result = expression(context, node.value)
    if not isinstance(node.value, ast.Call) and isinstance(result, (Value, Static)):
        equal = isinstance(node.value, ast.Compare) and isinstance(node.value.ops[0], ast.Eq)
        advice = "Write = to assign: == compares." if equal else "Assign it to a name."
        raise context.error(KernelSyntaxError, "This line computes a value and drops it.", advice)


def _pass(context: Context, node: ast.Pass) -> None:
    return


def _return_in_loop(context: Context, node: ast.Return) -> None:
    raise context.error(
        KernelSyntaxError, "This return inside a loop gives another number of values than the one before.",
        "Return as many values everywhere, written out.",
    )  # fmt: skip


def _if(context: Context, node: ast.If) -> None:
    condition = truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        for statement in node.body if condition else node.orelse:
            guarded(context, statement, lambda s=statement: _statement(context, s))
        return
    before = dict(context.env)
    envs, blocks = [], []
    for side in (node.body, node.orelse):
        context.env.clear()
        context.env.update(before)
        with context.builder.block() as opened:
            for statement in side:
                guarded(context, statement, lambda s=statement: _statement(context, s))
        envs.append(dict(context.env))
        blocks.append(opened.block)
    context.env.clear()
    context.env.update(before)
    touched = [n for n in assigned([*node.body, *node.orelse]) if n in envs[0] or n in envs[1]]
    touched = structs.with_fields(touched, *envs)
    after, to_join = branch_values(context, touched, envs[0], envs[1], _shown(node.test))
    _join(context, condition, blocks, envs, to_join, after)
    context.env.update(after)


def _shown(test: ast.expr) -> str:
    if any(isinstance(n, ast.Name) and "." in n.id for n in ast.walk(test)):
        return "the loop was not left"
    text = ast.unparse(test)
    return text if len(text) <= 40 else "the condition"


def _join(
    context: Context, condition: Value, blocks: list[Block], envs: list[Env], names_: list[str], after: Env
) -> None:
    """Emit the `if` whose blocks yield the joined names."""
    types: dict[str, Type] = {}
    for name in names_:
        try:
            found = joined_type(context, name, envs[0][name], envs[1][name])
            assert found is not None and not isinstance(found, ArrayType)
            types[name] = found
        except WorkbenchError as error:
            context.shared.errors.append(error)
            after[name] = POISON
    done = []
    for block, env in zip(blocks, envs, strict=True):
        with context.builder.block() as opened:
            for op in block.ops:
                context.builder.append(op)
            context.builder.yield_(*(convert(context, env[n], t) for n, t in types.items()))
        done.append(opened.block)
    op = context.builder.emit("if", (condition,), list(types.values()), None, done, list(types))
    after.update(zip(types, op.results, strict=True))
    for name, result in zip(types, op.results, strict=True):
        spread(context, "where", [env[name] for env in envs], result)


def _returning_if(context: Context, node: ast.If, rest: Sequence[ast.stmt]) -> Returned:
    """An `if` with a `return` inside: each side goes on to the end of the function."""
    condition = truth(context, expression(context, node.test))
    if isinstance(condition, bool):
        return body(context, [*(node.body if condition else node.orelse), *rest])
    before = dict(context.env)
    sides: list[Returned] = []
    blocks = []
    with _copied_rest(context, node, rest):
        for side in (node.body, node.orelse):
            context.env.clear()
            context.env.update(before)
            with context.builder.block() as opened:
                sides.append(body(context, [*side, *rest]))
            blocks.append(opened.block)
    return Returned(_merge(context, condition, blocks, [s.value for s in sides]))


@contextmanager
def _copied_rest(context: Context, node: ast.If, rest: Sequence[ast.stmt]) -> Iterator[None]:
    """Count how often what follows is lowered twice: where neither side of an `if` always returns, both go on to it.

    Raises:
        KernelSyntaxError: more than `MAX_COPIES` such `if`s follow one another.
    """
    doubled = bool(rest) and not _always_returns(node.body) and not _always_returns(node.orelse)
    if doubled and context.copies >= MAX_COPIES:
        raise context.error(
            KernelSyntaxError, f"More than {MAX_COPIES} branches before this one may return or may go on.",
            "Let the inner condition join the outer one (if a and b: return), or return at the end of each branch.",
        )  # fmt: skip
    context.copies += doubled
    try:
        yield
    finally:
        context.copies -= doubled


def _always_returns(statements: Sequence[ast.stmt]) -> bool:
    last = statements[-1] if statements else None
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.Return)


def _merge(context: Context, condition: Value, blocks: list[Block], results: list[Operand | None]) -> Operand | None:
    """The `if` that yields what its sides return."""
    flat = [_flatten(r) for r in results]
    if any(isinstance(o, Poison) for side in flat for o in side):
        return POISON
    if len(flat[0]) != len(flat[1]):
        if not context.inside:  # a kernel: that it returns anything is the error
            return results[0] if flat[0] else results[1]
        a, b = (f"{len(side)} value{'s' * (len(side) != 1)}" if side else "nothing" for side in flat)
        message = f"{context.definition.name} returns {a} on one path and {b} on another."
        advice = "End each path with a return of as many values."
        context.shared.errors.append(context.error(KernelTypeError, message, advice))
        return POISON
    if any(isinstance(o, Bundle) for side in flat for o in side):
        return _merged_structs(context, condition, blocks, (results[0], results[1]))
    pairs = [(_known(context, a), _known(context, b)) for a, b in zip(*flat, strict=True)]
    types = [joined_type(context, "The returned value", a, b) for a, b in pairs]
    if any(isinstance(t, ArrayType) for t in types):
        message = f"{context.definition.name} returns an array on a path that depends on a condition."
        raise context.error(KernelTypeError, message, "Return its elements, or let the caller choose between them.")
    done = []
    for side, block in enumerate(blocks):
        with context.builder.block() as opened:
            for op in block.ops:
                context.builder.append(op)
            context.builder.yield_(*(convert(context, p[side], t) for p, t in zip(pairs, types, strict=True) if t))
        done.append(opened.block)
    values = context.builder.if_(condition, *done)
    if not isinstance(results[0], tuple):
        return values[0] if values else None
    return values


def _merged_structs(
    context: Context, condition: Value, blocks: list[Block], results: tuple[Operand | None, Operand | None]
) -> Operand:
    a, b = results
    assert a is not None and b is not None
    if structs.form(a) != structs.form(b):
        shown = [", ".join(map(describe, _flatten(side))) for side in results]
        raise context.error(
            KernelTypeError, f"{context.definition.name} returns {shown[0]} on one path and {shown[1]} on the other."
        )
    return structs.chosen(context, condition, blocks, (a, b), f"What {context.definition.name} returns")


def _known(context: Context, operand: Operand) -> Operand:
    return operand if isinstance(operand, Pending) else usable(context, operand)


def _flatten(operand: Operand | None) -> tuple[Operand, ...]:
    return () if operand is None else operand if isinstance(operand, tuple) else (operand,)


def _for(context: Context, node: ast.For) -> None:
    iterate.for_loop(context, node, expression, _loop_body)


def _while(context: Context, node: ast.While) -> None:
    loops.while_loop(context, node, expression, _loop_body)


def _loop_body(context: Context, statements: Sequence[ast.stmt]) -> None:
    context.loops += 1
    try:
        for statement in statements:
            guarded(context, statement, lambda s=statement: _statement(context, s))
    finally:
        context.loops -= 1


def _augmented(context: Context, node: ast.AugAssign) -> None:
    targets.augmented(context, node)


def _assert(context: Context, node: ast.Assert) -> None:
    lower_assert(context, node, expression)


LOWER: dict[type[ast.stmt], Callable[[Context, Any], None]] = {
    ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented, ast.Expr: _expression, ast.Pass: _pass,
    ast.If: _if, ast.For: _for, ast.While: _while, ast.Return: _return_in_loop,
    ast.Assert: _assert,
}  # fmt: skip
