"""Several components of a vector by their letters: `v.xy`, `v.zyx`, `v.xx`; and the components as arguments."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.frontend.context import Context
from workbench.frontend.operands import Operand
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


def _component(context: Context, vector: Value, place: int) -> Value:
    assert isinstance(vector.type, Vector)
    return context.builder.one("extract", (vector, context.builder.const(place)), vector.type.dtype)


def components(context: Context, operands: Sequence[Operand]) -> list[Operand]:
    """The components in the place of one vector that stands alone: `min(v)` is the smallest of them."""
    (only,) = operands
    if isinstance(only, Value) and type(only.type) is Vector:
        return [_component(context, only, place) for place in range(only.type.length)]
    return list(operands)
