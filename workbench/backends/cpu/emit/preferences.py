"""Bits of the registers of targets, and the preferences of code for small matrices and structs on x86.

Their threads shuffle what they load. What LLVM expects of gathers, scatters and wide permutations is not what they
cost. It loads elements of up to nine numbers whole (`codegen`), and would gather the numbers of larger ones, and
scatter those of a few fields of a struct.
On Zen 4 a product of mat44 takes five times as long with gathers and scatters as without, a step `b[i].p += b[i].v`
twice. In vectors of 256 bits a shuffle is mostly blends, in those of 512 bits it is permutations, so a 3×3 inverse
takes 0.8 times as long in narrow ones; what computes more gains from wide ones. LLVM's Intel CPUs prefer 256 bits
anyway.
"""

from __future__ import annotations

from workbench.backends.cpu.text.values import width
from workbench.ir.ops import LOOPS
from workbench.ir.values import Function, Op, walk
from workbench.limits import SHUFFLED_COMPONENTS_LEAST, SHUFFLED_OPERATIONS
from workbench.types import ArrayType

NARROW = 128
"""Bits of registers of which there are too few for groups of several rows."""
MASKED = 256
"""Bits of the vectors of machines that can read a part of one."""
NARROW_VECTORS = "+prefer-256-bit"


def preferences(function: Function) -> str:
    """LLVM's names of what an x86 CPU should prefer, for a function as it is emitted."""
    operations = list(walk(function.body))
    arrays = [p.type for p in function.params if isinstance(p.type, ArrayType)]
    loops = any([op.name in LOOPS for op in operations])
    wide = any(width(t.dtype) >= SHUFFLED_COMPONENTS_LEAST or (t.pitch > 0 and not loops) for t in arrays)
    if not wide:
        return ""
    gathers = "+prefer-no-gather,+prefer-no-scatter"
    return f"{gathers},{NARROW_VECTORS}" if not loops and _mostly_moves(operations) else gathers


def _mostly_moves(operations: list[Op]) -> bool:
    moved = sum(map(_moved, operations))
    computed = sum(width(v.type) for op in operations if not _moved(op) for v in op.results)
    return computed <= SHUFFLED_OPERATIONS * moved


def _moved(op: Op) -> int:
    """Return how many numbers of an array it loads or stores."""
    array = op.operands[0].type if op.operands else None
    return width(array.dtype) if isinstance(array, ArrayType) and op.name != "shape" else 0
