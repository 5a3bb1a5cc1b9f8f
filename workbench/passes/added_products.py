"""`acc + tile_matmul(a, b)` as `tile_matmul(a, b, acc)`: a product that is only added to a tile is added as it is made.

So `acc += tile_matmul(a, b)` in a loop keeps its sums where the product has them, and its adjoint keeps no states, as
with the accumulator. It runs right after lowering, so it means the same everywhere: a product of 16-bit tiles that is
added to one of float32 is not rounded to 16 bits in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from workbench.deep import deep
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.tiles import Tile
from workbench.types import element, float32


@deep
def added_products(function: Function) -> Function:
    """Return the function with such sums as products with an accumulator; the products alone are left for `dce`."""
    uses = Counter([v for op in walk(function.body) for v in op.operands])
    # Only within a block: a product in front of a loop is not made again in each turn.
    products = {
        op.result: op
        for block in _blocks(function.body)
        for op in block.ops
        if op.name == "tile_matmul"
        and len(op.operands) == 2
        and uses[op.result] == 1
        and any(op.result in other.operands for other in block.ops)
    }

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name != "tile_map" or len(op.operands) != 2:
            return None
        for product, other in (op.operands, op.operands[::-1]):
            if product in products and _is_sum(op, product, other):
                produced = products[product]
                operands = (*(on.mapping.get(v, v) for v in produced.operands), other)
                return (produced.replace(operands, results=op.results),)
        return None

    return rewrite(function, change) if products else function


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        for inner in op.blocks:
            yield from _blocks(inner)


def _is_sum(op: Op, product: Value, other: Value) -> bool:
    """Return whether an operation adds a product to another tile of the result's type, or of float32 if it is of 16
    bits."""
    product_type, added, block = product.type, other.type, op.blocks[0]
    if len(op.results) != 1 or added != op.result.type:
        return False
    assert isinstance(product_type, Tile) and isinstance(added, Tile)
    term, rest = block.params[-2:] if product is op.operands[0] else block.params[:-3:-1]
    if len(block.ops) < 2:
        return False
    *casts, total, end = block.ops
    if casts and (len(casts) > 1 or casts[0].name != "cast" or casts[0].operands != (term,)):
        return False
    if casts and not (element(product_type.dtype).is_half and added.dtype == float32):
        return False
    if not casts and product_type.dtype != added.dtype:
        return False
    term = casts[0].result if casts else term
    return total.name == "add" and {*total.operands} == {term, rest} and end.operands == (total.result,)
