"""`Bvh` and `Mesh` on the host: trees of boxes that kernels query by `builtins/geometry`."""

# The bodies of kernels are read by our compiler.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportInvalidTypeForm=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.api.narrow import is_array
from workbench.builtins import FORMS
from workbench.builtins.geometry.meshes import MeshQueryRay as MeshQueryRay
from workbench.builtins.geometry.points import MeshQueryPoint as MeshQueryPoint
from workbench.builtins.geometry.trees import FACES, MOMENT, NODE, TREE, VEC3
from workbench.builtins.geometry.trees import BvhQuery as BvhQuery
from workbench.builtins.vectors.dot_and_length import cross, length
from workbench.errors import LaunchError, its_type
from workbench.host.narrow import is_count
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty
from workbench.runtime.arrays.structure import StructValue
from workbench.runtime.device.device import Device
from workbench.structs import Struct
from workbench.types import ArrayType, int32
from workbench.utils.sort import QUIET
from workbench.utils.trees import Tree, grouped

tid = FORMS["tid"]


class Bvh(StructValue):
    """A tree of boxes, so that a kernel finds those that a box, a ball or a ray meets without looking at all of them.

        @wb.kernel
        def count(bvh: wb.Bvh, low: wb.array[wb.vec3], high: wb.array[wb.vec3], out: wb.array[int]):
            i = wb.tid()
            for j in wb.bvh_query_aabb(bvh, low[i], high[i]):
                out[i] += 1

        bvh = wb.Bvh(lowers, uppers)
        wb.launch(count, len(low), [bvh, low, high], [out])

    Attributes:
        lowers, uppers: the least and the greatest corners of the boxes, arrays of vec3 that it does not copy.
        nodes: the tree in depth-first order: `lower`, `upper`, `right`, `skip` (the guide says how to walk it).
        items: the numbers of the boxes in the order of leaves; int32.
        roots: with groups a row for each: its number, and the node below which its boxes are; int32. Else it is empty.
    """

    __wb_struct__ = Struct.of("Bvh", [*TREE, ("roots", ArrayType(int32, 2))])
    lowers: array
    uppers: array
    nodes: array
    items: array
    roots: array

    def __init__(self, lowers: array, uppers: array, leaf_size: int = 1, groups: array | None = None) -> None:
        """Build the tree of these boxes, on their device.

        Args:
            lowers, uppers: the least and the greatest corners, two arrays of vec3 of one length, on one device.
            leaf_size: how many boxes a leaf may hold. Results are the same.
            groups: an array of int32, the number of each box's group: a kernel asks for the boxes of one of them by
                `bvh_query_aabb(bvh, low, high, bvh_get_group_root(bvh, group))`. A tree is built for each.

        Raises:
            LaunchError: the boxes or the groups are not such arrays, or the size is not positive.
        """
        _require("Bvh()", VEC3, lowers=lowers, uppers=uppers)
        if lowers.size != uppers.size:
            raise LaunchError(f"Bvh() got {lowers.size} lowers and {uppers.size} uppers.", parameter="uppers")
        if groups is not None:
            _require("Bvh()", int32, lowers.device, groups=groups)
            if groups.size != lowers.size:
                raise LaunchError(f"Bvh() got {groups.size} groups of {lowers.size} boxes.", parameter="groups")
        _positive(leaf_size)
        self.__dict__.update(_leaf_size=leaf_size, _groups=groups)
        super().__init__(lowers, uppers)
        self.rebuild()

    @property
    def device(self) -> Device:
        """The device of its arrays."""
        return self.lowers.device

    def rebuild(self) -> None:
        """Build a new tree, in new arrays, for boxes that have moved far."""
        leaf_size, groups = self.__dict__["_leaf_size"], self.__dict__["_groups"]
        if groups is not None and groups.size:
            self.nodes, self.items, self.roots = grouped(self.lowers, self.uppers, leaf_size, groups)
            return
        tree = Tree(self.lowers, self.uppers, leaf_size)
        self.__dict__["_tree"], self.nodes, self.items = tree, tree.nodes, tree.items
        self.roots = empty((0, 2), int32, self.device)

    def refit(self) -> None:
        """Update the existing tree for boxes that have moved: the further they went, the slower queries are.

        A tree of groups is built anew.
        """
        if self.roots.size:
            self.rebuild()
        else:
            self.__dict__["_tree"].refit(self.lowers, self.uppers)


class Mesh(StructValue):
    """Triangles, so that a kernel finds where a ray meets them and which point of them is nearest.

        @wb.kernel
        def depth(mesh: wb.Mesh, start: wb.array[wb.vec3], out: wb.array[float]):
            i = wb.tid()
            hit = wb.mesh_query_ray(mesh, start[i], wb.vec3(0.0, 0.0, -1.0), 100.0)
            if hit.result:
                out[i] = hit.t

        mesh = wb.Mesh(points, indices)
        wb.launch(depth, len(start), [mesh, start], [out])

    A gradient flows through a hit to `mesh.points`, if they have one, and to the ray.

    Attributes:
        points: the corners, an array of vec3 that it does not copy. Another one may be assigned; the mesh follows it.
        velocities: those of the corners, an array of vec3; empty if there are none.
        indices: three for each face: int32 in one dimension.
        lowers, uppers, nodes, items: the tree of the faces' boxes, as in `Bvh`.
        moments: with winding numbers one `MeshMoment` for each node and one more; else a single one, unused.
    """

    __wb_struct__ = Struct.of("Mesh", FACES)
    points: array
    velocities: array
    indices: array
    lowers: array
    uppers: array
    nodes: array
    items: array
    moments: array

    def __init__(
        self,
        points: array,
        indices: array,
        velocities: array | None = None,
        support_winding_number: bool = False,
        leaf_size: int = 4,
    ) -> None:
        """Build the mesh of these triangles and the tree of their boxes, on their device.

        Args:
            points: the corners, an array of vec3 in one dimension.
            indices: an array of int32, of shape (3 n,) or (n, 3): the three points that each of n faces joins.
            velocities: those of the points, for `mesh_eval_velocity`.
            support_winding_number: prepare for `mesh_query_point_sign_winding_number`, which else sums up every face.
            leaf_size: how many faces a leaf may hold. Results are the same.

        Raises:
            LaunchError: an array is not as above, they are on several devices, or an index is not that of a point.
        """
        _require("Mesh()", VEC3, points=points)
        if is_array(indices) and indices.ndim == 2 and indices.shape[1] == 3:
            indices = indices.flatten()
        _require("Mesh()", int32, points.device, indices=indices)
        if velocities is not None:
            _require("Mesh()", VEC3, points.device, velocities=velocities)
        n = indices.size // 3
        if indices.size % 3:
            raise LaunchError(f"Mesh() takes three indices for each face; {indices.size} is no multiple of 3.")
        if n and not 0 <= int(indices.min()) <= int(indices.max()) < points.size:
            raise LaunchError(f"Mesh() got indices outside of the {points.size} points.", parameter="indices")
        _positive(leaf_size)
        boxes = empty(n, VEC3, points.device), empty(n, VEC3, points.device)
        speeds = empty(0, VEC3, points.device) if velocities is None else velocities
        self.__dict__.update(_leaf_size=leaf_size, _winds=support_winding_number)
        super().__init__(points, speeds, indices, *boxes)
        self.rebuild()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; for other `points` also update the boxes of the tree.

        Raises:
            LaunchError: these are not as many points as before, on the same device; the points are as they were.
        """
        before = self.__dict__.get("points")
        super().__setattr__(name, value)
        if name == "points" and before is not None and "_tree" in self.__dict__:
            if before.shape != value.shape or before.device != value.device:
                self.__dict__["points"] = before
                raise LaunchError(f"Mesh.points takes as many points as there were, {before.size}, on the same device.")
            self.refit()

    @property
    def device(self) -> Device:
        """The device of its arrays."""
        return self.points.device

    def rebuild(self) -> None:
        """Build a new tree, in new arrays, for points that have moved far."""
        self._measure()
        tree = Tree(self.lowers, self.uppers, self.__dict__["_leaf_size"])
        self.__dict__["_tree"], self.nodes, self.items = tree, tree.nodes, tree.items
        self.moments = empty(1 + (self.nodes.size if self.__dict__["_winds"] else 0), MOMENT, self.device)
        self._weigh()

    def refit(self) -> None:
        """Update the boxes of the existing tree; call this after the points have been changed in place."""
        self._measure()
        self.__dict__["_tree"].refit(self.lowers, self.uppers)
        self._weigh()

    def _measure(self) -> None:
        """Compute the box of each face, on the mesh's device."""
        launch(
            _boxes,
            self.lowers.size,
            [self.points, self.indices],
            [self.lowers, self.uppers],
            device=self.device,
            **QUIET,
        )

    def _weigh(self) -> None:
        """Compute the moments of the tree's nodes; without winding numbers do nothing."""
        if self.moments.size > 1:
            inputs = [self.points, self.indices, self.nodes, self.items]
            launch(_moments, self.nodes.size, inputs, [self.moments], device=self.device, **QUIET)


class Meshes(StructValue):
    """Several meshes, of which a kernel chooses one by its number: `mesh_at(meshes, k)`.

    They are joined as they are now: make it again after one of them has changed.

    Attributes:
        starts: where each mesh begins in each of the arrays, an array of int32 with a row for each mesh and one more.
    """

    __wb_struct__ = Struct.of("Meshes", [*FACES, ("starts", ArrayType(int32, 2))])
    starts: array

    def __init__(self, meshes: Sequence[Mesh]) -> None:
        """Join the arrays of the meshes, on their device.

        Raises:
            LaunchError: there is none, or they are on several devices.
        """
        if not meshes or len({m.device for m in meshes}) > 1:
            raise LaunchError("Meshes() takes meshes on one device, at least one.", parameter="meshes")
        device, columns, joined = meshes[0].device, [], []
        for name, _ in FACES:
            parts = [getattr(m, name) for m in meshes]
            columns.append(np.cumsum([0, *(p.size for p in parts)]))
            combined = empty(int(columns[-1][-1]), parts[0].dtype, device)
            for part, first in zip(parts, columns[-1], strict=False):
                if part.size:
                    combined[int(first) : int(first) + part.size].copy_(part)
            joined.append(combined)
        super().__init__(*joined, array(np.stack(columns, axis=1).astype(np.int32), device=device))


def _require(what: str, dtype: Any, device: Device | None = None, **arrays: Any) -> None:
    """Raise a LaunchError unless these are one-dimensional arrays of `dtype`, all on `device`.

    Without a device, it is that of the first of them. `what` is how the message calls the function that was called.
    """
    for name, value in arrays.items():
        if not isinstance(value, array) or value.ndim != 1 or value.dtype != dtype:
            shown = f"{value.type!r}" if isinstance(value, array) else its_type(value)
            raise LaunchError(
                f"{what} takes {name} as an array of {dtype!r}, not {shown}.",
                parameter=name,
                advice=f"Write {name} = wb.array({name}, dtype=wb.{dtype!r}) first.",
            )
        device = device or value.device
        if value.device != device:
            raise LaunchError(f"{what} got {name} on {value.device.name}, others on {device.name}.", parameter=name)


def _positive(leaf_size: int) -> None:
    """Raise a LaunchError unless `leaf_size` is an int of at least 1."""
    if not is_count(leaf_size) or leaf_size < 1:
        raise LaunchError(f"A leaf holds at least one item, not {leaf_size!r}.", parameter="leaf_size")


@kernel
def _boxes(points: array[VEC3], indices: array[int32], lowers: array[VEC3], uppers: array[VEC3]):
    """Write the corners of the bounding box of each triangle, one thread per triangle."""
    i = tid()
    a, b, c = points[indices[3 * i]], points[indices[3 * i + 1]], points[indices[3 * i + 2]]
    for axis in range(3):
        lowers[i][axis] = min(a[axis], b[axis], c[axis])
        uppers[i][axis] = max(a[axis], b[axis], c[axis])


@kernel
def _moments(
    points: array[VEC3], indices: array[int32], nodes: array[NODE], items: array[int32], moments: array[MOMENT]
):
    """Write the moment of each node: the sum of the area vectors of the faces below it, their centroid, and a radius.

    The radius is how far the node's box reaches from the centroid.
    """
    i = tid()
    end = i + 1 if nodes[i].right < 0 else nodes[i].skip
    normal, center = VEC3(0.0), VEC3(0.0)
    area = 0.0
    for at in range(i, end):
        right = nodes[at].right
        if right < 0:
            for k in range(-1 - right, nodes[at].skip - 1 - right):
                f = 3 * items[k]
                a, b, c = points[indices[f]], points[indices[f + 1]], points[indices[f + 2]]
                vector = 0.5 * cross(b - a, c - a)
                normal += vector
                center += (a + b + c) * (length(vector) / 3.0)
                area += length(vector)
    box = nodes[i]
    center = center / area if area > 0.0 else 0.5 * (box.lower + box.upper)
    far = VEC3(0.0)
    for axis in range(3):
        far[axis] = max(box.upper[axis] - center[axis], center[axis] - box.lower[axis])
    moments[i].normal = normal
    moments[i].center = center
    moments[i].reach = length(far)
