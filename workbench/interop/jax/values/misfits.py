"""A value that does not fit its parameter: how it is described, and what to do about it."""

from __future__ import annotations

from typing import Any

from workbench.errors import LaunchError
from workbench.interop.jax.values.library import library
from workbench.types import Scalar, Type

ALLOW_64 = 'Allow 64 bits first: jax.config.update("jax_enable_x64", True).'


def conversion(name: str, value: Any, wanted: Scalar) -> str:
    """Return advice for converting the argument `name` to the type `wanted`."""
    if advice := not_in_the_language(name, value):
        return advice
    # Without it, astype("float64") gives float32 again.
    before = f"{ALLOW_64} Then convert" if wanted.bits == 64 and not wide() else "Convert"
    return f"{before} it: {name}.astype({wanted.name!r})."


def not_in_the_language(name: str, value: Any) -> str:
    """Return advice for a value of a type that only JAX has, such as a key; empty for other values."""
    jax = library().jax
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return f"A key is passed as its data, an array of uint32: jax.random.key_data({name})."
    return ""


def wide() -> bool:
    """Return whether JAX has types of 64 bits now."""
    return library().jax.config.jax_enable_x64


def described(value: Any) -> str:
    """Return how an error names a value: `float32[4,3]`, or its text and class for a value without dtype."""
    if is_typed(value):
        return f"{value.dtype.name}[{','.join(str(s) for s in value.shape)}]"
    shown = " ".join(repr(value).split())
    return f"{shown if len(shown) <= 60 else shown[:60] + '…'} ({type(value).__name__})"


def is_typed(value: Any) -> bool:
    """Return whether a value has a shape and a dtype, as arrays of JAX and NumPy have; sparse ones do not count."""
    is_array = hasattr(value, "shape") and hasattr(value, "dtype") and not hasattr(value, "todense")
    return is_array and not isinstance(value, float)


def misfit(kernel: str, name: str, value: Any, wanted: Type, advice: str) -> LaunchError:
    """Return the error of a value that is not of the type of its parameter."""
    return LaunchError(
        f"{name} of {kernel} takes {wanted!r}, not {described(value)}.",
        advice=advice,
        function=kernel,
        parameter=name,
        expected=wanted,
        given=described(value),
    )
