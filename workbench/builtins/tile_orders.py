"""Sorting of tiles, in the kernel language: each element is put behind those that come before it."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.rules import Arg
from workbench.builtins.scalars.operators import where
from workbench.builtins.tiles import tile_arange, tile_assign, tile_extract, tile_sum, tile_view, tile_zeros
from workbench.errors import KernelTypeError
from workbench.tiles import Tile
from workbench.types import Scalar, Type, int32
from workbench.types import bool as bool_


def _rows(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check that the arguments are a row of numbers, and perhaps a row of anything of the same length.

    Returns:
        None for each: they stay as they are.

    Raises:
        KernelTypeError: they are something else.
    """
    rows = all(isinstance(a, Tile) and a.ndim == 1 and a.shape == args[0].shape for a in args)  # type: ignore[union-attr]
    keys = args[0] if args else None
    if not 1 <= len(args) <= 2 or not rows or not isinstance(keys, Tile) or not isinstance(keys.dtype, Scalar):
        got = ", ".join(map(repr, args))
        raise KernelTypeError(f"{name}() takes a tile of one dimension, and values of the same length; it got {got}.")
    if keys.dtype == bool_:
        raise KernelTypeError(f"{name}() takes numbers; this is {keys!r}.", advice="Convert it: tile_astype(a, int).")
    return [None] * len(args)


@written("_tile_place(a, j)")
def _tile_place(a, j):
    """Return the rank of element j: the number of smaller ones, and equal ones on its left; NaN come last."""
    indices = tile_arange(0, a.shape[0], 1, dtype=int32)
    x = tile_extract(a, j)
    left = where(indices < j, 1, 0)
    if x == x:
        return tile_sum(where(a < x, 1, where(a == x, left, 0)))
    return tile_sum(where(a == a, 1, left))


@written("tile_sort(keys, values=None)", _rows)
def tile_sort(keys, values, /):
    """Return a tile of one dimension in ascending order, NaN last; with values, also those in the order of their keys.

        keys, values = tile_sort(keys, values)

    Equal keys keep their order. It takes n² comparisons, shared by the block. Gradients follow the elements.
    """
    sorted_keys = tile_zeros(keys.shape, dtype=keys.dtype)
    if values is None:
        for j in range(keys.shape[0]):
            tile_assign(sorted_keys, tile_view(keys, (j,), (1,)), (_tile_place(keys, j),))
        return sorted_keys
    sorted_values = tile_zeros(values.shape, dtype=values.dtype)
    for j in range(keys.shape[0]):
        rank = _tile_place(keys, j)
        tile_assign(sorted_keys, tile_view(keys, (j,), (1,)), (rank,))
        tile_assign(sorted_values, tile_view(values, (j,), (1,)), (rank,))
    return sorted_keys, sorted_values
