"""The nearest points of two line segments, in the kernel language."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import vector
from workbench.builtins.declaration.rules import NUMBER, VECTOR, kinds
from workbench.builtins.scalars.extrema import clamp
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
