"""Maps, and what moves elements without computing, as loops over slots."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from workbench.ir.attributes import AXES, SHAPE
from workbench.ir.tiles import tile_of
from workbench.ir.values import Op, Value
from workbench.passes.lower_tiles.lowering import Handler, TileLowering
from workbench.types import int32


def _map(on: TileLowering, op: Op) -> None:
    """Lower `tile_map` to loops with its block, over all indices if the block reads them, else over positions."""
    shape: tuple[int, ...] = op.attrs[SHAPE]
    (block,) = op.blocks
    indices, elements = block.params[: len(shape)], block.params[len(shape) :]
    sources = [on.slots_of(v) for v in op.operands]
    targets = _targets(on, op)
    requested = _depends_on(block.ops, set(indices))
    dims = shape if requested else (prod(shape),)

    def body(at: list[Value]) -> None:
        index = on.flat_index(at, dims)
        if requested:
            on.mapping.update(zip(indices, at, strict=True))
        for param, slots in zip(elements, sources, strict=True):
            on.mapping[param] = on.read(slots, index)
        for inner in block.ops[:-1]:
            on.builder.location = inner.location
            on.plain(inner)
        for slots, value in zip(targets, block.yielded, strict=True):
            on.write(slots, index, on.scalar(value))

    on.nest(dims, body)


def _depends_on(ops: Sequence[Op], indices: set[Value]) -> bool:
    """Return whether any operation, or one in its blocks, has one of the indices as an operand."""
    return any(not indices.isdisjoint(op.operands) or any(_depends_on(b.ops, indices) for b in op.blocks) for op in ops)


def _targets(on: TileLowering, op: Op) -> list[Value]:
    """Assign buffers to the results, and return their slots.

    Those of operands of the same type that are no longer needed are used first.
    """
    spare = [v for v in dict.fromkeys(op.operands) if on.takes(v)]
    targets: list[Value] = []
    for result in op.results:
        reusable = next((v for v in spare if v.type == result.type), None)
        if reusable is not None:
            spare.remove(reusable)
            on.own(result, on.buffers[reusable])
        else:
            on.own(result, on.new(tile_of(result)))
        targets.append(on.slots_of(result))
    return targets


def _extract(on: TileLowering, op: Op) -> None:
    """Lower `tile_extract`: replace its result by a read of the element's slot."""
    tile, *indices = op.operands
    at = on.flat_index([_narrow(on, v) for v in indices], tile_of(tile).shape)
    on.mapping[op.result] = on.read(on.slots_of(tile), at)


def _narrow(on: TileLowering, index: Value) -> Value:
    """Emit the lowered form of an index as int32."""
    return on.builder.cast(on.scalar(index), int32)


def _insert(on: TileLowering, op: Op) -> None:
    """Lower `tile_insert` to a copy of the tile, unless it is dead, and a write of one slot."""
    tile, *indices, element = op.operands
    source = on.slots_of(tile)
    slots = on.result(op, tile)
    on.copy(slots, source, tile_of(tile).count)
    on.write(slots, on.flat_index([_narrow(on, v) for v in indices], tile_of(tile).shape), on.scalar(element))


def _picked(on: TileLowering, op: Op) -> None:
    """Lower a slice, a transposition or a broadcast to loops that read each element at its place in the tile."""
    tile, *offsets = op.operands
    source, slots = on.slots_of(tile), on.result(op)
    starts = [_narrow(on, v) for v in offsets]
    old, new, zero = tile_of(tile).shape, tile_of(op.result).shape, on.constant(0)

    def body(at: list[Value]) -> None:
        if op.name == "tile_slice":
            there = [on.on("add", s, i) for s, i in zip(starts, at, strict=True)]
        elif op.name == "tile_transpose":
            there = [at[op.attrs[AXES].index(axis)] for axis in range(len(old))]
        else:  # sizes of 1 are repeated, and new leading axes are
            there = [zero if n == 1 else i for n, i in zip(old, at[len(new) - len(old) :], strict=True)]
        on.write(slots, on.flat_index(at, new), on.read(source, on.flat_index(there, old)))

    on.nest(new, body)


def _place(on: TileLowering, op: Op) -> None:
    """Lower `tile_place` to a copy of the tile, unless it is dead, and loops that write the part at its offsets."""
    tile, *offsets, part = op.operands
    source, piece = on.slots_of(tile), on.slots_of(part)
    slots = on.result(op, tile if part is not tile else None)
    on.copy(slots, source, tile_of(tile).count)
    starts = [_narrow(on, v) for v in offsets]
    small, large = tile_of(part).shape, tile_of(tile).shape

    def body(at: list[Value]) -> None:
        there = [on.on("add", s, i) for s, i in zip(starts, at, strict=True)]
        on.write(slots, on.flat_index(there, large), on.read(piece, on.flat_index(at, small)))

    on.nest(small, body)


def _reshape(on: TileLowering, op: Op) -> None:
    """Lower a reshape: the result shares the buffer of the operand."""
    on.own(op.result, on.buffers[op.operands[0]])


LOWER: dict[str, Handler] = {
    "tile_map": _map,
    "tile_extract": _extract,
    "tile_insert": _insert,
    "tile_slice": _picked,
    "tile_place": _place,
    "tile_transpose": _picked,
    "tile_reshape": _reshape,
    "tile_broadcast": _picked,
}
