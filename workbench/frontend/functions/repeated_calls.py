"""Funcs that are called again and again with arguments alike: what such a call came to is copied.

A func that calls another twice, which calls another twice, would be lowered 2ⁿ times. What is copied is folded, so a
call that computes what another has computed is small by then. A user's func is lowered by itself for its third call. A
long one is not even copied: the call becomes an operation, `call`, which `fold` writes out when the whole kernel is
simplified, and one only of those with the same arguments. So what is written out is never copied again. The library's
functions mean the same in every kernel, so theirs are remembered as long as the process runs, and lowered once: the
operations of the first call are kept, and folded if there is a second.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

from msgspec.structs import replace

from workbench.builtins import TABLE
from workbench.frontend.functions.memo_key import form, values, with_values
from workbench.frontend.state.context import Body, Calls, Context, Env
from workbench.frontend.state.definition import Definition
from workbench.frontend.state.operands import Operand, Poison, Returned, Static
from workbench.ir.build import Builder
from workbench.ir.ops import PURE, STRUCTURED
from workbench.ir.rewrite import Mapping, copy_op, fresh
from workbench.ir.values import FUNC, Block, Function, Op, walk
from workbench.limits import CALL_FORMS, CALLED_OPERATIONS, COPIED_CALLS
from workbench.passes.fold import fold
from workbench.passes.pipeline import LOWERED, run
from workbench.source import Location
from workbench.types import is_weak

_LIBRARY: dict[Hashable, Calls] = {}


def call(context: Context, definition: Definition, env: Env, lower: Callable[[Env], Returned]) -> Operand | None:
    """Return the result of a func, by lowering it here or by copying what an earlier call like this one became.

    It is None if the func returns nothing.

    Args:
        context: of the caller.
        definition: the func.
        env: the arguments by name; `lower` gets it, or one like it.
        lower: lowers the func's body for such arguments.
    """
    shared = context.shared
    args = tuple(env.values())
    free = bool(shared.uniforms) and not definition.library  # its body may use parameters of the kernel
    if free or shared.trace or shared.notices is not None or any(is_weak(v.type) for v in values(args)):
        return lower(env).value
    if definition.library and any(isinstance(a, Static) and hasattr(a.value, "__wb_definitions__") for a in args):
        return lower(env).value  # what a user's func reads may mean something else in the next kernel
    key: Hashable = (id(definition), shared.lifted, *env, *form(context, args))
    table = _LIBRARY if definition.library else shared.calls
    if len(table) >= CALL_FORMS and definition.library:
        table.clear()
    calls = table.setdefault(key, Calls(definition, args))
    calls.count += 1
    if definition.library and calls.count == 1:
        body, sound = _noted(context, env, lower)
        context.builder.extend(body.block.ops[:-1])
        calls.body = body if sound else None
        return body.result
    if definition.library and calls.count == 2 and calls.body is not None:
        calls.body = _folded(context, definition, calls.body)
    if not definition.library and calls.count == COPIED_CALLS:
        calls.body = _by_itself(context, definition, env, lower)
    if calls.body is None:
        return lower(env).value
    return _copied(context, calls.body, args, context.builder.location if definition.library else None)


def _by_itself(context: Context, definition: Definition, env: Env, lower: Callable[[Env], Returned]) -> Body | None:
    """Lower a func apart from its caller, to be copied; None if an error was noted, which lowering in place reports."""
    shared = context.shared
    mapping: Mapping = {v: fresh(v) for v in values(env.values())}
    for old, new in mapping.items():
        shared.builder.learn(new, shared.builder.known(old))
    errors_before = len(shared.errors)
    noted, sound = _noted(context, {name: with_values(operand, mapping) for name, operand in env.items()}, lower)
    del shared.errors[errors_before:]
    return _folded(context, definition, noted) if sound else None


def _noted(context: Context, env: Env, lower: Callable[[Env], Returned]) -> tuple[Body, bool]:
    """Lower a func's body into a block of its own.

    Returns:
        The body, and whether it can be copied: no error was noted meanwhile.
    """
    shared = context.shared
    errors_before = len(shared.errors)
    with context.builder.block() as opened:
        result = lower(env).value
    yielded = tuple(dict.fromkeys(values([result])))
    sound = len(shared.errors) == errors_before and not isinstance(result, Poison)
    known = tuple(shared.builder.known(v) for v in yielded)
    block = Block(tuple(dict.fromkeys(values(env.values()))), (*opened.block.ops, Op("yield", yielded)))
    return Body(block, result, known, called=False), sound


def _folded(context: Context, definition: Definition, body: Body) -> Body:
    """Return a func's lowered body, simplified, with `called` set if a call of it is to be an operation.

    One whose results have weak types is not simplified.
    """
    if any(is_weak(v.type) for v in body.block.yielded):  # what it is computed in, each call decides
        return replace(body, called=_worth_a_call(body.block))
    ends = Builder()
    ends.extend(body.block.ops[:-1])
    ends.emit("mark", body.block.yielded)  # what is kept for its own sake
    alone = Function(context.definition.name, body.block.params, ends.body())
    copied = definition.library or context.shared.closed
    *ops, end = run(LOWERED, alone, fold=partial(fold, calls=copied)).body.ops
    results: Mapping = dict(zip(body.block.yielded, end.operands, strict=True))
    result = with_values(body.result, results) if body.result is not None else None
    block = Block(alone.params, (*ops, Op("yield", end.operands)))
    return Body(block, result, body.known, not copied and _worth_a_call(block))


def _worth_a_call(block: Block) -> bool:
    """Return whether a body is long, and equal arguments give equal results.

    Then a call stays one operation for now, and of several with the same arguments only one is written out.
    """
    if len(block.ops) < CALLED_OPERATIONS:
        return False
    return all(op.name in STRUCTURED | PURE | {"yield"} or op.name in TABLE for op in walk(block))


def _copied(context: Context, body: Body, args: tuple[Operand, ...], location: Location | None) -> Operand | None:
    """Emit a func's remembered body for new arguments, or a `call` of it; return its result, None if it has none.

    Args:
        context: of the caller.
        body: the remembered body.
        args: the arguments.
        location: the location of the copied operations; None: they retain their own.
    """
    builder, yielded = context.shared.builder, body.block.yielded
    mapping: Mapping = dict(zip(body.block.params, dict.fromkeys(values(args)), strict=True))
    if body.called:
        types, names = [v.type for v in yielded], [v.name for v in yielded]
        op = builder.emit("call", tuple(mapping.values()), types, FUNC.of(body.block), (), names)
        mapping.update(zip(yielded, op.results, strict=True))
    else:
        for op in body.block.ops[:-1]:
            builder.append(copy_op(op, mapping, location=location))
    for value, known in zip(yielded, body.known, strict=True):
        builder.learn(mapping[value], known)
    return with_values(body.result, mapping) if body.result is not None else None
