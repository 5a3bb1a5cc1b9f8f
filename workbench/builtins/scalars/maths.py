"""The real functions of one or two floats, and the inverses of the error function and of its complement.

Each has one row where its derivative is one line; CPU results come from LLVM intrinsics or the C library, CUDA results
from the device's maths library. `ulp` bounds both against the float64 reference rounded to the type (bounds of the CUDA
C++ Programming Guide's table of maximum errors, one unit added for the C library).

`erfinv` and `erfcinv` begin with a value from Giles' single-precision polynomials ("Approximating the erfinv function",
GPU Computing Gems Jade Edition, 2011); for float64, Halley's steps on erf, or on erfc near ±1, follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import TABLE, Builtin, builtin
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.declaration.rules import float_to_bool, floats, powers, same_float
from workbench.builtins.scalars.extrema import fabs
from workbench.builtins.scalars.extrema import min as smaller
from workbench.builtins.scalars.operators import where
from workbench.types import element, float32

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false


ANY = (-3.0, 3.0)
POSITIVE = (0.2, 3.0)
UNIT = (-0.9, 0.9)


def _unary(
    name: str, llvm: str, domain: tuple[float, float], slope: Callable[[Ref, Ref], Any], doc: str, ulp: float = 3,
    cuda: str = "", reference: Callable[[Any], Any] | None = None,
) -> Builtin:  # fmt: skip
    """Declare a builtin f of one float, with the derivative `slope(x, f(x))`, and return it."""
    body = reference or getattr(np, name)

    def meaning(x):
        return body(x)

    meaning.__doc__ = doc
    entry = builtin(same_float, name=name, cuda=cuda or f"{name}*", llvm=llvm, domain=(domain,), ulp=ulp, wide=True)(
        meaning
    )
    entry.adjoint(lambda ct, result, x: (ct * slope(x, result),))
    return entry


sqrt = _unary("sqrt", "llvm.sqrt", POSITIVE, lambda x, y: 0.5 / y, "Square root; NaN below 0.", ulp=0)
sin = _unary("sin", "llvm.sin", ANY, lambda x, y: cos(x), "Sine of x, in radians.", ulp=4)
cos = _unary("cos", "llvm.cos", ANY, lambda x, y: -sin(x), "Cosine of x, in radians.", ulp=4)
tan = _unary("tan", "libm:tan", (-1.2, 1.2), lambda x, y: 1.0 + y * y, "Tangent of x, in radians.", ulp=5)
asin = _unary(
    "asin", "libm:asin", UNIT, lambda x, y: 1.0 / sqrt(1.0 - x * x), "Arc sine, in radians.", ulp=5, reference=np.arcsin
)
acos = _unary("acos", "libm:acos", UNIT, lambda x, y: -1.0 / sqrt(1.0 - x * x), "Arc cosine, in radians.", ulp=5,
              reference=np.arccos)  # fmt: skip
atan = _unary(
    "atan", "libm:atan", ANY, lambda x, y: 1.0 / (1.0 + x * x), "Arc tangent, in radians.", reference=np.arctan
)
sinh = _unary("sinh", "libm:sinh", ANY, lambda x, y: cosh(x), "Hyperbolic sine.", ulp=4)
cosh = _unary("cosh", "libm:cosh", ANY, lambda x, y: sinh(x), "Hyperbolic cosine.", ulp=4)
tanh = _unary("tanh", "libm:tanh", ANY, lambda x, y: 1.0 - y * y, "Hyperbolic tangent.", ulp=4)
asinh = _unary("asinh", "libm:asinh", ANY, lambda x, y: 1.0 / sqrt(x * x + 1.0), "Inverse hyperbolic sine.", ulp=5,
               reference=np.arcsinh)  # fmt: skip
acosh = _unary("acosh", "libm:acosh", (1.2, 3.0), lambda x, y: 1.0 / sqrt(x * x - 1.0), "Inverse hyperbolic cosine.",
               ulp=5, reference=np.arccosh)  # fmt: skip
atanh = _unary("atanh", "libm:atanh", UNIT, lambda x, y: 1.0 / (1.0 - x * x), "Inverse hyperbolic tangent.", ulp=5,
               reference=np.arctanh)  # fmt: skip
exp = _unary("exp", "llvm.exp", ANY, lambda x, y: y, "e to the power x.")
exp2 = _unary("exp2", "llvm.exp2", ANY, lambda x, y: y * math.log(2), "2 to the power x.")
expm1 = _unary("expm1", "libm:expm1", ANY, lambda x, y: y + 1.0, "exp(x) - 1, exact for small x.")
log = _unary("log", "llvm.log", POSITIVE, lambda x, y: 1.0 / x, "Natural logarithm; NaN below 0, -inf at 0.", ulp=4)
log2 = _unary("log2", "llvm.log2", POSITIVE, lambda x, y: 1.0 / (x * math.log(2)), "Logarithm to base 2.")
log10 = _unary("log10", "llvm.log10", POSITIVE, lambda x, y: 1.0 / (x * math.log(10)), "Logarithm to base 10.")
log1p = _unary("log1p", "libm:log1p", (-0.5, 3.0), lambda x, y: 1.0 / (1.0 + x), "log(1 + x), exact for small x.")
cbrt = _unary("cbrt", "libm:cbrt", POSITIVE, lambda x, y: y / (3.0 * x), "Cube root, of negative numbers too.")
erf = _unary(
    "erf", "libm:erf", ANY, lambda x, y: exp(-x * x) * (2 / math.sqrt(math.pi)), "Error function.", reference=math.erf
)
erfc = _unary("erfc", "libm:erfc", ANY, lambda x, y: exp(-x * x) * (-2 / math.sqrt(math.pi)), "1 - erf(x), exact for "
              "large x.", ulp=6, reference=math.erfc)  # fmt: skip


@builtin(same_float, cuda="rsqrt*", domain=(POSITIVE,), ulp=2, wide=True)
def rsqrt(x):
    """1 / sqrt(x)."""
    return 1 / np.sqrt(x)


rsqrt.expansion(lambda x: 1.0 / sqrt(x))
rsqrt.adjoint(lambda ct, result, x: (ct * -0.5 * result / x,))


@builtin(same_float, cuda="({T}(1) / {0})", domain=(POSITIVE,), ulp=1)
def rcp(x):
    """1 / x."""
    return x.dtype.type(1) / x


rcp.expansion(lambda x: 1.0 / x)
rcp.adjoint(lambda ct, result, x: (-ct * result * result,))


@builtin(powers, cuda="pow*", operator="**", llvm="llvm.pow", domain=(POSITIVE, ANY), ulp=4, wide=True)
def pow(x, y):
    """x to the power y; the derivative in y is taken as 0 where x is not positive."""
    return np.float_power(x, y)


@pow.adjoint
def _(ct, result, x, y):
    """Return the cotangents of x and y, from the cotangent `ct` of `pow(x, y)`."""
    base = where_positive(x)
    return where_zero(y, ct * y * pow(x, y - 1.0)), where_sign(x, ct * result * log(base))


def where_positive(x: Ref) -> Ref:
    """Return x where it is positive, else 1: a safe argument for log."""
    return where(x > 0, x, x.like(1))


def where_zero(y: Ref, value: Ref) -> Ref:
    """Return 0 where y is 0, else the value: x ** 0 is constant also where x ** -1 is not finite."""
    return where(y.equals(0), value.like(0), value)


def where_sign(x: Ref, value: Ref) -> Ref:
    """Return the value where x is positive, else 0."""
    return where(x > 0, value, value.like(0))


@builtin(floats(2), cuda="atan2*", llvm="libm:atan2", domain=(POSITIVE, ANY), ulp=4, wide=True)
def atan2(y, x):
    """Return the angle of the point (x, y), in radians, from -π to π."""
    return np.arctan2(y, x)


@atan2.adjoint
def _(ct, result, y, x):
    """Return the cotangents of y and x, from the cotangent `ct` of `atan2(y, x)`."""
    scaled = ct / (x * x + y * y)
    return scaled * x, -scaled * y


@builtin(floats(2), cuda="hypot*", llvm="libm:hypot", domain=(POSITIVE, POSITIVE), ulp=3, wide=True)
def hypot(x, y):
    """sqrt(x² + y²) without overflow."""
    return np.hypot(x, y)


hypot.adjoint(lambda ct, result, x, y: (ct * x / result, ct * y / result))


@builtin(floats(2), cuda="copysign*", llvm="llvm.copysign", domain=((0.5, 2.0), (-2.0, -0.5)))
def copysign(x, y):
    """Return the magnitude of x with the sign of y."""
    return np.copysign(x, y)


copysign.adjoint(lambda ct, result, x, y: (ct * copysign(x.like(1), x) * copysign(x.like(1), y), None))


def _linear(name: str, factor: float, doc: str) -> None:
    """Declare the builtin `name`, a float times `factor`, with its expansion and adjoint."""

    def meaning(x):
        return x * factor

    meaning.__doc__ = doc
    entry = builtin(same_float, name=name, domain=(ANY,))(meaning)
    entry.expansion(lambda x: x * factor)
    entry.adjoint(lambda ct, result, x: (ct * factor,), passing=True)


_linear("degrees", 180 / math.pi, "Radians to degrees.")
_linear("radians", math.pi / 180, "Degrees to radians.")


@builtin(float_to_bool, cuda="({0} != {0})", differentiable="no: a bool", across="or_")
def isnan(x):
    """Return whether x, or a component of it, is NaN."""
    return np.isnan(x)


isnan.expansion(lambda x: x.differs(x))


@builtin(float_to_bool, cuda="wb_isinf({0})", differentiable="no: a bool", across="or_",
         prelude="template <typename T> WB_FN bool wb_isinf(T x) { return x == x && x - x != x - x; }\n")  # fmt: skip
def isinf(x):
    """Return whether x, or a component of it, is infinite, of either sign."""
    return np.isinf(x)


isinf.expansion(lambda x: TABLE["and_"](x.equals(x), (x - x).differs(x - x)))


@builtin(float_to_bool, cuda="wb_isfinite({0})", differentiable="no: a bool", across="and_",
         prelude="template <typename T> WB_FN bool wb_isfinite(T x) { return x - x == x - x; }\n")  # fmt: skip
def isfinite(x):
    """Return whether x, or each component of it, is neither infinite nor NaN."""
    return np.isfinite(x)


isfinite.expansion(lambda x: (x - x).equals(x - x))


# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false


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
