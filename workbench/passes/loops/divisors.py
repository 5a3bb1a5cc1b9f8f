"""Division of integers by what is the same in all threads: `i // w` and `i % n`, where n is a parameter or a size.

No CPU divides vectors of integers. By a number that is known before the loops a quotient is a product with its
reciprocal, and a remainder what is left: no division per thread, and threads go side by side. Literal divisors are left
to the compiler, which knows more of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir.analysis import Analysis
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Function, Op, Value
from workbench.types import int32, uint32

DIVISIONS = frozenset({"floordiv", "mod"})
TYPES = frozenset({int32, uint32})
"""Types of which a float64 holds each number, and the quotient of any two well within the distance of two quotients."""


def uniform_divisors(function: Function) -> Function:
    """Return the function with integer `//` and `%` by what is the same in all threads as `floor_quotient`s.

    It is the function itself if it has none. Divisions by literals, and of what is the same in all threads too, stay.
    """
    if function.body.op_names.isdisjoint(DIVISIONS):
        return function
    analysis = Analysis(function)

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if not divides(op) or _is_literal(op, analysis.defs):
            return None
        x, divisor = op.operands
        return as_product(op) if analysis.uniform(divisor) and not analysis.uniform(x) else None

    return rewrite(function, change)


def divides(op: Op) -> bool:
    """Return whether an operation is a `//` or `%` of int32 or uint32, which can be written as a product."""
    return op.name in DIVISIONS and op.result.type in TYPES


def _is_literal(op: Op, defining: Mapping[Value, Op]) -> bool:
    """Return whether the divisor of a division is a constant."""
    divisor = defining.get(op.operands[1])
    return divisor is not None and divisor.name == "const"


def as_product(op: Op) -> tuple[Op, ...]:
    """Return the operations that replace a `//` or `%`: a `floor_quotient`.

    For a remainder, a product and a difference follow.
    """
    x, divisor = op.operands
    if op.name == "floordiv":
        return (Op("floor_quotient", op.operands, op.results, {}, (), op.location),)
    quotient, product = Value(op.result.type), Value(op.result.type)
    return (
        Op("floor_quotient", op.operands, (quotient,), {}, (), op.location),
        Op("mul", (quotient, divisor), (product,), {}, (), op.location),
        Op("sub", (x, product), op.results, {}, (), op.location),
    )
