"""Floats of 16 bits on the CPU: their bits in an i16, and functions between them and float32.

Integers and not LLVM's `half` and `bfloat`: where a machine has no instruction for a conversion, LLVM calls a function
that the process may not have, and the instruction for bfloat16 loses subnormals. Where F16C is there, float16 goes
through it; else through these lines, which vectorise. Sources: F. Giesen, "Half to float done quic" and "Float to half
conversion", 2012-2016 (round to nearest even).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from workbench.backends.llvm.functions import Double, Float, Half, LlvmFunction, Ptr, Variable, repeat
from workbench.backends.llvm.halves import narrowed, to_odd, widened
from workbench.backends.llvm.values import Value

_PURE = "nounwind willreturn memory(none) alwaysinline"


@cache
def definitions(half: str, instructions: bool) -> Mapping[str, str]:
    """Return LLVM text of the functions for a 16-bit float type, by name: conversions and atomic addition.

    Args:
        half: "float16" or "bfloat16".
        instructions: float16 is converted by the machine's own instructions.
    """
    type = "bf16" if half == "bfloat16" else "f16"
    by_hand = type == "f16" and not instructions

    def widen(x: Half) -> Float:
        return _float16_value(x) if by_hand else widened(x, type)

    def narrow(x: Float) -> Half:
        if type == "bf16":
            return narrowed(x, type, nan=x.bits >> 16 | 64)
        return _float16_bits(x) if by_hand else narrowed(x, type).bits

    up = LlvmFunction(widen, f"wb.{half}.float32", head="define internal", attributes=_PURE)
    down = LlvmFunction(narrow, f"wb.float32.{half}", head="define internal", attributes=_PURE)

    def narrow_double(x: Double) -> Half:
        return down(to_odd(x))

    def add(p: Ptr, value: Half) -> Half:
        more, seen = up(value), Variable(p.load("i16", flags="atomic", order="monotonic", align=2))
        with repeat(p.w) as loop:
            now = seen.get()
            previous, won = p.exchange(now, down(up(now) + more), "monotonic")
            seen.set(previous)
            loop.leave_if(won)
        return seen.get()

    functions = (
        up, down, LlvmFunction(narrow_double, f"wb.float64.{half}", head="define internal", attributes=_PURE),
        LlvmFunction(add, f"wb.atomic_add.{half}", head="define internal", attributes="nounwind alwaysinline"),
    )  # fmt: skip
    texts = {function.name: function.text()[0] for function in functions}
    return {**texts, "llvm.fabs.f64": "declare double @llvm.fabs.f64(double)"}


def _float16_value(x: Value) -> Value:
    """Emit the float32 of a float16's bits."""
    wide = x.to("i32")
    shifted = (wide & 0x7FFF) << 13
    exponent = shifted & 0xF800000
    # Where the exponent is 0 the number is subnormal: the difference of two normal ones.
    small = ((shifted + 0x38800000).real - 2.0**-14).bits
    large = exponent.is_("eq", 0xF800000).choose(shifted + 0x70000000, shifted + 0x38000000)
    return (exponent.is_("eq", 0).choose(small, large) | (wide & 0x8000) << 16).real


def _float16_bits(x: Value) -> Value:
    """Emit the bits of the float16 nearest to a float32, ties to even."""
    bits = x.bits
    size, sign = bits & 0x7FFFFFFF, bits >> 16 & 0x8000
    normal = (size - 0x37FFF001) + (size >> 13 & 1) >> 13
    # The sum with a number whose last bit is the least subnormal's rounds to that.
    small = (size.real + 0.5).bits - 0x3F000000
    finite = size.is_("ult", 0x38800000).choose(small, normal)
    beyond = size.is_("ugt", 0x7F800000).choose(size.like(0x7E00), size.like(0x7C00))
    return (size.is_("ugt", 0x477FFFFF).choose(beyond, finite) | sign).to("i16")
