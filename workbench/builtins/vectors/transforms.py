"""Transforms, a translation p and a rotation q, in the kernel language: point v goes to `quat_rotate(q, v) + p`.

Names and orders of arguments are the field's. The rotation is by a unit quaternion.
"""

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.rules import TRANSFORM, VECTOR, kinds
from workbench.builtins.vectors.quaternions import quat_inverse, quat_rotate


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


@written("transform_point(t, v)", kinds(TRANSFORM, VECTOR))
def transform_point(t, v, /):
    """The point v moved: rotated and translated."""
    return quat_rotate(t.q, v) + t.p


@written("transform_vector(t, v)", kinds(TRANSFORM, VECTOR))
def transform_vector(t, v, /):
    """The direction v rotated."""
    return quat_rotate(t.q, v)


@written("transform_inverse(t)", kinds(TRANSFORM))
def transform_inverse(t, /):
    """The transform that undoes t."""
    back = quat_inverse(t.q)
    return type(t)(-quat_rotate(back, t.p), back)
