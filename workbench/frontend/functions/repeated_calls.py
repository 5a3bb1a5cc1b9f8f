"""Funcs that are called again and again with arguments alike: the third such call copies what the second one came to.

A func that calls another twice, which calls another twice, would be lowered 2ⁿ times. What is copied is folded, so a
call that computes what another has computed is small by then.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from workbench.frontend.functions.alike import form, values, with_values
from workbench.frontend.state.context import Context, Env
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.memo import Body, Calls
from workbench.frontend.state.operands import Operand, Poison, Returned
from workbench.ir.build import Builder
from workbench.ir.rewrite import Mapping, copy_op, fresh
from workbench.ir.values import Function
from workbench.passes.pipeline import LOWERED, run

COPIED_FROM = 3


def call(context: Context, definition: Definition, env: Env, lower: Callable[[Env], Returned]) -> Operand | None:
    """What `lower` returns for the arguments, by lowering or by copying.

    Args:
        env: the arguments by name; `lower` is given it, or one like it.
    """
    shared = context.shared
    args = tuple(env.values())
    if shared.trace or shared.notices is not None or any(v in shared.tentative for v in values(args)):
        return lower(env).value
    key: Hashable = (id(definition), shared.lifted, *env, *form(context, args))
    calls = shared.calls.setdefault(key, Calls(definition, args))
    calls.count += 1
    if calls.count == COPIED_FROM:
        calls.body = _body(context, env, lower)
    if calls.body is None:
        return lower(env).value
    return _copied(context, calls.body, args)


def _body(context: Context, env: Env, lower: Callable[[Env], Returned]) -> Body | None:
    """The func lowered by itself; None if something is wrong with it: lowered in place, it is reported."""
    shared = context.shared
    mapping: Mapping = {v: fresh(v) for v in values(env.values())}
    for old, new in mapping.items():
        shared.builder.learn(new, shared.builder.known(old))
    kept = len(shared.errors)
    with context.builder.block() as opened:
        result = lower({name: with_values(operand, mapping) for name, operand in env.items()}).value
    if len(shared.errors) > kept or isinstance(result, Poison):
        del shared.errors[kept:]
        return None
    results = dict.fromkeys(values([result]))
    ends = Builder()
    for op in opened.block.ops:
        ends.append(op)
    ends.emit("mark", tuple(results))  # what is kept for its own sake
    params = tuple(mapping.values())
    *ops, end = run(LOWERED, Function(context.definition.name, params, ends.body())).body.ops
    result = with_values(result, dict(zip(results, end.operands, strict=True))) if result is not None else None
    return Body(params, tuple(ops), result)


def _copied(context: Context, body: Body, args: tuple[Operand, ...]) -> Operand | None:
    mapping: Mapping = dict(zip(body.params, dict.fromkeys(values(args)), strict=True))
    for op in body.ops:
        context.builder.append(copy_op(op, mapping))
    return with_values(body.result, mapping) if body.result is not None else None
