"""Undefined results made visible: with checks on they hold a marker until they are written; inside `with wb.checks():`
what is left of it is reported.

The marker is a NaN of one bit pattern for floats, and for integers a number that no count or index takes.
"""

from __future__ import annotations

from workbench.types import Kind, Scalar

# By size in bytes: NaNs with a payload that no arithmetic makes; for integers the bytes 0xA5.
_FLOATS = {2: 0x7FD5, 4: 0x7FD5A5A5, 8: 0x7FFD5A5A5A5A5A5A}


def marker(scalar: Scalar) -> bytes | None:
    """Return the bytes of an element that nothing wrote; None if every pattern is a value (bool)."""
    if scalar.kind is Kind.BOOL:
        return None
    if scalar.kind is Kind.FLOAT:
        return _FLOATS[scalar.size].to_bytes(scalar.size, "little")
    return b"\xa5" * scalar.size
