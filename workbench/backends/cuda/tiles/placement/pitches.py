"""Row pitches of a product's operands in shared memory, chosen so that reads are free of bank conflicts.

Shared memory has 32 banks of 4 bytes. `ldmatrix` and the fragments of float32 read 16 bytes of each of 8 rows at once:
that takes one pass if rows are an odd number of 16 bytes apart. Where TF32 reads its right operand along rows and the
left one by `ldmatrix`, which fixes the order of k, it reads 8 neighbours in each of 4 rows: 8 words modulo 16 apart.
"""

from __future__ import annotations

from math import prod

from workbench.backends.cuda.tiles.placement.plan import Plan, is_on_tensor_cores, uniform_ops
from workbench.backends.cuda.tiles.placement.storage import Storage
from workbench.ir.ops import AXES, LINKED, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.tiles import tile_of
from workbench.ir.values import Op, Value
from workbench.tiles import Tile, is_tile
from workbench.types import element

CHUNK = 16
"""Bytes that `cp.async` and `ldmatrix` move at once, and that they have to be aligned to."""


def pitches(plan: Plan, storage: Storage) -> dict[Value, int]:
    """Return the row pitch in elements of each storage with gaps between rows; others are dense and left out.

    Tiles that are also seen in another shape, or that cuBLASDx reads, stay dense.
    """
    strided: dict[Value, bool] = {}
    fixed: set[Value] = set()
    for op in uniform_ops(plan.function.body):
        if op.name == "tile_reshape" and op.result in plan.views:
            fixed.add(storage.of(plan.root(op.result)))
        if op.name != "tile_matmul":
            continue
        if op.attrs.get(LINKED):
            fixed |= {storage.of(plan.root(v)) for v in (op.result, *op.operands)}
        along = [_k_is_last(plan, op, side) for side in (0, 1)]
        for value, mine, other in zip(op.operands, along, reversed(along), strict=False):
            key = storage.of(plan.root(value))
            if mine is None:
                fixed.add(key)
                continue
            wanted = is_on_tensor_cores(op) and not element(tile_of(value).dtype).is_half and other is True and not mine
            strided[key] = strided.get(key, True) and wanted
    for value in _shared(plan):
        # One storage may hold tiles of several shapes only if they are of one type, so that they have one pitch.
        if len(tile_of(value).shape) != 2:
            fixed.add(storage.of(value))
    types = {storage.of(v): tile_of(v) for v in _shared(plan)}
    return {k: _pitch(types[k], far) for k, far in strided.items() if k in types and k not in fixed}


def _shared(plan: Plan) -> list[Value]:
    """Return the tiles in shared memory, each once, in the order of their first use; a view counts as its root."""
    inner = (v for op in uniform_ops(plan.function.body) for v in (*op.operands, *op.results) if is_tile(v))
    return list(dict.fromkeys(root for v in inner if (root := plan.root(v)) in plan.shared))


def _pitch(type: Tile, strided: bool) -> int:
    """Return a row's pitch in elements: an odd number of 16 bytes, or with `strided` an odd multiple of 32 bytes."""
    wide = CHUNK // type.dtype.size
    chunks = -(-type.shape[-1] // wide)
    if strided:
        chunks += (2 - chunks) % 4
    else:
        chunks += 1 - chunks % 2
    return chunks * wide


def _k_is_last(plan: Plan, op: Op, side: int) -> bool | None:
    """Return whether sums run along the last axis of the tile that holds an operand of a product.

    It is None if that tile is empty or no matrix, or the operand is a view of it other than by transposes and slices.

    Args:
        plan: the plan of the tiles.
        op: the product.
        side: 0 for the left operand, 1 for the right one.
    """
    axis = 1 - side if not op.attrs[(TRANSPOSE_A, TRANSPOSE_B)[side]] else side
    value = op.operands[side]
    views = {v: o for o in uniform_ops(plan.function.body) for v in o.results}
    while value in plan.views:
        view = views[value]
        if view.name == "tile_transpose":
            axis = view.attrs[AXES][axis]
        elif view.name != "tile_slice":
            return None
        value = plan.views[value]
    return None if len(tile_of(value).shape) != 2 or not prod(tile_of(value).shape) else axis == 1
