"""Products that are only added, as one operation with the sum.

`a * b + c` rounds once: what `fma=True` asks for. One rule for all backends, so that their bits stay equal: a product
of floats of 32 or 64 bits, or of vectors of them, that is used once, by a sum or a difference, becomes part of it.
Where both sides are such products, the left one does. `a * b - c` and `c - a * b` change a sign, which is exact. It
runs after differentiation, on the code that is compiled. Builtins of whole vectors (`dot`, `length`, products of
matrices) are written out first, where no backend has its own form of them. What other builtins (`noise`) compute inside
is not contracted, nor are 16-bit floats or atomic additions.

`acc + tile_matmul(a, b)` is `tile_matmul(a, b, acc)`, always: `acc += tile_matmul(a, b)` in a loop keeps its sums where
the product has them, and its adjoint keeps no states, as with the accumulator. That runs right after lowering, so it
means the same everywhere: a product of 16-bit tiles that is added to one of float32 is not rounded to 16 bits in
between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from workbench.builtins import TABLE, Builtin
from workbench.deep import with_deep_stack
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.passes.expand import expand
from workbench.tiles import Tile
from workbench.types import Scalar, Vector, element, float32, is_float, is_half


@with_deep_stack
def contract(function: Function) -> Function:
    """Return the function with products contracted into sums as `fma`; the unused products are left for `prune`."""
    function = _written_out(function)
    uses = Counter(v for op in walk(function.body) for v in op.operands)
    products = {op.result: op for op in walk(function.body) if op.name == "mul" and uses[op.result] == 1}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        factor = _summand(op, products)
        if factor is None:
            return None
        (x, y), other = products[op.operands[factor]].operands, op.operands[1 - factor]
        signs: list[Op] = []
        if op.name == "sub" and factor:
            signs = [_negative(x, op)]
            x = signs[0].result
        elif op.name == "sub":
            signs = [_negative(other, op)]
            other = signs[0].result
        operands = tuple(on.mapping.get(v, v) for v in (x, y, other))
        return (*signs, Op("fma", operands, op.results, {}, (), op.location))

    return rewrite(function, change) if products else function


def _written_out(function: Function) -> Function:
    """Return the function with builtins of vectors expressed by their components.

    It is left as it is with 16-bit floats, which such a builtin rounds once, and with a `custom`.
    """
    ops = list(walk(function.body))
    if any(op.name == "custom" or any(is_half(v.type) for v in (*op.operands, *op.results)) for op in ops):
        return function
    if all(_is_whole(TABLE[op.name]) for op in ops if op.name in TABLE):
        return function
    return expand(function, _is_whole, keep_vector_operators=True)


def _is_whole(builtin: Builtin) -> bool:
    """Return whether a builtin is not written out: it is elementwise, native to a backend, or has no expansion."""
    return builtin.elementwise or builtin.expand is None or builtin.cuda is not None or builtin.llvm is not None


def _summand(op: Op, products: dict[Value, Op]) -> int | None:
    """Return the position of the operand of a sum or difference that is a product to be contracted; None if neither is.

    Both have to be of one type, of floats of 32 or 64 bits.
    """
    if op.name not in ("add", "sub"):
        return None
    type = op.result.type
    if not isinstance(type, (Scalar, Vector)) or not is_float(type) or element(type).bits < 32:
        return None
    for number, value in enumerate(op.operands):
        definition = products.get(value)
        if definition is not None and all(v.type == type for v in (*definition.operands, *op.operands)):
            return number
    return None


def _negative(value: Value, op: Op) -> Op:
    """Return an operation, at the location of `op`, whose new result is the negated value."""
    return Op("neg", (value,), (Value(value.type, ""),), {}, (), op.location)


@with_deep_stack
def added_products(function: Function) -> Function:
    """Return the function with `tile + tile_matmul(a, b)` as products with an accumulator.

    The products alone, which are then unused, are left for `prune`.
    """
    if "tile_matmul" not in function.body.op_names:
        return function
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
    """Yield a block and all blocks nested in it, outer ones first."""
    yield block
    for op in block.ops:
        for inner in op.blocks:
            yield from _blocks(inner)


def _is_sum(op: Op, product: Value, other: Value) -> bool:
    """Return whether a map adds a product of tiles to another tile, which has the type of the result.

    The product has that type too; or it is of 16 bits, and the other one of float32.
    """
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
