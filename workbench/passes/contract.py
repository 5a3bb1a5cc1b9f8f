"""`a * b + c` as one operation that rounds once: what `fma=True` asks for.

One rule for all backends, so that their bits stay equal: a product of floats of 32 or 64 bits, or of vectors of them,
that is used once, by a sum or a difference, becomes part of it. Where both sides are such products, the left one does.
`a * b - c` and `c - a * b` change a sign, which is exact. It runs after differentiation, on the code that is compiled.
Builtins of whole vectors (`dot`, `length`, products of matrices) are written out first, where no backend has its own
form of them. What other builtins (`noise`) compute inside is not contracted, nor are 16-bit floats or atomic additions.
"""

from __future__ import annotations

from collections import Counter

from workbench.builtins import TABLE, Builtin
from workbench.deep import deep
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Function, Op, Value, walk
from workbench.passes.expand import expand
from workbench.types import Scalar, Vector, element, is_float, is_half


@deep
def contract(function: Function) -> Function:
    """Return the function with products contracted into sums; they are left for `prune`."""
    function = _written_out(function)
    uses = Counter(v for op in walk(function.body) for v in op.operands)
    products = {op.result: op for op in walk(function.body) if op.name == "mul" and uses[op.result] == 1}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        factor = _place(op, products)
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
    """Return the function with builtins of vectors in terms of their components.

    Not with 16-bit floats, which such a builtin rounds once, nor where CUDA text stands for a func's body.
    """
    ops = list(walk(function.body))
    if any(op.name == "custom" or any(is_half(v.type) for v in (*op.operands, *op.results)) for op in ops):
        return function
    if all(_is_whole(TABLE[op.name]) for op in ops if op.name in TABLE):
        return function
    return expand(function, _is_whole, keep_vector_operators=True)


def _is_whole(builtin: Builtin) -> bool:
    return builtin.elementwise or builtin.expand is None or builtin.cuda is not None or builtin.llvm is not None


def _place(op: Op, products: dict[Value, Op]) -> int | None:
    """Return the index of the operand of a sum that is a product to be contracted; None if neither is."""
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
    return Op("neg", (value,), (Value(value.type, ""),), {}, (), op.location)
