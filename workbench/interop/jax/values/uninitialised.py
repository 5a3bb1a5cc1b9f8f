"""Undefined results made visible: with checks on they hold a marker until they are written; inside `with wb.checks():`
what is left of it is reported.

The marker is a NaN of one bit pattern for floats, and for integers a number that no count or index takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import KernelFault
from workbench.interop.jax.values.library import library
from workbench.interop.jax.values.manual import varying
from workbench.runtime.deferred_errors import error_later
from workbench.types import Kind, Scalar

# By size in bytes: NaNs with a payload that no arithmetic makes; for integers the bytes 0xA5.
_FLOATS = {2: 0x7FD5, 4: 0x7FD5A5A5, 8: 0x7FFD5A5A5A5A5A5A}


def marker(scalar: Scalar) -> bytes | None:
    """The bytes of an element that nothing wrote; None if every pattern is a value (bool)."""
    if scalar.kind is Kind.BOOL:
        return None
    if scalar.kind is Kind.FLOAT:
        return _FLOATS[scalar.size].to_bytes(scalar.size, "little")
    return b"\xa5" * scalar.size


def watch(function: str, name: str, scalar: Scalar, value: Any) -> None:
    """Have the program report, when it runs, elements of a result that still hold the marker."""
    pattern = marker(scalar)
    if pattern is None:
        return
    jax = library().jax
    bits = np.dtype(f"uint{scalar.bits}")
    late = bool(varying(getattr(value, "aval", None)))  # on one device of several, as in fault.c
    left = (jax.lax.bitcast_convert_type(value, bits) == np.frombuffer(pattern, bits)[0]).sum()

    def report(count: Any) -> None:
        if count > 0:
            fault = KernelFault(
                f"{int(count)} of {value.size} elements of the result {name} were never written by {function}.",
                advice=f'Write them all, or give them a value first: init={{"{name}": "zeros"}}.',
                function=function,
            )
            if not late:
                raise fault
            error_later(fault)

    if isinstance(left, jax.core.Tracer):
        jax.debug.callback(report, left)
    else:
        report(left)
