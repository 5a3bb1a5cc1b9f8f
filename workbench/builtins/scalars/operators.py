"""Operators: arithmetic, comparison, logic, choice, and a product that is added to something, rounded once.

Integers wrap; `/` is true division.

x * y + z, rounded once, is what `passes/fold.py` makes of a product that is added to something. It is hidden: kernels
are written with `*` and `+`, and `fma=True` contracts them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import builtin
from workbench.builtins.declaration.rules import choice, compared, floats, logical, numeric, true_division

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false


PAIR = ((-3.0, 3.0), (-3.0, 3.0))
AWAY = ((-3.0, 3.0), (0.5, 3.0))


@builtin(numeric(2), cuda="({0} + {1})", operator="+", domain=PAIR, llvm={"float": "fadd", "int": "add", "uint": "add"})
def add(x, y):
    """Sum; integers wrap."""
    return x + y


add.adjoint(lambda ct, result, x, y: (ct, ct), whole=True, passing=True)


@builtin(numeric(2), cuda="({0} - {1})", operator="-", domain=PAIR, llvm={"float": "fsub", "int": "sub", "uint": "sub"})
def sub(x, y):
    """Difference; integers wrap."""
    return x - y


sub.adjoint(lambda ct, result, x, y: (ct, -ct), whole=True, passing=True)


@builtin(numeric(2), cuda="({0} * {1})", operator="*", domain=PAIR, llvm={"float": "fmul", "int": "mul", "uint": "mul"})
def mul(x, y):
    """Product, component by component on vectors; integers wrap."""
    return x * y


mul.adjoint(lambda ct, result, x, y: (ct * y, ct * x), whole=True)


@builtin(true_division, cuda="({0} / {1})", operator="/", domain=AWAY, llvm={"float": "fdiv"})
def div(x, y):
    """True division: the quotient of two integers is a float."""
    return x / y


@div.adjoint(whole=True)
def _(ct, result, x, y):
    """Return the cotangents of x and y, from the cotangent `ct` of `div(x, y)`."""
    of_x = ct / y
    return of_x, -of_x * result


@builtin(
    numeric(1),
    cuda="(-{0})",
    operator="-",
    domain=PAIR[:1],
    llvm={"float": "fneg", "int": "sub {T} 0,", "uint": "sub {T} 0,"},
)
def neg(x):
    """Return the negative; integers wrap."""
    return np.negative(x)


neg.adjoint(lambda ct, result, x: (-ct,), whole=True, passing=True)


def _compare(name: str, sign: str, floats: str, integers_: tuple[str, str], doc: str) -> None:
    """Declare a comparison as a builtin, with NumPy's function as its reference.

    Args:
        name: NumPy's, such as `less`; the builtin is `lt`.
        sign: its operator, in Python and in C.
        floats: LLVM's predicate for floats.
        integers_: LLVM's predicates for signed integers, and for unsigned ones and bools.
        doc: what it means.
    """

    def reference(x, y):
        return getattr(np, name)(x, y)

    reference.__doc__ = doc
    short = {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "equal": "eq", "not_equal": "ne"}
    builtin(
        compared, name=short[name], cuda=f"({{0}} {sign} {{1}})", operator=sign, differentiable="no: a bool",
        llvm={"float": f"fcmp {floats}", "int": f"icmp {integers_[0]}", "uint": f"icmp {integers_[1]}",
              "bool": f"icmp {integers_[1]}"},
    )(reference)  # fmt: skip


_compare("less", "<", "olt", ("slt", "ult"), "Whether x is below y; false where one is NaN.")
_compare("less_equal", "<=", "ole", ("sle", "ule"), "Whether x is at most y; false where one is NaN.")
_compare("greater", ">", "ogt", ("sgt", "ugt"), "Whether x is above y; false where one is NaN.")
_compare("greater_equal", ">=", "oge", ("sge", "uge"), "Whether x is at least y; false where one is NaN.")
_compare("equal", "==", "oeq", ("eq", "eq"), "Whether x equals y; false where one is NaN.")
_compare("not_equal", "!=", "une", ("ne", "ne"), "Whether x differs from y; true where one is NaN.")


@builtin(logical(2), hidden=True, cuda="({0} && {1})", llvm={"bool": "and"}, differentiable="no: a bool")
def and_(x, y):
    """Both; the front end uses it where the right side has no cost and no effect (else an `if`)."""
    return np.logical_and(x, y)


@builtin(logical(2), hidden=True, cuda="({0} || {1})", llvm={"bool": "or"}, differentiable="no: a bool")
def or_(x, y):
    """At least one of both."""
    return np.logical_or(x, y)


@builtin(logical(2), hidden=True, cuda="({0} != {1})", llvm={"bool": "xor"}, differentiable="no: a bool")
def xor_(x, y):
    """Exactly one of both."""
    return np.logical_xor(x, y)


@builtin(logical(1), operator="not", cuda="(!{0})", llvm={"bool": "xor i1 1,"}, differentiable="no: a bool")
def not_(x):
    """Return the opposite."""
    return np.logical_not(x)


@builtin(
    choice,
    cuda="({0} ? {1} : {2})",
    domain=((0.0, 1.0), *PAIR),
    llvm={"float": "select", "int": "select", "uint": "select", "bool": "select"},
)
def where(condition, x, y):
    """x where the condition holds, else y; both are computed, but only the chosen one has a gradient."""
    return x if condition else y


@where.adjoint(whole=True, passing=True)
def _(ct, result, condition, x, y):
    """Return the cotangents of x and y, from the cotangent `ct` of `where(condition, x, y)`; None for condition."""
    zero = ct.like(0)
    return None, where(condition, ct, zero), where(condition, zero, ct)


# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false


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
