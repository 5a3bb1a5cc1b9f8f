"""Floats of 16 bits on the CPU: their bits in an i16, and functions between them and float32.

Integers and not LLVM's `half` and `bfloat`: where a machine has no instruction for a conversion, LLVM calls a function
that the process may not have, and the instruction for bfloat16 loses subnormals. Where F16C is there, float16 goes
through it; else through these lines, which vectorise. Sources: F. Giesen, "Half to float done quic" and "Float to half
conversion", 2012-2016 (round to nearest even).
"""

from __future__ import annotations

from workbench.types import Scalar

_HEAD = "nounwind willreturn memory(none) alwaysinline"

_WIDEN = {
    "bfloat16": """
  %w = zext i16 %x to i32
  %b = shl i32 %w, 16
  %f = bitcast i32 %b to float
""",
    "float16": """
  %w = zext i16 %x to i32
  %m = and i32 %w, 32767
  %o = shl i32 %m, 13
  %e = and i32 %o, 260046848
  %a = add i32 %o, 939524096
  %top = icmp eq i32 %e, 260046848
  %i = add i32 %o, 1879048192
  %none = icmp eq i32 %e, 0
  %s = add i32 %o, 947912704
  %sf = bitcast i32 %s to float
  %sub = fsub float %sf, 0x3F10000000000000
  %sb = bitcast float %sub to i32
  %c = select i1 %top, i32 %i, i32 %a
  %d = select i1 %none, i32 %sb, i32 %c
  %h = and i32 %w, 32768
  %g = shl i32 %h, 16
  %b = or i32 %d, %g
  %f = bitcast i32 %b to float
""",
}
_F16C_WIDEN = """
  %h = bitcast i16 %x to half
  %f = fpext half %h to float
"""
_NARROW = {
    "bfloat16": """
  %u = bitcast float %x to i32
  %l = lshr i32 %u, 16
  %odd = and i32 %l, 1
  %r = add i32 %odd, 32767
  %s = add i32 %u, %r
  %n = lshr i32 %s, 16
  %q = or i32 %l, 64
  %nan = fcmp uno float %x, 0.0
  %c = select i1 %nan, i32 %q, i32 %n
  %t = trunc i32 %c to i16
""",
    "float16": """
  %u = bitcast float %x to i32
  %a = and i32 %u, 2147483647
  %g = lshr i32 %u, 16
  %sign = and i32 %g, 32768
  %odd = lshr i32 %a, 13
  %one = and i32 %odd, 1
  %r = add i32 %a, -939520001
  %q = add i32 %r, %one
  %normal = lshr i32 %q, 13
  %af = bitcast i32 %a to float
  %sum = fadd float %af, 5.000000e-01
  %sb = bitcast float %sum to i32
  %small = sub i32 %sb, 1056964608
  %is_small = icmp ult i32 %a, 947912704
  %is_large = icmp ugt i32 %a, 1199570943
  %nan = icmp ugt i32 %a, 2139095040
  %inf = select i1 %nan, i32 32256, i32 31744
  %c = select i1 %is_small, i32 %small, i32 %normal
  %d = select i1 %is_large, i32 %inf, i32 %c
  %e = or i32 %d, %sign
  %t = trunc i32 %e to i16
""",
}
_F16C_NARROW = """
  %h = fptrunc float %x to half
  %t = bitcast half %h to i16
"""
# A float64 is cut off to a float32 first, its last bit set where that is inexact: then rounding twice is rounding once.
_FROM_DOUBLE = """
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %inexact = fcmp one double %back, %x
  %ab = call double @llvm.fabs.f64(double %back)
  %ax = call double @llvm.fabs.f64(double %x)
  %over = fcmp ogt double %ab, %ax
  %bits = bitcast float %near to i32
  %less = zext i1 %over to i32
  %cut = sub i32 %bits, %less
  %sticky = or i32 %cut, 1
  %c = select i1 %inexact, i32 %sticky, i32 %bits
  %f = bitcast i32 %c to float
  %t = call i16 @{narrow}(float %f)
"""
_ATOMIC_ADD = """\
define internal i16 @wb.atomic_add.{half}(ptr %p, i16 %value) nounwind alwaysinline {{
  %v = call float @wb.{half}.float32(i16 %value)
  %first = load atomic i16, ptr %p monotonic, align 2
  br label %again
again:
  %seen = phi i16 [ %first, %0 ], [ %now, %again ]
  %f = call float @wb.{half}.float32(i16 %seen)
  %sum = fadd float %f, %v
  %new = call i16 @wb.float32.{half}(float %sum)
  %pair = cmpxchg ptr %p, i16 %seen, i16 %new monotonic monotonic
  %now = extractvalue {{ i16, i1 }} %pair, 0
  %done = extractvalue {{ i16, i1 }} %pair, 1
  br i1 %done, label %end, label %again
end:
  ret i16 %seen
}}"""


def name(source: Scalar, target: Scalar) -> str:
    """Return the name of the LLVM function that converts one type to another; one of them has 16 bits."""
    return f"wb.{source}.{target}"


def definitions(half: str, instructions: bool) -> dict[str, str]:
    """Return LLVM text of the functions for a 16-bit float type, by name: conversions and atomic addition.

    Args:
        half: "float16" or "bfloat16".
        instructions: float16 is converted by the machine's own instructions.
    """
    widen, narrow = _WIDEN[half], _NARROW[half]
    if instructions and half == "float16":
        widen, narrow = _F16C_WIDEN, _F16C_NARROW
    down = f"wb.float32.{half}"
    double = _FROM_DOUBLE.format(narrow=down)
    return {
        f"wb.{half}.float32": f"define internal float @wb.{half}.float32(i16 %x) {_HEAD} {{{widen}  ret float %f\n}}",
        down: f"define internal i16 @{down}(float %x) {_HEAD} {{{narrow}  ret i16 %t\n}}",
        f"wb.float64.{half}": f"define internal i16 @wb.float64.{half}(double %x) {_HEAD} {{{double}  ret i16 %t\n}}",
        f"wb.atomic_add.{half}": _ATOMIC_ADD.format(half=half),
        "llvm.fabs.f64": "declare double @llvm.fabs.f64(double)",
    }
