"""The ranges of numbers that types can hold.

One rule for literals, constants, arguments, fills and data: a number that does not fit its type is refused, never
another number. Infinity fits every float where it is given as such.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, cast

import numpy as np


class Scalar(Protocol):
    """Describes a scalar type, `types.Scalar`, as far as its range goes."""

    @property
    def name(self) -> str:
        """Return the name that kernels use."""
        ...

    @property
    def kind(self) -> Any:
        """The kind of number: float, int, uint or bool."""
        ...

    @property
    def bits(self) -> int:
        """Return the number of bits."""
        ...

    @property
    def numpy(self) -> np.dtype[Any]:
        """NumPy's dtype for it."""
        ...


# From here on a number rounds to infinity: the largest one and half a step.
INFINITE_FROM: dict[str, float] = {
    "float16": 65520.0,
    "bfloat16": 3.3961775292304957e38,
    "float32": 3.4028235677973366e38,
    "float64": 2**1024 - 2**970,
}
_INTEGERS = {
    **{f"int{n}": (-(2 ** (n - 1)), 2 ** (n - 1)) for n in (8, 16, 32, 64)},
    **{f"uint{n}": (0, 2**n) for n in (8, 16, 32, 64)},
}
"""The least number of each integer type, and the first that is too large."""


def fits(number: Any, type: Scalar) -> bool:
    """Return whether a type can hold a number: within an integer's range, and not infinite after rounding to a float.

    Infinity itself and NaN fit floats; every number fits bool. Both parts of a complex number have to fit.
    """
    if isinstance(number, (complex, np.complexfloating)):
        both = complex(cast(complex, number))
        return fits(both.real, type) and fits(both.imag, type)
    number = number if isinstance(number, int) else float(number)
    if type.name in INFINITE_FROM:
        return not INFINITE_FROM[type.name] <= abs(number) < math.inf
    bounds = _INTEGERS.get(type.name)
    return bounds is None or bounds[0] <= number < bounds[1]


def misfit(number: Any, type: Scalar, what: str = "") -> str:
    """Return a sentence without full stop: a number does not fit `what`, which is of this type, or the type itself."""
    shown = str(number) if len(str(number)) <= 40 else f"{str(number)[:20]}…"
    return f"{shown} does not fit {what}, which is {type!r}" if what else f"{shown} does not fit {type!r}"


def converted(host: np.ndarray[Any, Any], scalar: Scalar) -> np.ndarray[Any, Any]:
    """Return numbers as numbers of another type; floats are truncated for an integer type.

    Raises:
        OverflowError: a number does not fit; the message names the first.
    """
    with np.errstate(all="ignore"):
        cast = host.astype(scalar.numpy)
        if scalar.numpy.kind == "c" or scalar.kind.value == "float":
            bad = np.isinf(cast)
            bad = bad & np.isfinite(host) if bad.any() else bad
        elif scalar.kind.value == "bool" or not host.size or (fits(host.min(), scalar) and fits(host.max(), scalar)):
            return cast
        else:
            low, high = np.iinfo(scalar.numpy).min, np.iinfo(scalar.numpy).max
            bad = ~((host > low - 1) & (host < high + 1))
    if bad.any():
        raise OverflowError(misfit(host[bad][0], scalar))
    return cast


def check(value: Any, scalar: Scalar) -> None:
    """Check that this type can hold a number, or all numbers of an array.

    Raises:
        OverflowError: it cannot; the message names the first that does not fit.
        TypeError: it is no number, or is complex and the type is not.
    """
    if type(value) in (int, float):
        # Of a complex type, the one of its parts.
        if value and not fits(value, getattr(scalar, "dtype", scalar)):  # 0 is what most arrays are filled with
            raise OverflowError(misfit(value, scalar))
        return
    host = np.asarray(value)
    if host.dtype.kind == "c" and scalar.numpy.kind != "c":
        raise TypeError(f"{value!r} is complex, and {scalar!r} is not: take its .real, .imag or abs()")
    if host.dtype.kind not in "biufc" and host.dtype.name != "bfloat16":
        raise TypeError(f"{value!r} is not a number of type {scalar!r}")
    if host.dtype != scalar.numpy:
        converted(host, scalar)


def number(value: Any, scalar: Scalar) -> Any:
    """Return a number as a NumPy scalar of a type.

    Raises:
        OverflowError: it does not fit.
        TypeError: it is no number.
    """
    if hasattr(value, "requires_grad"):
        raise TypeError(
            f"{scalar.name}() makes a number; this is an array of another type. Convert it in a kernel, through which "
            f"gradients pass, or make a copy: wb.array(x.numpy(), dtype=wb.{scalar.name})."
        )
    check(value, scalar)
    return rounded(value, scalar)


def rounded(value: Any, scalar: Scalar) -> Any:
    """Return a number as a NumPy scalar of a type, rounded once; infinite if it is beyond the type's largest float."""
    if scalar.name == "bfloat16" and isinstance(value, (float, np.float64)):
        value = _to_odd(value)
    return scalar.numpy.type(value)


def _to_odd(value: Any) -> np.float32:
    """Round a float64 to a float32 that rounds to 16 bits as the float64 itself does.

    It is cut off, with the last bit set where that is inexact. Source: S. Boldo and G. Melquiond, "When double rounding
    is odd", 2005.
    """
    with np.errstate(all="ignore"):
        near = np.float32(value)
        if float(near) == value or value != value:
            return near
        bits = near.view(np.uint32) - np.uint32(abs(float(near)) > abs(value))
    return (bits | np.uint32(1)).view(np.float32)
