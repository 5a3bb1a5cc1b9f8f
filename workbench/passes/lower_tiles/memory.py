"""Loads, stores, additions, maps and moves of tiles as loops over slots.

Where a tile that is loaded, stored or added lies inside of the array, the loops have no tests; else it is clipped.
Moves are what moves elements without computing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from workbench.ir.ops import AXES, AXIS, BOUNDS, SHAPE
from workbench.ir.tiles import tile_of
from workbench.ir.values import Op, Value, array_of
from workbench.passes.lower_tiles.lowering import Handler, TileLowering
from workbench.tiles import Tile
from workbench.types import bool as bool_
from workbench.types import int32, int64

Element = Callable[[Sequence[Value], Value], None]


class Region:
    """The part of an array that a tile covers; `each` emits code for its elements that are inside of the array.

    Attributes:
        on: the lowering, which emits the code.
        op: the access to the array.
        tile: the tile's type.
        array: the array.
        axes: for each axis of the tile, that of the array.
        offsets: the index at which the tile begins along each axis of the array, as int64.
    """

    def __init__(self, on: TileLowering, op: Op, tile: Tile) -> None:
        self.on = on
        self.op = op
        self.tile = tile
        self.array = op.operands[0]
        ndim = array_of(self.array).ndim
        self.axes: tuple[int, ...] = op.attrs[AXES]
        self.offsets = [on.wide(on.scalar(v)) for v in op.operands[1 : 1 + ndim]]

    def indices(self, at: Sequence[Value]) -> list[Value]:
        """Emit the array's indices of the tile's element at the indices `at`; return them."""
        indices = list(self.offsets)
        for index, axis in zip(at, self.axes, strict=True):
            indices[axis] = self.on.on("add", indices[axis], self.on.wide(index))
        return indices

    def size(self, axis: int) -> Value:
        """Emit the array's extent along an axis, as an int64."""
        type = array_of(self.array)
        return self.on.wide(self.on.builder.one("shape", (self.array,), type.size_type, {AXIS: axis}))

    def inside(self) -> Value:
        """Emit the test whether all of the tile is inside of the array; return the bool."""
        on, zero = self.on, self.on.builder.const(0, int64)
        conditions: list[Value] = []
        for axis, offset in enumerate(self.offsets):
            length = self.tile.shape[self.axes.index(axis)] if axis in self.axes else 1
            conditions.append(on.on("ge", offset, zero, type=bool_))
            conditions.append(on.on("le", on.add(offset, length), self.size(axis), type=bool_))
        return on.every(conditions)

    def clipped(self, element: Element) -> None:
        """Emit loops over the elements of the tile that are inside of the array, with `element` for each."""
        on = self.on
        zero = on.builder.const(0, int64)
        low: list[Value] = []
        high: list[Value] = []
        good: list[Value] = []
        for axis, offset in enumerate(self.offsets):
            if axis not in self.axes:
                good.append(on.on("ge", offset, zero, type=bool_))
                good.append(on.on("lt", offset, self.size(axis), type=bool_))
                continue
            length = on.builder.const(self.tile.shape[self.axes.index(axis)], int64)
            first = on.on("min", on.on("max", on.on("neg", offset), zero), length)
            last = on.on("min", on.on("max", on.on("sub", self.size(axis), offset), zero), length)
            low.append(on.builder.cast(first, int32))
            high.append(on.builder.cast(last, int32))

        def body() -> None:
            on.clipped(low, high, lambda at: element(self.indices(at), on.flat_index(at, self.tile.shape)))

        if good:
            on.when(on.every(good), body)
        else:
            body()

    def add(self, indices: Sequence[Value], value: Value) -> Value:
        """Emit an addition to an element of the array, atomic unless additions may be plain; return the old element."""
        builder, kind = self.on.builder, self.tile.dtype
        if not self.on.in_place.plain:
            return builder.one("atomic_add", (self.array, *indices, value), kind)
        old = builder.load(self.array, *indices)
        builder.store(self.array, *indices, self.on.on("add", old, value))
        return old

    def each(self, element: Element, before: Callable[[], None] = lambda: None) -> None:
        """Emit loops over the elements of the tile that are inside, with `element` for each.

        Args:
            element: gets the indices in the array and the index in the tile's slots.
            before: emits what comes before the loops if some elements are outside.
        """

        def whole() -> None:
            self.on.nest(self.tile.shape, lambda at: element(self.indices(at), self.on.flat_index(at, self.tile.shape)))

        def part() -> None:
            with self.on.seldom():
                before()
                self.clipped(element)

        if self.op.attrs[BOUNDS]:
            self.on.when(self.inside(), whole, part)
        else:
            whole()


def _load(on: TileLowering, op: Op) -> None:
    """Lower `tile_load` to loops that fill slots, 0 outside of the array, or to a `window` of the array.

    With a window the slots are filled only where the tile is partly outside, or the array may change while it is used.
    """
    tile = tile_of(op.result)
    slots = on.result(op)
    region = Region(on, op, tile)

    def element(indices: Sequence[Value], at: Value) -> None:
        on.write(slots, at, on.builder.load(region.array, *indices))

    def clear() -> None:
        on.fill(slots, tile.count, on.zero(tile.dtype))

    if op.result not in on.in_place.loads:
        region.each(element, clear)
        return
    changed = on.in_place.loads[op.result]
    apart = [on.builder.one("apart", (region.array, other), bool_) for other in changed]
    there = on.every([region.inside() if op.attrs[BOUNDS] else on.builder.const(True, bool_), *apart])
    with on.seldom():
        on.when(there, lambda: None, lambda: region.each(element, clear))
    operands = (region.array, *region.offsets, slots, there)
    on.windows[op.result] = on.builder.one("window", operands, slots.type, {AXES: op.attrs[AXES]})


def _store(on: TileLowering, op: Op) -> None:
    """Lower `tile_store` to loops that store the elements that are inside of the array."""
    tile = tile_of(op.operands[-1])
    slots = on.slots_of(op.operands[-1])
    region = Region(on, op, tile)
    region.each(lambda indices, at: on.builder.store(region.array, *indices, on.read(slots, at)) and None)


def _atomic_add(on: TileLowering, op: Op) -> None:
    """Lower `tile_atomic_add` to loops that add, and write the old elements to the result's slots.

    The slots of elements outside of the array get 0. There is nothing to do if a product has done the addition.
    """
    if op.operands[-1] in on.in_place.additions:
        return  # the product has done it
    tile = tile_of(op.result)
    source = on.slots_of(op.operands[-1])
    slots = on.result(op)
    region = Region(on, op, tile)

    def element(indices: Sequence[Value], at: Value) -> None:
        on.write(slots, at, region.add(indices, on.read(source, at)))

    region.each(element, lambda: on.fill(slots, tile.count, on.zero(tile.dtype)))


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
    "tile_load": _load,
    "tile_store": _store,
    "tile_atomic_add": _atomic_add,
    "tile_map": _map,
    "tile_extract": _extract,
    "tile_insert": _insert,
    "tile_slice": _picked,
    "tile_place": _place,
    "tile_transpose": _picked,
    "tile_reshape": _reshape,
    "tile_broadcast": _picked,
}
