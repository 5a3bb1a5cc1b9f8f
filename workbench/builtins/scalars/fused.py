"""x * y + z, rounded once: what `passes/contract.py` makes of a product that is added to something.

It is hidden: kernels are written with `*` and `+`, and `fma=True` contracts them.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import builtin
from workbench.builtins.declaration.rules import floats
from workbench.builtins.scalars.operators import PAIR

_FORMATS = {np.float32: (24, -149), np.float64: (53, -1074)}
"""Bits of the mantissa, and the exponent of the least number."""


@builtin(floats(3), hidden=True, cuda="fma*", llvm="llvm.fma", domain=(*PAIR, PAIR[0]))
def fma(x, y, z):
    """x * y + z, rounded once."""
    # Infinities, NaN and zeros: either the product is exact, or it does not count.
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        return x * y + z if np.isfinite(z) or not (np.isfinite(x) and np.isfinite(y)) else z
    if x == 0 or y == 0:
        return x * y + z
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    return _rounded(exact, type(x))


def _rounded(exact: Fraction, dtype: Any) -> Any:
    """Return the nearest number of the type, even at a tie; `exact` has a power of 2 as its denominator."""
    bits, least = _FORMATS[dtype]
    digits, exponent = abs(exact.numerator), 1 - exact.denominator.bit_length()
    dropped = max(digits.bit_length() - bits, least - exponent, 0)
    rounded, rest = digits >> dropped, digits & ((1 << dropped) - 1)
    half = (1 << dropped) >> 1
    rounded += int(rest > half or (rest == half and dropped > 0 and rounded % 2 == 1))
    try:
        size = dtype(math.ldexp(rounded, exponent + dropped))
    except OverflowError:
        size = dtype(np.inf)
    return -size if exact < 0 else size


fma.adjoint(lambda ct, result, x, y, z: (ct * y, ct * x, ct), whole=True)
