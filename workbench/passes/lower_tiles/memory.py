"""Loads, stores and additions of tiles as loops: where a tile lies inside of the array without tests, else clipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.ir.attributes import AXES, AXIS, BOUNDS
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


LOWER: dict[str, Handler] = {
    "tile_load": _load,
    "tile_store": _store,
    "tile_atomic_add": _atomic_add,
}
