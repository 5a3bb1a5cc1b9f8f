"""Rounding, floor division and remainders.

`//` floors and `%` takes the divisor's sign, as Python's and NumPy's do. On integers nothing traps: x // 0 has all bits
set (-1), x % 0 is x, and INT_MIN // -1 is INT_MIN.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import TABLE, builtin
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.declaration.rules import floats, index, integers, numeric, same_float
from workbench.builtins.scalars.maths import copysign
from workbench.builtins.scalars.operators import AWAY, and_, or_, where, xor_
from workbench.types import Kind, element, is_float


def _rounding(name: str, c_name: str, intrinsic: str, doc: str) -> None:
    """Declare a builtin that rounds floats, with NumPy's function as its reference and no gradient through it.

    Args:
        name: the builtin, and NumPy's function.
        c_name: CUDA's function, without the ending for float32.
        intrinsic: LLVM's.
        doc: what it means.
    """

    def reference(x):
        return getattr(np, name)(x)

    reference.__doc__ = doc
    builtin(same_float, name=name, cuda=f"{c_name}*", llvm=intrinsic, domain=((0.2, 0.45),))(reference)
    TABLE[name].adjoint(lambda ct, result, x: (None,))


_rounding("floor", "floor", "llvm.floor", "The largest whole number that is not above x; its derivative is 0.")
_rounding("ceil", "ceil", "llvm.ceil", "The smallest whole number that is not below x; its derivative is 0.")
_rounding("trunc", "trunc", "llvm.trunc", "x without its fraction; its derivative is 0.")
_rounding("rint", "rint", "llvm.rint", "The nearest whole number, halves to the even one; its derivative is 0.")
floor, ceil, trunc, rint = (TABLE[n] for n in ("floor", "ceil", "trunc", "rint"))


@builtin(same_float, cuda="rint*", llvm="llvm.rint", domain=((0.2, 0.45),))
def round(x):
    """Return the nearest whole number, halves to the even one, as Python's round; its derivative is 0."""
    return np.rint(x)


round.adjoint(lambda ct, result, x: (None,))


@builtin(same_float, domain=((0.1, 0.9),))
def frac(x):
    """x without its whole part: x - trunc(x)."""
    return x - np.trunc(x)


frac.expansion(lambda x: x - trunc(x))
frac.adjoint(lambda ct, result, x: (ct,))


@builtin(
    integers(2), hidden=True, cuda="({0} / {1})", llvm={"int": "sdiv", "uint": "udiv"}, differentiable="no: integers"
)
def trunc_div(x, y):
    """Quotient rounded towards zero; the divisor is not 0 and the quotient fits (the expansions see to it)."""
    return type(x)(abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1))


@builtin(
    integers(2), hidden=True, cuda="({0} % {1})", llvm={"int": "srem", "uint": "urem"}, differentiable="no: integers"
)
def trunc_rem(x, y):
    """Remainder with the sign of x; the divisor is not 0 (the expansions see to it)."""
    return type(x)(int(x) - int(trunc_div.reference(x, y)) * int(y))


def _safe_divisor(x: Ref, y: Ref) -> Ref:
    """Emit `y`, or 1 where an integer division of x by it would trap."""
    traps = y.equals(0)
    if element(x.type).kind is Kind.INT:
        bits = element(x.type).bits
        traps = or_(traps, and_(y.equals(-1), x.equals(-(1 << (bits - 1)))))
    return where(traps, y.like(1), y)


@builtin(
    numeric(2),
    operator="//",
    cuda="wb_floordiv({0}, {1})",
    domain=AWAY,
    prelude="""
template <typename T> WB_FN T wb_floordiv(T a, T b) {
    if (b == T(0)) return T(-1);
    if (T(-1) < T(0) && b == T(-1)) return T(0) - a;
    T q = a / b;
    return (a % b != T(0) && (a < T(0)) != (b < T(0))) ? q - T(1) : q;
}
template <typename T> WB_FN T wb_floordiv_float(T a, T b, T r) {
    if (b == T(0)) return a / b;
    T q = (a - r) / b;
    if (r != T(0) && (r < T(0)) != (b < T(0))) q -= T(1);
    if (q == T(0)) return copysign(T(0), a / b);
    T f = floor(q);
    return q - f > T(0.5) ? f + T(1) : f;
}
WB_FN float wb_floordiv(float a, float b) { return wb_floordiv_float(a, b, fmodf(a, b)); }
WB_FN double wb_floordiv(double a, double b) { return wb_floordiv_float(a, b, fmod(a, b)); }
""",
)
def floordiv(x, y):
    """Quotient rounded down: of floats as NumPy's, so that x = (x // y) * y + x % y. Its derivative is 0."""
    if not isinstance(x, np.integer):
        return np.floor_divide(x, y)
    return _wrapped(-1 if y == 0 else int(x) // int(y), x.dtype)


def _wrapped(number: int, dtype: np.dtype[Any]) -> Any:
    """Return the low bits of a Python integer, as an integer of this dtype."""
    return np.uint64(number & (1 << 64) - 1).astype(dtype)


@floordiv.expansion
def _(x, y):
    """Emit `floordiv(x, y)` by other builtins, and return its result."""
    scalar = element(x.type)
    if scalar.kind is Kind.FLOAT:
        return _float_quotient(x, y)
    divisor = _safe_divisor(x, y)
    quotient = trunc_div(x, divisor)
    if scalar.kind is Kind.UINT:
        return where(y.equals(0), x.like((1 << scalar.bits) - 1), quotient)
    inexact = trunc_rem(x, divisor).differs(0)
    quotient = where(and_(inexact, xor_(x < 0, divisor < 0)), quotient - 1, quotient)
    return where(y.equals(0), x.like(-1), quotient)


def _float_quotient(x: Ref, y: Ref) -> Ref:
    """Emit NumPy's floor_divide: from the exact remainder, since floor(x / y) is one too high if x / y rounds up."""
    r = fmod(x, y)
    exact = (x - r) / y
    exact = where(and_(r.differs(0), xor_(r < 0, y < 0)), exact - 1, exact)
    floored = floor(exact)
    floored = where(exact - floored > 0.5, floored + 1, floored)
    floored = where(exact.equals(0), copysign(x.like(0), x / y), floored)
    return where(y.equals(0), x / y, floored)


floordiv.adjoint(lambda ct, result, x, y: (None, None))


@builtin(
    numeric(2),
    operator="%",
    cuda="wb_mod({0}, {1})",
    domain=((0.2, 0.9), (1.1, 3.0)),
    prelude="""
template <typename T> WB_FN T wb_mod(T a, T b) {
    if (b == T(0)) return a;
    if (T(-1) < T(0) && b == T(-1)) return T(0);
    T r = a % b;
    return (r != T(0) && (r < T(0)) != (b < T(0))) ? r + b : r;
}
template <typename T> WB_FN T wb_mod_float(T b, T r) {
    if (r == T(0)) return copysign(T(0), b);
    return (r < T(0)) != (b < T(0)) ? r + b : r;
}
WB_FN float wb_mod(float a, float b) { return wb_mod_float(b, fmodf(a, b)); }
WB_FN double wb_mod(double a, double b) { return wb_mod_float(b, fmod(a, b)); }
""",
)
def mod(x, y):
    """Remainder with the sign of y, as in Python; integer x % 0 is x."""
    if not isinstance(x, np.integer):
        return np.remainder(x, y)
    return x if y == 0 else _wrapped(int(x) % int(y), x.dtype)


@mod.expansion
def _(x, y):
    """Emit `mod(x, y)` by other builtins, and return its result."""
    if is_float(x.type):
        r = fmod(x, y)
        shifted = where(xor_(r < 0, y < 0), r + y, r)
        return where(r.equals(0), copysign(x.like(0), y), shifted)
    divisor = _safe_divisor(x, y)
    r = trunc_rem(x, divisor)
    if element(x.type).kind is Kind.INT:
        r = where(and_(r.differs(0), xor_(r < 0, divisor < 0)), r + divisor, r)
    return where(y.equals(0), x, r)


mod.adjoint(lambda ct, result, x, y: (ct, -ct * floordiv(x, y)))


@builtin(floats(2), llvm={"float": "frem"}, cuda="fmod*", domain=((0.2, 0.9), (1.1, 3.0)))
def fmod(x, y):
    """Remainder with the sign of x, as C's fmod."""
    return np.fmod(x, y)


fmod.adjoint(lambda ct, result, x, y: (ct, -ct * trunc(x / y)))


@builtin(index, hidden=True, cuda="wb_wrap({0}, {1})", differentiable="no: integers",
         prelude="template <typename T> WB_FN T wb_wrap(T i, T n) { return i < T(0) ? i + n : i; }\n")  # fmt: skip
def wrap_index(i, n):
    """Return an index that may be negative, counted from the end as in Python."""
    return i + n if i < 0 else i


wrap_index.expansion(lambda i, n: where(i < 0, i + n, i))
