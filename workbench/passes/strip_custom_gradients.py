"""Funcs with gradients of their own, for code that does not differentiate: nothing but their bodies.

So the forward kernel, and its key, are the same whatever gradient somebody writes for a func.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.ir.rewrite import Mapping, map_blocks
from workbench.ir.values import Block, Function, Op, closed_blocks, walk


def has_customs(function: Function) -> bool:
    """Whether a `custom` operation is left in it."""
    return any(op.name == "custom" for op in walk(function.body))


def without_customs(function: Function) -> Function:
    """The function with each `custom` replaced by its body, and without constants that only gradients use.

    One with CUDA text keeps that: it is what the func is on CUDA.
    """
    if not has_customs(function):
        return function
    body = _block(function.body, {})
    used = _captured(body)
    theirs = {name for op in walk(function.body) for closed in closed_blocks(op) for name in _captured(closed)} - used
    return replace(function, body=body, captured=tuple(c for c in function.captured if c.name not in theirs))


def _captured(block: Block) -> set[str]:
    found = {op.attrs["captured"] for op in walk(block) if op.name == "const" and op.attrs.get("captured")}
    return found.union(*(_captured(closed) for op in walk(block) for closed in closed_blocks(op)))


def _block(block: Block, mapping: Mapping) -> Block:
    ops: list[Op] = []
    for op in block.ops:
        operands = tuple(mapping.get(v, v) for v in op.operands)
        moved = op.replace(operands)
        if op.name == "custom" and op.attrs.get("cuda"):
            bare = {**op.attrs, "gradient": None, "replay": None, "adj_cuda": None, "replay_cuda": None, "derive": None}
            bare["adjoints"] = ()
            kept = op.replace(operands, attrs=bare)
            ops.append(map_blocks(kept, lambda inner: _block(inner, mapping)))
        elif op.name == "custom":
            body = _block(op.blocks[0], mapping)
            ops += body.ops[:-1]
            mapping.update(zip(op.results, body.yielded, strict=True))
        else:
            ops.append(map_blocks(moved, lambda inner: _block(inner, mapping)))
    return Block(block.params, tuple(ops))
