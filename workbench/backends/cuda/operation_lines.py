"""Text whose `#line`s, and PTX whose `.loc`s, are numbers of IR operations, so that cached code has no line of a cell.

A comment above a kernel moves its lines and nothing else: the code is found in the cache, and the numbers are turned
into lines with the IR of the open cell (as for faults, `design/faults.md`).
"""

from __future__ import annotations

from workbench.deep import deep
from workbench.ir.rewrite import replace_body
from workbench.ir.values import Block, Function, Op, number_ops
from workbench.source import Location, Source

NUMBERS = Source("")


@deep
def lines_by_operation(function: Function) -> Function:
    """Return the function with each operation's number as its place."""
    numbers = number_ops(function)

    def block(old: Block) -> Block:
        return Block(old.params, tuple(changed(op) for op in old.ops))

    def changed(op: Op) -> Op:
        blocks = tuple(map(block, op.blocks))
        return Op(op.name, op.operands, op.results, op.attrs, blocks, Location(NUMBERS, numbers[op]))

    return replace_body(function, block(function.body))
