"""Library functions of the sanitized variant: reads of memory that nothing has written.

`WRITTEN` is the distance from a byte of the arena to its shadow, which is 0xFF until the byte is written, and 0 from
then on. So the shadow is read by a load like the access itself, at another address. What `cp.async` writes has the
shadow 0x80 + g until its warp waits for it, where g is the number of groups of copies that the warp had closed,
modulo 127.
"""

from __future__ import annotations

from workbench.backends.ptx.library.memory import ELEMENTS
from workbench.backends.ptx.library.template import expanded

_FUNCTIONS = """
define internal <32 x i64> @shadow_of(<32 x i64> %at, i64 %distance) {
  %d = SPLAT i64 %distance
  %r = add <32 x i64> %at, %d
  ret <32 x i64> %r
}
; A warp that has closed `group` groups of copies, modulo 127, waits for all but the last `left` of them: what these
; wrote is written. Other warps' copies of the same age are taken for done, too, and those of no group yet.
define void @wbe_landed(ptr %ctx, i32 %group, i32 %left) {
entry:
  GET WRITTEN
  %none = icmp eq i64 %WRITTEN, 0
  br i1 %none, label %done, label %start
start:
  GET SHARED
  GET SHARED_SIZE
  %first = add i64 %SHARED, %WRITTEN
  %g8 = trunc i32 %group to i8
  %last = add i8 %g8, 126
  %lasts = SPLAT i8 %last
  %l8 = trunc i32 %left to i8
  %lefts = SPLAT i8 %l8
  br label %head
head:
  %n = phi i64 [ 0, %start ], [ %n.next, %next ]
  %more = icmp ult i64 %n, %SHARED_SIZE
  br i1 %more, label %look, label %done
look:
  %at = add i64 %first, %n
  %p = inttoptr i64 %at to ptr
  %b = load <32 x i8>, ptr %p, align 1
  %flying = icmp slt <32 x i8> %b, splat (i8 -1)
  %g = and <32 x i8> %b, splat (i8 127)
  %d = sub <32 x i8> %lasts, %g
  %wraps = icmp ugt <32 x i8> %d, splat (i8 126)
  %less = sub <32 x i8> %d, splat (i8 127)
  %age = select <32 x i1> %wraps, <32 x i8> %less, <32 x i8> %d
  %old = icmp uge <32 x i8> %age, %lefts
  %lands = and <32 x i1> %flying, %old
  %bits = bitcast <32 x i1> %lands to i32
  %any = icmp ne i32 %bits, 0
  br i1 %any, label %land, label %next
land:
  call void @llvm.masked.store.v32i8.p0(<32 x i8> zeroinitializer, ptr %p, i32 1, <32 x i1> %lands)
  br label %next
next:
  %n.next = add i64 %n, 32
  br label %head
done:
  ret void
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
  %signs = and <32 x EL> %s, splat (EL SIGNS)
  %waits = icmp eq <32 x EL> %signs, splat (EL SIGNS)
  %flying = bitcast <32 x i1> %waits to i32
  %early = and i32 %flying, %mask
  call void @wbe_fault(ptr %ctx, i32 13, i32 %early, <32 x i64> %at, i32 BYTES, i32 %index)
  br label %done
done:
  ret void
}
define void @wbe_wrote_EL(ptr %ctx, i32 %mask, <32 x i64> %at, i64 %shadow) {
entry:
  GET WRITTEN
  %none = icmp eq i64 %WRITTEN, 0
  br i1 %none, label %done, label %mark
mark:
  %there = call <32 x i64> @shadow_of(<32 x i64> %at, i64 %WRITTEN)
  %longs = SPLAT i64 %shadow
  %shadows = CUT
  call void @wbe_scatter_EL(i32 %mask, <32 x i64> %there, <32 x EL> %shadows)
  br label %done
done:
  ret void
}
"""


def text() -> str:
    """Return the LLVM IR of the library functions that find reads of unwritten memory."""
    return expanded(_FUNCTIONS + "".join(map(_accesses, ELEMENTS)))


def _accesses(elem: str) -> str:
    """Return the LLVM IR of the functions that check reads and record writes of elements of one type."""
    bits = int(elem[1:])
    # LLVM has no cut to the same width.
    cut = "trunc <32 x i64> %longs to <32 x EL>" if bits < 64 else "add <32 x i64> %longs, zeroinitializer"
    signs = int.from_bytes(b"\x80" * (bits // 8), "big", signed=True)
    text = _ACCESS.replace("CUT", cut).replace("SIGNS", str(signs)).replace("BYTES", str(bits // 8))
    return text.replace("EL", elem)
