"""A function that asserts what it writes: a NaN or an infinity that goes into an array is a fault of its thread.

Built with checks and run on copies, it says which thread of a launch writes the first one; the interpreter then follows
that thread (`api/watch`). A constant is what the user wrote: it may be infinite.
"""

from __future__ import annotations

from workbench.ir import attributes
from workbench.ir.build import Builder
from workbench.ir.ops import EFFECTS
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Function, Op, Value, walk
from workbench.types import Scalar, Vector, is_float
from workbench.types import bool as bool_

MESSAGE = "What is written here is finite."


def finite(function: Function) -> Function:
    """Return the function with an assert before every float that it writes to an array, except constants."""
    constants = {op.result for op in walk(function.body) if op.name == "const"}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name not in EFFECTS or (value := op.operands[-1]) in constants:
            return None
        return (*_assert(op, value), op) if isinstance(value.type, Scalar | Vector) and is_float(value.type) else None

    return rewrite(function, change)


def _assert(op: Op, value: Value) -> tuple[Op, ...]:
    """Return operations at the location of `op` that assert that a float, or each component of a vector, is finite."""
    builder = Builder()
    builder.location = op.location
    parts = [value]
    if isinstance(value.type, Vector):
        numbers = [builder.const(n) for n in range(value.type.length)]
        parts = [builder.one("extract", (value, n), value.type.dtype) for n in numbers]
    good, *rest = (builder.one("isfinite", (part,), bool_) for part in parts)
    for other in rest:
        good = builder.one("and_", (good, other), bool_)
    builder.emit("assert", (good,), (), {attributes.MESSAGE: MESSAGE})
    return builder.body().ops
