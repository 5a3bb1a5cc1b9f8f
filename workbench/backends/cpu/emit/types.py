"""Types and constants of the language as LLVM IR writes them, and conversions of scalar types.

A vector has no LLVM type here: each component is a scalar of its own, so that the loop vectoriser puts neighbouring
threads, not neighbouring components, side by side.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from workbench.types import Kind, Scalar, Type, Vector, element

_FLOATS = {32: ("float", "f32"), 64: ("double", "f64")}


def register(scalar: Scalar) -> str:
    """Return the LLVM type of a scalar in a register: a bool is `i1`, a 16-bit float an `i16` of its bits."""
    if scalar.kind is Kind.FLOAT and not scalar.is_half:
        return _FLOATS[scalar.bits][0]
    return "i1" if scalar.kind is Kind.BOOL else f"i{scalar.bits}"


def memory(scalar: Scalar) -> str:
    """Return the LLVM type of a scalar in memory: a bool is `i8`, all else as in a register."""
    return "i8" if scalar.kind is Kind.BOOL else register(scalar)


def suffix(scalar: Scalar) -> str:
    """Return how an overloaded LLVM intrinsic's name spells a type: `f32`, `i64`, `i1`."""
    return _FLOATS[scalar.bits][1] if scalar.kind is Kind.FLOAT else register(scalar)


def width(type: Type) -> int:
    """Return how many components a value of a type has: the length of a vector, else 1."""
    return type.length if isinstance(type, Vector) else 1


def literal(value: Any, scalar: Scalar) -> str:
    """Return an exact LLVM constant: a float as the bits of an equal double, a 16-bit float as its own bits."""
    if scalar.is_half:
        with np.errstate(all="ignore"):
            return str(int(scalar(value).view(np.uint16)))
    if scalar.kind is Kind.FLOAT:
        with np.errstate(all="ignore"):
            number = float(np.asarray(value, dtype=scalar.numpy)[()])
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if scalar.kind is Kind.BOOL:
        return "true" if value else "false"
    return str(int(value))


def literals(value: Any, type: Scalar | Vector) -> tuple[str, ...]:
    """Return the LLVM constants of a value's components."""
    if isinstance(type, Vector):
        return tuple(literal(part, type.dtype) for part in np.asarray(value).reshape(-1))
    return (literal(value, type),)


def half_conversion(source: Scalar, target: Scalar) -> str:
    """Return the name of the LLVM function (`halves`) that converts one type to another; one of them has 16 bits."""
    return f"wb.{source}.{target}"


def cast(operand: str, source: Scalar, target: Scalar) -> str:
    """Return the LLVM instruction that converts `operand` to another type; empty where its bits stay as they are.

    Float to integer saturates and NaN becomes 0; integer to integer wraps; a bool is whether the number is not 0.
    """
    a, b = register(source), register(target)
    floats = (source.kind is Kind.FLOAT, target.kind is Kind.FLOAT)
    if target.kind is Kind.BOOL and source.kind is not Kind.BOOL:
        return f"fcmp une {a} {operand}, 0.0" if floats[0] else f"icmp ne {a} {operand}, 0"
    if source.is_half or target.is_half:
        return "" if source == target else f"call {b} @{half_conversion(source, target)}({a} {operand})"
    if floats == (True, True):
        if source.bits == target.bits:
            return ""
        return f"{'fpext' if source.bits < target.bits else 'fptrunc'} {a} {operand} to {b}"
    if floats == (True, False):
        return f"call {b} @wb.{target}.{source}({a} {operand})"
    if floats == (False, True):
        return f"{'sitofp' if source.kind is Kind.INT else 'uitofp'} {a} {operand} to {b}"
    if a == b:
        return ""
    if int(a[1:]) > int(b[1:]):
        return f"trunc {a} {operand} to {b}"
    return f"{'sext' if source.kind is Kind.INT else 'zext'} {a} {operand} to {b}"


def saturating(source: Scalar, target: Scalar) -> str:
    """Return LLVM text of the function that `cast` calls to convert a float to an integer.

    LLVM has `llvm.fptosi.sat`, but for x86 it takes vectors apart, and branches for each number.
    """
    a, b = register(source), register(target)
    signed = target.kind is Kind.INT
    least, beyond = (-(2.0 ** (target.bits - 1)), 2.0 ** (target.bits - 1)) if signed else (0.0, 2.0**target.bits)
    low, high = literals(least, source)[0], literals(beyond, source)[0]
    most = int(beyond) - 1
    return "\n".join(
        (
            f"define internal {b} @wb.{target}.{source}({a} %x) alwaysinline nounwind {{",
            f"  %above = fcmp ogt {a} %x, {low}",
            f"  %least = select i1 %above, {a} %x, {a} {low}",
            # Poison beyond the range, but then it is not chosen.
            f"  %whole = fpto{'s' if signed else 'u'}i {a} %least to {b}",
            f"  %beyond = fcmp oge {a} %x, {high}",
            f"  %most = select i1 %beyond, {b} {most}, {b} %whole",
            f"  %nan = fcmp uno {a} %x, 0.0",
            f"  %result = select i1 %nan, {b} 0, {b} %most",
            f"  ret {b} %result",
            "}",
        )
    )


def index_instruction(operand: str, type: Type) -> str:
    """Return the LLVM instruction that widens an index to 64 bits; empty if it has them."""
    scalar = element(type)
    if scalar.bits == 64:
        return ""
    return f"{'sext' if scalar.kind is Kind.INT else 'zext'} {register(scalar)} {operand} to i64"
