"""How many threads a gang has."""

from __future__ import annotations

from workbench.backends.cpu.text.values import width
from workbench.ir.ops import ACCESSES, EFFECTS
from workbench.ir.values import Function, dtype_of, walk
from workbench.limits import GANG_BYTE_LANES, GANG_COMPONENTS, GANG_LANES
from workbench.types import element


def lanes(function: Function) -> int:
    """Return the number of threads of a gang; the same on every target, since sums may go by gangs.

    64 where only bytes are stored, else 16; half of these for 64-bit numbers and matrices, which fill registers.
    """
    operations = list(walk(function.body))
    sizes = {element(dtype_of(op.operands[0])).size for op in operations if op.name in EFFECTS}
    components = max((width(dtype_of(op.operands[0])) for op in operations if op.name in ACCESSES), default=1)
    if sizes == {1} and not any(op.blocks for op in operations):
        return GANG_BYTE_LANES
    return GANG_LANES // 2 if sizes == {8} or components > GANG_COMPONENTS else GANG_LANES
