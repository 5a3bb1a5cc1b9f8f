"""Each operation on tiles with the function that lowers it, and the whole way from a kernel to what a thread does."""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.cuda.tiles import elements, multiply, pipeline, reduce
from workbench.backends.cuda.tiles.lower import Lowered, Lowering
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


def tiles_to_threads(function: Function, contiguous: bool) -> Lowered:
    """What each thread of a block does.

    Args:
        function: its reductions hold their combinations (`reduce.with_combinations`).
        contiguous: arrays lie in memory without gaps.
    """
    made = Lowering(function, contiguous, pipeline.STAGES).lowered(OPERATIONS)
    # Stages are worth no refusal, on no architecture.
    return made if made.shared <= pipeline.MOST else Lowering(function, contiguous).lowered(OPERATIONS)
