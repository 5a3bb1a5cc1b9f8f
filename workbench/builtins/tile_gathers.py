"""Rows of a tile at indices that are known when the kernel runs, in the kernel language."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import adjoint
from workbench.builtins.tiles import tile_assign, tile_view, tile_zeros


@written("_tile_gather(a, indices)")
def gather(a, indices, /):
    """Return the rows of a tile at these indices, one below the other."""
    rows = tile_zeros((indices.shape[0], a.shape[1]), dtype=a.dtype)
    for n in range(indices.shape[0]):
        tile_assign(rows, tile_view(a, (indices[n], 0), (1, a.shape[1])), (n, 0))
    return rows


@gather.derivative
def _gather_gradient(a, indices, adj, /):
    """Add each row of `adj` to the adjoint of the row of a from which it came."""
    total = tile_zeros(a.shape, dtype=a.dtype)
    for n in range(indices.shape[0]):
        index = indices[n]
        row = tile_view(total, (index, 0), (1, a.shape[1])) + tile_view(adj, (n, 0), (1, a.shape[1]))
        tile_assign(total, row, (index, 0))
    adjoint[a] += total


@written("_tile_scatter(a, indices, rows)")
def scatter(a, indices, rows, /):
    """Return the tile with these rows at these indices; of two at one index the later one."""
    for n in range(indices.shape[0]):
        tile_assign(a, tile_view(rows, (n, 0), (1, a.shape[1])), (indices[n], 0))
    return a


@scatter.derivative
def _scatter_gradient(a, indices, rows, adj, /):
    """Add the rows of `adj` at the indices to the adjoint of `rows`, and all others to that of a.

    Of several rows at one index only the last gets it.
    """
    taken = tile_zeros(rows.shape, dtype=a.dtype)
    none = tile_zeros((1, a.shape[1]), dtype=a.dtype)
    for k in range(indices.shape[0]):
        n = indices.shape[0] - 1 - k
        tile_assign(taken, tile_view(adj, (indices[n], 0), (1, a.shape[1])), (n, 0))
        tile_assign(adj, none, (indices[n], 0))
    adjoint[rows] += taken
    adjoint[a] += adj
