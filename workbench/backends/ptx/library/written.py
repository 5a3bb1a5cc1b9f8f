"""Library functions of the sanitized variant: reads of memory that nothing has written.

`WRITTEN` is the distance from a byte of the arena to its shadow, which is 0xFF until the byte is written, and 0 from
then on. So a look at the shadow is a load like the access itself, at another place.
"""

from __future__ import annotations

from workbench.backends.ptx.library.memory import ELEMENTS
from workbench.backends.ptx.library.template import expanded

_FUNCTIONS = """
define internal <32 x i64> @shadow_of(<32 x i64> %at, i64 %distance) {
  %d0 = insertelement <32 x i64> poison, i64 %distance, i32 0
  %d = shufflevector <32 x i64> %d0, <32 x i64> poison, <32 x i32> zeroinitializer
  %r = add <32 x i64> %at, %d
  ret <32 x i64> %r
}
; A block begins: nothing is written in its shared and local memory.
define internal void @unwrite(ptr %ctx) {
entry:
  GET WRITTEN
  %none = icmp eq i64 %WRITTEN, 0
  br i1 %none, label %done, label %fill
fill:
  GET SHARED
  GET SLOT_SIZE
  %at = add i64 %SHARED, %WRITTEN
  %p = inttoptr i64 %at to ptr
  call void @llvm.memset.p0.i64(ptr %p, i8 -1, i64 %SLOT_SIZE, i1 false)
  br label %done
done:
  ret void
}
"""
_ACCESS = """
; Lanes read elements; one without any written byte is a fault. (Others may have padding.)
define void @wbe_read_EL(ptr %ctx, i32 %mask, <32 x i64> %at, i32 %index) {
entry:
  GET WRITTEN
  %none = icmp eq i64 %WRITTEN, 0
  br i1 %none, label %done, label %look
look:
  %there = call <32 x i64> @shadow_of(<32 x i64> %at, i64 %WRITTEN)
  %s = call <32 x EL> @wbe_gather_EL(i32 %mask, <32 x i64> %there)
  %is = icmp eq <32 x EL> %s, splat (EL -1)
  %all = bitcast <32 x i1> %is to i32
  %bad = and i32 %all, %mask
  GET SHARED
  SET OTHER %SHARED
  call void @wbe_fault(ptr %ctx, i32 10, i32 %bad, <32 x i64> %at, i32 BYTES, i32 %index)
  br label %done
done:
  ret void
}
define void @wbe_wrote_EL(ptr %ctx, i32 %mask, <32 x i64> %at) {
entry:
  GET WRITTEN
  %none = icmp eq i64 %WRITTEN, 0
  br i1 %none, label %done, label %mark
mark:
  %there = call <32 x i64> @shadow_of(<32 x i64> %at, i64 %WRITTEN)
  call void @wbe_scatter_EL(i32 %mask, <32 x i64> %there, <32 x EL> zeroinitializer)
  br label %done
done:
  ret void
}
"""


def text() -> str:
    """The LLVM IR of these functions."""
    each = [_ACCESS.replace("EL", elem).replace("BYTES", str(int(elem[1:]) // 8)) for elem in ELEMENTS]
    return expanded(_FUNCTIONS + "".join(each))
