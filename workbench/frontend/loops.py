"""Loops: which names an iteration hands to the next, and in which types.

The body is lowered once to learn the types at its end; where a literal before the loop becomes a float in it
(`s = 0; for …: s += x[i]`), the literal takes that type and the body is lowered again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from workbench.builtins.rules import meet
from workbench.errors import KernelSyntaxError, KernelTypeError, WorkbenchError
from workbench.frontend.coerce import convert, default_type, describe, materialise, truth, usable, weak
from workbench.frontend.context import Context, Env
from workbench.frontend.joins import assigned, same
from workbench.frontend.names import callee_name
from workbench.frontend.operands import POISON, Literal, Operand, Poison, Static, Unset
from workbench.ir.values import Block, Value
from workbench.types import ArrayType, Kind, Type, element, float32, int32, is_integer
from workbench.types import bool as bool_

Expression = Callable[[Context, ast.expr], Operand]
LowerBody = Callable[[Context, Sequence[ast.stmt]], None]
TRIES = 5


def for_loop(context: Context, node: ast.For, expression: Expression, lower_body: LowerBody) -> None:
    """`for name in range(…)`."""
    if node.orelse:
        raise context.error(KernelSyntaxError, "else of a loop is not in the language yet.", "Set a flag in the loop.")
    bounds = _range(context, node.iter, expression)
    if not isinstance(node.target, ast.Name):
        raise context.error(KernelSyntaxError, "A loop over a range has one name.", "Write for i in range(…).")
    start, stop, step = _typed_bounds(context, bounds)
    rising = isinstance(bounds[2], Literal) and bounds[2].value > 0 and start in context.shared.non_negative
    index_name = node.target.id
    names = [n for n in assigned(node.body) if n != index_name and n in context.env]

    def attempt(types: dict[str, Type]) -> dict[str, Operand]:
        index = Value(start.type, index_name)
        if rising:
            context.shared.non_negative.add(index)
        carried = {n: Value(t, n) for n, t in types.items()}
        with context.builder.block((index, *carried.values())) as opened:
            context.env.update(carried)
            context.env[index_name] = index
            lower_body(context, node.body)
            ends = {n: context.env[n] for n in types}
            yield_ends(context, ends, types)
        block = opened.block
        blocks.append(block)
        return ends

    blocks: list[Block] = []
    before = dict(context.env)
    types = settle(context, names, before, attempt)
    init = _initial(context, before, types)
    results = list(context.builder.for_(start, stop, step, init, blocks[-1]))
    leave(context, before, types, results, [*assigned(node.body), index_name])


def while_loop(context: Context, node: ast.While, expression: Expression, lower_body: LowerBody) -> None:
    """`while condition`."""
    if node.orelse:
        raise context.error(KernelSyntaxError, "else of a loop is not in the language yet.", "Set a flag in the loop.")
    names = [n for n in assigned(node.body) if n in context.env]
    pairs: list[tuple[Block, Block]] = []

    def attempt(types: dict[str, Type]) -> dict[str, Operand]:
        tested = {n: Value(t, n) for n, t in types.items()}
        with context.builder.block(tuple(tested.values())) as condition:
            context.env.update(tested)
            holds = truth(context, expression(context, node.test))
            context.builder.yield_(context.builder.const(holds, bool_) if isinstance(holds, bool) else holds)
        carried = {n: Value(t, n) for n, t in types.items()}
        with context.builder.block(tuple(carried.values())) as opened:
            context.env.update(carried)
            lower_body(context, node.body)
            ends = {n: context.env[n] for n in types}
            yield_ends(context, ends, types)
        pairs.append((condition.block, opened.block))
        return ends

    before = dict(context.env)
    types = settle(context, names, before, attempt)
    init = _initial(context, before, types)
    results = list(context.builder.while_(init, *pairs[-1]))
    leave(context, before, types, results, assigned(node.body))


def _range(context: Context, node: ast.expr, expression: Expression) -> tuple[Operand, Operand, Operand]:
    if isinstance(node, ast.Call) and not node.keywords and 1 <= len(node.args) <= 3:
        callee = expression(context, node.func)
        if isinstance(callee, Static) and callee_name(callee.value) == "range":
            args = [usable(context, expression(context, a)) for a in node.args]
            if len(args) == 1:
                return Literal(0), args[0], Literal(1)
            return args[0], args[1], args[2] if len(args) == 3 else Literal(1)
    raise context.error(
        KernelSyntaxError, "A loop in a kernel runs over range(…).", "Write for i in range(start, stop, step)."
    )


def _typed_bounds(context: Context, bounds: Sequence[Operand]) -> list[Value]:
    given = [usable(context, b) for b in bounds]
    for bound in given:
        if (isinstance(bound, Literal) and bound.is_float) or (isinstance(bound, Value) and not is_integer(bound.type)):
            raise context.error(KernelTypeError, f"range() takes integers; this is {describe(bound)}.", "Write int(…).")
    if isinstance(given[2], Literal) and given[2].value == 0:
        raise context.error(KernelTypeError, "The step of range() must not be 0.")
    type = meet("range", [weak(b) for b in given])
    return [convert(context, b, type) for b in given]


def settle(
    context: Context, names: Sequence[str], before: Env, attempt: Callable[[dict[str, Type]], dict[str, Operand]]
) -> dict[str, Type]:
    """Lower the body until the carried names' types before and after an iteration agree; the last try counts."""
    types: dict[str, Type] = {}
    for name in names:
        operand = before[name]
        if isinstance(operand, Value) and not isinstance(operand.type, ArrayType):
            types[name] = operand.type
        elif isinstance(operand, Literal):
            types[name] = default_type(operand)
    errors = context.shared.errors
    for last in range(TRIES):
        kept = len(errors)
        context.env.clear()
        context.env.update(before)
        ends = attempt(types)
        wider = {n: t for n in types if (t := _wider(before[n], types[n], ends[n])) is not None}
        if not wider and len(errors) > kept:
            wider = (
                {n: float32 for n in types if isinstance(before[n], Literal) and types[n] == int32} if last == 0 else {}
            )
            if wider and not _helps(context, before, types | wider, attempt, kept):
                context.env.clear()
                context.env.update(before)
                attempt(types)
                wider = {}
        if not wider:
            _check_ends(context, types, ends)
            return types
        del errors[kept:]
        types |= wider
    return types


def _helps(
    context: Context,
    before: Env,
    types: dict[str, Type],
    attempt: Callable[[dict[str, Type]], dict[str, Operand]],
    kept: int,
) -> bool:
    """Whether the body has no error with these types; leaves the errors as they were."""
    saved = list(context.shared.errors)
    del context.shared.errors[kept:]
    context.env.clear()
    context.env.update(before)
    attempt(types)
    fine = len(context.shared.errors) == kept
    context.shared.errors[:] = saved[:kept] if not fine else saved
    return fine


def _wider(before: Operand, type: Type, end: Operand) -> Type | None:
    """The type that a literal before the loop takes from the end of an iteration, if another than now."""
    if not isinstance(before, Literal):
        return None
    found = end.type if isinstance(end, Value) else default_type(end) if isinstance(end, Literal) else None
    if found is None or found == type or isinstance(found, ArrayType):
        return None
    if before.is_float and element(found).kind is not Kind.FLOAT:
        return None
    if isinstance(end, Literal) and element(type).kind is Kind.FLOAT:
        return None
    return found


def _check_ends(context: Context, types: dict[str, Type], ends: dict[str, Operand]) -> None:
    for name, type in types.items():
        end = ends[name]
        if isinstance(end, Value) and end.type != type:
            error = context.error(
                KernelTypeError, f"{name} is {type!r} before the loop and {end.type!r} after an iteration.",
                f"Write {name} = {element(end.type)!r}(…) before the loop.",
            )  # fmt: skip
            context.shared.errors.append(error)


def yield_ends(context: Context, ends: dict[str, Operand], types: dict[str, Type]) -> None:
    """End the body with what the next iteration gets; where types do not fit, with a placeholder (reported after)."""
    values = []
    for name, type in types.items():
        end = ends[name]
        fits = isinstance(end, Value) and end.type == type
        if isinstance(end, Literal):
            try:
                values.append(materialise(context, end, type))
                continue
            except WorkbenchError as error:
                context.shared.errors.append(error)
        values.append(end if fits else context.builder.one("unavailable", (), type, {"reason": f"{name} has no value"}))
    context.builder.yield_(*values)


def _initial(context: Context, before: Env, types: dict[str, Type]) -> list[Value]:
    return [materialise(context, before[n], t) for n, t in types.items()]


def leave(
    context: Context, before: Env, types: dict[str, Type], results: Sequence[Value], touched: Sequence[str]
) -> None:
    """What names are after the loop: the carried ones its results; what only the body sets may be unbound."""
    ends = dict(context.env)
    context.env.clear()
    context.env.update(before)
    context.env.update(zip(types, results, strict=True))
    for name in touched:
        if name in types or name not in ends:
            continue
        if isinstance(ends[name], Poison):
            context.env[name] = POISON
        elif name not in before:
            context.env[name] = Unset(f"{name} may be unbound here: it is set only inside the loop.")
        elif not same(before[name], ends[name]):
            context.env[name] = Unset(f"{name} changes its kind inside the loop, so it is not known here.")
