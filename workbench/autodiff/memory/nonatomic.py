"""Atomic additions to elements that no other thread touches, as a load, an addition and a store.

What the element holds after `y[i] += v` is then a value of the kernel like any other, and is had again like any other.
"""

from __future__ import annotations

from collections import defaultdict

from workbench.autodiff.memory.effects import is_private
from workbench.ir.ops import ACCESSES, OPAQUE
from workbench.ir.rewrite import Mapping, fresh, map_blocks, replace_body
from workbench.ir.values import Block, Function, Op, Value, walk


def plain_additions(function: Function) -> Function:
    """The function with such additions written out, in arrays that it loads from too; itself where there are none."""
    if function.block_dim:
        return function
    uses: dict[Value, list[Op]] = defaultdict(list)
    made: dict[Value, Op] = {}
    for op in walk(function.body):
        made.update((v, op) for v in op.results)
        if op.name in ACCESSES:
            uses[op.operands[0]].append(op)
        elif op.name in OPAQUE:
            for value in op.operands:
                uses[value].append(Op("reduce_add", (value,)))
    chosen = {
        array
        for array, ops in uses.items()
        if {"load", "atomic_add"} <= {op.name for op in ops} and is_private(ops, made, function.launch_ndim)
    }
    return replace_body(function, _block(function.body, chosen, {})) if chosen else function


def _block(block: Block, chosen: set[Value], mapping: Mapping) -> Block:
    ops: list[Op] = []
    for op in block.ops:
        operands = tuple(mapping.get(v, v) for v in op.operands)
        if op.name == "atomic_add" and op.operands[0] in chosen:
            old, new = fresh(op.result), Value(op.result.type)
            mapping[op.result] = old
            ops.append(Op("load", operands[:-1], (old,), {}, (), op.location))
            ops.append(Op("add", (old, operands[-1]), (new,), {}, (), op.location))
            ops.append(Op("store", (*operands[:-1], new), (), {}, (), op.location))
            continue
        moved = op.replace(operands)
        ops.append(map_blocks(moved, lambda inner: _block(inner, chosen, mapping)))
    return Block(block.params, tuple(ops))
