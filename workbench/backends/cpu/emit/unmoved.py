"""Loads that a thread's own loop repeats unchanged, frozen in long loops.

LLVM's loop vectoriser asks of each value in a loop whether it is the same in all turns. It asks the operands in turn,
along every path, and remembers no answer (`vputils::isSingleScalar` and `isUniformAcrossVFsAndUFs` of LLVM 22). Where
all of it is the same (it starts from `c[0]`, which LLVM cannot load before the loop, since a store in it may change
that), `v = v * (1 - v)` doubles the paths, and 24 such lines take minutes. A `freeze` of the load ends the first walk
at once, an interleave count of 1 leaves out the second; results are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.ir.ops import LOOPS
from workbench.ir.values import Function, Op, walk
from workbench.limits import REPEATING_OPERATIONS


def repeated_loads(function: Function) -> frozenset[Op]:
    """Return the loads in long loops at an address that the loop leaves as it is, of a function as it is emitted."""
    loops = [op for op in walk(function.body) if op.name in LOOPS]
    return frozenset(load for loop in loops for load in _repeated(loop))


def _repeated(loop: Op) -> Iterator[Op]:
    inside = [op for block in loop.blocks for op in walk(block)]
    if len(inside) <= REPEATING_OPERATIONS:
        return
    differs = {p for op in (loop, *inside) for block in op.blocks for p in block.params}
    for op in inside:
        if op.blocks or not differs.isdisjoint(op.operands):
            differs.update(op.results)
        elif op.name == "load":
            yield op
