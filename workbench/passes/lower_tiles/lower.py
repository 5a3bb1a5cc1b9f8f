"""Operations on tiles as loops over slots: what a block of threads does, done by one."""

from __future__ import annotations

from workbench.ir.build import replace_body
from workbench.ir.ops import TILED
from workbench.ir.values import Function
from workbench.passes.expand import without_customs
from workbench.passes.lower_tiles import memory, products, reductions
from workbench.passes.lower_tiles.in_place import in_place
from workbench.passes.lower_tiles.lowering import BRANCHES, Handler, TileLowering
from workbench.passes.lower_tiles.products import turned


def lower_tiles(function: Function, dense: bool = True, plain: bool = False) -> Function:
    """Return the function without operations on tiles; the function itself if it has none.

    One thread of a launch of the result does what a block did.

    Args:
        function: after checks.
        dense: rows of its arrays have no gaps between elements.
        plain: additions to arrays need not be atomic, as blocks run one after the other.
    """
    function = turned(without_customs(function))
    body, reuse = in_place(function.body, dense, plain)
    return replace_body(function, TileLowering(LOWER, reuse).lower_body(body))


LOWER: dict[str, Handler] = {**BRANCHES, **memory.LOWER, **products.LOWER, **reductions.LOWER}
assert TILED <= LOWER.keys()
