"""Library functions of the sanitized variant: reads of memory that nothing has written.

`WRITTEN` is the distance from a byte of the arena to its shadow, which is 0xFF until the byte is written, and 0 from
then on. So the shadow is read by a load like the access itself, at another address. What `cp.async` writes has the
shadow 0x80 + g until its warp waits for it, where g is the number of groups of copies that the warp had closed,
modulo 127.
"""

from __future__ import annotations

from workbench.backends.llvm.functions import Int, LlvmFunction, Long, Longs, Ptr, count, define, leave, when
from workbench.backends.llvm.values import Value, bits_of, masked_store
from workbench.backends.ptx.library.faults import wbe_fault
from workbench.backends.ptx.library.memory import ELEMENTS, GATHER, SCATTER
from workbench.backends.ptx.library.words import LANES, get, put, zeros


def _distance(ctx: Value) -> Value:
    """Emit a load of the distance from a byte to its shadow, and a return from the function if there is none."""
    distance = get(ctx, "WRITTEN")
    with when(distance.is_("eq", 0)):
        leave(ctx.w)
    return distance


@define
def wbe_landed(ctx: Ptr, group: Int, left: Int) -> None:
    """Mark what a warp's copies wrote as written: it waits for all but the last `left` of its groups.

    It has closed `group` groups, modulo 127. Other warps' copies of the same age are taken for done, too, and those of
    no group yet.
    """
    first = _distance(ctx) + get(ctx, "SHARED")
    last, few = group.to("i8") + 126, left.to("i8")
    with count(get(ctx, "SHARED_SIZE"), step=LANES) as n:
        shadow = (first + n).pointer
        held = shadow.load("i8", LANES, align=1)
        age = last.spread(LANES) - (held & 127)
        age = age.is_("ugt", 126).choose(age - 127, age)
        lands = held.is_("slt", -1) & age.is_("uge", few)
        with when(lands.mask.is_("ne", 0)):
            masked_store(shadow, lands, zeros(ctx, "i8"), 1)


@define
def unwrite(ctx: Ptr) -> None:
    """Begin a block: nothing is written in its shared and local memory."""
    shadow = (_distance(ctx) + get(ctx, "SHARED")).pointer
    ctx.w.call("void", "llvm.memset.p0.i64", str(shadow), "i8 -1", str(get(ctx, "SLOT_SIZE")), "i1 false")


def _read(elem: str) -> LlvmFunction:
    """Return `wbe_read_*`: of lanes that read elements, those without any written byte fault; others may have padding.

    So do those with a byte that a copy is still to write.
    """
    size = bits_of(elem) // 8
    signs = int.from_bytes(b"\x80" * size, "big", signed=True)

    def body(ctx: Ptr, mask: Int, at: Longs, index: Int) -> None:
        shadow = GATHER[elem](mask, at + _distance(ctx))
        put(ctx, "OTHER", get(ctx, "SHARED"))
        wbe_fault(ctx, 10, shadow.is_("eq", -1).mask & mask, at, size, index)
        wbe_fault(ctx, 13, (shadow & signs).is_("eq", signs).mask & mask, at, size, index)

    return LlvmFunction(body, f"wbe_read_{elem}", elem)


def _wrote(elem: str) -> LlvmFunction:
    """Return `wbe_wrote_*`, which writes the shadow of lanes' elements."""

    def body(ctx: Ptr, mask: Int, at: Longs, shadow: Long) -> None:
        SCATTER[elem](mask, at + _distance(ctx), shadow.to(elem))

    return LlvmFunction(body, f"wbe_wrote_{elem}", elem)


READ = {elem: _read(elem) for elem in ELEMENTS}
WROTE = {elem: _wrote(elem) for elem in ELEMENTS}
FUNCTIONS = [wbe_landed, unwrite, *READ.values(), *WROTE.values()]
