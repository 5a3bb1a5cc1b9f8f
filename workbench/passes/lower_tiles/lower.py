"""Operations on tiles as loops over slots: what a block of threads does, done by one."""

from __future__ import annotations

from workbench.ir.ops import TILED
from workbench.ir.rewrite import replace_body
from workbench.ir.tiles import is_tiled
from workbench.ir.values import Function
from workbench.passes.lower_tiles import control_flow, memory, moves, reductions
from workbench.passes.lower_tiles.lowering import Handler, TileLowering
from workbench.passes.strip_custom_gradients import without_customs


def lower_tiles(function: Function) -> Function:
    """The function without operations on tiles; itself where it has none. One thread of a launch of it is one block."""
    if not is_tiled(function.body):
        return function
    function = without_customs(function)
    return replace_body(function, TileLowering(LOWER).whole(function.body))


LOWER: dict[str, Handler] = {**control_flow.LOWER, **memory.LOWER, **moves.LOWER, **reductions.LOWER}
assert TILED <= LOWER.keys()
