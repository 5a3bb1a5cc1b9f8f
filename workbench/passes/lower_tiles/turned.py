"""Products of transposed tiles, and transposed products, without transposing: a product may read either way."""

from __future__ import annotations

from collections import Counter

from workbench.ir.attributes import AXES, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.passes.dce import prune


def turned(function: Function) -> Function:
    """Return the function with these transposes as attributes of its products; itself where it has none."""
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
    return op.name == "tile_transpose" and op.attrs[AXES] == (1, 0)


def _transposed_products(block: Block, uses: Counter[Value]) -> dict[Value, Op]:
    """Return the products of a block that are only needed transposed, in that block."""
    products = {op.result: op for op in block.ops if op.name == "tile_matmul" and len(op.operands) == 2}
    wanted = [op.operands[0] for op in block.ops if _is_transpose(op)]
    return {v: products[v] for v in wanted if v in products and uses[v] == 1}


def _straight(op: Op, transposes: dict[Value, Value]) -> Op:
    """Return a product that reads what its operands are transposes of."""
    attrs: dict[str, object] = {**op.attrs}
    operands = list(op.operands)
    for position, flag in enumerate((TRANSPOSE_A, TRANSPOSE_B)):
        while operands[position] in transposes:
            operands[position] = transposes[operands[position]]
            attrs[flag] = not attrs[flag]
    return op.replace(tuple(operands), attrs=attrs)
