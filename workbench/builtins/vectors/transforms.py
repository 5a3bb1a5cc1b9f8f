"""Transforms, a translation p and a rotation q, in the kernel language: point v goes to `quat_rotate(q, v) + p`.

Names and orders of arguments are the field's. The rotation is by a unit quaternion.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import has_components, vector
from workbench.builtins.declaration.rules import TRANSFORM, VECTOR, Arg, kinds, promote
from workbench.builtins.vectors.quaternions import quat_inverse, quat_rotate
from workbench.types import Matrix, Type, Vector


@written("transform_get_translation(t)", kinds(TRANSFORM))
def transform_get_translation(t, /):
    """The translation, `t.p`."""
    return t.p


@written("transform_get_rotation(t)", kinds(TRANSFORM))
def transform_get_rotation(t, /):
    """The rotation, `t.q`."""
    return t.q


@written("transform_multiply(a, b)", kinds(TRANSFORM, TRANSFORM))
def transform_multiply(a, b, /):
    """The transform b, then a; `a * b`."""
    return type(a)(quat_rotate(a.q, b.p) + a.p, a.q * b.q)


def _moves(name: str, args: Sequence[Arg]) -> Sequence[Type]:
    """A transform, or a 4 × 4 matrix of floats, and a vector of length 3."""
    first = args[0] if args else None
    if isinstance(first, Matrix) and first.shape == (4, 4):
        scalar = kinds(VECTOR)(name, args[1:])[0].dtype  # type: ignore[union-attr]
        scalar = promote(scalar, first.dtype) or scalar
        return [Matrix(16, scalar, 4), Vector(3, scalar)]
    return kinds(TRANSFORM, VECTOR)(name, args)


@written("_matrix_vector(m, v)")
def _matrix_vector(m, v, /):
    """The product of the upper left 3 × 3 part and v."""
    return vector(
        m[0, 0] * v[0] + m[0, 1] * v[1] + m[0, 2] * v[2],
        m[1, 0] * v[0] + m[1, 1] * v[1] + m[1, 2] * v[2],
        m[2, 0] * v[0] + m[2, 1] * v[1] + m[2, 2] * v[2],
    )


@written("transform_point(t, v)", _moves)
def transform_point(t, v, /):
    """The point v moved: rotated and translated; by a 4 × 4 matrix as (v, 1) is, without the last component."""
    if has_components(t, 16):
        return _matrix_vector(t, v) + vector(t[0, 3], t[1, 3], t[2, 3])
    return quat_rotate(t.q, v) + t.p


@written("transform_vector(t, v)", _moves)
def transform_vector(t, v, /):
    """The direction v rotated; by a 4 × 4 matrix as (v, 0) is, without the last component."""
    if has_components(t, 16):
        return _matrix_vector(t, v)
    return quat_rotate(t.q, v)


@written("transform_inverse(t)", kinds(TRANSFORM))
def transform_inverse(t, /):
    """The transform that undoes t."""
    back = quat_inverse(t.q)
    return type(t)(-quat_rotate(back, t.p), back)
