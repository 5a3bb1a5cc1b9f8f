"""Rows of a tile at places that are known when the kernel runs, in the kernel language."""

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import adjoint
from workbench.builtins.tiles import tile_assign, tile_view, tile_zeros


@written("_tile_gather(a, places)")
def gather(a, places, /):
    """The rows of a tile at these places, one below the other."""
    rows = tile_zeros((places.shape[0], a.shape[1]), dtype=a.dtype)
    for n in range(places.shape[0]):
        tile_assign(rows, tile_view(a, (places[n], 0), (1, a.shape[1])), (n, 0))
    return rows


@gather.derivative
def _gather_gradient(a, places, adj, /):
    total = tile_zeros(a.shape, dtype=a.dtype)
    for n in range(places.shape[0]):
        place = places[n]
        row = tile_view(total, (place, 0), (1, a.shape[1])) + tile_view(adj, (n, 0), (1, a.shape[1]))
        tile_assign(total, row, (place, 0))
    adjoint[a] += total


@written("_tile_scatter(a, places, rows)")
def scatter(a, places, rows, /):
    """The tile with these rows at these places; of two at one place the later one."""
    for n in range(places.shape[0]):
        tile_assign(a, tile_view(rows, (n, 0), (1, a.shape[1])), (places[n], 0))
    return a


@scatter.derivative
def _scatter_gradient(a, places, rows, adj, /):
    taken = tile_zeros(rows.shape, dtype=a.dtype)
    none = tile_zeros((1, a.shape[1]), dtype=a.dtype)
    for k in range(places.shape[0]):
        n = places.shape[0] - 1 - k
        tile_assign(taken, tile_view(adj, (places[n], 0), (1, a.shape[1])), (n, 0))
        tile_assign(adj, none, (places[n], 0))
    adjoint[rows] += taken
    adjoint[a] += adj
