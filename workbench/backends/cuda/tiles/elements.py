"""Operations that do each element of a tile on its own: maps, loads and stores, what sets or gives one element."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from workbench.backends.cuda.tiles.lower import Lowering
from workbench.backends.cuda.tiles.pipeline import is_chunked
from workbench.backends.cuda.tiles.placement.layouts import Element, Spread, Striped, Values, either, every, when
from workbench.backends.cuda.tiles.placement.locations import InShared
from workbench.backends.cuda.tiles.placement.uses import ANY, FIRST, Use
from workbench.ir.build import copy_op
from workbench.ir.ops import AXES, AXIS, BOUNDS, SHAPE, STEP, THREADS, attributes
from workbench.ir.tiles import tile_of
from workbench.ir.values import Op, Value, array_of, dtype_of, walk
from workbench.passes.checks.bounds_checks import zero
from workbench.types import ArrayType, Scalar, element, int32, uint32, uint64
from workbench.types import bool as bool_

_MODES = {
    **dict.fromkeys(("store", "atomic", "atomic_swap", "atomic_add"), "write"),
    "load": "read",
    "reduce_add": "add",
}


def shape_of(value: Value) -> tuple[int, ...]:
    """Return the shape of a tile."""
    return tile_of(value).shape


def tile_map(low: Lowering, op: Op) -> None:
    """Lower a map: emit its block for each element; its changes of arrays may be done by any thread."""
    b, (body,), shape = low.builder, op.blocks, op.attrs[SHAPE]
    tiles = [*op.results, *op.operands]
    layout, registers = low.layout(*tiles) if tiles else (_striped(low, shape), False)
    # Indices that the body does not use are not computed: each costs a division.
    inner = {v for o in walk(body) for v in o.operands}
    low.touch(*low.uses("read", layout, *op.operands), *low.uses("write", layout, *op.results), *_memory(op, inner))
    rank = len(shape)

    def one(here: Element) -> None:
        mapping: dict[Value, Value] = {}
        for axis, param in enumerate(body.params[:rank]):
            if param in inner:
                mapping[param] = here.index(axis)
        for param, tile in zip(body.params[rank:], op.operands, strict=True):
            if param in inner:
                mapping[param] = low.location_of(tile).read(b, here)
        for statement in body.ops[:-1]:
            b.append(copy_op(statement, mapping))
        for result, value in zip(op.results, body.yielded, strict=True):
            low.location_of(result).write(b, here, mapping.get(value, value))

    layout.each(b, low.lane, shape, one, registers)


def _striped(low: Lowering, shape: tuple[int, ...]) -> Striped:
    """Return the striped layout of a shape over all threads of the block."""
    return Striped(math.prod(shape), low.threads)


def _memory(op: Op, used: set[Value]) -> list[Use]:
    """Return the uses of arrays in a map's block, each a read, a write or an addition.

    Args:
        op: the map.
        used: the values that operations of the block use; an addition whose result is one of them counts as a write.
    """
    uses: dict[tuple[Value, str], None] = {}
    for inner in walk(op.blocks[0]):
        # The text of a `native` func is not analysed, so it may write to each array it is given.
        if inner.name == "native":
            uses |= {(v, "write"): None for v in inner.operands if isinstance(v.type, ArrayType)}
        elif inner.name in _MODES:
            # Additions commute as long as nothing looks at the old value.
            adds = inner.name == "atomic_add" and inner.result not in used
            uses[inner.operands[0], "add" if adds else _MODES[inner.name]] = None
    return [Use(array, mode, ANY) for array, mode in uses]


# Tiles and arrays.


def tile_load(low: Lowering, op: Op) -> None:
    """Lower a load of a tile from an array; elements outside of the array are 0 if `bounds` are checked."""
    b, location = low.builder, low.location_of(op.result)
    layout, registers = low.layout(op.result)
    if is_chunked(low, op):
        location = low.in_shared(op.result)
        low.touch(
            # Chunks are dealt to threads in another order than elements, so this share is anybody's; it is under way
            # until a wait.
            replace(_array_use(low, op, "read", layout.who), who=ANY),
            Use(location.region, "write", ANY, pending=True),
        )
        attrs = attributes({**op.attrs, THREADS: low.threads, STEP: location.steps[0]})
        b.emit("copy_in", (location.region.slots, b.const(0), *op.operands), (), attrs)
        return
    low.touch(_array_use(low, op, "read", layout.who), *low.uses("write", layout, op.result))

    def one(here: Element) -> None:
        indices = _indices(low, op, here)
        inside = _inside_test(low, op, indices)
        # A branch, not a `where`: the load itself must not happen outside of the array.
        load, nothing = lambda: (b.load(op.operands[0], *indices),), lambda: (zero(b, dtype_of(op.operands[0])),)
        location.write(b, here, *either(b, inside, load, nothing))

    layout.each(b, low.lane, shape_of(op.result), one, registers)


def tile_store(low: Lowering, op: Op) -> None:
    """Lower a store of a tile to an array; elements outside of the array are dropped if `bounds` are checked."""
    b, tile = low.builder, op.operands[-1]
    layout, registers = low.layout(tile)
    low.touch(*low.uses("read", layout, tile), _array_use(low, op, "write", layout.who))

    def one(here: Element) -> None:
        indices = _indices(low, op, here)
        value = low.location_of(tile).read(b, here)
        when(b, _inside_test(low, op, indices), lambda: b.store(op.operands[0], *indices, value))

    layout.each(b, low.lane, shape_of(tile), one, registers)


def tile_atomic_add(low: Lowering, op: Op) -> None:
    """Lower an atomic addition of a tile to an array's elements; the old ones are read only if they are used."""
    b, tile, wanted = low.builder, op.operands[-1], op.result in low.used
    layout, registers = low.layout(tile, op.result) if wanted else low.layout(tile)
    mode = "write" if wanted else "add"
    results = low.uses("write", layout, op.result) if wanted else ()
    low.touch(*low.uses("read", layout, tile), *results, Use(op.operands[0], mode, ANY))
    dtype = dtype_of(op.operands[0])
    if not wanted and isinstance(layout, Spread) and _is_paired(low, op, layout):
        _add_pairs(low, op, layout)
        return

    def one(here: Element) -> None:
        indices = _indices(low, op, here)
        value = low.location_of(tile).read(b, here)
        inside = _inside_test(low, op, indices)

        def add() -> Values:
            return (b.one("atomic_add", (op.operands[0], *indices, value), dtype),)

        if wanted:
            low.location_of(op.result).write(b, here, *either(b, inside, add, lambda: (zero(b, dtype),)))
        else:
            when(b, inside, add)

    layout.each(b, low.lane, shape_of(tile), one, registers)


def _is_paired(low: Lowering, op: Op, layout: Spread) -> bool:
    """Return whether each thread has pairs of elements that lie side by side in the array, and are halves.

    The hardware adds to such a pair at once.
    """
    array, shape = array_of(op.operands[0]), shape_of(op.operands[-1])
    pairs = layout.fragments and shape[1] % 2 == 0
    along = op.attrs[AXES][-1] == array.ndim - 1 and low.contiguous and not array.pitch
    return pairs and along and isinstance(array.dtype, Scalar) and array.dtype.is_half


def _add_pairs(low: Lowering, op: Op, layout: Spread) -> None:
    """Emit the atomic addition of a tile of halves in pairs of neighbours, each tested if bounds are checked."""
    b, tile = low.builder, op.operands[-1]

    def two(*pair: Element) -> None:
        indices = [_indices(low, op, here) for here in pair]
        values = [low.location_of(tile).read(b, here) for here in pair]
        inside = [_inside_test(low, op, at) or b.const(True, bool_) for at in indices]
        b.emit("add_pair", (op.operands[0], *indices[0], *inside, *values), (), {})

    layout.pairs(b, low.lane, shape_of(tile), two)


def offsets_of(op: Op) -> tuple[Value, ...]:
    """Return the operands at which a tile begins in its array, one index per axis of the array."""
    return op.operands[1 : 1 + array_of(op.operands[0]).ndim]


def _array_use(low: Lowering, op: Op, mode: str, who: object) -> Use:
    """Return the use of the part of an array that a tile covers, from its offsets on.

    Args:
        low: the lowering.
        op: the load, store or addition of the tile.
        mode: "read", "write" or "add".
        who: the share of the tile's elements that each thread accesses.
    """
    shape = op.attrs[SHAPE] if SHAPE in op.attrs else shape_of(op.operands[-1])
    axes = op.attrs[AXES]
    # Equal offsets have to compare as equal: two constants of 0 are two values, but one number.
    offsets = tuple(low.numbers.get(v, v) for v in offsets_of(op))
    sizes = [shape[axes.index(axis)] if axis in axes else 1 for axis in range(len(offsets))]
    box = tuple((o, o + n) if isinstance(o, int) else None for o, n in zip(offsets, sizes, strict=True))
    return Use(op.operands[0], mode, (who, shape, axes, offsets), box=box)


def _indices(low: Lowering, op: Op, here: Element) -> tuple[Value, ...]:
    """Emit the computation of the array's indices of an element of the tile; return them."""
    b, axes = low.builder, op.attrs[AXES]
    indices: list[Value] = []
    for axis, offset in enumerate(offsets_of(op)):
        # Along an axis of size 1 the index is 0; not adding it leaves fewer values in registers.
        if axis not in axes or here.shape[axes.index(axis)] == 1:
            indices.append(offset)
            continue
        index = b.cast(here.index(axes.index(axis)), element(offset.type))
        indices.append(b.one("add", (offset, index), element(offset.type)))
    return tuple(indices)


def _inside_test(low: Lowering, op: Op, indices: tuple[Value, ...]) -> Value | None:
    """Emit the test that the indices are inside the array; return None if bounds are not checked."""
    if not op.attrs[BOUNDS]:
        return None
    b, array = low.builder, op.operands[0]
    tests: list[Value] = []
    for axis, index in enumerate(indices):
        size = b.one("shape", (array,), array.type.size_type, {AXIS: axis})  # type: ignore[union-attr]
        # One unsigned comparison tests both ends: a negative index becomes larger than any size.
        wide = uint64 if 64 in (element(index.type).bits, element(size.type).bits) else uint32
        tests.append(b.one("lt", (b.cast(index, wide), b.cast(size, wide)), bool_))
    return every(b, tests)


# One element, and parts.


def tile_extract(low: Lowering, op: Op) -> None:
    """Lower the read of one element, whose value all threads get."""
    b, (tile, *indices) = low.builder, op.operands
    location = low.location_of(tile)
    at = Element(b, shape_of(tile), None, None, tuple(b.cast(i, int32) for i in indices))
    if isinstance(location, InShared):
        low.touch(*location.uses("read", ANY))
        b.append(Op("slot_read", (location.region.slots, location.at(at)), op.results, {}, (), op.location))
        return
    # Which thread has the element may be known at run time only, so that thread writes it where all can read it.
    scratch = low.scratch(tile.type.dtype, 1, "one element of a tile")  # type: ignore[union-attr]
    low.touch(Use(scratch, "write", ANY))
    _on_owner(low, tile, at.linear, lambda e: b.slot_write(scratch.slots, b.const(0), location.read(b, e)))
    low.touch(Use(scratch, "read", ANY))
    b.append(Op("slot_read", (scratch.slots, b.const(0)), op.results, {}, (), op.location))


def _on_owner(low: Lowering, tile: Value, linear: Value, body: Callable[[Element], object]) -> None:
    """Emit `body` for the one thread that has the element of index `linear`."""

    def one(here: Element) -> None:
        mine = low.builder.one("eq", (here.linear, linear), bool_)
        when(low.builder, mine, lambda: body(here))

    low.each([tile], one)


def tile_insert(low: Lowering, op: Op) -> None:
    """Lower a replacement of one element: by the thread that has it, or in shared memory by the first thread."""
    b, (tile, *indices, value) = low.builder, op.operands
    low.copies([(op.result, tile)])
    at = Element(b, shape_of(tile), None, None, tuple(b.cast(i, int32) for i in indices))
    location = low.location_of(op.result)
    if isinstance(location, InShared):
        low.touch(*location.uses("write", FIRST))
        # All threads have the value and would write the same; one write is enough, and is one use for the barriers.
        low.first(lambda: b.slot_write(location.region.slots, location.at(at), value))
        return
    _on_owner(low, op.result, at.linear, lambda e: location.write(b, e, value))


def tile_place(low: Lowering, op: Op) -> None:
    """Lower a replacement of a part of a tile by another tile."""
    b, (tile, *offsets, part) = low.builder, op.operands
    low.copies([(op.result, tile)])
    layout, registers = low.layout(op.result)
    starts = [b.cast(o, int32) for o in offsets]
    # `Striped(1, 1)`: which threads read the elements of the part, no share of the threads describes.
    low.touch(*low.uses("read", Striped(1, 1), part), *low.uses("write", layout, op.result))
    source, target = low.location_of(part), low.location_of(op.result)

    def one(here: Element) -> None:
        indices = tuple(b.one("sub", (here.index(axis), start), int32) for axis, start in enumerate(starts))
        sizes = zip(indices, shape_of(part), strict=True)
        tests = [b.one("lt", (b.cast(index, uint32), b.const(size, uint32)), bool_) for index, size in sizes]
        element = Element(b, shape_of(part), None, None, indices)
        when(b, every(b, tests), lambda: target.write(b, here, source.read(b, element)))

    layout.each(b, low.lane, shape_of(op.result), one, registers)


def tile_view(low: Lowering, op: Op) -> None:
    """Lower a view: to arithmetic on indices if its elements can stay where they are, else to a copy."""
    b = low.builder
    if op.result in low.plan.views:
        low.make_view(op)
        return
    (tile,) = op.operands
    layout, registers = low.layout(op.result)
    low.touch(*low.uses("read", Striped(1, 1), tile), *low.uses("write", layout, op.result))
    source, target, shape = low.location_of(tile), low.location_of(op.result), shape_of(tile)

    def one(here: Element) -> None:
        target.write(b, here, source.read(b, Element(b, shape, None, here.linear)))

    layout.each(b, low.lane, shape_of(op.result), one, registers)


def tile_copy(low: Lowering, op: Op) -> None:
    """Lower a copy of a tile's elements to shared memory."""
    low.copy(low.location_of(op.result), low.location_of(op.operands[0]), op.result.type)  # type: ignore[arg-type]
