"""Which numbers a type can hold.

One rule for literals, constants, arguments, fills and data: a number that does not fit its type is refused, never
another number. Infinity fits every float where it is given as such.
"""

from __future__ import annotations

import math
from typing import Any

from workbench.types import Kind, Scalar

# From here on a number rounds to infinity: the largest one and half a step.
INFINITE_FROM = {
    "float16": 65520.0,
    "bfloat16": 3.3961775292304957e38,
    "float32": 3.4028235677973366e38,
    "float64": 2**1024 - 2**970,
}


def fits(number: Any, type: Scalar) -> bool:
    """Whether a number can be one of this type: not beyond an integer's range, nor infinite by rounding."""
    number = number if isinstance(number, int) else float(number)
    if type.kind is Kind.FLOAT:
        return not INFINITE_FROM[type.name] <= abs(number) < math.inf
    low = 0 if type.kind is Kind.UINT else -(2 ** (type.bits - 1))
    return type.kind is Kind.BOOL or low <= number < low + 2**type.bits


def misfit(number: Any, type: Scalar, what: str = "") -> str:
    """The sentence about a number that does not fit `what`, of this type, or the type itself; without its full stop."""
    shown = str(number) if len(str(number)) <= 40 else f"{str(number)[:20]}…"
    return f"{shown} does not fit {what}, which is {type!r}" if what else f"{shown} does not fit {type!r}"
