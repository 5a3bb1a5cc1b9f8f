"""Index arithmetic that stays the same in all of a loop's iterations, done before the loop.

So that the indices of an element that a loop goes on using are the same values everywhere, as `promote` asks.
"""

from __future__ import annotations

from workbench.ir.ops import LOOPS
from workbench.ir.rewrite import map_blocks, replace_body
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.types import is_integer

# What can be done too often: whole, defined for all operands, and reported by no check.
PURE = frozenset({"const", "cast", "shape", "tid", "add", "sub", "mul", "neg", "wrap_index"})


def hoist(function: Function) -> Function:
    """The function with integer operations moved out of loops, as far as their operands allow."""
    return replace_body(function, _block(function.body))


def _block(block: Block) -> Block:
    ops: list[Op] = []
    for op in block.ops:
        if op.name in LOOPS:
            moved = _steady(op)
            ops += moved
            op = map_blocks(op, lambda inner, gone=frozenset(moved): _without(inner, gone))
        ops.append(map_blocks(op, _block))
    return Block(block.params, tuple(ops))


def _steady(loop: Op) -> list[Op]:
    """The operations to move, in order."""
    ops = [op for block in loop.blocks for op in walk(block)]
    inside: set[Value] = {v for op in ops for v in op.results}
    inside |= {p for op in (loop, *ops) for block in op.blocks for p in block.params}
    found = []
    for op in ops:
        if op.name not in PURE or not is_integer(op.result.type) or op.attrs.get("captured"):
            continue
        whole = op.name == "shape" or all(is_integer(v.type) for v in op.operands)
        if whole and inside.isdisjoint(op.operands):
            found.append(op)
            inside.discard(op.result)
    return found


def _without(block: Block, gone: frozenset[Op]) -> Block:
    kept = (map_blocks(op, lambda inner: _without(inner, gone)) for op in block.ops if op not in gone)
    return Block(block.params, tuple(kept))
