"""Transforms in the front end: made of p and q, read and changed by these names, and which operators they have."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import WorkbenchError
from workbench.frontend.state.coerce import assign_type, components, describe, extracted, materialise, usable
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.values import Value
from workbench.types import Scalar, Transform, Vector

PLACES = {"p": range(3), "q": range(3, 7)}
EXAMPLE = "Write transform(p, q), with p a vec3 and q a quat, or transform_identity()."


def construct(context: Context, type: Transform, args: Sequence[Operand]) -> Value:
    """Lower `transform(p, q)`, `transform(p)` without a rotation, of 7 numbers or of one, `transformd(t)` as a cast.

    Raises:
        KernelTypeError: the arguments are something else.
    """
    operands = [usable(context, a) for a in args]
    types = [o.type if isinstance(o, Value) else None for o in operands]
    if len(types) == 1 and isinstance(types[0], Transform):
        return context.builder.cast(materialise(context, operands[0]), type)
    if types == [type.part("p")]:
        operands, types = [*operands, *_identity(context, type)], [*types, type.part("q")]
    if types == [type.part("p"), type.part("q")]:
        parts = [c for o in operands for c in components(context, materialise(context, o))]
    elif not operands:
        parts = [assign_type(context, Literal(0.0), type.dtype, "")] * type.length
    elif len(operands) in (1, type.length) and not any(isinstance(t, Vector) for t in types):
        operands = operands * (type.length // len(operands))
        parts = [assign_type(context, o, type.dtype, f"A component of {type!r}") for o in operands]
    else:
        got = ", ".join(map(describe, operands)) or "nothing"
        raise context.type_error(f"{type!r}() takes p and q, or 7 numbers; it got {got}.", EXAMPLE)
    return context.builder.one("vec", parts, type)


def transform_of(value: Value) -> Transform:
    """Return the type of a value that is known to be a transform."""
    assert isinstance(value.type, Transform)
    return value.type


def _identity(context: Context, type: Transform) -> list[Value]:
    """Return the quaternion without rotation, as the only item of a list."""
    numbers = [assign_type(context, Literal(float(k == 3)), type.dtype, "") for k in range(4)]
    return [context.builder.one("vec", numbers, type.part("q"))]


def attribute(context: Context, t: Value, name: str) -> Value:
    """Lower `t.p` and `t.q`.

    Raises:
        KernelSyntaxError: another name.
    """
    if name not in PLACES:
        raise no_part(context, t, name)
    return context.builder.one("vec", [extracted(context, t, k) for k in PLACES[name]], transform_of(t).part(name))


def no_part(context: Context, t: Value, name: str) -> WorkbenchError:
    """Return the error for a name that a transform does not have."""
    return context.syntax_error(f"{describe(t)} has no {name}; it has p and q.")


def changed(context: Context, t: Value, name: str, operand: Operand, label: str) -> Value:
    """Emit the transform after `t.p = operand` or `t.q = operand`, and return it.

    Raises:
        KernelSyntaxError: another name.
        KernelTypeError: the operand does not fit.
    """
    type = transform_of(t)
    if name not in PLACES:
        raise no_part(context, t, name)
    part = assign_type(context, operand, type.part(name), f"{label or 'The transform'}.{name}")
    for position, component in zip(PLACES[name], components(context, part), strict=True):
        index = context.builder.const(position)
        t = context.builder.emit("insert", (t, index, component), (type,), names=(label,)).result
    return t


def sign_of(context: Context, name: str, left: Operand, right: Operand) -> str:
    """Return the name of the builtin for an operator between transforms, or a transform and a number.

    Raises:
        KernelTypeError: there is none.
    """
    types = [o.type if isinstance(o, Value) else None for o in (left, right)]
    both = all(isinstance(t, Transform) for t in types)
    if both and name == "mul":
        return "transform_multiply"
    one = any(t is None or isinstance(t, Scalar) for t in types)
    if (both and name in ("add", "sub")) or (one and name in ("mul", "div")):
        return name
    raise context.type_error(
        f"Transforms have * + - among them, and * and / with a number; this is {describe(left)} and {describe(right)}.",
        "Write transform_point(t, v) for a point, transform_vector(t, v) for a direction.",
    )
