"""Reductions and scans of tiles as loops over slots.

A reduction combines halves again and again, as the interpreter does: the order of a float sum is fixed, and each step
vectorises.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from workbench.ir.build import Replacements, copy_op
from workbench.ir.ops import AXIS, EXCLUSIVE, KIND
from workbench.ir.tiles import identity, tile_of
from workbench.ir.values import Op, Value
from workbench.passes.lower_tiles.lowering import Handler, TileLowering
from workbench.tiles import Tile
from workbench.types import bool as bool_
from workbench.types import int32, is_float

Combine = Callable[[Value, Value], Value]
BUILTINS = {"sum": "add", "min": "min", "max": "max"}


def _combine(on: TileLowering, op: Op) -> Combine:
    """Return a function that emits the combination of two elements: by a builtin, or by the reduction's block."""
    kind = op.attrs[KIND]
    if kind != "func":
        return lambda a, b: on.on(BUILTINS[kind], a, b)
    (block,) = op.blocks

    def inlined(a: Value, b: Value) -> Value:
        mapping: Replacements = {**on.mapping, **dict(zip(block.params, (a, b), strict=True))}
        for inner in block.ops[:-1]:
            on.builder.append(copy_op(inner, mapping))
        (combined,) = block.yielded
        return mapping.get(combined, combined)

    return inlined


def _reduce(on: TileLowering, op: Op) -> None:
    """Lower `tile_reduce`: halve the rows along the axis until one is left; without an axis, all elements.

    An "argmin" or "argmax" is lowered to a search instead.
    """
    (tile,) = op.operands
    shape, axis = tile_of(tile).shape, op.attrs.get(AXIS)
    outer, length, inner = (
        (1, prod(shape), 1) if axis is None else (prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))
    )
    if op.attrs[KIND] in ("argmin", "argmax"):
        _extreme(on, op, (outer, length, inner), axis)
        return
    combine = _combine(on, op)
    source = on.slots_of(tile)
    # The first step reads the tile and writes the buffer, so the tile itself is left as it is.
    half = (length + 1) // 2
    buffer = on.new(tile_of(tile), outer * half * inner)
    work = buffer.slots

    def at(o: Value, i: Value, j: Value, rows: int) -> Value:
        return on.flat_index((o, i, j), (outer, rows, inner))

    def first(k: list[Value]) -> None:
        o, i, j = k
        low, high = on.read(source, at(o, i, j, length)), on.read(source, at(o, on.add(i, half), j, length))
        on.write(work, at(o, i, j, half), combine(low, high))

    def odd(k: list[Value]) -> None:
        middle = on.constant(half - 1)
        on.write(work, at(k[0], middle, k[1], half), on.read(source, at(k[0], middle, k[1], length)))

    on.nest((outer, length - half, inner), first) if length > 1 else None
    if length % 2:
        on.nest((outer, inner), odd)
    if half > 1:
        _halve(on, work, (outer, half, inner), combine)
    if axis is None:
        on.mapping[op.result] = on.read(work, on.constant(0))
    else:
        target = on.result(op)
        on.nest(
            (outer, inner),
            lambda k: on.write(
                target, on.flat_index(k, (outer, inner)), on.read(work, at(k[0], on.constant(0), k[1], half))
            ),
        )
    on.give_back(buffer)


def _halve(on: TileLowering, work: Value, shape: tuple[int, int, int], combine: Combine) -> None:
    """Emit a loop that combines the upper half of rows into the lower one until one row is left."""
    outer, rows, inner = shape
    before, now = Value(int32), Value(int32)
    one = on.constant(1)
    with on.builder.block((before,)) as more:
        on.builder.yield_(on.on("gt", before, one, type=bool_))
    with on.builder.block((now,)) as step:
        half = on.on("rshift", on.add(now, 1), one)
        zero = on.constant(0)

        def body(k: list[Value]) -> None:
            o, i, j = k
            low = on.flat_index((o, i, j), shape)
            high = on.flat_index((o, on.on("add", i, half), j), shape)
            on.write(work, low, combine(on.read(work, low), on.read(work, high)))

        stops = (on.constant(outer), on.on("sub", now, half), on.constant(inner))
        # One loop rather than three of which two have one turn: LLVM then sees a plain vector sum.
        if outer == inner == 1:
            on.clipped((zero,), stops[1:2], lambda k: body([zero, k[0], zero]))
        else:
            on.clipped((zero,) * 3, stops, body)
        on.builder.yield_(half)
    on.builder.while_((on.constant(rows),), more.block, step.block)


def _extreme(on: TileLowering, op: Op, shape: tuple[int, int, int], axis: int | None) -> None:
    """Lower a search for the first index of the least or greatest element; of the first NaN if there is one."""
    outer, length, inner = shape
    tile = op.operands[0]
    source, dtype = on.slots_of(tile), tile_of(tile).dtype
    sign = "lt" if op.attrs[KIND] == "argmin" else "gt"
    target = on.result(op) if axis is not None else on.new(Tile(int32, (1,))).slots

    def body(k: list[Value]) -> None:
        def read(i: Value) -> Value:
            return on.read(source, on.flat_index((k[0], i, k[1]), shape))

        i, best, position = Value(int32), Value(dtype), Value(int32)
        with on.builder.block((i, best, position)) as opened:
            here = read(i)
            better = on.on(sign, here, best, type=bool_)
            if is_float(dtype):
                # The first NaN wins, as in NumPy: it replaces any number, and nothing replaces it.
                fresh = on.on("and_", on.on("ne", here, here, type=bool_), on.on("eq", best, best, type=bool_))
                better = on.on("or_", better, fresh, type=bool_)
            on.builder.yield_(
                on.on("where", better, here, best, type=dtype), on.on("where", better, i, position, type=int32)
            )
        zero, one = on.constant(0), on.constant(1)
        results = on.builder.for_(one, on.constant(length), one, (read(zero), zero), opened.block)
        on.write(target, on.flat_index(k, (outer, inner)), results[1])

    on.nest((outer, inner), body)
    if axis is None:
        on.mapping[op.result] = on.read(target, on.constant(0))


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


LOWER: dict[str, Handler] = {
    "tile_reduce": _reduce,
    "tile_scan": _scan,
}
