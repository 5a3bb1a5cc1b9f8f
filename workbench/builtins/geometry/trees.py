"""Queries of a `Bvh`, a tree of boxes, or of the tree of a `Mesh`: which items' boxes a box, ball or ray meets.

The nodes stand in depth-first order, the root first. The left child of node i is i + 1, `right` is the right child. Who
does not enter a node goes on at `skip`, the node after all that is below it, so a loop needs no stack. A leaf has a
negative `right`, -1 minus the place in `items` where its own begin; its `skip` is their number.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.builtins.declaration.declare import Takes, written
from workbench.builtins.declaration.forms import natural
from workbench.builtins.declaration.forms import vector as _vector
from workbench.builtins.declaration.rules import INTEGER, NUMBER, VECTOR, Arg, kinds
from workbench.structs import AnyType, Struct, StructArray
from workbench.types import ArrayType, Type, Vector, float32, int32

VEC3 = Vector(3, float32)
NODE = Struct.of("BvhNode", [("lower", VEC3), ("right", int32), ("upper", VEC3), ("skip", int32)])
TREE: list[tuple[str, AnyType]] = [
    ("lowers", ArrayType(VEC3, 1)),
    ("uppers", ArrayType(VEC3, 1)),
    ("nodes", StructArray(NODE, 1)),
    ("items", ArrayType(int32, 1)),
]
"""The fields of a tree: the items' boxes, the nodes, the items in the order of leaves."""


MOMENT = Struct.of("MeshMoment", [("normal", VEC3), ("center", VEC3), ("reach", float32)])
"""The dipole of the faces below a node: their summed area vectors, centroid, and the node's radius around it."""
FACES: list[tuple[str, AnyType]] = [
    ("points", ArrayType(VEC3, 1)),
    ("velocities", ArrayType(VEC3, 1)),
    ("indices", ArrayType(int32, 1)),
    *TREE,
    ("moments", StructArray(MOMENT, 1)),
]
"""The fields of a mesh."""


BVH, MESH = ("Bvh", "nodes"), ("Mesh", "points")


def up_to(*wanted: str, least: int = 0) -> Takes:
    """Return a check that arguments are of these kinds (`NUMBER`, `VECTOR`, …), in order.

    Those after the first `least` may be left out from the end. The check returns the types to convert them to, and
    raises KernelTypeError if they do not fit.
    """

    def takes(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
        return kinds(*wanted[: max(least, len(args))])(name, args)

    return takes


class BvhQuery:
    """A query in progress: its shape and its position.

    `kind` is 0 for a box, 1 a ray, 2 a ball, 3 a capsule, 4 a ball that has to meet the faces themselves; for these it
    has the mesh's points and indices.
    """

    def __init__(self, *fields: Any) -> None:
        """Do nothing: only a kernel makes a query, from its fields."""

    __wb_struct__ = Struct.of(
        "BvhQuery",
        [*TREE, ("points", ArrayType(VEC3, 1)), ("indices", ArrayType(int32, 1)), ("kind", int32), ("low", VEC3),
         ("high", VEC3), ("radius", float32), ("at", int32), ("within", int32)],
    )  # fmt: skip


@written("_lesser(a, b)")
def lesser(a, b, /):
    """Return the smaller number, in one instruction; b if a is NaN."""
    return a if a < b else b


@written("_greater(a, b)")
def greater(a, b, /):
    """Return the larger number, in one instruction; b if a is NaN."""
    return a if a > b else b


@written("_inverse(d)")
def inverse(d, /):
    """Return the reciprocal of each component of a direction, a vec3."""
    return _vector(1.0 / d[0], 1.0 / d[1], 1.0 / d[2])


@written("_box_entered(lower, upper, start, inv, limit)")
def entered(lower, upper, start, inv, limit, /):
    """Return the distance along a ray at which it enters a box, at least 0; 3e38 if it does not before the limit.

    `inv` is 1 over each component of the direction. Beside a direction of 0, a face on which the ray begins gives NaN,
    which the order of the comparisons leaves out. The near end is drawn in by a few roundings, so that no ray passes
    between two boxes that touch.
    """
    ax, bx = (lower[0] - start[0]) * inv[0], (upper[0] - start[0]) * inv[0]
    ay, by = (lower[1] - start[1]) * inv[1], (upper[1] - start[1]) * inv[1]
    az, bz = (lower[2] - start[2]) * inv[2], (upper[2] - start[2]) * inv[2]
    first = greater(lesser(bx, ax), greater(lesser(by, ay), greater(lesser(bz, az), 0.0))) * 0.9999996
    last = lesser(greater(ax, bx), lesser(greater(ay, by), lesser(greater(az, bz), limit)))
    return first if first <= last else 3.0e38


@written("_box_distance(lower, upper, p)")
def distance(lower, upper, p, /):
    """Return the squared distance from a point to a box; 0 inside."""
    x = greater(greater(lower[0] - p[0], p[0] - upper[0]), 0.0)
    y = greater(greater(lower[1] - p[1], p[1] - upper[1]), 0.0)
    z = greater(greater(lower[2] - p[2], p[2] - upper[2]), 0.0)
    return x * x + y * y + z * z


@written("_box_overlaps(lower, upper, low, high)")
def overlaps(lower, upper, low, high, /):
    """Return whether two boxes share a point."""
    gap = greater(greater(lower[0] - high[0], low[0] - upper[0]), greater(lower[1] - high[1], low[1] - upper[1]))
    return greater(gap, greater(lower[2] - high[2], low[2] - upper[2])) <= 0.0


@written("_bvh_query(tree, kind, low, high, radius)")
def begin_query(tree, kind, low, high, radius, /):
    """Return a query of a tree of boxes, before its first item; the boxes are the items' own.

    `kind` is 0 for the box from `low` to `high`, 1 for a ray, 2 for a ball, 3 for a capsule. A ray or capsule
    starts at `low`, and `high` is 1 over each component of its direction; `low` is a ball's centre.
    """
    return query_of(tree, tree.lowers, tree.items, kind, low, high, radius)


@written("_query_of(tree, points, indices, kind, low, high, radius)")
def query_of(tree, points, indices, kind, low, high, radius, /):
    """Return a query of a tree of boxes, before its first item; items are faces with these points and indices.

    `kind` is 0 for the box from `low` to `high`, 1 for a ray, 2 for a ball, 3 for a capsule, 4 for a ball that has
    to meet the faces themselves.
    """
    return BvhQuery(tree.lowers, tree.uppers, tree.nodes, tree.items, points, indices, kind, low, high, radius, 0, 0)


@written("_query_below(bvh, kind, low, high, root)")
def _query_below(bvh, kind, low, high, root, /):
    """Return a query of the part of a tree below the node `root`; of the whole tree if that is None or negative.

    `kind` is 0 for the box from `low` to `high`, 1 for a ray from `low`, where `high` is 1 over its direction.
    """
    if root is None:
        return begin_query(bvh, kind, low, high, 0.0)
    at, end = 0, bvh.nodes.shape[0]
    if root >= 0:
        at = root
        end = root + 1 if bvh.nodes[root].right < 0 else bvh.nodes[root].skip
    nodes = bvh.nodes[:end]
    return BvhQuery(bvh.lowers, bvh.uppers, nodes, bvh.items, bvh.lowers, bvh.items, kind, low, high, 0.0, at, 0)


@written("bvh_query_aabb(bvh, low, high, root=-1)", up_to(VECTOR, VECTOR, INTEGER, least=2), of=BVH)
def bvh_query_aabb(bvh, low, high, root=None):
    """Find the items whose boxes overlap the box from `low` to `high`: `for i in bvh_query_aabb(bvh, low, high)`.

    With a `root`, as `bvh_get_group_root` returns it, only those of its group.
    """
    return _query_below(bvh, 0, low, high, root)


@written("bvh_query_ray(bvh, start, dir, root=-1)", up_to(VECTOR, VECTOR, INTEGER, least=2), of=BVH)
def bvh_query_ray(bvh, start, dir, root=None):
    """Find the items whose boxes a ray meets: `for i in bvh_query_ray(bvh, start, dir)`, in no order of distance.

    `while bvh_query_next(query, i, limit)` takes a limit, in lengths of `dir`, that may shrink from item to item. With
    a `root`, as `bvh_get_group_root` returns it, only the items of its group are found.
    """
    return _query_below(bvh, 1, start, inverse(dir), root)


@written("bvh_get_group_root(bvh, group)", kinds(INTEGER), of=("Bvh", "roots"))
def bvh_get_group_root(bvh, group):
    """Return the node below which the items of a group are, for queries; -1 if there is no such group."""
    low, high = 0, bvh.roots.shape[0]
    while low < high:
        middle = (low + high) // 2
        if bvh.roots[middle, 0] < group:
            low = middle + 1
        else:
            high = middle
    root = -1
    if low < bvh.roots.shape[0]:
        if bvh.roots[low, 0] == group:
            root = bvh.roots[low, 1]
    return root


@written("bvh_query_sphere(bvh, center, radius)", kinds(VECTOR, NUMBER), of=BVH)
def bvh_query_sphere(bvh, center, radius):
    """Find the items whose boxes a ball meets: `for i in bvh_query_sphere(bvh, center, radius)`."""
    return begin_query(bvh, 2, center, center, greater(radius, 0.0))


@written("bvh_query_capsule(bvh, start, dir, radius)", kinds(VECTOR, VECTOR, NUMBER), of=BVH)
def bvh_query_capsule(bvh, start, dir, radius):
    """Find the items whose boxes, grown by `radius` on all sides, a ray meets."""
    return begin_query(bvh, 3, start, inverse(dir), greater(radius, 0.0))


@written("_bvh_met(query, lower, upper, limit)")
def _met(query, lower, upper, limit, /):
    """Return whether a box meets that of the query, its ball, or its ray or capsule before `limit`."""
    r = query.radius
    if query.kind == 0:
        return overlaps(lower, upper, query.low, query.high)
    if query.kind == 1:
        return entered(lower, upper, query.low, query.high, limit) < 1.0e38
    if query.kind == 2 or query.kind == 4:
        return distance(lower, upper, query.low) <= r * r
    margin = _vector(r, r, r)
    return entered(lower - margin, upper + margin, query.low, query.high, limit) < 1.0e38


@written("bvh_query_next(query, item, limit=inf)", up_to(NUMBER), of=("BvhQuery", "within"))
def bvh_query_next(query, limit):
    """Advance a query to its next item in a `while`: `while bvh_query_next(query, i)` sets the local name i.

    `names/rewriting` calls it once per node: it returns the node and the position in it where the query goes on, and
    the next item, or -1.
    """
    far = 3.0e38 if limit is None else limit
    at = natural(query.at)
    node = query.nodes[at]
    k = query.within
    hit = True
    if k == 0:
        hit = _met(query, node.lower, node.upper, far)
    onward, next_item = at + 1, -1
    if node.right >= 0:
        onward = onward if hit else node.skip
        k = 0
    elif hit:
        item = query.items[natural(k - 1 - node.right)]
        if node.skip == 1 or _met(query, query.lowers[natural(item)], query.uppers[natural(item)], far):
            next_item = item
        k = k + 1 if k + 1 < node.skip else 0
        onward = at if k > 0 else onward
    return onward, k, next_item
