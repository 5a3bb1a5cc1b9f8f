"""Operations on tiles backwards, each by operations on tiles.

A map's adjoint is a map over its operands and the cotangents of its results whose block is the reverse of the block;
what it uses from outside gets the sum over the elements. A product's two adjoint products say which they are (`role`)
and stand only where their operand has a gradient: that is what link-time products are counted by.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.autodiff.analysis.activity import touches_floats
from workbench.autodiff.reverse.emitter import Cotangent, Cotangents, Piece, settled, zero
from workbench.autodiff.reverse.sweep import EffectRule, ReverseSweep, ValueRule
from workbench.builtins import Ref
from workbench.ir.ops import AXES, AXIS, BOUNDS, EXCLUSIVE, KIND, PRECISION, SHAPE, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.tiles import tile_of, without
from workbench.ir.values import Op, Value, array_of
from workbench.tiles import Tile, contents
from workbench.types import Scalar, Type, Vector, float32, int32


def _plain(sweep: ReverseSweep, cotangent: Cotangent) -> Value:
    """Return the cotangent as one tile, with 0 where the value was not used."""
    return settled(cotangent.full()).ref.value


def _one(
    sweep: ReverseSweep, name: str, operands: Sequence[Value], type: Type, attrs: dict[str, object] | None = None
) -> Value:
    """Emit an operation of the adjoint with one result, and return that."""
    return sweep.builder.one(name, operands, type, attrs)


def _give(sweep: ReverseSweep, cotangents: Cotangents, value: Value, contribution: Value) -> None:
    """Add a contribution to the cotangent of a whole value."""
    cotangents.add(value, Piece(sweep.builder.ref(contribution)))


# Memory.


def _mirror(sweep: ReverseSweep, op: Op) -> tuple[Value, list[Value], dict[str, object]]:
    """Return the adjoint array, the offsets and the attributes with which to mirror a tile's access to an array."""
    array = op.operands[0]
    offsets = [sweep.env[v] for v in op.operands[1 : 1 + array_of(array).ndim]]
    return sweep.adjoints[array], offsets, {BOUNDS: op.attrs[BOUNDS], AXES: op.attrs[AXES]}


def load(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Emit a tile's load backwards: add the cotangent to the adjoint array, atomically."""
    array, offsets, attrs = _mirror(sweep, op)
    seed = _plain(sweep, cotangent)
    type = Tile(tile_of(op.result).dtype, tile_of(op.result).shape)
    sweep.builder.emit("tile_atomic_add", (array, *offsets, seed), (type,), attrs)


def store(sweep: ReverseSweep, op: Op, cotangents: Cotangents) -> None:
    """Emit a tile's store backwards: add its elements' adjoints to the stored tile's cotangent, then set them to 0.

    It does nothing for an array without an adjoint.
    """
    value = op.operands[-1]
    if op.operands[0] not in sweep.adjoints:
        return
    added(sweep, op, cotangents)
    array, offsets, attrs = _mirror(sweep, op)
    nothing = zero(sweep.builder, tile_of(value)).value
    sweep.builder.emit("tile_store", (array, *offsets, nothing), (), attrs)


def added(sweep: ReverseSweep, op: Op, cotangents: Cotangents) -> None:
    """Emit a tile's addition to an array backwards: add its elements' adjoints to the tile's cotangent.

    Raises:
        NotDifferentiable: the old elements that the addition returns have a derivative.
    """
    if op.results and op.result in sweep.active:
        raise sweep.not_differentiable(
            "The old elements that tile_atomic_add returns are used here in a way that has no derivative yet.",
            op,
            "Use the array in a second kernel.",
        )
    value = op.operands[-1]
    if value in sweep.active:
        array, offsets, attrs = _mirror(sweep, op)
        type = tile_of(value)
        seed = _one(sweep, "tile_load", (array, *offsets), Tile(type.dtype, type.shape), {**attrs, SHAPE: type.shape})
        _give(sweep, cotangents, value, seed)


# Maps.


def mapped(sweep: ReverseSweep, op: Op, cotangents: Cotangents) -> None:
    """Emit a `tile_map` backwards: a map that runs the block backwards for each element.

    It does nothing where no cotangent reaches it and it changes no array of floats.
    """
    (block,) = op.blocks
    cotangent = {v: seed for v in op.results if (seed := cotangents.take(v)) is not None}
    if not cotangent and not touches_floats(block):
        return
    builder, shape = sweep.builder, op.attrs[SHAPE]
    seeds = {v: c.full() for v, c in cotangent.items()}
    extra: list[Value] = []
    for piece in seeds.values():
        extra.append(piece.ref.value)
        if piece.live is not None and isinstance(piece.live.type, Tile):
            extra.append(piece.live.value)
    params = block.params[len(shape) :]
    targets: list[tuple[Value, bool]] = []  # operands that get a cotangent, and whether with what says where it counts
    outer: list[Value] = []

    def body(indices: Sequence[Value], elements: Sequence[Value]) -> Sequence[Value]:
        sweep.env.update(zip(block.params, (*indices, *elements[: len(params)]), strict=True))
        rest = iter(elements[len(params) :])
        inner = sweep.new_cotangents()
        for result, piece in seeds.items():
            seed, live = builder.ref(next(rest)), piece.live
            if live is not None and isinstance(live.type, Tile):
                live = builder.ref(next(rest))
            inner.add(block.yielded[list(op.results).index(result)], Piece(seed, None, live))
        sweep.block(block, inner)
        builder.location = op.location
        inputs: list[Value] = []
        for operand, param in zip(op.operands, params, strict=True):
            piece = inner.take_full(param)
            if piece is not None:
                targets.append((operand, piece.live is not None))
                inputs += [piece.ref.value, *((piece.live.value,) if piece.live is not None else ())]
        for value, piece in inner.rest().items():
            outer.append(value)
            inputs.append(settled(piece).ref.value)
        return inputs

    results = iter(builder.tile_map(shape, [*(sweep.env[v] for v in op.operands), *extra], body))
    for operand, partly in targets:
        seed = builder.ref(next(results))
        cotangents.add(operand, Piece(seed, None, builder.ref(next(results)) if partly else None))
    for value, tile in zip(outer, results, strict=True):
        total = _one(sweep, "tile_reduce", (tile,), value.type, {KIND: "sum", AXIS: None})
        _give(sweep, cotangents, value, total)


# Parts and forms.


def extract(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the cotangent to the tile as one that is 0 but for the element."""
    tile, *indices = op.operands
    nothing = zero(sweep.builder, tile.type).value
    positions = [sweep.env[v] for v in indices]
    emitted = _one(sweep, "tile_insert", (nothing, *positions, cotangent.full().ref.value), tile.type)
    _give(sweep, cotangents, tile, emitted)


def insert(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the element's cotangent to the element, the rest to the tile."""
    tile, *indices, value = op.operands
    seed, positions = _plain(sweep, cotangent), [sweep.env[v] for v in indices]
    _give(sweep, cotangents, value, _one(sweep, "tile_extract", (seed, *positions), value.type))
    nothing = zero(sweep.builder, value.type).value
    _give(sweep, cotangents, tile, _one(sweep, "tile_insert", (seed, *positions, nothing), tile.type))


def sliced(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the cotangent to the tile as one that is 0 but for the part."""
    tile, *offsets = op.operands
    nothing, indices = zero(sweep.builder, tile.type).value, [sweep.env[v] for v in offsets]
    _give(sweep, cotangents, tile, _one(sweep, "tile_place", (nothing, *indices, _plain(sweep, cotangent)), tile.type))


def placed(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the part's cotangents to the part, the rest to the whole."""
    tile, *offsets, part = op.operands
    seed, indices = _plain(sweep, cotangent), [sweep.env[v] for v in offsets]
    piece = _one(sweep, "tile_slice", (seed, *indices), part.type, {SHAPE: tile_of(part).shape})
    _give(sweep, cotangents, part, piece)
    nothing = zero(sweep.builder, part.type).value
    _give(sweep, cotangents, tile, _one(sweep, "tile_place", (seed, *indices, nothing), tile.type))


def transposed(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the cotangent on, transposed back."""
    (tile,), axes = op.operands, op.attrs[AXES]
    back = tuple(axes.index(a) for a in range(len(axes)))
    emitted = _one(sweep, "tile_transpose", (_plain(sweep, cotangent),), _bare(tile), {AXES: back})
    _give(sweep, cotangents, tile, emitted)


def _bare(value: Value) -> Tile:
    """Return a tile's element type and shape as a tile type without its storage."""
    return Tile(tile_of(value).dtype, tile_of(value).shape)


def reshaped(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the cotangent on in the operand's shape."""
    (tile,) = op.operands
    _give(sweep, cotangents, tile, _reshape(sweep, _plain(sweep, cotangent), tile_of(tile).shape))


def _reshape(sweep: ReverseSweep, value: Value, shape: tuple[int, ...]) -> Value:
    """Emit a tile in this shape; return it unchanged if it has that."""
    if tile_of(value).shape == shape:
        return value
    return _one(sweep, "tile_reshape", (value,), Tile(tile_of(value).dtype, shape), {SHAPE: shape})


def broadcast(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the cotangent on, summed over the axes that were repeated."""
    (tile,) = op.operands
    small, large = tile_of(tile).shape, tile_of(op.result).shape
    extra = len(large) - len(small)
    total = _plain(sweep, cotangent)
    for axis in reversed(range(len(large))):
        if axis < extra or (small[axis - extra] == 1 and large[axis] != 1):
            total = _summed(sweep, total, axis)
    if not isinstance(total.type, Tile):
        (total,) = sweep.builder.tile_map((1,), (), lambda at, e, one=total: [one])
    _give(sweep, cotangents, tile, _reshape(sweep, total, small))


def _summed(sweep: ReverseSweep, value: Value, axis: int) -> Value:
    """Emit the sum of a tile over an axis: a tile without that axis, or of one dimension a number."""
    shape, dtype = tile_of(value).shape, tile_of(value).dtype
    type = Tile(dtype, without(shape, axis)) if len(shape) > 1 else dtype
    return _one(sweep, "tile_reduce", (value,), type, {KIND: "sum", AXIS: axis if len(shape) > 1 else None})


# Sums.


def reduced(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass the cotangent to every element of a sum; of a minimum or maximum, to the first that attains it.

    Raises:
        NotDifferentiable: the tile was reduced by a func.
    """
    (tile,), kind, axis = op.operands, op.attrs[KIND], op.attrs.get(AXIS)
    if kind == "func":
        raise sweep.not_differentiable(
            "tile_reduce() by a func has no derivative yet.", op, "Use tile_sum, tile_min or tile_max."
        )
    shape = tile_of(tile).shape
    seed = settled(cotangent.full()).ref.value
    spread = _spread(sweep, seed, shape, axis)
    if kind == "sum":
        _give(sweep, cotangents, tile, spread)
        return
    type = int32 if axis is None else Tile(int32, without(shape, axis))
    first = _one(sweep, "tile_reduce", (sweep.env[tile],), type, {KIND: f"arg{kind}", AXIS: axis})
    chosen = _spread(sweep, first, shape, axis)
    builder = sweep.builder

    def element_(at: Sequence[Value], parts: Sequence[Value]) -> Sequence[Value]:
        here = at[axis] if axis is not None else _linear(sweep, at, shape)
        is_it = builder.ref(here).equals(builder.ref(parts[1]))
        nothing = zero(builder, parts[0].type).value
        return [builder.one("where", (is_it.value, parts[0], nothing), parts[0].type)]

    (emitted,) = builder.tile_map(shape, (spread, chosen), element_)
    _give(sweep, cotangents, tile, emitted)


def _linear(sweep: ReverseSweep, at: Sequence[Value], shape: Sequence[int]) -> Value:
    """Emit the position of the element at these indices in a tile of this shape, counted row by row."""
    total: Ref = sweep.builder.ref(at[0])
    for index, size in zip(at[1:], shape[1:], strict=True):
        total = total * size + sweep.builder.ref(index)
    return total.value


def _spread(sweep: ReverseSweep, value: Value, shape: tuple[int, ...], axis: int | None) -> Value:
    """Return a tile of a shape that repeats a value along an axis; None: a number in all elements."""
    if axis is None:
        return sweep.builder.tile_map(shape, (), lambda at, e: [value])[0]
    rows = _reshape(sweep, value, (*shape[:axis], 1, *shape[axis + 1 :]))
    return _one(sweep, "tile_broadcast", (rows,), Tile(tile_of(value).dtype, shape), {SHAPE: shape})


def scanned(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Pass on, to each element, the sum of the cotangents of all results that it entered.

    Raises:
        NotDifferentiable: the scan is no sum.
    """
    (tile,) = op.operands
    if op.attrs[KIND] != "sum":
        raise sweep.not_differentiable(f"tile_scan() of kind {op.attrs[KIND]} has no derivative yet.", op)
    seed = _plain(sweep, cotangent)
    shape, last = tile_of(tile).shape, tile_of(tile).ndim - 1
    row_total = _spread(sweep, _summed(sweep, seed, last), shape, last if last else None)
    attrs: dict[str, object] = {KIND: "sum", EXCLUSIVE: not op.attrs[EXCLUSIVE]}
    before = _one(sweep, "tile_scan", (seed,), _bare(tile), attrs)
    cotangents.add(tile, Piece(sweep.builder.ref(row_total) - sweep.builder.ref(before)))


def matmul(sweep: ReverseSweep, op: Op, cotangent: Cotangent, cotangents: Cotangents) -> None:
    """Emit adjA = adjC · Bᵀ and adjB = Aᵀ · adjC, each only if it is needed; adjC itself goes to what was added to."""
    a, b, *acc = op.operands
    seed = _plain(sweep, cotangent)
    left, right = op.attrs[TRANSPOSE_A], op.attrs[TRANSPOSE_B]
    precision = {PRECISION: op.attrs[PRECISION]} if op.attrs.get(PRECISION) else {}
    # Both are widened before the first product: the threads of a block then meet once for both.
    wide = {v: _cast(sweep, sweep.env[v], contents(seed.type)) for v, of in ((a, b), (b, a)) if of in sweep.active}
    if a in sweep.active:
        pair = (wide[b], seed, right, True) if left else (seed, wide[b], False, not right)
        _product(sweep, a, pair, {"role": "adj_a", **precision}, cotangents)
    if b in sweep.active:
        pair = (seed, wide[a], True, left) if right else (wide[a], seed, not left, False)
        _product(sweep, b, pair, {"role": "adj_b", **precision}, cotangents)
    for value in acc:
        _give(sweep, cotangents, value, seed)


def _product(
    sweep: ReverseSweep,
    target: Value,
    pair: tuple[Value, Value, bool, bool],
    attributes: dict[str, object],
    cotangents: Cotangents,
) -> None:
    """Emit a product and add it to the cotangent of `target`; it is computed in the wider of both types.

    Args:
        sweep: the sweep.
        target: the tile whose cotangent it is.
        pair: the two tiles, and whether each is transposed.
        attributes: further ones of the operation.
        cotangents: receives it.
    """
    *operands, left, right = pair
    dtype = contents(pair[0].type)
    if dtype != tile_of(target).dtype:
        assert dtype == float32
        # TF32 holds every number of 16 bits, and rounds the cotangent to the 11 of float16, in the range of float32.
        attributes = {**attributes, PRECISION: "tf32"}
    type = Tile(dtype, tile_of(target).shape)
    attrs = {TRANSPOSE_A: left, TRANSPOSE_B: right, **attributes}
    emitted = _one(sweep, "tile_matmul", operands, type, attrs)
    _give(sweep, cotangents, target, _cast(sweep, emitted, tile_of(target).dtype))


def _cast(sweep: ReverseSweep, value: Value, dtype: Scalar | Vector) -> Value:
    """Emit a tile with its elements converted to another dtype."""
    return sweep.builder.ref(value).cast(Tile(dtype, tile_of(value).shape)).value


VALUES: dict[str, ValueRule] = {
    "tile_load": load,
    "tile_extract": extract,
    "tile_insert": insert,
    "tile_slice": sliced,
    "tile_place": placed,
    "tile_transpose": transposed,
    "tile_reshape": reshaped,
    "tile_broadcast": broadcast,
    "tile_reduce": reduced,
    "tile_scan": scanned,
    "tile_matmul": matmul,
}
EFFECTS: dict[str, EffectRule] = {
    "tile_map": mapped,
    "tile_store": store,
    "tile_atomic_add": added,
}
