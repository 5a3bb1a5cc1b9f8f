"""Stacks that a block of threads shares, in the kernel language: a tile, and how many of its elements are in use."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.rules import Arg
from workbench.builtins.scalars.extrema import max, min
from workbench.builtins.scalars.operators import where
from workbench.builtins.tiles import (
    block_dim,
    tile,
    tile_arange,
    tile_assign,
    tile_scan_exclusive,
    tile_sum,
    tile_view,
    tile_zeros,
    untile,
)
from workbench.errors import KernelTypeError
from workbench.tiles import Tile
from workbench.types import Type, int32


def _stack(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check the arguments: a stack's tile and count, and for a push also a value and whether there is one.

    Returns:
        The types to convert them to; None for what stays as it is.

    Raises:
        KernelTypeError: they are something else.
    """
    count = 4 if name == "tile_stack_push" else 2
    items = args[0] if args else None
    if len(args) != count or not isinstance(items, Tile) or items.ndim != 1:
        got = ", ".join(map(repr, args))
        wanted = "items, count, value, has_value" if count == 4 else "items, count"
        raise KernelTypeError(f"{name}() takes {wanted}, and items is a tile of one dimension; it got {got}.")
    return [None, int32, items.dtype, None][:count]


@written("tile_stack_push(items, count, value, has_value)", _stack)
def tile_stack_push(items, count, value, has_value, /):
    """Put the values of those threads of a block that have one on a stack, in the order of threads.

        items, count, index = tile_stack_push(items, count, value, x > 0.0)

    It returns the stack (a tile, and how many of its elements are in use) and, for each thread, where its value lies;
    -1 without one, and where the tile is full.
    """
    flags, values = tile(where(has_value, 1, 0)), tile(value, preserve_type=True)
    slots = tile_scan_exclusive(flags) + count
    for k in range(flags.shape[0]):
        if flags[k] == 1 and slots[k] < items.shape[0]:
            tile_assign(items, tile_view(values, (k,), (1,)), (slots[k],))
    index = where(flags == 1, where(slots < items.shape[0], slots, -1), -1)
    return items, min(count + tile_sum(flags), items.shape[0]), untile(index)


@written("tile_stack_pop(items, count)", _stack)
def tile_stack_pop(items, count, /):
    """Take one value from a stack for each thread of a block, the newest for the first thread.

        value, index, count = tile_stack_pop(items, count)

    It returns, for each thread, the value and where it lay (0 and -1 where none is left), and how many are left.
    """
    values = tile_zeros((block_dim(),), dtype=items.dtype)
    slots = count - 1 - tile_arange(0, block_dim(), 1, dtype=int32)
    for k in range(block_dim()):
        if slots[k] >= 0:
            tile_assign(values, tile_view(items, (slots[k],), (1,)), (k,))
    return untile(values), untile(where(slots < 0, -1, slots)), max(count - block_dim(), 0)
