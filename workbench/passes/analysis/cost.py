"""How much a thread does, roughly: enough to split launches by, and to weigh additions against the rest."""

from __future__ import annotations

from math import prod

from workbench.ir.tiles import RULES
from workbench.ir.values import Function, Op
from workbench.tiles import Tile

LOOP_WEIGHT = 16  # trips that a loop counts as
ADDITION = 24  # operations that one atomic addition costs
LANES = 8  # elements of a tile that are done at a time


def cost(function: Function) -> int:
    """A rough count of the operations a thread (or, with tiles, a block) does; a loop counts as `LOOP_WEIGHT` trips."""
    return max(1, _ops_cost(function.body.ops))


def mostly_adds(function: Function) -> bool:
    """Whether a thread spends most of its time in atomic additions: then one core that adds plainly beats several."""
    added = _additions(function.body.ops)
    return added > 0 and added * ADDITION >= cost(function)


def _additions(ops: tuple[Op, ...]) -> int:
    total = 0
    for op in ops:
        inner = sum(_additions(b.ops) for b in op.blocks)
        trips = prod(op.attrs["shape"]) if op.name == "tile_map" else LOOP_WEIGHT if op.name in ("for", "while") else 1
        total += (op.name == "atomic_add") + inner * trips
        total += _elements(op) if op.name == "tile_atomic_add" else 0
    return total


def _ops_cost(ops: tuple[Op, ...]) -> int:
    total = 0
    for op in ops:
        inner = sum(_ops_cost(b.ops) for b in op.blocks)
        if op.name == "tile_map":
            total += 1 + inner * prod(op.attrs["shape"]) // LANES
        elif op.name == "tile_matmul":
            total += 1 + _elements(op) * _depth(op) // LANES
        elif op.name in RULES:
            total += 1 + _elements(op) // LANES
        else:
            total += 1 + inner * (LOOP_WEIGHT if op.name in ("for", "while") else 1)
    return total


def _elements(op: Op) -> int:
    return max(v.type.count for v in (*op.operands, *op.results) if isinstance(v.type, Tile))


def _depth(op: Op) -> int:
    a = op.operands[0].type
    assert isinstance(a, Tile)
    return a.shape[0 if op.attrs["transpose_a"] else 1]
