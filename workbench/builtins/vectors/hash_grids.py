"""Neighbours of a point in a `HashGrid`: which of its cells a ball touches, and what lies in them.

The grid's cells are numbered along x first, and what lies in a cell stands together in `grid.points`: so a row of cells
along x is one range of it, or two where the row goes around the grid's end.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from workbench.builtins.declaration.declare import form, written
from workbench.builtins.declaration.forms import natural
from workbench.builtins.declaration.forms import vector as _vector
from workbench.builtins.scalars.extrema import clamp
from workbench.builtins.scalars.rounding import floor

hash_grid_query = form(
    "hash_grid_query(grid, x, r, group=None)",
    "In a `for`, the indices of points near x: `for j in hash_grid_query(grid, x, r)`. All points within r of x are "
    "among them, in the order of cells and then of indices; so are others, so compare the distance. "
    "With a group, those of that group alone.",
)


@written("hash_grid_point_id(grid, i)")
def hash_grid_point_id(grid, i, /):
    """The index of the i-th point in the order of cells: threads that follow it work on points that lie together."""
    return grid.points[i]


@written("hash_grid_offset(grid, a, b)")
def hash_grid_offset(grid, a, b, /):
    """From point a to point b: b - a, and in a periodic grid to the nearest image of b."""
    d = b - a
    return _vector(_nearest(d[0], grid.period[0]), _nearest(d[1], grid.period[1]), _nearest(d[2], grid.period[2]))


@written("_nearest(d, period)")
def _nearest(d, period):
    """Return d plus the whole periods that make it smallest; d itself where the period is 0."""
    length = type(d)(period)
    return d - length * round(d / length) if period > 0.0 else d


@written("_hash_grid_cell(x, width)")
def cell(x, width):
    """Return the number of the cell of a coordinate along an axis, not yet wrapped to the grid; it is cut to ±1e9."""
    return int(clamp(floor(float(x) * (1.0 / width)), -1.0e9, 1.0e9))


@written("_hash_grid_reach(grid, x, r, slack, axis)")
def _reach(grid, x, r, slack, axis):
    """Return the first cell along an axis that the ball touches, and how many.

    With a `slack` of 1e-6, rounding may add a cell, and omits none.
    """
    reach = r + slack * (r + abs(x)) if slack > 0.0 else r  # 0 times inf is NaN
    first = cell(x - reach, grid.width[axis])
    count = cell(x + reach, grid.width[axis]) - first + 1
    return first, max(min(count, grid.dims[axis]), 0)


@written("_hash_grid_rows(grid, x, r, slack)")
def rows(grid, x, r, slack, /):
    """Return the cells of a hash grid that a ball touches, as rows of cells along x.

    These are six numbers: the first cell along x (wrapped to the grid), y and z, how many cells along x and along
    y, and twice the number of rows, since each row may go around the grid's end and then is two ranges.
    """
    a, na = _reach(grid, x[0], r, slack, 0)
    b, nb = _reach(grid, x[1], r, slack, 1)
    c, nc = _reach(grid, x[2], r, slack, 2)
    return a % grid.dims[0], b, c, na, nb, 2 * nb * nc


@written("_hash_grid_row(grid, a, b, c, na, nb, k)")
def row(grid, a, b, c, na, nb, k, /):
    """Return the range of indices in `grid.points` of one half of a row of cells along x: the first, and the end.

    The row is the (k // 2)-th of those that begin at the cells a, b, c and are `na` cells long, `nb` of them along
    y. For an even k it is the part up to the grid's end, for an odd k the part that goes on at its beginning.
    """
    y, z = (b + (k // 2) % nb) % grid.dims[1], (c + (k // 2) // nb) % grid.dims[2]
    start = natural((z * grid.dims[1] + y) * grid.dims[0])
    end = a + na
    first = a if k % 2 == 0 else 0
    last = min(end, grid.dims[0]) if k % 2 == 0 else max(end - grid.dims[0], 0)
    return natural(grid.starts[natural(start + first)]), grid.starts[natural(start + last)]
