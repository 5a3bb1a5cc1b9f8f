"""The point of a `Mesh` that is nearest to a point, and on which side of the mesh that is."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import natural, popped, pushed, stack
from workbench.builtins.declaration.forms import vector as _vector
from workbench.builtins.declaration.rules import INTEGER, NUMBER, VECTOR, kinds
from workbench.builtins.geometry.meshes import corners, crossings, nearest_face, seen, weights
from workbench.builtins.geometry.trees import MESH, distance, greater, lesser, up_to
from workbench.builtins.geometry.triangles import closest
from workbench.builtins.scalars.maths import acos, atan2, sqrt
from workbench.builtins.scalars.randoms import rand_init, randf
from workbench.builtins.vectors.dot_and_length import cross, dot, length, length_sq, normalize
from workbench.structs import Struct
from workbench.types import bool as bool_
from workbench.types import float32, int32


class MeshQueryPoint:
    """The result of a query for a point of a mesh: if `result` is true, a face and a point on it; else all are 0.

    Attributes:
        result: whether there is such a point.
        sign: -1 if the point asked about is inside of the mesh, 1 if it is outside, 0 if that was not asked.
        face: the face.
        u, v: the weights of its first two corners at the point.
    """

    result: Any
    sign: Any
    face: Any
    u: Any
    v: Any

    __wb_struct__ = Struct.of(
        "MeshQueryPoint",
        [("result", bool_), ("sign", float32), ("face", int32), ("u", float32), ("v", float32)],
    )


@written("_closest_face(mesh, p, limit)")
def _closest_face(mesh, p, limit, /):
    """Return the face nearest to p within the limit, or -1."""
    later, starts = stack(96, 0), stack(96, 0.0)
    face = -1
    nearest = limit * limit
    top = 0
    at = 0 if mesh.nodes.shape[0] > 0 else -1
    while at >= 0:
        node = natural(at)
        right = mesh.nodes[node].right
        at = -1
        if right < 0:
            for k in range(-1 - right, mesh.nodes[node].skip - 1 - right):
                f = mesh.items[natural(k)]
                d = length_sq(seen(mesh, f, p))
                if d < nearest:
                    nearest = d
                    face = f
        else:
            left = node + 1
            right = natural(right)
            near = distance(mesh.nodes[left].lower, mesh.nodes[left].upper, p)
            far = distance(mesh.nodes[right].lower, mesh.nodes[right].upper, p)
            if lesser(near, far) < nearest:
                at = left if near <= far else right
                if greater(near, far) < nearest:
                    pushed(starts, top, greater(near, far))
                    top = pushed(later, top, right if near <= far else left)
        while at < 0 and top > 0:
            top = top - 1
            if popped(starts, top) < nearest:
                at = popped(later, top)
    return face


@written("_furthest_face(mesh, p, least)")
def _furthest_face(mesh, p, least, /):
    """Return the face with the corner furthest from p, and which corner (0 to 2); face -1 if all are within `least`."""
    furthest = least * least
    face, corner = -1, 0
    at, end = 0, mesh.nodes.shape[0]
    while at < end:
        node = natural(at)
        right, skip = mesh.nodes[node].right, mesh.nodes[node].skip
        a, b = p - mesh.nodes[node].lower, mesh.nodes[node].upper - p
        x, y, z = greater(abs(a[0]), abs(b[0])), greater(abs(a[1]), abs(b[1])), greater(abs(a[2]), abs(b[2]))
        inside = x * x + y * y + z * z > furthest
        if right < 0 and inside:
            for k in range(-1 - right, skip - 1 - right):
                f = mesh.items[natural(k)]
                for j in range(3):
                    d = length_sq(mesh.points[mesh.indices[natural(3 * f + j)]] - p)
                    if d > furthest:
                        furthest = d
                        face, corner = f, j
        at = at + 1 if inside or right < 0 else skip
    return face, corner


@written("mesh_query_point_no_sign(mesh, point, max_dist)", kinds(VECTOR, NUMBER), of=MESH)
def mesh_query_point_no_sign(mesh, point, max_dist):
    """Return the nearest point of a mesh within `max_dist`: a `MeshQueryPoint` with `result`, `face`, `u` and `v`.

    `mesh_eval_position(mesh, face, u, v)` is its position; `sign` is 0.
    """
    face = _closest_face(mesh, point, max_dist)
    nearest = MeshQueryPoint()
    if face >= 0:
        p, q, r = corners(mesh, face)
        u, v = closest(p - point, q - point, r - point)
        nearest.result = True
        nearest.face = face
        nearest.u, nearest.v = u, v
    return nearest


@written("mesh_query_furthest_point_no_sign(mesh, point, min_dist)", kinds(VECTOR, NUMBER), of=MESH)
def mesh_query_furthest_point_no_sign(mesh, point, min_dist):
    """Return the corner of a mesh furthest from a point, if beyond `min_dist`: a `MeshQueryPoint`; `sign` is 0."""
    face, corner = _furthest_face(mesh, point, min_dist)
    furthest = MeshQueryPoint()
    if face >= 0:
        furthest.result = True
        furthest.face = face
        furthest.u = 1.0 if corner == 0 else 0.0
        furthest.v = 1.0 if corner == 1 else 0.0
    return furthest


@written("_behind(mesh, point, dir)")
def _behind(mesh, point, dir, /):
    """Return 1 if the first face that the ray from a point along `dir` meets is seen from behind, else 0."""
    face = nearest_face(mesh, point, dir, 3.0e38)
    count = 0
    if face >= 0:
        p, q, r = corners(mesh, face)
        u, v, w = weights(p - point, q - point, r - point, dir)
        count = 1 if u + v + w > 0.0 else 0
    return count


@written("mesh_query_point(mesh, point, max_dist)", kinds(VECTOR, NUMBER), of=MESH)
def mesh_query_point(mesh, point, max_dist):
    """Return the nearest point of a closed mesh within `max_dist`, as a `MeshQueryPoint`.

    `sign` is -1 inside, which is where the rays along at least two of the three axes leave the mesh, else 1.
    """
    nearest = mesh_query_point_no_sign(mesh, point, max_dist)
    if nearest.result:
        votes = _behind(mesh, point, _vector(1.0, 0.0, 0.0)) + _behind(mesh, point, _vector(0.0, 1.0, 0.0))
        votes = votes + _behind(mesh, point, _vector(0.0, 0.0, 1.0))
        nearest.sign = -1.0 if votes >= 2 else 1.0
    return nearest


@written(
    "mesh_query_point_sign_parity(mesh, point, max_dist, n_sample=1, perturbation_scale=0.1)",
    up_to(VECTOR, NUMBER, INTEGER, NUMBER, least=2),
    of=MESH,
)
def mesh_query_point_sign_parity(mesh, point, max_dist, n_sample, perturbation_scale):
    """Return the nearest point of a mesh within `max_dist`, as a `MeshQueryPoint`.

    `sign` is -1 where at least half of `n_sample` rays meet an odd number of faces, else 1. The rays are directed
    along (1, 1, 1), each component changed by a random number of at most `perturbation_scale`.
    """
    nearest = mesh_query_point_no_sign(mesh, point, max_dist)
    samples = 1 if n_sample is None else n_sample
    scale = 0.1 if perturbation_scale is None else perturbation_scale
    if nearest.result:
        state = rand_init(42)
        votes = 0
        for _ in range(samples):
            x = randf(state, -scale, scale)
            y = randf(state, -scale, scale)
            z = randf(state, -scale, scale)
            votes = votes + crossings(mesh, point, _vector(1.0 + x, 1.0 + y, 1.0 + z), 3.0e38, 2147483647) % 2
        nearest.sign = -1.0 if votes * 2 >= samples else 1.0
    return nearest


@written("_angle(a, b)")
def _angle(a, b, /):
    """Return the angle between two vectors in radians, from 0 to π."""
    return acos(lesser(greater(dot(normalize(a), normalize(b)), -1.0), 1.0))


@written("_pseudo_normal(mesh, point, reach, tolerance)")
def _pseudo_normal(mesh, point, reach, tolerance, /):
    """Return the sum of the unit normals of the faces within reach, each times its angle at its nearest point."""
    total = _vector(0.0, 0.0, 0.0)
    at, end = 0, mesh.nodes.shape[0]
    while at < end:
        node = natural(at)
        right, skip = mesh.nodes[node].right, mesh.nodes[node].skip
        inside = distance(mesh.nodes[node].lower, mesh.nodes[node].upper, point) <= reach * reach
        if right < 0 and inside:
            for k in range(-1 - right, skip - 1 - right):
                p, q, r = corners(mesh, mesh.items[natural(k)])
                a, b, c = p - point, q - point, r - point
                u, v = closest(a, b, c)
                w = 1.0 - u - v
                normal = cross(b - a, c - a)
                if length(a * u + b * v + c * w) <= reach and length_sq(normal) > 0.0:
                    angle = 6.2831853
                    if greater(greater(u, v), w) >= 1.0 - tolerance:
                        angle = _angle(c - b, a - b) if v >= u and v >= w else _angle(a - c, b - c)
                        angle = _angle(b - a, c - a) if u >= v and u >= w else angle
                    elif lesser(lesser(u, v), w) <= tolerance:
                        angle = 3.1415927
                    total = total + normalize(normal) * angle
        at = at + 1 if inside or right < 0 else skip
    return total


@written(
    "mesh_query_point_sign_normal(mesh, point, max_dist, epsilon=0.001)",
    up_to(VECTOR, NUMBER, NUMBER, least=2),
    of=MESH,
)
def mesh_query_point_sign_normal(mesh, point, max_dist, epsilon):
    """Return the nearest point of a mesh within `max_dist`, as a `MeshQueryPoint`.

    `sign` is -1 behind the faces that meet there, by their normals weighted by angle, else 1. A face counts as
    meeting there if it is less than `epsilon` mean edge lengths further away than the nearest.
    """
    nearest = mesh_query_point_no_sign(mesh, point, max_dist)
    tolerance = 0.001 if epsilon is None else epsilon
    if nearest.result:
        p, q, r = corners(mesh, nearest.face)
        there = p * nearest.u + q * nearest.v + r * (1.0 - nearest.u - nearest.v) - point
        edge = (length(q - p) + length(r - q) + length(p - r)) / 3.0
        normal = _pseudo_normal(mesh, point, length(there) + tolerance * edge, tolerance)
        nearest.sign = -1.0 if dot(normal, there) >= 0.0 else 1.0
    return nearest


@written("_solid_angle(a, b, c)")
def _solid_angle(a, b, c, /):
    """Return the signed solid angle, in steradians, of a triangle seen from the origin (Van Oosterom and Strackee)."""
    x, y, z = length(a), length(b), length(c)
    over = dot(a, cross(b, c))
    return 2.0 * atan2(over, x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y)


@written("_winding_number(mesh, point, accuracy)")
def _winding_number(mesh, point, accuracy, /):
    """Return the winding number of a mesh around a point; nodes that are far away for their size count as dipoles."""
    total = 0.0
    at, end = 0, mesh.nodes.shape[0]
    while at < end:
        node = natural(at)
        right, skip = mesh.nodes[node].right, mesh.nodes[node].skip
        near = True
        there, squared, normal = point, 1.0, point
        if mesh.moments.shape[0] > 1:
            moment = mesh.moments[node]
            there, normal = moment.center - point, moment.normal
            squared = length_sq(there)
            near = squared <= moment.reach * moment.reach * accuracy * accuracy
        if near and right < 0:
            for k in range(-1 - right, skip - 1 - right):
                p, q, r = corners(mesh, mesh.items[natural(k)])
                total = total + _solid_angle(p - point, q - point, r - point)
        if not near:
            total = total + dot(normal, there) / (squared * sqrt(squared))
        at = at + 1 if near or right < 0 else skip
    return total / 12.566371


@written(
    "mesh_query_point_sign_winding_number(mesh, point, max_dist, accuracy=2.0, threshold=0.5)",
    up_to(VECTOR, NUMBER, NUMBER, NUMBER, least=2),
    of=MESH,
)
def mesh_query_point_sign_winding_number(mesh, point, max_dist, accuracy, threshold):
    """Return the nearest point of a mesh within `max_dist`, as a `MeshQueryPoint`.

    `sign` is -1 where the mesh's winding number around the point is over `threshold`, else 1: right for meshes with
    holes, too. Nodes further away than `accuracy` times their radius are approximated.
    """
    nearest = mesh_query_point_no_sign(mesh, point, max_dist)
    if nearest.result:
        winding = _winding_number(mesh, point, 2.0 if accuracy is None else accuracy)
        nearest.sign = -1.0 if winding > (0.5 if threshold is None else threshold) else 1.0
    return nearest
