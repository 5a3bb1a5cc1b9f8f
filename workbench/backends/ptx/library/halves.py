"""Functions that LLVM calls to convert float16 on machines without an instruction for it (x86-64 before level 3).

The process may not have these functions: they belong to a compiler's own library.
"""

from __future__ import annotations

from workbench.backends.cpu.text.halves import definitions

_CALLED = """
define half @__truncsfhf2(float %x) nounwind {
  %t = call i16 @wb.float32.float16(float %x)
  %h = bitcast i16 %t to half
  ret half %h
}
define float @__extendhfsf2(half %x) nounwind {
  %t = bitcast half %x to i16
  %f = call float @wb.float16.float32(i16 %t)
  ret float %f
}
"""


def text() -> str:
    """Return the LLVM IR of the conversions of float16."""
    functions = definitions("float16", instructions=False)
    return "\n".join([functions["wb.float16.float32"], functions["wb.float32.float16"], _CALLED])
