"""Products of tiles without copies: operands that are read in the array, sums that are added to one.

A tile that is loaded only to be multiplied is read in its array, provided that nothing changes the array before the
last product that needs it. If another array is changed in between, the code tests at run time that the two do not
overlap. A product that is only added to an array is added by the product itself, if additions may be plain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from workbench.ir.build import map_blocks
from workbench.ir.ops import AXES, EFFECTS, OPAQUE
from workbench.ir.tiles import tile_of
from workbench.ir.values import Block, Op, Value, array_of, walk
from workbench.types import float32, float64


class InPlace(msgspec.Struct, frozen=True):
    """The loads and additions of tiles that need no copy.

    Attributes:
        loads: by tile that is read in its array, the arrays that are changed meanwhile.
        additions: by product, the addition to an array that it does itself; the product stands right before it.
        plain: additions to arrays need not be atomic.
    """

    loads: dict[Value, tuple[Value, ...]]
    additions: dict[Value, Op]
    plain: bool


def in_place(body: Block, dense: bool, plain: bool) -> tuple[Block, InPlace]:
    """Return a function's body, with products moved to their additions, and the loads and additions that need no copy.

    Args:
        body: of a function with tiles.
        dense: rows of arrays have no gaps between elements.
        plain: additions to arrays need not be atomic.
    """
    uses = Counter(v for op in walk(body) for v in op.operands)
    additions = {
        op.operands[-1]: op
        for op in walk(body)
        if op.name == "tile_atomic_add"
        and dense
        and plain
        and _has_row_parts(op, op.operands[-1])
        and uses[op.operands[-1]] == 1
        and not uses[op.result]
    }
    moved: dict[Value, Op] = {}
    body = _moved(body, additions, moved)
    loads: dict[Value, tuple[Value, ...]] = {}
    for block in (body, *(b for op in walk(body) for b in op.blocks)):
        loads.update(_loads(block, moved, uses) if dense else ())
    return body, InPlace(loads, moved, plain)


def _moved(block: Block, additions: dict[Value, Op], moved: dict[Value, Op]) -> Block:
    """Return the block with each product that is only added to an array moved to right before that addition.

    Args:
        block: the block.
        additions: by product, the only use of it: an addition to an array.
        moved: receives those of the additions whose products were moved.
    """
    products = {
        op.result: op
        for op in block.ops
        if op.name == "tile_matmul" and len(op.operands) == 2 and additions.get(op.result) in block.ops
    }
    moved.update({value: additions[value] for value in products})
    ops: list[Op] = []
    for op in block.ops:
        if op.name == "tile_atomic_add" and op.operands[-1] in products:
            ops.append(products[op.operands[-1]])
        if not op.results or op.results[0] not in products:
            ops.append(map_blocks(op, lambda b: _moved(b, additions, moved)) if op.blocks else op)
    return Block(block.params, tuple(ops))


def _has_row_parts(op: Op, tile: Value) -> bool:
    """Return whether a matrix's rows are parts of rows of the array, of float32 or float64."""
    array, type = array_of(op.operands[0]), tile_of(tile)
    constant = type.dtype in (float32, float64) and not array.pitch
    return constant and type.ndim == 2 and op.attrs[AXES][-1] == array.ndim - 1


def _loads(block: Block, additions: dict[Value, Op], uses: Counter[Value]) -> Iterator[tuple[Value, tuple[Value, ...]]]:
    """Yield the tiles of a block that products can read in their arrays, each with the arrays that change meanwhile.

    Args:
        block: the block.
        additions: by product, the addition to an array that it does itself.
        uses: how many operands each value is.
    """
    for position, op in enumerate(block.ops):
        if op.name != "tile_load" or not _has_row_parts(op, op.result):
            continue
        users = [n for n, o in enumerate(block.ops) if op.result in o.operands]
        count = sum(block.ops[n].operands.count(op.result) for n in users)
        if not users or count != uses[op.result] or not all(_multiplies(block.ops[n], op.result) for n in users):
            continue
        # A product that adds to an array has written by the time it is through.
        last = users[-1] + (block.ops[users[-1]].results[0] in additions)
        changed = _changed(block.ops[position + 1 : last + 1])
        if changed is not None and op.operands[0] not in changed:
            yield op.result, changed


def _multiplies(op: Op, tile: Value) -> bool:
    """Return whether an operation is a product in which the tile is a factor, and not the accumulator."""
    return op.name == "tile_matmul" and tile in op.operands[:2] and tile not in op.operands[2:]


def _changed(ops: Iterable[Op]) -> tuple[Value, ...] | None:
    """Return the arrays that operations change; None if they may change any."""
    arrays: dict[Value, None] = {}
    for op in ops:
        for inner in (op, *(i for b in op.blocks for i in walk(b))):
            if inner.name in OPAQUE:
                return None
            if inner.name in EFFECTS:
                arrays[inner.operands[0]] = None
    return tuple(arrays)
