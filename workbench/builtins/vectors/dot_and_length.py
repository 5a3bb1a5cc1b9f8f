"""Products and norms of short vectors."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

import numpy as np

from workbench.builtins.declaration.declare import builtin
from workbench.builtins.declaration.refs import Ref, pack
from workbench.builtins.declaration.rules import vectors, vectors_to_scalar
from workbench.builtins.scalars.maths import sqrt
from workbench.builtins.scalars.operators import where

PAIR = ((-2.0, 2.0), (0.5, 2.0))


def _sum(parts: list[Ref]) -> Ref:
    """Emit the sum of the values, in order, and return it."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@builtin(vectors_to_scalar(2, integers=True), elementwise=False, domain=PAIR, ulp=4)
def dot(a, b):
    """Scalar product of two vectors, summed from the first component on."""
    return sum((a * b)[1:], start=(a * b)[0])


dot.expansion(lambda a, b: _sum([x * y for x, y in zip(a.components(), b.components(), strict=True)]))
dot.adjoint(lambda ct, result, a, b: (b * ct, a * ct))


@builtin(vectors(2, length=3, integers=True), elementwise=False, domain=PAIR, ulp=4)
def cross(a, b):
    """Vector product of two vectors of length 3."""
    return np.cross(a, b)


@cross.expansion
def _(a, b):
    """Emit `cross(a, b)` by other builtins, and return its result."""
    (ax, ay, az), (bx, by, bz) = a.components(), b.components()
    return pack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


cross.adjoint(lambda ct, result, a, b: (cross(b, ct), cross(ct, a)))


@builtin(vectors_to_scalar(1, integers=True), elementwise=False, domain=PAIR[:1], ulp=4)
def length_sq(a):
    """Squared length of a vector."""
    return dot.reference(a, a)


length_sq.expansion(lambda a: dot(a, a))
length_sq.adjoint(lambda ct, result, a: (a * (ct * 2.0),))


@builtin(vectors_to_scalar(1), elementwise=False, domain=PAIR[1:], ulp=4)
def length(a):
    """Length of a vector; the derivative at the zero vector is taken as 0."""
    return np.sqrt(dot.reference(a, a))


length.expansion(lambda a: sqrt(dot(a, a)))
length.adjoint(lambda ct, result, a: (a * _over(ct, result),))


@builtin(vectors(1), elementwise=False, domain=PAIR[1:], ulp=4)
def normalize(a):
    """Return the vector divided by its length; the zero vector stays zero, with derivative 0."""
    size = length.reference(a)
    return a / size if size != 0 else np.zeros_like(a)


@normalize.expansion
def _(a):
    """Emit `normalize(a)` by other builtins, and return its result."""
    size = length(a)
    safe = where(size.equals(0), size.like(1), size)
    return where(size.equals(0), a.like(0), a / safe)


@normalize.adjoint
def _(ct, result, a):
    """Return the cotangent of a, from the cotangent `ct` of `normalize(a)`."""
    return ((ct - result * dot(result, ct)) * _over(result.component(0).like(1), length(a)),)


def _over(x: Ref, size: Ref) -> Ref:
    """Emit x / size, or 0 where the size is 0, and return it."""
    return where(size.equals(0), x.like(0), x / where(size.equals(0), size.like(1), size))
