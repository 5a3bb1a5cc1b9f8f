"""IR values with operators: the notation in which adjoint rules and expansions are written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from workbench.builtins.declaration.rules import RULES, WEAK_FLOAT, WEAK_INT, Arg, Rule, Signature
from workbench.ir.build import Builder
from workbench.ir.tiles import tile_of
from workbench.ir.values import Value, scalar_of, vector_of
from workbench.tiles import Tile, contents
from workbench.types import ArrayType, Scalar, Type, Vector, is_weak, strong


class Ref:
    """A value of the IR and the builder that new operations go to: operators on it emit operations.

    Not so `==` and `!=`, which compare identity: see `equals` and `differs`. Numbers combined with a `Ref` take its
    type.
    """

    __slots__ = ("builder", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, builder: Builder, value: Value) -> None:
        """Hold the value, and the builder of the function that it belongs to."""
        self.builder = builder
        self.value = value

    @property
    def type(self) -> Type:
        """The value's type."""
        return self.value.type

    def _op(self, name: str, *args: Any) -> Ref:
        """Emit the builtin `name` of these arguments, and return its result."""
        return emit(self.builder, name, args)

    def __add__(self, other: Any) -> Ref:
        """Emit `self + other` and return its result."""
        return self._op("add", self, other)

    def __radd__(self, other: Any) -> Ref:
        """Emit `other + self` and return its result."""
        return self._op("add", other, self)

    def __sub__(self, other: Any) -> Ref:
        """Emit `self - other` and return its result."""
        return self._op("sub", self, other)

    def __rsub__(self, other: Any) -> Ref:
        """Emit `other - self` and return its result."""
        return self._op("sub", other, self)

    def __mul__(self, other: Any) -> Ref:
        """Emit `self * other` and return its result."""
        return self._op("mul", self, other)

    def __rmul__(self, other: Any) -> Ref:
        """Emit `other * self` and return its result."""
        return self._op("mul", other, self)

    def __truediv__(self, other: Any) -> Ref:
        """Emit `self / other` and return its result."""
        return self._op("div", self, other)

    def __rtruediv__(self, other: Any) -> Ref:
        """Emit `other / self` and return its result."""
        return self._op("div", other, self)

    def __neg__(self) -> Ref:
        """Emit `-self` and return its result."""
        return self._op("neg", self)

    def __lt__(self, other: Any) -> Ref:
        """Emit `self < other` and return its result, a bool of the IR."""
        return self._op("lt", self, other)

    def __le__(self, other: Any) -> Ref:
        """Emit `self <= other` and return its result, a bool of the IR."""
        return self._op("le", self, other)

    def __gt__(self, other: Any) -> Ref:
        """Emit `self > other` and return its result, a bool of the IR."""
        return self._op("gt", self, other)

    def __ge__(self, other: Any) -> Ref:
        """Emit `self >= other` and return its result, a bool of the IR."""
        return self._op("ge", self, other)

    def equals(self, other: Any) -> Ref:
        """Emit `self == other` and return its result, a bool of the IR; Python's own operator compares identity."""
        return self._op("eq", self, other)

    def differs(self, other: Any) -> Ref:
        """Emit `self != other` and return its result, a bool of the IR; Python's own operator compares identity."""
        return self._op("ne", self, other)

    def cast(self, type: Type) -> Ref:
        """Emit a conversion to another scalar type (componentwise on vectors; of a tile, element by element)."""
        if isinstance(self.value.type, Tile):
            if self.value.type == type:
                return self
            wanted: Any = contents(type)
            b = self.builder
            return Ref(b, b.tile_map(self.value.type.shape, (self.value,), lambda at, e: [b.cast(e[0], wanted)])[0])
        return Ref(self.builder, self.builder.cast(self.value, type))

    def component(self, index: int) -> Ref:
        """Emit a read of component `index` of a vector."""
        where = self.builder.const(index)
        return Ref(self.builder, self.builder.one("extract", (self.value, where), vector_of(self.value).dtype))

    def components(self) -> list[Ref]:
        """Return all components of a vector, or the scalar alone."""
        return [self.component(i) for i in range(self.type.length)] if isinstance(self.type, Vector) else [self]

    def like(self, number: Any) -> Ref:
        """Emit the constant `number` in this value's type, in every component or element."""
        return constant(self.builder, number, self.type)

    def splat(self, type: Type) -> Ref:
        """Emit a vector of this type with the scalar in every component; a vector, or for a scalar type, itself."""
        if not isinstance(type, Vector) or isinstance(self.type, Vector):
            return self
        return Ref(self.builder, self.builder.one("vec", [self.value] * type.length, type))


def constant(builder: Builder, number: Any, type: Type) -> Ref:
    """Emit a constant of a scalar type, or a vector or tile with `number` in every component or element."""
    assert not isinstance(type, ArrayType)
    if isinstance(type, Tile):
        inner: Any = type.dtype
        return Ref(builder, builder.tile_map(type.shape, (), lambda at, e: [constant(builder, number, inner).value])[0])
    value = (number,) * type.length if isinstance(type, Vector) else number
    return Ref(builder, builder.const(value, type))


def pack(components: Sequence[Ref], type: Vector | None = None) -> Ref:
    """Emit the vector of these scalars; or, as `type` says, the matrix, quaternion or other vector type of them."""
    first = components[0]
    vector_type = type if type is not None else Vector(len(components), scalar_of(first.value))
    return Ref(first.builder, first.builder.one("vec", [c.value for c in components], vector_type))


def emit(builder: Builder, name: str, args: Sequence[Any]) -> Ref:
    """Emit the builtin `name` on Refs and numbers, on tiles for each element; return its result.

    A number takes the type that the rule gives its operand.

    Raises:
        KernelTypeError: the builtin does not take these types.
    """
    tiles = [a.value for a in args if isinstance(a, Ref) and isinstance(a.value.type, Tile)]
    if tiles:
        return _over(builder, name, args, tiles)
    kinds = [
        a.type if isinstance(a, Ref) else WEAK_INT if isinstance(a, (int, np.integer)) else WEAK_FLOAT for a in args
    ]
    operands, result = _signature(RULES[name], name, tuple(kinds), tuple(map(is_weak, kinds)))
    values: list[Value] = []
    for arg, type in zip(args, operands, strict=True):
        if isinstance(arg, Ref):
            scalar = type.dtype if isinstance(type, Vector) and isinstance(arg.type, Scalar) else type
            values.append(arg.cast(scalar).splat(type).value)
        else:
            values.append(constant(builder, arg, type).value)
    return Ref(builder, builder.one(name, values, result))


@lru_cache(maxsize=4096)
def _signature(rule: Rule, name: str, kinds: tuple[Arg, ...], weak: tuple[bool, ...]) -> Signature:
    """Return the types that a rule gives operands and result, with default types in place of those still open.

    Args:
        rule: the rule.
        name: the builtin's.
        kinds: the types of the arguments.
        weak: which of them are open; it tells types apart that compare equal.
    """
    operands, result = rule(name, kinds)
    return tuple(map(strong, operands)), strong(result)  # what passes emit is decided


def _over(builder: Builder, name: str, args: Sequence[Any], tiles: Sequence[Value]) -> Ref:
    """Emit the builtin `name` on every element of tiles of one shape; other arguments are the same for all."""

    def element(indices: Sequence[Value], elements: Sequence[Value]) -> Sequence[Value]:
        rest = iter(elements)
        inside = [
            Ref(builder, next(rest)) if isinstance(a, Ref) and isinstance(a.value.type, Tile) else a for a in args
        ]
        return [emit(builder, name, inside).value]

    return Ref(builder, builder.tile_map(tile_of(tiles[0]).shape, tiles, element)[0])
