"""How LLVM should vectorise kernels of small matrices on x86, where threads side by side shuffle what they load.

What LLVM expects of gathers, scatters and wide permutations is not what they cost. It loads elements of up to nine
numbers whole (`codegen`), and would gather the numbers of larger ones. On Zen 4 a product of mat44 takes five times as
long with gathers and scatters as without. In vectors of 256 bits a shuffle is mostly blends, in those of 512 bits it is
permutations, so a 3×3 inverse takes 0.8 times as long in narrow ones; what computes more gains from wide ones. LLVM's
Intel CPUs prefer 256 bits anyway.
"""

from __future__ import annotations

from workbench.backends.cpu.text.values import width
from workbench.ir.ops import LOOPS
from workbench.ir.values import Function, Op, walk
from workbench.types import ArrayType, element

WIDE = 9
"""Numbers in an element, at least; smaller elements are no trouble."""
COMPUTED = 10
"""Numbers computed for each one that is loaded or stored, at most, for narrow vectors."""


def preferences(function: Function) -> str:
    """LLVM's names of what an x86 CPU should prefer, for a function as it is emitted."""
    if not any(_wide(p.type) for p in function.params):
        return ""
    gathers = "+prefer-no-gather,+prefer-no-scatter"
    return f"{gathers},+prefer-256-bit" if _mostly_moves(function) else gathers


def _wide(t: object) -> bool:
    return isinstance(t, ArrayType) and (t.pitch or t.dtype.size) // element(t.dtype).size >= WIDE


def _mostly_moves(function: Function) -> bool:
    operations = list(walk(function.body))
    moved = sum(map(_moved, operations))
    computed = sum(width(v.type) for op in operations if not _moved(op) for v in op.results)
    return computed <= COMPUTED * moved and not any(op.name in LOOPS for op in operations)


def _moved(op: Op) -> int:
    """How many numbers of an array it loads or stores."""
    array = op.operands[0].type if op.operands else None
    return width(array.dtype) if isinstance(array, ArrayType) and op.name != "shape" else 0
