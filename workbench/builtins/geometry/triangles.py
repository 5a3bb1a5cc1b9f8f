"""The question whether two triangles meet, in the kernel language."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.rules import VECTOR, kinds
from workbench.builtins.scalars.extrema import max, min
from workbench.builtins.vectors.dot_and_length import cross, dot


@written("_separates(axis, a1, a2, b0, b1, b2)")
def _separates(axis, a1, a2, b0, b1, b2):
    """Return whether the triangles 0 a1 a2 and b0 b1 b2 lie apart along an axis."""
    p, q = dot(axis, a1), dot(axis, a2)
    r, s, t = dot(axis, b0), dot(axis, b1), dot(axis, b2)
    return max(max(p, q), p * 0.0) < min(min(r, s), t) or max(max(r, s), t) < min(min(p, q), p * 0.0)


@written("_any_separates(axis, d, e, f, a1, a2, b0, b1, b2)")
def _any_separates(axis, d, e, f, a1, a2, b0, b1, b2):
    """Return whether the triangles lie apart along a cross product of an axis and one of three edges."""
    return (
        _separates(cross(axis, d), a1, a2, b0, b1, b2)
        or _separates(cross(axis, e), a1, a2, b0, b1, b2)
        or _separates(cross(axis, f), a1, a2, b0, b1, b2)
    )


@written("intersect_tri_tri(v0, v1, v2, u0, u1, u2)", kinds(VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR))
def intersect_tri_tri(v0, v1, v2, u0, u1, u2, /):
    """Return 1 if the triangles v0 v1 v2 and u0 u1 u2 have a point in common, else 0; both have dtype float.

    Two convex bodies are apart where an axis separates them: of two triangles a normal, a product of two edges, or, in
    one plane, of a normal and an edge (Ericson, Real-Time Collision Detection, 5.2.10).
    """
    a1, a2 = v1 - v0, v2 - v0
    b0, b1, b2 = u0 - v0, u1 - v0, u2 - v0
    a, b, c = a1, a2 - a1, a2
    d, e, f = b1 - b0, b2 - b1, b0 - b2
    n, m = cross(a, c), cross(d, f)
    apart = _separates(n, a1, a2, b0, b1, b2) or _separates(m, a1, a2, b0, b1, b2)
    apart = apart or _any_separates(a, d, e, f, a1, a2, b0, b1, b2) or _any_separates(b, d, e, f, a1, a2, b0, b1, b2)
    apart = apart or _any_separates(c, d, e, f, a1, a2, b0, b1, b2) or _any_separates(n, a, b, c, a1, a2, b0, b1, b2)
    apart = apart or _any_separates(m, d, e, f, a1, a2, b0, b1, b2)
    return 0 if apart else 1
