"""Each operation on tiles with the function that lowers it, and the whole way from a kernel to what a thread does."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.base import Options
from workbench.backends.cuda.tiles import elements, multiply, pipeline, reduce
from workbench.backends.cuda.tiles.lower import Lowered, Lowering
from workbench.backends.cuda.tiles.placement.arena import blocks_at_once
from workbench.ir.values import Function, Op

OPERATIONS: dict[str, Callable[[Lowering, Op], None]] = {
    "tile_map": elements.tile_map,
    "tile_load": elements.tile_load,
    "tile_store": elements.tile_store,
    "tile_atomic_add": elements.tile_atomic_add,
    "tile_extract": elements.tile_extract,
    "tile_insert": elements.tile_insert,
    "tile_place": elements.tile_place,
    "tile_slice": elements.tile_view,
    "tile_transpose": elements.tile_view,
    "tile_reshape": elements.tile_view,
    "tile_broadcast": elements.tile_view,
    "tile_copy": elements.tile_copy,
    "tile_reduce": reduce.tile_reduce,
    "tile_scan": reduce.tile_scan,
    "tile_matmul": multiply.tile_matmul,
    "for": pipeline.for_loop,
}


def tiles_to_threads(function: Function, options: Options, target: str) -> Lowered:
    """Lower operations on tiles to the code of each thread of a block.

    Args:
        function: its reductions hold their combinations (`reduce.with_combinations`).
        options: whether arrays lie in memory without gaps, and apart.
        target: the architecture, for the shared memory that stages of loads may take.
    """
    candidates: list[Lowered] = []
    for stages in range(pipeline.most_stages(target), 0, -1):
        low = Lowering(function, options, stages)
        candidates.append(low.lowered(OPERATIONS))
        if not low.ahead or blocks_at_once(candidates[-1].shared, target) >= 2:
            break
    # Two blocks at once, of which one computes while the other one waits, are worth more than a stage.
    return max(candidates, key=lambda candidate: min(blocks_at_once(candidate.shared, target), 2))
