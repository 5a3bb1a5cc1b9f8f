"""Copying IR with values replaced: what passes and autodiff are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.ir.values import Block, Function, Op, Value

Mapping = dict[Value, Value]


def fresh(value: Value) -> Value:
    """A new value of the same type and name."""
    return Value(value.type, value.name)


def copy_op(op: Op, mapping: Mapping) -> Op:
    """A copy with new results; operands go through `mapping`, which learns the new results."""
    operands = tuple(mapping.get(v, v) for v in op.operands)
    blocks = tuple(copy_block(b, mapping) for b in op.blocks)
    results = tuple(fresh(v) for v in op.results)
    mapping.update(zip(op.results, results, strict=True))
    return Op(op.name, operands, results, op.attrs, blocks, op.location)


def copy_block(block: Block, mapping: Mapping) -> Block:
    """A copy with new parameters and results."""
    params = tuple(fresh(v) for v in block.params)
    mapping.update(zip(block.params, params, strict=True))
    return Block(params, tuple(copy_op(op, mapping) for op in block.ops))


def replace_body(function: Function, body: Block) -> Function:
    """The function with another body."""
    return replace(function, body=body)


def map_blocks(op: Op, change: Callable[[Block], Block]) -> Op:
    """The operation with each nested block changed; itself where nothing is nested."""
    if not op.blocks:
        return op
    return Op(op.name, op.operands, op.results, op.attrs, tuple(change(b) for b in op.blocks), op.location)
