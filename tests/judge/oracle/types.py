"""The scalar types of the language, where they meet, and conversions between them: the language guide's table by hand.

A value is held as a Python int (integers), a Python bool, or a NumPy float. Halves are held as the float32 that they
are equal to, since they are computed with as float32 and rounded after each operation.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = ("float16", "bfloat16", "float32", "float64")
BITS = {"bool": 1, "bfloat16": 16} | {t: int(t.lstrip("uintfloa")) for t in (*INTEGERS, *FLOATS) if t != "bfloat16"}
STORED: dict[str, np.dtype[Any]] = {
    t: np.dtype(ml_dtypes.bfloat16 if t == "bfloat16" else "bool" if t == "bool" else t)
    for t in ("bool", *INTEGERS, *FLOATS)
}
"""What NumPy holds an element of the type as."""


class Unsupported(Exception):
    """A thing that the oracle does not know: the program is not judged."""


class OutOfRange(IndexError):
    """An index outside of an array, vector or matrix: with checks a fault, without them undefined."""


def is_float(t: str) -> bool:
    return "float" in t


def signed(t: str) -> bool:
    return t.startswith("int")


def meet(a: str, b: str) -> str:
    """The type in which two typed scalars meet."""
    if a == b:
        return a
    if "bool" in (a, b):
        return b if a == "bool" else a
    floats = [t for t in (a, b) if is_float(t)]
    if len(floats) == 2:
        return "float32" if BITS[a] == BITS[b] else max(floats, key=BITS.__getitem__)
    if floats:
        return floats[0]
    if signed(a) == signed(b):
        return a if BITS[a] > BITS[b] else b
    narrow, wide = (a, b) if signed(a) else (b, a)
    bits = max(BITS[narrow], 2 * BITS[wide])
    if bits > 64:
        raise Unsupported(f"{a} meets {b}")
    return f"int{bits}"


def quotient_type(t: str) -> str:
    """The float type that an integer takes beside a float literal, or where it is divided."""
    if is_float(t):
        return t
    return "float64" if BITS[t] == 64 else "float32"


def wrap(number: int, t: str) -> int:
    """The low bits of an integer."""
    bits = BITS[t]
    low = number & (1 << bits) - 1
    return low - (1 << bits) if signed(t) and low >> bits - 1 else low


def _odd(number: np.float64) -> np.float32:
    """A float64 as a float32 whose last bit says that something was cut off, so that it can be rounded once more."""
    near = np.float32(number)
    if not np.isfinite(near) or np.float64(near) == number or near.view(np.uint32) & 1:
        return near
    return np.nextafter(near, np.float32(np.inf if number > np.float64(near) else -np.inf))


def rounded(number: Any, t: str) -> Any:
    """A float of any width as one of the type, to the nearest, ties to even."""
    if t == "float64":
        return np.float64(number)
    if t == "float32":
        return np.float32(number)
    if t == "float16":
        return np.float32(np.float16(number))
    return np.float32(ml_dtypes.bfloat16(_odd(number) if isinstance(number, (float, np.float64)) else number))


def converted(value: Any, source: str, t: str) -> Any:
    """A cast. Floats to integers saturate and NaN is 0; integers wrap; a half is reached through float32."""
    if source == t:
        return value
    if t == "bool":
        return bool(value != 0)
    if is_float(t):
        if is_float(source):
            return rounded(value, t)
        exact = np.uint64(value) if value > 0 else np.int64(value)
        return rounded(exact if t == "float64" else np.float32(exact), t)
    if not is_float(source):
        return wrap(int(value), t)
    low, high = (-(1 << BITS[t] - 1), (1 << BITS[t] - 1) - 1) if signed(t) else (0, (1 << BITS[t]) - 1)
    if math.isnan(value):
        return 0
    return min(max(int(value), low), high) if math.isfinite(value) else high if value > 0 else low


def spacing(value: Any, t: str) -> float:
    """The distance to the next number of the type."""
    digits, lowest = {"float16": (11, -24), "bfloat16": (8, -133), "float32": (24, -149), "float64": (53, -1074)}[t]
    if not math.isfinite(value):
        return 0.0
    return 2.0 ** max(math.frexp(float(value))[1] - digits, lowest)
