"""The inverses of the error function and of its complement.

A first value from Giles' single-precision polynomials ("Approximating the erfinv function", GPU Computing Gems Jade
Edition, 2011); for float64, Halley's steps on erf, or on erfc near ±1, follow.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import builtin
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.declaration.rules import same_float
from workbench.builtins.scalars.extrema import fabs
from workbench.builtins.scalars.extrema import min as smaller
from workbench.builtins.scalars.maths import UNIT, copysign, erf, erfc, exp, log, sqrt
from workbench.builtins.scalars.operators import where
from workbench.types import element, float32

_CENTRE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip
_STEPS = 3
_FAR = 15.0


def _polynomial(coefficients: Sequence[float], w: Any) -> Any:
    """Return the polynomial at w, by Horner's rule; the coefficient of the highest power is the first."""
    total = w * coefficients[0] + coefficients[1]
    for c in coefficients[2:]:
        total = total * w + c
    return total


def _far(w: Any, log: Callable[..., Any], sqrt: Callable[..., Any]) -> Any:
    """Return a first value of erfinv(x) where 1 - x² = exp(-w) is tiny, from erfc(y) ~ exp(-y²) / (y √π)."""
    return sqrt(w - log(w * (math.pi / 4)) * 0.5)


def _refined(a: Any, rest: Any, y: Any, erf: Callable[..., Any], erfc: Callable[..., Any], exp: Callable[..., Any],
             choose: Callable[..., Any]) -> Any:  # fmt: skip
    """Improve y by Halley's steps towards erf(y) = a, for 0 ≤ a < 1, and return it; `rest` is 1 - a."""
    for _ in range(_STEPS):
        error = choose(a < 0.5, erf(y) - a, rest - erfc(y)) / (exp(-y * y) * (2 / math.sqrt(math.pi)))
        y = y - error / (y * error + 1.0)
    return y


@builtin(same_float, domain=(UNIT,), ulp=8, wide=True)
def erfinv(x):
    """Return the y with erf(y) = x; infinite at ±1, NaN beyond."""
    a = float(np.abs(x))
    if not a < 1:
        return np.copysign(np.inf, x) if a == 1 else np.nan
    w = -math.log((1 - a) * (1 + a))
    start = a * (_polynomial(_CENTRE, w - 2.5) if w < 5 else _polynomial(_TAIL, math.sqrt(w) - 3))
    start = start if w < _FAR else _far(w, math.log, math.sqrt)
    y = _refined(a, 1.0 - a, start, math.erf, math.erfc, math.exp, lambda test, one, two: one if test else two)
    return np.copysign(y, x)


@erfinv.expansion
def _(x):
    """Emit `erfinv(x)` by other builtins, and return its result."""
    a = fabs(x)
    w = -log((1.0 - a) * (1.0 + a))
    y = where(w < 5.0, _polynomial(_CENTRE, w - 2.5), _polynomial(_TAIL, sqrt(w) - 3.0)) * a
    if element(x.type) != float32:
        y = where(w < _FAR, y, _far(w, log, sqrt))
        y = _refined(a, 1.0 - a, y, erf, erfc, exp, where)
    return copysign(where(a.equals(1), x.like(math.inf), y), x)


erfinv.adjoint(lambda ct, result, x: (ct * exp(result * result) * (math.sqrt(math.pi) / 2),))


@builtin(same_float, domain=((0.02, 1.98),), ulp=16, wide=True)
def erfcinv(x):
    """The y with erfc(y) = x; infinite at 0 and 2, NaN outside. Near 0 it keeps the digits that erfinv(1 - x) loses."""
    rest = float(np.minimum(x, 2 - x))
    if not rest > 0:
        return np.copysign(np.inf, 1 - x) if rest == 0 else np.nan
    w, a = -math.log(rest * (2 - rest)), 1 - rest
    start = a * (_polynomial(_CENTRE, w - 2.5) if w < 5 else _polynomial(_TAIL, math.sqrt(w) - 3))
    start = start if w < _FAR else _far(w, math.log, math.sqrt)
    y = _refined(a, rest, start, math.erf, math.erfc, math.exp, lambda test, one, two: one if test else two)
    return np.copysign(y, 1 - x)


def _below_normal(w: Ref) -> Ref:
    """Return the y with erfc(y) = x for an x below what float32 holds in full; there Halley's steps have no digits.

    By erfc(y) ~ exp(-y²) (1 - a + 3 a²) / (y √π), with a = 1 / (2 y²); `w` is -log(x (2 - x)).
    """
    y = _far(w, log, sqrt)
    for _ in range(_STEPS):
        a = 0.5 / (y * y)
        y = sqrt(w + math.log(2) - log(y * math.sqrt(math.pi)) + log((a * 3.0 - 1.0) * a + 1.0))
    return y


@erfcinv.expansion
def _(x):
    """Emit `erfcinv(x)` by other builtins, and return its result."""
    rest = smaller(x, 2.0 - x)
    a = 1.0 - rest
    w = -log(rest * (2.0 - rest))
    y = where(w < 5.0, _polynomial(_CENTRE, w - 2.5), _polynomial(_TAIL, sqrt(w) - 3.0)) * a
    y = _refined(a, rest, where(w < _FAR, y, _far(w, log, sqrt)), erf, erfc, exp, where)
    if element(x.type) == float32:
        y = where(rest < 2e-38, _below_normal(w), y)
    return copysign(where(rest.equals(0), x.like(math.inf), y), 1.0 - x)


erfcinv.adjoint(lambda ct, result, x: (ct * exp(result * result) * (-math.sqrt(math.pi) / 2),))
