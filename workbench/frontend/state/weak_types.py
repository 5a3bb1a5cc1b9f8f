"""Types that a literal has only for now, until the loop it goes into has been seen whole.

`s = 0` before a loop is carried as int32 first. What is computed from it and from literals alone is tentative too.
Where a tentative value meets a type it does not fit (another branch, an inner loop, a rule that wants floats), `Widen`
unwinds to the loop that owns it, which lowers its body again with the wider type.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand
from workbench.frontend.state.owners import Loop, Owner, Widen
from workbench.ir.values import Value
from workbench.types import Kind, Scalar, Type, element, float32, int32

# Builtins whose result has the type of their operands: what they make of tentative values is tentative.
FOLLOWS = frozenset({"add", "sub", "mul", "neg", "min", "max", "abs", "sign", "floordiv", "mod", "clamp", "where"})


def carried(context: Context, loop: Loop, types: dict[str, Type], before: dict[str, Operand]) -> dict[str, Value]:
    """Fresh values for a loop's carried names; those that start as literals, or as tentative values, are tentative."""
    made = {n: Value(t, n) for n, t in types.items()}
    for name, value in made.items():
        start = before[name]
        owner = Owner(loop, name) if isinstance(start, Literal) else context.shared.tentative.get(start)  # type: ignore[arg-type]
        if owner is not None:
            context.shared.tentative[value] = owner
    return made


def ask_result(context: Context, name: str, types: Sequence[Type]) -> None:
    """Where two paths return numbers of two types, and one may come from literals: unwind to the function.

    Args:
        context: where.
        name: of the result; its position stands at the end.
        types: of both.

    Raises:
        Widen: it is worth trying with the type that is not a literal's own.
    """
    results, number = context.results, name.replace(".", " ").split()[-1]
    if results is None or not number.isdigit() or not all(isinstance(t, Scalar) for t in types):
        return
    position = int(number)
    if position in results.types:
        return
    for own, other in (types, types[::-1]):
        if (own == int32 and element(other).kind is not Kind.BOOL) or (
            own == float32 and element(other).kind is Kind.FLOAT
        ):
            results.types[position] = other
            raise Widen(Owner(results, name), other, made=True)


def spread(context: Context, name: str, operands: Sequence[Operand], result: Value) -> None:
    """Mark the result of a builtin on tentative values and literals alone."""
    values = [o for o in operands if isinstance(o, Value)]
    owners = [context.shared.tentative.get(v) for v in values]
    if name in FOLLOWS and owners and owners[0] is not None and None not in owners:
        context.shared.tentative[result] = owners[0]


def ask_float(context: Context, operands: Sequence[Operand]) -> None:
    """Where a rule refused: unwind, if a tentative int32 among the operands could be a float.

    Raises:
        Widen: it could.
    """
    for operand in operands:
        owner = context.shared.tentative.get(operand) if isinstance(operand, Value) else None
        if owner is not None and operand.type == int32 and owner.name not in owner.loop.fixed:  # type: ignore[union-attr]
            raise Widen(owner, float32)


def ask_type(context: Context, operand: Operand, type: Type, made: bool = False) -> None:
    """Where types do not meet: unwind, if `operand` is tentative and its literal can have `type`.

    Args:
        made: the body gives the name this type on some path; else a place in it wants the type.

    Raises:
        Widen: it can.
    """
    owner = context.shared.tentative.get(operand) if isinstance(operand, Value) else None
    if owner is None or owner.name in owner.loop.fixed or operand.type == type:  # type: ignore[union-attr]
        return
    if element(operand.type).kind is Kind.FLOAT and element(type).kind is not Kind.FLOAT:  # type: ignore[union-attr]
        return
    if isinstance(type, Scalar) and type.kind is not Kind.BOOL:
        raise Widen(owner, type, made)
