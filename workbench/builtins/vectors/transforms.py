"""Transforms, a translation p and a rotation q: point v goes to `quat_rotate(q, v) + p`; as compositions.

Names and orders of arguments are the field's. The rotation is by a unit quaternion.
"""

from __future__ import annotations

from workbench.builtins.declaration.refs import Ref, pack
from workbench.builtins.vectors.quaternions import (
    TRANSFORM,
    VECTOR,
    composition,
    quat_inverse,
    quat_mul,
    quat_rotate,
    quaternion,
)
from workbench.types import Transform, element


def parts(t: Ref) -> tuple[Ref, Ref]:
    """Translation and rotation."""
    components = t.components()
    return pack(components[:3]), quaternion(*components[3:])


def transform(p: Ref, q: Ref) -> Ref:
    """The transform of a translation and a rotation."""
    return pack([*p.components(), *q.components()], Transform(7, element(p.type)))


@composition("transform_get_translation(t)", TRANSFORM)
def transform_get_translation(t: Ref) -> Ref:
    """The translation, `t.p`."""
    return parts(t)[0]


@composition("transform_get_rotation(t)", TRANSFORM)
def transform_get_rotation(t: Ref) -> Ref:
    """The rotation, `t.q`."""
    return parts(t)[1]


@composition("transform_multiply(a, b)", TRANSFORM, TRANSFORM)
def transform_multiply(a: Ref, b: Ref) -> Ref:
    """The transform b, then a; `a * b`."""
    (ap, aq), (bp, bq) = parts(a), parts(b)
    return transform(quat_rotate(aq, bp) + ap, quat_mul(aq, bq))


@composition("transform_point(t, v)", TRANSFORM, VECTOR)
def transform_point(t: Ref, v: Ref) -> Ref:
    """The point v moved: rotated and translated."""
    p, q = parts(t)
    return quat_rotate(q, v) + p


@composition("transform_vector(t, v)", TRANSFORM, VECTOR)
def transform_vector(t: Ref, v: Ref) -> Ref:
    """The direction v rotated."""
    return quat_rotate(parts(t)[1], v)


@composition("transform_inverse(t)", TRANSFORM)
def transform_inverse(t: Ref) -> Ref:
    """The transform that undoes t."""
    p, q = parts(t)
    back = quat_inverse(q)
    return transform(-quat_rotate(back, p), back)
