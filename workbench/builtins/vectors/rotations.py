"""Rotations and transforms, in the kernel language: their derivatives are those of their lines.

A rotation is a unit quaternion (x, y, z, w). A transform is a translation p and a rotation q: point v goes to
`quat_rotate(q, v) + p`. Names and orders of arguments are the field's.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import has_components, matrix_from_rows, quaternion, vector
from workbench.builtins.declaration.rules import (
    INTEGER,
    MATRIX,
    MATRIX3,
    NUMBER,
    QUATERNION,
    SPATIAL,
    TRANSFORM,
    VECTOR,
    Arg,
    kinds,
    promote,
)
from workbench.builtins.scalars.extrema import clamp
from workbench.builtins.scalars.maths import acos, asin, atan2, cos, sin, sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.vectors.dot_and_length import cross, dot
from workbench.types import Kind, Matrix, Type, Vector, element

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false


@written("_quat_mul(a, b)", kinds(QUATERNION, QUATERNION))
def quat_mul(a, b, /):
    """Hamilton's product, `a * b`: the rotation b, then a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return quaternion(
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@written("quat_inverse(q)", kinds(QUATERNION))
def quat_inverse(q, /):
    """Return the inverse rotation: the conjugate, which for a unit quaternion is the inverse."""
    x, y, z, w = q
    return quaternion(-x, -y, -z, w)


@written("quat_rotate(q, v)", kinds(QUATERNION, VECTOR))
def quat_rotate(q, v, /):
    """Return the vector rotated by a unit quaternion."""
    x, y, z, w = q
    axis = vector(x, y, z)
    return v * (w * w * 2.0 - 1.0) + cross(axis, v) * (w * 2.0) + axis * (dot(axis, v) * 2.0)


@written("quat_rotate_inv(q, v)", kinds(QUATERNION, VECTOR))
def quat_rotate_inv(q, v, /):
    """Return the vector rotated by the inverse of a unit quaternion."""
    return quat_rotate(quat_inverse(q), v)


@written("quat_from_axis_angle(axis, angle)", kinds(VECTOR, NUMBER))
def quat_from_axis_angle(axis, angle, /):
    """Return the rotation about a unit axis by an angle in radians."""
    half = angle * 0.5
    x, y, z = axis * sin(half)
    return quaternion(x, y, z, cos(half))


@written("quat_to_axis_angle(q)", kinds(QUATERNION))
def quat_to_axis_angle(q, /):
    """Axis and angle (0 to π) of a unit quaternion: `axis, angle = quat_to_axis_angle(q)`; no rotation has axis 0."""
    x, y, z, w = q
    one = type(w)(1.0)
    side = where(w < 0.0, -one, one)
    square = x * x + y * y + z * z
    none = square == 0.0
    size = sqrt(where(none, 1.0, square))
    angle = where(none, 0.0, atan2(size, w * side) * 2.0)
    scale = where(none, 0.0, side / size)
    return vector(x * scale, y * scale, z * scale), angle


@written("quat_to_matrix(q)", kinds(QUATERNION))
def quat_to_matrix(q, /):
    """Return the 3 × 3 matrix of the rotation by a unit quaternion: its columns are the axes, as turned by it."""
    x, y, z, w = q
    return matrix_from_rows(
        vector((w * w + x * x) * 2.0 - 1.0, (x * y - z * w) * 2.0, (x * z + y * w) * 2.0),
        vector((x * y + z * w) * 2.0, (w * w + y * y) * 2.0 - 1.0, (y * z - x * w) * 2.0),
        vector((x * z - y * w) * 2.0, (y * z + x * w) * 2.0, (w * w + z * z) * 2.0 - 1.0),
    )


@written("quat_slerp(a, b, t)", kinds(QUATERNION, QUATERNION, NUMBER))
def quat_slerp(a, b, t, /):
    """The rotation at t (0 to 1) on the shorter arc from a to b; linear where they are too close for an angle."""
    near = dot(a, b)
    unit = type(near)(1.0)
    side = where(near < 0.0, -unit, unit)
    b, near = b * side, near * side
    close = near > 0.9995
    angle = acos(clamp(where(close, 0.0, near), -1.0, 1.0))
    size = sin(angle)
    one = where(close, 1.0 - t, sin((1.0 - t) * angle) / size)
    other = where(close, t, sin(t * angle) / size)
    mixed = a * one + b * other
    return mixed / sqrt(dot(mixed, mixed))


@written("_quat_about(axis, angle)")
def _quat_about(axis, angle):
    """Return the quaternion of the rotation by an angle about the axis 0, 1 or 2."""
    s = sin(angle * 0.5)
    return quaternion(where(axis == 0, s, 0.0), where(axis == 1, s, 0.0), where(axis == 2, s, 0.0), cos(angle * 0.5))


@written("quat_rpy(roll, pitch, yaw)", kinds(NUMBER, NUMBER, NUMBER))
def quat_rpy(roll, pitch, yaw, /):
    """Return the rotation about x by roll, then about y by pitch, then about z by yaw; the axes stay where they are."""
    return _quat_about(2, yaw) * _quat_about(1, pitch) * _quat_about(0, roll)


@written("quat_to_rpy(q)", kinds(QUATERNION))
def quat_to_rpy(q, /):
    """Return the angles (roll, pitch, yaw) of a unit quaternion, as a vector; pitch is within ±π/2."""
    x, y, z, w = q
    roll = atan2((w * x + y * z) * 2.0, 1.0 - (x * x + y * y) * 2.0)
    pitch = asin(clamp((w * y - z * x) * 2.0, -1.0, 1.0))
    return vector(roll, pitch, atan2((w * z + x * y) * 2.0, 1.0 - (y * y + z * z) * 2.0))


@written("quat_from_euler(e, i, j, k)", kinds(VECTOR, INTEGER, INTEGER, INTEGER))
def quat_from_euler(e, i, j, k, /):
    """Return the rotation about the fixed axis i, then j, then k: by e[0] about x, e[1] about y, e[2] about z.

    About axes that turn with the body it is k, then j, then i. `quat_from_euler(e, 0, 1, 2)` is `quat_rpy` of e.
    """
    return _quat_about(k, e[k]) * _quat_about(j, e[j]) * _quat_about(i, e[i])


def _rotation(name: str, args: Sequence[Arg]) -> Sequence[Type]:
    """Check that the only argument is a matrix of 3 × 3, or of 4 × 4 with the rotation in its first rows and columns.

    Returns:
        The type to convert it to.

    Raises:
        KernelTypeError: it is something else.
    """
    (only,) = args if len(args) == 1 else (None,)
    homogeneous = isinstance(only, Matrix) and only.shape == (4, 4) and only.dtype.kind is Kind.FLOAT
    return [only] if homogeneous else kinds(MATRIX)(name, args)  # type: ignore[list-item]


@written("quat_from_matrix(m)", _rotation)
def quat_from_matrix(m, /):
    """Return the unit quaternion of a rotation matrix, of the two the one found from its largest component.

    Of a matrix that is no rotation it is a unit quaternion, too; of one of 4 × 4 the first three rows and columns are
    read.

    Source: Day, "Converting a Rotation Matrix to a Quaternion" (2014): of four formulas, the one without cancellation.
    """
    a, b, c = m[0, 0], m[0, 1], m[0, 2]
    d, e, f = m[1, 0], m[1, 1], m[1, 2]
    g, h, i = m[2, 0], m[2, 1], m[2, 2]
    low, along_x, along_z = i < 0.0, a > e, a < -e
    t = where(
        low,
        where(along_x, 1.0 + a - e - i, 1.0 - a + e - i),
        where(along_z, 1.0 - a - e + i, 1.0 + a + e + i),
    )
    u, v, w = h - f, c - g, d - b
    x = where(low, where(along_x, t, b + d), where(along_z, c + g, u))
    y = where(low, where(along_x, b + d, t), where(along_z, f + h, v))
    z = where(low, where(along_x, c + g, f + h), where(along_z, t, w))
    s = where(low, where(along_x, u, v), where(along_z, w, t))
    q = quaternion(x, y, z, s)
    return q / sqrt(dot(q, q))


# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false


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
