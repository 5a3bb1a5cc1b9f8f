"""In which types names go round a loop.

The body is lowered once to learn the types at its end. Where a literal before the loop becomes a float in it
(`s = 0; for …: s += x[i]`), or meets a wider type (`weak_types.py`), it takes that type and the body is lowered again.
An inner loop is then lowered again too; where all that it reads is as it was, it starts with the types it came to
before: else n loops within one another would be lowered 2ⁿ times.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from workbench.errors import KernelTypeError, WorkbenchError
from workbench.frontend.functions.alike import form
from workbench.frontend.state.coerce import convert, default_type, materialise
from workbench.frontend.state.context import Context, Env
from workbench.frontend.state.memo import Settled
from workbench.frontend.state.merge import RETURNS_A_VALUE, is_ours, same
from workbench.frontend.state.operands import POISON, Literal, Operand, Pending, Poison, Unset
from workbench.frontend.state.owners import Loop, Widen
from workbench.frontend.state.weak_types import ask_type, carried
from workbench.frontend.tiles.part_copies import go_round
from workbench.ir.attributes import REASON
from workbench.ir.values import Value
from workbench.source import nodes_of
from workbench.types import ArrayType, Kind, Type, element, int32

Fresh = Callable[[], dict[str, Value]]
Attempt = Callable[[dict[str, Type], Fresh], dict[str, Operand]]
TRIES = 16


def settle(
    context: Context, node: ast.For | ast.While, names: Sequence[str], before: Env, attempt: Attempt
) -> dict[str, Type]:
    """Lower the body until the carried names' types before and after an iteration agree; the last try counts.

    A name that an iteration leaves as something that cannot be carried (a tuple, a func, an array) has no value at the
    beginning of the body, unless it is the same one.
    """
    errors, kept = context.shared.errors, len(context.shared.errors)
    read = _read(node, names, before)
    key = node, *read, *form(context, read.values())
    known = context.shared.settled.get(key) or _first(names, before)
    types: dict[str, Type] = known.types
    made, hidden, loop = set(known.made), dict(known.hidden), Loop(set(known.fixed))

    def fresh() -> dict[str, Value]:
        made = carried(context, loop, types, before)
        go_round(context, before, made)
        return made

    for _ in range(TRIES):
        del errors[kept:]
        context.env.clear()
        context.env.update(before | hidden)
        try:
            ends = attempt(types, fresh)
        except Widen as wide:
            if wide.owner.loop is not loop:
                raise
            types = types | {wide.owner.name: wide.type}
            made.update([wide.owner.name] * wide.made)
            continue
        lost = [n for n in names if n not in hidden and _lost(before[n], context.env.get(n, before[n]), n in types)]
        if lost:
            hidden |= {n: _changed(n) for n in lost}
            types = {n: t for n, t in types.items() if n not in hidden}
            continue
        ints = [n for n in types if n not in made and _only_asked_for(context, loop, n, before[n], types[n], ends[n])]
        if ints:
            loop.fixed.update(ints)
            types = types | dict.fromkeys(ints, int32)
            continue
        wider = {n: t for n in types if (t := _wider(before[n], types[n], ends[n])) is not None}
        wider |= {n: t for n in names if (t := _returned(before[n], context.env[n])) not in (None, types.get(n))}
        wider = {n: t for n, t in wider.items() if n not in hidden}
        if not wider:
            _check_ends(context, types, before, ends)
            fixed = frozenset(loop.fixed)
            context.shared.settled[key] = Settled(types, frozenset(made), hidden, fixed, tuple(read.values()))
            return types
        types = types | wider
        made.update(wider)
    which = ", ".join(sorted(made))
    message = (
        f"The types of {which} in this loop do not converge." if which else "The types in this loop do not converge."
    )
    raise context.error(KernelTypeError, message, "Give them types before it: n = float(0).")


def _first(names: Sequence[str], before: Env) -> Settled:
    """What a loop begins with."""
    types = {n: t for n in names if (t := _start_type(before[n])) is not None}
    return Settled(types, frozenset(), {}, frozenset(), ())


def _read(node: ast.For | ast.While, names: Sequence[str], before: Env) -> Env:
    """The names that lowering the loop looks at, structs' fields too."""
    used = _named(node) | {*names, getattr(node, "until", None)}
    return {name: operand for name, operand in before.items() if name in used or name.partition(".")[0] in used}


def _named(node: ast.For | ast.While) -> frozenset[str]:
    """The names in a loop; found once: those of inner loops are needed each time that an outer one is tried."""
    known: frozenset[str] | None = getattr(node, "_named", None)
    if known is None:
        known = frozenset(n.id for n in nodes_of(node) if isinstance(n, ast.Name))
        node._named = known  # type: ignore[union-attr]
    return known


def _start_type(operand: Operand) -> Type | None:
    """The type in which a name is carried first; None if it cannot be carried."""
    if isinstance(operand, Value) and not isinstance(operand.type, ArrayType):
        return operand.type
    return default_type(operand) if isinstance(operand, Literal) else None


def _only_asked_for(context: Context, loop: Loop, name: str, before: Operand, type: Type, end: Operand) -> bool:
    """Whether a name became a float only because something in the body wanted one: nothing makes it a float.

    `n = 0; for …: y[i] = sin(n); n += 1` is an error about `sin(n)`, as it is without the loop.
    """
    if not isinstance(before, Literal) or before.is_float or element(type).kind is not Kind.FLOAT:
        return False
    owner = context.shared.tentative.get(end) if isinstance(end, Value) else None
    return owner is not None and owner.loop is loop and owner.name == name


def _lost(before: Operand, end: Operand, carried: bool) -> bool:
    """Whether a name cannot be handed to the next iteration, and is not what it was."""
    if isinstance(before, (Unset, Poison)) or isinstance(end, (Poison, Pending)):
        return False
    if carried or isinstance(before, Pending):
        return not isinstance(end, (Value, Literal)) or (isinstance(end, Value) and isinstance(end.type, ArrayType))
    return not same(before, end)


def _changed(name: str) -> Unset:
    reason = f"{name} changes its kind inside the loop, so it is not known here."
    return Unset(RETURNS_A_VALUE if is_ours(name) else reason)


def _returned(before: Operand, end: Operand) -> Type | None:
    """The type of what a `return` inside the loop gives, where nothing was known of it before."""
    if not isinstance(before, Pending):
        return None
    found = end.type if isinstance(end, Value) else default_type(end) if isinstance(end, Literal) else None
    return None if isinstance(found, ArrayType) else found


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


def _check_ends(context: Context, types: dict[str, Type], before: Env, ends: dict[str, Operand]) -> None:
    for name, type in types.items():
        end = ends[name]
        if isinstance(end, Value) and end.type != type:
            ask_type(context, before[name], end.type, made=True)
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
        values.append(end if fits else context.builder.one("unavailable", (), type, {REASON: f"{name} has no value"}))
    context.builder.yield_(*values)


def initial(context: Context, before: Env, types: dict[str, Type]) -> list[Value]:
    """What the first iteration gets."""
    return [convert(context, before[n], t) for n, t in types.items()]


def leave(
    context: Context, before: Env, types: dict[str, Type], results: Sequence[Value], touched: Sequence[str]
) -> None:
    """What names are after the loop: the carried ones its results; what only the body sets may be unbound."""
    ends = dict(context.env)
    context.env.clear()
    context.env.update(before)
    context.env.update(zip(types, results, strict=True))
    for name, result in zip(types, results, strict=True):
        owner = context.shared.tentative.get(before[name])  # type: ignore[arg-type]
        if owner is not None and ends[name] in context.shared.tentative:
            context.shared.tentative[result] = owner
    for name in touched:
        if name in types or name not in ends:
            continue
        if isinstance(ends[name], Poison):
            context.env[name] = POISON
        elif name not in before:
            context.env[name] = Unset(f"{name} may be unbound here: it is set only inside the loop.")
        elif not same(before[name], ends[name]):
            context.env[name] = _changed(name)
