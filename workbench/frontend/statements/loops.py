"""Loops: `for` over a range and `while`, with the names that an iteration hands to the next."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import NoneType

from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.rules import WEAK_INT, common_type
from workbench.frontend.names.python_names import callee_name
from workbench.frontend.state.coerce import apply, convert, describe, truth, usable, weak
from workbench.frontend.state.context import Context
from workbench.frontend.state.definition import reads
from workbench.frontend.state.exits import Idle, Loop, exit_flag, flags, is_while_true, read_first, unless
from workbench.frontend.state.merge import assigned
from workbench.frontend.state.operands import Literal, Operand, Static, Unset, value_of
from workbench.frontend.state.tile_maps import uniform
from workbench.frontend.statements.loop_types import Fresh, carry
from workbench.frontend.values.structs import with_fields
from workbench.ir.values import Block, Value
from workbench.limits import IDLE_ITERATIONS
from workbench.source import located
from workbench.types import Kind, Scalar, Type, element, int32, int64, is_integer, strong
from workbench.types import bool as bool_

Rounds = Callable[[Context, Sequence[ast.stmt]], object]


def for_loop(
    context: Context,
    node: ast.For,
    bounds: tuple[Operand, Operand, Operand],
) -> None:
    """Lower `for name in range(*bounds)`; one that is long and can be left early, as a `while`.

    Raises:
        KernelSyntaxError: the target is not one name.
        KernelTypeError: a bound is no integer, or the step is 0.
    """
    if not isinstance(node.target, ast.Name):
        raise context.syntax_error("A loop over a range has one name.", "Write for i in range(…).")
    flag = exit_flag(node)
    if flag is not None and not _short(bounds):
        _leaving_for(context, node, bounds)
        return
    start, stop, step = _typed_bounds(context, bounds)
    non_negative = _stays_above(context, bounds, start)
    index_name = node.target.id
    live_out = _index_is_live_out(context, node, index_name, start.type)
    assigned_ = _assigned(context, node)
    names = [n for n in assigned_ if n != index_name and n in context.env]
    names = with_fields([*names, *([index_name] if live_out else [])], context.env)
    loop = loop_state(context, node, [*assigned_, index_name], runs=bool(steps_of(bounds)))
    held, body = index_name, node.body
    if live_out or (flag is not None and index_name in loop.names):  # the rounds that run idle leave it alone
        held = f"index.{node.lineno}.{node.col_offset}"
        body = [ast.Assign([ast.Name(index_name, ast.Store())], ast.Name(held, ast.Load())), *body]
    if flag is not None:
        body = [while_not(flag, body, node)]

    def attempt(fresh: Fresh) -> list[Block]:
        index = Value(start.type, index_name)
        if non_negative:
            context.shared.non_negative.add(index)
        carried = fresh()
        with context.builder.block((index, *carried.values())) as block:
            context.env.update(carried)
            with loop.iteration(context.env, context.loops, carried):
                context.env[held] = index
                context.shared.syntax.loop_body(context, body)
        return [block.block]

    carry(
        context, node, loop, [*assigned_, index_name], names, attempt, partial(context.builder.for_, start, stop, step)
    )


def _assigned(context: Context, node: ast.For | ast.While) -> list[str]:
    """Return the names that an iteration may bind, and those that ways out of the loop set."""
    return [*assigned(node.body), *flags(node, context.results)]


def _stays_above(context: Context, bounds: Sequence[Operand], start: Value) -> bool:
    """Return whether a range surely has no negative index: it goes up from such a start, or down to one above -1."""
    _, stop, step = bounds
    if not isinstance(step, Literal):
        return False
    return start in context.shared.non_negative if step.value > 0 else isinstance(stop, Literal) and stop.value >= -1


def loop_state(
    context: Context, node: ast.For | ast.While, touched: Iterable[str], runs: bool, ends: bool = True
) -> Loop:
    """Return the `Loop` of a loop whose body is not lowered yet, with the names that it may bind first.

    Args:
        context: of the loop.
        node: the loop.
        touched: names that a round may bind.
        runs: whether it runs at least once.
        ends: whether it may end without a `break`.
    """
    in_warp = context.shared.warp_meanings  # there a name keeps the value of its last round, as in C++
    missing = [n for n in touched if isinstance(context.env.get(n), (Unset, NoneType))]
    if not missing or not (runs or in_warp or getattr(node, "has_else", False)):
        return Loop(exit_flag=exit_flag(node))
    everywhere, here = context.definition.reads, reads(node)
    again = read_first(node.body)[0] if in_warp else ()
    names = dict.fromkeys(n for n in missing if everywhere[n] > here[n] or n in again)
    return Loop(tuple(names), runs, ends, exit_flag(node), in_warp)


def _index_is_live_out(context: Context, node: ast.For | ast.While, name: str, type: Type) -> bool:
    """Return whether the loop's variable was an integer of its type before the loop, and is read outside of it."""
    before = context.env.get(name)
    known = weak(before) if isinstance(before, (Literal, Value)) else None
    return (known == WEAK_INT or known == type) and context.definition.reads[name] > reads(node)[name]


def steps_of(bounds: Sequence[Operand]) -> range | None:
    """Return the range of these bounds; None if one of them is not known now, or the step is 0."""
    if not all(isinstance(b, Literal) and not b.is_float for b in bounds):
        return None
    start, stop, step = (int(b.value) for b in bounds)  # type: ignore[union-attr]
    return range(start, stop, step) if step != 0 else None


def _short(bounds: Sequence[Operand]) -> bool:
    """Return whether the range is known now and has few steps: then the rest of them may as well run idle."""
    steps = steps_of(bounds)
    return steps is not None and not steps[IDLE_ITERATIONS:]


def while_not(flag: str, body: list[ast.stmt], node: ast.For) -> ast.stmt:
    """Return an `if` that runs the body only while the flag is not set: the loop has not been left."""
    for statement in body:
        located(statement, node)
    return unless(flag, body, [ast.copy_location(Idle(), node)], node)


def _leaving_for(context: Context, node: ast.For, bounds: Sequence[Operand]) -> None:
    """Lower a `for` that can be left early: a 64-bit counter, which shorter ranges cannot overflow, and a `while`."""
    assert isinstance(node.target, ast.Name)
    start, stop, step = _typed_bounds(context, bounds)
    type = start.type
    counter = f"{node.target.id}.counter.{node.lineno}"
    long = type if element(type).bits == 64 else int64
    wide = [context.builder.cast(v, long) for v in (start, stop, step)]
    zero = context.builder.const(0, long)
    context.env[counter] = wide[0]
    rising = isinstance(bounds[2], Literal) and bounds[2].value > 0
    falling = isinstance(bounds[2], Literal) and bounds[2].value < 0

    def more(context: Context) -> Value:
        at = context.env[counter]
        below = apply(context, TABLE["lt"], (at, wide[1]))
        above = apply(context, TABLE["gt"], (at, wide[1]))
        if rising or falling:
            return below if rising else above
        up = apply(context, TABLE["and_"], (apply(context, TABLE["gt"], (wide[2], zero)), below))
        down = apply(context, TABLE["and_"], (apply(context, TABLE["lt"], (wide[2], zero)), above))
        return apply(context, TABLE["or_"], (up, down))

    def body(context: Context, statements: Sequence[ast.stmt]) -> None:
        at = context.env[counter]
        assert isinstance(at, Value) and isinstance(node.target, ast.Name)
        index = context.builder.cast(at, type)
        if _stays_above(context, bounds, start):
            context.shared.non_negative.add(index)
        context.env[node.target.id] = index
        following = apply(context, TABLE["add"], (at, wide[2]))
        if type is long and not (isinstance(bounds[2], Literal) and bounds[2].value in (1, -1)):
            # Behind the last number of 64 bits comes the other end of them.
            less, falls = (apply(context, TABLE["lt"], pair) for pair in ((following, at), (wide[2], zero)))
            over = apply(context, TABLE["ne"], (less, falls))
            following = apply(context, TABLE["where"], (over, wide[1], following))
        context.env[counter] = following
        context.shared.syntax.loop_body(context, statements)

    name, touched = node.target.id, [counter, *_assigned(context, node)]
    if _index_is_live_out(context, node, name, type):
        name, touched = "", [*touched, name]
    _while(context, node, touched, more, body, name, bool(steps_of(bounds)))


def while_loop(context: Context, node: ast.While) -> None:
    """Lower `while condition`."""

    def holds(context: Context) -> Value:
        condition = truth(context, context.lower(node.test))
        return context.builder.const(condition, bool_) if isinstance(condition, bool) else condition

    _while(context, node, _assigned(context, node), holds, context.shared.syntax.loop_body, runs=is_while_true(node))


def _while(
    context: Context, node: ast.For | ast.While, touched: Sequence[str], holds: Callable[[Context], Value],
    lower_body: Rounds, skip: str = "", runs: bool = False,
) -> None:  # fmt: skip
    """Lower a loop that runs while `holds`, and has not been left where it can be left early.

    `skip` is a name that each round sets; `runs`: at least once.
    """
    flag = exit_flag(node)
    names = with_fields([n for n in touched if n in context.env and n != skip], context.env)
    touched = [*touched, *([skip] if skip else [])]
    loop = loop_state(context, node, touched, runs, ends=not is_while_true(node))

    def attempt(fresh: Fresh) -> list[Block]:
        tested = fresh()
        with context.builder.block(tuple(tested.values())) as condition:
            context.env.update(tested)
            loop.hide(context.env, tested)
            context.builder.yield_(holds(context) if flag is None else _unless_left(context, flag, holds))
        carried = fresh()
        with context.builder.block(tuple(carried.values())) as block:
            context.env.update(carried)
            with loop.iteration(context.env, context.loops, carried):
                lower_body(context, node.body)
        return [condition.block, block.block]

    carry(context, node, loop, touched, names, attempt, context.builder.while_)


def _unless_left(context: Context, flag: str, holds: Callable[[Context], Value]) -> Value:
    """Emit whether a loop goes on: its condition is computed only where a flag says it was not left."""
    leaving = value_of(context.env[flag])
    with context.builder.block() as stop:
        context.builder.yield_(context.builder.const(False, bool_))
    with context.builder.block() as go_on:
        context.builder.yield_(holds(context))
    return context.builder.if_(leaving, stop.block, go_on.block)[0]


def range_of(context: Context, node: ast.expr) -> tuple[Operand, Operand, Operand]:
    """Return the start, stop and step of a call of `range`; those not written are literals.

    Raises:
        KernelSyntaxError: it is something else.
        KernelTypeError: a bound differs between the threads of a block.
    """
    if isinstance(node, ast.Call) and not node.keywords and 1 <= len(node.args) <= 3:
        callee = context.lower(node.func)
        if isinstance(callee, Static) and callee_name(callee.value) == "range":
            args = [usable(context, uniform(context, context.lower(a), "A range()")) for a in node.args]
            if len(args) == 1:
                return Literal(0), args[0], Literal(1)
            return args[0], args[1], args[2] if len(args) == 3 else Literal(1)
    raise context.syntax_error("A loop in a kernel runs over range(…).", "Write for i in range(start, stop, step).")


def backwards(context: Context, node: ast.expr) -> tuple[Operand, Operand, Operand]:
    """Return the bounds of `reversed(range(…))`.

    Raises:
        KernelTypeError: a bound is not known now, and the range is of unsigned integers.
    """
    start, stop, step = bounds = range_of(context, node)
    steps = steps_of(bounds)
    if steps is not None:
        turned = steps[::-1]
        return Literal(turned.start), Literal(turned.stop), Literal(turned.step)
    values = [usable(context, b) for b in bounds]
    if any(isinstance(v, Value) and isinstance(v.type, Scalar) and v.type.kind is Kind.UINT for v in values):
        raise context.type_error(
            "reversed() takes a range of signed integers.", "Count down: range(last, before_the_first, -step)."
        )

    def do(name: str, *operands: Operand) -> Operand:
        return apply(context, TABLE[name], operands)

    if isinstance(step, Literal) and step.value in (1, -1):
        # Behind the least number there is no other, and an empty range may end there: range(int(-inf)).
        end = do("max" if step.value > 0 else "min", start, stop)
        return do("sub", end, step), do("sub", start, step), Literal(-step.value)
    count = do("max", do("neg", do("floordiv", do("sub", start, stop), step)), Literal(0))  # rounded up
    before = do("sub", start, step)
    return do("add", before, do("mul", count, step)), before, do("neg", step)


def check_integers(context: Context, bounds: Sequence[Operand]) -> list[Value | Literal]:
    """Check a range's bounds (start, stop, step), and return them as values and literals; a bool value as int32.

    Raises:
        KernelTypeError: one is no integer, or the step is the literal 0.
    """
    values = [usable(context, b) for b in bounds]
    # A bool is an integer, as in Python.
    values = [context.builder.cast(b, int32) if isinstance(b, Value) and b.type == bool_ else b for b in values]
    for bound in values:
        if (isinstance(bound, Literal) and bound.is_float) or (isinstance(bound, Value) and not is_integer(bound.type)):
            raise context.type_error(f"range() takes integers; this is {describe(bound)}.", "Write int(…).")
    if isinstance(values[2], Literal) and values[2].value == 0:
        raise context.type_error("The step of range() must not be 0.")
    return values


def _typed_bounds(context: Context, bounds: Sequence[Operand]) -> list[Value]:
    """Return the bounds of a `range`, converted to their common integer type.

    Raises:
        KernelTypeError: one is no integer.
    """
    values = check_integers(context, bounds)
    usual = all(isinstance(b, Literal) or b.type is int32 for b in values)
    type = int32 if usual else strong(common_type("range", [weak(b) for b in values]))
    return [convert(context, b, type) for b in values]
