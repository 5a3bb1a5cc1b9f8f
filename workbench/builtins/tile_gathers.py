"""Elements of a tile at places that differ between threads, in the kernel language."""

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import adjoint
from workbench.builtins.tiles import tile_zeros


@written("_tile_gather(a, places)")
def gather(a, places, /):
    """The elements of a row at these places, one after the other."""
    values = tile_zeros(places.shape, dtype=a.dtype)
    for n in range(places.shape[0]):
        values[n] = a[places[n]]
    return values


@gather.derivative
def _gather_gradient(a, places, adj, /):
    total = tile_zeros(a.shape, dtype=a.dtype)
    for n in range(places.shape[0]):
        total[places[n]] = total[places[n]] + adj[n]
    adjoint[a] += total


@written("_tile_scatter(a, places, values)")
def scatter(a, places, values, /):
    """The row with these values at these places; of two at one place the later one."""
    for n in range(places.shape[0]):
        a[places[n]] = values[n]
    return a


@scatter.derivative
def _scatter_gradient(a, places, values, adj, /):
    taken = tile_zeros(values.shape, dtype=a.dtype)
    for k in range(places.shape[0]):
        n = places.shape[0] - 1 - k
        taken[n] = adj[places[n]]
        adj[places[n]] = a.dtype(0.0)
    adjoint[values] += taken
    adjoint[a] += adj
