"""Division of integers by what is the same in all threads: `i // w` and `i % n`, where n is a parameter or a size.

No CPU divides vectors of integers. By a number that is known before the loops a quotient is a product with its
reciprocal, and a remainder what is left: no division per thread, and threads go side by side. Literal divisors are left
to the compiler, which knows more of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir.analysis import Analysis
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Function, Op, Value, definitions, walk
from workbench.types import int32, uint32

DIVISIONS = frozenset({"floordiv", "mod"})
TYPES = frozenset({int32, uint32})
"""A float64 holds each of their numbers, and the quotient of any two to well within the distance of two quotients."""


def same_divisors(function: Function) -> Function:
    """Return the function with such divisions as `floor_quotient`s; itself if there are none."""
    operations = list(walk(function.body))
    if not any(op.name in DIVISIONS for op in operations):
        return function
    analysis = Analysis(function)

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if not divides(op) or _is_literal(op, analysis.defs):
            return None
        x, divisor = op.operands
        return as_product(op) if analysis.uniform(divisor) and not analysis.uniform(x) else None

    return rewrite(function, change)


def size_last(function: Function) -> Function:
    """Return the function with `(j + n - 1) % n` as `(j - 1 + n) % n`, which shows an index without n (`interior`).

    Sums of integers wrap, so their order does not matter.
    """
    operations = list(walk(function.body))
    defining = definitions(function.body)

    def terms(value: Value, name: str = "add") -> list[tuple[str, Value]]:
        op = defining.get(value)
        if op is None or op.name not in ("add", "sub"):
            return [(name, value)]
        other = "sub" if (op.name == "sub") == (name == "add") else "add"
        return [*terms(op.operands[0], name), *terms(op.operands[1], other)]

    def change(_: Rewriter, op: Op) -> tuple[Op, ...] | None:
        result = defining.get(op.operands[0]) if op.name == "mod" and op.result.type == int32 else None
        if result is None or op.operands[1] in result.operands:
            return None
        parts, size = terms(op.operands[0]), ("add", op.operands[1])
        if size not in parts or parts[0][0] != "add" or parts[0] == size:
            return None
        parts.remove(size)
        ops: list[Op] = []
        total = parts[0][1]
        for name, value in [*parts[1:], size]:
            ops.append(Op(name, (total, value), (Value(int32),), {}, (), op.location))
            total = ops[-1].result
        return *ops, op.replace((total, op.operands[1]))

    return rewrite(function, change) if any(op.name == "mod" for op in operations) else function


def divides(op: Op) -> bool:
    """Return whether it is a division that can be written as a product."""
    return op.name in DIVISIONS and op.result.type in TYPES


def _is_literal(op: Op, defining: Mapping[Value, Op]) -> bool:
    divisor = defining.get(op.operands[1])
    return divisor is not None and divisor.name == "const"


def as_product(op: Op) -> tuple[Op, ...]:
    """Return the operations that stand for a division."""
    x, divisor = op.operands
    if op.name == "floordiv":
        return (Op("floor_quotient", op.operands, op.results, {}, (), op.location),)
    quotient, product = Value(op.result.type), Value(op.result.type)
    return (
        Op("floor_quotient", op.operands, (quotient,), {}, (), op.location),
        Op("mul", (quotient, divisor), (product,), {}, (), op.location),
        Op("sub", (x, product), op.results, {}, (), op.location),
    )
