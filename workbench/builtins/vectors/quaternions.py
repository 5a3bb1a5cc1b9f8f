"""Quaternions (x, y, z, w), as compositions: names whose meaning is a few lines in other builtins.

The front end writes the lines out in the kernel's IR, so every backend has them and their derivatives are those of
their parts. Rotations are by unit quaternions; names and orders of arguments are the field's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from workbench.builtins.declaration.declare import form
from workbench.builtins.declaration.refs import Ref, pack
from workbench.builtins.scalars.extrema import clamp
from workbench.builtins.scalars.maths import acos, atan2, cos, sin, sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.vectors.vectors import cross, dot
from workbench.types import Matrix, Quaternion, Scalar, Transform, Vector, element

Build = TypeVar("Build", bound=Callable[..., "Ref | tuple[Ref, ...]"])


@dataclass(frozen=True)
class Composition:
    """A name that the front end writes out.

    Attributes:
        kinds: for each parameter what it takes: "quaternion", "vector of length 3", "number".
        build: from the arguments, in one float type, to the result or several.
    """

    name: str
    kinds: tuple[str, ...]
    build: Callable[..., Ref | tuple[Ref, ...]]


QUATERNION, VECTOR, NUMBER, MATRIX = "quaternion", "vector of length 3", "number", "3 × 3 matrix"
TRANSFORM = "transform"
COMPOSITIONS: dict[str, Composition] = {}


def composition(signature: str, *kinds: str, hidden: bool = False) -> Callable[[Build], Build]:
    """Decorator: declare a composition; its docstring is the documentation. A hidden one is what an operator means."""

    def declare(build: Build) -> Build:
        name = signature.split("(")[0]
        COMPOSITIONS[name] = Composition(name, kinds, build)
        if not hidden:
            form(signature, (build.__doc__ or "").strip())
        return build

    return declare


def of_kind(kind: str, scalar: Scalar) -> Scalar | Vector:
    """The type of an argument of this kind."""
    wide = {QUATERNION: Quaternion(4, scalar), VECTOR: Vector(3, scalar), MATRIX: Matrix(9, scalar, 3)}
    wide[TRANSFORM] = Transform(7, scalar)
    return wide.get(kind, scalar)


def quaternion(x: Ref, y: Ref, z: Ref, w: Ref) -> Ref:
    """The quaternion of these components."""
    return pack([x, y, z, w], Quaternion(4, element(x.type)))


@composition("quat_mul(a, b)", QUATERNION, QUATERNION, hidden=True)
def quat_mul(a: Ref, b: Ref) -> Ref:
    """Hamilton's product: the rotation b, then a."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a.components(), b.components()
    return quaternion(
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@composition("quat_inverse(q)", QUATERNION)
def quat_inverse(q: Ref) -> Ref:
    """The inverse rotation: the conjugate, which for a unit quaternion is the inverse."""
    x, y, z, w = q.components()
    return quaternion(-x, -y, -z, w)


@composition("quat_rotate(q, v)", QUATERNION, VECTOR)
def quat_rotate(q: Ref, v: Ref) -> Ref:
    """The vector rotated by a unit quaternion."""
    x, y, z, w = q.components()
    axis = pack([x, y, z])
    return v * (w * w * 2.0 - 1.0) + cross(axis, v) * (w * 2.0) + axis * (dot(axis, v) * 2.0)


@composition("quat_rotate_inv(q, v)", QUATERNION, VECTOR)
def quat_rotate_inv(q: Ref, v: Ref) -> Ref:
    """The vector rotated by the inverse of a unit quaternion."""
    return quat_rotate(quat_inverse(q), v)


@composition("quat_from_axis_angle(axis, angle)", VECTOR, NUMBER)
def quat_from_axis_angle(axis: Ref, angle: Ref) -> Ref:
    """The rotation about a unit axis by an angle in radians."""
    half = angle * 0.5
    x, y, z = (axis * sin(half)).components()
    return quaternion(x, y, z, cos(half))


@composition("quat_to_axis_angle(q)", QUATERNION)
def quat_to_axis_angle(q: Ref) -> tuple[Ref, Ref]:
    """Axis and angle (0 to π) of a unit quaternion: `axis, angle = quat_to_axis_angle(q)`; no rotation has axis 0."""
    x, y, z, w = q.components()
    side = where(w < 0.0, w.like(-1), w.like(1))
    square = x * x + y * y + z * z
    none = square.equals(0)
    size = sqrt(where(none, square.like(1), square))
    angle = where(none, square.like(0), atan2(size, w * side) * 2.0)
    scale = where(none, square.like(0), side / size)
    return pack([x * scale, y * scale, z * scale]), angle


@composition("quat_to_matrix(q)", QUATERNION)
def quat_to_matrix(q: Ref) -> Ref:
    """The 3 × 3 matrix of the rotation by a unit quaternion."""
    x, y, z, w = q.components()
    scalar = element(q.type)
    return pack(
        [
            1.0 - (y * y + z * z) * 2.0, (x * y - z * w) * 2.0, (x * z + y * w) * 2.0,
            (x * y + z * w) * 2.0, 1.0 - (x * x + z * z) * 2.0, (y * z - x * w) * 2.0,
            (x * z - y * w) * 2.0, (y * z + x * w) * 2.0, 1.0 - (x * x + y * y) * 2.0,
        ],
        Matrix(9, scalar, 3),
    )  # fmt: skip


@composition("quat_slerp(a, b, t)", QUATERNION, QUATERNION, NUMBER)
def quat_slerp(a: Ref, b: Ref, t: Ref) -> Ref:
    """The rotation at t (0 to 1) on the shorter arc from a to b; linear where they are too close for an angle."""
    near = dot(a, b)
    side = where(near < 0.0, near.like(-1), near.like(1))
    b, near = b * side, near * side
    close = near > 0.9995
    angle = acos(clamp(where(close, near.like(0), near), -1.0, 1.0))
    size = sin(angle)
    one = where(close, 1.0 - t, sin((1.0 - t) * angle) / size)
    other = where(close, t, sin(t * angle) / size)
    mixed = a * one + b * other
    return mixed / sqrt(dot(mixed, mixed))
