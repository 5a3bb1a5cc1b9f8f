"""How many threads a gang has: as many as fill a register with the narrowest type that is stored, 16 or 64."""

from __future__ import annotations

from workbench.ir.ops import EFFECTS
from workbench.ir.values import Function, dtype_of, walk
from workbench.limits import GANG_BYTE_LANES, GANG_LANES
from workbench.types import element


def lanes(function: Function) -> int:
    """Return the number of threads of a gang; the same on every target, since sums may go by gangs."""
    sizes = [element(dtype_of(op.operands[0])).size for op in walk(function.body) if op.name in EFFECTS]
    loops = any(op.blocks for op in walk(function.body))
    return GANG_BYTE_LANES if sizes and max(sizes) == 1 and not loops else GANG_LANES
