"""Quaternions (x, y, z, w), in the kernel language: their derivatives are those of their lines.

Rotations are by unit quaternions; names and orders of arguments are the field's.
"""

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import matrix_from_rows, quaternion, vector
from workbench.builtins.declaration.rules import NUMBER, QUATERNION, VECTOR, kinds
from workbench.builtins.scalars.extrema import clamp
from workbench.builtins.scalars.maths import acos, atan2, cos, sin, sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.vectors.dot_and_length import cross, dot


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
    """The inverse rotation: the conjugate, which for a unit quaternion is the inverse."""
    x, y, z, w = q
    return quaternion(-x, -y, -z, w)


@written("quat_rotate(q, v)", kinds(QUATERNION, VECTOR))
def quat_rotate(q, v, /):
    """The vector rotated by a unit quaternion."""
    x, y, z, w = q
    axis = vector(x, y, z)
    return v * (w * w * 2.0 - 1.0) + cross(axis, v) * (w * 2.0) + axis * (dot(axis, v) * 2.0)


@written("quat_rotate_inv(q, v)", kinds(QUATERNION, VECTOR))
def quat_rotate_inv(q, v, /):
    """The vector rotated by the inverse of a unit quaternion."""
    return quat_rotate(quat_inverse(q), v)


@written("quat_from_axis_angle(axis, angle)", kinds(VECTOR, NUMBER))
def quat_from_axis_angle(axis, angle, /):
    """The rotation about a unit axis by an angle in radians."""
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
    """The 3 × 3 matrix of the rotation by a unit quaternion."""
    x, y, z, w = q
    return matrix_from_rows(
        vector(1.0 - (y * y + z * z) * 2.0, (x * y - z * w) * 2.0, (x * z + y * w) * 2.0),
        vector((x * y + z * w) * 2.0, 1.0 - (x * x + z * z) * 2.0, (y * z - x * w) * 2.0),
        vector((x * z - y * w) * 2.0, (y * z + x * w) * 2.0, 1.0 - (x * x + y * y) * 2.0),
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
