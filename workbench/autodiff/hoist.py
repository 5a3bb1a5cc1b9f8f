"""Index arithmetic that stays the same in all of a loop's iterations, done before the loop.

So that the indices of an element that a loop goes on using are the same values everywhere, as `promote` asks.
"""

from __future__ import annotations

from workbench.ir.attributes import CAPTURED
from workbench.ir.ops import LOOPS
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Function, Op, Value, walk
from workbench.types import is_integer

# What can be done too often: whole, defined for all operands, and reported by no check.
REPEATABLE = frozenset({"const", "cast", "shape", "tid", "add", "sub", "mul", "neg", "wrap_index"})


def hoist(function: Function) -> Function:
    """Return the function with integer operations moved out of loops, as far as their operands allow."""
    return rewrite(function, _hoisted)


def _hoisted(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
    if op.name not in LOOPS:
        return None
    moved = _steady(op)
    rest = Rewriter(lambda _, inner: () if inner in moved else None).inside(op)
    return (*moved, on.inside(rest))


def _steady(loop: Op) -> dict[Op, None]:
    """Return the operations to move, in order."""
    ops = [op for block in loop.blocks for op in walk(block)]
    inside: set[Value] = {v for op in ops for v in op.results}
    inside |= {p for op in (loop, *ops) for block in op.blocks for p in block.params}
    moved: dict[Op, None] = {}
    for op in ops:
        if op.name not in REPEATABLE or not is_integer(op.result.type) or op.attrs.get(CAPTURED):
            continue
        is_steady = op.name == "shape" or all(is_integer(v.type) for v in op.operands)
        if is_steady and inside.isdisjoint(op.operands):
            moved[op] = None
            inside.discard(op.result)
    return moved
