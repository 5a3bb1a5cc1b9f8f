"""Loops: `for` over a range and `while`, and the types in which they carry names.

A loop's body is lowered once to learn the types at its end. A literal before the loop that takes the type of an element
in it (`s = 0; for …: s += x[i]`) starts with that type; one that meets only literals stays weak. If the body does
nothing with such a name but convert it to this type, the name gets the type where it stands. Otherwise (`s = s * 2 +
x[i]`) the body is lowered again, and the loops in it. An inner loop that reads the same as before starts with the
types that it ended with then; otherwise n nested loops would be lowered 2ⁿ times.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import NoneType

from msgspec.structs import force_setattr, replace

from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.rules import WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Weak, common_type, promote
from workbench.errors import WorkbenchError
from workbench.frontend.functions.inline import form_of
from workbench.frontend.state import operands, paths
from workbench.frontend.state.coerce import adopts, apply, convert, default_type, describe, truth, uniform, usable, weak
from workbench.frontend.state.context import Context, Env, Loop, LoopTypes
from workbench.frontend.state.definition import reads
from workbench.frontend.state.operands import Literal, Operand, Parts, Pending, Poison, Unset
from workbench.frontend.tiles.slicing import carry_parts
from workbench.frontend.values.structs import bind, pending, spread, with_fields
from workbench.ir.ops import REASON
from workbench.ir.values import Block, Value, walk
from workbench.limits import IDLE_ITERATIONS, LOOP_TYPE_CHANGES
from workbench.source import located, nodes_of
from workbench.types import ArrayType, Complex, Kind, Scalar, Type, element, int32, int64, is_integer, is_weak, strong
from workbench.types import bool as bool_

Rounds = Callable[[Context, Sequence[ast.stmt]], object]


def for_loop(context: Context, node: ast.For, bounds: tuple[Operand, Operand, Operand]) -> None:
    """Lower `for name in range(*bounds)`; one that is long and can be left early, as a `while`.

    Raises:
        KernelSyntaxError: the target is not one name.
        KernelTypeError: a bound is no integer, or the step is 0.
    """
    if not isinstance(node.target, ast.Name):
        raise context.syntax_error("A loop over a range has one name.", "Write for i in range(…).")
    flag = paths.exit_flag(node)
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
    return [*paths.assigned(node.body), *paths.flags(node, context.results)]


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
        return Loop(exit_flag=paths.exit_flag(node))
    everywhere, here = context.definition.reads, reads(node)
    again = paths.read_first(node.body)[0] if in_warp else ()
    names = dict.fromkeys(n for n in missing if everywhere[n] > here[n] or n in again)
    return Loop(tuple(names), runs, ends, paths.exit_flag(node), in_warp)


def _index_is_live_out(context: Context, node: ast.For | ast.While, name: str, type: Type) -> bool:
    """Return whether the loop's variable was an integer of its type before the loop, and is read outside of it."""
    before = context.env.get(name)
    known = weak(before) if isinstance(before, (Literal, Value)) else None
    return (known == WEAK_INT or known == type) and context.definition.reads[name] > reads(node)[name]


def steps_of(bounds: Sequence[Operand]) -> range | None:
    """Return the range of these bounds; None if one of them is not known now, or the step is 0."""
    numbers = [b.value for b in bounds if isinstance(b, Literal) and not b.is_float]
    if len(numbers) < len(bounds):
        return None
    start, stop, step = map(int, numbers)
    return range(start, stop, step) if step != 0 else None


def _short(bounds: Sequence[Operand]) -> bool:
    """Return whether the range is known now and has few steps: then the rest of them may as well run idle."""
    steps = steps_of(bounds)
    return steps is not None and not steps[IDLE_ITERATIONS:]


def while_not(flag: str, body: list[ast.stmt], node: ast.For) -> ast.stmt:
    """Return an `if` that runs the body only while the flag is not set: the loop has not been left."""
    for statement in body:
        located(statement, node)
    return paths.unless(flag, body, [ast.copy_location(paths.Idle(), node)], node)


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

    _while(
        context, node, _assigned(context, node), holds, context.shared.syntax.loop_body, runs=paths.is_while_true(node)
    )


def _while(
    context: Context, node: ast.For | ast.While, touched: Sequence[str], holds: Callable[[Context], Value],
    lower_body: Rounds, skip: str = "", runs: bool = False,
) -> None:  # fmt: skip
    """Lower a loop that runs while `holds`, and has not been left where it can be left early.

    `skip` is a name that each round sets; `runs`: at least once.
    """
    flag = paths.exit_flag(node)
    names = with_fields([n for n in touched if n in context.env and n != skip], context.env)
    touched = [*touched, *([skip] if skip else [])]
    loop = loop_state(context, node, touched, runs, ends=not paths.is_while_true(node))

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
    leaving = operands.value_of(context.env[flag])
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


Fresh = Callable[[], dict[str, Value]]
Attempt = Callable[[Fresh], list[Block]]
Emit = Callable[..., Sequence[Value]]


def carry(
    context: Context, node: ast.For | ast.While, loop: Loop, touched: Sequence[str], names: Sequence[str],
    attempt: Attempt, emit: Emit,
) -> None:  # fmt: skip
    """Lower a loop with the names that its iterations hand on, and set the names after it.

    Args:
        context: where.
        node: the loop.
        loop: the same loop, with the names that it may bind first.
        touched: all names that an iteration may set.
        names: those of them that are bound before it, which an iteration may hand to the next.
        attempt: lowers the loop's blocks, with a function that makes the values of the carried names as their
            parameters; returns the blocks, the last one, the body, without its `yield`.
        emit: appends the loop, with the carried names' first values and the blocks; returns its results.

    Raises:
        KernelTypeError: the type of a name changes in every iteration.
    """
    outer = context.env
    before = outer | dict.fromkeys(loop.names, operands.PENDING)
    names = [*names, *loop.names]
    inside, context.shared.in_loop = context.shared.in_loop, True
    try:
        if not inside:  # nothing meets it again
            settled, blocks = _infer(context, _first(names, before), names, before, attempt)
        else:
            read = _read(node, names, before)
            key = node, *read, *form_of(context, read.values())
            known = context.shared.loop_types.get(key) or _first(names, before)
            settled, blocks = _infer(context, known, names, before, attempt)
            context.shared.loop_types[key] = replace(settled, read=tuple(read.values()))
    except BaseException:
        outer.update(context.env)
        context.env = outer
        raise
    finally:
        context.shared.in_loop = inside
    ends, context.env = context.env, outer
    outer.update(before)
    init = [convert(context, before[n], t) for n, t in settled.types.items()]
    _bind_results(context, before, ends, settled.types, emit(init, *blocks), touched)
    loop.after(context.env)


def _infer(
    context: Context, known: LoopTypes, names: Sequence[str], before: Env, attempt: Attempt
) -> tuple[LoopTypes, list[Block]]:
    """Return the types of a loop's carried names, its hidden names and its blocks, lowered until the types agree.

    A name that an iteration leaves as something that cannot be carried (a tuple, a func, an array) is hidden: it has no
    value at the start of an iteration, unless it is the same one. In `before`, a name to which a `return` inside gives
    a struct becomes one.
    """
    errors, errors_before = context.shared.errors, len(context.shared.errors)
    types: dict[str, Type] = known.types
    hidden = dict(known.hidden)
    carried: list[dict[str, Value]] = []

    def fresh() -> dict[str, Value]:
        carried.append({n: Value(t, n) for n, t in types.items()})
        carry_parts(context, before, carried[-1])
        return carried[-1]

    changes: Counter[str] = Counter()
    blocks: list[Block] = []
    again = True
    while True:
        if again:
            del errors[errors_before:]
            carried.clear()
            context.env = before | hidden
            blocks = attempt(fresh)
            with_fields(names, context.env)
        ends, again = context.env, True
        structs = [n for n in names if before[n] is operands.PENDING and isinstance(ends.get(n), Parts)]
        for name in structs:  # a `return` in the loop returns a struct, whose fields are carried
            bind(before, name, pending(ends[name].type))  # type: ignore[union-attr]
            spread(before, name)
        if structs:
            names = with_fields(names, before)
            continue
        moved = [n for n in names if n not in hidden and not _keeps(before[n], types.get(n), ends.get(n))]
        lost = {n: _changed(n) for n in moved if _lost(before[n], ends.get(n, before[n]), n in types)}
        wider = {} if lost else _widened(moved, types, before, ends)
        if not lost and not wider:  # parts of a tuple that an iteration may set before it reads it
            unfit = [n for n in moved if n in types and paths.is_part(n) and not _fits(n, ends[n], types[n])]
            lost = {n: Unset(_unlike(n, types[n], ends[n])) for n in unfit}
        if lost:
            hidden |= lost
            types = {n: t for n, t in types.items() if n not in hidden}
            continue
        if not wider:
            blocks[-1] = _closed(context, blocks[-1], types, ends)
            _check_ends(context, types, ends)
            return LoopTypes(types, hidden, ()), blocks
        changes.update(dict.fromkeys(wider, 1))
        for name in (n for n, count in changes.items() if count > LOOP_TYPE_CHANGES):
            what = f"{name} is {types[name]!r} at the start of an iteration and {wider[name]!r} at its end, each time."
            raise context.type_error(what, f"Give it a type before the loop: {name} = wb.float32(0).")
        types = types | wider
        again = len(errors) > errors_before or not _retyped(context, blocks, carried, wider)


def _keeps(before: Operand, type: Type | None, end: Operand | None) -> bool:
    """Return whether a name certainly has the same value at the end of an iteration as at its beginning."""
    return end is before or (isinstance(end, Value) and end.type is type and not is_weak(end.type))


def _widened(names: Sequence[str], types: Mapping[str, Type], before: Env, ends: Env) -> dict[str, Type]:
    """Return the types that these names take from the end of an iteration, for those that do not keep theirs."""
    wider = {n: t for n in names if n in types and (t := _wider(before[n], types[n], ends[n])) is not None}
    return wider | {n: t for n in names if (t := _returned(before[n], types.get(n), ends[n])) is not None}


def _retyped(
    context: Context, blocks: Sequence[Block], carried: Sequence[Mapping[str, Value]], types: Mapping[str, Type]
) -> bool:
    """Give carried names of weak types these types in place, if lowering the blocks again would change nothing else.

    That is so if the blocks only convert the names to these types: then the conversions have no effect any more. With
    notices a line may say something else of a typed name.

    Returns:
        Whether they have the types now.
    """
    wanted = {names[n]: t for names in carried for n, t in types.items() if n in names}
    if context.shared.notices is not None or len(wanted) < len(types) * len(carried):
        return False
    if not all(is_weak(value.type) for value in wanted):
        return False
    for op in (op for block in blocks for op in walk(block) if not wanted.keys().isdisjoint(op.operands)):
        if op.name != "cast" or is_weak(op.result.type) or op.result.type != wanted[op.operands[0]]:
            return False
    for value, type in wanted.items():
        force_setattr(value, "type", type)  # nothing has seen more of the old type than that it was weak
    return True


def _first(names: Sequence[str], before: Env) -> LoopTypes:
    """Return the types that a loop's names are carried in at first, as a `LoopTypes` without hidden names."""
    types = {n: int64 if paths.is_index_name(n) else t for n in names if (t := _carried_type(before[n])) is not None}
    return LoopTypes(types, {}, ())


def _read(node: ast.For | ast.While, names: Sequence[str], before: Env) -> Env:
    """Return, of the operands `before` a loop, those of all names that lowering it reads, structs' fields too."""
    used = _named(node) | {*names, paths.exit_flag(node)}
    return {name: operand for name, operand in before.items() if name in used or name.partition(".")[0] in used}


@paths.stored
def _named(node: ast.For | ast.While) -> frozenset[str]:
    """Return the names in a loop, stored since an outer loop that is lowered again requests those of inner ones."""
    return frozenset(n.id for n in nodes_of(node) if isinstance(n, ast.Name))


def _lost(before: Operand, end: Operand, carried: bool) -> bool:
    """Return whether a name cannot be handed to the next iteration, and is not what it was."""
    if isinstance(before, (Unset, Poison)) or isinstance(end, (Poison, Pending)):
        return False
    if carried or isinstance(before, Pending):
        return _carried_type(end) is None
    return not paths.is_same(before, end)


def _changed(name: str) -> Unset:
    """Return the `Unset` of a name whose kind changes in a loop, so that an iteration starts without a value for it."""
    reason = f"{paths.shown(name)} changes its kind inside the loop, so it is not known here."
    return Unset(paths.RETURNS_A_VALUE if paths.is_ours(name) else reason)


def _carried_type(operand: Operand) -> Type | None:
    """Return the type in which a number or a vector is carried, a literal's weak; None if it cannot be carried."""
    if isinstance(operand, Literal):
        return default_type(operand)
    return operand.type if isinstance(operand, Value) and not isinstance(operand.type, ArrayType) else None


def _returned(before: Operand, type: Type | None, end: Operand) -> Type | None:
    """Return the type of what a `return` inside the loop gives, where nothing or less was known of it before.

    None if the name `before` stands for no such value, or nothing new is known.
    """
    known = _carried_type(end) if isinstance(before, Pending) else None
    return known if known is not None and (type is None or _decides(known, type)) else None


def _wider(before: Operand, type: Type, end: Operand) -> Type | None:
    """Return the type that a start without a type takes from the end of an iteration; None if it keeps what it has."""
    known = _carried_type(end)
    start = weak(before) if isinstance(before, (Literal, Value)) else None
    if not isinstance(start, Weak) or known is None:
        return None
    if start == WEAK_FLOAT and element(known).kind is not Kind.FLOAT:
        return None
    if start == WEAK_COMPLEX and isinstance(known, Scalar):
        return None
    # Never narrower than its default: a sum of bytes that starts with 0 is an int32.
    if isinstance(known, Scalar) and known.kind is not Kind.BOOL and not is_weak(known):
        known = promote(strong(start.default), known) or known
    return known if _decides(known, type) else None


def _decides(end: Type, type: Type) -> bool:
    """Return whether the end's type replaces `type`: a typed one does, and weak floats replace weak ints."""
    if is_weak(end):
        return is_weak(type) and element(end).kind is Kind.FLOAT is not element(type).kind
    return end != type or is_weak(type)


def _check_ends(context: Context, types: Mapping[str, Type], ends: Env) -> None:
    """Append an error for each carried name whose operand in `ends` does not fit the type in which it is carried."""
    for name, type in types.items():
        end = ends[name]
        if isinstance(end, Value) and not _fits(name, end, type):
            kind = end.type if isinstance(end.type, Complex) else element(end.type)
            advice = f"Write {name} = {kind!r}(…) before the loop."
            context.shared.errors.append(context.type_error(_unlike(name, type, end), advice))


def _fits(name: str, end: Operand, type: Type) -> bool:
    """Return whether the next iteration can get an operand in this type."""
    if isinstance(end, Value):
        return end.type == type or adopts(end, type) or (paths.is_index_name(name) and is_integer(end.type))
    return isinstance(end, Literal)


def _unlike(name: str, type: Type, end: Operand) -> str:
    """Return the message that a name has this type before a loop and another operand after an iteration."""
    return f"{paths.shown(name)} is {type!r} before the loop and {describe(end)} after an iteration."


def _closed(context: Context, body: Block, types: Mapping[str, Type], ends: Env) -> Block:
    """Return a loop's body with its `yield` of what the next iteration gets.

    Where a type does not fit, that is a placeholder, and the error is noted later.
    """
    with context.builder.block(body.params) as opened:
        context.builder.extend(body.ops)
        values: list[Value] = []
        for name, type in types.items():
            if _fits(name, ends[name], type):
                try:
                    values.append(convert(context, ends[name], type))
                    continue
                except WorkbenchError as error:
                    context.shared.errors.append(error)
            values.append(context.builder.one("unavailable", (), type, {REASON: f"{name} has no value"}))
        context.builder.yield_(*values)
    return opened.block


def _bind_results(
    context: Context,
    before: Env,
    ends: Env,
    types: Mapping[str, Type],
    results: Sequence[Value],
    touched: Sequence[str],
) -> None:
    """Set the names after the loop: carried ones to its results; others that the body sets become errors to read.

    Those that only the body sets may be unbound; those that it sets to something else than before without being
    carried have no one value. A name poisoned in the body stays poisoned.

    Args:
        context: its `env` holds the names before the loop, and is changed.
        before: a copy of these.
        ends: the names at the body's end.
        types: of the carried names, in the order of `results`.
        results: the loop's.
        touched: names that the body sets.
    """
    context.env.update(zip(types, results, strict=True))
    for name in touched:
        if name in types or name not in ends:
            continue
        if isinstance(ends[name], Poison):
            context.env[name] = operands.POISON
        elif name not in before:
            context.env[name] = Unset(f"{name} may be unbound here: it is set only inside the loop.")
        elif not paths.is_same(before[name], ends[name]):
            context.env[name] = _changed(name)
