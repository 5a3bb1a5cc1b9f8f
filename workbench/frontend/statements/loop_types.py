"""In which types names go round a loop, and the loop with these names.

The body is lowered once to learn the types at its end. A literal before the loop that takes the type of an element in
it (`s = 0; for …: s += x[i]`) starts with that type; one that meets only literals stays weak. If the body does nothing
with such a name but convert it to this type, the name gets the type where it stands. Otherwise (`s = s * 2 + x[i]`) the
body is lowered again, and an inner loop with it; where all that it reads is as it was, it starts with the types it came
to before: else n loops within one another would be lowered 2ⁿ times.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import force_setattr, replace

from workbench.builtins.declaration.rules import WEAK_COMPLEX, WEAK_FLOAT, Weak, promote
from workbench.errors import WorkbenchError
from workbench.frontend.functions.inline import form_of
from workbench.frontend.state.coerce import adopts, convert, default_type, describe, weak
from workbench.frontend.state.context import Context, Env, LoopTypes
from workbench.frontend.state.exits import Loop, exit_flag
from workbench.frontend.state.merge import RETURNS_A_VALUE, is_index_name, is_ours, is_part, is_same, shown
from workbench.frontend.state.operands import PENDING, POISON, Literal, Operand, Parts, Pending, Poison, Unset
from workbench.frontend.tiles.part_copies import carry_parts
from workbench.frontend.values.structs import bind, pending, spread, with_fields
from workbench.ir.ops import REASON
from workbench.ir.values import Block, Value, walk
from workbench.limits import LOOP_TYPE_CHANGES
from workbench.source import nodes_of
from workbench.types import ArrayType, Complex, Kind, Scalar, Type, element, int64, is_integer, is_weak, strong

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
    before = context.env | dict.fromkeys(loop.names, PENDING)
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
    finally:
        context.shared.in_loop = inside
    init = [convert(context, before[n], t) for n, t in settled.types.items()]
    _bind_results(context, before, settled.types, emit(init, *blocks), touched)
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
            context.env.clear()
            context.env.update(before | hidden)
            blocks = attempt(fresh)
            with_fields(names, context.env)
        ends, again = context.env, True
        structs = [n for n in names if before[n] is PENDING and isinstance(ends.get(n), Parts)]
        for name in structs:  # a `return` in the loop gives a struct: its fields go round
            bind(before, name, pending(ends[name].type))  # type: ignore[union-attr]
            spread(before, name)
        if structs:
            names = with_fields(names, before)
            continue
        lost = {
            n: _changed(n) for n in names if n not in hidden and _lost(before[n], ends.get(n, before[n]), n in types)
        }
        wider = {} if lost else _widened(names, types, hidden, before, ends)
        if not lost and not wider:  # parts of a tuple that an iteration may set before it reads it
            unfit = [n for n in types if is_part(n) and not _fits(n, ends[n], types[n])]
            lost = {n: Unset(_unlike(n, types[n], ends[n])) for n in unfit}
        if lost:
            hidden |= lost
            types = {n: t for n, t in types.items() if n not in hidden}
            continue
        if not wider:
            blocks[-1] = _closed(context, blocks[-1], types, ends)
            _check_ends(context, types, before, ends)
            return LoopTypes(types, hidden, ()), blocks
        changes.update(dict.fromkeys(wider, 1))
        for name in (n for n, count in changes.items() if count > LOOP_TYPE_CHANGES):
            what = f"{name} is {types[name]!r} at the start of an iteration and {wider[name]!r} at its end, each time."
            raise context.type_error(what, f"Give it a type before the loop: {name} = wb.float32(0).")
        types = types | wider
        again = len(errors) > errors_before or not _retyped(context, blocks, carried, wider)


def _widened(
    names: Sequence[str], types: Mapping[str, Type], hidden: Mapping[str, Operand], before: Env, ends: Env
) -> dict[str, Type]:
    """Return the types that carried names take from the end of an iteration, for those that do not keep theirs."""
    wider = {n: t for n in types if (t := _wider(before[n], types[n], ends[n])) is not None}
    wider |= {n: t for n in names if (t := _returned(before[n], types.get(n), ends[n])) is not None}
    return {n: t for n, t in wider.items() if n not in hidden}


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
    types = {n: int64 if is_index_name(n) else t for n in names if (t := _start_type(before[n])) is not None}
    return LoopTypes(types, {}, ())


def _read(node: ast.For | ast.While, names: Sequence[str], before: Env) -> Env:
    """Return, of the operands `before` a loop, those of all names that lowering it reads, structs' fields too."""
    used = _named(node) | {*names, exit_flag(node)}
    return {name: operand for name, operand in before.items() if name in used or name.partition(".")[0] in used}


def _named(node: ast.For | ast.While) -> frozenset[str]:
    """Return the names in a loop; found once: those of inner loops are needed each time that an outer one is tried."""
    known: frozenset[str] | None = getattr(node, "_named", None)
    if known is None:
        known = frozenset(n.id for n in nodes_of(node) if isinstance(n, ast.Name))
        node._named = known  # type: ignore[union-attr]
    return known


def _start_type(operand: Operand) -> Type | None:
    """Return the type in which a name is carried first; None if it cannot be carried."""
    if isinstance(operand, Value) and not isinstance(operand.type, ArrayType):
        return operand.type
    return default_type(operand) if isinstance(operand, Literal) else None


def _lost(before: Operand, end: Operand, carried: bool) -> bool:
    """Return whether a name cannot be handed to the next iteration, and is not what it was."""
    if isinstance(before, (Unset, Poison)) or isinstance(end, (Poison, Pending)):
        return False
    if carried or isinstance(before, Pending):
        return not isinstance(end, (Value, Literal)) or (isinstance(end, Value) and isinstance(end.type, ArrayType))
    return not is_same(before, end)


def _changed(name: str) -> Unset:
    """Return the `Unset` of a name whose kind changes in a loop, so that an iteration starts without a value for it."""
    reason = f"{shown(name)} changes its kind inside the loop, so it is not known here."
    return Unset(RETURNS_A_VALUE if is_ours(name) else reason)


def _end_type(operand: Operand) -> Type | None:
    """Return the type of a number or a vector at the end of an iteration, a literal's weak."""
    if isinstance(operand, Literal):
        return default_type(operand)
    return operand.type if isinstance(operand, Value) and not isinstance(operand.type, ArrayType) else None


def _returned(before: Operand, type: Type | None, end: Operand) -> Type | None:
    """Return the type of what a `return` inside the loop gives, where nothing or less was known of it before.

    None if the name `before` stands for no such value, or nothing new is known.
    """
    known = _end_type(end) if isinstance(before, Pending) else None
    return known if known is not None and (type is None or _decides(known, type)) else None


def _wider(before: Operand, type: Type, end: Operand) -> Type | None:
    """Return the type that a start without a type takes from the end of an iteration; None if it keeps what it has."""
    known = _end_type(end)
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


def _check_ends(context: Context, types: Mapping[str, Type], before: Env, ends: Env) -> None:
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
        return end.type == type or adopts(end, type) or (is_index_name(name) and is_integer(end.type))
    return isinstance(end, Literal)


def _unlike(name: str, type: Type, end: Operand) -> str:
    """Return the message that a name has this type before a loop and another operand after an iteration."""
    return f"{shown(name)} is {type!r} before the loop and {describe(end)} after an iteration."


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
    context: Context, before: Env, types: Mapping[str, Type], results: Sequence[Value], touched: Sequence[str]
) -> None:
    """Set the names after the loop: carried ones to its results; others that the body sets become errors to read.

    Those that only the body sets may be unbound; those that it sets to something else than before without being
    carried have no one value. A name poisoned in the body stays poisoned.

    Args:
        context: its `env` holds the names at the body's end, and is replaced.
        before: the names before the loop.
        types: of the carried names, in the order of `results`.
        results: the loop's.
        touched: names that the body sets.
    """
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
        elif not is_same(before[name], ends[name]):
            context.env[name] = _changed(name)
