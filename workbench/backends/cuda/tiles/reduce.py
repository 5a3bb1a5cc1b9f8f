"""Reductions and scans by a block: each thread its own elements, a warp by shuffles, warps through shared memory.

What two elements combine to is a block of IR, for sums and extremes too; 16-bit floats are combined as float32. A
step combines only what is there, so no neutral element is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from workbench.backends.cuda.tiles.elements import shape_of
from workbench.backends.cuda.tiles.lower import Lowering
from workbench.backends.cuda.tiles.placement.layouts import WARP, Element, Striped, either, product, when
from workbench.backends.cuda.tiles.placement.locations import InRegisters, InShared, row_major
from workbench.backends.cuda.tiles.placement.uses import ANY, Region, Use
from workbench.ir.build import Builder, Rewriter, copy_op, rewrite
from workbench.ir.ops import AXIS, EXCLUSIVE, KIND, PLAIN, STEP, THREADS, UNROLL, attributes
from workbench.ir.tiles import identity, tile_of
from workbench.ir.values import Block, Function, Op, Value, dtype_of, scalar_or_vector_of
from workbench.passes.checks.bounds_checks import zero
from workbench.tiles import Tile
from workbench.types import Scalar, Vector, float32, in_float32, int32, is_half
from workbench.types import bool as bool_

Parts = tuple[Value, ...]
"""The parts that are combined: an element, or an element and its index."""


def with_combinations(function: Function) -> Function:
    """Return the function in which each reduction and scan of a tile has a block that combines two elements.

    An operation that has a block already keeps it.
    """

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        plain = op.name in ("tile_reduce", "tile_scan") and not op.blocks
        return (op.replace(blocks=(_combination(op),)),) if plain else None

    return rewrite(function, change)


def _combination(op: Op) -> Block:
    """Return the block that combines two elements, as float32 for halves; for argmin and argmax with their indices."""
    tile, kind = tile_of(op.operands[0]), op.attrs[KIND]
    builder = Builder()
    builder.location = op.location
    # Rounded once at the end: rounding each partial sum to 16 bits would lose most of a long one.
    dtype = in_float32(tile.dtype) if is_half(tile.dtype) else tile.dtype
    params = [Value(dtype, "a"), Value(dtype, "b")]
    if kind.startswith("arg"):
        params = [Value(dtype, "a"), Value(int32, "i"), Value(dtype, "b"), Value(int32, "k")]
    with builder.block(params) as scope:
        if kind.startswith("arg"):
            builder.yield_(*_earlier(builder, kind, *params))
        else:
            builder.yield_(builder.one("add" if kind == "sum" else kind, params, dtype))
    return scope.block


def _earlier(b: Builder, kind: str, x: Value, i: Value, y: Value, k: Value) -> Parts:
    """Emit the choice of the better of two elements with their indices: the first one at a tie. NaN is best."""
    less = "lt" if kind == "argmin" else "gt"
    dtype = scalar_or_vector_of(x)
    before = b.one("lt", (k, i), bool_)
    better, same = b.one(less, (y, x), bool_), b.one("eq", (x, y), bool_)
    # Threads meet in no particular order, so ties are decided by the place: the result is NumPy's, the first.
    chosen = b.one("or_", (better, b.one("and_", (same, before), bool_)), bool_)
    if isinstance(dtype, Scalar) and dtype.kind == float32.kind:
        mine, other = (b.one("ne", (v, v), bool_) for v in (x, y))
        # NumPy's argmin returns the first NaN; comparisons alone would never choose one.
        fresh = b.one("or_", (b.one("not_", (mine,), bool_), before), bool_)
        nan = b.one("and_", (other, fresh), bool_)
        number = b.one("not_", (mine,), bool_)
        chosen = b.one("or_", (nan, b.one("and_", (number, chosen), bool_)), bool_)
    return b.one("where", (chosen, y, x), dtype), b.one("where", (chosen, k, i), int32)


def combine(b: Builder, block: Block, left: Parts, right: Parts) -> Parts:
    """Emit a copy of `block`, which combines two elements, with `left` and `right` as its parameters.

    The result is what the block yields.
    """
    mapping: dict[Value, Value] = dict(zip(block.params, (*left, *right), strict=True))
    for op in block.ops[:-1]:
        b.append(copy_op(op, mapping))
    return tuple(mapping.get(v, v) for v in block.yielded)


def shuffled(b: Builder, value: Value, kind: str, step: int, threads: int) -> Value:
    """Emit a warp shuffle; return another thread's value.

    Args:
        b: the builder.
        value: a scalar or a vector, which is moved by component.
        kind: "down", "xor", or "from" for the thread numbered `step`.
        step: the distance, or the thread's number.
        threads: of a block.
    """
    attrs = attributes({KIND: kind, STEP: step, THREADS: threads})
    if not isinstance(value.type, Vector):
        return b.one("shuffle", (value,), value.type, attrs)
    # A shuffle moves one scalar: vectors go by component.
    numbers = [b.const(n) for n in range(value.type.length)]
    parts = [b.one("extract", (value, n), value.type.dtype) for n in numbers]
    return b.one("vec", [b.one("shuffle", (p,), p.type, attrs) for p in parts], value.type)


def tile_reduce(low: Lowering, op: Op) -> None:
    """Lower a reduction of all elements to one value that all threads get, or along an axis."""
    if op.attrs.get(AXIS) is None:
        _full(low, op)
    else:
        _reduce_axis(low, op)


def _started(low: Lowering, op: Op, value: Value, index: Callable[[], Value]) -> Parts:
    """Return an element as the parts that a reduction combines: its value, and for argmin and argmax its index.

    The value is cast to the type in which it is combined; `index` is called only if the index is needed.
    """
    (block,) = op.blocks
    parts = (low.builder.cast(value, block.params[0].type),)
    return (*parts, index()) if len(block.params) == 4 else parts


def _finish(low: Lowering, op: Op, parts: Parts, write: Callable[[Value], Any]) -> None:
    """Call `write` with the result of a reduction in the result's type: the last of its combined parts."""
    type = op.result.type.dtype if isinstance(op.result.type, Tile) else op.result.type
    # The last part is the place for argmin and argmax, and the value itself for the others.
    write(low.builder.cast(parts[-1], type))


def _full(low: Lowering, op: Op) -> None:
    """Lower a reduction of all elements to one value, which every thread gets."""
    b, (block,), (tile,) = low.builder, op.blocks, op.operands
    layout, _ = low.layout(tile)
    assert isinstance(layout, Striped)
    low.touch(*low.uses("read", layout, tile))
    parts = _warp(low, block, _own(low, op, tile, layout), layout.active)
    # Within a warp shuffles need no shared memory and no barrier.
    if low.threads > WARP:
        parts = _through_shared(low, block, parts, -(-layout.active // WARP))
    elif low.threads > 1:
        parts = tuple(shuffled(b, v, "from", 0, low.threads) for v in parts)
    value = b.cast(parts[-1], op.result.type)
    # The result keeps its identity: later operations already refer to it.
    b.append(Op("same", (value,), op.results, {}, (), op.location))


def _own(low: Lowering, op: Op, tile: Value, layout: Striped) -> Parts:
    """Combine each thread's own elements; threads that have none get zeros, which must not be combined."""
    b, (block,), location, shape = low.builder, op.blocks, low.location_of(tile), shape_of(tile)

    def at(register: Value | None, linear: Value) -> Parts:
        here = Element(b, shape, register, linear)
        return _started(low, op, location.read(b, here), lambda: here.linear)

    types = [p.type for p in block.params[: len(block.params) // 2]]
    some = b.one("lt", (low.lane, b.const(layout.active)), bool_) if layout.active < low.threads else None
    # Never combined, since the tests below leave these threads out; but a shuffle needs a value from each.
    nothing = tuple(zero(b, t) for t in types) if some is not None else ()
    parts = either(b, some, lambda: at(b.const(0), low.lane), lambda: nothing)
    if layout.registers == 1:
        return parts
    number, carried = Value(int32, "r"), tuple(Value(t) for t in types)
    registers = isinstance(location, InRegisters)
    with b.block((number, *carried)) as scope:
        here = number
        if registers:
            here = b.one("add", (product(b, number, low.threads), low.lane), int32)
        inside = None
        if registers and layout.count % low.threads:
            inside = b.one("lt", (here, b.const(layout.count)), bool_)
        b.yield_(*either(b, inside, lambda: combine(b, block, carried, at(number, here)), lambda: carried))
    if registers:
        # In registers the index must be known after unrolling; in memory a loop keeps the code small.
        ends, hint = (b.const(1), b.const(layout.registers), b.const(1)), UNROLL
    else:
        start = b.one("add", (low.lane, b.const(low.threads)), int32)
        ends, hint = (start, b.const(layout.count), b.const(low.threads)), PLAIN
    return b.for_(*ends, parts, scope.block, {hint: True})


def _warp(low: Lowering, block: Block, parts: Parts, active: int) -> Parts:
    """Combine the values of the first `active` threads, in each warp pair by pair; its first thread has the result."""
    b = low.builder
    step = WARP // 2
    # Steps that would reach beyond the last active thread combine nothing.
    while step >= active:
        step //= 2
    # With whole warps every thread has a partner, and xor gives all of them the result without a test.
    exchange = active % WARP == 0 or active == 2 * step
    while step:
        other = tuple(shuffled(b, v, "xor" if exchange else "down", step, low.threads) for v in parts)
        near: Value | None = None
        if not exchange:
            behind = b.one("add", (b.one("remainder", (low.lane, b.const(WARP)), int32), b.const(step)), int32)
            after = b.one("add", (low.lane, b.const(step)), int32)
            near = b.one(
                "and_",
                (b.one("lt", (behind, b.const(WARP)), bool_), b.one("lt", (after, b.const(active)), bool_)),
                bool_,
            )
        mine = parts
        parts = either(b, near, lambda: combine(b, block, mine, other), lambda: mine)  # noqa: B023
        step //= 2
    return parts


def _through_shared(low: Lowering, block: Block, parts: Parts, warps: int) -> Parts:
    """Combine the results of the warps through shared memory; every thread does so, in the same order."""
    b = low.builder
    regions = [low.scratch(v.type, warps, "a reduction's parts, one per warp") for v in parts]  # type: ignore[arg-type]
    low.touch(*(Use(r, "write", ANY) for r in regions))
    own = b.one("quotient", (low.lane, b.const(WARP)), int32)
    first = b.one("eq", (b.one("remainder", (low.lane, b.const(WARP)), int32), b.const(0)), bool_)
    # Warps without an element have nothing to share, and no room in the regions.
    if warps < -(-low.threads // WARP):
        first = b.one("and_", (first, b.one("lt", (own, b.const(warps)), bool_)), bool_)

    def share() -> None:
        for region, value in zip(regions, parts, strict=True):
            b.slot_write(region.slots, own, value)

    when(b, first, share)
    low.touch(*(Use(r, "read", ANY) for r in regions))
    total = tuple(b.slot_read(r.slots, b.const(0)) for r in regions)
    # Every thread adds up all parts in the same order: the result has the same bits in all of them, and no second
    # barrier is needed to hand it out.
    for warp in range(1, warps):
        total = combine(b, block, total, tuple(b.slot_read(r.slots, b.const(warp)) for r in regions))
    return total


def _reduce_axis(low: Lowering, op: Op) -> None:
    """Lower a reduction along an axis: a team of neighbouring threads for each element of the result."""
    b, (tile,), (block,), axis = low.builder, op.operands, op.blocks, op.attrs[AXIS]
    shape, result = shape_of(tile), shape_of(op.result)
    source, target = low.in_shared(tile), low.in_shared(op.result)
    rows, length = math.prod(result), shape[axis]
    # A team stays within a warp, for shuffles; beyond length / 4 its threads would have too little to do.
    team = 1
    while team < WARP and rows * team * 2 <= low.threads and team * 4 <= length:
        team *= 2
    low.touch(*source.uses("read", ANY), *target.uses("write", ANY))
    layout = Striped(rows, low.threads // team)
    lane = low.lane if team == 1 else b.one("quotient", (low.lane, b.const(team)), int32)
    first = b.const(0) if team == 1 else b.one("remainder", (low.lane, b.const(team)), int32)

    def element(here: Element, at: Value) -> Parts:
        indices = [here.index(k) for k in range(len(result))]
        member = Element(b, shape, None, None, (*indices[:axis], at, *indices[axis:]))
        return _started(low, op, source.read(b, member), lambda: at)

    def row(here: Element) -> None:
        start = element(here, first)
        index = Value(int32, "k")
        carried = tuple(Value(v.type, "") for v in start)
        with b.block((index, *carried)) as scope:
            b.yield_(*combine(b, block, carried, element(here, index)))
        begin = b.one("add", (first, b.const(team)), int32) if team > 1 else b.const(1)
        parts = b.for_(begin, b.const(length), b.const(team), start, scope.block, {PLAIN: True})
        step = team // 2
        while step:
            other = tuple(shuffled(b, v, "xor", step, low.threads) for v in parts)
            parts = combine(b, block, parts, other)
            step //= 2
        alone = b.one("eq", (first, b.const(0)), bool_) if team > 1 else None
        inside = _row_inside(low, rows, team)
        alone = inside if alone is None else alone if inside is None else b.one("and_", (alone, inside), bool_)
        when(b, alone, lambda: _finish(low, op, parts, lambda v: target.write(b, here, v)))

    if team == 1:
        layout.each(b, lane, result, row, registers=False)
        return
    # All threads of a warp shuffle, so those without a row go along with the last one.
    clamped = b.one("where", (b.one("lt", (lane, b.const(rows)), bool_), lane, b.const(rows - 1)), int32)
    row(Element(b, result, None, clamped))


def _row_inside(low: Lowering, rows: int, team: int) -> Value | None:
    """Emit the test that the thread's team has a row; return None if teams have one thread or fill the block."""
    b = low.builder
    if team == 1 or rows * team == low.threads:
        return None
    return b.one("lt", (low.lane, b.const(rows * team)), bool_)


def tile_scan(low: Lowering, op: Op) -> None:
    """Lower a scan along the last axis, in steps of twice the distance (Hillis and Steele, 1986), all rows at once."""
    b, (tile,), (block,) = low.builder, op.operands, op.blocks
    shape, dtype = shape_of(tile), block.params[0].type
    layout, _ = low.layout(tile, op.result)
    scratch = low.scratch(dtype, math.prod(shape), "the partial results of a scan")  # type: ignore[arg-type]
    # Each thread keeps its running values in registers and publishes them in shared memory after each step.
    held = b.slots(dtype, layout.registers)  # type: ignore[arg-type]
    own = InShared(scratch, row_major(shape))
    low.touch(*low.uses("read", layout, tile), *own.uses("write", layout.who))
    source, sums = low.location_of(tile), InRegisters(held, layout)

    def begin(here: Element) -> None:
        value = b.cast(source.read(b, here), dtype)
        sums.write(b, here, value)
        own.write(b, here, value)

    layout.each(b, low.lane, shape, begin)
    step = 1
    while step < shape[-1]:
        _scan_step(low, block, shape, sums, scratch, step)
        step *= 2
    low.touch(*([Use(scratch, "read", ANY)] if op.attrs[EXCLUSIVE] else []), *low.uses("write", layout, op.result))
    neutral = identity(op.attrs[KIND], dtype)  # type: ignore[arg-type]
    target, type = low.location_of(op.result), dtype_of(op.result)

    def end(here: Element) -> None:
        if not op.attrs[EXCLUSIVE]:
            target.write(b, here, b.cast(sums.read(b, here), type))
            return
        # Exclusive is inclusive, moved by one; only the first of a row needs a neutral element.
        (value,) = _before(b, here, scratch, 1, (b.const(neutral, dtype),))
        target.write(b, here, b.cast(value, type))

    layout.each(b, low.lane, shape, end)


def _scan_step(
    low: Lowering, block: Block, shape: Sequence[int], sums: InRegisters, scratch: Region, step: int
) -> None:
    """Emit one step of a scan: combine each element with that `step` before it in its row, and publish the results.

    `sums` are the running values in registers, `scratch` their copy in shared memory.
    """
    b = low.builder
    # Read everything before anything is written: a step uses the neighbours' values of the step before.
    low.touch(Use(scratch, "read", ANY))

    def look(here: Element) -> None:
        mine = (sums.read(b, here),)
        near = b.one("ge", (here.index(len(shape) - 1), b.const(step)), bool_)

        def both() -> Parts:
            at = b.one("sub", (here.linear, b.const(step)), int32)
            return combine(b, block, (b.slot_read(scratch.slots, at),), mine)

        sums.write(b, here, either(b, near, both, lambda: mine)[0])

    sums.layout.each(b, low.lane, tuple(shape), look)
    low.touch(Use(scratch, "write", sums.layout.who))
    sums.layout.each(b, low.lane, tuple(shape), lambda e: b.slot_write(scratch.slots, e.linear, sums.read(b, e)))


def _before(b: Builder, here: Element, scratch: Region, step: int, default: Parts) -> Parts:
    """Emit the read of the element `step` before this one in its row; return `default` for the first ones."""
    near = b.one("ge", (here.index(len(here.shape) - 1), b.const(step)), bool_)

    def neighbour() -> Parts:
        return (b.slot_read(scratch.slots, b.one("sub", (here.linear, b.const(step)), int32)),)

    return either(b, near, neighbour, lambda: default)
