"""Locations of a tile's elements, as a thread reads and writes them."""

from __future__ import annotations

from collections.abc import Hashable
from math import prod

import msgspec

from workbench.backends.cuda.tiles.placement.layouts import Element, Layout
from workbench.backends.cuda.tiles.placement.uses import ANY, Region, Use
from workbench.ir.build import Builder
from workbench.ir.ops import AXES
from workbench.ir.tiles import tile_of
from workbench.ir.values import Op, Value
from workbench.types import int32


class InRegisters(msgspec.Struct, frozen=True, eq=False):
    """A location in registers: the tile is spread over the threads.

    Attributes:
        slots: the IR value of each thread's registers.
        layout: which thread has which element in which register.
    """

    slots: Value
    layout: Layout

    def read(self, builder: Builder, element: Element) -> Value:
        """Emit a read of an element, which has to be the thread's own; return its value."""
        assert element.register is not None
        return builder.slot_read(self.slots, element.register)

    def write(self, builder: Builder, element: Element, value: Value) -> None:
        """Emit a write of an element, which has to be the thread's own."""
        assert element.register is not None
        builder.slot_write(self.slots, element.register, value)

    def uses(self, mode: str, who: Hashable) -> tuple[Use, ...]:
        """Return no use: registers belong to one thread."""
        return ()


class InShared(msgspec.Struct, frozen=True, eq=False):
    """A location in shared memory: element (i, j, …) at `offset + i * steps[0] + j * steps[1] + …`.

    Attributes:
        region: the memory.
        steps: in elements, per axis.
        offset: the index of the first element; None for 0.
        entire: the tile is all of the region in row-major order, perhaps with gaps between rows.
        aligned: it begins at a multiple of 16 bytes.
    """

    region: Region
    steps: tuple[int, ...]
    offset: Value | None = None
    entire: bool = True
    aligned: bool = True

    def read(self, builder: Builder, element: Element) -> Value:
        """Emit a read of any element of the tile; return its value."""
        return builder.slot_read(self.region.slots, self.at(element))

    def write(self, builder: Builder, element: Element, value: Value) -> None:
        """Emit a write of any element of the tile."""
        builder.slot_write(self.region.slots, self.at(element), value)

    def at(self, element: Element) -> Value:
        """Emit the computation of an element's index in the region's slots, and return it."""
        dense = self.entire and self.steps == row_major(element.shape)
        return element.linear if dense else element.weighted(list(self.steps), self.offset)

    def uses(self, mode: str, who: Hashable) -> tuple[Use, ...]:
        """Return the use of the region by a step in which each thread accesses the share of elements named `who`.

        `mode` is "read" or "write". Unless the tile is all of the region, `who` becomes any thread.
        """
        return (Use(self.region, mode, who if self.entire else ANY),)


TileLocation = InRegisters | InShared


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the steps along each axis, in elements, of an array of this shape without gaps."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def view(builder: Builder, op: Op, source: InShared) -> InShared:
    """Return the location of a view of shared memory.

    Args:
        builder: receives the arithmetic of its offset.
        op: a `tile_transpose`, `tile_slice`, `tile_broadcast` or `tile_reshape`.
        source: the location of its operand.
    """
    old, new = tile_of(op.operands[0]).shape, tile_of(op.result).shape
    if op.name == "tile_reshape":
        return InShared(source.region, row_major(new), source.offset, source.entire, source.aligned)
    if op.name == "tile_transpose":
        return InShared(
            source.region, tuple(source.steps[a] for a in op.attrs[AXES]), source.offset, False, source.aligned
        )
    if op.name == "tile_broadcast":
        extra = len(new) - len(old)
        steps = [0] * extra + [
            0 if n == 1 and m > 1 else s for n, m, s in zip(old, new[extra:], source.steps, strict=True)
        ]
        return InShared(source.region, tuple(steps), source.offset, False, source.aligned)
    offset = source.offset
    for start, step in zip(op.operands[1:], source.steps, strict=True):
        part = builder.cast(start, int32)
        part = part if step == 1 else builder.one("mul", (part, builder.const(step)), int32)
        offset = part if offset is None else builder.one("add", (offset, part), int32)
    return InShared(source.region, source.steps, offset, entire=False, aligned=False)
