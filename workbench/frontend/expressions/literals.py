"""Builtins of literals alone: they stay literals, so that `x * sqrt(2.0)` has all the digits that x can hold.

Computed by Python in double precision, as operators on literals are. What is not finite there is left to the
kernel, and so is all that rounds to integers, whose ties are the language's own.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any

from workbench.builtins import Builtin
from workbench.frontend.state.operands import Literal, Operand

PYTHON: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in (
        "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
        "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "radians", "degrees", "pow", "erf", "erfc",
    )},
    "abs": abs, "min": min, "max": max,
}  # fmt: skip
COMPLEX: dict[str, Callable[..., Any]] = {
    "abs": abs, **{n: getattr(cmath, n) for n in ("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "tanh")}
}  # fmt: skip


def folded(builtin: Builtin, operands: Sequence[Operand]) -> Literal | None:
    """What the builtin returns for literals, at least one of them a float; None if the kernel is to compute it."""
    numbers = [o.value for o in operands if isinstance(o, Literal)]
    if len(numbers) == len(operands) == 1 and isinstance(numbers[0], complex):
        return _of_complex(builtin.name, numbers[0])
    if builtin.name not in PYTHON or len(numbers) != len(operands) or not any(isinstance(n, float) for n in numbers):
        return None
    if builtin.name not in ("min", "max") and len(numbers) != len(builtin.params):
        return None  # the rule says how many it takes; Python's log takes a base
    try:
        if not all(map(math.isfinite, numbers)):
            return None
        result = PYTHON[builtin.name](*numbers)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return Literal(float(result)) if math.isfinite(result) else None


def _of_complex(name: str, number: complex) -> Literal | None:
    try:
        result = COMPLEX[name](number) if name in COMPLEX else cmath.nan
    except (ArithmeticError, ValueError):
        return None
    return Literal(result) if cmath.isfinite(result) else None
