"""Builtins of literals alone: they stay literals, so that `x * sqrt(2.0)` has all the digits that x can hold.

Computed by Python in double precision, as operators on literals are. What has no finite result there is left to the
kernel, and so is all that rounds to integers, whose ties are the language's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from workbench.frontend.operands import Literal, Operand

PYTHON: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in (
        "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
        "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "radians", "degrees", "pow", "erf", "erfc",
    )},
    "abs": abs, "min": min, "max": max,
}  # fmt: skip


def folded(name: str, operands: Sequence[Operand]) -> Literal | None:
    """What the builtin gives for literals, at least one of them a float; None where the kernel is to compute it."""
    numbers = [o.value for o in operands if isinstance(o, Literal)]
    if name not in PYTHON or len(numbers) != len(operands) or not any(isinstance(n, float) for n in numbers):
        return None
    try:
        result = PYTHON[name](*numbers)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return Literal(float(result)) if math.isfinite(result) else None
