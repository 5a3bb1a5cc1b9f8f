"""A rough cost of a thread: enough to split launches by, and to weigh additions against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from workbench.ir.ops import LOOPS, REDUCTION, SHAPE, TILED, TRANSPOSE_A, Number
from workbench.ir.tiles import tile_of
from workbench.ir.values import Block, Function, Op, Value, number_of, walk
from workbench.limits import ATOMIC_ADD_COST, LOOP_WEIGHT, TILE_LANES
from workbench.tiles import Tile
from workbench.types import Scalar, Vector


def cost(function: Function) -> int:
    """Return a rough count of a thread's (with tiles: a block's) operations, at least 1.

    A loop of unknown length counts as `LOOP_WEIGHT` iterations.
    """
    return max(1, _ops_cost(function.body.ops, constants(function.body)))


def constants(block: Block) -> dict[Value, Number]:
    """Return the values of the scalar constants in a block and those nested in it."""
    defined = [(op.results[0], op) for op in walk(block) if op.name == "const"]
    return {value: number_of(op) for value, op in defined if isinstance(value.type, Scalar)}


def known_trips(op: Op, known: Mapping[Value, Number]) -> int | None:
    """Return how many iterations a `for` has; None if constants do not say, or for another operation."""
    bounds = [int(known[v]) for v in op.operands[:3] if v in known] if op.name == "for" else []
    if len(bounds) < 3:
        return None
    start, stop, step = bounds
    return max(0, -((start - stop) // step)) if step else 0


def mostly_adds(function: Function) -> bool:
    """Return whether a thread spends most of its time in atomic additions.

    One core that adds without atomics is then faster than several.
    """
    added = _additions(function.body.ops, constants(function.body))
    return added > 0 and added * ATOMIC_ADD_COST >= cost(function)


def components(addition: Op) -> int:
    """Return how many numbers an addition adds: each component of a vector is added by itself."""
    kind = addition.operands[-1].type
    return kind.length if isinstance(kind, Vector) else 1


def _additions(ops: tuple[Op, ...], known: Mapping[Value, Number]) -> int:
    """Return about how many numbers a thread adds atomically in operations and their blocks, without reductions."""
    total = 0
    for op in ops:
        if op.blocks:
            times = prod(op.attrs[SHAPE]) if op.name == "tile_map" else _times(op, known)
            total += times * sum([_additions(b.ops, known) for b in op.blocks])
        total += components(op) if op.name == "atomic_add" and not op.attrs.get(REDUCTION) else 0
        total += _elements(op) if op.name == "tile_atomic_add" else 0
    return total


def _ops_cost(ops: tuple[Op, ...], known: Mapping[Value, Number]) -> int:
    """Return the cost of operations: 1 each, blocks once per iteration, and work on tiles divided by TILE_LANES."""
    total = 0
    for op in ops:
        inner = sum([_ops_cost(b.ops, known) for b in op.blocks]) if op.blocks else 0
        if op.name == "tile_map":
            total += 1 + inner * prod(op.attrs[SHAPE]) // TILE_LANES
        elif op.name == "tile_matmul":
            total += 1 + _products(op) // TILE_LANES
        elif op.name in TILED:
            total += 1 + _elements(op) // TILE_LANES
        else:
            total += 1 + (inner and inner * _times(op, known))
    return total


def _times(op: Op, known: Mapping[Value, Number]) -> int:
    """Return about how often the blocks of an operation run: 1 if it is no loop.

    It is `LOOP_WEIGHT` for a loop whose number of iterations is not known.
    """
    if op.name not in LOOPS:
        return 1
    trips = known_trips(op, known)
    return LOOP_WEIGHT if trips is None else trips


def _elements(op: Op) -> int:
    """Return the number of elements of the largest tile among an operation's operands and results."""
    return max(v.type.count for v in (*op.operands, *op.results) if isinstance(v.type, Tile))


def _products(op: Op) -> int:
    """Return how many multiplications of numbers a product of tiles takes."""
    a, product = tile_of(op.operands[0]), tile_of(op.result)
    return product.count * a.shape[0 if op.attrs[TRANSPOSE_A] else 1]
