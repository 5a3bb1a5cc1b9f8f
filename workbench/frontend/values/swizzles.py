"""Several components of a vector by their letters: `v.xy`, `v.zyx`, `v.xx`; and the components as arguments."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import KernelTypeError
from workbench.frontend.state.coerce import assign_type
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.values import Value
from workbench.types import Vector

LETTERS = "xyzw"


def is_swizzle(base: object, attr: str) -> bool:
    """Whether the letters name 2 to 4 components of this vector."""
    if not isinstance(base, Value) or type(base.type) is not Vector:
        return False
    return 2 <= len(attr) <= 4 and set(attr) <= set(LETTERS[: base.type.length])


def swizzle(context: Context, base: Value, attr: str) -> Value:
    """The vector of these components."""
    assert isinstance(base.type, Vector)
    parts = {letter: _component(context, base, LETTERS.index(letter)) for letter in dict.fromkeys(attr)}
    return context.builder.one("vec", [parts[letter] for letter in attr], Vector(len(attr), base.type.dtype))


def sliced(context: Context, base: Value, bounds: Sequence[Operand | None]) -> Value:
    """`v[a:b]` of a vector, with bounds written out.

    Raises:
        KernelTypeError: a bound is known only when running, or no component is left.
    """
    assert isinstance(base.type, Vector)
    places = _span(context, base.type, bounds)
    parts = [_component(context, base, k) for k in places]
    return context.builder.one("vec", parts, Vector(len(places), base.type.dtype))


def changed(
    context: Context, base: Value, bounds: Sequence[Operand | None], operand: Operand, what: str, label: str
) -> Value:
    """The vector after `v[a:b] = operand`, which is a vector of as many components, or one number for all.

    Raises:
        KernelTypeError: it is neither; or as for `sliced`.
    """
    assert isinstance(base.type, Vector)
    places, scalar = _span(context, base.type, bounds), base.type.dtype
    whole = operand.type if isinstance(operand, Value) and isinstance(operand.type, Vector) else None
    wanted = Vector(len(places), scalar) if whole is not None else scalar
    value = assign_type(context, operand, wanted, what)
    for k, place in enumerate(places):
        part = value if whole is None else _component(context, value, k)
        where = context.builder.const(place)
        base = context.builder.emit("insert", (base, where, part), (base.type,), names=(label,)).result
    return base


def _span(context: Context, type: Vector, bounds: Sequence[Operand | None]) -> range:
    if not all(b is None or (isinstance(b, Literal) and not b.is_float) for b in bounds) or bounds[2] == Literal(0):
        raise context.error(
            KernelTypeError, "The bounds of a vector's slice are integers written out.", "Take the components: v[i]."
        )
    first, last, step = (int(b.value) if isinstance(b, Literal) else None for b in bounds)
    places = range(type.length)[slice(first, last, step)]
    if not places:
        raise context.error(KernelTypeError, f"This slice of a {type!r} has no component.")
    return places


def _component(context: Context, vector: Value, place: int) -> Value:
    assert isinstance(vector.type, Vector)
    return context.builder.one("extract", (vector, context.builder.const(place)), vector.type.dtype)


def components(context: Context, operands: Sequence[Operand]) -> list[Operand]:
    """The components in the place of one vector that stands alone: `min(v)` is the smallest of them."""
    (only,) = operands
    if isinstance(only, Value) and type(only.type) is Vector:
        return [_component(context, only, place) for place in range(only.type.length)]
    return list(operands)
