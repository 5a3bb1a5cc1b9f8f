"""Reductions and scans of tiles as loops over slots.

A reduction combines halves again and again, as the interpreter does: the order of a float sum is fixed, and each step
vectorises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from workbench.ir.build import Replacements, copy_op
from workbench.ir.ops import AXIS, EXCLUSIVE, KIND
from workbench.ir.tiles import identity, tile_of
from workbench.ir.values import Op, Value
from workbench.passes.lower_tiles.lowering import Buffer, Handler, TileLowering
from workbench.tiles import Tile
from workbench.types import Scalar, int32, is_float
from workbench.types import bool as bool_

Element = tuple[Value, ...]
"""A number; or in a search a number and its index along the axis."""
Combine = Callable[[Element, Element], Element]
BUILTINS = {"sum": "add", "min": "min", "max": "max"}
SEARCHES = {"argmin": "lt", "argmax": "gt"}


def _combine(on: TileLowering, op: Op) -> Combine:
    """Return a function that emits the combination of two elements: by a builtin, or by the reduction's block."""
    kind = op.attrs[KIND]
    if kind in SEARCHES:
        return lambda a, b: _better(on, SEARCHES[kind], a, b)
    if kind != "func":
        return lambda a, b: (on.on(BUILTINS[kind], *a, *b),)
    (block,) = op.blocks

    def inlined(a: Element, b: Element) -> Element:
        mapping: Replacements = {**on.mapping, **dict(zip(block.params, (*a, *b), strict=True))}
        for inner in block.ops[:-1]:
            on.builder.append(copy_op(inner, mapping))
        (combined,) = block.yielded
        return (mapping.get(combined, combined),)

    return inlined


def _better(on: TileLowering, sign: str, a: Element, b: Element) -> Element:
    """Emit the choice of a search between two elements: a NaN, as in NumPy, else the better one, else the first."""

    def test(name: str, *operands: Value) -> Value:
        return on.on(name, *operands, type=bool_)

    (x, i), (y, j) = a, b
    better, same = test(sign, y, x), test("eq", y, x)
    if is_float(x.type):
        number, nan = test("eq", x, x), test("ne", y, y)
        better = test("or_", better, test("and_", number, nan))
        same = test("or_", same, test("and_", test("ne", x, x), nan))
    better = test("or_", better, test("and_", same, test("lt", j, i)))
    best = on.builder.one("where", (better, y, x), x.type)
    return best, on.on("where", better, j, i, type=int32)


def _reduce(on: TileLowering, op: Op) -> None:
    """Lower `tile_reduce`: halve the rows along the axis until one is left; without an axis, all elements."""
    (tile,) = op.operands
    shape, axis, search = tile_of(tile).shape, op.attrs.get(AXIS), op.attrs[KIND] in SEARCHES
    outer, length, inner = (
        (1, prod(shape), 1) if axis is None else (prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))
    )
    combine, source, buffers = _combine(on, op), on.slots_of(tile), list[Buffer]()
    if inner == 1 and outer > 1 and isinstance(tile_of(tile).dtype, Scalar):
        # Rows that end side by side: each step then has the elements of all rows as lanes.
        buffers.append(on.new(tile_of(tile)))
        on.turn(buffers[0].slots, source, (outer, length))
        source, outer, inner = buffers[0].slots, 1, outer
    # The first step reads the tile and writes the buffers, so the tile itself is left as it is.
    half = (length + 1) // 2
    types = (tile_of(tile).dtype, int32) if search else (tile_of(tile).dtype,)
    buffers += [on.new(Tile(type, (outer * half * inner,))) for type in types]
    work = [buffer.slots for buffer in buffers[-len(types) :]]

    def read(o: Value, i: Value, j: Value) -> Element:
        number = on.read(source, on.flat_index((o, i, j), (outer, length, inner)))
        return (number, i) if search else (number,)

    def first(k: list[Value]) -> None:
        o, i, j = k
        combined = combine(read(o, i, j), read(o, on.add(i, half), j))
        _write(on, work, on.flat_index((o, i, j), (outer, half, inner)), combined)

    def odd(k: list[Value]) -> None:
        o, i, j = k[0], on.constant(half - 1), k[1]
        _write(on, work, on.flat_index((o, i, j), (outer, half, inner)), read(o, i, j))

    on.nest((outer, length - half, inner), first) if length > 1 else None
    if length % 2:
        on.nest((outer, inner), odd)
    if half > 1:
        _halve(on, work, (outer, half, inner), combine)
    if axis is None:
        on.mapping[op.result] = on.read(work[-1], on.constant(0))
    else:
        target = on.result(op)

        def last(k: list[Value]) -> None:
            at = on.flat_index((k[0], on.constant(0), k[1]), (outer, half, inner))
            on.write(target, on.flat_index(k, (outer, inner)), on.read(work[-1], at))

        on.nest((outer, inner), last)
    for buffer in buffers:
        on.give_back(buffer)


def _write(on: TileLowering, work: Sequence[Value], at: Value, element: Element) -> None:
    """Emit the write of an element to the buffers."""
    for slots, value in zip(work, element, strict=True):
        on.write(slots, at, value)


def _halve(on: TileLowering, work: Sequence[Value], shape: tuple[int, int, int], combine: Combine) -> None:
    """Emit a loop that combines the upper half of rows into the lower one until one row is left."""
    outer, rows, inner = shape
    before, now = Value(int32), Value(int32)
    one = on.constant(1)
    with on.builder.block((before,)) as more:
        on.builder.yield_(on.on("gt", before, one, type=bool_))
    with on.builder.block((now,)) as step:
        half = on.on("rshift", on.add(now, 1), one)
        zero, left, distance = on.constant(0), on.on("sub", now, half), on.times(half, inner)

        def body(k: list[Value]) -> None:
            low = on.flat_index(k, shape[-len(k) :])
            a, b = (tuple(on.read(slots, at) for slots in work) for at in (low, on.on("add", low, distance)))
            _write(on, work, low, combine(a, b))

        if outer == 1:
            on.clipped((zero,), (on.times(left, inner),), body)
        else:
            on.clipped((zero,) * 3, (on.constant(outer), left, on.constant(inner)), body)
        on.builder.yield_(half)
    on.builder.while_((on.constant(rows),), more.block, step.block)


def _scan(on: TileLowering, op: Op) -> None:
    """Lower `tile_scan` to loops that combine each row's elements in order, along the last axis."""
    (tile,) = op.operands
    type = tile_of(tile)
    length, rows, kind = type.shape[-1], type.count // type.shape[-1], op.attrs[KIND]
    source, target = on.slots_of(tile), on.result(op, tile)
    exclusive = op.attrs[EXCLUSIVE]
    neutral = on.builder.const(identity(kind, type.dtype), type.dtype) if exclusive else None

    def body(k: list[Value]) -> None:
        base = on.times(k[0], length)
        first = on.read(source, base)
        on.write(target, base, neutral if neutral is not None else first)
        i, so_far = Value(int32), Value(type.dtype)
        with on.builder.block((i, so_far)) as opened:
            at = on.on("add", base, i)
            total = on.on(BUILTINS[kind], so_far, on.read(source, at))
            on.write(target, at, so_far if exclusive else total)
            on.builder.yield_(total)
        one = on.constant(1)
        on.builder.for_(one, on.constant(length), one, (first,), opened.block)

    on.nest((rows,), body)


LOWER: dict[str, Handler] = {"tile_reduce": _reduce, "tile_scan": _scan}
