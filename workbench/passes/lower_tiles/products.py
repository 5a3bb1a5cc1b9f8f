"""Products of tiles: one operation on buffers of float32 or float64, or on the arrays that their tiles lie in.

A product can read either operand transposed, so transposes of operands and results become attributes of the product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.ir.build import Rewriter, rewrite
from workbench.ir.ops import ACCUMULATE, AXES, BOUNDS, SHAPE, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.tiles import tile_of
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.passes.dce import prune
from workbench.passes.lower_tiles.lowering import Buffer, Handler, TileLowering
from workbench.passes.lower_tiles.memory import Region
from workbench.tiles import Tile
from workbench.types import Scalar, Vector, element, float32
from workbench.types import bool as bool_


def _matmul(on: TileLowering, op: Op) -> None:
    """Lower `tile_matmul` to a product into the result's slots, or one that adds to an array itself."""
    a, b, *rest = op.operands
    acc = rest[0] if rest else None
    m, n = tile_of(op.result).shape
    k = tile_of(a).shape[0 if op.attrs[TRANSPOSE_A] else 1]
    # Products of 16-bit floats add up in float32 (design/tiles.md).
    wide = float32 if element(tile_of(a).dtype).is_half else tile_of(a).dtype
    borrowed: list[Buffer] = []
    left = _widened(on, a, wide, borrowed)
    right = _widened(on, b, wide, borrowed)
    if op.attrs[TRANSPOSE_B]:
        right = _turned(on, right, wide, (n, k), borrowed)
    attrs: dict[str, object] = {SHAPE: (m, n, k), TRANSPOSE_A: op.attrs[TRANSPOSE_A]}
    if op.result in on.in_place.additions:
        _add(on, on.in_place.additions[op.result], (left, right), attrs)
    else:
        _multiply(on, op, acc, (left, right), wide, attrs, borrowed)
    for buffer in borrowed:
        on.give_back(buffer)


def _multiply(
    on: TileLowering, op: Op, acc: Value | None, pair: tuple[Value, Value], wide: Scalar | Vector,
    attrs: dict[str, object], borrowed: list[Buffer],
) -> None:  # fmt: skip
    """Lower a product to one that is written to the result's slots.

    Args:
        on: the lowering.
        op: the product.
        acc: the accumulator; None if there is none.
        pair: the slots or windows of the operands.
        wide: the type in which sums are computed.
        attrs: of the `slot_matmul`.
        borrowed: receives a buffer to be returned afterwards, if `wide` is not the result's type.
    """
    type, count = tile_of(op.result).dtype, tile_of(op.result).count
    start = on.slots_of(acc) if acc is not None else None
    # The product is written while its operands are still read.
    target = on.result(op, acc if acc not in op.operands[:2] else None)
    total = target
    if wide != type:
        borrowed.append(on.new(Tile(wide, (count,))))
        total = borrowed[-1].slots
    if start is not None and wide == type:
        on.copy(target, start, count)
    elif start is not None:
        on.nest((count,), lambda at: on.write(total, at[0], on.builder.cast(on.read(start, at[0]), wide)))
    on.builder.emit("slot_matmul", (total, *pair), (), {**attrs, ACCUMULATE: start is not None})
    if wide != type:
        on.nest((count,), lambda at: on.write(target, at[0], on.builder.cast(on.read(total, at[0]), type)))


def _add(on: TileLowering, addition: Op, pair: tuple[Value, Value], attrs: dict[str, object]) -> None:
    """Lower a product and the addition of it to an array; it goes through a buffer if a part of the tile is outside."""
    tile = tile_of(addition.operands[-1])
    buffer = on.new(tile)
    slots, region = buffer.slots, Region(on, addition, tile)
    inside = region.inside() if addition.attrs[BOUNDS] else on.builder.const(True, bool_)

    def clear() -> None:
        on.fill(slots, tile.count, on.zero(tile.dtype))

    def element(indices: Sequence[Value], at: Value) -> None:
        region.add(indices, on.read(slots, at))

    with on.seldom():
        on.when(inside, lambda: None, clear)
    operands = (region.array, *region.offsets, slots, inside, *pair)
    on.builder.emit("add_product", operands, (), {**attrs, AXES: addition.attrs[AXES]})
    with on.seldom():
        on.when(inside, lambda: None, lambda: region.clipped(element))
    on.give_back(buffer)


def _widened(on: TileLowering, tile: Value, wide: Scalar | Vector, borrowed: list[Buffer]) -> Value:
    """Return a tile's slots in the type in which a product is computed, or its window in an array.

    A copy in another type is in a buffer that `borrowed` receives.
    """
    if tile in on.windows:
        return on.windows[tile]
    source, type = on.slots_of(tile), tile_of(tile)
    if type.dtype == wide:
        return source
    borrowed.append(on.new(Tile(wide, (type.count,))))
    slots = borrowed[-1].slots
    on.nest((type.count,), lambda at: on.write(slots, at[0], on.builder.cast(on.read(source, at[0]), wide)))
    return slots


def _turned(
    on: TileLowering, source: Value, type: Scalar | Vector, shape: tuple[int, int], borrowed: list[Buffer]
) -> Value:
    """Emit the transposition of the matrix of this shape in the slots `source`; return the slots of the result.

    They are in a buffer that `borrowed` receives.
    """
    borrowed.append(on.new(Tile(type, shape)))
    on.turn(borrowed[-1].slots, source, shape)
    return borrowed[-1].slots


LOWER: dict[str, Handler] = {"tile_matmul": _matmul}


def turned(function: Function) -> Function:
    """Return the function with transposes of products' operands and results as attributes of the products.

    It is the function itself if it has no transposes of matrices.
    """
    operations = list(walk(function.body))
    if not any(_is_transpose(op) for op in operations):
        return function
    uses = Counter(v for op in operations for v in op.operands)
    products: dict[Value, Op] = {}
    for block in (function.body, *(b for op in operations for b in op.blocks)):
        products.update(_transposed_products(block, uses))
    others = (op for op in operations if _is_transpose(op) and op.operands[0] not in products)
    transposes = {op.result: op.operands[0] for op in others}

    def change(_: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if _is_transpose(op) and op.operands[0] in products:
            product = products[op.operands[0]]
            a, b = product.operands
            flags: dict[str, object] = {
                TRANSPOSE_A: not product.attrs[TRANSPOSE_B],
                TRANSPOSE_B: not product.attrs[TRANSPOSE_A],
            }
            op = product.replace((b, a), results=op.results, attrs={**product.attrs, **flags})
        elif op.name != "tile_matmul" or transposes.keys().isdisjoint(op.operands[:2]):
            return None
        return (_straight(op, transposes),)

    return prune(rewrite(function, change))


def _is_transpose(op: Op) -> bool:
    """Return whether an operation transposes a matrix."""
    return op.name == "tile_transpose" and op.attrs[AXES] == (1, 0)


def _transposed_products(block: Block, uses: Counter[Value]) -> dict[Value, Op]:
    """Return the products of a block, by result, whose only use is a transpose in that block."""
    products = {op.result: op for op in block.ops if op.name == "tile_matmul" and len(op.operands) == 2}
    wanted = [op.operands[0] for op in block.ops if _is_transpose(op)]
    return {v: products[v] for v in wanted if v in products and uses[v] == 1}


def _straight(op: Op, transposes: dict[Value, Value]) -> Op:
    """Return a product that reads the operands of transposes in place of their results."""
    attrs: dict[str, object] = {**op.attrs}
    operands = list(op.operands)
    for position, flag in enumerate((TRANSPOSE_A, TRANSPOSE_B)):
        while operands[position] in transposes:
            operands[position] = transposes[operands[position]]
            attrs[flag] = not attrs[flag]
    return op.replace(tuple(operands), attrs=attrs)
