"""A grid of cells in which kernels find the neighbours of a point (`builtins/vectors/hash_grids.py`: how they ask)."""

# The bodies of kernels are read by our compiler.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportInvalidTypeForm=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.api.narrow import is_array
from workbench.builtins import FORMS
from workbench.builtins.vectors.hash_grids import cell
from workbench.errors import LaunchError
from workbench.host.narrow import is_count
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty, from_numpy, zeros
from workbench.runtime.arrays.structure import StructValue
from workbench.runtime.device.device import Device, get_device
from workbench.structs import Struct
from workbench.types import ArrayType, Vector, float16, float32, float64, int32, uint32
from workbench.utils.sort import QUIET, sorted_by_bits

tid = FORMS["tid"]
_FLOATS, _INTS = Vector(3, float32), Vector(3, int32)
_GRID = Struct.of(
    "HashGrid",
    [
        ("starts", ArrayType(int32, 1)),
        ("points", ArrayType(int32, 1)),
        ("dims", _INTS),
        ("width", ArrayType(float32, 1)),
        ("period", _FLOATS),
        ("groups", ArrayType(int32, 1)),
    ],
)


class HashGrid(StructValue):
    """Points in cells, so that a kernel finds those near a place without looking at all of them.

        @wb.kernel
        def density(grid: wb.HashGrid, x: wb.array[wb.vec3], r: float, out: wb.array[float]):
            i = wb.tid()
            for j in wb.hash_grid_query(grid, x[i], r):
                if wb.length(x[i] - x[j]) < r:
                    out[i] += 1.0

        grid = wb.HashGrid(64, 64, 64)
        grid.build(x, radius=0.1)
        wb.launch(density, len(x), [grid, x, 0.1], [out])

    The grid goes on in all directions: a cell that is a whole number of grids away is the same cell, and a query
    returns its points too. With `period` that is meant: space itself repeats, and `hash_grid_offset(grid, a, b)` is the
    way from a to the nearest image of b. To a gradient the cells are constants; it flows through what the kernel reads
    of x.

    Attributes:
        starts: where each cell begins in `points`, and the end: int32, cells + 1 elements.
        points: the indices of the points in the order of cells, in each by index; int32.
        dims: cells along each axis.
        width: the sizes of a cell; in memory, so that captured launches find those of the last `build`.
        period: the lengths after which space repeats; 0 if it does not.
        groups: the group of each point, by its index: `hash_grid_query(grid, x, r, group)` returns those of one.
    """

    __wb_struct__ = _GRID
    starts: array
    points: array
    dims: Any
    width: array
    period: Any
    groups: array

    def __init__(
        self, dim_x: int = 64, dim_y: int = 64, dim_z: int = 64, device: Device | str | None = None, *,
        period: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        """Make an empty grid.

        Args:
            dim_x, dim_y, dim_z: cells along each axis. Where the points fill less room than that, no query returns
                points from far away; a cell takes 4 bytes.
            device: where it lies, and where it is built.
            period: the sizes of a box that repeats in all directions; a cell is then a box's size over its number.

        Raises:
            LaunchError: a number of cells or a period is not positive, or there are 2³¹ cells.
        """
        dims = (dim_x, dim_y, dim_z)
        if not all(is_count(d) and d > 0 for d in dims) or math.prod(dims) >= 2**31 - 1:
            raise LaunchError(f"HashGrid() takes positive numbers of cells, below 2³¹ in all; these are {dims}.")
        box = (0.0, 0.0, 0.0) if period is None else tuple(float(p) for p in period)
        if len(box) != 3 or (period is not None and not all(0.0 < p < math.inf for p in box)):
            raise LaunchError(f"HashGrid() takes three positive lengths as period, not {period!r}.", parameter="period")
        where = get_device(device)
        sizes = [p / d if period is not None else 1.0 for p, d in zip(box, dims, strict=True)]
        width = from_numpy(np.array(sizes, np.float32)).to(where)
        starts, points, groups = (zeros(n, int32, where) for n in (math.prod(dims) + 1, 1, 1))
        super().__init__(starts, points, dims, width, box, groups)

    @property
    def device(self) -> Device:
        """The device of the grid's arrays."""
        return self.starts.device

    def build(self, points: array, radius: float | None = None, groups: array | None = None) -> None:
        """Sort points into cells, on their device; queries are for these points until it is built again.

            grid.build(x, radius=0.1)

        Graphs, records and kept launches with the grid query what was built last, of as many points as before or fewer.
        More points than ever before take other arrays, which those do not have: build it with the most points first.

        Args:
            points: an array of vec3, vec3d or vec3h in one dimension.
            radius: the width of a cell; queries within about that are fastest, and any are right. Not given for a
                periodic grid, or to keep the width of before.
            groups: an int32 array with the group of each point, which is copied.

        Raises:
            LaunchError: `points` is not such an array or is on another device, the radius is not positive, or `groups`
                does not have one for each point.
        """
        if (
            not is_array(points)
            or points.ndim != 1
            or points.dtype not in (_FLOATS, Vector(3, float64), Vector(3, float16))
        ):
            shown = f"{points.type!r}" if is_array(points) else repr(points)
            raise LaunchError(f"build() takes an array of vec3 in one dimension, not {shown}.", parameter="points")
        if points.device != self.device:
            raise LaunchError(
                f"The points are on {points.device.name}, the grid is on {self.device.name}.",
                parameter="points",
                advice=f"Make the grid there: wb.HashGrid(…, device={points.device.name!r}).",
            )
        if radius is not None:
            if self.period[0] > 0.0 or not 0.0 < radius < math.inf:
                why = "a periodic grid has cells of its own width" if self.period[0] > 0.0 else "it must be positive"
                raise LaunchError(f"build() got the radius {radius}: {why}.", parameter="radius")
            readable = not self.device.is_cuda and not any(observer.takes for observer in OBSERVERS.get())
            if not readable or self.width.host()[0] != np.float32(radius):  # tapes keep what is overwritten
                self.width.fill_(radius)
        n = points.size
        if groups is not None:
            if not is_array(groups) or (groups.dtype, groups.shape) != (int32, (n,)):
                message = f"build() takes {n} groups of int32, one for each point, not {groups!r}."
                raise LaunchError(message, parameter="groups")
            if self.groups.size < n:
                self.groups = zeros(n, int32, self.device)
            self.groups[:n].copy_(groups)
        if self.points.size < n:  # a graph or record that has the old arrays finds them as they were
            self.starts = empty(self.starts.size, int32, self.device)
            self.points = from_numpy(np.arange(n, dtype=np.int32)).to(self.device)
        cells, order = empty(n, uint32, self.device), empty(n, int32, self.device)
        launch(_cells, n, [points, self.dims, self.width], [cells, order], device=self.device, **QUIET)
        last = self.starts.size - 2
        cells, order = sorted_by_bits(cells, order, 0, last.bit_length())
        self.points[:n].copy_(order)
        launch(_starts, n + 1, [cells, n, last + 1], [self.starts], device=self.device, **QUIET)


@kernel
def _cells(x: array[Any], dims: _INTS, width: array[float32], cells: array[uint32], points: array[int32]):
    """Write the number of each point's cell to `cells`, and 0, 1, 2, … to `points`."""
    i = tid()
    p = x[i]
    a, b, c = cell(p[0], width[0]) % dims[0], cell(p[1], width[1]) % dims[1], cell(p[2], width[2]) % dims[2]
    cells[i] = uint32((c * dims[1] + b) * dims[0] + a)
    points[i] = i


@kernel
def _starts(cells: array[uint32], n: int, end: int, starts: array[int32]):
    """Write, for each cell up to `end`, the number of the first of `n` sorted points that is in it or behind it.

    Thread i writes i for the cells after that of point i - 1 (thread 0: from the first), up to that of point i
    (thread n: up to `end`).
    """
    i = tid()
    first = int(cells[max(i - 1, 0)]) + 1 if i > 0 else 0
    last = int(cells[i]) if i < n else end
    for k in range(max(first, 0), last + 1):
        starts[k] = i
