"""Copying IR with parts replaced: what passes and autodiff are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from workbench.ir.values import Block, Function, Op, Value
from workbench.source import Location

Mapping = dict[Value, Value]


class Rewriter(msgspec.Struct):
    """Writes blocks again with some of their operations replaced, in order and from the outside in.

    Attributes:
        change: gets the rewriter and each operation, its operands replaced but its blocks as they were; returns the
            operations that replace it, or None to keep it with its blocks rewritten.
        mapping: by value that is gone, its replacement. `change` adds to it.
    """

    change: Callable[[Rewriter, Op], Iterable[Op] | None]
    mapping: Mapping = msgspec.field(default_factory=dict[Value, Value])

    def block(self, block: Block) -> Block:
        """Return the block rewritten; parameters and results that are kept stay the same values."""
        ops: list[Op] = []
        for op in block.ops:
            if not self.mapping.keys().isdisjoint(op.operands):
                op = op.replace(tuple(self.mapping.get(v, v) for v in op.operands))
            changed = self.change(self, op)
            ops += (self.inside(op),) if changed is None else changed
        return Block(block.params, tuple(ops))

    def inside(self, op: Op) -> Op:
        """Return the operation with its blocks rewritten."""
        return map_blocks(op, self.block)


def rewrite(function: Function, change: Callable[[Rewriter, Op], Iterable[Op] | None]) -> Function:
    """Return the function with operations replaced, in order and from the outside in.

    Args:
        function: stays unchanged.
        change: gets the rewriter and each operation; returns the operations that replace it, or None to keep it,
            with its blocks rewritten.
    """
    return replace_body(function, Rewriter(change).block(function.body))


def fresh(value: Value) -> Value:
    """Return a new value of the same type and name."""
    return Value(value.type, value.name)


def copy_op(op: Op, mapping: Mapping, new: Callable[[Value], Value] = fresh, location: Location | None = None) -> Op:
    """Return a copy of an operation with new results.

    Args:
        op: the operation.
        mapping: replacements of operands; receives those of the results, and of values in the blocks.
        new: returns the new value for an old one.
        location: of the copy; None: as the operation's own.
    """
    operands = tuple(mapping.get(v, v) for v in op.operands)
    blocks = tuple(copy_block(b, mapping, new, location) for b in op.blocks)
    results = tuple(new(v) for v in op.results)
    mapping.update(zip(op.results, results, strict=True))
    return Op(op.name, operands, results, op.attrs, blocks, location or op.location)


def copy_block(
    block: Block, mapping: Mapping, new: Callable[[Value], Value] = fresh, location: Location | None = None
) -> Block:
    """Return a copy of a block with new parameters, operations and results.

    Args:
        block: the block.
        mapping: replacements of operands; receives those of the parameters and of all results.
        new: returns the new value for an old one.
        location: of all copied operations; None: each its own.
    """
    params = tuple(new(v) for v in block.params)
    mapping.update(zip(block.params, params, strict=True))
    return Block(params, tuple(copy_op(op, mapping, new, location) for op in block.ops))


def replace_body(function: Function, body: Block) -> Function:
    """Return a copy of the function that has another body."""
    return replace(function, body=body)


def map_blocks(op: Op, change: Callable[[Block], Block]) -> Op:
    """Return the operation with each of its blocks changed; the operation itself if it has none."""
    return op.replace(blocks=tuple(change(b) for b in op.blocks)) if op.blocks else op
