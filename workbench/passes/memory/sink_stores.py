"""Stores with which both sides of an `if` end, done once behind it: a gang then stores under one mask, or none."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.ir.attributes import INTERIOR, VERSIONS
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Block, Function, Op, Value


def sink_stores(function: Function) -> Function:
    """Return the function with what both sides of an `if` store last, to one element, stored behind the `if`."""
    return rewrite(function, _change) if "if" in function.body.op_names else function


def _change(rewriter: Rewriter, op: Op) -> Iterable[Op] | None:
    """Return an `if` and the stores behind it; None for an operation that stays."""
    if op.name != "if" or op.attrs.get(INTERIOR) or op.attrs.get(VERSIONS):
        return None
    op, behind = rewriter.inside(op), list[Op]()
    while _is_one_store(last := [store for block in op.blocks for store in block.ops[-2:-1]]):
        element, value = last[0].operands[:-1], last[0].operands[-1]
        result = Value(value.type, value.name)
        blocks = tuple(_without_last(block) for block in op.blocks)
        op = op.replace(results=(*op.results, result), blocks=blocks)
        behind.insert(0, last[0].replace((*element, result)))
    return (op, *behind)


def _is_one_store(last: list[Op]) -> bool:
    """Return whether the last operations of both sides store to the same element."""
    return [op.name for op in last] == ["store"] * 2 and last[0].operands[:-1] == last[1].operands[:-1]


def _without_last(block: Block) -> Block:
    """Return a side without its last store, which yields the stored value as its last one."""
    *ops, store, end = block.ops
    return Block(block.params, (*ops, end.replace((*end.operands, store.operands[-1]))))
