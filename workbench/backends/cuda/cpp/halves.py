"""Floats of 16 bits in CUDA text: a struct of their bits, and functions between them and float.

On the device float16 goes through PTX's own conversions, so no header is needed; the lines next to them do the same on
the host. Source: F. Giesen, "Half to float done quic" and "Float to half conversion", 2012-2016.
"""

from __future__ import annotations

from workbench.backends.cuda.cpp.pieces import Pieces
from workbench.types import SCALARS, Scalar

NAMES = tuple(name for name, t in SCALARS.items() if t.is_half)

_FLOAT16 = """\
struct wb_float16 { unsigned short bits; };
WB_FN float wb_to_float32(wb_float16 x) {
#ifdef __CUDA_ARCH__
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
    return f;
#else
    unsigned int shifted = (x.bits & 0x7fffU) << 13, exponent = shifted & 0x0f800000U;
    unsigned int bits = shifted + (exponent == 0x0f800000U ? 0x70000000U : exponent ? 0x38000000U : 0x38800000U);
    float f = exponent ? __int_as_float(bits) : __int_as_float(bits) - 6.103515625e-05f;
    return x.bits >> 15 ? -f : f;
#endif
}
WB_FN wb_float16 wb_to_float16(float x) {
    wb_float16 half;
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(x));
#else
    unsigned int all = (unsigned int)__float_as_int(x), bits = all & 0x7fffffffU;
    unsigned int found = (bits + 0xc8000fffU + (bits >> 13 & 1U)) >> 13;
    if (bits < 0x38800000U) found = (unsigned int)__float_as_int(__int_as_float(bits) + 0.5f) - 0x3f000000U;
    if (bits >= 0x47800000U) found = bits > 0x7f800000U ? 0x7e00U : 0x7c00U;
    half.bits = (unsigned short)(found | (all >> 16 & 0x8000U));
#endif
    return half;
}
"""
_BFLOAT16 = """\
struct wb_bfloat16 { unsigned short bits; };
WB_FN float wb_to_float32(wb_bfloat16 x) { return __int_as_float((int)((unsigned int)x.bits << 16)); }
WB_FN wb_bfloat16 wb_to_bfloat16(float x) {
    unsigned int bits = (unsigned int)__float_as_int(x);
    wb_bfloat16 half;
    half.bits = (unsigned short)(x != x ? bits >> 16 | 64U : (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
    return half;
}
"""


_PAIRS = {"float16": ("f16x2", 700), "bfloat16": ("bf16x2", 900)}
"""PTX's word for two neighbours, and the first architecture that adds to them."""
_OF_EACH = {
    # Rounds a double once: by way of a float cut off towards zero, with its last bit set if inexact.
    "from_double": """\
WB_FN wb_NAME wb_to_NAME(double x) {
    float near = (float)x;
    double back = near;
    int bits = __float_as_int(near);
    if (back < x || back > x) bits = (bits - ((back < 0.0 ? -back : back) > (x < 0.0 ? -x : x))) | 1;
    return wb_to_NAME(__int_as_float(bits));
}
""",
    # Adds by compare-and-swap on the aligned 32-bit word.
    "atomic_half": """\
WB_FN wb_NAME wb_atomic_add(wb_NAME* target, wb_NAME value) {
    unsigned long long address = (unsigned long long)target;
    unsigned int* word = (unsigned int*)(address & ~3ULL);
    unsigned int shift = 8U * (unsigned int)(address & 2ULL);
    unsigned int seen, old = *(volatile unsigned int*)word;
    wb_NAME now;
    do {
        seen = old;
        now.bits = (unsigned short)(seen >> shift);
        unsigned int sum = wb_to_NAME(wb_to_float32(now) + wb_to_float32(value)).bits;
        old = atomicCAS(word, seen, (seen & ~(0xffffU << shift)) | sum << shift);
    } while (old != seen);
    return now;
}
""",
    # Adds where the old value is not used, rounded as by `wb_atomic_add`. The hardware adds to two neighbours: -0
    # changes no number, and for one alone ptxas writes a loop. Both must be halves: other bits would become a quiet
    # NaN.
    "added_half": """\
WB_FN void wb_added(wb_NAME* target, wb_NAME value) {
#if __CUDA_ARCH__ >= LEAST
    unsigned long long address = (unsigned long long)target;
    unsigned int pair = address & 2ULL ? (unsigned int)value.bits << 16 | 0x8000U : value.bits | 0x80000000U;
    asm volatile("red.global.add.noftz.WORD [%0], %1;" :: "l"(address & ~3ULL), "r"(pair) : "memory");
#else
    wb_atomic_add(target, value);
#endif
}
""",
    # Adds to two neighbours, each if its bool is set: at once if both are set and the two share a word.
    "pair_half": """\
WB_FN void wb_add_pair(wb_NAME* target, wb_NAME low, wb_NAME high, bool first, bool second) {
#if __CUDA_ARCH__ >= LEAST
    if (first && second && ((unsigned long long)target & 3ULL) == 0) {
        unsigned int pair = (unsigned int)high.bits << 16 | low.bits;
        asm volatile("red.global.add.noftz.WORD [%0], %1;" :: "l"(target), "r"(pair) : "memory");
        return;
    }
#endif
    if (first) wb_added(target, low);
    if (second) wb_added(target + 1, high);
}
""",
    # A full warp adds its values in float32, rounds once and changes memory once.
    "reduce_half": """\
WB_FN void wb_reduce_add(wb_NAME* target, wb_NAME value) {
    if (__activemask() == 0xffffffffU) {
        float sum = wb_to_float32(value);
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
        if (threadIdx.x % 32 == 0) wb_atomic_add(target, wb_to_NAME(sum));
    } else {
        wb_atomic_add(target, value);
    }
}
""",
}
"""C++ functions for each type of 16 bits."""


def _of(name: str, text: str) -> str:
    """Return the C++ function for a type of 16 bits."""
    word, least = _PAIRS[name]
    return text.replace("NAME", name).replace("WORD", word).replace("LEAST", str(least))


HALF_PIECES: Pieces = {
    ("half", "float16"): _FLOAT16,
    ("half", "bfloat16"): _BFLOAT16,
    **{(key, name): _of(name, text) for key, text in _OF_EACH.items() for name in NAMES},
}


def half_literal(bits: int, scalar: Scalar) -> str:
    """Return the half with these 16 bits as a C++ expression."""
    return f"wb_{scalar}{{0x{bits:04x}}}"
