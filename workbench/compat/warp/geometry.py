"""Grids, trees and meshes that kernels take by the number `id`, as in Warp."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from workbench.compat.warp.kinds import number_type
from workbench.types import SCALARS, as_type, is_float
from workbench.weak import WeakValueDict

_BY_ID: WeakValueDict[int, Any] = WeakValueDict()


class _Numbered:
    """A base class of objects that kernels take by the number `id`."""

    def __init__(
        self, *arrays: Any, constructor: Any = None, bvh_constructor: Any = None, bvh_leaf_size: int | None = None,
        groups: Any = None, **options: Any,
    ) -> None:  # fmt: skip
        """Build the tree or mesh of these arrays; `bvh_leaf_size` is its leaf size, a constructor has no effect.

        Raises:
            NotImplementedError: there are groups of faces, for a mesh.
        """
        if groups is not None and isinstance(self, wb.Mesh):
            raise NotImplementedError("groups= of a Mesh is not in Workbench: make a mesh of each group.")
        options |= {} if groups is None else {"groups": groups}
        super().__init__(*arrays, **options, **({} if bvh_leaf_size is None else {"leaf_size": bvh_leaf_size}))

    def __del__(self) -> None:
        """Do nothing; programs call it."""

    @property
    def id(self) -> int:
        """A number for which `object_of` returns the object while it lives."""
        _BY_ID.put(id(self), self)
        return id(self)


def object_of(value: Any) -> Any:
    """Return the grid, mesh or tree with the id `value`, or `Meshes` for an array of ids; other values themselves."""
    if isinstance(value, wb.array) and value.dtype == SCALARS["uint64"] and 0 < value.size:
        meshes: list[Any] = [_BY_ID.get(n) for n in value.numpy().ravel().tolist()]
        return value if not all(isinstance(m, wb.Mesh) for m in meshes) else wb.Meshes(meshes)
    geometry = _BY_ID.get(int(value)) if isinstance(value, (int, np.integer)) else None
    return value if geometry is None else geometry


class HashGrid(_Numbered, wb.HashGrid):
    """Represents a `workbench.HashGrid`, whose `id` is what kernels are given."""

    def __init__(self, *sizes: Any, dtype: Any = None, **options: Any) -> None:
        """Make an empty grid of points with components of `dtype`, float32 if it is None.

        Raises:
            TypeError: the dtype is no type of floats.
        """
        super().__init__(*sizes, **options)
        self.__dict__["dtype"] = kind = number_type(as_type(dtype or "float32"))
        if not is_float(kind):
            raise TypeError(f"HashGrid() takes float16, float32 or float64 as dtype, not {kind!r}")

    def build(self, points: wb.array, radius: float | None = None, groups: wb.array | None = None) -> None:
        """Build the grid as `workbench.HashGrid.build` does, of points in any shape.

        Raises:
            TypeError: their components are of another type than the grid's.
        """
        of: Any = points.dtype
        if of.dtype != self.__dict__["dtype"]:
            raise TypeError(f"this HashGrid takes points of {self.__dict__['dtype']!r}; these are {points.dtype!r}")
        super().build(points.flatten(), radius, None if groups is None else groups.flatten())

    def reserve(self, num_points: int, with_groups: bool = False) -> None:
        """Make room for at least `num_points` points, and with `with_groups` for their groups."""
        for name in ("points", "groups") if with_groups else ("points",):
            if getattr(self, name).size < num_points:
                setattr(self, name, wb.empty(num_points, wb.int32, self.device))  # a fill would be captured


class Bvh(_Numbered, wb.Bvh):
    """Represents a `workbench.Bvh`, whose `id` is what kernels are given."""

    def rebuild(self, constructor: Any = None) -> None:
        """Build the tree again; the constructor has no effect."""
        super().rebuild()


class Mesh(_Numbered, wb.Mesh):
    """Represents a `workbench.Mesh`, whose `id` is what kernels are given."""

    support_winding_number = property(lambda m: m.__dict__["_winds"])
