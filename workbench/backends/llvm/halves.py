"""16-bit floats, named f16 and bf16, alone and in packed pairs, computed as float32."""

from __future__ import annotations

from workbench.backends.llvm.values import Value


def parts(value: Value) -> list[Value]:
    """Return the low and the high 16 bits of a 32-bit value, as i16."""
    return [value.to("i16"), (value >> 16).to("i16")]


def joined(low: Value, high: Value) -> Value:
    """Return two 16-bit values packed in an i32."""
    first, second = (v.bits.to("i32") for v in (low, high))
    return first | second << 16


def widened(value: Value, type: str) -> Value:
    """Return a value of type f16 or bf16 as float32; other types as they are."""
    if type == "f16":
        return value.cast("bitcast", "half").cast("fpext", "float")
    return (value.to("i32") << 16).real if type == "bf16" else value


def narrowed(value: Value, type: str, nan: Value | int = 0x7FFF) -> Value:
    """Round a float32 to the nearest value of f16 or bf16, ties to even; for other types return the value as it is.

    `nan` is what NaN becomes in bf16, as an i32.
    """
    if type == "f16":
        return value.cast("fptrunc", "half")
    if type != "bf16":
        return value
    bits = value.bits
    rounded = bits + 0x7FFF + (bits >> 16 & 1) >> 16
    return value.is_("uno", value).choose(nan, rounded).to("i16")


def to_odd(value: Value) -> Value:
    """Round a float64 to float32 by rounding to odd: an inexact result has an odd last bit.

    Rounding that result to 16 bits then equals rounding the float64 once.
    """
    near = value.cast("fptrunc", "float")
    back, bits = near.cast("fpext", "double"), near.bits
    beyond = abs(back).is_("ogt", abs(value))
    return back.is_("ueq", value).choose(bits, beyond.choose(bits - 1, bits) | 1).real
