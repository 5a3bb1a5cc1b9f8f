"""The scalar of the oracle: a value of a type of the language, with its derivative and what is inexact about it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.judge.oracle.run import Current, Node
from tests.judge.oracle.types import (
    BITS,
    Unsupported,
    converted,
    is_float,
    meet,
    quotient_type,
    rounded,
    signed,
    spacing,
    wrap,
)


class Weak:
    """A float made of literals alone: it has no type before it meets one.

    What only the run knows of it is computed in the widest of float32 and the types that it meets, what is known
    before in float64; both are carried, and where they differ what it meets is inexact.
    """

    __slots__ = ("exact", "single")
    __array_ufunc__ = None

    def __init__(self, exact: float, single: Any = None) -> None:
        self.exact = exact
        self.single = np.float32(exact) if single is None else single

    def __float__(self) -> float:
        return self.exact

    def __bool__(self) -> bool:
        return self.exact != 0.0

    def __neg__(self) -> Weak:
        return Weak(-self.exact, -self.single)

    def __pos__(self) -> Weak:
        return self

    def __abs__(self) -> Weak:
        return Weak(abs(self.exact), abs(self.single))

    def __repr__(self) -> str:
        return f"{self.exact!r} (a literal)"

    __hash__ = None  # type: ignore[assignment]


def weak(value: Any) -> Weak | None:
    """A literal, or None if it is none."""
    if isinstance(value, Weak):
        return value
    return Weak(float(value)) if isinstance(value, (int, float)) and not isinstance(value, np.generic) else None


def _literal_operators() -> None:
    def arithmetic(f: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
        def forward(a: Weak, b: Any) -> Any:
            other = weak(b)
            if other is None:
                return NotImplemented
            return Weak(float(f(a.exact, other.exact)), np.float32(f(a.single, other.single)))

        def reflected(a: Weak, b: Any) -> Any:
            other = weak(b)
            return NotImplemented if other is None else forward(other, a)

        return forward, reflected

    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        forward, reflected = arithmetic(getattr(operator, name))
        setattr(Weak, f"__{name}__", forward)
        setattr(Weak, f"__r{name}__", reflected)

    def comparison(f: Callable[[Any, Any], Any]) -> Any:
        def compare(a: Weak, b: Any) -> Any:
            other = weak(b)
            if other is None:
                return NotImplemented
            if bool(f(a.single, other.single)) != bool(f(a.exact, other.exact)):
                Current.run.inexact = True
            return bool(f(a.exact, other.exact))

        return compare

    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Weak, f"__{name}__", comparison(getattr(operator, name)))


_literal_operators()


class Number:
    """A typed scalar.

    Attributes:
        v: its value, as `types.py` says.
        t: the name of its type.
        q: whether it is inexact: something that may be off by some ulp went into it.
        n: its node on the tape; None if it has no derivative.
        w: in a taped run, its value computed in float64 throughout.
        home: the element of an array that it was just read from, while an operator that changes it in place may follow.
        change: the element that an operator changed in place to this value, and the operator.
    """

    __slots__ = ("change", "home", "n", "q", "t", "v", "w")
    __array_ufunc__ = None

    def __init__(self, v: Any, t: str, q: bool = False, n: Node | None = None, w: float | None = None) -> None:
        self.v, self.t, self.q, self.n, self.w = v, t, q, n, w
        self.home: Any = None
        self.change: Any = None

    def copy(self) -> Number:
        """The same value, as a name of its own."""
        return Number(self.v, self.t, self.q, self.n, self.w)

    def to(self, t: str) -> Number:
        """A cast."""
        if t == self.t:
            return self.copy()
        v = converted(self.v, self.t, t)
        if is_float(t):
            return Number(v, t, self.q, self.n if is_float(self.t) else None, self.w)
        if self.w is not None:
            Current.run.choose(v == converted(np.float64(self.w), "float64", t), True)
        return Number(v, t, self.q)

    @property
    def wide(self) -> float:
        """The value in float64."""
        return float(self.v) if self.w is None else self.w

    def __bool__(self) -> bool:
        Current.run.inexact |= self.q
        return Current.run.choose(bool(self.v), bool(self.wide)) if is_float(self.t) else bool(self.v)

    def __index__(self) -> int:
        if is_float(self.t):
            raise TypeError("a float is no index")
        Current.run.inexact |= self.q
        return int(self.v)

    def __float__(self) -> float:
        return float(self.v)

    def __int__(self) -> int:
        return int(self.v)

    def __repr__(self) -> str:
        return f"{self.t}({self.v})"

    def __neg__(self) -> Number:
        return arithmetic("mul", self, -1) if not is_float(self.t) else _float("neg", self.t, self)

    def __pos__(self) -> Number:
        return self.copy()

    def __abs__(self) -> Number:
        return absolute(self)

    def __invert__(self) -> Number:
        return Number(wrap(~self.v, self.t), self.t, self.q)

    __hash__ = None  # type: ignore[assignment]


def number(value: Any) -> Number | None:
    """A typed scalar, or None for a literal."""
    if isinstance(value, Number):
        return value
    if isinstance(value, (bool, np.bool_)):
        return Number(bool(value), "bool")
    if isinstance(value, np.generic):
        t = str(value.dtype)
        return Number(int(value) if t in BITS and not is_float(t) else rounded(value, t), t)
    return None


def typed(value: Any, t: str) -> Number:
    """A value as one of the type: a literal takes it, a number is cast."""
    known = number(value)
    if known is not None:
        return known.to(t)
    if isinstance(value, Weak):
        return _typed_literal(value, t)
    if isinstance(value, int):
        if is_float(t):
            return Number(rounded(np.float64(value) if t == "float64" else converted(value, "int64", "float32"), t), t)
        return Number(value != 0 if t == "bool" else wrap(value, t), t)
    if isinstance(value, float):
        return _typed_literal(Weak(value), t)
    raise Unsupported(f"{type(value).__name__} as a number")


def _typed_literal(value: Weak, t: str) -> Number:
    wide = np.float64(value.exact)
    if not is_float(t):
        return Number(converted(wide, "float64", t), t)
    if t == "float64":
        return Number(wide, t)
    known, running = rounded(wide, t), rounded(value.single, t)
    inexact = bool(known != running) and not (known != known and running != running)
    disturbed = inexact and Current.run.disturbance is not None
    return Number(running if disturbed else known, t, inexact, None, value.exact if Current.run.taped else None)


def common(*values: Any) -> str:
    """The type in which numbers and literals meet."""
    strong = [n.t for n in map(number, values) if n is not None]
    floats = any(isinstance(v, (Weak, float)) and number(v) is None for v in values)
    if not strong:
        return "float32" if floats else "int32"
    t = strong[0]
    for other in strong[1:]:
        t = meet(t, other)
    if floats and not is_float(t):
        return quotient_type(t)
    return "int32" if t == "bool" and len(strong) < len(values) else t


FLOAT: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": np.floor_divide, "mod": np.remainder, "neg": operator.neg,
}  # fmt: skip


def _slopes(name: str, a: float, b: float) -> tuple[float, float]:
    """The derivatives of an operator by its operands."""
    if name == "add":
        return 1.0, 1.0
    if name == "sub":
        return 1.0, -1.0
    if name == "mul":
        return b, a
    if name == "truediv":
        return float(np.float64(1.0) / b), float(-np.float64(a) / b / b)
    return (1.0, -math.floor(a / b)) if name == "mod" and b and math.isfinite(a / b) else (0.0, 0.0)


def _float(name: str, t: str, *operands: Number) -> Number:
    """An exact operator on floats, rounded once; with `fma`, a sum is off by the rounding of its operands."""
    f, q = FLOAT[name], any(x.q for x in operands)
    values = [x.v for x in operands]
    if Current.run.fma and name in ("add", "sub"):
        q, values = True, [inexact(float(v), t, 1) for v in values]
    result = Number(rounded(f(*values), t), t, q)
    if Current.run.taped:
        wides = [np.float64(x.wide) for x in operands]
        result.w = float(f(*wides))
        slopes = (-1.0,) if name == "neg" else _slopes(name, *map(float, wides))
        attach(result, operands, slopes)
    return result


def attach(result: Number, operands: Any, slopes: Any, magnitudes: Any = None) -> None:
    """Put a result on the tape.

    Args:
        result: computed from the operands.
        operands: numbers.
        slopes: the derivatives by them.
        magnitudes: of what is added up in each derivative; its own where nothing is.
    """
    rows = zip(operands, slopes, magnitudes or map(abs, slopes), strict=True)
    partials = [(x.n, float(s), float(m)) for x, s, m in rows if x.n is not None and s != 0.0]
    if partials:
        result.n = Current.run.node(partials)


def _integer(name: str, a: int, b: int, t: str) -> int:
    bits = BITS[t]
    if name in ("lshift", "rshift"):
        inside = 0 <= b < bits
        if not inside:
            Current.run.suspect.add("shift")
        if name == "lshift":
            return a << b if inside else 0
        return a >> b if inside else -1 if a < 0 else 0
    if name in ("floordiv", "mod") and not b:
        Current.run.suspect.add("division")
    if name == "floordiv":
        return a // b if b else -1
    if name == "mod":
        return a % b if b else a
    return getattr(operator, f"{name}_" if name in ("and", "or") else name)(a, b)


def arithmetic(name: str, a: Any, b: Any) -> Number:
    """An operator of the language on two scalars."""
    t = common(a, b)
    if name == "pow":
        from tests.judge.oracle.maths import power

        return power(a, b)
    if name == "truediv":
        t = quotient_type(t)
    if t == "bool" and name not in ("and", "or", "xor"):
        t = "int32"
    one, other = typed(a, t), typed(b, t)
    if is_float(t):
        if name not in FLOAT:
            raise Unsupported(f"{name} of floats")
        return _float(name, t, one, other)
    v = _integer(name, one.v, other.v, t)
    return Number(bool(v) if t == "bool" else wrap(v, t), t, one.q or other.q)


def compared(name: str, a: Any, b: Any) -> Number:
    """A comparison: integers of any types by their values, floats in the type in which they meet."""
    one, other = number(a), number(b)
    f = getattr(operator, name)
    if one is not None and other is not None and not is_float(one.t) and not is_float(other.t):
        return Number(bool(f(int(one.v), int(other.v))), "bool", one.q or other.q)
    t = common(a, b)
    x, y = typed(a, t), typed(b, t)
    result = bool(f(x.v, y.v))
    if is_float(t) and Current.run.taped:
        Current.run.choose(result, bool(f(x.wide, y.wide)))
    return Number(result, "bool", x.q or y.q)


def _number_operators() -> None:
    def defined(name: str) -> tuple[Any, Any, Any]:
        def forward(a: Number, b: Any) -> Any:
            return arithmetic(name, a, b) if _scalar(b) else NotImplemented

        def reflected(a: Number, b: Any) -> Any:
            return arithmetic(name, b, a) if _scalar(b) else NotImplemented

        def in_place(a: Number, b: Any) -> Any:
            if not _scalar(b):
                return NotImplemented
            result = arithmetic(name, a, b)
            if a.home is not None:
                result.change = (a.home, name)
            return result

        return forward, reflected, in_place

    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"):
        forward, reflected, in_place = defined(name)
        setattr(Number, f"__{name}__", forward)
        setattr(Number, f"__r{name}__", reflected)
        setattr(Number, f"__i{name}__", in_place)

    def comparison(name: str) -> Any:
        def compare(a: Number, b: Any) -> Any:
            return compared(name, a, b) if _scalar(b) else NotImplemented

        return compare

    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Number, f"__{name}__", comparison(name))


def _scalar(value: Any) -> bool:
    return isinstance(value, (Number, Weak, bool, int, float, np.generic))


_number_operators()


def absolute(x: Any) -> Number:
    """The magnitude; its derivative at 0 is 1."""
    t = common(x)
    one = typed(x, "int32" if t == "bool" else t)
    if not is_float(one.t):
        return Number(wrap(abs(one.v), one.t), one.t, one.q)
    result = Number(abs(one.v), one.t, one.q)
    if Current.run.taped:
        result.w = abs(one.wide)
        attach(result, (one,), (1.0 if one.wide >= 0 else -1.0,))
    return result


def inexact(value: Any, t: str, ulp: float) -> Any:
    """A float64 as a value of the type that may be off by so many ulp."""
    near = rounded(np.float64(value), t)
    if Current.run.disturbance is None or not math.isfinite(near):
        return near
    random = Current.run.disturbance
    off = random.choice((-1, 1)) * random.uniform(0.5, 1.0) * ulp * spacing(near, t)
    return rounded(np.float64(near) + off, t)


__all__ = ["Number", "Weak", "absolute", "arithmetic", "attach", "common", "compared", "inexact", "number", "signed"]
