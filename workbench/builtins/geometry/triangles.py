"""Segments and triangles, in the kernel language: their nearest points, and whether they meet."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import vector
from workbench.builtins.declaration.rules import NUMBER, VECTOR, kinds
from workbench.builtins.scalars.extrema import clamp, max, min
from workbench.builtins.vectors.dot_and_length import cross, dot, length


@written("closest_point_edge_edge(p1, q1, p2, q2, epsilon)", kinds(VECTOR, VECTOR, VECTOR, VECTOR, NUMBER))
def closest_point_edge_edge(p1, q1, p2, q2, epsilon, /):
    """The nearest points of the segments p1 q1 and p2 q2: how far along each they lie (0 to 1), and their distance.

    A segment is a point if the square of its length is at most epsilon. Quotients are of cross products, which do not
    cancel where the segments are nearly parallel (Ericson, Real-Time Collision Detection, 5.1.9).
    """
    d1, d2, r = q1 - p1, q2 - p2, p1 - p2
    a, e = dot(d1, d1), dot(d2, d2)
    s, t = a * 0.0, a * 0.0
    if a > epsilon and e > epsilon:
        normal = cross(d1, d2)
        square = dot(normal, normal)
        if square > 0.0:
            s = clamp(dot(normal, cross(d2, r)) / square, 0.0, 1.0)
        t = (dot(d1, d2) * s + dot(d2, r)) / e
        if t < 0.0:
            t = a * 0.0
            s = clamp(-dot(d1, r) / a, 0.0, 1.0)
        elif t > 1.0:
            t = a * 0.0 + 1.0
            s = clamp((dot(d1, d2) - dot(d1, r)) / a, 0.0, 1.0)
    elif e > epsilon:
        t = clamp(dot(d2, r) / e, 0.0, 1.0)
    elif a > epsilon:
        s = clamp(-dot(d1, r) / a, 0.0, 1.0)
    return vector(s, t, length(r + d1 * s - d2 * t))


@written("_closest(a, b, c)")
def closest(a, b, c, /):
    """Return the barycentric weights of a and b at the point of triangle abc that is closest to the origin.

    By the region in which that lies (Ericson, Real-Time Collision Detection, 5.1.5): a corner, an edge, the inside.
    Corners may coincide: where a is b, `d1` and `d3` are 0, and the other edges have all points.
    """
    ab, ac = b - a, c - a
    d1, d2 = -dot(ab, a), -dot(ac, a)
    d3, d4 = -dot(ab, b), -dot(ac, b)
    d5, d6 = -dot(ab, c), -dot(ac, c)
    wa, wb, wc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    u, v = 1.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        u, v = 1.0, 0.0
    elif d3 >= 0.0 and d4 <= d3:
        u, v = 0.0, 1.0
    elif d6 >= 0.0 and d5 <= d6:
        u, v = 0.0, 0.0
    elif wc <= 0.0 and d1 >= 0.0 and d3 <= 0.0 and d1 > d3:
        v = d1 / (d1 - d3)
        u = 1.0 - v
    elif wb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        v = 0.0
        u = 1.0 - d2 / (d2 - d6)
    elif wa <= 0.0 and d4 >= d3 and d5 >= d6:
        u = 0.0
        v = 1.0 - (d4 - d3) / ((d4 - d3) + (d5 - d6))
    else:
        total = wa + wb + wc
        u, v = wa / total, wb / total
    return u, v


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
