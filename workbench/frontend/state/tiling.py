"""The launch of a kernel of tiles, as far as its lowering depends on it: the meaning of `tid()`, the threads of a
block.

A kernel is lowered as one that runs once per thread first. Where it turns out to use a tile, `NeedsBlocks` unwinds to
whoever asked for the lowering, who asks again with a `Tiling`.
"""

from __future__ import annotations

import msgspec

from workbench.ir.values import Value
from workbench.tiles import Tile


class Tiling(msgspec.Struct, frozen=True):
    """Blocks of a launch.

    Attributes:
        block_dim: threads of a block.
        ndim: how many dimensions of blocks the launch has; None if no launch is known: as many as are requested.
        flat: the launch counts threads: `tid()` is a thread's index.
        threads: of a flat launch of several dimensions, its sizes; the last one varies fastest from thread to thread.
    """

    block_dim: int
    ndim: int | None = None
    flat: bool = False
    threads: tuple[int, ...] = ()


class NeedsBlocks(Exception):
    """A tile is used in a kernel that was to run once per thread."""


def is_thread(value: object) -> bool:
    """Return whether a value is per-thread: a tile with one element per thread."""
    return isinstance(value, Value) and isinstance(value.type, Tile) and value.type.storage == "thread"
