"""Rays, and what a kernel reads of a `Mesh`.

A query finds a face by a search that has no derivative, then computes the result from the face's corners: so a gradient
flows through the hit to the points, and to where the ray begins and points.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import natural, popped, pushed, stack
from workbench.builtins.declaration.forms import vector as _vector
from workbench.builtins.declaration.rules import INTEGER, NUMBER, VECTOR, kinds
from workbench.builtins.geometry.trees import (
    FACES,
    MESH,
    VEC3,
    bvh_query_next,
    entered,
    greater,
    inverse,
    lesser,
    query_of,
)
from workbench.builtins.geometry.triangles import closest
from workbench.builtins.vectors.dot_and_length import cross, dot, length_sq, normalize
from workbench.structs import Struct
from workbench.types import bool as bool_
from workbench.types import float32, int32


class MeshQueryRay:
    """The result of a ray's query: if `result` is true, a face and a point on it; else all are 0.

    Attributes:
        result: whether the ray meets a face.
        sign: 1 if it comes from the side to which the normal points, else -1.
        face: the first face that it meets.
        t: how far that is, in lengths of the direction.
        u, v: the weights of the face's first two corners at the point.
        normal: the face's unit normal.
    """

    result: Any
    sign: Any
    face: Any
    t: Any
    u: Any
    v: Any
    normal: Any

    __wb_struct__ = Struct.of(
        "MeshQueryRay",
        [("result", bool_), ("sign", float32), ("face", int32), ("t", float32), ("u", float32), ("v", float32),
         ("normal", VEC3)],
    )  # fmt: skip


@written("_mesh_corners(mesh, face)")
def corners(mesh, face, /):
    """Return the three corners of a face, each a vec3."""
    k = natural(3 * face)
    a, b, c = natural(mesh.indices[k]), natural(mesh.indices[k + 1]), natural(mesh.indices[k + 2])
    return mesh.points[a], mesh.points[b], mesh.points[c]


@written("_seen(mesh, face, p)")
def seen(mesh, face, p, /):
    """Return the vector from p to the nearest point of a face."""
    q, r, s = corners(mesh, face)
    a, b, c = q - p, r - p, s - p
    u, v = closest(a, b, c)
    return a * u + b * v + c * (1.0 - u - v)


@written("_triangle_weights(a, b, c, dir)")
def weights(a, b, c, dir, /):
    """Return by which side a ray from the origin passes each edge of a triangle: unscaled barycentric weights.

    They all have the same sign where the ray meets the triangle. A weight is that of the neighbour's edge, negated,
    to the bit, so no ray slips through between the two.
    """
    ac, ba, cb = c - a, a - b, b - c
    return dot(cross(cb, b + c), dir), dot(cross(ac, c + a), dir), dot(cross(ba, a + b), dir)


@written("_ray_passed(mesh, face, start, dir)")
def passed(mesh, face, start, dir, /):
    """Return the distance along a ray to a face, in lengths of `dir`; -1 if the ray does not meet it."""
    p, q, r = corners(mesh, face)
    a, b, c = p - start, q - start, r - start
    u, v, w = weights(a, b, c, dir)
    t = -1.0
    if lesser(lesser(u, v), w) >= 0.0 or greater(greater(u, v), w) <= 0.0:
        t = (u * dot(a, dir) + v * dot(b, dir) + w * dot(c, dir)) / ((u + v + w) * dot(dir, dir))
    return t


@written("_nearest_face(mesh, start, dir, limit)")
def nearest_face(mesh, start, dir, limit, /):
    """Return the first face that a ray meets before the limit, or -1; the nearer child of a node is searched first."""
    inv = inverse(dir)
    later, starts = stack(96, 0), stack(96, 0.0)
    face = -1
    top = 0
    at = 0 if mesh.nodes.shape[0] > 0 else -1
    while at >= 0:
        node = natural(at)
        right = mesh.nodes[node].right
        at = -1
        if right < 0:
            for k in range(-1 - right, mesh.nodes[node].skip - 1 - right):
                f = mesh.items[natural(k)]
                t = passed(mesh, f, start, dir)
                if t >= 0.0 and t < limit:
                    limit = t
                    face = f
        else:
            left = node + 1
            right = natural(right)
            near = entered(mesh.nodes[left].lower, mesh.nodes[left].upper, start, inv, limit)
            far = entered(mesh.nodes[right].lower, mesh.nodes[right].upper, start, inv, limit)
            if lesser(near, far) < 1.0e38:
                at = left if near <= far else right
                if greater(near, far) < 1.0e38:
                    pushed(starts, top, greater(near, far))
                    top = pushed(later, top, right if near <= far else left)
        while at < 0 and top > 0:
            top = top - 1
            if popped(starts, top) < limit:
                at = popped(later, top)
    return face


@written("mesh_query_ray(mesh, start, dir, max_t)", kinds(VECTOR, VECTOR, NUMBER), of=MESH)
def mesh_query_ray(mesh, start, dir, max_t):
    """Return the first face that a ray meets before `max_t` lengths of `dir`.

    A `MeshQueryRay`: `result`, whether there is one; `t`, how far; `face`; `u` and `v`, the weights of its first
    two corners; `sign`, 1 if the ray comes from the side to which the normal points, else -1; the unit `normal`.
    """
    face = nearest_face(mesh, start, dir, max_t)
    hit = MeshQueryRay()
    if face >= 0:
        p, q, r = corners(mesh, face)
        a, b, c = p - start, q - start, r - start
        u, v, w = weights(a, b, c, dir)
        total = u + v + w
        hit.result = True
        hit.face = face
        hit.u, hit.v = u / total, v / total
        hit.t = (u * dot(a, dir) + v * dot(b, dir) + w * dot(c, dir)) / (total * dot(dir, dir))
        hit.normal = normalize(cross(q - p, r - p))
        hit.sign = 1.0 if total < 0.0 else -1.0
    return hit


@written("_ray_hits(mesh, start, dir, limit, enough)")
def crossings(mesh, start, dir, limit, enough, /):
    """Count the faces that a ray meets before the limit; stop after the leaf where the count reaches `enough`."""
    inv = inverse(dir)
    count, at, end = 0, 0, mesh.nodes.shape[0]
    while at < end and count < enough:
        node = natural(at)
        right, skip = mesh.nodes[node].right, mesh.nodes[node].skip
        inside = entered(mesh.nodes[node].lower, mesh.nodes[node].upper, start, inv, limit) < 1.0e38
        if right < 0 and inside:
            for k in range(-1 - right, skip - 1 - right):
                t = passed(mesh, mesh.items[natural(k)], start, dir)
                count = count + (1 if t >= 0.0 and t < limit else 0)
        at = at + 1 if inside or right < 0 else skip
    return count


@written("mesh_query_ray_anyhit(mesh, start, dir, max_t)", kinds(VECTOR, VECTOR, NUMBER), of=MESH)
def mesh_query_ray_anyhit(mesh, start, dir, max_t):
    """Return whether a ray meets any face before `max_t` lengths of `dir`."""
    return crossings(mesh, start, dir, max_t, 1) > 0


@written("mesh_query_ray_count_intersections(mesh, start, dir)", kinds(VECTOR, VECTOR), of=MESH)
def mesh_query_ray_count_intersections(mesh, start, dir):
    """Count the faces that a ray meets; where it meets an edge, both faces count."""
    return crossings(mesh, start, dir, 3.0e38, 2147483647)


@written("mesh_query_aabb(mesh, low, high)", kinds(VECTOR, VECTOR), of=MESH)
def mesh_query_aabb(mesh, low, high):
    """Find the faces whose boxes overlap the box from `low` to `high`: `for f in mesh_query_aabb(mesh, low, high)`."""
    return query_of(mesh, mesh.points, mesh.indices, 0, low, high, 0.0)


@written("mesh_query_sphere(mesh, center, radius)", kinds(VECTOR, NUMBER), of=MESH)
def mesh_query_sphere(mesh, center, radius):
    """Find the faces that a ball meets: `for f in mesh_query_sphere(mesh, center, radius)`."""
    return query_of(mesh, mesh.points, mesh.indices, 4, center, center, greater(radius, 0.0))


@written("mesh_query_next(query, face)", kinds(), of=("BvhQuery", "within"))
def mesh_query_next(query):
    """Advance a query of a mesh to its next face: `while mesh_query_next(query, f)` sets the local name f."""
    onward, k, face = bvh_query_next(query)
    if query.kind == 4 and face >= 0:
        if not length_sq(seen(query, face, query.low)) <= query.radius * query.radius:
            face = -1
    return onward, k, face


@written("mesh_query_aabb_next(query, face)", kinds(), of=("BvhQuery", "within"))
def mesh_query_aabb_next(query):
    """Advance a query of a mesh to its next face: `while mesh_query_aabb_next(query, f)` sets the local name f."""
    return mesh_query_next(query)


@written("mesh_eval_position(mesh, face, u, v)", kinds(INTEGER, NUMBER, NUMBER), of=MESH)
def mesh_eval_position(mesh, face, u, v):
    """Return the point of a face with the weights u, v and 1 - u - v at its corners."""
    p, q, r = corners(mesh, face)
    return p * u + q * v + r * (1.0 - u - v)


@written("mesh_eval_velocity(mesh, face, u, v)", kinds(INTEGER, NUMBER, NUMBER), of=MESH)
def mesh_eval_velocity(mesh, face, u, v):
    """Return the velocity at the point of a face with the weights u, v and 1 - u - v; 0 if the mesh has none."""
    speed = _vector(0.0, 0.0, 0.0)
    if mesh.velocities.shape[0] > 0:
        k = natural(3 * face)
        a, b, c = mesh.indices[k], mesh.indices[k + 1], mesh.indices[k + 2]
        speed = mesh.velocities[a] * u + mesh.velocities[b] * v + mesh.velocities[c] * (1.0 - u - v)
    return speed


@written("mesh_eval_face_normal(mesh, face)", kinds(INTEGER), of=MESH)
def mesh_eval_face_normal(mesh, face):
    """Return the unit normal of a face; seen against it, the corners run counterclockwise."""
    p, q, r = corners(mesh, face)
    return normalize(cross(q - p, r - p))


class MeshPart:
    """A mesh whose arrays are parts of those of `Meshes`."""

    def __init__(self, *fields: Any) -> None:
        """Do nothing: only a kernel makes such a mesh, from its fields."""

    __wb_struct__ = Struct.of("Mesh", FACES)


@written("mesh_at(meshes, k)", kinds(INTEGER), of=("Meshes", "starts"))
def mesh_at(meshes, k):
    """Return the k-th of several meshes, for queries: `mesh_query_ray(mesh_at(meshes, k), start, dir, 100.0)`."""
    at = meshes.starts
    j = k + 1
    return MeshPart(
        meshes.points[at[k, 0] : at[j, 0]],
        meshes.velocities[at[k, 1] : at[j, 1]],
        meshes.indices[at[k, 2] : at[j, 2]],
        meshes.lowers[at[k, 3] : at[j, 3]],
        meshes.uppers[at[k, 4] : at[j, 4]],
        meshes.nodes[at[k, 5] : at[j, 5]],
        meshes.items[at[k, 6] : at[j, 6]],
        meshes.moments[at[k, 7] : at[j, 7]],
    )


@written("mesh_count(meshes)", kinds(), of=("Meshes", "starts"))
def mesh_count(meshes):
    """Return how many meshes there are."""
    return meshes.starts.shape[0] - 1


@written("mesh_get(mesh)", kinds(), of=MESH)
def mesh_get(mesh):
    """Return the mesh itself, whose `points`, `velocities` and `indices` are arrays."""
    return mesh


@written("mesh_get_bvh(mesh)", kinds(), of=MESH)
def mesh_get_bvh(mesh):
    """Return the mesh as the tree of its faces' boxes, for `bvh_query_ray` and the like."""
    return mesh


@written("mesh_get_index(mesh, i)", kinds(INTEGER), of=MESH)
def mesh_get_index(mesh, i):
    """Return the i-th index: the number of the point at corner i % 3 of face i // 3."""
    return mesh.indices[i]


@written("mesh_get_point(mesh, i)", kinds(INTEGER), of=MESH)
def mesh_get_point(mesh, i):
    """Return the point that the i-th index names."""
    return mesh.points[mesh.indices[i]]


@written("mesh_get_velocity(mesh, i)", kinds(INTEGER), of=MESH)
def mesh_get_velocity(mesh, i):
    """Return the velocity of the point that the i-th index names."""
    return mesh.velocities[mesh.indices[i]]
