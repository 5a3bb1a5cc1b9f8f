"""Noise as arithmetic: one hash for each corner of the lattice cell, faded together.

Everything is written in differentiable builtins, so noise has the gradient of its own formula.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add, mul

from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.refs import Ref, pack
from workbench.builtins.scalars.bits import raw_shr
from workbench.builtins.scalars.randoms import rand_next, rand_word
from workbench.builtins.scalars.rounding import floor
from workbench.errors import KernelTypeError
from workbench.frontend.state.coerce import assign_type, describe, materialise, usable
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.values import Value
from workbench.types import Kind, Scalar, Vector, element, float32, int32, uint32

Expression = Callable[[Context, ast.expr], Operand]
Corner = tuple[int, ...]


class Cell:
    """The lattice cell around a point: offsets from its lower corner, fades, and a hash for each corner."""

    def __init__(self, state: Ref, point: Sequence[Ref], periods: Sequence[Ref] = ()) -> None:
        whole = [floor(x) for x in point]
        self.offsets = [x - w for x, w in zip(point, whole, strict=True)]
        self.fades = [t * t * t * (t * (t * 6.0 - 15.0) + 10.0) for t in self.offsets]
        self.hashes: dict[Corner, Ref] = {(): state}
        for axis, lower in enumerate(w.cast(int32) for w in whole):
            places = [lower, lower + 1]
            if periods:
                places = [TABLE["mod"](place, periods[axis]) for place in places]
            self.hashes = {
                (*corner, side): rand_word(rand_next(hashed + place.cast(uint32)))
                for corner, hashed in self.hashes.items()
                for side, place in enumerate(places)
            }

    def slope(self, corner: Corner, axis: int) -> Ref:
        """A component of the random slope of a corner, from -1 to 1: eight bits of its hash."""
        bits = TABLE["bit_and"](raw_shr(self.hashes[corner], 8 * axis), 255)
        return bits.cast(float32).cast(element(self.offsets[0].type)) * (2.0 / 255.0) - 1.0

    def rise(self, corner: Corner) -> Ref:
        """The height of a corner's slope at the point."""
        steps = [t - 1.0 if side else t for t, side in zip(self.offsets, corner, strict=True)]
        return reduce(add, [self.slope(corner, axis) * step for axis, step in enumerate(steps)])

    def shares(self, corner: Corner) -> list[Ref]:
        """How much of a corner's height counts, along each axis."""
        return [s if side else 1.0 - s for s, side in zip(self.fades, corner, strict=True)]

    def height(self) -> Ref:
        """The noise."""
        return reduce(add, [reduce(mul, [*self.shares(c), self.rise(c)]) for c in self.hashes])

    def gradient(self) -> list[Ref]:
        """The noise's derivative along each axis."""
        return [self._along(axis) for axis in range(len(self.offsets))]

    def _along(self, axis: int) -> Ref:
        t = self.offsets[axis]
        rate = (t * (t - 1.0)) * (t * (t - 1.0)) * 30.0
        terms = []
        for corner in self.hashes:
            shares = self.shares(corner)
            changing = [*shares[:axis], rate if corner[axis] else -rate, *shares[axis + 1 :], self.rise(corner)]
            terms += [reduce(mul, changing), reduce(mul, [*shares, self.slope(corner, axis)])]
        return reduce(add, terms)


def _arguments(context: Context, node: ast.Call, expression: Expression) -> tuple[Ref, list[Ref], list[Operand]]:
    """The state, the point's components, and what comes after."""
    name = ast.unparse(node.func)
    if node.keywords or len(node.args) < 2:
        raise context.error(KernelTypeError, f"{name}() takes a state and a point, without names.")
    state, point, *rest = (usable(context, expression(context, a)) for a in node.args)
    if not isinstance(state, Value) or state.type != uint32:
        raise context.error(
            KernelTypeError, f"{name}() takes a state, a uint32, first; this is {describe(state)}.",
            "Write state = rand_init(seed) first.",
        )  # fmt: skip
    if isinstance(point, Literal):
        point = materialise(context, point, float32)
    fits = isinstance(point.type, Scalar) or (type(point.type) is Vector and point.type.length in (2, 3, 4))
    if not fits or element(point.type).kind is not Kind.FLOAT:
        wanted = "a float or a vector of 2 to 4 floats as the point"
        raise context.error(KernelTypeError, f"{name}() takes {wanted}; this is {describe(point)}.")
    return Ref(context.builder, state), Ref(context.builder, point).components(), list(rest)


def _noise(context: Context, node: ast.Call, expression: Expression) -> Operand:
    state, point, rest = _arguments(context, node, expression)
    if rest:
        raise context.error(KernelTypeError, f"noise() takes a state and a point; it got {2 + len(rest)} arguments.")
    return Cell(state, point).height().value


def _periodic(context: Context, node: ast.Call, expression: Expression) -> Operand:
    state, point, rest = _arguments(context, node, expression)
    if len(rest) != len(point):
        raise context.error(
            KernelTypeError, f"pnoise() takes one period for each of the {len(point)} components; it got {len(rest)}."
        )
    periods = [Ref(context.builder, assign_type(context, p, int32, "A period of pnoise()")) for p in rest]
    return Cell(state, point, periods).height().value


def _curl(context: Context, node: ast.Call, expression: Expression) -> Operand:
    state, point, rest = _arguments(context, node, expression)
    if rest:
        raise context.error(KernelTypeError, "curlnoise() takes a state and a point; it has no octaves yet.")
    if len(point) not in (2, 3):
        raise context.error(KernelTypeError, "curlnoise() takes a vector of 2 or 3 floats as the point.")
    if len(point) == 2:
        dx, dy = Cell(state, point).gradient()
        return pack([dy, -dx]).value
    (_, ay, az), (bx, _, bz), (cx, cy, _) = (Cell(state + k, point).gradient() for k in range(3))
    return pack([cy - bz, az - cx, bx - ay]).value


FORMS: dict[str, Callable[[Context, ast.Call, Expression], Operand]] = {
    "noise": _noise,
    "pnoise": _periodic,
    "curlnoise": _curl,
}
