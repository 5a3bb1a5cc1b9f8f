"""Smaller, larger, magnitude, sign, and what is made of them. At ties the gradients are JAX's."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

import numpy as np

from workbench.builtins.declaration.declare import builtin
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.declaration.rules import floats, numeric, same_float, same_numeric
from workbench.builtins.scalars.operators import or_, where
from workbench.types import Kind, element, is_float


@builtin(
    numeric(2),
    cuda="wb_min({0}, {1})",
    domain=((-3.0, 0.0), (0.1, 3.0)),
    prelude="template <typename T> WB_FN T wb_min(T a, T b) { return a != a || a < b ? a : b; }\n",
)
def min(x, y):
    """The smaller one; NaN where one is NaN, as NumPy's minimum. At a tie both have half the gradient, as in JAX."""
    return x if x != x or x < y else y


min.expansion(lambda x, y: where(or_(x.differs(x), x < y), x, y) if is_float(x.type) else where(x < y, x, y))
min.adjoint(lambda ct, result, x, y: (_tie(ct, x < y, x.equals(y)), _tie(ct, y < x, x.equals(y))), passing=True)


@builtin(
    numeric(2),
    cuda="wb_max({0}, {1})",
    domain=((-3.0, 0.0), (0.1, 3.0)),
    prelude="template <typename T> WB_FN T wb_max(T a, T b) { return a != a || a > b ? a : b; }\n",
)
def max(x, y):
    """The larger one; NaN where one is NaN, as NumPy's maximum. At a tie both have half the gradient, as in JAX."""
    return x if x != x or x > y else y


max.expansion(lambda x, y: where(or_(x.differs(x), x > y), x, y) if is_float(x.type) else where(x > y, x, y))
max.adjoint(lambda ct, result, x, y: (_tie(ct, x > y, x.equals(y)), _tie(ct, y > x, x.equals(y))), passing=True)


def _tie(ct: Ref, chosen: Ref, tied: Ref) -> Ref:
    """Emit the cotangent of an operand of a minimum or maximum: `ct` if chosen, half of it at a tie, else 0."""
    return where(chosen, ct, where(tied, ct * 0.5, ct.like(0)))


@builtin(
    same_numeric,
    cuda="wb_abs({0})",
    domain=((0.1, 3.0),),
    prelude="""
template <typename T> WB_FN T wb_abs(T a) { return a < T(0) ? T(0) - a : a; }
WB_FN float wb_abs(float a) { return fabsf(a); }
WB_FN double wb_abs(double a) { return fabs(a); }
""",
)
def abs(x):
    """Magnitude; its derivative at 0 is 1, as in JAX. INT_MIN stays INT_MIN."""
    return np.abs(x)


abs.expansion(lambda x: fabs(x) if is_float(x.type) else where(x < 0, -x, x))
abs.adjoint(lambda ct, result, x: (where(x >= 0, ct, -ct),))


@builtin(same_float, hidden=True, cuda="fabs*", llvm="llvm.fabs", domain=((0.1, 3.0),))
def fabs(x):
    """Magnitude of a float."""
    return np.abs(x)


fabs.adjoint(lambda ct, result, x: (where(x >= 0, ct, -ct),))


@builtin(
    same_numeric,
    cuda="wb_sign({0})",
    domain=((0.1, 3.0),),
    prelude="""
template <typename T> WB_FN T wb_sign(T a) { return a > T(0) ? T(1) : a < T(0) ? T(0) - T(1) : a; }
""",
)
def sign(x):
    """-1, 0 or 1, as NumPy's sign: ±0 and NaN stay themselves."""
    return x.dtype.type(1) if x > 0 else x.dtype.type(-1) if x < 0 else x


@sign.expansion
def _(x):
    """Emit `sign(x)` by other builtins, and return its result."""
    if element(x.type).kind is Kind.UINT:
        return where(x > 0, x.like(1), x)
    return where(x > 0, x.like(1), where(x < 0, x.like(-1), x))


sign.adjoint(lambda ct, result, x: (None,))


@builtin(numeric(3), domain=((-1.0, 1.0), (-3.0, -2.0), (2.0, 3.0)))
def clamp(x, low, high):
    """x, but not below `low` and not above `high`: min(max(low, x), high)."""
    inner = max.reference(low, x)
    return min.reference(inner, high)


clamp.expansion(lambda x, low, high: min(max(low, x), high))


@clamp.adjoint
def _(ct, result, x, low, high):
    """Return the cotangents of x, low and high, from the cotangent `ct` of `clamp(x, low, high)`."""
    inner = max(low, x)
    c = _tie(ct, inner < high, inner.equals(high))
    return (
        _tie(c, x > low, x.equals(low)),
        _tie(c, low > x, x.equals(low)),
        _tie(ct, high < inner, inner.equals(high)),
    )


@builtin(floats(2), domain=((-3.0, 0.0), (0.1, 3.0)))
def step(edge, x):
    """0 where x is below the edge, else 1; its derivative is 0."""
    return x.dtype.type(0) if x < edge else x.dtype.type(1)


step.expansion(lambda edge, x: where(x < edge, x.like(0), x.like(1)))
step.adjoint(lambda ct, result, edge, x: (None, None))


@builtin(floats(3), domain=((-1.0, 1.0), (-1.0, 1.0), (0.0, 1.0)))
def lerp(a, b, t):
    """a where t is 0, b where t is 1, the straight line between: a * (1 - t) + b * t."""
    return a * (1 - t) + b * t


lerp.expansion(lambda a, b, t: a * (1 - t) + b * t)
lerp.adjoint(lambda ct, result, a, b, t: (ct * (1 - t), ct * t, ct * (b - a)))


@builtin(floats(3), domain=((0.0, 0.2), (0.8, 1.0), (0.3, 0.7)))
def smoothstep(low, high, x):
    """0 below `low`, 1 above `high`, and 3t² - 2t³ between, with t = (x - low) / (high - low)."""
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


@smoothstep.expansion
def _(low, high, x):
    """Emit `smoothstep(low, high, x)` by other builtins, and return its result."""
    t = clamp((x - low) / (high - low), x.like(0), x.like(1))
    return t * t * (3 - 2 * t)


@smoothstep.adjoint
def _(ct, result, low, high, x):
    """Return the cotangents of low, high and x, from the cotangent `ct` of `smoothstep(low, high, x)`."""
    width = high - low
    raw = (x - low) / width
    t = clamp(raw, x.like(0), x.like(1))
    slope = where(raw.equals(t), ct * 6 * t * (1 - t) / width, ct.like(0))
    return slope * (raw - 1), -slope * raw, slope
