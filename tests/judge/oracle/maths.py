"""Scalar functions of the language: exact ones, and those of mathematics within their documented ulp of float64's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.judge.oracle.numbers import (
    Number,
    Weak,
    absolute,
    arithmetic,
    attach,
    common,
    compared,
    inexact,
    number,
    typed,
    weak,
)
from tests.judge.oracle.run import Current
from tests.judge.oracle.types import Unsupported, is_float, quotient_type, rounded

Slope = Callable[[float, float], float]


def _safe(f: Callable[..., Any]) -> Callable[..., np.float64]:
    """A function of Python's `math` over all arguments, NaN where it has no value."""

    def total(*x: Any) -> np.float64:
        try:
            return np.float64(f(*map(float, x)))
        except (ValueError, ZeroDivisionError):
            return np.float64(math.nan)
        except OverflowError:
            return np.float64(math.inf)

    return total


TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)
FUNCTIONS: dict[str, tuple[Callable[..., Any], float, Slope]] = {
    "sin": (np.sin, 4, lambda x, y: math.cos(x)),
    "cos": (np.cos, 4, lambda x, y: -math.sin(x)),
    "tan": (np.tan, 5, lambda x, y: 1 + y * y),
    "asin": (np.arcsin, 5, lambda x, y: 1 / math.sqrt(1 - x * x)),
    "acos": (np.arccos, 5, lambda x, y: -1 / math.sqrt(1 - x * x)),
    "atan": (np.arctan, 3, lambda x, y: 1 / (1 + x * x)),
    "sinh": (np.sinh, 4, lambda x, y: math.cosh(x)),
    "cosh": (np.cosh, 4, lambda x, y: math.sinh(x)),
    "tanh": (np.tanh, 4, lambda x, y: 1 - y * y),
    "asinh": (np.arcsinh, 5, lambda x, y: 1 / math.sqrt(x * x + 1)),
    "acosh": (np.arccosh, 5, lambda x, y: 1 / math.sqrt(x * x - 1)),
    "atanh": (np.arctanh, 5, lambda x, y: 1 / (1 - x * x)),
    "exp": (np.exp, 3, lambda x, y: y),
    "exp2": (np.exp2, 3, lambda x, y: y * math.log(2)),
    "expm1": (np.expm1, 3, lambda x, y: y + 1),
    "log": (np.log, 4, lambda x, y: 1 / x),
    "log2": (np.log2, 3, lambda x, y: 1 / (x * math.log(2))),
    "log10": (np.log10, 3, lambda x, y: 1 / (x * math.log(10))),
    "log1p": (np.log1p, 3, lambda x, y: 1 / (1 + x)),
    "cbrt": (np.cbrt, 3, lambda x, y: y / (3 * x)),
    "erf": (_safe(math.erf), 3, lambda x, y: TWO_BY_ROOT_PI * math.exp(-x * x)),
    "erfc": (_safe(math.erfc), 6, lambda x, y: -TWO_BY_ROOT_PI * math.exp(-x * x)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2, lambda x, y: -0.5 * y / x),
    "rcp": (lambda x: 1 / x, 1, lambda x, y: -y * y),
    "sqrt": (np.sqrt, 0, lambda x, y: 0.5 / y),
    "degrees": (lambda x: x * (180 / math.pi), 1, lambda x, y: 180 / math.pi),
    "radians": (lambda x: x * (math.pi / 180), 1, lambda x, y: math.pi / 180),
}
"""Functions of one float: in float64, their bound in ulp, and their derivative from argument and result."""


def _slope(f: Callable[..., float], *x: float) -> float:
    try:
        return f(*x)
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan


def unary(name: str) -> Callable[[Any], Any]:
    """A function of mathematics of one float."""
    f, ulp, slope = FUNCTIONS[name]

    def call(x: Any) -> Any:
        literal = weak(x) if number(x) is None else None
        if literal is not None:
            exact = float(f(np.float64(literal.exact)))
            return Weak(exact, np.float32(f(np.float64(literal.single))))
        t = _float_type(name, x)
        one = typed(x, t)
        if ulp:
            result = Number(inexact(f(np.float64(one.v)), t, ulp), t, True)
        else:
            result = Number(rounded(f(one.v), t), t, one.q)
        if Current.run.taped:
            result.w = float(f(np.float64(one.wide)))
            by = _slope(slope, one.wide, result.w) if one.n is not None else 0.0
            # 1 - tanh², like all sums of terms that cancel, is as exact as they are.
            attach(result, (one,), (by,), (1 + result.w**2,) if name == "tanh" else None)
        return result

    return call


def _float_type(name: str, *values: Any) -> str:
    t = common(*values)
    if not is_float(t) and any(number(v) is not None for v in values):
        raise Unsupported(f"{name} of an integer")
    return quotient_type(t)


def power(x: Any, y: Any) -> Any:
    """`x ** y`; its derivative in y is 0 where x is not positive."""
    t = _float_type("**", x, y)
    a, b = typed(x, t), typed(y, t)
    result = Number(inexact(np.float_power(np.float64(a.v), np.float64(b.v)), t, 4), t, True)
    if Current.run.taped:
        p, q = np.float64(a.wide), np.float64(b.wide)
        result.w = float(np.float_power(p, q))
        by_base = 0.0 if q == 0 else float(q * np.float_power(p, q - 1))
        attach(result, (a, b), (by_base, float(result.w * np.log(p)) if p > 0 else 0.0))
    return result


def _binary(name: str, f: Callable[..., Any], ulp: float, slopes: Callable[..., Any]) -> Callable[[Any, Any], Number]:
    def call(x: Any, y: Any) -> Number:
        t = _float_type(name, x, y)
        a, b = typed(x, t), typed(y, t)
        exact = f(np.float64(a.v), np.float64(b.v))
        v = inexact(exact, t, ulp) if ulp else rounded(f(a.v, b.v), t)
        result = Number(v, t, ulp > 0 or a.q or b.q)
        if Current.run.taped:
            result.w = float(f(np.float64(a.wide), np.float64(b.wide)))
            attach(result, (a, b), slopes(np.float64(a.wide), np.float64(b.wide), np.float64(result.w)))
        return result

    return call


atan2 = _binary("atan2", np.arctan2, 4, lambda y, x, r: (x / (x * x + y * y), -y / (x * x + y * y)))
hypot = _binary("hypot", np.hypot, 3, lambda x, y, r: (x / r, y / r))
copysign = _binary("copysign", np.copysign, 0, lambda x, y, r: (math.copysign(1.0, x) * math.copysign(1.0, y), 0.0))
fmod = _binary("fmod", np.fmod, 0, lambda x, y, r: (1.0, -np.trunc(x / y)))


def rounding(name: str) -> Callable[[Any], Number]:
    """floor, ceil, trunc, rint, round: their derivative is 0."""
    f = {"round": np.rint}.get(name) or getattr(np, name)

    def call(x: Any) -> Number:
        one = typed(x, _float_type(name, x))
        result = Number(rounded(f(one.v), one.t), one.t, one.q)
        if Current.run.taped:
            result.w = float(f(np.float64(one.wide)))
            Current.run.choose(True, bool(result.w == result.v))
        return result

    return call


def frac(x: Any) -> Any:
    """x without its whole part."""
    return x - rounding("trunc")(x)


def _chosen(t: str, result: Number, parts: list[tuple[Number, float]]) -> Number:
    """A value that is one of others, with the share that each has in its derivative."""
    if Current.run.taped and is_float(t):
        attach(result, [x for x, _ in parts], [share for _, share in parts])
    return result


def smaller(x: Any, y: Any, sign: int = 1) -> Any:
    """min, or max with sign -1: NaN wins, and at a tie each has half of the derivative."""
    if number(x) is None and number(y) is None:
        return (min if sign > 0 else max)(x, y)
    t = common(x, y)
    t = "int32" if t == "bool" else t
    a, b = typed(x, t), typed(y, t)
    first = a.v != a.v or (a.v < b.v if sign > 0 else a.v > b.v)
    here = a if first else b
    result = Number(here.v, t, a.q or b.q)
    if Current.run.taped and is_float(t):
        p, q = a.wide * sign, b.wide * sign
        result.w = a.wide if p != p or p < q else b.wide
        Current.run.choose((a.v < b.v, a.v == b.v) == (a.wide < b.wide, a.wide == b.wide), True)
        return _chosen(t, result, [(a, 0.5 if p == q else float(p < q)), (b, 0.5 if p == q else float(q < p))])
    return result


def larger(x: Any, y: Any) -> Any:
    """max: see `smaller`."""
    return smaller(x, y, -1)


def clamp(x: Any, low: Any, high: Any) -> Any:
    """min(max(low, x), high)."""
    t = common(x, low, high)
    if number(x) is number(low) is number(high) is None:
        return min(max(low, x), high)
    t = "int32" if t == "bool" else t
    return smaller(larger(typed(low, t), typed(x, t)), typed(high, t))


def sign(x: Any) -> Number:
    """-1, 0 or 1; zeros and NaN stay themselves."""
    t = common(x)
    one = typed(x, "int32" if t == "bool" else t)
    v = one.v
    result = 1 if v > 0 else -1 if v < 0 else v
    w = None
    if Current.run.taped and is_float(one.t):
        w = float(np.sign(one.wide))
        Current.run.choose(bool(w == result), True)
    return Number(rounded(result, one.t) if is_float(one.t) else result, one.t, one.q, None, w)


def step(edge: Any, x: Any) -> Number:
    """0 where x is below the edge, else 1."""
    t = _float_type("step", edge, x)
    low = compared("lt", typed(x, t), typed(edge, t))
    return Number(
        rounded(0.0 if low.v else 1.0, t), t, low.q, None, (0.0 if low.v else 1.0) if Current.run.taped else None
    )


def lerp(a: Any, b: Any, t: Any) -> Any:
    """a * (1 - t) + b * t."""
    type = _float_type("lerp", a, b, t)
    a, b, t = (_computed(x, type) for x in (a, b, t))
    return typed(a * (1 - t) + b * t, type)


def _computed(x: Any, type: str) -> Number:
    """The number as an operation of several steps computes with it: halves as float32, rounded once at the end."""
    half = typed(x, type)
    return typed(half, "float32") if type in ("float16", "bfloat16") else half


def smoothstep(low: Any, high: Any, x: Any) -> Any:
    """3t² - 2t³ between the edges."""
    type = _float_type("smoothstep", low, high, x)
    low, high, x = (_computed(v, type) for v in (low, high, x))
    t = clamp((x - low) / (high - low), 0.0, 1.0)
    return typed(t * t * (3 - 2 * t), type)


def classified(name: str) -> Callable[[Any], Number]:
    """isnan, isinf, isfinite."""

    def call(x: Any) -> Number:
        one = typed(x, _float_type(name, x))
        return Number(bool(getattr(np, name)(one.v)), "bool", one.q)

    return call


SCALARS: dict[str, Callable[..., Any]] = {
    **{name: unary(name) for name in FUNCTIONS},
    **{name: rounding(name) for name in ("floor", "ceil", "trunc", "rint", "round")},
    **{name: classified(name) for name in ("isnan", "isinf", "isfinite")},
    "atan2": atan2, "hypot": hypot, "copysign": copysign, "fmod": fmod, "frac": frac, "min": smaller, "max": larger,
    "clamp": clamp, "sign": sign, "step": step, "lerp": lerp, "smoothstep": smoothstep, "abs": absolute,
    "pow": lambda x, y: arithmetic("pow", x, y),
}  # fmt: skip
"""Functions of scalars; most apply to vectors by component."""
