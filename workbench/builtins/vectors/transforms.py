"""Transforms, a translation p and a rotation q, in the kernel language: point v goes to `quat_rotate(q, v) + p`.

Names and orders of arguments are the field's. The rotation is by a unit quaternion.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import has_components, matrix_from_rows, vector
from workbench.builtins.declaration.rules import MATRIX3, SPATIAL, TRANSFORM, VECTOR, Arg, kinds, promote
from workbench.builtins.vectors.dot_and_length import cross, dot
from workbench.builtins.vectors.quaternions import quat_inverse, quat_rotate
from workbench.types import Matrix, Type, Vector, element


@written("transform_get_translation(t)", kinds(TRANSFORM))
def transform_get_translation(t, /):
    """Return the translation, `t.p`."""
    return t.p


@written("transform_get_rotation(t)", kinds(TRANSFORM))
def transform_get_rotation(t, /):
    """Return the rotation, `t.q`."""
    return t.q


@written("transform_multiply(a, b)", kinds(TRANSFORM, TRANSFORM))
def transform_multiply(a, b, /):
    """Return the transform b, then a; `a * b`."""
    return type(a)(quat_rotate(a.q, b.p) + a.p, a.q * b.q)


def _moves(name: str, args: Sequence[Arg]) -> Sequence[Type]:
    """Check that the arguments are a transform or 4 × 4 matrix of floats, and a vector of length 3.

    Returns:
        The types to convert them to: both of one float type.

    Raises:
        KernelTypeError: they are something else.
    """
    first = args[0] if args else None
    if isinstance(first, Matrix) and first.shape == (4, 4):
        scalar = element(kinds(VECTOR)(name, args[1:])[0])
        scalar = promote(scalar, first.dtype) or scalar
        return [Matrix(16, scalar, 4), Vector(3, scalar)]
    return kinds(TRANSFORM, VECTOR)(name, args)


@written("_matrix_vector(m, v)")
def _matrix_vector(m, v, /):
    """Return the product of the upper left 3 × 3 part of a 4 × 4 matrix and a vector."""
    return vector(
        m[0, 0] * v[0] + m[0, 1] * v[1] + m[0, 2] * v[2],
        m[1, 0] * v[0] + m[1, 1] * v[1] + m[1, 2] * v[2],
        m[2, 0] * v[0] + m[2, 1] * v[1] + m[2, 2] * v[2],
    )


@written("transform_point(t, v)", _moves)
def transform_point(t, v, /):
    """Return the point v moved: rotated and translated; by a 4 × 4 matrix as (v, 1) is, without the last component."""
    if has_components(t, 16):
        return _matrix_vector(t, v) + vector(t[0, 3], t[1, 3], t[2, 3])
    return quat_rotate(t.q, v) + t.p


@written("transform_vector(t, v)", _moves)
def transform_vector(t, v, /):
    """Return the direction v rotated; by a 4 × 4 matrix as (v, 0) is, without the last component."""
    if has_components(t, 16):
        return _matrix_vector(t, v)
    return quat_rotate(t.q, v)


@written("transform_inverse(t)", kinds(TRANSFORM))
def transform_inverse(t, /):
    """Return the transform that undoes t."""
    back = quat_inverse(t.q)
    return type(t)(-quat_rotate(back, t.p), back)


@written("spatial_top(v)", kinds(SPATIAL))
def spatial_top(v, /):
    """Return the angular part of a spatial vector: its first three components."""
    return vector(v[0], v[1], v[2])


@written("spatial_bottom(v)", kinds(SPATIAL))
def spatial_bottom(v, /):
    """Return the linear part of a spatial vector: its last three components."""
    return vector(v[3], v[4], v[5])


@written("spatial_dot(a, b)", kinds(SPATIAL, SPATIAL))
def spatial_dot(a, b, /):
    """Return the scalar product of two spatial vectors."""
    return dot(a, b)


@written("spatial_cross(a, b)", kinds(SPATIAL, SPATIAL))
def spatial_cross(a, b, /):
    """Return the product of two motions: the rate of b as it moves with a."""
    w, v = spatial_top(a), spatial_bottom(a)
    top = cross(w, spatial_top(b))
    bottom = cross(v, spatial_top(b)) + cross(w, spatial_bottom(b))
    return vector(top[0], top[1], top[2], bottom[0], bottom[1], bottom[2])


@written("spatial_cross_dual(a, b)", kinds(SPATIAL, SPATIAL))
def spatial_cross_dual(a, b, /):
    """Return the product of a motion and a force: the rate of the force b as it moves with a."""
    w, v = spatial_top(a), spatial_bottom(a)
    top = cross(w, spatial_top(b)) + cross(v, spatial_bottom(b))
    bottom = cross(w, spatial_bottom(b))
    return vector(top[0], top[1], top[2], bottom[0], bottom[1], bottom[2])


@written("spatial_adjoint(r, s)", kinds(MATRIX3, MATRIX3))
def spatial_adjoint(r, s, /):
    """Return the 6 × 6 matrix with r on the diagonal of its blocks and s below it."""
    none = r[0, 0] * 0.0
    return matrix_from_rows(
        vector(r[0, 0], r[0, 1], r[0, 2], none, none, none),
        vector(r[1, 0], r[1, 1], r[1, 2], none, none, none),
        vector(r[2, 0], r[2, 1], r[2, 2], none, none, none),
        vector(s[0, 0], s[0, 1], s[0, 2], r[0, 0], r[0, 1], r[0, 2]),
        vector(s[1, 0], s[1, 1], s[1, 2], r[1, 0], r[1, 1], r[1, 2]),
        vector(s[2, 0], s[2, 1], s[2, 2], r[2, 0], r[2, 1], r[2, 2]),
    )
