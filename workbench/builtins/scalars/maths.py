"""The real functions of one or two floats.

Each has one row where its derivative is one line; CPU results come from LLVM intrinsics or the C library, CUDA results
from the device's maths library. `ulp` bounds both against the float64 reference rounded to the type (bounds of the CUDA
C++ Programming Guide's table of maximum errors, one unit added for the C library).
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import TABLE, Builtin, builtin
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.declaration.rules import float_to_bool, floats, powers, same_float
from workbench.builtins.scalars.operators import where

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
